// What lies over the window: what it shows, what its keys and clicks run.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "app/panels/chrome/palette_list.h"
#include "app/panels/panel.h"
#include "app/session/folder_reader.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/app/session/word_tokenizer.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::PanelBench;
using test::show_run;
using test::small_run;
using test::WordTokenizer;
using Lines = std::vector<std::string>;

struct OverlayBench : PanelBench {
  explicit OverlayBench(Overlay which, std::string text = {})
      : PanelBench([](PanelContext& c) { draw_overlay(c, c.ui.input.window); }) {
    state.overlay = which;
    state.overlay_text = std::move(text);
  }
};

CATCH_TEST_CASE("palette: the best match first, Enter runs it, the palette closes before") {
  OverlayBench bench(Overlay::Palette);
  show_run(bench.state, small_run(false));
  bench.frame();
  CATCH_CHECK(bench.wants_text);
  bench.type("logits");
  CATCH_CHECK(bench.shows("logits"));
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "map logits"});
}

CATCH_TEST_CASE("palette: what cannot run stays, dimmed, with its reason, and does not run") {
  OverlayBench bench(Overlay::Palette);
  bench.frame();
  bench.type("map: logits");
  const PaletteList list = palette_list(bench.table, bench.state, "map: logits");
  CATCH_REQUIRE(list.items.front().line == "map logits");
  CATCH_REQUIRE_FALSE(list.items.front().disabled.empty());
  CATCH_CHECK(bench.shows(list.items.front().disabled));
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken().empty());
}

CATCH_TEST_CASE("palette: a line with arguments runs as it stands") {
  OverlayBench bench(Overlay::Palette);
  show_run(bench.state, small_run(false));
  bench.frame();
  bench.type("zoom 0 2 0 2");
  CATCH_CHECK(bench.shows("Map: zoom to queries"));
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "zoom 0 2 0 2"});
}

CATCH_TEST_CASE("palette: a command that needs a text is completed first, and it can be given with the palette") {
  OverlayBench bench(Overlay::Palette);
  bench.frame();
  bench.type("open a saved session");
  bench.key(Key::Enter);
  bench.frame();
  bench.type("/tmp/a.headroom");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "session.open /tmp/a.headroom"});
  OverlayBench given(Overlay::Palette, "session.open");
  given.frame();
  given.type("b.headroom");
  given.key(Key::Enter);
  CATCH_CHECK(given.taken() == Lines{"overlay.close", "session.open b.headroom"});
}

CATCH_TEST_CASE("palette: a title that begins like a command is not taken for a line of it") {
  OverlayBench bench(Overlay::Palette);
  show_run(bench.state, small_run(false));
  bench.frame();
  bench.type("save a picture of the window");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "screenshot"});
}

CATCH_TEST_CASE("palette: Tab goes through the choices, Shift+Tab back") {
  OverlayBench bench(Overlay::Palette);
  show_run(bench.state, small_run(false));
  bench.frame();
  bench.type("map.scale l");
  bench.key(Key::Tab);
  bench.frame();
  CATCH_CHECK(bench.shows("map.scale linear"));
  bench.key(Key::Tab);
  bench.frame();
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "map.scale log10"});
}

CATCH_TEST_CASE("palette: completions of choices, heads, commands and paths") {
  State state;
  const CommandTable table = make_command_table();
  CATCH_CHECK(palette_completions(table, state, "theme ") == Lines{"theme dark", "theme light", "theme toggle"});
  CATCH_CHECK(palette_completions(table, state, "map.po") == Lines{"map.pool "});
  CATCH_CHECK(palette_completions(table, state, "nothing x").empty());
  CATCH_CHECK(palette_completions(table, state, "heads.x value_dr") == Lines{"heads.x value_drain"});
  CATCH_CHECK(palette_completions(table, state, "heads.sort sink_score d") ==
              Lines{"heads.sort sink_score descending"});
  show_run(state, small_run(false));
  CATCH_CHECK(palette_completions(table, state, "select L") == Lines{"select L0.H0"});
  CATCH_CHECK(palette_arguments(table, "map.scale l") == "linear|log10|symlog|auto|next");
  const test::TempFolder temp;
  std::filesystem::create_directory(temp.path() / "a folder");
  temp.write("a file.h5", "x");
  const std::string folder = temp.path().string();
  const Lines paths = palette_completions(table, state, "open " + folder + "/a");
  CATCH_CHECK(paths == Lines{"open \"" + folder + "/a folder/", "open \"" + folder + "/a file.h5\""});
  CATCH_CHECK(palette_completions(table, state, "open \"" + folder + "/a fi") ==
              Lines{"open \"" + folder + "/a file.h5\""});
  CATCH_CHECK(palette_completions(table, state, "open " + folder + "/a fi") ==
              Lines{"open \"" + folder + "/a file.h5\""});
}

