#include "app/paper/svg_painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <span>

#include "app/paper/drawn_layer.h"
#include "app/paper/font_subset.h"
#include "app/paper/map_pixels.h"
#include "app/paper/png_image.h"
#include "app/paper/svg_text.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

std::string number(float value) { return svg_number(static_cast<double>(value)); }

std::string family(std::uint32_t font) { return "headroom-" + std::to_string(font); }

std::string attribute(const char* name, std::string_view value) {
  return value.empty() ? std::string() : std::string(" ") + name + "=\"" + xml_text(value) + "\"";
}

// "log 1 512 24.9 175.2": scale, low, high, their places on the page. A scale that is linear about zero says to where:
// "symlog:0.001".
std::string axis_text(const Axis& axis) {
  const std::string scale = axis.log ? "log" : axis.linear > 0.0 ? "symlog:" + svg_number(axis.linear) : "linear";
  return scale + " " + svg_number(axis.low) + " " + svg_number(axis.high) + " " + number(axis.from) + " " +
         number(axis.to);
}

// The colour of a pixel of premultiplied ARGB, as 0xRRGGBB.
std::uint32_t unmultiplied(std::uint32_t pixel) {
  const std::uint32_t alpha = pixel >> 24;
  std::uint32_t color = 0;
  for (const int shift : {16, 8, 0}) {
    const std::uint32_t channel = pixel >> shift & 255u;
    color |= (alpha == 0 ? 0u : std::min(255u, (channel * 255u + alpha / 2) / alpha)) << shift;
  }
  return color;
}

// That of the most opaque pixel where every other one is of it, up to what marks above each other are rounded.
template <typename RowOf>
std::optional<std::uint32_t> only_color(const RowOf& row_of, int height) {
  constexpr std::uint32_t kRounding = 3;
  std::uint32_t most = 0;
  for (int y = 0; y < height; ++y)
    for (const std::uint32_t pixel : row_of(y))
      if (pixel >> 24 > most >> 24) most = pixel;
  const std::uint32_t color = unmultiplied(most);
  for (int y = 0; y < height; ++y)
    for (const std::uint32_t pixel : row_of(y))
      for (const int shift : {16, 8, 0}) {
        const std::uint32_t expected = ((color >> shift & 255u) * (pixel >> 24) + 127u) / 255u,
                            found = pixel >> shift & 255u;
        if (std::max(expected, found) - std::min(expected, found) > kRounding) return std::nullopt;
      }
  return color;
}

}  // namespace

SvgPainter::SvgPainter(const PageInfo& info, const FontLibrary& fonts)
    : fonts_(fonts), dots_per_inch_(info.dots_per_inch), as_fonts_(info.svg_text == SvgText::Fonts) {
  const auto millimetres = [](double points) { return svg_number(points / kPointsPerMillimetre) + "mm"; };
  body_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
          millimetres(info.width) + "\" height=\"" + millimetres(info.height) + "\" viewBox=\"0 0 " +
          svg_number(info.width) + " " + svg_number(info.height) +
          "\" role=\"img\" aria-labelledby=\"title description\">\n<title id=\"title\">" + xml_text(info.title) +
          "</title>\n<desc id=\"description\">" + xml_text(info.description) + "</desc>\n";
  nlohmann::ordered_json keys = nlohmann::ordered_json::object();
  for (const auto& [key, value] : info.keys) keys[key] = value;
  if (!info.created_utc.empty()) keys["created_utc"] = info.created_utc;
  body_ += "<metadata>" + xml_text(keys.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
           "</metadata>\n";
  head_ = body_.size();
  body_ += "<g stroke-linejoin=\"round\">\n";
}

std::string SvgPainter::finish() {
  std::string style;
  for (const auto& [font, characters] : embedded_)
    style += "@font-face{font-family:\"" + family(font) + "\";src:url(data:font/sfnt;base64," +
             base64(font_subset(fonts_.font(font), characters)) + ")}\n";
  // As the texts were laid out.
  if (!style.empty())
    style = "<style>" + style +
            "text{font-feature-settings:\"calt\" 0,\"liga\" 0,\"clig\" 0,\"dlig\" 0;white-space:pre}</style>\n";
  return body_.substr(0, head_) + style + body_.substr(head_) + "</g>\n</svg>\n";
}

std::optional<std::string> SvgPainter::spans(std::string_view text, const TextStyle& style) {
  const ShapedText& shaped = fonts_.shape(text, style.face);
  struct Span {
    std::uint32_t font = 0;
    std::size_t begin = 0;
    float x = 0.0f;
  };
  std::vector<Span> runs;
  std::size_t last = 0;
  for (const PlacedGlyph& glyph : shaped.glyphs) {
    if (glyph.font == kBoxFont || glyph.cluster < last) return {};  // a box; from right to left
    last = glyph.cluster;
    if (runs.empty() || runs.back().font != glyph.font) runs.push_back({glyph.font, glyph.cluster, glyph.x});
  }
  for (const Span& run : runs)
    if (!embedded_.contains(run.font) && font_subset(fonts_.font(run.font), {U'0'}).empty()) return {};
  std::string content;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t end = i + 1 < runs.size() ? runs[i + 1].begin : text.size();
    const std::string_view part = text.substr(runs[i].begin, end - runs[i].begin);
    for (std::string_view rest = part; !rest.empty();) {
      const Utf8Scalar scalar = decode_utf8(rest);
      embedded_[runs[i].font].insert(scalar.valid ? scalar.code_point : U'\ufffd');
      rest.remove_prefix(scalar.size_bytes);
    }
    content += "<tspan font-family=\"" + family(runs[i].font) + "\" x=\"" + number(runs[i].x * style.size) + "\">" +
               xml_text(part) + "</tspan>";
  }
  return content;
}

