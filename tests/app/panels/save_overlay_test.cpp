// The save panel as a person uses it: what it suggests, what Enter does, what it asks before something is replaced.
#include "app/panels/chrome/save_overlay.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::PanelBench;
using test::show_run;
using test::small_run;
using test::TempFolder;
using Lines = std::vector<std::string>;

struct SaveBench : PanelBench {
  SaveBench(SaveKind kind, const std::string& folder, Vec2 size = {1440, 900}, float scale = 1.0f)
      : PanelBench(
            [](PanelContext& c) {
              draw_toast(c, c.ui.input.window);
              draw_overlay(c, c.ui.input.window);
            },
            size, scale) {
    state.overlay = Overlay::Save;
    state.save = {kind, kind == SaveKind::Picture ? "map" : "", "", "", 1};
    for (const char* name : {"run", "picture", "table", "session"}) state.save_folders[name] = folder;
    show_run(state, small_run(false));
  }
};

// Where it would be saved.
std::string facts_path(const PanelBench& bench) {
  const std::string* path = bench.facts.find("save.path");
  return path ? *path : std::string();
}

CATCH_TEST_CASE("save: the suggested name is selected up to its ending, and Enter saves it") {
  const TempFolder temp;
  const std::string folder = temp.path().string();
  SaveBench bench(SaveKind::Picture, folder);
  bench.frame();
  bench.frame();
  const std::string suggested = facts_path(bench);
  CATCH_CHECK(suggested.ends_with("_map.png"));
  CATCH_CHECK(bench.shows("Nothing is in this folder yet"));
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"save picture " + suggested + " map"});
  bench.type("two words");
  CATCH_CHECK(facts_path(bench) == folder + "/two words.png");
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == Lines{"save picture \"" + folder + "/two words.png\" map"});
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("save: a file that is there is replaced by Ctrl+Enter or its button alone, or kept beside") {
  const TempFolder temp;
  const std::string folder = temp.path().string();
  temp.write("a.csv", "12345");
  temp.write("a-2.csv", "1");
  temp.write("b.png", "not a table");
  std::filesystem::create_directory(temp.path() / "inner");
  SaveBench bench(SaveKind::Table, folder);
  bench.frame();
  bench.type("a");
  CATCH_CHECK(bench.shows("is there: 5 B"));
  CATCH_CHECK((bench.shows("Replace") && bench.shows("Keep both")));
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken().empty());
  bench.key(Key::Enter, {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"save table " + folder + "/a.csv replace"});
  bench.key(Key::Enter, {.alt = true});
  CATCH_CHECK(bench.taken() == Lines{"save table " + folder + "/a-3.csv"});
  bench.click(bench.place("Replace"));
  CATCH_CHECK(bench.taken() == Lines{"save table " + folder + "/a.csv replace"});
  // Of another kind it cannot be replaced; a folder is entered.
  bench.click(bench.place("b.png"));
  CATCH_CHECK(facts_path(bench) == folder + "/a.csv");
  bench.click(bench.place("inner"), 2);
  bench.frame();
  CATCH_CHECK(facts_path(bench) == folder + "/inner/a.csv");
  CATCH_CHECK(bench.shows("Save"));
  bench.click(bench.place(".tex"));
  CATCH_CHECK(facts_path(bench) == folder + "/inner/a.tex");
  CATCH_CHECK(bench.wrong() == "");
}

CATCH_TEST_CASE("save: a folder that is typed is the folder, with Enter or without") {
  const TempFolder temp;
  const std::string folder = temp.path().string();
  std::filesystem::create_directory(temp.path() / "inner");
  temp.write("inner/before.headroom", "1");
  SaveBench bench(SaveKind::Session, folder);
  bench.frame();
  const RecordedText* label = bench.painter->find("folder").front();
  const Vec2 field{label->baseline.x + 120.0f, label->baseline.y - 4.0f};
  bench.click(field);
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type(folder + "/inn");
  bench.frame();
  CATCH_CHECK(bench.shows("there is no such folder"));
  bench.click(bench.place("Make the folder"));
  CATCH_CHECK(bench.taken() == Lines{"save.folder " + folder + "/inn"});
  bench.click(field);
  bench.key(Key::End);
  bench.type("er");
  bench.frame();
  CATCH_CHECK((bench.shows("before.headroom") && !bench.shows("there is no such folder")));
  const std::string name = facts_path(bench);
  CATCH_CHECK(name.starts_with(folder + "/inner/"));
  const RecordedText* save = bench.painter->find("Save").back();  // the first is what the panel is called
  bench.click({save->baseline.x + 4.0f, save->baseline.y - 4.0f});
  CATCH_CHECK(bench.taken() == Lines{"save session " + quote_word(name)});
}

