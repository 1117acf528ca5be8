// The grammar of command lines and keys, and the table of commands as a whole.
#include "app/session/commands.h"

#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/state.h"
#include "app/ui/file_list.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::vector<std::string> words(std::string_view line) {
  auto split = split_command_line(line);
  CATCH_REQUIRE(split.has_value());
  return *split;
}

CATCH_TEST_CASE("A command line is split at blanks, and quotes keep them, and # begins a comment", "[session]") {
  using Lines = std::vector<std::string>;
  CATCH_CHECK(words("open a/b.gguf") == Lines{"open", "a/b.gguf"});
  CATCH_CHECK(words("  select   L0.H0\t# the first") == Lines{"select", "L0.H0"});
  CATCH_CHECK(words("prompt \"a b  c\"") == Lines{"prompt", "a b  c"});
  CATCH_CHECK(words("prompt \"say \\\"no\\\" \\\\ #1\"") == Lines{"prompt", "say \"no\" \\ #1"});
  CATCH_CHECK(words("prompt \"\"") == Lines{"prompt", ""});
  CATCH_CHECK(words("open a#b") == Lines{"open", "a#b"});
  CATCH_CHECK(words("# only a comment").empty());
  CATCH_CHECK(words("").empty());
  CATCH_CHECK(words("x \"é ü\"y") == Lines{"x", "é üy"});
  const auto open_quote = split_command_line("prompt \"never closed");
  CATCH_REQUIRE_FALSE(open_quote.has_value());
  CATCH_CHECK(open_quote.error().code == ErrorCode::InvalidArgument);
}

CATCH_TEST_CASE("A path is typed as it is called, with blanks and without quotation marks", "[session]") {
  using Lines = std::vector<std::string>;
  const CommandTable table = make_command_table();
  const TempFolder folder;
  const std::string path = folder.write("my run #2 \"last\".h5", "").string();
  for (const std::string& line : {"open " + path, "  open   " + path + " ", "open " + quote_word(path)})
    CATCH_CHECK(table.words(line).value() == Lines{"open", path});
  CATCH_CHECK(table.words("prompt-file " + folder.write("a b", "").string()).value().size() == 2);
  // What is no file as a whole is words, and so is what a command without a path is given.
  CATCH_CHECK(table.words("open model base").value() == Lines{"open", "model", "base"});
  CATCH_CHECK(table.words("prompt " + path).value().size() > 2);
  CATCH_CHECK_FALSE(table.words("open \"never closed").has_value());
  CATCH_CHECK(table.words("").value().empty());
  CATCH_CHECK(table.words("open").value() == Lines{"open"});
  CATCH_CHECK(table.words("no.such command").value() == Lines{"no.such", "command"});
  CATCH_CHECK(table.words("open ~/x y").value() == Lines{"open", expand_home("~/x"), "y"});
  CATCH_CHECK(table.disabled_reason(State(), "open " + path).empty());
}

CATCH_TEST_CASE("Any word survives being quoted and split again", "[session]") {
  std::minstd_rand random(7);
  const std::string characters = "ab \t\"\\#é␣\n=";
  for (int round = 0; round < 2000; ++round) {
    std::string word;
    for (std::size_t i = 0, n = random() % 12; i < n; ++i) word += characters[random() % characters.size()];
    const auto split = words("name " + quote_word(word) + " last");
    CATCH_REQUIRE(split.size() == 3);
    CATCH_REQUIRE(split[1] == word);
  }
}

CATCH_TEST_CASE("Keys are read and written", "[session]") {
  for (const char* text :
       {"Ctrl+Shift+R", "S", "0", "?", "Ctrl+=", "Ctrl+-", "Ctrl+,", "Shift+Down", "Esc", "F11", "Alt+Left", "Tab"}) {
    const auto press = parse_key(text);
    CATCH_REQUIRE(press.has_value());
    CATCH_CHECK(key_name(*press) == text);
  }
  CATCH_CHECK(parse_key("Ctrl+s")->key == letter_key('S'));
  for (const char* text : {"", "Ctrl+", "Hyper+X", "F13", "ab", "é"}) CATCH_CHECK_FALSE(parse_key(text).has_value());
}