CATCH_TEST_CASE("palette: arrows, clicks, Escape, a click beside it") {
  OverlayBench bench(Overlay::Palette);
  bench.frame();
  bench.type("theme");
  bench.key(Key::Down);
  const PaletteList list = palette_list(bench.table, bench.state, "theme");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", list.items[1].line});
  bench.frame();
  bench.click(bench.place("Theme") + Vec2{0.0f, 0.0f});
  CATCH_CHECK(bench.taken().size() == 2);
  bench.key(Key::Escape);
  CATCH_CHECK(bench.taken() == Lines{"overlay.close"});
  bench.click({5, 890});
  CATCH_CHECK(bench.taken() == Lines{"overlay.close"});
}

CATCH_TEST_CASE("palette: every command can be found by its title and by its line") {
  State state;
  const CommandTable table = make_command_table();
  for (const CommandEntry& entry : table.entries()) {
    for (const std::string& query : {entry.title, entry.line}) {
      const PaletteList list = palette_list(table, state, query);
      bool found = false;
      for (const PaletteItem& item : list.items) found = found || item.line == entry.line;
      CATCH_INFO(query);
      CATCH_CHECK(found);
    }
  }
}

CATCH_TEST_CASE("keys: all commands with a key, dimmed ones with their reason") {
  OverlayBench bench(Overlay::Keys);
  bench.frame();
  CATCH_CHECK(bench.shows("Every key runs a command"));
  CATCH_CHECK(bench.shows("Zoom about the pointer"));
  CATCH_CHECK(bench.shows("Ctrl+P"));
  CATCH_CHECK(bench.shows(bench.table.disabled_reason(bench.state, "run").substr(0, 6)));
  CATCH_CHECK(bench.wrong() == "");
  bench.state.settings.keys["palette"] = "Ctrl+K";
  bench.frame();
  CATCH_CHECK(bench.shows("Ctrl+K"));
  CATCH_CHECK_FALSE(bench.shows("Ctrl+P"));
}

CATCH_TEST_CASE("settings: choices run their commands") {
  OverlayBench bench(Overlay::Settings);
  bench.frame();
  bench.click(bench.place("Light"));
  bench.click(bench.place("150 %"));
  bench.click(bench.place("fp64"));
  CATCH_CHECK(bench.taken() == Lines{"theme light", "scale 1.5", "dtype float64"});
}

CATCH_TEST_CASE("settings: waiting for a key takes it from the commands, and Backspace clears, Escape leaves it") {
  OverlayBench bench(Overlay::Settings);
  bench.frame();
  const auto row = [&] { bench.click(bench.place("Find any command")); };
  // The list is in the order of the table: scroll until the row is there.
  for (int i = 0; i < 40 && !bench.shows("Find any command"); ++i) {
    bench.move({720, 700});
    bench.input.wheel.y = -1.0f;
    bench.frame();
  }
  CATCH_REQUIRE(bench.shows("Find any command"));
  row();
  bench.frame();
  CATCH_CHECK(bench.shows("press a key"));
  CATCH_CHECK(bench.keys_taken);
  bench.key(letter_key('K'), {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"set-key palette Ctrl+K"});
  row();
  bench.key(Key::Backspace);
  CATCH_CHECK(bench.taken() == Lines{"set-key palette \"\""});
  row();
  bench.key(Key::Escape);
  bench.frame();
  CATCH_CHECK(bench.taken().empty());
  CATCH_CHECK_FALSE(bench.shows("press a key"));
  CATCH_CHECK_FALSE(bench.keys_taken);
}

CATCH_TEST_CASE("log: messages, the latest first, wrapped") {
  OverlayBench bench(Overlay::Log);
  bench.frame();
  CATCH_CHECK(bench.shows("Nothing was reported so far"));
  bench.state.messages = {{MessageLevel::Info, "first", "09:41:07"},
                          {MessageLevel::Warning, "second\nof two lines", "09:42:00"}};
  for (const std::string& name : test::hostile_names())
    bench.state.messages.push_back({MessageLevel::Error, name + " " + name, "10:00:00"});
  bench.frame();
  CATCH_CHECK(bench.wrong() == "");
  bench.input.pointer = {700, 400};
  bench.input.pointer_inside = true;
  bench.frame();
  bench.input.wheel.y = -1000.0f;
  bench.frame();
  bench.frame();
  CATCH_CHECK((bench.shows("first") && bench.shows("of two lines")));
  CATCH_CHECK(bench.place("second").y < bench.place("first").y);
  bench.click(bench.place("Copy all"));
  CATCH_CHECK(bench.taken() == Lines{"log.copy"});
}

