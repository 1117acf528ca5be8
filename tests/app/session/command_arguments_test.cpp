// What commands take: the grammar of the table, and every command of it with nonsense, with too few and with too many
// arguments, alone and in a session with a run, where nothing of that may change anything.
#include "app/session/command_arguments.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/session/enum_words.h"
#include "app/session/session.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using Words = std::vector<std::string>;

// A word of each kind that fits.
std::string example(const std::string& one) {
  const Placeholder* placeholder = find_placeholder(one);
  return placeholder ? std::string(placeholder->example) : one;
}

bool takes_any_word(const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed, [](const std::string& one) {
    const Placeholder* placeholder = find_placeholder(one);
    return placeholder && placeholder->read("banana!");
  });
}

Words examples(const ArgumentForm& form) {
  Words words;
  for (const auto& allowed : form.words) words.push_back(example(allowed.front()));
  return words;
}

std::string line_of(const std::string& name, const Words& words) {
  std::string line = name;
  for (const std::string& word : words) line += " " + quote_word(word);
  return line;
}

// What a refused line may not change.
struct Kept {
  ViewState view;
  Layout layout;
  Settings settings;
  std::size_t runs, models, errors, recent;
  Overlay overlay;
  std::string prompt;
  explicit Kept(const State& state)
      : view(state.view),
        layout(state.layout),
        settings(state.settings),
        runs(state.runs.size()),
        models(state.models.size()),
        errors(state.errors.size()),
        recent(state.recent.size()),
        overlay(state.overlay),
        prompt(state.prompt.title + state.prompt.text) {}
  friend bool operator==(const Kept&, const Kept&) = default;
};

CATCH_TEST_CASE("Forms of arguments: alternatives, what may be left out, what may come again", "[session]") {
  const auto takes = [](const char* pattern, const Words& words) {
    return ArgumentPattern(pattern).read("test", words).has_value();
  };
  CATCH_CHECK(takes("", {}));
  CATCH_CHECK_FALSE(takes("", {"x"}));
  CATCH_CHECK(takes("on|off", {"on"}));
  CATCH_CHECK_FALSE(takes("on|off", {"On"}));
  CATCH_CHECK_FALSE(takes("on|off", {}));
  CATCH_CHECK_FALSE(takes("on|off", {"on", "off"}));
  CATCH_CHECK((takes("[on|off]", {}) && takes("[on|off]", {"off"}) && !takes("[on|off]", {"x"})));
  for (const Words& words : {Words{}, Words{"3"}, Words{"3", "-"}, Words{"-", "4"}, Words{"none"}})
    CATCH_CHECK(takes("[QUERY|-] [KEY|-] or none", words));
  for (const Words& words : {Words{"none", "none"}, Words{"x"}, Words{"3", "4", "5"}, Words{"-1"}, Words{"3.5"}})
    CATCH_CHECK_FALSE(takes("[QUERY|-] [KEY|-] or none", words));
  CATCH_CHECK((takes("[QUERY KEY]", {}) && takes("[QUERY KEY]", {"1", "2"}) && !takes("[QUERY KEY]", {"1"})));
  CATCH_CHECK((takes("TEXT…", {"a"}) && takes("TEXT…", {"a", "b", "c"}) && !takes("TEXT…", {})));
  CATCH_CHECK((takes("[TEXT…]", {}) && takes("[TEXT…]", {"a", "b"})));
  CATCH_CHECK((takes("auto or LOW HIGH", {"auto"}) && takes("auto or LOW HIGH", {"-1", "2e3"})));
  CATCH_CHECK_FALSE((takes("auto or LOW HIGH", {"auto", "1"}) || takes("auto or LOW HIGH", {"nan", "1"}) ||
                     takes("auto or LOW HIGH", {"1"})));
  CATCH_CHECK((takes("L0.H0[Q,K]|none", {"L3.H11"}) && takes("L0.H0[Q,K]|none", {"L3.H11[5,4]"}) &&
               takes("L0.H0[Q,K]|none", {"none"})));
  for (const char* wrong : {"L3", "L3.H", "L3.H1[5]", "L3.H1[5,4", "L3.H1[a,4]", "l3.h1", ""})
    CATCH_CHECK_FALSE(takes("L0.H0[Q,K]|none", {wrong}));
  const Words wrong{"much"};
  const std::string said = describe(ArgumentPattern("auto or LOW HIGH").read("map.range", wrong).error());
  CATCH_CHECK(said ==
              "map.range: wrong arguments; expected auto or LOW HIGH (LOW: a number, HIGH: a number), found much");
}

