#include "app/window/imgui_painter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numbers>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/gl/glyph_atlas.h"
#include "app/gl/map_renderer.h"
#include "app/gl/point_renderer.h"
#include "app/window/frame_tiles.h"
#include "app/window/imgui_compat.h"
#include "app/window/tessellate.h"

namespace headroom {
namespace {

constexpr int kLayerCount = 3;
constexpr std::int64_t kKeptFrames = 120;  // that a texture of a picture outlives its last use
constexpr std::size_t kManyPoints = 3000;  // from here on a vertex buffer and a draw call of their own

constexpr float kLargeArea = 40000.0f;  // device pixels

ImU32 packed(Color color) { return IM_COL32(color.r, color.g, color.b, color.a); }

ImU32 packed(Color color, float coverage) { return packed(color.faded(coverage)); }

// Half a pixel goes up, so that equal edges of neighbours meet and a hairline at y covers the pixels y … y + 1.
float rounded(float value) { return std::floor(value + 0.5f); }

}  // namespace

struct ImguiPainter::State {
  State(FontLibrary& font_library, std::unique_ptr<MapRenderer> map_renderer,
        std::unique_ptr<PointRenderer> point_renderer, std::function<void(const std::string&)> reporter)
      : fonts(font_library),
        report(std::move(reporter)),
        atlas(font_library),
        maps(std::move(map_renderer)),
        many_points(std::move(point_renderer)),
        lists(kLayerCount) {}

  // A large opaque rectangle: software renderers clear it five times as fast as they blend it.
  struct Clear {
    Color color;
  };

  // A texture of a picture, and the frame that drew it last.
  struct ShownPicture {
    std::uint64_t id = 0, generation = 0;
    GlTexture texture;
    std::int64_t last_frame = 0;
  };

  // What a draw callback of the list does when its turn comes, inside the clip that it was added with.
  struct Command {
    State* state;
    std::variant<MapDraw, PointDraw, Clear> draw;
  };

  FontLibrary& fonts;
  std::function<void(const std::string&)> report;
  GlyphAtlas atlas;
  std::unique_ptr<MapRenderer> maps;
  std::unique_ptr<PointRenderer> many_points;
  ImguiDrawLists lists;
  std::deque<Command> commands;
  std::array<std::vector<Rect>, kLayerCount> clips;  // device pixels
  Layer layer = Layer::Base;
  int width = 1, height = 1;
  float scale = 1.0f;
  Color empty, hatch;
  Mesh mesh;
  std::vector<Vec2> device_points;
  std::vector<ShownPicture> pictures;
  std::int64_t frame = 0;

  // Of frames that are kept.
  struct KnownMap {
    MapDraw map;
    std::uint64_t content = 0;
    std::int64_t last_frame = 0;
  };
  bool keeps = false, anew = true;  // anew: what was drawn last is not what the tiles say
  FrameTiles tiles, tiles_before;
  std::vector<KnownMap> known_maps;
  std::uint64_t next_content = 1, atlas_restarts = 0;

  ImDrawList& list() { return lists.list(static_cast<int>(layer)); }
  const Rect& clip() { return clips[static_cast<std::size_t>(layer)].back(); }
  bool outside(const Rect& device) { return !clip().overlaps(device); }
  Vec2 device(Vec2 p) const { return p * scale; }
  float device_width(float w) const { return std::max(1.0f, rounded(w * scale)); }

  // Edges on whole device pixels; what has an extent keeps at least one pixel of it.
  Rect device(const Rect& rect) const {
    Rect out{rounded(rect.x0 * scale), rounded(rect.y0 * scale), rounded(rect.x1 * scale), rounded(rect.y1 * scale)};
    if (rect.x1 > rect.x0) out.x1 = std::max(out.x1, out.x0 + 1.0f);
    if (rect.y1 > rect.y0) out.y1 = std::max(out.y1, out.y0 + 1.0f);
    return out;
  }

  void add_rect(const Rect& device_rect, Color color) {
    if (device_rect.empty() || color.a == 0 || outside(device_rect)) return;
    const Rect seen = device_rect.intersected(clip());
    if (color.a == 255 && seen.width() * seen.height() >= kLargeArea) return add_command(Clear{color}, seen);
    ImDrawList& to = list();
    to.PrimReserve(6, 4);
    to.PrimRect({device_rect.x0, device_rect.y0}, {device_rect.x1, device_rect.y1}, packed(color));
  }

