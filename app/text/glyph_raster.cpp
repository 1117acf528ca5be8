// Pictures of glyphs: outlines with light hinting (upright text) or none (turned text), colour bitmaps, and the boxes
// of characters that no font has.
#include "app/text/font_face.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include FT_OUTLINE_H

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr int kMaxPicture = 2048;  // pixels per side
constexpr char32_t kResizeArrow = 0x2922;

FT_Matrix rotation(int angle_10) {
  const double radians = angle_10 * std::numbers::pi / 1800.0;
  const auto fixed = [](double value) { return static_cast<FT_Fixed>(std::lround(value * 65536.0)); };
  return {fixed(std::cos(radians)), fixed(-std::sin(radians)), fixed(std::sin(radians)), fixed(std::cos(radians))};
}

// Turns an outline and moves it to the pen's place in the pixel.
void place(FT_Outline& outline, const GlyphKey& key) {
  if (key.angle_10 != 0) {
    const FT_Matrix matrix = rotation(key.angle_10);
    FT_Outline_Transform(&outline, &matrix);
  }
  FT_Outline_Translate(&outline, FT_Pos{key.sub_x} * 16, FT_Pos{key.sub_y} * -16);
}

GlyphPicture picture_of(FT_Library library, FT_Outline& outline) {
  FT_BBox box{};
  FT_Outline_Get_CBox(&outline, &box);
  const long x0 = box.xMin >> 6, y0 = box.yMin >> 6, x1 = (box.xMax + 63) >> 6, y1 = (box.yMax + 63) >> 6;
  GlyphPicture picture;
  if (outline.n_points == 0 || x1 <= x0 || y1 <= y0 || x1 - x0 > kMaxPicture || y1 - y0 > kMaxPicture) return picture;
  picture.width = static_cast<int>(x1 - x0);
  picture.height = static_cast<int>(y1 - y0);
  picture.left = static_cast<int>(x0);
  picture.top = static_cast<int>(-y1);
  picture.pixels.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height));
  FT_Outline_Translate(&outline, -x0 * 64, -y0 * 64);
  FT_Bitmap bitmap{};
  bitmap.rows = static_cast<unsigned>(picture.height);
  bitmap.width = static_cast<unsigned>(picture.width);
  bitmap.pitch = picture.width;
  bitmap.buffer = picture.pixels.data();
  bitmap.num_grays = 256;
  bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
  if (FT_Outline_Get_Bitmap(library, &outline, &bitmap) != 0) return {};
  return picture;
}

// A BGRA bitmap (premultiplied) shrunk or grown by `ratio`, as straight RGBA. Each pixel is the mean of those it
// covers.
GlyphPicture coloured_picture(const FT_Bitmap& bitmap, int left, int top, double ratio) {
  GlyphPicture picture;
  picture.coloured = true;
  picture.width = std::max(1, static_cast<int>(std::lround(bitmap.width * ratio)));
  picture.height = std::max(1, static_cast<int>(std::lround(bitmap.rows * ratio)));
  picture.left = static_cast<int>(std::lround(left * ratio));
  picture.top = -static_cast<int>(std::lround(top * ratio));
  if (bitmap.width == 0 || bitmap.rows == 0 || picture.width > kMaxPicture || picture.height > kMaxPicture) return {};
  picture.pixels.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 4);
  const auto range = [](int i, int n, unsigned source) {
    const auto first = static_cast<unsigned>(static_cast<double>(i) * source / n);
    const auto last = static_cast<unsigned>(std::ceil(static_cast<double>(i + 1) * source / n));
    return std::pair{std::min(first, source - 1), std::clamp(last, first + 1, source)};
  };
  for (int y = 0; y < picture.height; ++y) {
    const auto [y0, y1] = range(y, picture.height, bitmap.rows);
    for (int x = 0; x < picture.width; ++x) {
      const auto [x0, x1] = range(x, picture.width, bitmap.width);
      std::array<unsigned, 4> sum{};
      for (unsigned sy = y0; sy < y1; ++sy) {
        const std::uint8_t* row = bitmap.buffer + static_cast<std::ptrdiff_t>(sy) * bitmap.pitch;
        for (unsigned sx = x0; sx < x1; ++sx) {
          for (std::size_t c = 0; c < 4; ++c) sum[c] += row[std::size_t{sx} * 4 + c];
        }
      }
      std::uint8_t* out = picture.pixels.data() + (static_cast<std::size_t>(y) * picture.width + x) * 4;
      const unsigned count = (y1 - y0) * (x1 - x0), alpha = sum[3];
      for (std::size_t c = 0; c < 3; ++c) {
        out[c] = static_cast<std::uint8_t>(alpha ? std::min(255u, (sum[2 - c] * 255u + alpha / 2) / alpha) : 0u);
      }
      out[3] = static_cast<std::uint8_t>((alpha + count / 2) / count);
    }
  }
  return picture;
}

