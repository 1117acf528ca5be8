// For scripts: a person's hands. `wait` and `expect` belong to the runner of scripts (session/script.h).
#include <cstddef>
#include <utility>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

using Kind = WindowRequest::Kind;

void add_pointer(CommandTable& table, const char* name, const char* arguments, const char* title, Kind kind,
                 std::size_t least, std::size_t most) {
  table.add({name, arguments, title, "Script", {}, [=](Session& s, Arguments a) -> Result<void> {
               WindowRequest request;
               request.kind = kind;
               for (std::size_t i = 0; i < a.size(); ++i) {
                 const auto value = number_argument(a, i);
                 if (!value) return wrong_arguments(name, arguments, a);
                 request.numbers.push_back(*value);
               }
               if (a.size() < least || a.size() > most) return wrong_arguments(name, arguments, a);
               s.request(std::move(request));
               return {};
             }});
}

}  // namespace

void add_script_commands(CommandTable& table) {
  add_pointer(table, "pointer", "X Y", "Move the pointer", Kind::Pointer, 2, 2);
  add_pointer(table, "click", "X Y [BUTTON]", "Click", Kind::Click, 2, 3);
  add_pointer(table, "drag", "X0 Y0 X1 Y1", "Drag from one place to another", Kind::Drag, 4, 4);
  add_pointer(table, "wheel", "X Y NOTCHES", "Turn the wheel", Kind::Wheel, 3, 3);
  table.add({"key", "KEY", "Press a key", "Script", {}, [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 1 || !parse_key(a[0])) return wrong_arguments("key", "a key such as Ctrl+P", a);
               s.request({Kind::KeyPress, a[0]});
               return {};
             }});
  table.add({"type", "TEXT", "Type a text", "Script", {}, [](Session& s, Arguments a) -> Result<void> {
               s.request({Kind::TypeText, joined_arguments(a)});
               return {};
             }});
  add_pointer(table, "random", "COUNT [SEED]", "Random hands: so many events", Kind::RandomHands, 1, 2);
  table.add({"times",
             "LABEL",
             "Print the frame times since the last time",
             "Script",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               s.request({Kind::Times, joined_arguments(a)});
               return {};
             }});
}

CommandTable make_command_table() {
  CommandTable table;
  add_file_commands(table);
  add_run_commands(table);
  add_head_commands(table);
  add_map_commands(table);
  add_what_if_commands(table);
  add_compare_commands(table);
  add_export_commands(table);
  add_window_commands(table);
  add_script_commands(table);
  return table;
}

}  // namespace headroom