  void add_mesh(Color color) {
    if (mesh.indices.empty() || color.a == 0) return;
    // One reservation may not have more vertices than 16-bit indices tell apart.
    constexpr std::size_t kMostVertices = 60000;
    if (mesh.vertices.size() > kMostVertices) return add_large_mesh(color);
    ImDrawList& to = list();
    const ImVec2 white = white_texel();
    to.PrimReserve(static_cast<int>(mesh.indices.size()), static_cast<int>(mesh.vertices.size()));
    const unsigned first = to._VtxCurrentIdx;
    for (const MeshVertex& v : mesh.vertices) to.PrimWriteVtx({v.at.x, v.at.y}, white, packed(color, v.coverage));
    for (const std::uint32_t i : mesh.indices) to.PrimWriteIdx(static_cast<ImDrawIdx>(first + i));
  }

  void add_large_mesh(Color color) {
    ImDrawList& to = list();
    for (std::size_t i = 0; i + 2 < mesh.indices.size(); i += 3) {
      to.PrimReserve(3, 3);
      for (std::size_t k = 0; k < 3; ++k) {
        const MeshVertex& v = mesh.vertices[mesh.indices[i + k]];
        to.PrimVtx({v.at.x, v.at.y}, white_texel(), packed(color, v.coverage));
      }
    }
  }

  static ImVec2 white_texel() { return {GlyphAtlas::white_coordinate(), GlyphAtlas::white_coordinate()}; }

  void stroke(std::span<const Vec2> device_span, Color color, float device_line_width, bool closed) {
    mesh.clear();
    append_stroke(mesh, device_span, device_line_width, closed);
    add_mesh(color);
  }

  // A circle, and a rectangle with round corners, as device_points.
  void outline(Vec2 centre, float radius) {
    device_points.clear();
    append_arc(device_points, centre, radius, 0.0f, 2.0f * std::numbers::pi_v<float>);
  }
  void outline(const Rect& r, float radius) {
    constexpr float kQuarter = 0.5f * std::numbers::pi_v<float>;
    radius = std::clamp(radius, 0.0f, 0.5f * std::min(r.width(), r.height()));
    device_points.clear();
    append_arc(device_points, {r.x1 - radius, r.y1 - radius}, radius, 0.0f, kQuarter);
    append_arc(device_points, {r.x0 + radius, r.y1 - radius}, radius, kQuarter, 2.0f * kQuarter);
    append_arc(device_points, {r.x0 + radius, r.y0 + radius}, radius, 2.0f * kQuarter, 3.0f * kQuarter);
    append_arc(device_points, {r.x1 - radius, r.y0 + radius}, radius, 3.0f * kQuarter, 4.0f * kQuarter);
  }
  void fill_outline(Color color) {
    mesh.clear();
    append_convex(mesh, device_points);
    add_mesh(color);
  }

  // A number for the map that no other has, the same in each frame that draws it.
  std::uint64_t content_of(const MapDraw& map) {
    auto known = std::ranges::find(known_maps, map, &KnownMap::map);
    if (known == known_maps.end()) known = known_maps.insert(known, {map, next_content++, 0});
    known->last_frame = frame;
    return known->content;
  }

  // Tells what the command draws from all else that could be drawn inside its clip.
  std::uint64_t content_of(const Command& command) {
    if (const auto* area = std::get_if<Clear>(&command.draw)) return mixed(1, packed(area->color));
    if (const auto* map = std::get_if<MapDraw>(&command.draw)) return mixed(2, content_of(*map));
    const auto& many = std::get<PointDraw>(command.draw);
    const std::uint64_t look = mixed(packed(many.color), std::bit_cast<std::uint32_t>(many.size));
    return mixed(mixed(look, std::bit_cast<std::uint32_t>(many.scale)), many.content);
  }

  // Of a picture what it shows; of a page of glyphs its name: a place on it stays what it is.
  std::uint64_t texture_content(unsigned texture) const {
    const auto shown =
        std::ranges::find_if(pictures, [texture](const ShownPicture& one) { return one.texture.name() == texture; });
    return shown == pictures.end() ? texture : mixed(mixed(3, shown->id), shown->generation);
  }

  // It draws nothing outside `box`.
  void add_command(const std::variant<MapDraw, PointDraw, Clear>& draw, const Rect& box) {
    commands.push_back({this, draw});
    ImguiDrawLists::add_callback(list(), box, &State::run_command, &commands.back());
  }