GlyphPicture rasterise_coloured(const FontFace& font, const GlyphKey& key) {
  FT_Face face = font.face();
  double ratio = 1.0;
  if (FT_IS_SCALABLE(face)) {
    if (FT_Set_Char_Size(face, key.size_64, key.size_64, 72, 72) != 0) return {};
  } else {
    if (face->num_fixed_sizes == 0) return {};
    int best = 0;  // the smallest strike that need not grow, else the largest
    for (int i = 1; i < face->num_fixed_sizes; ++i) {
      const long size = face->available_sizes[i].y_ppem, current = face->available_sizes[best].y_ppem;
      const bool enough = current >= key.size_64;
      if (enough ? (size >= key.size_64 && size < current) : size > current) best = i;
    }
    if (FT_Select_Size(face, best) != 0) return {};
    ratio = static_cast<double>(key.size_64) / static_cast<double>(face->available_sizes[best].y_ppem);
  }
  if (FT_Load_Glyph(face, key.glyph, FT_LOAD_COLOR | FT_LOAD_NO_HINTING) != 0) return {};
  if (face->glyph->format != FT_GLYPH_FORMAT_BITMAP && FT_Render_Glyph(face->glyph, FT_RENDER_MODE_NORMAL) != 0)
    return {};
  FT_GlyphSlotRec_* const slot = face->glyph;
  if (slot->bitmap.pixel_mode != FT_PIXEL_MODE_BGRA) return {};
  return coloured_picture(slot->bitmap, slot->bitmap_left, slot->bitmap_top, ratio);
}

// Contours of straight and curved pieces, collected from several sources. Coordinates in 64ths of a pixel, y up.
class OutlineBuilder {
 public:
  void polygon(std::initializer_list<std::array<double, 2>> corners) {
    for (const auto& corner : corners) {
      points_.push_back({std::lround(corner[0]), std::lround(corner[1])});
      tags_.push_back(FT_CURVE_TAG_ON);
    }
    end_contour();
  }
  void rectangle(double x0, double y0, double x1, double y1) { polygon({{x0, y0}, {x0, y1}, {x1, y1}, {x1, y0}}); }
  void hole(double x0, double y0, double x1, double y1) { polygon({{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}); }
  void append(const FT_Outline& other, FT_Pos dx, FT_Pos dy) {
    const std::size_t first = points_.size();
    for (int i = 0; i < other.n_points; ++i) {
      points_.push_back({other.points[i].x + dx, other.points[i].y + dy});
      tags_.push_back(other.tags[i]);
    }
    for (int i = 0; i < other.n_contours; ++i) {
      contours_.push_back(static_cast<Contour>(first + static_cast<std::size_t>(other.contours[i])));
    }
  }
  [[nodiscard]] FT_Outline outline() {
    FT_Outline result{};
    result.n_contours = static_cast<decltype(result.n_contours)>(contours_.size());
    result.n_points = static_cast<decltype(result.n_points)>(points_.size());
    result.points = points_.data();
    result.tags = tags_.data();
    result.contours = contours_.data();
    return result;
  }

 private:
  // FreeType 2.13.3 made these unsigned.
  using Contour = std::remove_pointer_t<decltype(FT_Outline::contours)>;
  using Tag = std::remove_pointer_t<decltype(FT_Outline::tags)>;
  void end_contour() { contours_.push_back(static_cast<Contour>(points_.size() - 1)); }

  std::vector<FT_Vector> points_;
  std::vector<Tag> tags_;
  std::vector<Contour> contours_;
};

std::string code_digits(char32_t code_point) {
  return format(code_point > 0xffff ? "%06X" : "%04X", static_cast<unsigned>(code_point));
}

// North-east and south-west arrow: the sign for "fill the window".
void add_resize_arrow(OutlineBuilder& outline, double em) {
  const double x0 = 0.10 * em, x1 = 0.76 * em, y0 = 0.03 * em, y1 = 0.69 * em, arm = 0.30 * em;
  const double w = std::max(64.0, std::round(0.09 * em / 64.0) * 64.0), d = 0.5 * w / std::numbers::sqrt2;
  outline.polygon({{x0 + d, y0}, {x0, y0}, {x0, y0 + d}, {x1 - d, y1}, {x1, y1}, {x1, y1 - d}});
  outline.rectangle(x1 - arm, y1 - w, x1, y1);
  outline.rectangle(x1 - w, y1 - arm, x1, y1);
  outline.rectangle(x0, y0, x0 + arm, y0 + w);
  outline.rectangle(x0, y0, x0 + w, y0 + arm);
}

}  // namespace

