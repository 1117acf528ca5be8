// Figures for papers: what is asked for, and writing them.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "app/session/command_parts.h"
#include "app/session/figure_screen.h"
#include "app/session/saving.h"

namespace headroom {
namespace {

constexpr double kMostPixels = 32768.0;

std::string joined_names(std::span<const char* const> names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string needs_figure(const State& state) { return not_savable(state, SaveKind::Figure); }

// To be changed: without places of another run.
FigureWish& wish_of(Session& session) {
  session.figures().forget_other_places();
  return session.edit().figure;
}

void open_figure(State& state, const std::string& kind) {
  state.figure.kind = kind;
  state.overlay = Overlay::Figure;
}

// A file, or the save panel where no path is named.
Result<void> write_or_ask(Session& session, const Arguments& arguments, std::size_t path) {
  if (arguments.size() <= path) {
    session.saver().ask(SaveKind::Figure, "");
    return {};
  }
  return session.saver().save(SaveKind::Figure, "", arguments[path], arguments.is(arguments.size() - 1, "replace"));
}

Result<void> check_kind(const std::string& name) {
  const Result<const FigureKind*> found = find_figure_kind(name);
  return found ? Result<void>() : Result<void>(found.error());
}

// A kind with settings of its own, into a file: what the panel shows stays as it is, and a file that is there too,
// unless the last word is "replace".
Result<void> write_kind(Session& session, const Arguments& arguments) {
  HEADROOM_TRY_VOID(check_kind(arguments[0]));
  HEADROOM_TRY_VOID(check_save_ending(SaveKind::Figure, "figure", arguments[1]));
  FigureLook look;
  const bool replace = arguments.is(arguments.size() - 1, "replace");
  for (std::size_t i = 2; i + (replace ? 1 : 0) < arguments.size(); ++i) {
    const std::size_t sign = arguments[i].find('=');
    if (sign == std::string::npos) return arguments.wrong("NAME=VALUE, as in width=84mm");
    HEADROOM_TRY_VOID(
        set_figure_option(look, arguments[0], arguments[i].substr(0, sign), arguments[i].substr(sign + 1)));
  }
  const std::string path = whole_path(arguments[1]);
  return session.figures().write(arguments[0], look, path, replace, [&session, path](const Result<void>& done) {
    done ? session.saver().saved(SaveKind::Figure, path, false)
         : session.saver().not_saved(SaveKind::Figure, path, false, done.error());
  });
}

void add_settings(CommandTable& table) {
  table.add({"figure.set", "NAME TEXT", "Figure: an option of the kind that is chosen", "Export", needs_figure,
             [](Session& s, const Arguments& a) -> Result<void> {
               FigureWish& wish = wish_of(s);
               HEADROOM_TRY_VOID(set_figure_option(wish.looks[wish.kind], wish.kind, a[0], a[1]));
               s.save_settings();
               return {};
             }});
  table.add({"figure.part", "NAME on|off|toggle", "Figure: take over a part of what is on the screen", "Export",
             needs_figure, [](Session& s, const Arguments& a) -> Result<void> {
               if (std::ranges::find(kScreenPartNames, a[0]) == kScreenPartNames.end())
                 return a.wrong("NAME one of " + joined_names(kScreenPartNames));
               FigureWish& wish = wish_of(s);
               auto& left_out = wish.looks[wish.kind].left_out;
               if (a.on(1, !left_out.contains(a[0])))
                 left_out.erase(a[0]);
               else
                 left_out.insert(a[0]);
               s.save_settings();
               return {};
             }});
  table.add({"figure.format", "pdf|svg|png", "Figure: file format", "Export", needs_figure,
             [](Session& s, const Arguments& a) {
               FigureWish& wish = wish_of(s);
               wish.looks[wish.kind].ending = "." + a[0];
               s.save_settings();
             }});
  table.add({"figure.beside", "data|caption|run on|off|toggle", "Figure: what is written beside it", "Export",
             needs_figure, [](Session& s, const Arguments& a) {
               FigureWish& wish = wish_of(s);
               bool& chosen = a.is(0, "data") ? wish.data : a.is(0, "caption") ? wish.caption : wish.run;
               chosen = a.on(1, chosen);
               s.save_settings();
             }});
  table.add({"figure.caption", "text|latex", "Figure: which caption is shown", "Export", needs_figure,
             [](Session& s, const Arguments& a) {
               s.edit().figure.latex = a.is(0, "latex");
               s.save_settings();
             }});
  table.add({"figure.room", "PIXELS PIXELS", "Figure: how large the page can be shown", "Export", needs_figure,
             [](Session& s, const Arguments& a) -> Result<void> {
               const double width = a.number(0), height = a.number(1);
               if (!(std::min(width, height) >= 1.0 && std::max(width, height) <= kMostPixels))
                 return a.wrong("PIXELS from 1 to " + std::to_string(static_cast<int>(kMostPixels)));
               s.edit().figure.room_width = width, s.edit().figure.room_height = height;
               return {};
             }});
}

}  // namespace

void add_figure_commands(CommandTable& table) {
  table.add({"figure", "[NAME] or NAME PATH [TEXT…]", "Figure for a paper…", "Export", needs_figure,
             [](Session& s, const Arguments& a) -> Result<void> {
               if (a.size() > 1) return write_kind(s, a);
               if (!a.empty()) HEADROOM_TRY_VOID(check_kind(a[0]));
               open_figure(s.edit(), a.empty() ? figure_in_focus(s.state()) : a[0]);
               return {};
             }});
  table.add_entry({"figure", "Figure for a paper…", "Export", "Ctrl+Shift+E"});
  std::string plots = "heads|map|head|tokens";
  for (const FigureKind& kind : figure_kinds())
    if (std::string_view name = kind.name; name != "map" && name != "tokens") plots += "|" + std::string(name);
  table.add({"figure.screen", plots + " [PATH]", "Export this plot, as it is on the screen", "Export",
             [](const State& state, const Arguments& a) -> std::string {
               if (std::string reason = needs_figure(state); !reason.empty() || a.empty()) return reason;
               const Result<std::string> kind = figure_of_panel(state, a[0]);
               return kind ? "" : kind.error().message;
             },
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(const std::string kind, figure_of_panel(s.state(), a[0]));
               if (a.size() > 1) HEADROOM_TRY_VOID(check_save_ending(SaveKind::Figure, "figure.screen", a[1]));
               FigureWish& wish = wish_of(s);
               if (const auto kept = wish.looks.find(kind); kept != wish.looks.end()) {
                 const FigureLook before = kept->second;
                 kept->second = {};  // what is on the screen, at the size that was chosen
                 kept->second.letters = before.letters, kept->second.ending = before.ending;
                 kept->second.options.width = before.options.width, kept->second.options.height = before.options.height;
                 kept->second.options.theme = before.options.theme;
               }
               wish.kind = kind;
               if (a.size() > 1) return write_or_ask(s, a, 1);
               open_figure(s.edit(), kind);
               return {};
             }});
  for (const char* panel : {"heads", "map", "head", "tokens"})
    table.add_entry({std::string("figure.screen ") + panel, std::string("Export this plot: the panel ") + panel + "…",
                     "Export", ""});
  add_settings(table);
  table.add({"figure.save", "[PATH] or PATH replace", "Figure: save…", "Export", needs_figure,
             [](Session& s, const Arguments& a) { return write_or_ask(s, a, 0); }});
  table.add({"figure.copy", "command|caption", "Figure: copy the command or the caption", "Export",
             [](const State& state, const Arguments& a) -> std::string {
               if (std::string reason = needs_figure(state); !reason.empty()) return reason;
               const bool there =
                   a.is(0, "caption") ? state.figure.drawn != nullptr : !figure_command_line(state).empty();
               return there ? "" : "nothing is drawn yet";
             },
             [](Session& s, const Arguments& a) {
               const FigureWish& wish = s.state().figure;
               std::string text = figure_command_line(s.state());
               if (a.is(0, "caption")) text = wish.latex ? wish.drawn->latex : wish.drawn->caption;
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
             }});
}

}  // namespace headroom
