// What a person saves: names, endings, what is replaced and what is asked before, what is said afterwards.
#include "app/session/saving.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "app/session/commands.h"
#include "app/session/session.h"
#include "app/session/shown_table.h"
#include "core/run/head_table.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::SessionBench;
using test::TempFolder;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

CATCH_TEST_CASE("saving: names are words that every shell and system takes, and no part of them is lost to an ending") {
  CATCH_CHECK(file_name_of("SmolLM2-135M-Instruct.Q4_1") == "SmolLM2-135M-Instruct.Q4_1");
  CATCH_CHECK(file_name_of("bytes/diff v2") == "bytes-diff-v2");
  CATCH_CHECK(file_name_of("λ = 0, L1.H0") == "λ-=-0-L1.H0");
  CATCH_CHECK(file_name_of("../..\n") == "");
  CATCH_CHECK(file_name_of("$(rm -rf ~)") == "rm-rf");
  const std::string umlauts = file_name_of(std::string(59, 'a') + "ä and more");
  CATCH_CHECK((umlauts == std::string(59, 'a')));  // no half of a character
  CATCH_CHECK(numbered_name("map.png") == "map-2.png");
  CATCH_CHECK(numbered_name("map-2.png") == "map-3.png");
  CATCH_CHECK(numbered_name("L17-1.png") == "L17-1-2.png");
  CATCH_CHECK(numbered_name("model.Q4_1.h5") == "model.Q4_1-2.h5");
  struct Bad {
    SaveKind kind;
    std::string name, word;
  };
  const Bad table[] = {{SaveKind::Picture, "", "missing"},
                       {SaveKind::Picture, "a/b.png", "no /"},
                       {SaveKind::Picture, "map.pdf", ".png"},
                       {SaveKind::Picture, "map", ".png"},
                       {SaveKind::Picture, ".png", "nothing before"},
                       {SaveKind::Table, "heads.xlsx", ".csv, .tsv, .tex or .md"},
                       {SaveKind::Run, "run.png", ".h5 or .hdf5"},
                       {SaveKind::Session, "x.h5", ".headroom or .json"},
                       {SaveKind::Run, std::string(260, 'a') + ".h5", "263 bytes"}};
  for (const Bad& row : table) {
    CATCH_INFO(row.name);
    CATCH_CHECK(bad_file_name(row.kind, row.name).find(row.word) != std::string::npos);
  }
  const auto place = [](SaveKind kind, std::string_view typed) { return save_place(kind, "/papers", typed).path(); };
  CATCH_CHECK(place(SaveKind::Picture, "map") == "/papers/map.png");
  CATCH_CHECK(place(SaveKind::Run, "run v1.2") == "/papers/run v1.2.h5");
  CATCH_CHECK(place(SaveKind::Run, "SmolLM2.Q4_1") == "/papers/SmolLM2.Q4_1.h5");
  CATCH_CHECK(place(SaveKind::Table, "heads.") == "/papers/heads.csv");
  CATCH_CHECK(place(SaveKind::Table, "heads.tex") == "/papers/heads.tex");
  CATCH_CHECK(place(SaveKind::Picture, "map.pdf") == "/papers/map.pdf");  // refused by its ending, not hidden
  CATCH_CHECK(place(SaveKind::Session, "/tmp/x/mine") == "/tmp/x/mine.headroom");
  CATCH_CHECK(place(SaveKind::Session, "two/../three/mine.json") == "/papers/three/mine.json");
  CATCH_CHECK(place(SaveKind::Session, "~/mine") == whole_path("~/mine.headroom"));
  CATCH_CHECK(save_place(SaveKind::Session, "/papers", "/tmp/").name.empty());
  CATCH_CHECK(bad_file_name(SaveKind::Picture, "Map.PNG") == "");
  CATCH_CHECK(bad_file_name(SaveKind::Run, "ein Lauf mit λ.h5") == "");
}

