// The window itself: overlays, theme, scale, panels, undo.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

constexpr double kSmallest = 0.5, kLargest = 3.0;

void add_overlay(CommandTable& table, const char* name, const char* arguments, const char* title, const char* key,
                 Overlay overlay) {
  table.add({name, arguments, title, "Window", {}, [overlay](Session& s, const Arguments& a) {
               State& state = s.edit();
               state.overlay = state.overlay == overlay ? Overlay::None : overlay;
               state.overlay_text = a.text();
               if (overlay == Overlay::Log) state.unseen_warnings = state.unseen_errors = 0;
             }});
  table.add_entry({name, title, "Window", key});
}

// "the number of an error card: 4, 7".
std::string card_numbers(const State& state) {
  std::string text = "the number of an error card:";
  for (const ErrorCard& card : state.errors) text += (text.back() == ':' ? " " : ", ") + std::to_string(card.id);
  return text;
}

}  // namespace

void add_window_commands(CommandTable& table) {
  add_overlay(table, "palette", "[TEXT…]", "Find any command", "Ctrl+P", Overlay::Palette);
  add_overlay(table, "keys", "", "These keys", "?", Overlay::Keys);
  add_overlay(table, "settings", "", "Settings", "Ctrl+,", Overlay::Settings);
  add_overlay(table, "about", "", "About Headroom", "", Overlay::About);
  add_overlay(table, "log", "", "Messages", "Ctrl+L", Overlay::Log);
  table.add({"overlay.close", "", "Close what lies over the window", "Window",
             [](const State& state) -> std::string {
               return state.overlay == Overlay::None ? "nothing lies over the window" : "";
             },
             [](Session& s) {
               // From the place of a figure back to the figure.
               State& state = s.edit();
               const bool figure = state.overlay == Overlay::Save && state.save.kind == SaveKind::Figure;
               state.overlay = figure ? Overlay::Figure : Overlay::None;
             }});
  table.add({"theme", "dark|light|toggle", "Theme", "Window", {}, [](Session& s, const Arguments& a) {
               bool& dark = s.edit().settings.dark;
               dark = a.is(0, "dark") || (a.is(0, "toggle") && !dark);
               s.save_settings();
             }});
  table.add_entry({"theme toggle", "Theme: dark or light", "Window", "Ctrl+D"});
  table.add_entry({"theme dark", "Theme: dark", "Window", ""});
  table.add_entry({"theme light", "Theme: light", "Window", ""});
  table.add({"scale",
             "FACTOR|larger|smaller|auto",
             "Size of everything",
             "Window",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               double& scale = s.edit().settings.scale;
               const double shown = scale > 0.0 ? scale : 1.0;
               if (a.is(0, "larger"))
                 scale = std::min(kLargest, shown + 0.25);
               else if (a.is(0, "smaller"))
                 scale = std::max(kSmallest, shown - 0.25);
               else if (a.is(0, "auto"))
                 scale = 0.0;
               else {
                 const double factor = a.number(0);
                 if (factor < kSmallest || factor > kLargest) return a.wrong("0.5 to 3, larger, smaller or auto");
                 scale = factor;
               }
               s.save_settings();
               return {};
             }});
  table.add_entry({"scale larger", "Larger", "Window", "Ctrl+="});
  table.add_entry({"scale smaller", "Smaller", "Window", "Ctrl+-"});
  table.add_entry({"scale auto", "Size as the monitor says", "Window", ""});
  table.add({"developer",
             "[on|off]",
             "Developer panel: frames, jobs, tiles, uploads, OpenGL",
             "Window",
             {},
             [](Session& s, const Arguments& a) {
               bool& shown = s.edit().developer;
               shown = a.on(0, shown);
             }});
  table.add_entry({"developer", "Developer panel", "Window", "F12"});
  const auto step = [&table](const char* name, const char* title, const char* key, std::size_t by) {
    table.add({name, "", title, "Window",
               [](const State& state) -> std::string { return state.panels_shown.empty() ? "no panel is shown" : ""; },
               [by](Session& s) {
                 const std::vector<std::string>& shown = s.state().panels_shown;
                 const auto at =
                     static_cast<std::size_t>(std::ranges::find(shown, s.state().layout.focus) - shown.begin());
                 // From none the first or the last.
                 const std::size_t from = at < shown.size() ? at + shown.size() : by == 1 ? shown.size() - 1 : 0;
                 s.edit().layout.focus = shown[(from + (by == 1 ? 1 : shown.size() - 1)) % shown.size()];
               }});
    table.add_entry({name, title, "Window", key});
  };
  step("panel.next", "Next panel", "F6", 1);
  step("panel.previous", "Previous panel", "Shift+F6", 0);
  table.add({"panel.focus",
             "heads|map|head|tokens|none",
             "Give a panel the focus",
             "Window",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::vector<std::string>& shown = s.state().panels_shown;
               std::string list;
               for (const std::string& name : shown) list += (list.empty() ? "" : ", ") + name;
               if (!a.is(0, "none") && std::ranges::find(shown, a[0]) == shown.end())
                 return a.wrong(list.empty() ? "none" : "one that is shown: " + list);
               s.edit().layout.focus = a.is(0, "none") ? "" : a[0];
               return {};
             }});
  table.add({"panel.maximise", "[heads|map|head|tokens]", "This panel alone, and back", "Window",
             [](const State& state) -> std::string { return state.panels_shown.empty() ? "no panel is shown" : ""; },
             [](Session& s, const Arguments& a) {
               Layout& layout = s.edit().layout;
               // The one with the focus; the map where none has it.
               const std::string name = !a.empty() ? a[0] : layout.focus.empty() ? "map" : layout.focus;
               layout.maximised = layout.maximised == name || (a.empty() && !layout.maximised.empty()) ? "" : name;
             }});
  table.add_entry({"panel.maximise", "This panel alone, and back", "Window", "F11"});
  table.add({"panel.fold",
             "heads|head|tokens",
             "Fold a panel, or unfold it",
             "Window",
             {},
             [](Session& s, const Arguments& a) {
               Layout& layout = s.edit().layout;
               bool& folded = a.is(0, "heads")  ? layout.heads_folded
                              : a.is(0, "head") ? layout.head_folded
                                                : layout.tokens_folded;
               folded = !folded;
               s.save_settings();
             }});
  for (const char* panel : {"heads", "head", "tokens"})
    table.add_entry(
        {std::string("panel.fold ") + panel, std::string("Fold or unfold the panel ") + panel, "Window", ""});
  table.add({"panel.size",
             "heads|head|tokens PIXELS",
             "Size of a panel",
             "Window",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               const double pixels = a.number(1);
               if (pixels < 0 || pixels > 4000) return a.wrong("0 to 4000 pixels");
               Layout& layout = s.edit().layout;
               (a.is(0, "heads")  ? layout.heads_width
                : a.is(0, "head") ? layout.head_width
                                  : layout.tokens_height) = static_cast<float>(pixels);
               return {};
             }});
  table.add({"panel.reset", "", "Panels as they were designed", "Window", {}, [](Session& s) {
               s.edit().layout = {};
               s.save_settings();
             }});
  table.add_entry({"panel.reset", "Panels as they were designed", "Window", ""});
  table.add({"undo", "", "Undo a change of view", "Window",
             [](const State& state) -> std::string { return state.can_undo ? "" : "nothing to undo"; },
             [](Session& s) { s.history().undo(); }});
  table.add({"redo", "", "Redo", "Window",
             [](const State& state) -> std::string { return state.can_redo ? "" : "nothing to redo"; },
             [](Session& s) { s.history().redo(); }});
  table.add_entry({"undo", "Undo a change of view", "Window", "Ctrl+Z"});
  table.add_entry({"redo", "Redo", "Window", "Ctrl+Y"});
  table.add({"error.close", "[ID]", "Close an error card", "Window",
             [](const State& state) -> std::string { return state.errors.empty() ? "no error is shown" : ""; },
             [](Session& s, const Arguments& a) -> Result<void> {
               auto& errors = s.edit().errors;
               const auto id = a.maybe_index(0);
               if (!id)
                 errors.pop_back();
               else if (std::erase_if(errors, [&](const ErrorCard& card) { return card.id == *id; }) == 0)
                 return a.wrong(card_numbers(s.state()));
               return {};
             }});
  table.add({"error.copy", "[ID]", "Copy an error's details", "Window",
             [](const State& state) -> std::string { return state.errors.empty() ? "no error is shown" : ""; },
             [](Session& s, const Arguments& a) -> Result<void> {
               const auto id = a.maybe_index(0);
               for (const ErrorCard& card : s.state().errors)
                 if (!id || card.id == *id) {
                   const std::string hint = card.error.hint.empty() ? "" : "\n" + card.error.hint;
                   s.request({WindowRequest::Kind::CopyText, card.title + "\n" + describe(card.error) + hint});
                   return {};
                 }
               return a.wrong(card_numbers(s.state()));
             }});
  table.add_entry({"error.close", "Close the error card", "Window", ""});
  table.add_entry({"error.copy", "Copy the error's details", "Window", ""});
  table.add({"log.copy", "", "Copy all messages", "Window",
             [](const State& state) -> std::string { return state.messages.empty() ? "there are no messages" : ""; },
             [](Session& s) {
               std::string text;
               for (const Message& message : s.state().messages) text += message.when + " " + message.text + "\n";
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
             }});
  table.add({"set-key",
             "LINE SHORTCUT",
             "Change the key of a command",
             "Window",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               if (!s.commands().entry(a[0])) return a.wrong("a command line of the palette, such as \"theme toggle\"");
               s.edit().settings.keys[a[0]] = a[1];
               s.save_settings();
               return {};
             }});
  table.add({"memory",
             "GB",
             "Memory for runs; 0: half of what is free",
             "Window",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               const double gigabytes = a.number(0);
               if (gigabytes < 0 || gigabytes > 4096) return a.wrong("0 to 4096");
               s.edit().settings.memory_gb = gigabytes;
               s.save_settings();
               return {};
             }});
  table.add({"tile-memory",
             "MB",
             "Memory for tiles of maps",
             "Window",
             {},
             [](Session& s, const Arguments& a) -> Result<void> {
               const double megabytes = a.number(0);
               if (megabytes < 8 || megabytes > 4096) return a.wrong("8 to 4096");
               s.edit().settings.tile_mb = megabytes;
               s.tiles().set_budget(static_cast<std::size_t>(megabytes * 1048576.0));
               s.save_settings();
               return {};
             }});
  table.add({"quit", "", "Quit", "File", {}, [](Session& s) { s.request({WindowRequest::Kind::Quit, ""}); }});
  table.add_entry({"quit", "Quit", "File", "Ctrl+Q"});
}

}  // namespace headroom
