#include "app/paper/cairo_painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numbers>

#include "app/paper/cairo_handles.h"
#include "app/paper/drawn_layer.h"
#include "app/paper/map_pixels.h"
#include "app/text/font_face.h"

namespace headroom {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;
constexpr Color kHalo = Color::hex(0xffffff);

}  // namespace

CairoPainter::CairoPainter(cairo_t* context, const FontLibrary& fonts, double dots_per_inch)
    : context_(context),
      library_(fonts),
      fonts_(fonts),
      dots_per_inch_(dots_per_inch),
      pixels_(cairo_surface_get_type(cairo_get_target(context)) == CAIRO_SURFACE_TYPE_IMAGE) {
  const std::unique_ptr<cairo_font_options_t, CairoDeleter> options(cairo_font_options_create());
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context_, options.get());
  cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
}

void CairoPainter::push_clip(Rect clip) {
  cairo_save(context_);
  trace(clip, 0.0f);
  cairo_clip(context_);
  clips_.push_back(clips_.empty() ? clip : clips_.back().intersected(clip));
}

void CairoPainter::pop_clip() {
  cairo_restore(context_);
  clips_.pop_back();
}

void CairoPainter::stroke(Color color, float width) {
  cairo_set_source_rgba(context_, color.r / 255.0, color.g / 255.0, color.b / 255.0, color.a / 255.0);
  cairo_set_line_width(context_, static_cast<double>(width));
  cairo_stroke(context_);
}

void CairoPainter::fill(Color color) {
  cairo_set_source_rgba(context_, color.r / 255.0, color.g / 255.0, color.b / 255.0, color.a / 255.0);
  cairo_fill(context_);
}

void CairoPainter::trace(std::span<const Vec2> points, bool closed) {
  cairo_new_path(context_);
  for (const Vec2& point : points) cairo_line_to(context_, static_cast<double>(point.x), static_cast<double>(point.y));
  if (closed) cairo_close_path(context_);
}

void CairoPainter::trace(Rect rect, float radius) {
  const auto x0 = static_cast<double>(rect.x0), y0 = static_cast<double>(rect.y0), x1 = static_cast<double>(rect.x1),
             y1 = static_cast<double>(rect.y1), r = static_cast<double>(radius);
  cairo_new_path(context_);
  if (!(r > 0.0)) {
    cairo_rectangle(context_, x0, y0, x1 - x0, y1 - y0);
    return;
  }
  cairo_arc(context_, x1 - r, y0 + r, r, -kTurn / 4, 0.0);
  cairo_arc(context_, x1 - r, y1 - r, r, 0.0, kTurn / 4);
  cairo_arc(context_, x0 + r, y1 - r, r, kTurn / 4, kTurn / 2);
  cairo_arc(context_, x0 + r, y0 + r, r, kTurn / 2, 3 * kTurn / 4);
  cairo_close_path(context_);
}

void CairoPainter::fill_rect(Rect rect, Color color, float radius) {
  trace(rect, radius);
  fill(color);
}

void CairoPainter::stroke_rect(Rect rect, Color color, float width, float radius) {
  const float half = 0.5f * width;
  trace({rect.x0 + half, rect.y0 + half, rect.x1 - half, rect.y1 - half}, std::max(0.0f, radius - half));
  stroke(color, width);
}

void CairoPainter::line(Vec2 from, Vec2 to, Color color, float width) {
  trace(std::array{from, to}, false);
  stroke(color, width);
}

void CairoPainter::polyline(std::span<const Vec2> points, Color color, float width, bool closed) {
  trace(points, closed);
  stroke(color, width);
}

void CairoPainter::dashed_polyline(std::span<const Vec2> points, Color color, float width, float on, float off) {
  const std::array<double, 2> dashes{static_cast<double>(on), static_cast<double>(off)};
  const bool dashed = on > 0.0f && off > 0.0f;
  if (dashed) cairo_set_dash(context_, dashes.data(), 2, 0.0);
  polyline(points, color, width);
  if (dashed) cairo_set_dash(context_, nullptr, 0, 0.0);
}

void CairoPainter::fill_polygon(std::span<const Vec2> points, Color color) {
  trace(points, true);
  fill(color);
}

