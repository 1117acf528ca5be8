#include "app/panels/chrome/menu_bar.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "core/base/capitals.h"

namespace headroom {
namespace {

MenuItem submenu(std::string title, std::vector<MenuItem> items, bool separator = false) {
  MenuItem item;
  item.title = std::move(title);
  item.items = std::move(items);
  item.separator = separator;
  return item;
}

// All lines of the table that begin so, with their subject taken off.
std::vector<MenuItem> lines(const PanelContext& context, std::initializer_list<std::string_view> beginnings) {
  std::vector<MenuItem> items;
  bool after_group = false;
  for (const std::string_view beginning : beginnings) {
    const bool group = beginning.ends_with(' ');
    bool first = !items.empty() && (group || after_group);
    after_group = group;
    for (const CommandEntry& entry : context.commands.entries()) {
      const bool exact = entry.line == beginning;
      if (!exact && !(group && entry.line.starts_with(beginning))) continue;
      items.push_back(command_item(context, entry.line, without_subject(entry.title), first));
      first = false;
    }
  }
  return items;
}

std::vector<MenuItem> file_menu(const PanelContext& c) {
  return {command_item(c, "open.dialog", "Open…"),
          command_item(c, "open.panel", "Open with the program's own panel…"),
          submenu("Open recent", recent_items(c)),
          submenu("Demos", demo_items(c)),
          command_item(c, "save", "Save…", true),
          command_item(c, "session.save", "Save the session…"),
          command_item(c, "reload", {}, true),
          command_item(c, "file.show", "Show in folder"),
          command_item(c, "close"),
          command_item(c, "settings", "Settings…", true),
          command_item(c, "quit", {}, true)};
}

std::vector<MenuItem> view_menu(const PanelContext& c) {
  const State& state = c.state;
  std::vector<MenuItem> heads =
      lines(c, {"heads ", "heads.quantity ", "heads.order ", "heads.range ", "beside", "lasso ", "lasso.invert",
                "lasso.name", "lasso.ablate", "lasso.what-if", "lasso.export"});
  std::vector<MenuItem> map = lines(c, {"map ", "map.scale ", "map.pool ", "map.range auto", "map.range",
                                        "map.exclude-sink", "map.fit", "zoom", "swipe "});
  const char* scales[] = {"map.scale linear", "map.scale log10", "map.scale symlog"};
  const char* pools[] = {"map.pool max", "map.pool mean", "map.pool positive", "map.pool negative"};
  for (MenuItem& item : heads) {
    const char* views[] = {"heads atlas", "heads scatter", "heads table", "heads maps"};
    item.checked = item.command == views[static_cast<std::size_t>(state.view.heads.view)] ||
                   item.command == "heads.quantity " + atlas_quantity(state.view) ||
                   (item.command == "beside" && shown_beside(state.view));
  }
  for (MenuItem& item : map) {
    item.checked = item.command == std::string("map ") + word_of(state.view.map.kind) ||
                   (item.command == "map.exclude-sink" && state.view.map.exclude_sink) ||
                   item.command == (state.view.map.scale ? scales[static_cast<std::size_t>(*state.view.map.scale)]
                                                         : "map.scale auto") ||
                   item.command == pools[static_cast<std::size_t>(state.view.map.pooling)];
  }
  std::vector<MenuItem> head =
      lines(c, {"head.rms ", "head.across-model ", "tokens.large ", "tokens.tint ", "tokens.show "});
  for (MenuItem& item : head) {
    item.checked =
        item.command == "head.rms " + state.view.head.rms ||
        (item.command.starts_with("tokens.large") && state.view.centre == CentreView::Tokens) ||
        item.command == "tokens.tint " + (state.view.centre == CentreView::Tokens ? state.view.tokens.large_tint
                                                                                  : state.view.tokens.tint) ||
        item.command == (state.view.tokens.experts ? "tokens.show experts" : "tokens.show text");
  }
  std::vector<MenuItem> residual = lines(
      c, {"residual", "residual.cells ", "residual.channel", "residual.boundary", "residual.token", "residual.least"});
  const char* cells[] = {"residual.cells channel", "residual.cells rms", "residual.cells largest"};
  for (MenuItem& item : residual)
    item.checked = item.command == "residual"
                       ? state.view.centre == CentreView::Residual
                       : item.command == cells[static_cast<std::size_t>(state.view.residual.cells)];
  std::vector<MenuItem> panels =
      lines(c, {"panel.next", "panel.previous", "panel.maximise", "panel.fold ", "panel.reset"});
  std::vector<MenuItem> training =
      lines(c, {"training", "training.x ", "training.seeds ", "training.head ", "training.kept ", "training.play",
                "training.checkpoint", "training.zoom ", "training.close"});
  for (MenuItem& item : training) {
    const TrainingView& shown = state.view.training;
    item.checked = item.command == (shown.log_steps ? "training.x log" : "training.x linear") ||
                   item.command == (shown.seed_range ? "training.seeds range" : "training.seeds each") ||
                   (item.command == "training.head all" && shown.all_heads);
  }
  std::vector<MenuItem> looks = lines(c, {"theme ", "scale "});
  for (MenuItem& item : looks) item.checked = item.command == (state.settings.dark ? "theme dark" : "theme light");
  return {command_item(c, "undo"),
          command_item(c, "redo"),
          submenu("Heads", std::move(heads), true),
          submenu("Map", std::move(map)),
          submenu("Head and tokens", std::move(head)),
          command_item(c, "circuit", "Circuits, from weights"),
          submenu("Training", std::move(training)),
          submenu("Residual stream", std::move(residual)),
          submenu("Panels", std::move(panels), true),
          submenu("Theme and size", std::move(looks)),
          command_item(c, "log", "Messages", true)};
}

std::vector<MenuItem> run_menu(const PanelContext& c) {
  std::vector<MenuItem> what_if = lines(c, {"what-if.open", "what-if ", "what-if.scope "});
  for (const char* line : {"what-if.complete", "what-if.reset", "what-if.close"}) {
    what_if.push_back(command_item(c, line, without_subject(command_item(c, line).title),
                                   std::string_view(line) == "what-if.complete"));
  }
  MenuItem keep = command_item(c, "residual.keep", "Keep the residual stream");
  keep.checked = c.state.keep_residual;
  keep.detail = residual_size_text(c.state);
  MenuItem rounding = command_item(c, "rounding", "Measure rounding in bfloat16");
  rounding.checked = c.state.extra.rounding;
  MenuItem premise = command_item(c, "premise", "Measure the premise of the bounds");
  premise.checked = c.state.extra.premise;
  return {command_item(c, "run"),
          command_item(c, "cancel"),
          command_item(c, "run.checkpoint"),
          submenu("Prompt", prompt_items(c), true),
          submenu("Device and type", device_items(c)),
          std::move(keep),
          std::move(rounding),
          std::move(premise),
          submenu("What-if", std::move(what_if), true),
          command_item(c, "corpus.run"),
          command_item(c, "importance", "Ablate every head…")};
}

std::vector<MenuItem> compare_menu(const PanelContext& c) {
  std::vector<MenuItem> modes = lines(c, {"compare.mode "});
  const char* names[] = {"side", "swipe", "flip", "difference"};
  for (MenuItem& item : modes) {
    item.checked =
        c.state.view.centre == CentreView::Compare &&
        item.command == std::string("compare.mode ") + names[static_cast<std::size_t>(c.state.view.compare.mode)];
  }
  std::vector<MenuItem> items{submenu("Show run", run_items(c, "show", c.state.view.run)),
                              submenu("Compare with", run_items(c, "compare", c.state.view.other_run)),
                              command_item(c, "compare", "Compare with the latest other run")};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    modes[i].separator = i == 0;
    items.push_back(std::move(modes[i]));
  }
  items.push_back(submenu("Heads that differ most", lines(c, {"compare.sort "}), true));
  items.push_back(command_item(c, "compare.swap", "Swap the two runs", true));
  items.push_back(command_item(c, "compare.close", "Close the comparison"));
  return items;
}

// What is saved, with "Save…" first, then figures, then what is copied.
std::vector<MenuItem> export_menu(const PanelContext& c) {
  constexpr std::string_view kPicture = "export.panel ", kPlot = "figure.screen ", kCopy = "Copy ";
  std::vector<MenuItem> items{command_item(c, "save")}, of_subjects, figures, copies, pictures, plots;
  for (const CommandEntry& entry : c.commands.entries()) {
    if (entry.line.starts_with(kPicture))
      pictures.push_back(command_item(c, entry.line, entry.line.substr(kPicture.size()) + "…"));
    else if (entry.line.starts_with(kPlot))
      plots.push_back(command_item(c, entry.line, entry.line.substr(kPlot.size()) + "…"));
    else if (entry.group == "Export" && entry.title.starts_with(kCopy))
      copies.push_back(command_item(c, entry.line, capitalised(entry.title.substr(kCopy.size()))));
    else if (entry.group == "Export" && entry.line.starts_with("figure"))
      figures.push_back(command_item(c, entry.line, {}, figures.empty()));
    else if (entry.group == "Export" && entry.line != "save")
      (entry.title.find(": ") == std::string::npos ? items : of_subjects).push_back(command_item(c, entry.line));
  }
  items.push_back(submenu("Picture of a panel", std::move(pictures)));
  items.insert(items.end(), of_subjects.begin(), of_subjects.end());
  items.insert(items.end(), figures.begin(), figures.end());
  items.push_back(submenu("Figure of a panel, as on the screen", std::move(plots)));
  items.push_back(submenu("Copy", std::move(copies), true));
  return items;
}

std::vector<MenuItem> help_menu(const PanelContext& c) {
  return {command_item(c, "palette"), command_item(c, "keys", "Keys"), command_item(c, "log", "Messages", true),
          command_item(c, "about")};
}

}  // namespace

