// A range of numbers, from one bound to the other.
#pragma once

namespace headroom {

struct Range {
  double low, high;
};

}  // namespace headroom