// A disc of which Cairo has drawn the coverage once, at the nearest eighth of a pixel: four times as fast as its path.
void CairoPainter::stamp(Vec2 centre, float radius, Color color) {
  double x = static_cast<double>(centre.x), y = static_cast<double>(centre.y);
  cairo_user_to_device(context_, &x, &y);
  const double r = static_cast<double>(radius) * dots_per_inch_ / 72.0, margin = std::ceil(r) + 1.0;
  if (r != stamp_radius_) {
    stamp_radius_ = r;
    for (CairoSurface& one : stamps_) one.reset();
  }
  const double eighths_x = std::round(x * kStampPhases), eighths_y = std::round(y * kStampPhases);
  const double whole_x = std::floor(eighths_x / kStampPhases), whole_y = std::floor(eighths_y / kStampPhases);
  const double part_x = eighths_x - kStampPhases * whole_x, part_y = eighths_y - kStampPhases * whole_y;
  CairoSurface& mask = stamps_[static_cast<std::size_t>(part_y * kStampPhases + part_x)];
  if (!mask) {
    const int side = static_cast<int>(2.0 * margin) + 1;
    mask.reset(cairo_image_surface_create(CAIRO_FORMAT_A8, side, side));
    const CairoContext draw(cairo_create(mask.get()));
    cairo_arc(draw.get(), margin + part_x / kStampPhases, margin + part_y / kStampPhases, r, 0.0, kTurn);
    cairo_fill(draw.get());
    cairo_surface_flush(mask.get());
  }
  cairo_save(context_);
  cairo_identity_matrix(context_);
  cairo_set_source_rgba(context_, color.r / 255.0, color.g / 255.0, color.b / 255.0, color.a / 255.0);
  cairo_mask_surface(context_, mask.get(), whole_x - margin, whole_y - margin);
  cairo_restore(context_);
}

void CairoPainter::disc(Vec2 centre, float radius, Color color) {
  if (many_) return stamp(centre, radius, color);
  cairo_new_path(context_);
  cairo_arc(context_, static_cast<double>(centre.x), static_cast<double>(centre.y), static_cast<double>(radius), 0.0,
            kTurn);
  fill(color);
}

void CairoPainter::ring(Vec2 centre, float radius, Color color, float width) {
  cairo_new_path(context_);
  cairo_arc(context_, static_cast<double>(centre.x), static_cast<double>(centre.y),
            static_cast<double>(radius - 0.5f * width), 0.0, kTurn);
  stroke(color, width);
}

void CairoPainter::points(std::span<const Vec2> centres, Color color, float size) {
  for (const Vec2& centre : centres)
    fill_rect(Rect::sized(centre.x - 0.5f * size, centre.y - 0.5f * size, size, size), color);
}

// One font's glyphs in a row; `end`: where the text behind them begins. The origin is the text's baseline.
void CairoPainter::glyphs(std::string_view text, std::span<const PlacedGlyph> run, std::size_t end,
                          const TextStyle& style, bool halo) {
  cairo_set_font_face(context_, fonts_.face(run.front().font));
  // A vector file's widths of letters are whole thousandths: texts in a row on one line would come to stand up to half
  // a point off. What has a size of its own gets a place of its own, so sizes differ by less than the file's digits.
  other_size_ = !other_size_;
  cairo_set_font_size(context_, static_cast<double>(style.size) * (other_size_ ? 1.0 + 0x1p-24 : 1.0));
  std::vector<cairo_glyph_t> drawn;
  std::vector<cairo_text_cluster_t> clusters;
  bool ordered = true;
  for (std::size_t i = 0; i < run.size(); ++i) {
    drawn.push_back(
        {run[i].glyph, static_cast<double>(run[i].x * style.size), static_cast<double>(run[i].y * style.size)});
    const bool joined = i > 0 && run[i].cluster == run[i - 1].cluster;
    ordered = ordered && (i == 0 || run[i].cluster >= run[i - 1].cluster);
    if (joined) {
      ++clusters.back().num_glyphs;
      continue;
    }
    std::size_t next = i + 1;
    while (next < run.size() && run[next].cluster == run[i].cluster) ++next;
    const std::size_t behind = next < run.size() ? run[next].cluster : end;
    ordered = ordered && behind > run[i].cluster;
    clusters.push_back({static_cast<int>(behind - run[i].cluster), 1});
  }
  const int count = static_cast<int>(drawn.size());
  if (halo) {
    cairo_new_path(context_);
    cairo_glyph_path(context_, drawn.data(), count);
    stroke(kHalo, 2.0f * style.halo);
    return;
  }
  if (pixels_) {  // as outlines: Cairo would put the pictures of letters on whole pixels
    cairo_new_path(context_);
    cairo_glyph_path(context_, drawn.data(), count);
    fill(style.color);
    return;
  }
  cairo_set_source_rgba(context_, style.color.r / 255.0, style.color.g / 255.0, style.color.b / 255.0,
                        style.color.a / 255.0);
  if (!ordered) {  // from right to left: the picture is right, what is copied out of it is not
    cairo_show_glyphs(context_, drawn.data(), count);
    return;
  }
  const std::string_view part = text.substr(run.front().cluster, end - run.front().cluster);
  cairo_show_text_glyphs(context_, part.data(), static_cast<int>(part.size()), drawn.data(), count, clusters.data(),
                         static_cast<int>(clusters.size()), static_cast<cairo_text_cluster_flags_t>(0));
}

