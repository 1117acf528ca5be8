// painter_probe OUT.png [SCALE] [dark|light]: one page with everything that the painter can draw, as a picture for the
// eye. painter_probe --time [FRAMES]: milliseconds a frame of a usual window: a map of 912 × 692, 3,000 shapes, 400
// texts. Needs a display, e.g. xvfb-run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "app/window/frame_loop.h"
#include "core/base/format.h"

namespace {

using namespace headroom;

constexpr const char* kSigns = "‖w‖₂ ₀ ᵢ 10⁻⁴ ½ √n λ ρ κ α ε r̃ ␣the ↵ → ↓ − ≤ ≥ × · … “q” ▲ ▼ ▾ ⤢ ⚠ ✓";

void draw_texts(Painter& painter, const Theme& theme, Rect area) {
  float y = area.y0 + 22.0f;
  const auto row = [&](const char* text, Face face, float size, Color color) {
    painter.text({area.x0 + 12.0f, y}, text, {face, size, color});
    y += std::round(size * 1.55f);
  };
  row("Attention maps of SmolLM2-135M", Face::SansSemibold, 24.0f, theme.text);
  row("Recent files, demo gallery, drop target", Face::SansSemibold, 16.0f, theme.text);
  row("Map  L12.H5 · diff_v2", Face::SansSemibold, 13.0f, theme.text);
  row("Context RMS over n_i, with the bound curves 1/√n and 1", Face::SansSemibold, 12.0f, theme.text);
  row("Run   Cancel   Open…   Compare", Face::SansMedium, 12.0f, theme.text);
  row("The quick brown fox jumps over the lazy dog. AVATAR Type fi fl 0123456789", Face::Sans, 12.0f, theme.text);
  row("query tokens, slanted, thinned to fit; hint text in 11 px, text3", Face::Sans, 11.0f, theme.text3);
  row("0.793  −12.3  5.0e−5  131 072  L17.H4  model.safetensors", Face::Mono, 12.0f, theme.text);
  row("0.793  −12.3  5.0e−5  a->b  x != y  >= 0.3", Face::Mono, 11.0f, theme.text2);
  row("0.1  0.2  0.3  10⁻⁴  10⁻³  .54  1.0", Face::Mono, 10.0f, theme.text3);
  row("L17.H4  0.793  sink", Face::MonoSemibold, 12.0f, theme.accent);
  row(kSigns, Face::Sans, 12.0f, theme.text);
  row(kSigns, Face::Mono, 12.0f, theme.text);
  row(kSigns, Face::SansSemibold, 13.0f, theme.text);
  row("日本語 한국어 العربية שלום (abc) 12 ไทย 😀 🚀 👩‍🚀 \xEE\x80\x80 \xF0\x9F\xBF\xBF é ñ ẽ",
      Face::Sans, 12.0f, theme.text);
  row("\xEE\x80\x80 \xF0\x9F\xBF\xBF 日", Face::Sans, 24.0f, theme.text);
  for (const float size : {9.0f, 12.0f, 15.0f, 18.0f})
    row("Hamburgefonstiv 0.123456789", Face::Sans, size, theme.text2);
  const char* labels[] = {"the", "attention", "sink", "<s>", "␣×19", "naïve", "Größe"};
  for (int i = 0; i < 7; ++i) {
    painter.text({area.x0 + 30.0f + 20.0f * static_cast<float>(i), y + 60.0f}, labels[i], theme.hint(), 0.785398f);
  }
  painter.text({area.x0 + 230.0f, y + 70.0f}, "turned by 90°, r̃", theme.body(theme.text), 1.570796f);
  painter.text({area.x0 + 260.0f, y - 20.0f}, "turned by −90°", theme.body(theme.text), -1.570796f);
  painter.text({area.x0 + 290.0f, y + 60.0f}, "10 degrees, 0.123456", theme.value(), 0.174533f);
}

void draw_shapes(Painter& painter, const Theme& theme, Rect area) {
  const float x = area.x0 + 12.0f;
  float y = area.y0 + 12.0f;
  painter.fill_rect(Rect::sized(x, y, 90, 24), theme.accent, 4.0f);
  painter.text_at(x + 45, y + 12, "Run", {Face::SansMedium, 12.0f, theme.on_accent}, Painter::Align::Centre);
  painter.fill_rect(Rect::sized(x + 98, y, 90, 24), theme.raised, 4.0f);
  painter.text_at(x + 143, y + 12, "Cancel", {Face::SansMedium, 12.0f, theme.text}, Painter::Align::Centre);
  painter.stroke_rect(Rect::sized(x + 196, y, 90, 24), theme.line, 1.0f, 4.0f);
  painter.stroke_rect(Rect::sized(x + 294, y, 60, 24), theme.accent, 2.0f);
  painter.disc({x + 380, y + 12}, 5.0f, theme.warn);
  painter.ring({x + 404, y + 12}, 8.0f, theme.err, 1.5f);
  painter.disc({x + 440, y + 12}, 12.0f, theme.lambda);
  y += 36;
  // Hairlines at whole, half and odd places: all one device pixel at scale 1.
  for (int i = 0; i < 8; ++i) {
    painter.line({x, y + static_cast<float>(i) * 4.3f}, {x + 100, y + static_cast<float>(i) * 4.3f}, theme.faint);
    painter.line({x + 110 + static_cast<float>(i) * 4.3f, y}, {x + 110 + static_cast<float>(i) * 4.3f, y + 34},
                 theme.faint);
  }
  // Neighbours without gap or overlap, in a translucent colour.
  for (int i = 0; i < 20; ++i) {
    painter.fill_rect({x + 160 + 5.37f * static_cast<float>(i), y, x + 160 + 5.37f * static_cast<float>(i + 1), y + 34},
                      theme.second.faded(0.5f));
  }
  painter.dashed_line({x + 280, y + 6}, {x + 440, y + 6}, theme.warn, 1.5f, 5.0f, 3.0f);
  painter.dashed_line({x + 280, y + 18}, {x + 440, y + 30}, theme.warn, 1.5f, 2.0f, 3.0f);
  y += 46;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<Vec2> curve, noisy, ribbon, steps;
  for (int i = 0; i <= 220; ++i) {
    const float t = static_cast<float>(i) * 2.0f;
    curve.push_back({x + t, y + 60 - 50.0f * std::sin(t * 0.03f) * std::exp(-t * 0.004f)});
    noisy.push_back({x + t, y + 60 + 12.0f * normal(random)});
    ribbon.push_back({x + t, y + 60 - 50.0f * std::sin(t * 0.03f) * std::exp(-t * 0.004f) - 14.0f});
  }
  for (auto p = curve.rbegin(); p != curve.rend(); ++p) ribbon.push_back({p->x, p->y + 14.0f});
  painter.fill_polygon(ribbon, theme.second.faded(0.25f));
  painter.polyline(noisy, theme.first, 1.5f);
  painter.polyline(curve, theme.second, 2.0f);
  y += 130;
  steps.push_back({x, y + 60});
  for (int i = 0; i < 40; ++i) {
    const float h = 55.0f * std::exp(-0.01f * static_cast<float>((i - 18) * (i - 18)));
    steps.push_back({x + 5.0f * static_cast<float>(i), y + 60 - h});
    steps.push_back({x + 5.0f * static_cast<float>(i + 1), y + 60 - h});
  }
  steps.push_back({x + 200, y + 60});
  painter.fill_polygon(steps, theme.lambda.faded(0.4f));
  painter.polyline(steps, theme.lambda, 1.0f);
  const Vec2 star[] = {{x + 260, y},      {x + 272, y + 24}, {x + 296, y + 28}, {x + 278, y + 44}, {x + 284, y + 66},
                       {x + 260, y + 54}, {x + 236, y + 66}, {x + 242, y + 44}, {x + 224, y + 28}, {x + 248, y + 24}};
  painter.fill_polygon(star, theme.kappa);
  const Vec2 triangle[] = {{x + 330, y + 10}, {x + 342, y + 10}, {x + 336, y + 20}};
  painter.fill_polygon(triangle, theme.warn);
  painter.polyline(star, theme.text, 1.0f, true);
  painter.push_clip(Rect::sized(x + 360, y, 60, 40));
  painter.fill_rect(Rect::sized(x + 350, y - 10, 200, 200), theme.accent_soft);
  painter.text({x + 352, y + 20}, "clipped text that is longer", theme.body(theme.text));
  painter.pop_clip();
}

MapImage triangle_map(int n, std::mt19937& random) {
  auto values =
      std::make_shared<std::vector<float>>(static_cast<std::size_t>(n * n), std::numeric_limits<float>::quiet_NaN());
  std::exponential_distribution<float> exponential;
  for (int q = 0; q < n; ++q) {
    float sum = 0;
    float* row = values->data() + q * n;
    for (int k = 0; k <= q; ++k)
      sum += row[k] = exponential(random) * (k == 0 ? 12.0f : std::exp(-0.05f * static_cast<float>(q - k)));
    for (int k = 0; k <= q; ++k) row[k] /= sum;
  }
  return {next_image_id(), 1, n, n, values};
}

struct Maps {
  std::mt19937 random{3};
  MapImage large = triangle_map(512, random), small = triangle_map(17, random), signed_map = triangle_map(64, random);
  MapImage atlas = triangle_map(30, random);
  Maps() {
    auto flipped = std::make_shared<std::vector<float>>(*signed_map.values);
    for (std::size_t i = 0; i < flipped->size(); i += 3) (*flipped)[i] *= -1.0f;
    signed_map.values = flipped;
    auto cells = std::make_shared<std::vector<float>>(static_cast<std::size_t>(30 * 9));
    for (std::size_t i = 0; i < cells->size(); ++i) (*cells)[i] = static_cast<float>(i) / 269.0f;
    (*cells)[31] = (*cells)[32] = std::numeric_limits<float>::quiet_NaN();
    (*cells)[100] = std::numeric_limits<float>::infinity();
    atlas = {next_image_id(), 1, 9, 30, cells};
  }
};

void draw_maps(Painter& painter, const Theme& theme, Rect area, const Maps& maps) {
  const float x = area.x0 + 12, y = area.y0 + 12;
  painter.fill_rect(Rect::sized(x, y, 300, 300), theme.empty);
  painter.map(Rect::sized(x, y, 300, 300), maps.large, {0, 0, 512, 512},
              {{theme.sequential(), ScaleKind::Log10, 1e-4f, 0.6f}, NanStyle::Masked, 0, {}});
  painter.line({x, y}, {x + 300, y + 300}, theme.faint);
  painter.stroke_rect(Rect::sized(x - 1, y - 1, 302, 302), theme.line);
  painter.map(Rect::sized(x + 316, y, 170, 170), maps.small, {0, 0, 17, 17},
              {{theme.sequential(), ScaleKind::Linear, 0.0f, 0.3f}, NanStyle::Masked, 1, theme.panel});
  painter.map(Rect::sized(x + 316, y + 180, 170, 120), maps.signed_map, {3.5f, 8.25f, 40.5f, 34.0f},
              {{theme.diverging(), ScaleKind::Symlog, -0.4f, 0.4f, 1e-3f}, NanStyle::Hatched, 0, {}});
  painter.map(Rect::sized(x + 500, y, 9 * 18, 30 * 10), maps.atlas, {0, 0, 9, 30},
              {{theme.sequential(), ScaleKind::Linear, 0.0f, 1.0f}, NanStyle::Hatched, 1, theme.panel});
}

void draw_usual_window(Painter& painter, const Theme& theme, const MapImage& map, int frame) {
  painter.fill_rect({0, 0, 1440, 900}, theme.panel);
  painter.map(Rect::sized(200, 100, 912, 692), map, {0, 0, 912, 692},
              {{theme.sequential(), ScaleKind::Log10, 1e-4f, 0.6f}, NanStyle::Masked, 0, {}});
  for (int i = 0; i < 3000; ++i) {
    const float x = 8.0f + 9.0f * static_cast<float>(i % 20), y = 40.0f + 5.0f * static_cast<float>(i / 20);
    if (i % 3 == 0) painter.fill_rect(Rect::sized(x, y, 8, 4), theme.first);
    if (i % 3 == 1) painter.line({x, y}, {x + 8, y + 3}, theme.second);
    if (i % 3 == 2) painter.fill_rect(Rect::sized(x, y, 8, 4), theme.raised, 1.0f);
  }
  for (int i = 0; i < 400; ++i) {
    const float x = 1120.0f + 105.0f * static_cast<float>(i % 3), y = 40.0f + 6.4f * static_cast<float>(i / 3);
    painter.text({x, y}, format("value %.3f", 0.001 * static_cast<double>(i + frame % 7)),
                 i % 2 ? theme.value() : theme.hint());
  }
}

int time_frames(FrameLoop& loop, int frames) {
  const Theme& theme = dark_theme();
  std::mt19937 random(5);
  auto values = std::make_shared<std::vector<float>>(912 * 692);
  std::exponential_distribution<float> exponential(100.0f);
  for (std::size_t i = 0; i < values->size(); ++i)
    (*values)[i] = i % 912 > i / 912 + 220 ? std::nanf("") : exponential(random);
  const MapImage map{next_image_id(), 1, 912, 692, values};
  for (int frame = 0; frame < frames; ++frame) {
    loop.wait(0.0);
    static_cast<void>(loop.begin_frame(theme.bg));
    draw_usual_window(loop.painter(), theme, map, frame);
    loop.end_frame();
  }
  const auto at = [](std::vector<float> times, double share) {
    std::sort(times.begin(), times.end());
    return static_cast<double>(times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]);
  };
  const FrameTimes& times = loop.times();
  std::printf("%zu frames: build median %.2f ms; whole median %.2f ms, p99 %.2f ms\n", times.total.size(),
              at(times.build, 0.5), at(times.total, 0.5), at(times.total, 0.99));
  return loop.gl_error_count() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: painter_probe OUT.png [SCALE] [dark|light]\n"), 2;
  const bool timing = std::strcmp(argv[1], "--time") == 0;
  const float scale = argc > 2 && !timing ? static_cast<float>(std::atof(argv[2])) : 1.0f;
  const Theme& theme = argc > 3 && std::strcmp(argv[3], "light") == 0 ? light_theme() : dark_theme();
  const auto stop = [](const Error& error) {
    std::fprintf(stderr, "painter_probe: %s\n", describe(error).c_str());
    return 1;
  };
  auto fonts = FontLibrary::create();
  if (!fonts) return stop(fonts.error());
  FrameLoopOptions options;
  options.window.ui_scale = scale;
  options.window.ignore_content_scale = true;
  options.window.vertical_sync = false;
  options.report = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  auto created = FrameLoop::create(options, **fonts);
  if (!created) return stop(created.error());
  FrameLoop& loop = **created;
  std::printf("%s\n", loop.window().gl_description().c_str());
  for (const std::string& line : (*fonts)->describe()) std::printf("%s\n", line.c_str());
  if (timing) return time_frames(loop, argc > 2 ? std::max(1, std::atoi(argv[2])) : 200);
  loop.painter().set_theme(theme);
  const Maps maps;
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<Vec2> cloud;
  for (int i = 0; i < 1000000; ++i)
    cloud.push_back({1100.0f + 80.0f * normal(random), 720.0f + 50.0f * normal(random)});
  for (int frame = 0; frame < 3; ++frame) {
    loop.wait(0.0);
    const Input input = loop.begin_frame(theme.bg);
    Painter& painter = loop.painter();
    const Rect left{8, 8, 560, 892}, right{568, 8, 1432, 330}, middle{568, 338, 1060, 892}, low{1068, 338, 1432, 892};
    for (const Rect& panel : {left, right, middle, low}) painter.fill_rect(panel, theme.panel, 4.0f);
    draw_texts(painter, theme, left);
    draw_shapes(painter, theme, middle);
    draw_maps(painter, theme, right, maps);
    painter.push_clip(low);
    painter.points(cloud, theme.second.faded(0.3f), 2.0f);
    painter.points(std::span(cloud).first(400), theme.accent, 4.0f);
    painter.pop_clip();
    loop.painter().set_layer(Layer::Overlay);
    painter.fill_rect(Rect::sized(1090, 360, 250, 60), theme.raised, 4.0f);
    painter.stroke_rect(Rect::sized(1090, 360, 250, 60), theme.line, 1.0f, 4.0f);
    painter.text({1102, 384}, "Overlay above a million points", theme.body(theme.text));
    painter.text({1102, 404},
                 format("%.0f × %.0f, scale %.2f", static_cast<double>(input.window.width()),
                        static_cast<double>(input.window.height()), static_cast<double>(scale)),
                 theme.value());
    loop.painter().set_layer(Layer::Base);
    loop.end_frame();
  }
  auto picture = loop.capture();
  if (!picture) return stop(picture.error());
  if (auto written = write_png(argv[1], *picture); !written) return stop(written.error());
  for (std::size_t i = 0; i < loop.times().total.size(); ++i) {
    std::printf("frame %zu: build %.2f ms, total %.2f ms\n", i, static_cast<double>(loop.times().build[i]),
                static_cast<double>(loop.times().total[i]));
  }
  std::printf("%lld GL errors\n", static_cast<long long>(loop.gl_error_count()));
  return loop.gl_error_count() == 0 ? 0 : 1;
}
