// The session without a window: opening, running, selecting, what-ifs, comparing, undo; with the demos and LibTorch.
#include "app/session/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/script.h"
#include "core/io/run_file.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/required.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

CATCH_TEST_CASE("A checkpoint opens, runs, and a head is selected", "[session]") {
  SessionBench bench;
  CATCH_CHECK(bench.state().nothing_open());
  bench.demo("backcopy/diff_v2");
  CATCH_REQUIRE(bench.state().models.size() == 1);
  CATCH_REQUIRE(bench.state().runs.size() == 1);
  CATCH_CHECK(bench.state().shown()->status == RunStatus::Waiting);
  CATCH_CHECK(bench.refusal("select L0.H0") == "select: run first");
  bench.run("run");
  CATCH_REQUIRE(bench.state().shown()->status == RunStatus::Done);
  CATCH_CHECK(bench.state().data()->complete);
  CATCH_CHECK(bench.state().view.selection.head == HeadRef{0, 0});
  CATCH_CHECK(bench.state().errors.empty());
  CATCH_CHECK(bench.state().data()->next_token_loss.has_value());
}

CATCH_TEST_CASE("Whatever the window reads equals the exported run file", "[session]") {
  const TempFolder folder;
  SessionBench bench;
  bench.demo("bytes/diff_v1");
  bench.run("run");
  bench.run("export " + (folder.path() / "run.h5").string());
  CATCH_INFO((bench.state().messages.empty() ? std::string() : bench.state().messages.back().text));
  auto file = RunFile::open(folder.path() / "run.h5");
  CATCH_REQUIRE(file.has_value());
  const RunSnapshot& data = *bench.state().data();
  for (const char* name : {"sink_score", "context_rms_relative_mean", "lambda_mean", "norm_gain_max", "logit_max"}) {
    const auto values = (*file)->read(name);
    CATCH_REQUIRE(values.has_value());
    const std::size_t each = values->size() / (data.layers.size() * data.heads.size());
    for (std::size_t i = 0; i < values->size(); ++i) {
      const double shown =
          data.at(name, data.layers[i / each / data.heads.size()], data.heads[i / each % data.heads.size()], i % each);
      if (std::isnan((*values)[i]))
        CATCH_CHECK(std::isnan(shown));
      else
        CATCH_CHECK(static_cast<float>(shown) == static_cast<float>((*values)[i]));
    }
  }
  // The file exists: another export to it is refused and leaves it alone.
  bench.run("export " + (folder.path() / "run.h5").string());
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors[0].title.starts_with("Cannot save run.h5"));
  // And it opens as a run of its own.
  bench.run("open " + (folder.path() / "run.h5").string());
  CATCH_CHECK(bench.state().runs.size() == 2);
  CATCH_CHECK(bench.state().shown()->model == -1);
}

CATCH_TEST_CASE("A file that cannot be opened becomes a card, and what was open stays", "[session]") {
  const TempFolder folder;
  std::ofstream(folder.path() / "broken.safetensors") << "\x08";
  SessionBench bench;
  bench.demo("backcopy/diff_v2");
  bench.run("run");
  const int shown = bench.state().view.run;
  bench.run("open " + (folder.path() / "broken.safetensors").string());
  bench.run("open " + (folder.path() / "nowhere").string());
  CATCH_REQUIRE(bench.state().errors.size() == 2);
  CATCH_CHECK(bench.state().errors[0].error.code == ErrorCode::Corrupt);
  CATCH_CHECK(bench.state().errors[1].error.code == ErrorCode::NotFound);
  CATCH_CHECK(bench.state().errors[0].stays_open == "backcopy/diff_v2 stays open; nothing was lost.");
  CATCH_CHECK(bench.state().view.run == shown);
  CATCH_CHECK(bench.state().models.size() == 1);
  bench.run("error.close " + std::to_string(bench.state().errors[0].id));
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors[0].error.code == ErrorCode::NotFound);
}