// A character that no font of a page has: its code in a box.
void CairoPainter::box(const PlacedGlyph& glyph, std::string_view character, const TextStyle& style) {
  std::string code;
  for (const char byte : character) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    code += digits.data();
  }
  if (glyph.font == kBoxFont) {
    std::array<char, 12> digits{};
    std::snprintf(digits.data(), digits.size(), "%04X", static_cast<unsigned>(glyph.glyph));
    code = digits.data();
  }
  const float x = glyph.x * style.size, em = style.size, advance = std::max(0.6f, box_advance(U' ')) * em;
  stroke_rect({x + 0.06f * em, -0.78f * em, x + advance - 0.06f * em, 0.1f * em}, style.color, 0.04f * em);
  const std::size_t half = (code.size() + 1) / 2;
  const float size = 0.36f * em;
  for (std::size_t row = 0; row < 2 && row * half < code.size(); ++row) {
    const std::string digits = code.substr(row * half, half);
    const float width = library_.width(digits, Face::Mono, size);
    text({x + 0.5f * (advance - width), (-0.42f + 0.42f * static_cast<float>(row)) * em}, digits,
         {Face::Mono, size, style.color});
  }
  const std::string sentence = "a character that no font of a page has is drawn as a box with its code";
  if (std::ranges::find(warnings_, sentence) == warnings_.end()) warnings_.push_back(sentence);
}

void CairoPainter::text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle) {
  draw_text(baseline, text, style, angle, false);
}

void CairoPainter::text_halo(Vec2 baseline, std::string_view text, const TextStyle& style, float angle) {
  draw_text(baseline, text, style, angle, true);
}

void CairoPainter::draw_text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle, bool halo) {
  const std::vector<PlacedGlyph> shaped = library_.shape(text, style.face).glyphs;
  cairo_save(context_);
  cairo_translate(context_, static_cast<double>(baseline.x), static_cast<double>(baseline.y));
  if (angle != 0.0f) cairo_rotate(context_, -static_cast<double>(angle));
  const auto end_of = [&](std::size_t next) { return next < shaped.size() ? shaped[next].cluster : text.size(); };
  for (std::size_t i = 0; i < shaped.size();) {
    std::size_t next = i + 1;
    if (fonts_.face(shaped[i].font) == nullptr) {
      const std::size_t end = end_of(next);
      if (!halo)
        box(shaped[i], text.substr(shaped[i].cluster, end > shaped[i].cluster ? end - shaped[i].cluster : 1), style);
    } else {
      while (next < shaped.size() && shaped[next].font == shaped[i].font) ++next;
      glyphs(text, std::span(shaped).subspan(i, next - i), end_of(next), style, halo);
    }
    i = next;
  }
  cairo_restore(context_);
}

void CairoPainter::image(Rect target, std::span<const std::uint8_t> rgb, std::int32_t width, std::int32_t height) {
  if (width <= 0 || height <= 0) return;
  const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) return;
  cairo_surface_flush(surface.get());
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (std::int32_t y = 0; y < height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(data + static_cast<std::ptrdiff_t>(y) * stride);
    for (std::int32_t x = 0; x < width; ++x) {
      const std::size_t at = std::size_t{3} * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                               static_cast<std::size_t>(x));
      row[x] = std::uint32_t{rgb[at]} << 16 | std::uint32_t{rgb[at + 1]} << 8 | rgb[at + 2];
    }
  }
  cairo_surface_mark_dirty(surface.get());
  cairo_save(context_);
  // Cairo clips a picture whose pixels are not smoothed to whole units, here points, if there is a clip: what is seen
  // of it is filled without one.
  const Rect seen = clips_.empty() ? target : clips_.back().intersected(target);
  cairo_reset_clip(context_);
  cairo_new_path(context_);
  trace(seen, 0.0f);
  cairo_translate(context_, static_cast<double>(target.x0), static_cast<double>(target.y0));
  cairo_scale(context_, static_cast<double>(target.width()) / width, static_cast<double>(target.height()) / height);
  cairo_set_source_surface(context_, surface.get(), 0.0, 0.0);
  cairo_pattern_set_filter(cairo_get_source(context_), CAIRO_FILTER_NEAREST);
  cairo_fill(context_);
  cairo_restore(context_);
}

void CairoPainter::map(Rect target, const MapImage& map, Rect source, const MapShading& shading) {
  const RgbGrid grid = map_pixels(map, source, shading, target, dots_per_inch_);
  image(target, grid.rgb, grid.width, grid.height);
}

void CairoPainter::rasterised(Rect area, const std::function<void(Painter&)>& draw) {
  if (pixels_) {
    many_ = true;
    draw(*this);
    many_ = false;
    return;
  }
  const CairoSurface layer = drawn_layer(area, library_, dots_per_inch_, draw);
  if (!layer) return;
  cairo_save(context_);
  cairo_translate(context_, static_cast<double>(area.x0), static_cast<double>(area.y0));
  cairo_scale(context_, 72.0 / dots_per_inch_, 72.0 / dots_per_inch_);
  cairo_set_source_surface(context_, layer.get(), 0.0, 0.0);
  cairo_paint(context_);
  cairo_restore(context_);
}

void CairoPainter::picture(Rect target, const RgbPicture& picture) {
  if (picture.rgb) image(target, *picture.rgb, picture.width, picture.height);
}

}  // namespace headroom
