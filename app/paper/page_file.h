// A page as the bytes of a file: PDF and PNG by Cairo, SVG by this program. Equal input gives equal bytes. One thread
// at a time, as the fonts say.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/paper/png_image.h"
#include "app/plot/painter.h"
#include "app/text/font_library.h"
#include "core/base/result.h"

namespace headroom {

enum class PageFormat : std::uint8_t { Pdf, Svg, Png };
// By the ending of a file's name; nothing: none of these.
[[nodiscard]] std::optional<PageFormat> page_format(std::string_view file_name);

inline constexpr double kPointsPerMillimetre = 72.0 / 25.4;

// Text of an SVG: drawn as outlines that every program shows alike, or as text that can be edited and searched, with
// the characters of its fonts in the file.
enum class SvgText : std::uint8_t { Outlines, Fonts };

struct PageInfo {
  double width = 0.0, height = 0.0;  // points
  double dots_per_inch = 600.0;      // of images in vector files, of the pixels of a PNG
  std::string title, description;
  std::string created_utc;  // "2026-11-26T10:14:00Z": of what is shown, not of the file
  FileKeys keys;
  SvgText svg_text = SvgText::Outlines;
};

struct PageBytes {
  std::string bytes;
  std::vector<std::string> warnings;  // what the page cannot hold as it is
};

// `draw` draws on a page of info.width × info.height points, the origin at its upper left corner. OutOfMemory where
// Cairo or libpng has no memory for it.
[[nodiscard]] Result<PageBytes> make_page(PageFormat format, const PageInfo& info, const FontLibrary& fonts,
                                          const std::function<void(Painter&)>& draw);

// A PDF of several pages of that size.
[[nodiscard]] Result<PageBytes> make_pages(const PageInfo& info, const FontLibrary& fonts,
                                           std::span<const std::function<void(Painter&)>> pages);

// The same as pixels on white: RGB, row-major, top row first.
struct PagePixels {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  std::vector<std::string> warnings;
};
[[nodiscard]] Result<PagePixels> make_pixels(const PageInfo& info, const FontLibrary& fonts,
                                             const std::function<void(Painter&)>& draw);

}  // namespace headroom