CATCH_TEST_CASE("about: what it is made of, with licences") {
  OverlayBench bench(Overlay::About);
  bench.state.device.info.emplace();
  bench.state.device.info->torch_version = "2.11.0";
  bench.frame();
  for (const char* text : {"2.11.0", "HDF5", "BSD-3-Clause", "Inter", "SIL OFL 1.1"}) CATCH_CHECK(bench.shows(text));
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("files: folders by Enter, files are opened, typed letters find names, Backspace goes up") {
  const test::TempFolder temp;
  const std::string folder = temp.path().string();
  std::filesystem::create_directory(temp.path() / "inner");
  temp.write("inner/run.h5", "x");
  temp.write("model.gguf", "x");
  temp.write("notes", "x");
  OverlayBench bench(Overlay::Files, folder);
  bench.frame();
  CATCH_CHECK((bench.shows("inner") && bench.shows("model.gguf")));
  bench.key(Key::Enter);
  bench.frame();
  CATCH_CHECK(bench.shows("run.h5"));
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/inner/run.h5"});
  bench.key(Key::Backspace);
  bench.frame();
  bench.type("m");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/model.gguf"});
  bench.type("n");  // not at once: these letters begin a new name
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/model.gguf"});
  bench.input.time += 2.0;
  bench.type("n");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken().empty());  // not a file that opens
  CATCH_CHECK(bench.shows("not a format"));
  bench.click(bench.place("model.gguf"), 2);
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/model.gguf"});
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("files: for the prompt texts are taken, and the editor comes back") {
  const test::TempFolder temp;
  const std::string folder = temp.path().string();
  temp.write("model.gguf", "x");
  temp.write("poem.txt", "x");
  OverlayBench bench(Overlay::PromptFile, folder);
  test::show_run(bench.state, test::small_run(false));
  bench.frame();
  CATCH_CHECK(bench.shows("Choose a text"));
  bench.type("m");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken().empty());
  CATCH_CHECK(bench.shows("not a text"));
  bench.click(bench.place("poem.txt"), 2);
  CATCH_CHECK(bench.taken() == Lines{"prompt-file " + folder + "/poem.txt", "prompt.edit"});
  bench.click(bench.place("Cancel"));
  CATCH_CHECK(bench.taken() == Lines{"prompt.edit"});
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("files: a typed path, and a folder that cannot be read") {
  const test::TempFolder temp;
  temp.write("a file.h5", "x");
  OverlayBench bench(Overlay::Files, temp.path().string() + "/none");
  bench.frame();
  CATCH_CHECK(bench.shows("there is no such folder"));
  const RecordedText* field = bench.painter->find("/none").front();
  bench.click({field->baseline.x + 20.0f, field->baseline.y - 4.0f});
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type(temp.path().string());
  bench.key(Key::Enter);
  bench.frame();
  CATCH_CHECK(bench.shows("a file.h5"));
}

CATCH_TEST_CASE(
    "files: the list follows a path while it is typed, Tab completes it, and what is opened is what it says") {
  const test::TempFolder temp, elsewhere;
  const std::string folder = temp.path().string();
  std::filesystem::create_directory(temp.path() / "inner");
  temp.write("inner/A run.h5", "x");
  temp.write("inner/b.gguf", "x");
  temp.write("notes.txt", "x");
  elsewhere.write("other.gguf", "x");
  OverlayBench bench(Overlay::Files, elsewhere.path().string());
  const auto type = [&](const std::string& text) {
    bench.key(letter_key('A'), {.ctrl = true});
    bench.type(text);
    bench.frame();
  };
  const auto press_open = [&] {
    const RecordedText* title = bench.painter->find("Open").back();  // the first is what the panel is called
    bench.click({title->baseline.x + 4.0f, title->baseline.y - 4.0f});
  };
  bench.frame();
  CATCH_CHECK(bench.shows("other.gguf"));
  bench.type("/");  // goes to the field
  type(folder + "/");
  CATCH_CHECK((bench.shows("inner") && bench.shows("notes.txt") && !bench.shows("other.gguf")));
  // Part of a name is a name: Tab makes the folder of it, which is listed then.
  type(folder + "/IN");
  bench.key(Key::Tab);
  bench.frame();
  CATCH_CHECK(bench.shows("A run.h5"));
  CATCH_CHECK(bench.shows(folder + "/inner/"));
  bench.type("b");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/inner/b.gguf"});
  // Arrows go through the list, and the text says where they are.
  type(folder + "/inner/");
  bench.key(Key::Down);
  bench.frame();
  CATCH_CHECK(bench.shows(folder + "/inner/b.gguf"));
  bench.key(Key::Up);
  bench.key(Key::Enter);
  bench.frame();
  CATCH_CHECK(bench.taken() == Lines{"open.run \"" + folder + "/inner/A run.h5\""});
  // Nothing is called so: neither Enter nor the button opens what happens to be listed.
  type(folder + "/inner/zzz.gguf");
  press_open();
  bench.frame();
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/inner/zzz.gguf"});
  type(folder + "/none/b.gguf");
  bench.key(Key::Enter);
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/none/b.gguf"});
  // A name alone is one of the folder that is listed; a click on a row takes the place of what is typed.
  type(folder + "/");
  type("no");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken().empty());  // a text
  CATCH_CHECK(bench.shows("not a format"));
  type(folder + "/inner/zzz");
  bench.click(bench.place("b.gguf"));
  bench.frame();
  press_open();
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/inner/b.gguf"});
  CATCH_CHECK(bench.wrong() == "");
}

