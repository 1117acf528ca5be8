// What takes long to work out is kept between frames while what it is of stays the same. Main thread only.
#pragma once

#include <any>
#include <type_traits>
#include <utility>

namespace headroom {

// `slot`: of Ui::kept_value or RunCache::piece, one for each call. `of` can be compared; `make` says what is kept,
// which can be changed after. Both are taken as values: no reference that is returned is of them.
template <typename Of, typename Make>
std::invoke_result_t<Make>& kept_for(std::any& slot, Of of, Make make) {
  struct Kept {
    Of of;
    std::invoke_result_t<Make> made;
  };
  auto* known = std::any_cast<Kept>(&slot);
  if (known == nullptr || !(known->of == of)) {
    slot = Kept{std::move(of), make()};
    known = std::any_cast<Kept>(&slot);
  }
  return known->made;
}

}  // namespace headroom