CATCH_TEST_CASE("saving: what a person asks for replaces nothing unasked, is told of, and its folder is remembered",
                "[session]") {
  const TempFolder folder, config;
  const std::string session = (folder.path() / "my session.headroom").string();
  {
    SessionBench bench(config.path());
    bench->run_line("save session " + quote_word(session));
    CATCH_CHECK((bench.state().unseen_warnings == 1 && bench.state().unseen_errors == 0));  // nothing is open
    CATCH_REQUIRE(bench.state().toast.has_value());
    CATCH_CHECK((bench.state().toast->title == "Save…" && bench.state().toast->refused));
    CATCH_CHECK(bench.state().messages.back().text == "save: " + bench.state().toast->failure);
    CATCH_CHECK_FALSE(std::filesystem::exists(session));
    bench.demo("bytes/diff_v2");
    bench.run("run");
    CATCH_CHECK(suggested_name(bench.state(), SaveKind::Table, "") == "bytes-diff_v2_heads.csv");
    bench.run("select L1.H0");
    CATCH_CHECK(suggested_name(bench.state(), SaveKind::Picture, "map") == "bytes-diff_v2_L1.H0_map.png");
    CATCH_CHECK(suggested_name(bench.state(), SaveKind::Picture, "") == "bytes-diff_v2_window.png");
    CATCH_CHECK(suggested_name(bench.state(), SaveKind::Session, "") == "bytes-diff_v2.headroom");

    bench->run_line("save session " + quote_word(session));
    CATCH_REQUIRE(load_session(session).has_value());
    CATCH_REQUIRE(bench.state().toast.has_value());
    CATCH_CHECK((bench.state().toast->title == "Session saved" && bench.state().toast->path == session));
    bench->run_line("toast.close");
    CATCH_CHECK_FALSE(bench.state().toast.has_value());

    // A folder that is not there is made when that is asked for, with those above it.
    bench->run_line("save.folder " + quote_word((folder.path() / "new one/inner").string()));
    CATCH_CHECK(std::filesystem::is_directory(folder.path() / "new one/inner"));
    bench->run_line("save.folder " + quote_word(session + "/below a file"));
    CATCH_REQUIRE(bench.state().toast.has_value());
    CATCH_CHECK(bench.state().toast->failure.starts_with("the folder cannot be made: "));
    CATCH_CHECK((bench.state().unseen_errors == 1 && !bench.state().toast->refused));
    CATCH_CHECK(bench.state().toast->failure.find("my session.headroom/below a file") != std::string::npos);
    bench->run_line("toast.close");

    // A file that is there: the panel asks, and the file stays as it is until it was answered.
    folder.write("my session.headroom", "something else");
    bench->run_line("session.save " + quote_word(session));
    CATCH_CHECK(bench.state().overlay == Overlay::Save);
    CATCH_CHECK((bench.state().save.kind == SaveKind::Session && bench.state().save.path == session));
    CATCH_CHECK(text_of(session) == "something else");
    bench->run_line("save session " + quote_word(session) + " replace");
    CATCH_CHECK(bench.state().overlay == Overlay::None);
    CATCH_CHECK(load_session(session).has_value());

    // A table, and one that cannot be written: the card says why, the panel stands there with what was typed.
    const std::string table = (folder.path() / "heads.tsv").string();
    bench->run_line("heads.save " + table);
    CATCH_CHECK(text_of(table) ==
                copy_heads(*bench.state().data(), bench.state().view.heads, TableFormat::Tsv).value());
    bench->run_line("heads.save " + folder.path().string() + "/none/heads.csv");
    CATCH_REQUIRE(bench.state().errors.size() == 1);
    CATCH_CHECK(bench.state().errors[0].title == "Cannot save heads.csv");
    bench->run_line("heads.save");  // the panel
    const int serial = bench.state().save.serial;
    bench->run_line("save table " + folder.path().string() + "/none/heads.csv");
    CATCH_CHECK(bench.state().overlay == Overlay::Save);
    CATCH_CHECK(bench.state().save.serial > serial);
    CATCH_CHECK(bench.state().save.path == folder.path().string() + "/none/heads.csv");
    CATCH_CHECK_FALSE(bench.state().save.failed.empty());
    CATCH_CHECK(bench.state().errors.size() == 2);
    // A run is written by the thread that computes, and told of when it is there.
    const std::string run = (folder.path() / "run.h5").string();
    bench->run_line("save run " + run);
    bench.wait();
    CATCH_CHECK(std::filesystem::exists(run));
    CATCH_REQUIRE(bench.state().toast.has_value());
    CATCH_CHECK(bench.state().toast->title == "Run saved");
    const auto written = std::filesystem::last_write_time(run);
    bench->run_line("export " + run);
    bench.wait();
    CATCH_CHECK(bench.state().overlay == Overlay::Save);
    CATCH_CHECK(std::filesystem::last_write_time(run) == written);
    bench->run_line("save run " + run + " replace");
    bench.wait();
    CATCH_CHECK(std::filesystem::last_write_time(run) != written);
    // A picture is asked of the window; a script asks without a word to the person.
    (void)bench->inbox().take_requests();
    bench->run_line("save picture " + folder.path().string() + "/a.png head");
    bench.run("export.panel map " + folder.path().string() + "/b.png");
    const auto requests = bench->inbox().take_requests();
    CATCH_REQUIRE(requests.size() == 2);
    CATCH_CHECK((requests[0].panel == "head" && requests[0].by_person && requests[1].panel == "map"));
    CATCH_CHECK_FALSE(requests[1].by_person);
    // Nor does a script choose the folder that the person finds next time.
    const TempFolder elsewhere;
    bench.run("session.save " + (elsewhere.path() / "x.headroom").string());
  }
  // Of each kind the folder, also after a new start; a session opens like any other file.
  SessionBench again(config.path());
  CATCH_CHECK(save_folder(again.state(), SaveKind::Session) == folder.path().string());
  CATCH_CHECK(save_folder(again.state(), SaveKind::Run) == folder.path().string());
  again.run("open.run " + quote_word(session));
  CATCH_REQUIRE(again.state().shown() != nullptr);
  CATCH_CHECK(again.state().view.selection.head == HeadRef{1, 0});
  CATCH_CHECK(again.state().errors.empty());
}

}  // namespace
}  // namespace headroom
