// The extremes of the values that a range is made of.
#pragma once

namespace headroom {

// The range's inputs from the data, where it is automatic: to be kept while `key` stays the same.
struct DataRange {
  double low = 0.0, high = 1.0;
  bool clips_low = false, clips_high = false;
  bool in_view = false;  // of a part of the map
};

}  // namespace headroom
