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
  table.add({name, arguments, title, "Window", {}, [overlay](Session& s, Arguments a) -> Result<void> {
               State& state = s.edit();
               state.overlay = state.overlay == overlay ? Overlay::None : overlay;
               state.overlay_text = joined_arguments(a);
               if (overlay == Overlay::Log) state.unseen_warnings = state.unseen_errors = 0;
               return {};
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
             [](const State& state, Arguments) -> std::string {
               return state.overlay == Overlay::None ? "nothing lies over the window" : "";
             },
             [](Session& s, Arguments) -> Result<void> {
               s.edit().overlay = Overlay::None;
               return {};
             }});
  table.add({"theme", "dark|light|toggle", "Theme", "Window", {}, [](Session& s, Arguments a) -> Result<void> {
               bool& dark = s.edit().settings.dark;
               dark = a[0] == "toggle" ? !dark : a[0] == "dark";
               s.save_settings();
               return {};
             }});
  table.add_entry({"theme toggle", "Theme: dark or light", "Window", "Ctrl+D"});
  table.add_entry({"theme dark", "Theme: dark", "Window", ""});
  table.add_entry({"theme light", "Theme: light", "Window", ""});
  table.add({"scale",
             "FACTOR|larger|smaller|auto",
             "Size of everything",
             "Window",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               double& scale = s.edit().settings.scale;
               const double shown = scale > 0.0 ? scale : 1.0;
               if (a[0] == "larger")
                 scale = std::min(kLargest, shown + 0.25);
               else if (a[0] == "smaller")
                 scale = std::max(kSmallest, shown - 0.25);
               else if (a[0] == "auto")
                 scale = 0.0;
               else {
                 const double factor = *number_argument(a, 0);
                 if (factor < kSmallest || factor > kLargest)
                   return wrong_arguments("scale", "0.5 to 3, larger, smaller or auto", a);
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
             [](Session& s, Arguments a) -> Result<void> {
               bool& shown = s.edit().developer;
               shown = a.empty() ? !shown : a[0] == "on";
               return {};
             }});
  table.add_entry({"developer", "Developer panel", "Window", "F12"});
  const auto step = [&table](const char* name, const char* title, const char* key, std::size_t by) {
    table.add({name, "", title, "Window",
               [](const State& state, Arguments) -> std::string {
                 return state.panels_shown.empty() ? "no panel is shown" : "";
               },
               [by](Session& s, Arguments) -> Result<void> {
                 const std::vector<std::string>& shown = s.state().panels_shown;
                 const auto at =
                     static_cast<std::size_t>(std::ranges::find(shown, s.state().layout.focus) - shown.begin());
                 // From none the first or the last.
                 const std::size_t from = at < shown.size() ? at + shown.size() : by == 1 ? shown.size() - 1 : 0;
                 s.edit().layout.focus = shown[(from + (by == 1 ? 1 : shown.size() - 1)) % shown.size()];
                 return {};
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
             [](Session& s, Arguments a) -> Result<void> {
               const std::vector<std::string>& shown = s.state().panels_shown;
               std::string list;
               for (const std::string& name : shown) list += (list.empty() ? "" : ", ") + name;
               if (a[0] != "none" && std::ranges::find(shown, a[0]) == shown.end())
                 return wrong_arguments("panel.focus", list.empty() ? "none" : "one that is shown: " + list, a);
               s.edit().layout.focus = a[0] == "none" ? "" : a[0];
               return {};
             }});
  table.add({"panel.maximise", "[heads|map|head|tokens]", "This panel alone, and back", "Window",
             [](const State& state, Arguments) -> std::string {
               return state.panels_shown.empty() ? "no panel is shown" : "";
             },
             [](Session& s, Arguments a) -> Result<void> {
               Layout& layout = s.edit().layout;
               // The one with the focus; the map where none has it.
               const std::string name = !a.empty() ? a[0] : layout.focus.empty() ? "map" : layout.focus;
               layout.maximised = layout.maximised == name || (a.empty() && !layout.maximised.empty()) ? "" : name;
               return {};
             }});
  table.add_entry({"panel.maximise", "This panel alone, and back", "Window", "F11"});
  table.add({"panel.fold",
             "heads|head|tokens",
             "Fold a panel, or unfold it",
             "Window",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               Layout& layout = s.edit().layout;
               bool& folded = a[0] == "heads"  ? layout.heads_folded
                              : a[0] == "head" ? layout.head_folded
                                               : layout.tokens_folded;
               folded = !folded;
               s.save_settings();
               return {};
             }});
  for (const char* panel : {"heads", "head", "tokens"})
    table.add_entry(
        {std::string("panel.fold ") + panel, std::string("Fold or unfold the panel ") + panel, "Window", ""});
  table.add({"panel.size",
             "heads|head|tokens PIXELS",
             "Size of a panel",
             "Window",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               const double pixels = *number_argument(a, 1);
               if (pixels < 0 || pixels > 4000) return wrong_arguments("panel.size", "0 to 4000 pixels", a);
               Layout& layout = s.edit().layout;
               (a[0] == "heads"  ? layout.heads_width
                : a[0] == "head" ? layout.head_width
                                 : layout.tokens_height) = static_cast<float>(pixels);
               return {};
             }});
  table.add(
      {"panel.reset", "", "Panels as they were designed", "Window", {}, [](Session& s, Arguments) -> Result<void> {
         s.edit().layout = {};
         s.save_settings();
         return {};
       }});
  table.add_entry({"panel.reset", "Panels as they were designed", "Window", ""});
  table.add({"undo", "", "Undo a change of view", "Window",
             [](const State& state, Arguments) -> std::string { return state.can_undo ? "" : "nothing to undo"; },
             [](Session& s, Arguments) -> Result<void> {
               s.undo();
               return {};
             }});
  table.add({"redo", "", "Redo", "Window",
             [](const State& state, Arguments) -> std::string { return state.can_redo ? "" : "nothing to redo"; },
             [](Session& s, Arguments) -> Result<void> {
               s.redo();
               return {};
             }});
  table.add_entry({"undo", "Undo a change of view", "Window", "Ctrl+Z"});
  table.add_entry({"redo", "Redo", "Window", "Ctrl+Y"});
  table.add(
      {"error.close", "[ID]", "Close an error card", "Window",
       [](const State& state, Arguments) -> std::string { return state.errors.empty() ? "no error is shown" : ""; },
       [](Session& s, Arguments a) -> Result<void> {
         auto& errors = s.edit().errors;
         const auto id = index_argument(a, 0);
         if (!id)
           errors.pop_back();
         else if (std::erase_if(errors, [&](const ErrorCard& card) { return card.id == *id; }) == 0)
           return wrong_arguments("error.close", card_numbers(s.state()), a);
         return {};
       }});
  table.add(
      {"error.copy", "[ID]", "Copy an error's details", "Window",
       [](const State& state, Arguments) -> std::string { return state.errors.empty() ? "no error is shown" : ""; },
       [](Session& s, Arguments a) -> Result<void> {
         const auto id = index_argument(a, 0);
         for (const ErrorCard& card : s.state().errors)
           if (!id || card.id == *id) {
             const std::string hint = card.error.hint.empty() ? "" : "\n" + card.error.hint;
             s.request({WindowRequest::Kind::CopyText, card.title + "\n" + describe(card.error) + hint});
             return {};
           }
         return wrong_arguments("error.copy", card_numbers(s.state()), a);
       }});
  table.add_entry({"error.close", "Close the error card", "Window", ""});
  table.add_entry({"error.copy", "Copy the error's details", "Window", ""});
  table.add({"log.copy", "", "Copy all messages", "Window",
             [](const State& state, Arguments) -> std::string {
               return state.messages.empty() ? "there are no messages" : "";
             },
             [](Session& s, Arguments) -> Result<void> {
               std::string text;
               for (const Message& message : s.state().messages) text += message.when + " " + message.text + "\n";
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
               return {};
             }});
  table.add({"set-key",
             "LINE SHORTCUT",
             "Change the key of a command",
             "Window",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               if (!s.commands().entry(a[0]))
                 return wrong_arguments("set-key", "a command line of the palette, such as \"theme toggle\"", a);
               s.edit().settings.keys[a[0]] = a[1];
               s.save_settings();
               return {};
             }});
  table.add({"memory",
             "GB",
             "Memory for runs; 0: half of what is free",
             "Window",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               const double gigabytes = *number_argument(a, 0);
               if (gigabytes < 0 || gigabytes > 4096) return wrong_arguments("memory", "0 to 4096", a);
               s.edit().settings.memory_gb = gigabytes;
               s.save_settings();
               return {};
             }});
  table.add(
      {"tile-memory", "MB", "Memory for tiles of maps", "Window", {}, [](Session& s, Arguments a) -> Result<void> {
         const double megabytes = *number_argument(a, 0);
         if (megabytes < 8 || megabytes > 4096) return wrong_arguments("tile-memory", "8 to 4096", a);
         s.edit().settings.tile_mb = megabytes;
         s.tiles().set_budget(static_cast<std::size_t>(megabytes * 1048576.0));
         s.save_settings();
         return {};
       }});
  table.add({"quit", "", "Quit", "File", {}, [](Session& s, Arguments) -> Result<void> {
               s.request({WindowRequest::Kind::Quit, ""});
               return {};
             }});
  table.add_entry({"quit", "Quit", "File", "Ctrl+Q"});
}

}  // namespace headroom