GlyphPicture rasterise_glyph(FT_Library library, const FontFace& font, const GlyphKey& key) {
  FT_Face face = font.face();
  if (FT_HAS_COLOR(face)) {
    GlyphPicture picture = rasterise_coloured(font, key);
    if (picture.width > 0 || !FT_IS_SCALABLE(face)) return picture;
  }
  if (FT_Set_Char_Size(face, key.size_64, key.size_64, 72, 72) != 0) return {};
  const auto hinting = static_cast<FT_Int32>(key.angle_10 == 0 ? FT_LOAD_TARGET_LIGHT : FT_LOAD_NO_HINTING);
  if (FT_Load_Glyph(face, key.glyph, hinting | static_cast<FT_Int32>(FT_LOAD_NO_BITMAP)) != 0) return {};
  if (face->glyph->format != FT_GLYPH_FORMAT_OUTLINE) return {};
  FT_Outline& outline = face->glyph->outline;
  place(outline, key);
  return picture_of(library, outline);
}

float box_advance(char32_t code_point) {
  if (code_point == kResizeArrow) return 0.86f;
  return code_point > 0xffff ? 1.0f : 0.76f;
}

GlyphPicture rasterise_box(FT_Library library, const FontFace& digits, const GlyphKey& key) {
  constexpr double kDigitsFrom = 18.0;  // pixels per em
  const double em = key.size_64;
  OutlineBuilder builder;
  if (key.glyph == kResizeArrow) {
    add_resize_arrow(builder, em);
  } else {
    const auto whole = [](double value) { return std::round(value / 64.0) * 64.0; };
    const double x0 = whole(0.06 * em), x1 = x0 + whole((box_advance(key.glyph) - 0.12) * em);
    const double y0 = whole(-0.10 * em), y1 = whole(0.78 * em), w = std::max(64.0, whole(0.05 * em));
    builder.rectangle(x0, y0, x1, y1);
    builder.hole(x0 + w, y0 + w, x1 - w, y1 - w);
    FT_Face face = digits.face();
    const double digit_em = 0.42 * em;
    if (em >= kDigitsFrom * 64.0 && FT_Set_Char_Size(face, std::lround(digit_em), 0, 72, 72) == 0) {
      const std::string code = code_digits(key.glyph);
      const std::size_t columns = code.size() / 2;
      const double step_x = (x1 - x0 - 2.0 * w) / static_cast<double>(columns), step_y = (y1 - y0 - 2.0 * w) / 2.0;
      for (std::size_t i = 0; i < code.size(); ++i) {
        if (FT_Load_Char(face, static_cast<FT_ULong>(code[i]), FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP) != 0) continue;
        if (face->glyph->format != FT_GLYPH_FORMAT_OUTLINE) continue;
        const double advance = static_cast<double>(face->glyph->advance.x), cap = 0.72 * digit_em;
        const std::size_t row = i / columns, column = i % columns;
        const double x = x0 + w + step_x * static_cast<double>(column) + 0.5 * (step_x - advance);
        const double y = y1 - w - step_y * static_cast<double>(row + 1) + 0.5 * (step_y - cap);
        builder.append(face->glyph->outline, std::lround(x), std::lround(y));
      }
    }
  }
  FT_Outline outline = builder.outline();
  GlyphKey pen = key;
  if (key.angle_10 == 0) pen.sub_x = 0;  // its sides stay on pixels
  place(outline, pen);
  return picture_of(library, outline);
}

}  // namespace headroom