CATCH_TEST_CASE("What is still opening is not used: opened twice, or what was shown closed meanwhile", "[session]") {
  SessionBench bench;
  const std::string first = "open " + quote_word((demo_assets() / "demo/backcopy/diff_v2").string());
  CATCH_REQUIRE(bench->execute(first).has_value());
  CATCH_REQUIRE(bench->execute(first).has_value());
  CATCH_CHECK(bench.state().models.size() == 1);
  CATCH_CHECK_FALSE(bench->execute("prompt.default").has_value());
  bench.wait();
  bench.run("prompt.default");
  bench.run("run");
  CATCH_REQUIRE(bench->execute("open " + quote_word((demo_assets() / "demo/backcopy/softmax").string())).has_value());
  CATCH_REQUIRE(bench->execute("close").has_value());
  CATCH_CHECK(bench.state().model == -1);
  CATCH_CHECK_FALSE(bench->execute("prompt.default").has_value());
  CATCH_CHECK_FALSE(bench->execute("run").has_value());
  bench.wait();
  CATCH_CHECK(bench.state().find_model(bench.state().model)->name == "backcopy/softmax");
  bench.run("prompt.default");
}

CATCH_TEST_CASE("An address opens with its place selected", "[session]") {
  SessionBench bench;
  bench.run("open.run " + quote_word((demo_assets() / "demo" / "bytes" / "diff_v2").string() + "::L1.H1[37,5]"));
  CATCH_CHECK(bench.state().view.selection.head == HeadRef{1, 1});
  CATCH_CHECK(bench.state().view.selection.query == 37);
  CATCH_CHECK(bench.state().view.selection.key == 5);
  bench.run("copy.address");
  const auto requests = bench->inbox().take_requests();
  CATCH_REQUIRE(requests.size() == 1);
  CATCH_CHECK(requests[0].text.ends_with("bytes/diff_v2::L1.H1[37,5]"));
}

CATCH_TEST_CASE(
    "A quick what-if changes one head, and a complete one changes what follows, and equals a run of its own",
    "[session]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("select L1.H0");
  const double before = bench.state().data()->at("sink_score_net", 1, 0);
  bench.run("what-if lambda=0");
  CATCH_REQUIRE(bench.state().other() != nullptr);
  CATCH_REQUIRE(bench.state().other()->quick);
  CATCH_CHECK(bench.state().view.centre == CentreView::WhatIf);
  CATCH_REQUIRE(bench.state().other()->data->layer(1) != nullptr);
  const double after = bench.state().other()->data->at("sink_score_net", 1, 0);
  CATCH_CHECK(before != after);
  // λ = 0 leaves the first map alone.
  CATCH_CHECK(std::abs(after - bench.state().data()->at("sink_score", 1, 0, 0)) < 1e-6);
  CATCH_CHECK(bench.state().other()->data->at("lambda_mean", 1, 0) == 0.0);
  bench.run("what-if.complete");
  const RunEntry complete = *bench.state().other();
  CATCH_REQUIRE(complete.status == RunStatus::Done);
  CATCH_CHECK(complete.data->at("sink_score_net", 1, 0) == after);
  CATCH_REQUIRE(complete.data->next_token_loss.has_value());
  CATCH_CHECK(*complete.data->next_token_loss != *bench.state().data()->next_token_loss);
  CATCH_CHECK(complete.what_ifs == std::vector<std::string>{"L1.H0:lambda=0"});
  bench.run("compare " + std::to_string(bench.state().view.run) + " " + std::to_string(complete.id));
  CATCH_CHECK(bench.state().view.centre == CentreView::Compare);
  const int a = bench.state().view.run;
  bench.run("compare.swap");
  CATCH_CHECK(bench.state().view.other_run == a);
  // One that does not fit is refused in words, and nothing changes.
  CATCH_CHECK_FALSE(bench->commands().disabled_reason(bench.state(), "what-if norm=off").empty());
  CATCH_CHECK_FALSE(bench.refusal("what-if norm=off").empty());
}

