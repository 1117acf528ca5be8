#include "core/measure/premise_record.h"

#include <algorithm>

namespace headroom {

std::vector<std::int64_t> evenly(std::int64_t from, std::int64_t count) {
  std::vector<std::int64_t> result;
  const std::int64_t taken = std::min(from, count);
  for (std::int64_t k = 0; k < taken; ++k) result.push_back(k * from / taken);
  return result;
}

}  // namespace headroom