void draw_menu_bar(PanelContext& context, Rect frame) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  painter.begin_panel("menu bar", frame);
  painter.fill_rect(frame, theme.panel);
  ui.push_id("menu bar");
  struct Menu {
    const char* title;
    std::vector<MenuItem> (*items)(const PanelContext&);
  };
  constexpr std::array<Menu, 6> kMenus{{{"File", file_menu},
                                        {"View", view_menu},
                                        {"Run", run_menu},
                                        {"Compare", compare_menu},
                                        {"Export", export_menu},
                                        {"Help", help_menu}}};
  float x = frame.x0 + 3.0f;
  for (const Menu& menu : kMenus) {
    const float w = std::round(ui.width(menu.title, theme.body(theme.text2))) + 18.0f;
    if (x + w > frame.x1) break;
    ui.menu_button(menu.title, Rect::sized(x, frame.y0, w, frame.height()), menu.title,
                   [&] { return menu.items(context); });
    x += w;
  }
  if (ui.key(Key::F10)) ui.open_menu("File");

  const std::string key = context.commands.key_of(context.state, "palette");
  const float y = frame.y0 + 14.0f;
  float right = frame.x1 - measure::kPadding;
  const TextStyle style = theme.body(theme.text2);
  const float text = std::round(ui.width("Command palette", style));
  const float cap = key.empty() ? 0.0f : ui.key_cap_width(key) + 8.0f;
  if (right - cap - text > x + 8.0f) {
    const Rect area{right - cap - text - 6.0f, frame.y0 + 2.0f, frame.x1 - 6.0f, frame.y1 - 2.0f};
    const Interaction hit = ui.interact("palette", area, Cursor::Hand);
    painter.text_at(right - cap - text, y, "Command palette", theme.body(hit.hovered ? theme.text : theme.text2));
    if (!key.empty()) ui.key_cap({right - cap + 8.0f, y}, key);
    if (hit.clicked) ui.run("palette");
  }
  ui.pop_id();
  painter.end_panel();
}

}  // namespace headroom