CATCH_TEST_CASE("Cancelling keeps the layers there are", "[session]") {
  const char* gguf = std::getenv("HEADROOM_DEMO_GGUF");
  if (!gguf || !*gguf || !std::filesystem::exists(gguf)) {
    skip("no demo model");
    return;
  }
  SessionBench bench;
  bench.run("open " + quote_word(gguf));
  bench.run("prompt.built-in gpl-3 1024");
  CATCH_REQUIRE(bench->execute("run").has_value());
  const double end = seconds_now() + 60.0;
  while ((!bench.state().data() || bench.state().data()->finished_layers() < 2) && seconds_now() < end) {
    bench->update(seconds_now());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CATCH_CHECK(bench.state().shown()->status == RunStatus::Running);
  CATCH_CHECK(bench.state().view.selection.head.has_value());
  CATCH_REQUIRE(bench->execute("cancel").has_value());
  // The layer that is computed now may still come, and what was on its way: no more is begun.
  const std::size_t asked = bench.state().data()->finished_layers();
  bench.wait();
  CATCH_CHECK(bench.state().data()->finished_layers() <= asked + 3);
  CATCH_CHECK(bench.state().shown()->status == RunStatus::Cancelled);
  const std::size_t layers = bench.state().data()->finished_layers();
  CATCH_CHECK(layers >= 2);
  CATCH_CHECK(layers < 30);
  bench.run("select L0.H1");
  CATCH_CHECK(std::isfinite(bench.state().data()->at("sink_score", 0, 1)));
}

CATCH_TEST_CASE("Undo and redo go through views, and zooming in a row is one step", "[session]") {
  SessionBench bench;
  bench.demo("bytes/softmax");
  bench.run("run");
  bench.run("select L0.H1");
  bench.run("zoom 0 32 0 32");
  bench.run("zoom 0 16 0 16");
  CATCH_CHECK(bench.state().view.map.window == MapWindow{0, 16, 0, 16});
  bench.run("undo");
  CATCH_CHECK(bench.state().view.map.window.whole());
  CATCH_CHECK(bench.state().view.selection.head == HeadRef{0, 1});
  bench.run("undo");
  CATCH_CHECK(bench.state().view.selection.head != HeadRef{0, 1});
  bench.run("redo");
  bench.run("redo");
  CATCH_CHECK(bench.state().view.map.window == MapWindow{0, 16, 0, 16});
  CATCH_CHECK(bench.refusal("redo").find("nothing to redo") != std::string::npos);
}

CATCH_TEST_CASE("Why a change does not fit is said without the change, which stands beside it", "[session]") {
  SessionBench bench;
  bench.demo("bytes/softmax");
  const auto reason = [&](const char* line) { return bench->commands().disabled_reason(bench.state(), line); };
  bench.run("run");
  bench.run("select L1.H0");
  CATCH_CHECK(reason("what-if lambda=0") == "the head has no second map");
  CATCH_CHECK(reason("what-if norm=off") == "the head has no norm");
  CATCH_CHECK(reason("what-if window=8") == "for a layer or the model");
  CATCH_CHECK(reason("what-if head=off").empty());
}

CATCH_TEST_CASE("What a run warns of is a warning, and counts until the messages are looked at", "[session]") {
  SessionBench bench;
  bench.demo("bytes/softmax");
  bench.run("run");
  CATCH_CHECK(bench.state().unseen_warnings == 0);
  bench.run("prompt " + quote_word(std::string(80, 'a')));
  bench.run("run");
  CATCH_REQUIRE(bench.state().unseen_warnings == 1);
  const Message& message = bench.state().messages.back();
  CATCH_CHECK(message.level == MessageLevel::Warning);
  CATCH_CHECK(
      message.text ==
      "bytes/softmax · aaaaaaaaaaaaaaaaaaaaaaaa…: 81 tokens are more than the 64 positions that the config names");
  bench.run("open /nowhere/at/all");
  CATCH_CHECK((bench.state().unseen_warnings == 1 && bench.state().unseen_errors == 1));
  bench.run("log");
  CATCH_CHECK((bench.state().unseen_warnings == 0 && bench.state().unseen_errors == 0));
}

CATCH_TEST_CASE("Wrong arguments are refused with what was expected, and change nothing", "[session]") {
  SessionBench bench;
  bench.demo("bytes/softmax");
  bench.run("run");
  const ViewState before = bench.state().view;
  for (const char* line : {"select L9.H0",
                           "select x",
                           "select L0.H0[0,0]x",
                           "select L0.H0[0]",
                           "select L0.H0[99999999999999999999,0]",
                           "select L0.H1[999999,0]",
                           "zoom 0 1",
                           "zoom 5 5 0 1",
                           "zoom 0 1e9 0 1",
                           "zoom nan 1 0 1",
                           "map colourful",
                           "map first",
                           "map.scale cubic",
                           "map.range 1 0",
                           "pin 999999 0",
                           "pin a b",
                           "heads tree",
                           "heads.threshold much",
                           "heads.quantity nothing",
                           "lasso L0",
                           "compare.mode side",
                           "show 77",
                           "layer.recompute x",
                           "head.rms some",
                           "swipe on",
                           "ids 1,,2",
                           "prompt \"\"",
                           "nonsense"}) {
    CATCH_INFO(line);
    CATCH_CHECK_FALSE(bench.refusal(line).empty());
  }
  CATCH_CHECK(bench.state().view == before);
}

CATCH_TEST_CASE("Shift and arrows go to the next head over the threshold, and round", "[session]") {
  SessionBench bench;
  bench.demo("bytes/softmax");
  bench.run("run");
  const RunSnapshot& data = *bench.state().data();
  std::vector<HeadRef> over;
  const double threshold = 0.5 * (data.at("sink_score", 0, 0) + data.at("sink_score", 1, 0));
  bench.run("heads.threshold " + std::to_string(threshold));
  for (const std::int64_t layer : data.layers)
    for (const std::int64_t head : data.heads)
      if (data.at("sink_score", layer, head) > bench.state().view.heads.threshold) over.push_back({layer, head});
  CATCH_REQUIRE_FALSE(over.empty());
  bench.run("select L0.H0");
  for (std::size_t i = 0; i < 2 * over.size(); ++i) {
    bench.run("select.next-over");
    const HeadRef now = *bench.state().view.selection.head;
    CATCH_CHECK(std::ranges::count(over, now) == 1);
  }
}

CATCH_TEST_CASE("Stepping over the threshold goes by the shown quantity's own, and says where there is none",
                "[session]") {
  SessionBench bench;
  bench.demo("backcopy/softmax");  // its head's copying score lies between ε and 0.9
  bench.run("run");
  bench.run("circuit on");
  bench.wait();
  bench.run("heads.quantity copying_score");
  const double score = head_value(*bench.state().data(), required(parse_quantity("copying_score")), 0, 0);
  CATCH_REQUIRE((score > bench.state().view.heads.threshold && score < 0.9));
  CATCH_CHECK(bench.refusal("select.next-over").find("no head is over") != std::string::npos);
  bench.run("heads.quantity output_alignment_mean");
  CATCH_CHECK(bench.refusal("select.next-over").find("has no threshold") != std::string::npos);
  bench.run("heads.quantity sink_score");
  bench.run("heads.threshold 0.01");
  bench.run("select.next-over");
  CATCH_CHECK(bench.state().view.selection.head == HeadRef{0, 0});
}

CATCH_TEST_CASE("Recent files are kept between sessions, and a missing one is marked, not dropped", "[session]") {
  const TempFolder folder;
  const std::filesystem::path copy = folder.path() / "model";
  std::filesystem::copy(demo_assets() / "demo" / "backcopy" / "softmax", copy,
                        std::filesystem::copy_options::recursive);
  {
    SessionBench bench(folder.path() / "config");
    bench.run("open " + quote_word(copy.string()));
    bench.run("theme light");
  }
  std::filesystem::remove_all(copy);
  SessionBench bench(folder.path() / "config");
  CATCH_CHECK_FALSE(bench.state().settings.dark);
  bench->documents().refresh_start_page();
  bench.wait();
  CATCH_REQUIRE(bench.state().recent.size() == 1);
  CATCH_CHECK(bench.state().recent[0].missing);
  CATCH_CHECK(bench.state().recent[0].detail.find("softmax") != std::string::npos);
  CATCH_CHECK(bench.state().demos.size() >= 3);
}

CATCH_TEST_CASE("A saved session brings back checkpoint, prompt and view, and a moved one is linked again",
                "[session]") {
  const TempFolder folder;
  const std::filesystem::path copy = folder.path() / "model";
  std::filesystem::copy(demo_assets() / "demo" / "bytes" / "diff_v2", copy, std::filesystem::copy_options::recursive);
  const std::string file = (folder.path() / "a.headroom").string();
  ViewState view;
  {
    SessionBench bench;
    CATCH_CHECK_FALSE(bench.refusal("session.save " + file).empty());
    bench.run("open " + quote_word(copy.string()));
    bench.run("ids 5,6,7,8,9,10,11,12");
    bench.run("run");
    for (const char* line : {"select L1.H2", "pin 5 3", "map first", "map.scale linear", "map.range 0.1 0.5",
                             "map.pool mean", "zoom 1 7 0 6", "heads scatter", "heads.filter \"layer > 0\"",
                             "heads.columns sink_score,top_key_mass[first,4]", "tokens.tint lambda", "head.rms raw"})
      bench.run(line);
    bench.run("session.save " + file);
    view = bench.state().view;
  }
  {
    SessionBench bench;
    bench.run("session.open " + file);
    CATCH_REQUIRE(bench.state().shown() != nullptr);
    CATCH_CHECK(bench.state().shown()->status == RunStatus::Done);
    CATCH_CHECK(bench.state().data()->length == 8);
    ViewState now = bench.state().view;
    now.run = view.run;
    CATCH_CHECK(now == view);
    CATCH_CHECK(bench.state().unseen_warnings == 0);
  }
  std::filesystem::rename(copy, folder.path() / "moved");
  {
    SessionBench bench;
    bench.run("session.open " + file);
    CATCH_REQUIRE(bench.state().errors.size() == 1);
    CATCH_CHECK(bench.state().errors[0].error.code == ErrorCode::NotFound);
    CATCH_CHECK(bench.state().nothing_open());
    bench.run("session.open " + file + " " + quote_word((folder.path() / "moved").string()));
    CATCH_CHECK(bench.state().view.selection.head == HeadRef{1, 2});
  }
  for (const char* text : {"", "{", "[]", "{\"headroom_session\": 1}", "{\"headroom_session\": 1, \"files\": [{}]}",
                           "{\"headroom_session\": 9, \"files\": [{\"path\": \"x\"}]}"}) {
    folder.write("b.session", text);
    CATCH_CHECK_FALSE(load_session(folder.path() / "b.session").has_value());
  }
  // Nonsense inside of the view leaves the defaults.
  folder.write(
      "c.session",
      R"({"headroom_session": 1, "files": [{"path": "x"}], "shown": 7, "view": {"head": "first", "query": -1, "centre": 7, "map": {"kind": "none", "range": [2, 1], "window": "all"}}})");
  const auto odd = load_session(folder.path() / "c.session");
  CATCH_REQUIRE(odd.has_value());
  CATCH_CHECK(odd->shown == 0);
  CATCH_CHECK(odd->view == ViewState{});
}

CATCH_TEST_CASE("A session saved with a what-if is taken up with it: shown, beside, compared, of one head",
                "[session]") {
  const TempFolder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  double changed = 0.0, plain = 0.0;
  const std::vector<std::string> no_lambda{"L1.H0:lambda=0"};
  {
    SessionBench bench;
    bench.demo("bytes/diff_v2");
    bench.run("run");
    bench.run("select L1.H0");
    plain = bench.state().data()->at("sink_score_net", 1, 0);
    bench.run("what-if lambda=0");
    bench.run("session.save " + file("quick.headroom"));
    bench.run("what-if.complete");
    const int base = bench.state().view.run, complete = bench.state().view.other_run;
    changed = bench.state().other()->data->at("sink_score_net", 1, 0);
    bench.run("compare " + std::to_string(base) + " " + std::to_string(complete));
    bench.run("compare.mode difference");
    bench.run("session.save " + file("compared.headroom"));
    bench.run("compare.close");
    bench.run("show " + std::to_string(complete));
    CATCH_REQUIRE(bench.state().shown()->what_ifs == no_lambda);
    bench.run("session.save " + file("shown.headroom"));
  }
  CATCH_REQUIRE(changed != plain);
  {
    SessionBench bench;
    bench.run("session.open " + file("shown.headroom"));
    CATCH_REQUIRE(bench.state().shown()->status == RunStatus::Done);
    CATCH_CHECK(bench.state().shown()->what_ifs == no_lambda);
    CATCH_CHECK(bench.state().data()->at("sink_score_net", 1, 0) == changed);
    CATCH_CHECK(bench.state().view.selection.head == HeadRef{1, 0});
    CATCH_CHECK(bench.state().view.centre == CentreView::Map);
    CATCH_CHECK((bench.state().errors.empty() && bench.state().unseen_warnings == 0));
  }
  {
    SessionBench bench;
    bench.run("session.open " + file("compared.headroom"));
    CATCH_CHECK(bench.state().shown()->what_ifs.empty());
    CATCH_CHECK(bench.state().data()->at("sink_score_net", 1, 0) == plain);
    CATCH_REQUIRE(bench.state().other() != nullptr);
    CATCH_CHECK(bench.state().other()->what_ifs == no_lambda);
    CATCH_CHECK_FALSE(bench.state().other()->quick);
    CATCH_CHECK(bench.state().other()->data->at("sink_score_net", 1, 0) == changed);
    CATCH_CHECK(bench.state().view.centre == CentreView::Compare);
    CATCH_CHECK(bench.state().view.compare.mode == CompareMode::Difference);
  }
  {
    SessionBench bench;
    bench.run("session.open " + file("quick.headroom"));
    CATCH_REQUIRE(bench.state().other() != nullptr);
    CATCH_CHECK(bench.state().other()->quick);
    CATCH_CHECK(bench.state().other()->data->at("sink_score_net", 1, 0) == changed);
    CATCH_CHECK(bench.state().view.centre == CentreView::WhatIf);
    CATCH_CHECK(bench.state().view.what_if.changes == std::vector<std::string>{"lambda=0"});
  }
  // One that the checkpoint does not take any more is said, and the run as trained is there.
  auto saved = load_session(file("shown.headroom"));
  CATCH_REQUIRE(saved.has_value());
  saved->what_ifs = {"L1.H0:norm=off"};
  CATCH_REQUIRE(save_session(file("odd"), *saved).has_value());
  SessionBench bench;
  bench.run("session.open " + file("odd"));
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors[0].title == "The what-if of the session does not fit bytes/diff_v2");
  CATCH_CHECK(describe(bench.state().errors[0].error).find("norm") != std::string::npos);
  CATCH_CHECK(bench.state().shown()->what_ifs.empty());
  CATCH_CHECK(bench.state().data()->at("sink_score_net", 1, 0) == plain);
}

