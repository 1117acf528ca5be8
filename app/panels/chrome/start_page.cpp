// What is seen while nothing is open: where to drop a file, what was open before, the demos.
#include "app/panels/chrome/start_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/ui/file_list.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kMostWidth = 1200.0f, kTwoColumns = 880.0f, kRecentRow = 64.0f, kDemoRow = 96.0f, kDrop = 112.0f;

// A page that scrolls: texts at its edges are there as a whole or not at all.
struct Page {
  PanelContext& context;
  Rect view;

  [[nodiscard]] bool shows(float centre, float height) const {
    return centre - 0.5f * height >= view.y0 && centre + 0.5f * height <= view.y1;
  }
  float text(float x, float y, std::string_view text, const TextStyle& style, float width,
             Painter::Align align = Painter::Align::Left) const {
    if (!shows(y, 1.5f * style.size) || width < 12.0f) return 0.0f;
    return context.ui.label_at(x, y, text, style, width, align);
  }
  void hairline(float x0, float x1, float y) const {
    context.painter().fill_rect({x0, std::round(y), x1, std::round(y) + 1.0f}, context.theme().line);
  }
};

void draw_dashed_frame(Painter& painter, Rect r, Color color) {
  const float x0 = r.x0 + 0.5f, y0 = r.y0 + 0.5f, x1 = r.x1 - 0.5f, y1 = r.y1 - 0.5f;
  painter.dashed_line({x0 + 4, y0}, {x1 - 4, y0}, color, 1.0f, 8.0f, 5.0f);
  painter.dashed_line({x0 + 4, y1}, {x1 - 4, y1}, color, 1.0f, 8.0f, 5.0f);
  painter.dashed_line({x0, y0 + 4}, {x0, y1 - 4}, color, 1.0f, 8.0f, 5.0f);
  painter.dashed_line({x1, y0 + 4}, {x1, y1 - 4}, color, 1.0f, 8.0f, 5.0f);
  constexpr float kRound[] = {4.0f, 1.2f};
  for (const float sx : {1.0f, -1.0f}) {
    for (const float sy : {1.0f, -1.0f}) {
      const Vec2 corner{sx > 0.0f ? x0 : x1, sy > 0.0f ? y0 : y1};
      const std::vector<Vec2> arc{corner + Vec2{0.0f, sy * kRound[0]}, corner + Vec2{sx * kRound[1], sy * kRound[1]},
                                  corner + Vec2{sx * kRound[0], 0.0f}};
      painter.polyline(arc, color, 1.0f);
    }
  }
}