  void clear(const Rect& rect, Color color) const {
    glScissor(static_cast<int>(rect.x0), height - static_cast<int>(rect.y1), static_cast<int>(rect.width()),
              static_cast<int>(rect.height()));
    glClearColor(static_cast<float>(color.r) / 255.0f, static_cast<float>(color.g) / 255.0f,
                 static_cast<float>(color.b) / 255.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
  }

  static void run_command(const ImDrawList*, const ImDrawCmd* place) {
    const auto& command = *static_cast<const Command*>(place->UserCallbackData);
    State& state = *command.state;
    const ImVec4& box = place->ClipRect;
    const auto x0 = static_cast<int>(box.x), x1 = static_cast<int>(box.z);
    const auto y0 = state.height - static_cast<int>(box.w), y1 = state.height - static_cast<int>(box.y);
    if (x1 <= x0 || y1 <= y0) return;
    glEnable(GL_SCISSOR_TEST);
    if (const auto* area = std::get_if<Clear>(&command.draw))
      return state.clear({box.x, box.y, box.z, box.w}, area->color);
    glScissor(x0, y0, x1 - x0, y1 - y0);
    if (const auto* map = std::get_if<MapDraw>(&command.draw)) state.maps->draw(*map, state.width, state.height);
    if (const auto* many = std::get_if<PointDraw>(&command.draw))
      state.many_points->draw(*many, state.width, state.height);
  }
};

ImguiPainter::ImguiPainter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ImguiPainter::~ImguiPainter() = default;

Result<std::unique_ptr<ImguiPainter>> ImguiPainter::create(FontLibrary& fonts, const std::string& shader_folder,
                                                           std::function<void(const std::string&)> report) {
  HEADROOM_TRY(auto maps, MapRenderer::create(shader_folder));
  HEADROOM_TRY(auto many_points, PointRenderer::create(shader_folder));
  auto state = std::make_unique<State>(fonts, std::move(maps), std::move(many_points), std::move(report));
  if (!state->lists.ready()) return Error(ErrorCode::Device, "Dear ImGui could not start its OpenGL 3 renderer");
  std::unique_ptr<ImguiPainter> painter(new ImguiPainter(std::move(state)));
  painter->set_theme(dark_theme());
  painter->begin_frame(1, 1, 1.0f);
  return painter;
}

void ImguiPainter::set_theme(const Theme& theme) {
  state_->empty = theme.empty;
  state_->hatch = theme.hatch;
}

void ImguiPainter::begin_frame(int width, int height, float scale) {
  State& s = *state_;
  s.width = std::max(width, 1);
  s.height = std::max(height, 1);
  s.scale = scale;
  ++s.frame;
  std::erase_if(s.known_maps, [&](const State::KnownMap& known) { return s.frame - known.last_frame > 1; });
  std::erase_if(s.pictures, [&](const State::ShownPicture& shown) { return s.frame - shown.last_frame > kKeptFrames; });
  s.fonts.trim();
  s.atlas.begin_frame();
  const auto told = [&s](const std::string& line) {
    s.anew = true;  // a shader is another one
    if (s.report) s.report(line);
  };
  s.maps->begin_frame(told);
  s.many_points->begin_frame(told);
  s.lists.begin_frame(static_cast<float>(s.width), static_cast<float>(s.height), GlyphAtlas::white_coordinate());
  clear();
}

void ImguiPainter::clear() {
  State& s = *state_;
  s.commands.clear();
  s.lists.clear(s.atlas.white_texture());
  for (auto& clips : s.clips)
    clips.assign(1, Rect{0.0f, 0.0f, static_cast<float>(s.width), static_cast<float>(s.height)});
  s.layer = Layer::Base;
}

void ImguiPainter::render() { state_->lists.render(); }

void ImguiPainter::keep_frames() { state_->keeps = true; }

float ImguiPainter::render_changes(Color ground, bool anew) {
  State& s = *state_;
  s.tiles.begin(s.width, s.height, packed(ground));
  s.lists.visit([&s](unsigned texture) { return s.texture_content(texture); },
                [&s](const void* data) { return s.content_of(*static_cast<const State::Command*>(data)); },
                [&s](const Rect& box, std::uint64_t content) { s.tiles.add(box, content); });
  const Rect whole{0.0f, 0.0f, static_cast<float>(s.width), static_cast<float>(s.height)};
  const bool widgets = s.lists.has_widgets();
  const bool all = std::exchange(s.anew, widgets) || anew || widgets || s.atlas.restarts() != s.atlas_restarts;
  s.atlas_restarts = s.atlas.restarts();
  const std::vector<Rect> parts = all ? std::vector<Rect>{whole} : s.tiles.differences(s.tiles_before);
  std::swap(s.tiles, s.tiles_before);
  glEnable(GL_SCISSOR_TEST);
  float drawn = 0.0f;
  for (const Rect& part : parts) s.clear(part, ground), drawn += part.width() * part.height();
  glDisable(GL_SCISSOR_TEST);
  if (parts.size() == 1 && parts.front() == whole)
    s.lists.render();
  else if (!parts.empty())
    s.lists.render(parts);
  return drawn / (whole.width() * whole.height());
}

void ImguiPainter::set_layer(Layer layer) { state_->layer = layer; }
Layer ImguiPainter::layer() const { return state_->layer; }
const TextMeasure& ImguiPainter::measure() const { return state_->fonts; }
float ImguiPainter::scale() const { return state_->scale; }

void ImguiPainter::push_clip(Rect clip) {
  State& s = *state_;
  Rect inside{rounded(clip.x0 * s.scale), rounded(clip.y0 * s.scale), rounded(clip.x1 * s.scale),
              rounded(clip.y1 * s.scale)};
  inside = inside.intersected(s.clip());
  inside.x1 = std::max(inside.x0, inside.x1);
  inside.y1 = std::max(inside.y0, inside.y1);
  s.clips[static_cast<std::size_t>(s.layer)].push_back(inside);
  s.list().PushClipRect({inside.x0, inside.y0}, {inside.x1, inside.y1}, false);
}

void ImguiPainter::pop_clip() {
  State& s = *state_;
  auto& clips = s.clips[static_cast<std::size_t>(s.layer)];
  if (clips.size() == 1) return;
  clips.pop_back();
  s.list().PopClipRect();
}

void ImguiPainter::fill_rect(Rect rect, Color color, float radius) {
  State& s = *state_;
  if (rect.empty()) return;
  const Rect r = s.device(rect);
  if (radius <= 0.0f || radius * s.scale < 0.5f) return s.add_rect(r, color);
  if (color.a == 0 || s.outside(r)) return;
  s.outline(r, radius * s.scale);
  s.fill_outline(color);
}

void ImguiPainter::stroke_rect(Rect rect, Color color, float width, float radius) {
  State& s = *state_;
  if (rect.empty()) return;
  const Rect r = s.device(rect);
  const float w = std::min({s.device_width(width), 0.5f * r.width(), 0.5f * r.height()});
  if (radius <= 0.0f || w < 1.0f) {
    s.add_rect({r.x0, r.y0, r.x1, r.y0 + w}, color);
    s.add_rect({r.x0, r.y1 - w, r.x1, r.y1}, color);
    s.add_rect({r.x0, r.y0 + w, r.x0 + w, r.y1 - w}, color);
    s.add_rect({r.x1 - w, r.y0 + w, r.x1, r.y1 - w}, color);
    return;
  }
  if (color.a == 0 || s.outside(r)) return;
  s.outline(r.inset(0.5f * w), radius * s.scale - 0.5f * w);
  s.stroke(s.device_points, color, w, true);
}

void ImguiPainter::line(Vec2 from, Vec2 to, Color color, float width) {
  State& s = *state_;
  if (color.a == 0) return;
  constexpr float kStraight = 1e-3f;
  const Vec2 a = s.device(from), b = s.device(to);
  const float w = s.device_width(width);
  if (std::abs(a.y - b.y) < kStraight) {
    const float y = rounded(a.y - 0.5f * w);
    return s.add_rect({rounded(std::min(a.x, b.x)), y, rounded(std::max(a.x, b.x)), y + w}, color);
  }
  if (std::abs(a.x - b.x) < kStraight) {
    const float x = rounded(a.x - 0.5f * w);
    return s.add_rect({x, rounded(std::min(a.y, b.y)), x + w, rounded(std::max(a.y, b.y))}, color);
  }
  const Vec2 ends[] = {a, b};
  s.stroke(ends, color, width * s.scale, false);
}

void ImguiPainter::polyline(std::span<const Vec2> points, Color color, float width, bool closed) {
  State& s = *state_;
  if (color.a == 0) return;
  if (points.size() == 2) return line(points[0], points[1], color, width);
  s.device_points.clear();
  for (const Vec2 p : points) s.device_points.push_back(s.device(p));
  s.stroke(s.device_points, color, width * s.scale, closed);
}

void ImguiPainter::fill_polygon(std::span<const Vec2> points, Color color) {
  State& s = *state_;
  s.device_points.clear();
  for (const Vec2 p : points) s.device_points.push_back(s.device(p));
  s.mesh.clear();
  append_polygon(s.mesh, s.device_points);
  s.add_mesh(color);
}

void ImguiPainter::disc(Vec2 centre, float radius, Color color) {
  State& s = *state_;
  const Vec2 c = s.device(centre);
  const float r = radius * s.scale;
  if (color.a == 0 || s.outside({c.x - r - 1.0f, c.y - r - 1.0f, c.x + r + 1.0f, c.y + r + 1.0f})) return;
  s.outline(c, r);
  s.fill_outline(color);
}

void ImguiPainter::ring(Vec2 centre, float radius, Color color, float width) {
  State& s = *state_;
  const Vec2 c = s.device(centre);
  const float r = radius * s.scale, reach = r + width * s.scale + 1.0f;
  if (color.a == 0 || r <= 0.0f || s.outside({c.x - reach, c.y - reach, c.x + reach, c.y + reach})) return;
  s.outline(c, r);
  s.stroke(s.device_points, color, width * s.scale, true);
}

void ImguiPainter::points(std::span<const Vec2> centres, Color color, float size) {
  State& s = *state_;
  if (centres.empty() || color.a == 0) return;
  const float side = s.device_width(size);
  if (centres.size() >= kManyPoints) {
    if (!s.clip().empty()) s.add_command(s.many_points->prepare(centres, color, side, s.scale, s.clip()), s.clip());
    return;
  }
  for (const Vec2 centre : centres) {
    const Vec2 c = s.device(centre);
    const float x = rounded(c.x - 0.5f * side), y = rounded(c.y - 0.5f * side);
    s.add_rect({x, y, x + side, y + side}, color);
  }
}

void ImguiPainter::text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle) {
  State& s = *state_;
  if (text.empty() || style.color.a == 0 || !(style.size > 0.0f)) return;
  const ShapedText& shaped = s.fonts.shape(text, style.face);
  const float em = style.size * s.scale;
  Vec2 pen = s.device(baseline);
  const float reach = 1.5f * em;
  const auto angle_10 = static_cast<std::int16_t>(
      std::lround(std::remainder(static_cast<double>(angle), 2.0 * std::numbers::pi) * 1800.0 / std::numbers::pi));
  const bool turned = angle_10 != 0;
  if (!turned) {
    pen.y = rounded(pen.y);
    if (s.outside({pen.x - reach, pen.y - reach, pen.x + shaped.width * em + reach, pen.y + reach})) return;
  }
  const float turn = static_cast<float>(angle_10) * std::numbers::pi_v<float> / 1800.0f;
  const float cosine = turned ? std::cos(turn) : 1.0f, sine = turned ? std::sin(turn) : 0.0f;
  GlyphKey key;
  key.size_64 = static_cast<std::int32_t>(std::lround(em * 64.0f));
  key.angle_10 = angle_10;

  ImDrawList& list = s.list();
  const GLuint usual = s.atlas.white_texture();
  const ImU32 color = packed(style.color), coloured = IM_COL32(255, 255, 255, style.color.a);
  for (const PlacedGlyph& placed : shaped.glyphs) {
    const float gx = placed.x * em, gy = turned ? placed.y * em : rounded(placed.y * em);
    const float x = pen.x + gx * cosine + gy * sine, y = pen.y - gx * sine + gy * cosine;
    const float quarter_x = std::floor(x * 4.0f + 0.5f),
                quarter_y = turned ? std::floor(y * 4.0f + 0.5f) : rounded(y) * 4.0f;
    const float whole_x = std::floor(quarter_x * 0.25f), whole_y = std::floor(quarter_y * 0.25f);
    key.font = placed.font;
    key.glyph = placed.glyph;
    key.sub_x = static_cast<std::uint8_t>(quarter_x - 4.0f * whole_x);
    key.sub_y = static_cast<std::uint8_t>(quarter_y - 4.0f * whole_y);
    const AtlasGlyph& glyph = s.atlas.glyph(key);
    if (glyph.texture == 0) continue;
    const Rect box = Rect::sized(whole_x + static_cast<float>(glyph.left), whole_y + static_cast<float>(glyph.top),
                                 static_cast<float>(glyph.width), static_cast<float>(glyph.height));
    if (s.outside(box)) continue;
    if (glyph.texture != usual) ImguiDrawLists::push_texture(list, glyph.texture);
    list.PrimReserve(6, 4);
    list.PrimRectUV({box.x0, box.y0}, {box.x1, box.y1}, {glyph.u0, glyph.v0}, {glyph.u1, glyph.v1},
                    glyph.coloured ? coloured : color);
    if (glyph.texture != usual) ImguiDrawLists::pop_texture(list);
  }
}

void ImguiPainter::map(Rect target, const MapImage& image, Rect source, const MapShading& shading) {
  State& s = *state_;
  if (target.empty() || source.empty()) return;
  const Rect device_target = s.device(target);
  if (s.outside(device_target)) return;
  MapDraw map = s.maps->prepare(image, shading.scale);
  map.target = device_target;
  map.source_x = static_cast<double>(source.x0);
  map.source_y = static_cast<double>(source.y0);
  map.source_width = static_cast<double>(source.x1) - map.source_x;
  map.source_height = static_cast<double>(source.y1) - map.source_y;
  map.gap = shading.cell_gap > 0.0f ? static_cast<int>(s.device_width(shading.cell_gap)) : 0;
  map.gap_color = shading.gap_color;
  map.empty = s.empty;
  map.hatch = s.hatch;
  map.hatch_nan = shading.nan == NanStyle::Hatched;
  map.hatch_width = static_cast<int>(s.device_width(1.0f));
  map.hatch_distance = std::max(2 * map.hatch_width, static_cast<int>(rounded(4.0f * s.scale)));
  const Rect seen = device_target.intersected(s.clip());
  const GLuint kept = s.keeps ? 0 : s.maps->kept_picture(map, seen);
  if (kept == 0) return s.add_command(map, seen);
  ImDrawList& list = s.list();
  ImguiDrawLists::push_texture(list, kept);
  list.PrimReserve(6, 4);
  list.PrimRectUV({seen.x0, seen.y0}, {seen.x1, seen.y1}, {0.0f, 1.0f}, {1.0f, 0.0f}, IM_COL32_WHITE);
  ImguiDrawLists::pop_texture(list);
}

void ImguiPainter::picture(Rect target, const RgbPicture& picture) {
  State& s = *state_;
  const Rect device_target = s.device(target);
  if (!picture.rgb || target.empty() || s.outside(device_target)) return;
  auto shown = std::ranges::find(s.pictures, picture.id, &State::ShownPicture::id);
  if (shown == s.pictures.end()) shown = s.pictures.insert(shown, {picture.id, ~picture.generation, GlTexture::make()});
  shown->last_frame = s.frame;
  if (shown->generation != picture.generation) {
    shown->generation = picture.generation;
    glBindTexture(GL_TEXTURE_2D, shown->texture.name());
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, picture.width, picture.height, 0, GL_RGB, GL_UNSIGNED_BYTE,
                 picture.rgb->data());
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glBindTexture(GL_TEXTURE_2D, 0);
  }
  ImDrawList& list = s.list();
  ImguiDrawLists::push_texture(list, shown->texture.name());
  list.PrimReserve(6, 4);
  list.PrimRectUV({device_target.x0, device_target.y0}, {device_target.x1, device_target.y1}, {0.0f, 0.0f},
                  {1.0f, 1.0f}, IM_COL32_WHITE);
  ImguiDrawLists::pop_texture(list);
}

ImguiPainter::Work ImguiPainter::work() const {
  const ImguiDrawLists::Work& drawn = state_->lists.last_work();
  const MapTextures& maps = state_->maps->textures();
  return {drawn.draw_calls, drawn.vertices,        drawn.indices, drawn.widget_vertices,
          maps.uploads(),   maps.uploaded_bytes(), maps.bytes(),  state_->atlas.bytes()};
}

ImguiDrawLists& ImguiPainter::draw_lists() { return state_->lists; }

}  // namespace headroom