CATCH_TEST_CASE("Every entry of the palette is a command that exists, with a title and a key of its own", "[session]") {
  const CommandTable table = make_command_table();
  std::set<std::string> names;
  for (const Command& command : table.commands()) {
    CATCH_INFO(command.name);
    CATCH_CHECK(names.insert(command.name).second);
    CATCH_CHECK_FALSE(command.title.empty());
    CATCH_CHECK_FALSE(command.group.empty());
  }
  std::map<std::string, std::string> keys;
  std::set<std::string> lines;
  for (const CommandEntry& entry : table.entries()) {
    CATCH_INFO(entry.line);
    CATCH_CHECK(lines.insert(entry.line).second);
    CATCH_CHECK(table.find(words(entry.line).front()) != nullptr);
    CATCH_CHECK_FALSE(entry.title.empty());
    if (entry.key.empty()) continue;
    CATCH_CHECK(parse_key(entry.key).has_value());
    CATCH_CHECK(keys.emplace(entry.key, entry.line).second);
  }
  // Keys that hands have learnt.
  const std::map<std::string, std::string> promised = {{"Ctrl+O", "open.dialog"},
                                                       {"Ctrl+P", "palette"},
                                                       {"Ctrl+R", "run"},
                                                       {"Esc", "release"},
                                                       {"Left", "select.left"},
                                                       {"Shift+Down", "select.next-over"},
                                                       {"1", "map net"},
                                                       {"S", "map.scale next"},
                                                       {"0", "map.fit"},
                                                       {"Z", "map.exclude-sink"},
                                                       {"F6", "panel.next"},
                                                       {"F11", "panel.maximise"},
                                                       {"X", "compare.swap"},
                                                       {"P", "pin"},
                                                       {"Ctrl+C", "copy"},
                                                       {"Ctrl+E", "export"},
                                                       {"Ctrl+Z", "undo"},
                                                       {"Ctrl+Y", "redo"},
                                                       {"?", "keys"},
                                                       {"Ctrl+=", "scale larger"},
                                                       {"Ctrl+-", "scale smaller"},
                                                       {"Ctrl+,", "settings"}};
  for (const auto& [key, line] : promised) CATCH_CHECK(keys[key] == line);
}

CATCH_TEST_CASE("With nothing open every command says why it cannot run, or can", "[session]") {
  const CommandTable table = make_command_table();
  const State state;
  for (const char* line :
       {"run", "select L0.H0", "map net", "zoom 0 1 0 1", "what-if sink=off", "compare", "export x.h5", "copy", "undo"})
    CATCH_CHECK_FALSE(table.disabled_reason(state, line).empty());
  for (const char* line : {"open x", "palette", "theme dark", "quit", "heads table"})
    CATCH_CHECK(table.disabled_reason(state, line).empty());
  CATCH_CHECK(table.disabled_reason(state, "nonsense") == "no such command");
}

CATCH_TEST_CASE("A changed key takes the place of the default, and an empty one takes it away", "[session]") {
  const CommandTable table = make_command_table();
  State state;
  CATCH_CHECK(table.key_of(state, "run") == "Ctrl+R");
  state.settings.keys["run"] = "Ctrl+K";
  state.settings.keys["palette"] = "";
  CATCH_CHECK(table.key_of(state, "run") == "Ctrl+K");
  CATCH_REQUIRE(table.entry_of_key(state, *parse_key("Ctrl+K")) != nullptr);
  CATCH_CHECK(table.entry_of_key(state, *parse_key("Ctrl+K"))->line == "run");
  CATCH_CHECK(table.entry_of_key(state, *parse_key("Ctrl+R")) == nullptr);
  CATCH_CHECK(table.entry_of_key(state, *parse_key("Ctrl+P")) == nullptr);
}

}  // namespace
}  // namespace headroom::test
