#include "app/panels/chrome/log_overlay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "app/panels/panel.h"
#include "app/ui/text_wrap.h"

namespace headroom {
namespace {

constexpr float kMessageLine = 18.0f;

struct LogLine {
  const Message* message;
  std::string text;
  bool first;
};

}  // namespace

void draw_log(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::vector<Message>& messages = context.state.messages;
  const Rect box = begin_box(context, "log", window, {900.0f, 560.0f});
  const std::string count =
      std::to_string(messages.size()) + (messages.size() == 1 ? " message" : " messages") + ", the latest first";
  Rect rest = draw_box_title(context, box, "Messages", count, "log");
  const float margin = box.width() < 600.0f ? 12.0f : 24.0f;
  const Rect foot = rest.cut_bottom(40.0f);
  painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  const float button = ui.button_width("Copy all", true);
  ui.button({foot.x1 - margin - button, foot.y0 + 8.0f, foot.x1 - margin, foot.y0 + 32.0f}, "Copy all", "log.copy",
            ButtonStyle::Plain, Icon::Copy);

  rest = {rest.x0 + margin, rest.y0 + 8.0f, rest.x1 - 8.0f, rest.y1 - 4.0f};
  const float when = std::round(ui.width("00:00:00", {Face::Mono, 11.0f, theme.text3})) + 12.0f;
  const float text_x = rest.x0 + when + 20.0f, width = rest.x1 - 18.0f - text_x;
  const TextStyle style = theme.body(theme.text);
  std::vector<LogLine> lines;
  for (auto message = messages.rbegin(); message != messages.rend() && lines.size() < 5000; ++message) {
    bool first = true;
    for (std::string& line : wrap_text(message->text, width, ui.measure(), style.face, style.size, 40)) {
      lines.push_back({&*message, std::move(line), first});
      first = false;
    }
  }
  const float offset = ui.scroll("log", rest, kMessageLine * static_cast<float>(lines.size()), kMessageLine);
  const auto top = static_cast<std::size_t>(offset / kMessageLine);
  const auto shown = static_cast<std::size_t>(std::max(0.0f, std::floor(rest.height() / kMessageLine)));
  for (std::size_t i = top; i < std::min(lines.size(), top + shown); ++i) {
    const LogLine& line = lines[i];
    const float y = rest.y0 + kMessageLine * (static_cast<float>(i - top) + 0.5f);
    const bool bad = line.message->level == MessageLevel::Error, warning = line.message->level == MessageLevel::Warning;
    if (line.first) {
      ui.label_at(rest.x0, y, line.message->when, {Face::Mono, 11.0f, theme.text3}, when);
      if (bad || warning)
        ui.icon(bad ? Icon::Error : Icon::Warning, {rest.x0 + when + 6.0f, y}, 11.0f, bad ? theme.err : theme.warn);
    }
    if (!line.text.empty())
      ui.label_at(text_x, y, line.text, theme.body(bad ? theme.err : warning ? theme.warn : theme.text), width + 1.0f);
  }
  if (messages.empty()) {
    ui.label_at(rest.x0, rest.y0 + 9.0f,
                "Nothing was reported so far. Warnings and errors of files and runs are kept here.",
                theme.body(theme.text3), rest.width() - 18.0f);
  }
  end_box(context);
}

}  // namespace headroom
