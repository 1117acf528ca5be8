// Settings that are kept: damaged, newer and shared files lose nothing.
#include "app/session/settings_file.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

KeptState example() {
  KeptState kept;
  kept.settings.dark = false;
  kept.settings.scale = 1.5;
  kept.settings.picture = {3, PictureTheme::Light};
  kept.settings.colours = Colours::Cividis;
  kept.settings.signed_colours = SignedColours::Vik;
  kept.settings.dtype = "bfloat16";
  kept.settings.keys["run"] = "Ctrl+K";
  kept.layout.heads_width = 321.0f;
  kept.layout.head_folded = true;
  kept.heads.quantity = "logit_max";
  kept.heads.columns = {"sink_score", "lambda_mean"};
  kept.figure.latex = true, kept.figure.caption = true, kept.figure.run = false;
  FigureLook& map = kept.figure.looks["map"];
  map.ending = ".png", map.letters = "none", map.left_out = {"rows", "cell"};
  map.options.width = "120mm", map.options.theme = "slides", map.options.colour_map = "vik";
  kept.figure.looks["atlas"].options.quantities = {"sink_score", "logit_max"};
  kept.figure.looks["sinks"].options.top = 5, kept.figure.looks["sinks"].options.epsilon = 0.25;
  // A name that is no UTF-8, as a file may have.
  kept.recent = {{"/models/\xc3\xa9 \"quoted\"", "é", "30 layers", 20, 1000, false}, {"/b", "b", "", 10, 5, false}};
  return kept;
}

CATCH_TEST_CASE("Settings come back as they were saved", "[session]") {
  const TempFolder folder;
  CATCH_REQUIRE(save_settings(folder.path() / "new", example()).has_value());
  const LoadedState loaded = load_settings(folder.path() / "new");
  CATCH_CHECK(loaded.note.empty());
  CATCH_CHECK(loaded.kept.settings == example().settings);
  CATCH_CHECK(loaded.kept.layout.heads_width == 321.0f);
  CATCH_CHECK(loaded.kept.layout.head_folded);
  CATCH_CHECK(loaded.kept.heads.quantity == "logit_max");
  CATCH_CHECK(loaded.kept.heads.columns == example().heads.columns);
  CATCH_CHECK(loaded.kept.figure == example().figure);
  CATCH_REQUIRE(loaded.kept.recent.size() == 2);
  CATCH_CHECK(loaded.kept.recent[0].path == example().recent[0].path);
  CATCH_CHECK(loaded.kept.recent[0].size_bytes == 1000);
}

CATCH_TEST_CASE("No file: the defaults, and nothing is said", "[session]") {
  const TempFolder folder;
  const LoadedState loaded = load_settings(folder.path());
  CATCH_CHECK(loaded.note.empty());
  CATCH_CHECK(loaded.may_save);
  CATCH_CHECK(loaded.kept.settings == Settings{});
}

CATCH_TEST_CASE("A damaged file gives the defaults and is kept as a backup", "[session]") {
  for (const std::string damage : {"", "{", "[1,2]", "{\"version\": \"one\"}", "\x00\xff\xfe", "{\"settings\": 3}"}) {
    const TempFolder folder;
    write(settings_path(folder.path()), damage);
    const LoadedState loaded = load_settings(folder.path());
    CATCH_CHECK_FALSE(loaded.note.empty());
    CATCH_CHECK(loaded.kept.settings == Settings{});
    CATCH_CHECK(read(settings_path(folder.path()).string() + ".damaged") == damage);
  }
}

CATCH_TEST_CASE("Wrong types and absurd values of single settings are passed over", "[session]") {
  const TempFolder folder;
  write(
      settings_path(folder.path()),
      R"({"version": 1, "settings": {"dark": "yes", "scale": 99, "picture_size": 40, "picture_theme": "neon", "tile_mb": -5, "dtype": 7, "memory_gb": 1e300, "keys": {"a": 1}},
            "layout": [], "recent": [1, {"path": 5}, {"path": "/ok"}]})");
  const LoadedState loaded = load_settings(folder.path());
  CATCH_CHECK(loaded.note.empty());
  CATCH_CHECK(loaded.kept.settings.dark);
  CATCH_CHECK(loaded.kept.settings.scale == 3.0);
  CATCH_CHECK(loaded.kept.settings.picture == PictureLook{3, PictureTheme::AsShown});
  CATCH_CHECK(loaded.kept.settings.tile_mb == 8.0);
  CATCH_CHECK(loaded.kept.settings.memory_gb == 4096.0);
  CATCH_CHECK(loaded.kept.settings.dtype == "float32");
  CATCH_CHECK(loaded.kept.settings.keys.empty());
  CATCH_REQUIRE(loaded.kept.recent.size() == 1);
  CATCH_CHECK(loaded.kept.recent[0].path == "/ok");
}