CATCH_TEST_CASE("save: what cannot be saved so is said, and nothing is") {
  const TempFolder temp;
  const std::string folder = temp.path().string();
  SaveBench bench(SaveKind::Session, folder);
  bench.frame();
  bench.key(letter_key('A'), {.ctrl = true});
  const std::pair<const char*, const char*> refused[] = {{"a.pdf", "has to end in .headroom or .json"},
                                                         {".headroom", "there is nothing before the ending"},
                                                         {"none/a", "there is no such folder"}};
  std::filesystem::create_directory(temp.path() / "inner");
  for (const auto& [name, why] : refused) {
    CATCH_CAPTURE(name);
    bench.key(letter_key('A'), {.ctrl = true});
    bench.type(name);
    bench.frame();
    CATCH_CHECK(bench.shows(why));
    bench.key(Key::Enter);
    CATCH_CHECK(bench.taken().empty());
  }
  // A path that is typed as the name leads there, and the list shows what is there.
  temp.write("inner/a.headroom", "123");
  bench.state.save.serial = 2;
  bench.frame();
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type("inner/a");
  bench.frame();
  CATCH_CHECK((bench.shows("a.headroom") && bench.shows("is there: 3 B")));
  bench.key(Key::Enter, {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"save session " + folder + "/inner/a.headroom replace"});
  // A path that ends as one of a folder is entered, and the name is suggested anew.
  bench.key(letter_key('A'), {.ctrl = true});
  bench.type(folder + "/");
  CATCH_CHECK(bench.shows("a name is missing"));
  bench.key(Key::Enter);
  bench.frame();
  CATCH_CHECK(bench.taken().empty());
  CATCH_CHECK((facts_path(bench).starts_with(folder + "/") && facts_path(bench).ends_with(".headroom")));
  CATCH_CHECK(facts_path(bench).find("inner") == std::string::npos);
  SaveBench nowhere(SaveKind::Session, folder + "/none");
  nowhere.frame();
  CATCH_CHECK(nowhere.shows("there is no such folder"));
  nowhere.key(Key::Escape);
  CATCH_CHECK(nowhere.taken() == Lines{"overlay.close"});
  nowhere.key(Key::Enter);
  CATCH_CHECK(nowhere.taken().empty());
  SaveBench nothing(SaveKind::Run, folder);
  nothing.state.runs.clear();
  nothing.state.view.run = -1;
  nothing.frame();
  CATCH_CHECK(nothing.shows("nothing has run yet"));
  nothing.key(Key::Enter);
  CATCH_CHECK(nothing.taken().empty());
}

CATCH_TEST_CASE("save: of a picture its look is chosen, its pixels are said, and what it shows is seen") {
  const TempFolder temp;
  SaveBench bench(SaveKind::Picture, temp.path().string());
  bench.state.save.panel.clear();
  bench.frame();
  CATCH_CHECK((bench.shows("1440 × 900 pixels") && bench.painter->pictures().empty()));
  bench.click(bench.place("3×"));
  bench.click(bench.place("light"));
  CATCH_CHECK(bench.taken() == Lines{"picture.size 3", "picture.theme light"});
  bench.state.settings.picture = {3, PictureTheme::Light};
  const std::vector<std::uint8_t> pixels(std::size_t{1440} * 900 * 3, 100);
  bench.state.save_preview = shrunk(pixels, 1440, 900, 216, 200);
  bench.frame();
  CATCH_CHECK(bench.shows("4320 × 2700 pixels"));
  CATCH_REQUIRE(bench.painter->pictures().size() == 1);
  const Rect shown = bench.painter->pictures()[0].target;
  CATCH_CHECK((shown.width() == 216.0f && shown.height() == 135.0f));
  CATCH_CHECK((shown.x0 > 290.0f && shown.x1 < 1150.0f && shown.y0 > 150.0f && shown.y1 < 750.0f));
  CATCH_CHECK(bench.wrong() == "");
  // Tables have no look.
  SaveBench table(SaveKind::Table, temp.path().string());
  table.state.save_preview = bench.state.save_preview;
  table.frame();
  CATCH_CHECK((table.painter->pictures().empty() && !table.shows("pixels")));
}

CATCH_TEST_CASE("save: the panel and the note of what was saved at all sizes, and the note goes after eight seconds") {
  const TempFolder temp;
  temp.write("a.png", "x");
  for (const Vec2 size : {Vec2{640, 400}, Vec2{800, 500}, Vec2{1440, 900}, Vec2{2560, 1440}})
    for (const float scale : {0.75f, 1.0f, 2.0f})
      for (const SaveKind kind : {SaveKind::Run, SaveKind::Picture, SaveKind::Table, SaveKind::Session}) {
        SaveBench bench(kind, temp.path().string(), size, scale);
        bench.state.save_preview = shrunk(std::vector<std::uint8_t>(std::size_t{60} * 90 * 3, 100), 60, 90, 216, 200);
        for (const std::string& name : test::hostile_names()) {
          bench.state.toast = Toast{3, "Picture saved", "/home/" + name + "/" + name + ".png"};
          if (kind == SaveKind::Run) bench.state.toast = Toast{3, name, "", name + " is not there"};
          bench.state.runs[0].name = name;
          ++bench.state.save.serial;
          bench.frame();
          bench.frame();
          CATCH_INFO(size.x << " × " << size.y << ", scale " << scale << ", " << name);
          CATCH_CHECK(bench.wrong() == "");
        }
      }
  SaveBench bench(SaveKind::Picture, temp.path().string());
  bench.state.overlay = Overlay::None;
  bench.state.toast = Toast{4, "Picture saved", "/tmp/a b.png"};
  bench.frame();
  bench.click(bench.place("Copy path"));
  CATCH_CHECK(bench.taken() == Lines{"copy.path \"/tmp/a b.png\""});
  bench.input.time += 100.0;
  bench.frame();
  CATCH_CHECK(bench.taken().empty());  // the pointer is on it
  bench.move({5, 5});
  bench.input.time += 7.0;
  bench.frame();
  CATCH_CHECK(bench.taken().empty());
  bench.input.time += 2.0;
  bench.frame();
  CATCH_CHECK(bench.taken() == Lines{"toast.close"});
  bench.state.taking_picture = true;
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("Picture saved"));
  bench.state.taking_picture = false;
  bench.state.toast = Toast{5, "Read the prompt from a text file", "", "No such file or folder (/tmp/my)"};
  bench.frame();
  CATCH_CHECK((bench.shows("Read the prompt") && bench.shows("No such file or folder (/tmp/my)")));
  bench.click(bench.place("Messages"));
  CATCH_CHECK(bench.taken() == Lines{"log"});
}

}  // namespace
}  // namespace headroom