// A disk whose folders answer when the test lets them.
class SlowDisk {
 public:
  FolderReader::Read read() {
    return [gate = gate_](const std::filesystem::path& folder, const FileListOptions& options) {
      std::unique_lock lock(gate->mutex);
      ++gate->asked;
      gate->changed.wait(lock, [&] { return gate->open.contains(folder.string()); });
      return list_folder(folder, options);
    };
  }
  void answer(const std::string& folder) {
    const std::lock_guard lock(gate_->mutex);
    gate_->open.insert(folder);
    gate_->changed.notify_all();
  }
  [[nodiscard]] int asked() const {
    const std::lock_guard lock(gate_->mutex);
    return gate_->asked;
  }

 private:
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string> open;
    int asked = 0;
  };
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

bool comes(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

CATCH_TEST_CASE("files: a folder that does not answer holds nothing up, and its listing shows when it arrives") {
  const test::TempFolder temp;
  const std::string folder = temp.path().string();
  std::filesystem::create_directory(temp.path() / "quick");
  temp.write("quick/run.h5", "x");
  temp.write("model.gguf", "x");
  SlowDisk disk;
  std::atomic<int> woken = 0;
  FolderReader reader([&] { ++woken; }, disk.read());
  for (const Vec2 size : {Vec2{1440.0f, 900.0f}, Vec2{1024.0f, 640.0f}, Vec2{480.0f, 360.0f}}) {
    OverlayBench bench(Overlay::Files, folder);
    bench.input.window = {0.0f, 0.0f, size.x, size.y};
    bench.folders = &reader;
    bench.frame();
    CATCH_CHECK_FALSE(bench.shows("Nothing is in this folder"));  // which is not known yet
    CATCH_CHECK_FALSE(bench.shows("being read"));                 // nor that it is slow
    bench.input.time += 0.3;
    bench.frame();
    CATCH_CHECK(bench.shows("being read"));
    CATCH_CHECK(bench.wrong() == "");
    bench.key(Key::Enter);
    bench.key(Key::Down);
    CATCH_CHECK(bench.taken().empty());
  }
  OverlayBench bench(Overlay::Files, folder);
  bench.folders = &reader;
  bench.frame();
  // Another folder can be chosen meanwhile, and answers.
  disk.answer(folder + "/quick");
  const RecordedText* field = bench.painter->find("/").front();
  bench.click({field->baseline.x + 10.0f, field->baseline.y - 4.0f});
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type(folder + "/quick/");
  bench.key(Key::Enter);
  CATCH_CHECK(comes([&] {
    bench.frame();
    return bench.shows("run.h5");
  }));
  CATCH_CHECK(woken > 0);
  // And so does the first one in the end: one asking, however many frames there were.
  const int asked = disk.asked();
  disk.answer(folder);
  bench.key(Key::Escape);
  bench.commands.clear();
  bench.key(Key::Backspace);
  CATCH_CHECK(comes([&] {
    bench.frame();
    return bench.shows("model.gguf");
  }));
  CATCH_CHECK(disk.asked() <= asked + 1);
  CATCH_CHECK_FALSE(reader.waiting());
  CATCH_CHECK(bench.shows("quick"));
}

CATCH_TEST_CASE("files: a typed path is opened once it is known to be a file, and not before") {
  const test::TempFolder temp;
  const std::string folder = temp.path().string();
  temp.write("model.gguf", "x");
  SlowDisk disk;
  disk.answer(folder);
  FolderReader reader({}, disk.read());
  OverlayBench bench(Overlay::Files, folder);
  bench.folders = &reader;
  CATCH_REQUIRE(comes([&] {
    bench.frame();
    return bench.shows("model.gguf");
  }));
  const RecordedText* field = bench.painter->find("/").front();
  bench.click({field->baseline.x + 10.0f, field->baseline.y - 4.0f});
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type(folder + "/model.gguf");
  bench.key(Key::Enter);
  bench.frame();
  CATCH_CHECK(bench.taken().empty());
  disk.answer(folder + "/model.gguf");
  CATCH_CHECK(comes([&] {
    bench.frame();
    return !bench.commands.empty();
  }));
  CATCH_CHECK(bench.taken() == Lines{"open.run " + folder + "/model.gguf"});
}

CATCH_TEST_CASE("prompt: text with a limit, ids, and what is wrong with them") {
  OverlayBench bench(Overlay::Prompt);
  show_run(bench.state, small_run(false));
  bench.frame();
  CATCH_CHECK(bench.shows("the prompt is empty"));
  bench.type("two words");
  bench.key(Key::Enter);
  bench.type("more");
  bench.key(Key::Enter, {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "prompt \"two words\nmore\""});
  bench.click(bench.place("all"));
  bench.type("x");
  bench.frame();
  CATCH_CHECK(bench.shows("the number of tokens"));
  bench.key(Key::Backspace);
  bench.type("64");
  bench.click(bench.place("Apply"));
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "prompt \"two words\nmore\" 64"});
  bench.click(bench.place("Token ids"));
  bench.frame();
  bench.frame();
  bench.type("1 2, x");
  bench.frame();
  bench.click(bench.place("Apply"));
  CATCH_CHECK(bench.taken().empty());
  bench.click({500, 400});
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type("1 2 3");
  bench.frame();
  CATCH_CHECK(bench.shows("3 tokens"));
  bench.click(bench.place("Apply"));
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "ids \"1 2 3\""});
  bench.key(letter_key('R'), {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "ids \"1 2 3\"", "run"});
  bench.click(bench.place("Apply and run"));
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "ids \"1 2 3\"", "run"});
}

