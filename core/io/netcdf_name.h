// Names that netCDF accepts for groups, axes, datasets and attributes. Safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

// `name` with every byte that netCDF refuses there written as %XX: '/', control characters, invalid UTF-8, a space at
// the end, a first character other than letter, digit, '_' or beyond ASCII, and '%' itself, so that no two names meet.
[[nodiscard]] std::string to_netcdf_name(std::string_view name);

// The inverse. A name that begins with an escape is written with "_" before it, since netCDF refuses "%" there.
[[nodiscard]] std::string from_netcdf_name(std::string_view name);

}  // namespace headroom
