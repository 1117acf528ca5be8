// For scripts: a person's hands. `wait` and `expect` belong to the runner of scripts (session/script.h).
#include <cstddef>
#include <utility>

#include "app/session/command_parts.h"
#include "core/base/parse_number.h"

namespace headroom {
namespace {

using Kind = WindowRequest::Kind;

void add_pointer(CommandTable& table, const char* name, const char* arguments, const char* title, Kind kind) {
  table.add({name, arguments, title, "Script", {}, [kind](Session& s, const Arguments& a) {
               WindowRequest request;
               request.kind = kind;
               // Coordinates, counts and words such as 0|1|2: all are numbers as they are written.
               for (std::size_t i = 0; i < a.size(); ++i) request.numbers.push_back(parse_finite(a[i]).value_or(0.0));
               s.request(std::move(request));
             }});
}

}  // namespace

void add_script_commands(CommandTable& table) {
  add_pointer(table, "pointer", "X Y", "Move the pointer", Kind::Pointer);
  add_pointer(table, "click", "X Y [0|1|2]", "Click: 0 left, 1 right, 2 middle", Kind::Click);
  add_pointer(table, "drag", "X0 Y0 X1 Y1", "Drag from one place to another", Kind::Drag);
  add_pointer(table, "wheel", "X Y NOTCHES", "Turn the wheel", Kind::Wheel);
  table.add({"key", "SHORTCUT", "Press a key", "Script", {}, [](Session& s, const Arguments& a) -> Result<void> {
               if (a[0].empty()) return a.wrong("a key such as Ctrl+P");
               s.request({Kind::KeyPress, a[0]});
               return {};
             }});
  table.add({"type", "TEXT…", "Type a text", "Script", {}, [](Session& s, const Arguments& a) {
               s.request({Kind::TypeText, a.text()});
             }});
  add_pointer(table, "random", "COUNT [SEED]", "Random hands: so many events", Kind::RandomHands);
  table.add({"times",
             "[TEXT…]",
             "Print the frame times since the last time",
             "Script",
             {},
             [](Session& s, const Arguments& a) { s.request({Kind::Times, a.text()}); }});
}

CommandTable make_command_table() {
  CommandTable table;
  add_file_commands(table);
  add_run_commands(table);
  add_head_commands(table);
  add_lasso_commands(table);
  add_maps_commands(table);
  add_tokens_commands(table);
  add_map_commands(table);
  add_what_if_commands(table);
  add_compare_commands(table);
  add_circuit_commands(table);
  add_importance_commands(table);
  add_training_commands(table);
  add_corpus_commands(table);
  add_residual_commands(table);
  add_export_commands(table);
  add_figure_commands(table);
  add_window_commands(table);
  add_script_commands(table);
  return table;
}

}  // namespace headroom
