// A figure laid out on its page, and the files that are made of it: what the command line and the window share. One
// thread at a time, as the fonts say.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/figure_data.h"
#include "app/figures/figure_layout.h"
#include "app/figures/page_style.h"
#include "app/paper/page_file.h"
#include "app/plot/picture.h"
#include "app/text/font_library.h"
#include "core/base/result.h"

namespace headroom {

struct FigurePage {
  Figure figure;
  std::vector<FigureRun> runs;  // all that it is made of
  std::string name;             // of its kind, or of its figure file
  PageStyle style;
  std::vector<PanelFrame> frames;
  std::string caption;                // in the markup of rich_text.h
  std::vector<std::string> warnings;  // texts that are cut, leave their panel or touch: it can be written with such
  float least_text = 0.0f;            // points, but for indices; 0: there is none
};

// InvalidArgument where the page is too small, with the least size that fits.
[[nodiscard]] Result<FigurePage> lay_out_page(Figure figure, std::vector<FigureRun> runs, std::string name,
                                              const PageStyle& style, const FontLibrary& fonts);
// "slides": twice as large.
[[nodiscard]] PageStyle page_style(std::string_view theme, double text_size = 7.0);

// What its files say of themselves: the command that makes them, by which program ("headroom 0.1.0"), of which files,
// which are read for their hashes.
[[nodiscard]] Result<FileKeys> page_keys(std::span<const FigureRun> runs, std::string command, std::string_view program,
                                         std::string_view git_commit);

// `dots_per_inch` 0: 600, of a PNG 300.
[[nodiscard]] Result<PageBytes> page_bytes(const FigurePage& page, PageFormat format, double dots_per_inch,
                                           const FileKeys& keys, const FontLibrary& fonts,
                                           SvgText svg_text = SvgText::Outlines);
// As a PNG shows it, with that many pixels a point; without an id.
[[nodiscard]] Result<RgbPicture> page_picture(const FigurePage& page, double pixels_per_point,
                                              const FontLibrary& fonts);
// Every mark, one a line, after the keys as comments.
[[nodiscard]] std::string page_marks_csv(const FigurePage& page, const FileKeys& keys);
[[nodiscard]] FigureData page_marks(const FigurePage& page);

}  // namespace headroom
