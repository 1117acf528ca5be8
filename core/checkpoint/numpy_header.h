// The header of an array of NumPy: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } behind a magic number
// and a version (numpy.lib.format, 1.0 to 3.0). Nothing of it is run. Pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

inline constexpr std::uint64_t kMostNumpyHeaderBytes = 65'536;

struct NumpyHeader {
  std::string descr;  // "<i4"; empty: fields, which are more than one number
  bool fortran = false;
  std::vector<std::int64_t> shape;  // each extent 0 or more
  std::uint64_t begin = 0;          // offset of the description
  std::uint64_t data = 0;           // offset of the first element
};

// `head` begins the array and holds its header, or all of it. Corrupt with the offset for what is none.
[[nodiscard]] Result<NumpyHeader> parse_numpy_header(std::string_view head);

}  // namespace headroom
