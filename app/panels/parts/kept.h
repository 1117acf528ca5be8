// What takes long to work out is kept between frames while what it is of stays the same. Main thread only.
#pragma once

#include <any>
#include <type_traits>

// What is returned lies in `slot` and in no argument, which GCC 14 would suspect.
#if __has_cpp_attribute(gnu::no_dangling)
#define HEADROOM_NO_DANGLING [[gnu::no_dangling]]
#else
#define HEADROOM_NO_DANGLING
#endif

namespace headroom {

// `slot`: of Ui::kept_value or RunCache::piece, one for each call. `of` can be compared; `make` says what is kept,
// which can be changed after.
template <typename Of, typename Make>
HEADROOM_NO_DANGLING std::invoke_result_t<Make>& kept_for(std::any& slot, const Of& of, const Make& make) {
  struct Kept {
    Of of;
    std::invoke_result_t<Make> made;
  };
  auto* known = std::any_cast<Kept>(&slot);
  if (known == nullptr || !(known->of == of)) {
    slot = Kept{of, make()};
    known = std::any_cast<Kept>(&slot);
  }
  return known->made;
}

}  // namespace headroom