void draw_drop_target(const Page& page, Rect area) {
  Ui& ui = page.context.ui;
  const Theme& theme = page.context.theme();
  Painter& painter = page.context.painter();
  const CommandTable& commands = page.context.commands;
  const State& state = page.context.state;
  const Interaction hit = ui.interact("drop", area, Cursor::Hand);
  if (hit.hovered) painter.fill_rect(area.inset(1.0f), theme.raised.faded(0.4f), measure::kRadius);
  draw_dashed_frame(painter, area, hit.hovered ? theme.text2 : theme.text3);
  ui.icon(Icon::Drop, {area.x0 + 40.0f, area.centre_y()}, 36.0f, theme.accent);
  float right = area.x1 - 24.0f;
  const float button = area.width() > 420.0f ? 108.0f : 0.0f;
  if (button > 0.0f && page.shows(area.centre_y(), 28.0f)) {
    ui.button(Rect::sized(right - button, std::round(area.centre_y() - 14.0f), button, 28.0f), "Open…", "open.dialog",
              ButtonStyle::Primary);
  }
  if (button > 0.0f) right -= button + 16.0f;
  const float x = area.x0 + 88.0f;
  page.text(x, area.y0 + 35.0f, "Drop a checkpoint or a run file here", {Face::SansSemibold, 16.0f, theme.text},
            right - x);
  std::string endings;
  for (const std::string_view ending : kCheckpointEndings) endings += std::string(ending) + ", ";
  const std::string opens = "a model folder, " + endings + "a headroom run (.h5), or several to compare";
  page.context.facts.set("start.opens", opens);
  page.text(x, area.y0 + 59.0f, opens, theme.body(theme.text2), right - x);
  const float y = area.y0 + 84.0f;
  if (page.shows(y, 18.0f)) {
    float at = x + page.text(x, y, "or", theme.body(theme.text3), right - x) + 8.0f;
    for (const auto& [line, what] :
         {std::pair{"open.dialog", "open"}, {"palette", "find a command"}, {"keys", "all keys"}}) {
      const std::string key = commands.key_of(state, line);
      if (key.empty()) continue;
      const float cap = ui.key_cap_width(key), text = std::round(ui.width(what, theme.body(theme.text2)));
      if (at + cap + 8.0f + text > right) break;
      ui.key_cap({at, y}, key);
      page.text(at + cap + 8.0f, y, what, theme.body(theme.text2), text + 1.0f);
      at += cap + 8.0f + text + 18.0f;
    }
  }
  if (hit.clicked) ui.run("open.dialog");
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

void draw_recent_row(const Page& page, const RecentFile& file, Rect row, std::int64_t now, bool last) {
  Ui& ui = page.context.ui;
  const Theme& theme = page.context.theme();
  const Rect area{row.x0 - 10.0f, row.y0, row.x1 + 10.0f, row.y0 + 56.0f};
  ui.push_id(file.path);
  const Interaction hit = ui.interact("recent", area, Cursor::Hand);
  if (hit.hovered) page.context.painter().fill_rect(area, theme.raised, measure::kRadius);
  const std::string when = when_text(file.opened_unix, now);
  const float right = row.x1 - 2.0f, x = row.x0 + 2.0f;
  const float when_width = std::ceil(ui.width(when, theme.hint())) + 16.0f;
  page.text(x, row.y0 + 14.0f, file.name.empty() ? short_path(file.path) : file.name,
            {Face::SansSemibold, 13.0f, file.missing ? theme.off : theme.text}, right - x - when_width);
  page.text(right, row.y0 + 14.0f, when, theme.hint(), when_width, Painter::Align::Right);
  const std::string size = file.missing || file.size_bytes == 0 ? "" : size_text(static_cast<double>(file.size_bytes));
  const TextStyle mono{Face::Mono, 11.0f, theme.text2};
  const float size_width = size.empty() ? 0.0f : std::ceil(ui.width(size, mono)) + 16.0f;
  page.text(x, row.y0 + 30.0f, short_path(file.path), {Face::Mono, 11.0f, file.missing ? theme.off : theme.text3},
            right - x - size_width);
  page.text(right, row.y0 + 30.0f, size, mono, size_width, Painter::Align::Right);
  if (file.missing) {
    page.text(x, row.y0 + 46.0f, "moved or deleted; a click looks for it", {Face::Sans, 11.0f, theme.warn}, right - x);
  } else {
    page.text(x, row.y0 + 46.0f, file.detail, {Face::Sans, 11.0f, theme.text2}, right - x);
  }
  if (!last && !hit.hovered)
    page.context.painter().fill_rect({row.x0, row.y0 + 59.0f, row.x1, row.y0 + 60.0f}, theme.grid);
  const std::string look = "open.panel " + quote_word(folder_of(file.path)), open = quote_word(file.path);
  ui.context_menu("menu", area, [&] {
    std::vector<MenuItem> items;
    if (!file.missing) {
      items.push_back({"Open and run", "", "open.run " + open, false, false, {}});
      items.push_back({"Open", "", "open " + open, false, false, {}});
    }
    if (!file.missing) items.push_back({"Show in folder", "", "file.show " + open, false, false, {}});
    items.push_back({file.missing ? "Look for it…" : "Open another from its folder…", "", look, false, false, {}});
    items.push_back({"Clear the list", "", "clear-recent", false, true, {}});
    return items;
  });
  if (hit.clicked) ui.run(file.missing ? look : "open.run " + open);
  ui.pop_id();
}

// A sign for each demo, in lines: not a map.
void draw_demo_sign(const Page& page, const DemoEntry& demo, Rect tile) {
  Painter& painter = page.context.painter();
  const Theme& theme = page.context.theme();
  painter.fill_rect(tile, theme.empty, measure::kRadius);
  painter.stroke_rect(tile, theme.line, 1.0f, measure::kRadius);
  const Rect r = tile.inset(std::round(0.28f * tile.width()));
  const Color line = theme.text3, mark = theme.accent;
  const auto has = [&](std::string_view word) { return demo.path.find(word) != std::string::npos; };
  if (has("trigger")) {
    for (int i = 0; i < 4; ++i) {
      const float y = r.y0 + (static_cast<float>(i) + 0.5f) * r.height() / 4.0f;
      painter.line({r.x0 + 6.0f, r.y0 + 0.5f * r.height() / 4.0f}, {r.x1, y}, line, 1.5f);
      painter.disc({r.x1, y}, 2.5f, line);
    }
    painter.disc({r.x0 + 4.0f, r.y0 + 0.5f * r.height() / 4.0f}, 5.0f, mark);
  } else if (has("backcopy")) {
    painter.line({r.x0, r.centre_y() + 8.0f}, {r.x1, r.centre_y() + 8.0f}, line, 1.5f);
    for (int i = 0; i < 3; ++i)
      painter.disc({r.x0 + static_cast<float>(i) * 0.5f * r.width(), r.centre_y() + 8.0f}, 3.0f, i == 1 ? mark : line);
    const std::vector<Vec2> arrow{{r.x1, r.centre_y() + 2.0f},
                                  {r.x1 - 4.0f, r.centre_y() - 8.0f},
                                  {r.centre_x() + 4.0f, r.centre_y() - 8.0f},
                                  {r.centre_x(), r.centre_y() + 2.0f}};
    painter.polyline(arrow, mark, 1.5f);
  } else if (has("bytes")) {
    const float widths[] = {0.9f, 1.0f, 0.6f, 0.8f};
    for (int i = 0; i < 4; ++i) {
      const float y = std::round(r.y0 + static_cast<float>(i) * r.height() / 4.0f + 3.0f);
      painter.fill_rect({r.x0, y, r.x0 + widths[i] * r.width(), y + 3.0f}, i == 2 ? mark : line, 1.0f);
    }
  } else {
    for (int i = 0; i < 4; ++i) {
      const float y = std::round(r.y0 + static_cast<float>(i) * r.height() / 4.0f + 2.0f);
      for (int k = 0; k < 3; ++k) {
        const float x = std::round(r.x0 + static_cast<float>(k) * r.width() / 3.0f + 1.0f);
        painter.fill_rect(Rect::sized(x, y, std::floor(r.width() / 3.0f) - 2.0f, 6.0f), i == 2 && k == 1 ? mark : line,
                          1.0f);
      }
    }
  }
}

void draw_demo_row(const Page& page, const DemoEntry& demo, Rect row) {
  Ui& ui = page.context.ui;
  const Theme& theme = page.context.theme();
  const Rect area{row.x0 - 10.0f, row.y0 - 4.0f, row.x1 + 10.0f, row.y0 + 84.0f};
  ui.push_id(demo.path);
  const Interaction hit = ui.interact("demo", area, Cursor::Hand);
  if (hit.hovered) page.context.painter().fill_rect(area, theme.raised, measure::kRadius);
  draw_demo_sign(page, demo, Rect::sized(row.x0, row.y0, 80.0f, 80.0f));
  const float x = row.x0 + 96.0f, most = row.x1 - x;
  page.text(x, row.y0 + 10.0f, demo.title, {Face::SansSemibold, 13.0f, theme.text}, most);
  const std::vector<std::string> lines = wrap_text(demo.line, most, ui.measure(), Face::Sans, 12.0f, 2);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    page.text(x, row.y0 + 30.0f + 17.0f * static_cast<float>(i), lines[i], theme.body(theme.text2), most);
  }
  page.context.facts.set(
      "start." + std::filesystem::path(demo.variants.empty() ? demo.path : demo.variants).filename().string(),
      demo.detail);
  page.text(x, row.y0 + 71.0f, demo.detail, theme.hint(), most);
  if (hit.clicked) ui.run("open.run " + quote_word(demo.path));
  ui.pop_id();
}

}  // namespace