void SvgPainter::begin_plot(const PlotTag& tag) {
  body_ += "<g" + attribute("id", tag.id.empty() ? "" : "panel-" + tag.id) + attribute("data-kind", tag.kind);
  if (tag.x) body_ += attribute("data-x", axis_text(*tag.x));
  if (tag.y) body_ += attribute("data-y", axis_text(*tag.y));
  body_ += ">\n";
}

void SvgPainter::end_plot() { body_ += "</g>\n"; }

void SvgPainter::begin_series(const SeriesTag& tag) {
  body_ += "<g class=\"series\"" + attribute("data-quantity", tag.quantity) + attribute("data-head", tag.head) +
           attribute("data-name", tag.name) + ">\n";
}

void SvgPainter::end_series() { body_ += "</g>\n"; }

void SvgPainter::push_clip(Rect clip) {
  const std::string id = "clip-" + std::to_string(++clips_);
  body_ += "<clipPath id=\"" + id + "\"><rect x=\"" + number(clip.x0) + "\" y=\"" + number(clip.y0) + "\" width=\"" +
           number(clip.width()) + "\" height=\"" + number(clip.height()) + "\"/></clipPath>\n<g clip-path=\"url(#" +
           id + ")\">\n";
}

void SvgPainter::pop_clip() { body_ += "</g>\n"; }

void SvgPainter::fill_rect(Rect rect, Color color, float radius) {
  body_ += "<rect x=\"" + number(rect.x0) + "\" y=\"" + number(rect.y0) + "\" width=\"" + number(rect.width()) +
           "\" height=\"" + number(rect.height()) + "\"" + (radius > 0.0f ? " rx=\"" + number(radius) + "\"" : "") +
           svg_fill(color) + "/>\n";
}

void SvgPainter::stroke_rect(Rect rect, Color color, float width, float radius) {
  const float half = 0.5f * width;
  body_ += "<rect x=\"" + number(rect.x0 + half) + "\" y=\"" + number(rect.y0 + half) + "\" width=\"" +
           number(rect.width() - width) + "\" height=\"" + number(rect.height() - width) + "\"" +
           (radius > half ? " rx=\"" + number(radius - half) + "\"" : "") + svg_stroke(color, width) + "/>\n";
}

void SvgPainter::line(Vec2 from, Vec2 to, Color color, float width) {
  body_ += "<line x1=\"" + number(from.x) + "\" y1=\"" + number(from.y) + "\" x2=\"" + number(to.x) + "\" y2=\"" +
           number(to.y) + "\"" + svg_stroke(color, width) + "/>\n";
}

void SvgPainter::path(std::span<const Vec2> points, bool closed, const std::string& paint) {
  if (points.empty()) return;
  body_ += "<path d=\"";
  char letter = 'M';
  for (const Vec2& point : points) {
    body_ += letter + number(point.x) + " " + number(point.y);
    letter = 'L';
  }
  body_ += std::string(closed ? "Z" : "") + "\"" + paint + "/>\n";
}

void SvgPainter::polyline(std::span<const Vec2> points, Color color, float width, bool closed) {
  path(points, closed, svg_stroke(color, width));
}

void SvgPainter::dashed_polyline(std::span<const Vec2> points, Color color, float width, float on, float off) {
  path(points, false, svg_stroke(color, width) + " stroke-dasharray=\"" + number(on) + " " + number(off) + "\"");
}

void SvgPainter::fill_polygon(std::span<const Vec2> points, Color color) { path(points, true, svg_fill(color)); }

void SvgPainter::disc(Vec2 centre, float radius, Color color) {
  body_ += "<circle cx=\"" + number(centre.x) + "\" cy=\"" + number(centre.y) + "\" r=\"" + number(radius) + "\"" +
           svg_fill(color) + "/>\n";
}