CATCH_TEST_CASE("A checkpoint that changes on disk is said to, and reload opens it again", "[session]") {
  const TempFolder folder;
  const std::filesystem::path copy = folder.path() / "model";
  std::filesystem::copy(demo_assets() / "demo" / "backcopy" / "softmax", copy,
                        std::filesystem::copy_options::recursive);
  SessionBench bench;
  bench.run("open.run " + quote_word(copy.string()));
  const auto data = bench.state().shown()->data;
  std::filesystem::rename(copy / "model.safetensors", copy / "old");
  std::filesystem::copy(copy / "old", copy / "model.safetensors");
  const double end = seconds_now() + 60.0;
  while (!bench.state().models[0].changed_on_disk && seconds_now() < end) {
    bench->update(seconds_now());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CATCH_REQUIRE(bench.state().models[0].changed_on_disk);
  CATCH_CHECK(bench.state().shown()->data == data);
  CATCH_CHECK(bench.state().unseen_warnings >= 1);
  bench.run("reload");
  CATCH_CHECK(bench.state().errors.empty());
  CATCH_CHECK(bench.state().shown()->status == RunStatus::Done);
  CATCH_CHECK_FALSE(bench.state().find_model(bench.state().shown()->model)->changed_on_disk);
}

CATCH_TEST_CASE("A layer without maps is computed again", "[session]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run without-maps");
  CATCH_REQUIRE(bench.state().data()->layer(0)->maps == nullptr);
  const double before = bench.state().data()->at("sink_score", 0, 0);
  bench.run("layer.recompute 0");
  CATCH_REQUIRE(bench.state().data()->layer(0)->maps != nullptr);
  CATCH_CHECK(bench.state().data()->at("sink_score", 0, 0) == before);
  CATCH_CHECK(bench.state().data()->complete);
}

