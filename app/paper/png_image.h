// Pixels as the bytes of a PNG file, with what the file is to say of itself. Pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

// Keys and texts in UTF-8, in order.
using FileKeys = std::vector<std::pair<std::string, std::string>>;

// `pixels`: RGB, or RGBA with straight alpha, 8 bits each, row-major, top row first. `dots_per_inch` ≤ 0: not said. The
// same input gives the same bytes. Empty where libpng fails, which it does for want of memory alone.
[[nodiscard]] std::string png_bytes(std::span<const std::uint8_t> pixels, std::int32_t width, std::int32_t height,
                                    double dots_per_inch = 0.0, const FileKeys& keys = {});

}  // namespace headroom
