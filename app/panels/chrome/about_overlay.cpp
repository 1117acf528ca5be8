#include "app/panels/chrome/about_overlay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "app/panels/panel.h"
#include "app/ui/text_wrap.h"
#include "core/base/format.h"

#ifndef HEADROOM_VERSION
#define HEADROOM_VERSION ""
#endif
#ifndef HEADROOM_IMGUI_VERSION
#define HEADROOM_IMGUI_VERSION ""
#endif
#ifndef HEADROOM_GLFW_VERSION
#define HEADROOM_GLFW_VERSION ""
#endif
#ifndef HEADROOM_FREETYPE_VERSION
#define HEADROOM_FREETYPE_VERSION ""
#endif
#ifndef HEADROOM_HARFBUZZ_VERSION
#define HEADROOM_HARFBUZZ_VERSION ""
#endif
#ifndef HEADROOM_FONTCONFIG_VERSION
#define HEADROOM_FONTCONFIG_VERSION ""
#endif
#ifndef HEADROOM_HDF5_VERSION
#define HEADROOM_HDF5_VERSION ""
#endif
#ifndef HEADROOM_PCRE2_VERSION
#define HEADROOM_PCRE2_VERSION ""
#endif
#ifndef HEADROOM_UTF8PROC_VERSION
#define HEADROOM_UTF8PROC_VERSION ""
#endif
#ifndef HEADROOM_CRYPTO_VERSION
#define HEADROOM_CRYPTO_VERSION ""
#endif

namespace headroom {
namespace {

constexpr float kVersionLine = 20.0f;

struct AboutLine {
  std::string name, value, licence;
  bool heading = false;
};

std::vector<AboutLine> about_lines(const State& state) {
  std::vector<AboutLine> lines;
  lines.push_back({"Computing", "", "", true});
  if (state.device.info) {
    const BackendInfo& info = *state.device.info;
    lines.push_back({"LibTorch", info.torch_version, "BSD-3-Clause", false});
    lines.push_back({"kernels of LibTorch", info.cpu_capability, "", false});
    lines.push_back({"kernels of this program", info.kernel_target, "", false});
    lines.push_back({"threads", std::to_string(info.threads), "", false});
    for (const std::string& device : info.devices) lines.push_back({"device", device, "", false});
    if (!info.cuda_note.empty()) lines.push_back({"CUDA", info.cuda_note, "", false});
  } else if (!state.device.failed.empty()) {
    lines.push_back({"LibTorch", state.device.failed, "", false});
  } else {
    lines.push_back({"LibTorch", state.device.loading ? "is loading" : "not loaded", "", false});
  }
  lines.push_back({"Libraries and fonts", "", "", true});
  for (const AboutPart& part : about_parts()) {
    lines.push_back(
        {part.name, part.version.empty() ? part.use : part.version + " · " + part.use, part.licence, false});
  }
  return lines;
}

}  // namespace

std::string program_version() { return HEADROOM_VERSION; }

std::span<const AboutPart> about_parts() {
  static const std::vector<AboutPart> kParts{
      {"Dear ImGui", HEADROOM_IMGUI_VERSION, "MIT", "glyphs and shapes on the screen"},
      {"GLFW", HEADROOM_GLFW_VERSION, "zlib", "window and keys"},
      {"FreeType", HEADROOM_FREETYPE_VERSION, "FreeType licence", "letters"},
      {"HarfBuzz", HEADROOM_HARFBUZZ_VERSION, "MIT", "shaping of scripts"},
      {"fontconfig", HEADROOM_FONTCONFIG_VERSION, "MIT", "finding fonts"},
      {"HDF5", HEADROOM_HDF5_VERSION, "BSD-3-Clause", "run files"},
      {"JSON for Modern C++",
       format("%d.%d.%d", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH), "MIT",
       "configurations"},
      {"PCRE2", HEADROOM_PCRE2_VERSION, "BSD-3-Clause", "tokenizers"},
      {"utf8proc", HEADROOM_UTF8PROC_VERSION, "MIT", "Unicode forms"},
      {"OpenSSL libcrypto", HEADROOM_CRYPTO_VERSION, "Apache-2.0", "checksums"},
      {"CLI11", "", "BSD-3-Clause", "command line"},
      {"Inter", "", "SIL OFL 1.1", "text; by Rasmus Andersson and others"},
      {"JetBrains Mono", "", "SIL OFL 1.1", "numbers; by JetBrains"},
      {"DejaVu", "", "Bitstream Vera licence", "where the others are missing"},
  };
  return kParts;
}

void draw_about(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect box = begin_box(context, "about", window, {720.0f, 620.0f});
  const std::string version = program_version();
  Rect rest =
      draw_box_title(context, box, "Headroom", version.empty() ? "what it is made of" : "version " + version, "about");
  const float margin = box.width() < 600.0f ? 12.0f : 24.0f;
  rest = {rest.x0 + margin, rest.y0 + 10.0f, rest.x1 - 8.0f, rest.y1 - 10.0f};
  const char* what =
      "An inspection tool for attention heads: what each head of a language model does, and how far it runs from its bounds.";
  const float text =
      ui.paragraph({rest.x0, rest.y0}, what, theme.body(theme.text2), rest.width() - 16.0f, 18.0f, false, 3);
  if (rest.height() > 160.0f) {
    ui.paragraph({rest.x0, rest.y0}, what, theme.body(theme.text2), rest.width() - 16.0f, 18.0f, true, 3);
    rest.cut_top(text + 10.0f);
  }
  const std::vector<AboutLine> lines = about_lines(context.state);
  const float offset = ui.scroll("about", rest, kVersionLine * static_cast<float>(lines.size()), kVersionLine);
  const auto top = static_cast<std::size_t>(offset / kVersionLine);
  const auto count = static_cast<std::size_t>(std::max(0.0f, std::floor(rest.height() / kVersionLine)));
  const float right = rest.x1 - 18.0f, second = rest.x0 + std::round(0.28f * (right - rest.x0));
  for (std::size_t i = top; i < std::min(lines.size(), top + count); ++i) {
    const AboutLine& line = lines[i];
    const float y = rest.y0 + kVersionLine * (static_cast<float>(i - top) + 0.5f);
    if (line.heading) {
      ui.label_at(rest.x0, y, line.name, {Face::SansSemibold, 12.0f, theme.text}, right - rest.x0);
      painter.fill_rect({rest.x0, y + 9.0f, right, y + 10.0f}, theme.grid);
      continue;
    }
    ui.label_at(rest.x0, y, line.name, theme.body(theme.text2), second - rest.x0 - 8.0f);
    float end = right;
    if (!line.licence.empty())
      end -= ui.label_at(right, y, line.licence, theme.hint(), 0.3f * (right - rest.x0), Painter::Align::Right) + 12.0f;
    ui.label_at(second, y, line.value, theme.body(theme.text), end - second);
  }
  end_box(context);
}

}  // namespace headroom