CATCH_TEST_CASE("A line is read once: words become the values that the pattern has in their places", "[session]") {
  const auto read = [](const char* pattern, const Words& words) {
    return required(ArgumentPattern(pattern).read("test", words));
  };
  const Arguments indices = read("[QUERY|-] [KEY|-] or none", {"7", "-"});
  CATCH_CHECK((indices.size() == 2 && indices.index(0) == 7 && indices.maybe_index(0) == 7));
  CATCH_CHECK((indices.is(1, "-") && !indices.maybe_index(1) && !indices.maybe_index(2) && !indices.is(2, "-")));
  CATCH_CHECK_THROWS_AS(indices.index(1), LogicError);
  CATCH_CHECK_THROWS_AS(indices[2], LogicError);
  CATCH_CHECK(read("auto or LOW HIGH", {"-1", "2e3"}).number(1) == 2000.0);
  CATCH_CHECK_FALSE(read("PIXELS|fit", {"fit"}).maybe_number(0).has_value());

  const HeadCell cell = read("L0.H0[Q,K]|none", {"L3.H11[5,4]"}).place(0);
  CATCH_CHECK((cell.head == HeadRef{3, 11} && cell.query == 5 && cell.key == 4));
  CATCH_CHECK_FALSE(read("L0.H0[Q,K]|none", {"L3.H11"}).place(0).query.has_value());
  CATCH_CHECK(read("L0.H0|all", {"L3.H11"}).place(0).head == HeadRef{3, 11});
  CATCH_CHECK_FALSE(ArgumentPattern("L0.H0|all").read("test", Words{"L3.H11,L4.H0"}).has_value());
  const Arguments heads = read("off [lasso|L0.H0,L1.H2…]", {"off", "L0.H1,L2.H3", "lasso", "L4.H5"});
  CATCH_CHECK(heads.heads(1) == std::vector<HeadRef>{{0, 1}, {2, 3}, {4, 5}});
  CATCH_CHECK(heads.text(2) == "lasso L4.H5");

  CATCH_CHECK(read(all_words<ScaleKind>().c_str(), {"symlog"}).choice<ScaleKind>(0) == ScaleKind::Symlog);
  CATCH_CHECK_THROWS_AS(read("banana", {"banana"}).choice<ScaleKind>(0), LogicError);
  for (const bool before : {false, true}) {
    CATCH_CHECK((read("[on|off]", {"on"}).on(0, before) && !read("[on|off]", {"off"}).on(0, before)));
    CATCH_CHECK(read("[on|off]", {}).on(0, before) == !before);
    CATCH_CHECK(read("on|off|toggle", {"toggle"}).on(0, before) == !before);
  }
  CATCH_CHECK(read("QUANTITIES…", {"sink_score,top_key_mass[first,4]", "", "logit_max"}).names(0) ==
              Words{"sink_score", "top_key_mass[first,4]", "logit_max"});
  CATCH_CHECK(read("TEXT|none", {"none"}).is(0, "none"));

  const Words found{"3", "x"};
  CATCH_CHECK(describe(Arguments("zoom", found).wrong("less")) == "zoom: wrong arguments; expected less, found 3 x");
}