void SvgPainter::ring(Vec2 centre, float radius, Color color, float width) {
  body_ += "<circle cx=\"" + number(centre.x) + "\" cy=\"" + number(centre.y) + "\" r=\"" +
           number(radius - 0.5f * width) + "\"" + svg_stroke(color, width) + "/>\n";
}

void SvgPainter::points(std::span<const Vec2> centres, Color color, float size) {
  for (const Vec2& centre : centres)
    fill_rect(Rect::sized(centre.x - 0.5f * size, centre.y - 0.5f * size, size, size), color);
}

namespace {

std::string placed_at(Vec2 baseline, float angle) {
  constexpr double kDegrees = 180.0 / std::numbers::pi;
  return " transform=\"translate(" + number(baseline.x) + " " + number(baseline.y) + ")" +
         (angle == 0.0f ? "" : " rotate(" + svg_number(-static_cast<double>(angle) * kDegrees) + ")") + "\"";
}

}  // namespace

void SvgPainter::text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle) {
  if (as_fonts_)
    if (const std::optional<std::string> content = spans(text, style)) {
      body_ += "<text data-size=\"" + number(style.size) + "\" font-size=\"" + number(style.size) + "\"" +
               placed_at(baseline, angle) + svg_fill(style.color) + ">" + *content + "</text>\n";
      return;
    }
  int boxes = 0;
  const std::string outlines = text_outlines(fonts_, text, style.face, style.size, boxes);
  if (boxes > 0 && warnings_.empty())
    warnings_.emplace_back("a character that no font of a page has is drawn as a box");
  body_ += "<path role=\"img\" aria-label=\"" + xml_text(text) + "\" data-size=\"" + number(style.size) + "\"" +
           placed_at(baseline, angle) + " d=\"" + outlines + "\"" + svg_fill(style.color) + "/>\n";
}

void SvgPainter::text_halo(Vec2 baseline, std::string_view text, const TextStyle& style, float angle) {
  int boxes = 0;
  body_ += "<path aria-hidden=\"true\"" + placed_at(baseline, angle) + " d=\"" +
           text_outlines(fonts_, text, style.face, style.size, boxes) +
           "\" fill=\"#ffffff\" stroke=\"#ffffff\" stroke-width=\"" + number(2.0f * style.halo) + "\"/>\n";
}

void SvgPainter::image(Rect target, const std::string& png) {
  body_ += "<image x=\"" + number(target.x0) + "\" y=\"" + number(target.y0) + "\" width=\"" + number(target.width()) +
           "\" height=\"" + number(target.height()) +
           "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64," +
           base64(png) + "\"/>\n";
}

void SvgPainter::map(Rect target, const MapImage& map, Rect source, const MapShading& shading) {
  const RgbGrid grid = map_pixels(map, source, shading, target, dots_per_inch_);
  if (grid.width > 0) image(target, png_bytes(grid.rgb, grid.width, grid.height));
}

void SvgPainter::rasterised(Rect area, const std::function<void(Painter&)>& draw) {
  const CairoSurface layer = drawn_layer(area, fonts_, dots_per_inch_, draw);
  if (!layer) return;
  const int width = cairo_image_surface_get_width(layer.get()), height = cairo_image_surface_get_height(layer.get()),
            stride = cairo_image_surface_get_stride(layer.get());
  const auto row_of = [&](int y) {
    return std::span(reinterpret_cast<const std::uint32_t*>(cairo_image_surface_get_data(layer.get()) +
                                                            static_cast<std::ptrdiff_t>(y) * stride),
                     static_cast<std::size_t>(width));
  };
  // Marks of one colour are that colour throughout: what small alphas leave of its channels is noise, which takes many
  // bytes.
  const std::optional<std::uint32_t> one = only_color(row_of, height);
  std::vector<std::uint8_t> rgba;
  rgba.reserve(std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    for (const std::uint32_t pixel : row_of(y)) {
      const std::uint32_t color = one ? *one : unmultiplied(pixel);
      for (const int shift : {16, 8, 0}) rgba.push_back(static_cast<std::uint8_t>(color >> shift & 255u));
      rgba.push_back(static_cast<std::uint8_t>(pixel >> 24));
    }
  const auto points = [&](int pixels) { return static_cast<float>(pixels * 72.0 / dots_per_inch_); };
  image(Rect::sized(area.x0, area.y0, points(width), points(height)), png_bytes(rgba, width, height));
}

void SvgPainter::picture(Rect target, const RgbPicture& picture) {
  if (picture.rgb) image(target, png_bytes(*picture.rgb, picture.width, picture.height));
}

}  // namespace headroom