CATCH_TEST_CASE("What was chosen of figures is kept, but for places in one run and what nobody could have chosen",
                "[session]") {
  const TempFolder folder;
  KeptState kept;
  FigureLook& map = kept.figure.looks["map"];
  map.options.heads = "L3.H1", map.options.rows = "4:9", map.options.keys = "0:5", map.options.cell = "5,2";
  map.options.layers = "0", map.options.only_heads = "1", map.options.width = "84mm";
  CATCH_REQUIRE(save_settings(folder.path(), kept).has_value());
  FigureLook only_width;
  only_width.options.width = "84mm";
  CATCH_CHECK(load_settings(folder.path()).kept.figure.looks.at("map") == only_width);

  write(settings_path(folder.path()), R"({"version": 1, "figure": {"latex": 3, "run": false, "kinds": {
      "map": {"ending": "/../x.pdf", "left_out": ["rows", "banana", 7], "options": {"width": "3 parsecs", "theme": "slides",
              "points": ["a"], "jet": "1", "head": "L1.H1", "epsilon": ")" +
                                          std::string(5000, '1') + R"(", "top": "-4", "letters": "A"}},
      "banana": {"ending": ".png"}, "atlas": 5, "rms": {"options": []}, "sinks": {"ending": ".svg", "left_out": {"a": 1}}}}})");
  const LoadedState loaded = load_settings(folder.path());
  CATCH_CHECK(loaded.note.empty());
  CATCH_CHECK((!loaded.kept.figure.latex && !loaded.kept.figure.run));
  FigureLook expected;
  expected.options.theme = "slides", expected.letters = "A", expected.left_out = {"rows"};
  CATCH_CHECK(loaded.kept.figure.looks.at("map") == expected);
  CATCH_CHECK_FALSE(loaded.kept.figure.looks.contains("banana"));
  CATCH_CHECK_FALSE(loaded.kept.figure.looks.contains("atlas"));
  CATCH_CHECK(loaded.kept.figure.looks.at("sinks").ending == ".svg");
}

CATCH_TEST_CASE("An option of a figure that is longer than any a person types is passed over", "[session]") {
  for (const std::size_t size : {std::size_t{400}, std::size_t{401}}) {
    const TempFolder folder;
    const std::string width = "84." + std::string(size - 5, '0') + "mm";
    write(settings_path(folder.path()),
          R"({"version": 1, "figure": {"kinds": {"map": {"options": {"width": ")" + width + R"("}}}}})");
    CATCH_CHECK(load_settings(folder.path()).kept.figure.looks.at("map").options.width == (size > 400 ? "" : width));
  }
}

CATCH_TEST_CASE("A file of a newer version is neither read nor written", "[session]") {
  const TempFolder folder;
  const std::string newer = R"({"version": 2, "settings": {"dark": false}})";
  write(settings_path(folder.path()), newer);
  const LoadedState loaded = load_settings(folder.path());
  CATCH_CHECK_FALSE(loaded.may_save);
  CATCH_CHECK(loaded.kept.settings.dark);
  CATCH_REQUIRE(save_settings(folder.path(), example()).has_value());
  CATCH_CHECK(read(settings_path(folder.path())) == newer);
}

CATCH_TEST_CASE("Two instances keep each other's recent files, and the latest come first, 20 at most", "[session]") {
  const TempFolder folder;
  KeptState one = example();
  CATCH_REQUIRE(save_settings(folder.path(), one).has_value());
  KeptState two;
  for (int i = 0; i < 25; ++i) two.recent.push_back({"/two/" + std::to_string(i), "", "", 100 - i, 0, false});
  two.recent.resize(5);
  CATCH_REQUIRE(save_settings(folder.path(), two).has_value());
  const LoadedState loaded = load_settings(folder.path());
  CATCH_REQUIRE(loaded.kept.recent.size() == 7);
  CATCH_CHECK(loaded.kept.recent.front().path == "/two/0");
  CATCH_CHECK(loaded.kept.recent.back().path == "/b");
  // A list that was cleared stays cleared.
  CATCH_REQUIRE(save_settings(folder.path(), KeptState{}).has_value());
  CATCH_CHECK(load_settings(folder.path()).kept.recent.empty());
}

CATCH_TEST_CASE("A folder that cannot be written is an error, and the old file stays", "[session]") {
  const TempFolder folder;
  write(folder.path() / "file", "x");
  CATCH_CHECK_FALSE(save_settings(folder.path() / "file" / "below", example()).has_value());
}

}  // namespace
}  // namespace headroom::test
