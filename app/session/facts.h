// What is on the screen, for scripts: what `expect` and `until` compare. Main thread only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace headroom {

// What a script can ask for with `expect`: numbers and texts about what is on the screen, by name
// ("map.cells_visible").
class Facts {
 public:
  void set(std::string_view name, double value);
  void set(std::string_view name, std::string value);
  [[nodiscard]] const std::string* find(std::string_view name) const;
  void clear() { values_.clear(); }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace headroom