void draw_start_page(PanelContext& context, Rect frame) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  painter.begin_panel("start page", frame);
  painter.fill_rect(frame, theme.panel);
  ui.push_id("start page");
  ui.push_clip(frame);
  const float margin = frame.width() < 700.0f ? 20.0f : 48.0f;
  const float width = std::floor(std::min(kMostWidth, frame.width() - 2.0f * margin));
  const float left = std::round(frame.x0 + 0.5f * (frame.width() - width)), right = left + width;
  const bool two = width >= kTwoColumns;
  const float top = frame.height() < 420.0f ? 8.0f : 24.0f;
  const auto recent_rows = static_cast<float>(std::max<std::size_t>(1, std::min<std::size_t>(8, state.recent.size())));
  const auto demo_rows = static_cast<float>(std::max<std::size_t>(1, state.demos.size()));
  const float recent_height = 38.0f + kRecentRow * recent_rows, demo_height = 38.0f + kDemoRow * demo_rows;
  const float lists = two ? std::max(recent_height, demo_height) : recent_height + 24.0f + demo_height;
  const float content = top + 77.0f + kDrop + 30.0f + lists + 16.0f;
  const float offset = ui.scroll("page", frame, content);
  const Page page{context, frame};

  float y = frame.y0 + top - offset;
  page.text(left, y + 17.0f, "Headroom", {Face::SansSemibold, 24.0f, theme.text}, width);
  page.text(left, y + 47.0f, "What every attention head does, and how far it runs from its bounds.",
            {Face::Sans, 13.0f, theme.text2}, width);
  y += 77.0f;
  draw_drop_target(page, {left, y, right, y + kDrop});
  y += kDrop + 30.0f;

  // Columns of 560 and 584 with 56 between them at full width.
  const float recent_right = two ? left + std::round(width * 560.0f / kMostWidth) : right;
  page.text(left, y + 6.0f, "Recent", {Face::SansSemibold, 13.0f, theme.text}, 200.0f);
  if (!state.recent.empty() && page.shows(y + 7.0f, 18.0f)) {
    const float w = std::round(ui.width("clear the list", theme.hint()));
    ui.link({recent_right - w, std::round(y + 11.0f)}, "clear the list", "clear-recent", theme.hint());
  }
  page.hairline(left, recent_right, y + 22.0f);
  const std::int64_t now = std::time(nullptr);
  for (std::size_t i = 0; i < std::min<std::size_t>(8, state.recent.size()); ++i) {
    const float row = y + 33.0f + kRecentRow * static_cast<float>(i);
    draw_recent_row(page, state.recent[i], {left, row, recent_right, row + kRecentRow}, now,
                    i + 1 == state.recent.size());
  }
  if (state.recent.empty()) {
    page.text(left, y + 44.0f, "What you open is listed here, the latest first.", theme.body(theme.text3),
              recent_right - left);
  }

  const float demo_left = two ? recent_right + 56.0f : left;
  if (!two) y += recent_height + 24.0f;
  page.text(demo_left, y + 6.0f, "Demos", {Face::SansSemibold, 13.0f, theme.text}, 80.0f);
  page.text(right, y + 7.0f, "bundled, small enough to inspect by hand", theme.hint(), right - demo_left - 90.0f,
            Painter::Align::Right);
  page.hairline(demo_left, right, y + 22.0f);
  for (std::size_t i = 0; i < state.demos.size(); ++i) {
    const float row = y + 36.0f + kDemoRow * static_cast<float>(i);
    draw_demo_row(page, state.demos[i], {demo_left, row, right, row + kDemoRow});
  }
  if (state.demos.empty()) {
    page.text(demo_left, y + 44.0f, "The demos are not here: assets/demo is missing.", theme.body(theme.text3),
              right - demo_left);
  }
  ui.pop_clip();
  ui.pop_id();
  painter.end_panel();
}

}  // namespace headroom