CATCH_TEST_CASE("A script runs line by line, and an expectation that fails names file, line and what was found",
                "[session]") {
  const TempFolder folder;
  SessionBench bench;
  Facts facts;
  facts.set("n", 3.0);
  facts.set("name", std::string("diff_v2"));
  const auto run = [&](const std::string& text) -> Result<void> {
    std::ofstream(folder.path() / "a.script") << text;
    HEADROOM_TRY(Script script, Script::read(folder.path() / "a.script", bench->commands()));
    while (!script.finished()) {
      const Result<bool> stepped = script.step(*bench.operator->(), facts, {false, false, true, false, seconds_now()});
      if (!stepped) return stepped.error();
    }
    return {};
  };
  CATCH_CHECK(run("theme light # comment\n\nexpect n == 3\nexpect n >= 3\nexpect name ~ v2\nexpect n ~ 3.0000000001\n")
                  .has_value());
  CATCH_CHECK_FALSE(bench.state().settings.dark);
  const auto failed = run("theme dark\nexpect n == 4\n");
  CATCH_REQUIRE_FALSE(failed.has_value());
  CATCH_CHECK(failed.error().message == "line 2, expect n == 4: found 3");
  CATCH_CHECK(failed.error().file.ends_with("a.script"));
  CATCH_CHECK_FALSE(run("expect nothing == 1").has_value());
  CATCH_CHECK_FALSE(run("expect name > 1").has_value());
  const auto unknown = run("theme dark\nexplode now\n");
  CATCH_REQUIRE_FALSE(unknown.has_value());
  CATCH_CHECK(unknown.error().message == "line 2: no such command: explode");
}

