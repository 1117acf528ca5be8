#include "app/session/facts.h"

#include <utility>

#include "core/base/number_text.h"

namespace headroom {

void Facts::set(std::string_view name, double value) { values_.insert_or_assign(std::string(name), full_text(value)); }
void Facts::set(std::string_view name, std::string value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

const std::string* Facts::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace headroom