CATCH_TEST_CASE("prompt: tokens are counted while it is typed, and a limit that nobody typed goes with its text") {
  OverlayBench bench(Overlay::Prompt);
  show_run(bench.state, small_run(false));
  bench.state.models.front().tokenizer = std::make_shared<WordTokenizer>();
  bench.state.prompt.text = "one two three four five six";
  bench.state.prompt.max_tokens = 4;  // with a BOS: three words
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.shows("first 4 of 7 tokens are read"));
  CATCH_CHECK(bench.shows("7 tokens · 27 characters"));
  CATCH_CHECK(*bench.facts.find("prompt.reads") == "4");
  CATCH_CHECK(bench.wrong().empty());
  bench.click(bench.place("Use all"));
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("are read"));
  CATCH_CHECK(*bench.facts.find("prompt.reads") == "7");

  // The limit of the text that stood here is not that of one that is typed.
  bench.state.overlay = Overlay::None;
  bench.frame();
  bench.state.overlay = Overlay::Prompt;
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.shows("first 4 of 7 tokens are read"));
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type("a b c d e f g h");
  bench.frame();
  CATCH_CHECK(*bench.facts.find("prompt.tokens") == "9");
  CATCH_CHECK(*bench.facts.find("prompt.reads") == "9");
  bench.key(letter_key('R'), {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "prompt \"a b c d e f g h\"", "run"});

  // A limit that was typed stays.
  bench.click(bench.place("all"));
  bench.type("5");
  bench.click({500, 400});
  bench.type(" i j");
  bench.frame();
  CATCH_CHECK(bench.shows("first 5 of 11 tokens are read"));
  bench.state.models.front().tokenizer = std::make_shared<WordTokenizer>("no such word");
  bench.frame();
  CATCH_CHECK(bench.shows("no such word"));
}

}  // namespace
}  // namespace headroom