CATCH_TEST_CASE("A session taken up again measures beside the usual what its run did", "[session]") {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.headroom").string();
  {
    SessionBench bench;
    bench.demo("bytes/softmax");
    bench.run("residual.keep on");
    bench.run("premise on");
    bench.run("run");
    bench.run("premise off");  // of the run after it
    bench.run("session.save " + quote_word(path));
  }
  SessionBench bench;
  bench.run("rounding on");
  bench.run("session.open " + quote_word(path));
  const RunEntry* run = bench.state().shown();
  CATCH_REQUIRE((run != nullptr && run->data != nullptr));
  CATCH_CHECK((run->keep_residual && run->extra.premise && !run->extra.rounding));
  // The next run measures what was chosen for it, before the session came or after.
  const State& state = bench.state();
  CATCH_CHECK((!state.keep_residual && !state.extra.premise && state.extra.rounding));
  bench.run("run");
  run = bench.state().shown();
  CATCH_CHECK((!run->keep_residual && !run->extra.premise && run->extra.rounding));
}

CATCH_TEST_CASE("A session that was saved before its run changes nothing of what the next run measures", "[session]") {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.headroom").string();
  {
    SessionBench bench;
    bench.demo("bytes/softmax");
    bench.run("residual.keep on");
    bench.run("session.save " + quote_word(path));
  }
  SessionBench bench;
  bench.run("premise on");
  bench.run("session.open " + quote_word(path));
  CATCH_CHECK((!bench.state().keep_residual && bench.state().extra.premise));
  bench.run("run");
  CATCH_CHECK((!bench.state().shown()->keep_residual && bench.state().shown()->extra.premise));
}

}  // namespace
}  // namespace headroom::test