CATCH_TEST_CASE("Each placeholder refuses what is no such thing, and says why where there is more to say",
                "[session]") {
  struct Row {
    const char* pattern;
    Words wrong;
    const char* said;
  };
  for (const Row& row :
       {Row{"RUN", {"99999999999", "-1", "1.0", "one", ""}, "the number of a run"},
        Row{"TOKEN", {"-1", "0x1", " 1", "99999999999999999999"}, "a whole number"},
        Row{"X", {"inf", "nan", "1,5", "+1"}, "a number"}, Row{"CUDA", {"cuda", "cuda:", "cuda:-1", "cpu"}, "cuda:1"},
        Row{"SHORTCUT", {"Ctrl+", "K+Ctrl"}, "Ctrl+K"},
        Row{"L0.H0", {"L0", "L0.H0[1,0]", "L0.H0,L0.H1"}, "layer and head"},
        Row{"L0.H0,L1.H2", {"", "L0.H0,", "L0.H0;L0.H1"}, "commas"},
        Row{"QUANTITY", {"banana", "layer"}, "there is no quantity"}, Row{"QUANTITY", {"sink_score[third]"}, "third"},
        Row{"QUANTITIES", {"logit_max,banana", "logit_max,top_key_mass[first"}, ""},
        Row{"CHANGE", {"banana=1"}, "there is no what-if 'banana'"},
        Row{"CHANGE", {"temperature=0"}, "a number above 0"},
        Row{"CHANGE", {"-temperature=2", "L0.H0:temperature=2"}, "NAME=VALUE"},
        Row{"-CHANGE", {"temperature=2", "-banana=1"}, "takes it back"}})
    for (const std::string& word : row.wrong) {
      CATCH_INFO(row.pattern << " " << word);
      const auto result = ArgumentPattern(row.pattern).read("test", Words{word});
      CATCH_REQUIRE_FALSE(result.has_value());
      const std::string text = describe(result.error());
      CATCH_INFO(text);
      CATCH_CHECK(text.find(row.said) != std::string::npos);
      CATCH_CHECK(text.find(std::string("expected ") + row.pattern) != std::string::npos);
    }
}

CATCH_TEST_CASE("What may follow the words of a line is what completes it", "[session]") {
  const ArgumentPattern pattern("[lasso|L0.H0,L1.H2…] or layer LAYER…");
  CATCH_CHECK(pattern.next(Words{}) == Words{"lasso", "L0.H0,L1.H2", "layer"});
  CATCH_CHECK(pattern.next(Words{"layer"}) == Words{"LAYER"});
  CATCH_CHECK(pattern.next(Words{"layer", "1", "2"}) == Words{"LAYER"});
  CATCH_CHECK(pattern.next(Words{"banana"}).empty());
  CATCH_CHECK(ArgumentPattern("on|off").next(Words{"on"}).empty());
}

CATCH_TEST_CASE("The table says what each command takes in words that mean something", "[session]") {
  const CommandTable table = make_command_table();
  std::set<std::string> used;
  for (const Command& command : table.commands())
    for (const ArgumentForm& form : command.arguments.forms())
      for (const auto& allowed : form.words)
        for (const std::string& one : allowed) {
          CATCH_INFO(command.name + " " + one);
          CATCH_CHECK_FALSE(one.empty());
          if (const Placeholder* placeholder = find_placeholder(one)) {
            CATCH_CHECK(placeholder->read(placeholder->example));
            used.insert(one);
          } else {
            CATCH_CHECK(std::ranges::none_of(one, [](char c) { return c >= 'A' && c <= 'Z'; }));
          }
        }
  for (const Placeholder& placeholder : placeholders()) {
    CATCH_INFO(placeholder.name);
    CATCH_CHECK(used.contains(std::string(placeholder.name)));
  }
  for (const CommandEntry& entry : table.entries()) {
    if (entry.needs_text) continue;
    CATCH_INFO(entry.line);
    const auto words = split_command_line(entry.line);
    CATCH_REQUIRE(words.has_value());
    CATCH_CHECK(table.find(words->front())->arguments.read("", std::span(*words).subspan(1)).has_value());
  }
}

CATCH_TEST_CASE("Every command refuses nonsense, too few and too many arguments, and says what it takes", "[session]") {
  SessionBench bench;
  const Kept before(bench.state());
  std::size_t lines = 0;
  const auto refused = [&](const Command& command, const Words& words) {
    const std::string line = line_of(command.name, words);
    CATCH_INFO(line);
    const Result<void> result = bench->execute(line);
    CATCH_REQUIRE_FALSE(result.has_value());
    const std::string said = describe(result.error());
    CATCH_INFO(said);
    CATCH_CHECK(said.starts_with(command.name + ": wrong arguments; expected "));
    CATCH_CHECK(said.find(command.arguments.text()) != std::string::npos);
    CATCH_CHECK(result.error().code == ErrorCode::InvalidArgument);
    ++lines;
  };
  for (const Command& command : bench->commands().commands()) {
    const auto forms = command.arguments.forms();
    CATCH_INFO(command.name);
    if (std::ranges::none_of(forms, [](const ArgumentForm& form) { return form.words.empty(); })) refused(command, {});
    const bool repeats = std::ranges::any_of(forms, &ArgumentForm::last_repeats);
    if (!repeats) refused(command, Words(6, "banana!"));
    for (const ArgumentForm& form : forms) {
      for (std::size_t place = 0; place < form.words.size(); ++place) {
        const bool any = std::ranges::any_of(forms, [&](const ArgumentForm& other) {
          return place < other.words.size() && takes_any_word(other.words[place]);
        });
        if (any) continue;
        Words words = examples(form);
        words[place] = "banana!";
        refused(command, words);
      }
    }
  }
  CATCH_CHECK(lines > 200);
  bench.wait();
  CATCH_CHECK(Kept(bench.state()) == before);
}

CATCH_TEST_CASE("Names, paths and places that do not exist are refused with what there is, and change nothing",
                "[session]") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  const std::string path = (folder.path() / "file").string();
  // Command → a line that it refuses with a run open, and a word of the refusal.
  const std::map<std::string, std::vector<std::pair<std::string, std::string>>> wrong = {
      {"demo", {{"demo backcopy/none", "backcopy/diff_v2"}, {"demo banana!", "bytes/softmax"}}},
      {"session.open", {{"session.open " + path + ".none", "file.none"}}},
      {"session.save", {{"session.save /proc/nowhere/a.session", "/proc/nowhere"}}},
      {"prompt", {{"prompt \"\"", "empty"}}},
      {"prompt-file", {{"prompt-file " + path + ".none", "file.none"}}},
      {"ids", {{"ids banana!", "banana!"}, {"ids 1,,2", "ids"}}},
      {"target", {{"target text", "no encoder"}}},
      {"target-ids", {{"target-ids 1,2", "no encoder"}}},
      {"layer.recompute", {{"layer.recompute 2", "0 to 1"}}},
      {"device", {{"device cud", "cuda:1"}, {"device cuda:x", "cuda:1"}, {"device \"\"", "cpu|cuda"}}},
      {"select",
       {{"select L2.H0", "L0.H0 to L1.H3"}, {"select L0.H9", "L0.H0 to L1.H3"}, {"select L0.H0[64,0]", "64"}}},
      {"pin", {{"pin 64 0", "64"}, {"pin - 99", "64"}}},
      {"heads.quantity", {{"heads.quantity banana!", "quantity"}, {"heads.quantity layer", "quantity"}}},
      {"heads.x", {{"heads.x banana!", "quantity"}, {"heads.x layer", "quantity"}}},
      {"heads.y", {{"heads.y sink_score[third]", "third"}}},
      {"heads.colour", {{"heads.colour banana!", "quantity"}}},
      {"heads.filter", {{"heads.filter \"sink_score >\"", "column"}, {"heads.filter banana > 3", "banana"}}},
      {"heads.sort", {{"heads.sort X ascending", "quantity"}, {"heads.sort layer", "quantity"}}},
      {"heads.columns",
       {{"heads.columns sink_score,banana", "banana"}, {"heads.columns top_key_mass[first", "top_key_mass"}}},
      {"lasso", {{"lasso L0.H0,L7.H0", "L0.H0 to L1.H3"}}},
      {"lasso.add", {{"lasso.add L7.H0", "L0.H0 to L1.H3"}}},
      {"lasso.remove", {{"lasso.remove L0.H0", "no heads are in the lasso"}}},
      {"lasso.name", {{"lasso.name sinks", "no heads are in the lasso"}}},
      {"lasso.what-if", {{"lasso.what-if lambda=0", "no heads are in the lasso"}}},
      {"lasso.export", {{"lasso.export " + path + ".csv", "no heads are in the lasso"}}},
      {"tokens.scroll", {{"tokens.scroll 64", "64"}}},
      {"zoom", {{"zoom 0 65 0 8", "Q0"}, {"zoom 8 8 0 8", "Q0"}}},
      {"map.range", {{"map.range 1 0", "LOW < HIGH"}}},
      {"swipe", {{"swipe 1.5", "0 to 1"}}},
      {"what-if", {{"what-if banana!=1", "banana!"}, {"what-if norm=off", "norm"}, {"what-if -banana=1", "banana"}}},
      {"show", {{"show 77", "number of a run"}}},
      {"compare", {{"compare 77", "run"}}},
      {"export", {{"export " + path + ".png", ".h5"}, {"export " + path, ".h5"}}},
      {"export.panel", {{"export.panel map " + path + ".pdf", ".png"}, {"export.panel map " + path, ".png"}}},
      {"screenshot", {{"screenshot " + path + ".svg", ".png"}}},
      {"save", {{"save picture " + path + ".svg", ".png"}, {"save run " + path + ".png", ".h5"}}},
      {"save.folder", {{"save.folder /proc/nowhere/a", "/proc/nowhere"}}},
      {"figure", {{"figure banana", "not known"}, {"figure map " + path + ".xlsx", ".pdf"}}},
      {"figure.screen", {{"figure.screen map " + path + ".xlsx", ".pdf"}}},
      {"figure.save", {{"figure.save " + path + ".xlsx", ".pdf"}}},
      {"figure.set", {{"figure.set banana 1", "colour-map"}, {"figure.set width parsecs", "width"}}},
      {"figure.part", {{"figure.part banana on", "colour-map"}}},
      {"figure.room", {{"figure.room 0 100", "1 to 32768"}}},
      {"heads.save", {{"heads.save " + path + ".xlsx", ".csv"}}},
      {"copy", {{"copy 64 0", "64"}}},
      {"copy.row", {{"copy.row 64", "64"}}},
      {"scale", {{"scale 4", "0.5 to 3"}}},
      {"panel.focus", {{"panel.focus heads", "expected none"}}},
      {"panel.maximise", {{"panel.maximise heads", "no panel is shown"}}},
      {"panel.size", {{"panel.size heads 5000", "4000"}}},
      {"error.close", {{"error.close 7", "no error"}}},
      {"error.copy", {{"error.copy 7", "no error"}}},
      {"set-key", {{"set-key \"banana now\" Ctrl+K", "palette"}}},
      {"memory", {{"memory -1", "0 to 4096"}}},
      {"tile-memory", {{"tile-memory 1", "8 to 4096"}}},
      {"compare.divider", {{"compare.divider 0.5", "second run"}}},
      {"key", {{"key \"\"", "Ctrl+P"}}},
      {"copy.number", {{"copy.number banana!", "quantity"}, {"copy.number sink_score 9", "quantity"}}},
      {"heads.maps.size", {{"heads.maps.size 9", "10 to 512"}}},
      {"heads.maps.number", {{"heads.maps.number banana!", "quantity"}}},
      {"heads.maps.card", {{"heads.maps.card L9.H0", "L0.H0 to L1.H3"}}},
      {"importance.run", {{"importance.run off L9.H0", "L0.H0 to L1.H3"}, {"importance.run off layer 7", "0 to 1"}}},
      {"importance.against", {{"importance.against banana!", "quantity"}}},
      {"importance.export", {{"importance.export " + path + ".h5", "nothing is computed yet"}}},
      {"prompt.recent", {{"prompt.recent 7", "no prompt was set before"}}},
      {"circuit.token", {{"circuit.token banana!", "not shown"}}},
      {"residual.channel", {{"residual.channel 99999", "0 to "}}},
      {"residual.boundary", {{"residual.boundary 99999", "0 to 2"}}},
      {"residual.token", {{"residual.token 64", "0 to 63"}}},
      {"residual.least", {{"residual.least 0", "1 to 1000000000"}}},
      {"run.checkpoint", {{"run.checkpoint " + path, "no run file is shown"}}},
      {"tokens.top", {{"tokens.top 0", "1 to "}}},
      {"tokens.arcs", {{"tokens.arcs on 2", "1"}}},
      {"training.remove", {{"training.remove 1", "training.h5"}}},
      {"training.show", {{"training.show 1", "training.h5"}}},
      {"training.hide", {{"training.hide 1", "training.h5"}}},
      {"training.step", {{"training.step 5", "training.h5"}}},
      {"training.checkpoint", {{"training.checkpoint 5", "training.h5"}}},
      {"training.smooth", {{"training.smooth 5", "training.h5"}}},
      {"training.head", {{"training.head L0.H0", "training.h5"}}},
      {"training.zoom", {{"training.zoom 1 2", "training.h5"}}},
      {"corpus.run",
       {{"corpus.run " + path + ".none 16 " + path + ".h5", "file.none"},
        {"corpus.run " + path + " 0 " + path + ".h5", "a length of 1 or more"}}},
      {"corpus.merge", {{"corpus.merge " + path + ".none " + path + ".h5", "file.none"}}},
      {"corpus.quantity", {{"corpus.quantity sink_score", "open a corpus first"}}},
      {"corpus.sequence", {{"corpus.sequence S3", "open a corpus first"}}},
      {"corpus.open", {{"corpus.open S3", "open a corpus first"}}},
      {"corpus.step", {{"corpus.step 100", "open a corpus first"}}},
      {"corpus.save", {{"corpus.save heads " + path + ".csv", "open a corpus first"}}},
      {"training.add", {{"training.add " + path + ".none", "file.none"}}},
  };
  // Any text or path is right, or whether it is shows later, in a card or in the panel that opens.
  const std::set<std::string> anything = {
      "open",  "open.run", "open.dialog",  "open.panel",      "file.show",       "palette",
      "type",  "times",    "pointer",      "copy.path",       "click",           "drag",
      "wheel", "random",   "prompt.first", "prompt.built-in", "heads.threshold", "corpus.data"};
  const Kept before(bench.state());
  for (const Command& command : bench->commands().commands()) {
    const bool placeholder = std::ranges::any_of(command.arguments.forms(), [](const ArgumentForm& form) {
      return std::ranges::any_of(form.words, [](const auto& allowed) {
        return std::ranges::any_of(allowed, [](const std::string& one) { return find_placeholder(one) != nullptr; });
      });
    });
    CATCH_INFO(command.name);
    const auto lines = wrong.find(command.name);
    if (placeholder) CATCH_CHECK((lines != wrong.end()) != anything.contains(command.name));
    if (lines == wrong.end()) continue;
    for (const auto& [line, word] : lines->second) {
      CATCH_INFO(line);
      const Result<void> result = bench->execute(line);
      bench.wait();
      CATCH_REQUIRE_FALSE((result.has_value() && bench.state().errors.size() == before.errors));
      const std::string said = result ? describe(bench.state().errors.back().error) : describe(result.error());
      CATCH_INFO(said);
      CATCH_CHECK(said.find(word) != std::string::npos);
      if (result) bench.run("error.close");
    }
  }
  CATCH_CHECK(Kept(bench.state()) == before);
  CATCH_CHECK(std::filesystem::is_empty(folder.path()));
}

CATCH_TEST_CASE("An error card that is not there is neither closed nor copied in place of another", "[session]") {
  SessionBench bench;
  bench.run("open /nowhere/at/all");
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  const int id = bench.state().errors[0].id;
  CATCH_CHECK(bench.refusal("error.close " + std::to_string(id + 1)).find(std::to_string(id)) != std::string::npos);
  CATCH_CHECK(bench.refusal("error.copy " + std::to_string(id + 1)).find(std::to_string(id)) != std::string::npos);
  CATCH_CHECK(bench.state().errors.size() == 1);
  bench.run("error.close " + std::to_string(id));
  CATCH_CHECK(bench.state().errors.empty());
}

}  // namespace
}  // namespace headroom::test
