// What each head is worth, in a session: every change of the loss is that of a what-if run, a sweep that stops or gives
// way goes on to the same numbers, files come back, and what cannot be computed says why.
#include "app/session/importance.h"
#include "app/session/enum_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/session/saving.h"
#include "app/session/session_file.h"
#include "core/run/ablation.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"
#include "core/run/read_ablation.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/near.h"
#include "tests/support/required.h"
#include "tests/support/shown_run.h"
#include "tests/support/snapshots.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

const LossTable& table(const SessionBench& bench, AblationWay way) {
  const LossTable* found = table_of(bench.state().shown()->sweeps, way);
  CATCH_REQUIRE(found != nullptr);
  return *found;
}

SweepStatus status(const SessionBench& bench, AblationWay way) {
  const auto& sweep = sweep_of(bench.state().shown()->sweeps, way);
  CATCH_REQUIRE(sweep.has_value());
  return sweep->status;
}

// The model with a text of so many tokens, run.
void open_and_run(SessionBench& bench, const std::string& demo, int tokens) {
  bench.demo(demo);
  bench.run("prompt.built-in gpl-3 " + std::to_string(tokens));
  bench.run("run");
}

// What a what-if run to the loss says of this head.
double change_by_what_if(SessionBench& bench, HeadRef head, const std::string& change) {
  bench.run("select " + head_text(head));
  bench.run("what-if " + change);
  bench.run("what-if.complete");
  const double with = bench.state().other()->data->next_token_loss.value();
  bench.run("what-if -" + change);
  return with - bench.state().data()->next_token_loss.value();
}

}  // namespace

CATCH_TEST_CASE("importance: every change of the loss is that of a what-if run to the loss", "[session][importance]") {
  for (const char* demo : {"bytes/softmax", "bytes/diff_v2", "bytes/diff_v1"}) {
    CATCH_INFO(demo);
    SessionBench bench;
    open_and_run(bench, demo, 70);
    const bool pairs = std::string(demo) != "bytes/softmax";
    for (const AblationWay way : kAblationWays) {
      const AblationWayInfo& info = way_info(way);
      CATCH_INFO(word_of(way));
      if (way == AblationWay::SecondOff && !pairs) {
        CATCH_CHECK(bench.refusal(std::string("importance.run ") + word_of(way)).find("these heads have one map") !=
                    std::string::npos);
        continue;
      }
      bench.run(std::string("importance.run ") + word_of(way));
      CATCH_CHECK(bench.state().view.centre == CentreView::Importance);
      CATCH_CHECK(bench.state().view.importance.colour == way);
      CATCH_CHECK(status(bench, way) == SweepStatus::Done);
      const LossTable& found = table(bench, way);
      CATCH_CHECK(found.done == found.asked);
      CATCH_CHECK(found.loss == near(bench.state().data()->next_token_loss.value(), 1e-6));
      const QuantityRef quantity = parse_quantity(info.quantity).value();
      for (std::size_t i = 0; i < found.delta.size(); ++i) {
        const HeadRef at = found.head_at(i);
        const HeadRef head{at.layer, at.head};
        CATCH_INFO(head_text(head));
        // The quantity of atlas, scatter plot and table is the same number.
        CATCH_CHECK(head_value(*bench.state().data(), quantity, head.layer, head.head) == found.delta[i]);
        CATCH_CHECK(found.delta[i] == near(change_by_what_if(bench, head, info.change), 0.0, 1e-4));
      }
      CATCH_CHECK(head_values(*bench.state().data(), quantity) == found.delta);
    }
  }
}

CATCH_TEST_CASE("importance: in parts it is what it is in one go, what is not done has no value",
                "[session][importance]") {
  SessionBench whole, parts;
  for (SessionBench* bench : {&whole, &parts}) open_and_run(*bench, "bytes/diff_v2", 200);
  whole.run("importance.run off");
  const LossTable& one_go = table(whole, AblationWay::Off);

  parts.run("importance.run off layer 1");
  const LossTable some = table(parts, AblationWay::Off);
  CATCH_CHECK(some.done == some.heads.size());
  for (std::size_t i = 0; i < some.delta.size(); ++i) {
    CATCH_CHECK(std::isnan(some.delta[i]) == (some.head_at(i).layer != 1));
    const double shown = head_value(*parts.state().data(), parse_quantity("delta_loss_off").value(),
                                    some.head_at(i).layer, some.head_at(i).head);
    CATCH_CHECK(std::isnan(shown) == std::isnan(some.delta[i]));
  }
  CATCH_CHECK(heads_left(*parts.state().shown(), AblationWay::Off, {}) ==
              std::map<std::int64_t, std::size_t>{{0, some.heads.size()}});
  parts.run("importance.run off L0.H2");
  CATCH_CHECK(table(parts, AblationWay::Off).done == some.done + 1);
  parts.run("importance.run off");
  const LossTable& all = table(parts, AblationWay::Off);
  CATCH_CHECK(all.done == one_go.done);
  CATCH_CHECK(all.delta == one_go.delta);
  CATCH_CHECK(all.error == one_go.error);
  CATCH_CHECK(heads_left(*parts.state().shown(), AblationWay::Off, {}).empty());
}

CATCH_TEST_CASE("importance: it stops at once and keeps what is done, and goes on", "[session][importance]") {
  SessionBench whole, bench;
  for (SessionBench* each : {&whole, &bench}) open_and_run(*each, "bytes/diff_v2", 512);
  whole.run("importance.run mean");
  CATCH_REQUIRE(bench->execute("importance.run mean").has_value());
  CATCH_CHECK_FALSE(bench->execute("importance.run mean").has_value());  // it goes on
  const double end = seconds_now() + 60.0;
  while (!table_of(bench.state().shown()->sweeps, AblationWay::Mean) && seconds_now() < end)
    bench->update(seconds_now());
  (void)bench->execute("importance.stop");
  bench.wait();
  if (status(bench, AblationWay::Mean) == SweepStatus::Stopped) {
    const LossTable& some = table(bench, AblationWay::Mean);
    CATCH_CHECK(some.done > 0);
    CATCH_CHECK(some.done < some.asked);
    CATCH_CHECK(std::ranges::count_if(some.delta, [](double v) { return std::isfinite(v); }) ==
                static_cast<std::ptrdiff_t>(some.done));
    bench.run("importance.run mean");
  }
  CATCH_CHECK(status(bench, AblationWay::Mean) == SweepStatus::Done);
  CATCH_CHECK(table(bench, AblationWay::Mean).delta == table(whole, AblationWay::Mean).delta);
  CATCH_CHECK(bench.refusal("importance.stop").find("no sweep goes on") != std::string::npos);
}

CATCH_TEST_CASE("importance: what is asked for meanwhile goes first, and the sweep goes on behind it",
                "[session][importance]") {
  SessionBench whole, bench;
  for (SessionBench* each : {&whole, &bench}) open_and_run(*each, "bytes/diff_v2", 512);
  whole.run("importance.run off");
  bench.run("select L1.H0");
  CATCH_REQUIRE(bench->execute("importance.run off").has_value());
  CATCH_REQUIRE(bench->execute("importance.run hide-key0").has_value());
  CATCH_REQUIRE(bench->execute("what-if temperature=1.5").has_value());
  CATCH_REQUIRE(bench->execute("what-if.complete").has_value());
  bench.wait();
  CATCH_CHECK(bench.state().other()->status == RunStatus::Done);
  CATCH_CHECK(status(bench, AblationWay::Off) == SweepStatus::Done);
  CATCH_CHECK(status(bench, AblationWay::HideKey0) == SweepStatus::Done);
  CATCH_CHECK(table(bench, AblationWay::Off).delta == table(whole, AblationWay::Off).delta);
  // A layer that is measured again keeps them beside it; a run that is closed takes them with it.
  bench.run("layer.recompute 0");
  CATCH_CHECK(std::isfinite(head_value(*bench.state().data(), parse_quantity("delta_loss_off").value(), 0, 0)));
  CATCH_REQUIRE(bench->execute("importance.run mean").has_value());
  CATCH_REQUIRE(bench->execute("close").has_value());
  bench.wait();
  CATCH_CHECK(bench.state().nothing_open());
}

CATCH_TEST_CASE("importance: the file is the one of the command line's sweep, and opens with its numbers",
                "[session][importance]") {
  const TempFolder folder;
  const std::string path = (folder.path() / "off.h5").string();
  SessionBench bench;
  open_and_run(bench, "bytes/diff_v2", 96);
  CATCH_CHECK(bench.refusal("importance.export " + path).find("nothing is computed yet") != std::string::npos);
  bench.run("importance.run off");
  CATCH_CHECK(bench.refusal("importance.export " + (folder.path() / "off.png").string()).find(".h5") !=
              std::string::npos);
  bench.run("importance.export " + path);
  CATCH_REQUIRE(std::filesystem::exists(path));
  CATCH_CHECK(bench.state().errors.empty());
  bench.run("importance.export " + path);  // it is there
  CATCH_CHECK(bench.state().errors.size() == 1);
  bench.run("importance.export " + path + " replace");
  CATCH_CHECK(bench.state().errors.size() == 1);
  // What the same request of the command line gives.
  const RunEntry& run = *bench.state().shown();
  AblationRequest request;
  request.run.model = bench.state().find_model(run.model)->model.get();
  request.run.prompt = *run.data->prompt;
  request.mode = required(parse_ablation_mode("zero"));
  const AblationOutcome outcome = required(ablate(*required(load_compute()), request, {}, {}, {}));
  const OpenedAblation read = required(read_ablation(path));
  for (const AblatedSet& result : outcome.results) {
    const std::size_t place = read.table.place(result.heads.front()).value();
    CATCH_CHECK(read.table.delta[place] == result.delta_loss);
  }
  for (std::size_t l = 0; l < outcome.summary.layers.size(); ++l)
    for (std::size_t h = 0; h < outcome.summary.heads.size(); ++h)
      CATCH_CHECK(read.run->at("sink_score", outcome.summary.layers[l], outcome.summary.heads[h]) ==
                  near(outcome.summary.at("sink_score", l, h), 1e-6));
  CATCH_CHECK(read.table.asked == outcome.results.size());

  SessionBench opened;
  opened.run("open " + path);
  CATCH_CHECK(opened.state().errors.empty());
  CATCH_REQUIRE(opened.state().shown() != nullptr);
  CATCH_CHECK(opened.state().view.centre == CentreView::Importance);
  CATCH_CHECK(table(opened, AblationWay::Off).delta == table(bench, AblationWay::Off).delta);
  CATCH_CHECK(table(opened, AblationWay::Off).error == table(bench, AblationWay::Off).error);
  CATCH_CHECK(head_values(*opened.state().data(), parse_quantity("delta_loss_off").value()) ==
              table(bench, AblationWay::Off).delta);
  CATCH_CHECK(opened.refusal("importance.run mean").find("headroom ablate MODEL") != std::string::npos);
  CATCH_CHECK(opened.refusal("importance.export " + (folder.path() / "again.h5").string()).find("a file already") !=
              std::string::npos);
  CATCH_CHECK(opened.refusal("importance.what-if").find("no weights") != std::string::npos);
}

CATCH_TEST_CASE("importance: a session keeps the loss changes, and what it lacks is computed beside them",
                "[session][importance]") {
  const TempFolder folder;
  const std::string kept = (folder.path() / "kept.headroom").string();
  SessionBench whole;
  open_and_run(whole, "bytes/diff_v2", 96);
  whole.run("importance.run off");
  LossTable part;
  {
    SessionBench bench;
    open_and_run(bench, "bytes/diff_v2", 96);
    bench.run("importance.run off layer 1");
    bench.run("importance.run mean");
    part = table(bench, AblationWay::Off);
    bench.run("session.save " + quote_word(kept));
  }
  SessionBench bench;
  bench.run("session.open " + quote_word(kept));
  CATCH_CHECK(bench.state().errors.empty());
  CATCH_CHECK(bench.state().view.centre == CentreView::Importance);
  const LossTable& taken = table(bench, AblationWay::Off);
  CATCH_CHECK(taken.loss == part.loss);
  CATCH_CHECK(taken.blocks == part.blocks);
  CATCH_CHECK(taken.done == 4);
  CATCH_CHECK(taken.half_width() == part.half_width());
  for (std::size_t i = 0; i < part.delta.size(); ++i) {
    CATCH_CHECK((taken.delta[i] == part.delta[i] || (std::isnan(taken.delta[i]) && std::isnan(part.delta[i]))));
    CATCH_CHECK((taken.error[i] == part.error[i] || (std::isnan(taken.error[i]) && std::isnan(part.error[i]))));
  }
  CATCH_CHECK(status(bench, AblationWay::Mean) == SweepStatus::Done);
  CATCH_CHECK(head_values(*bench.state().data(), parse_quantity("delta_loss_mean").value()) ==
              table(bench, AblationWay::Mean).delta);
  const std::string file = quote_word((folder.path() / "off.h5").string());
  bench.run("importance.colour off");
  CATCH_CHECK(bench.refusal("importance.export " + file).find("a session kept the changes alone") != std::string::npos);
  // The other half alone is computed; a second time all of it is, and then it is a file.
  CATCH_CHECK(heads_left(*bench.state().shown(), AblationWay::Off, {}) ==
              std::map<std::int64_t, std::size_t>{{0, std::size_t{4}}});
  bench.run("importance.run off");
  CATCH_CHECK(table(bench, AblationWay::Off).delta == table(whole, AblationWay::Off).delta);
  CATCH_CHECK(table(bench, AblationWay::Off).error == table(whole, AblationWay::Off).error);
  CATCH_CHECK(table(bench, AblationWay::Off).done == 8);
  CATCH_CHECK(table(bench, AblationWay::Off).asked == 8);
  CATCH_CHECK(bench.refusal("importance.export " + file).find("a session kept the changes alone") != std::string::npos);
  bench.run("importance.run off");
  CATCH_CHECK(table(bench, AblationWay::Off).delta == table(whole, AblationWay::Off).delta);
  bench.run("importance.export " + file);
  CATCH_CHECK(std::filesystem::exists(folder.path() / "off.h5"));
  CATCH_CHECK(bench.state().errors.empty());
}

CATCH_TEST_CASE("importance: loss changes of a session that are of another loss are left out",
                "[session][importance]") {
  const TempFolder folder;
  const std::string kept = (folder.path() / "kept.headroom").string();
  {
    SessionBench bench;
    open_and_run(bench, "bytes/softmax", 64);
    bench.run("importance.run off");
    bench.run("session.save " + quote_word(kept));
  }
  SavedSession session = required(load_session(kept));
  CATCH_REQUIRE(session.sweeps.size() == 1);
  session.sweeps[0].table.loss += 0.01;
  CATCH_REQUIRE(save_session(kept, session).has_value());
  SessionBench bench;
  bench.run("session.open " + quote_word(kept));
  CATCH_CHECK(table_of(bench.state().shown()->sweeps, AblationWay::Off) == nullptr);
  CATCH_CHECK(std::ranges::any_of(bench.state().messages, [](const Message& entry) {
    return entry.text.find("loss changes of the session") != std::string::npos;
  }));
}

CATCH_TEST_CASE("importance: a person is asked where the loss changes go, and before a file is replaced",
                "[session][importance]") {
  const TempFolder folder;
  const std::string path = quote_word((folder.path() / "off.h5").string());
  SessionBench bench;
  open_and_run(bench, "bytes/softmax", 64);
  bench->run_line("importance.run off");
  bench.wait();
  bench->run_line("importance.export");
  CATCH_CHECK(bench.state().overlay == Overlay::Save);
  CATCH_CHECK(bench.state().save.kind == SaveKind::Importance);
  const std::string name = suggested_name(bench.state(), SaveKind::Importance, "");
  CATCH_CHECK(name.ends_with("loss-changes-off.h5"));
  CATCH_CHECK(bad_file_name(SaveKind::Importance, name).empty());
  bench->run_line("save importance " + path);
  bench.wait();
  CATCH_CHECK(bench.state().overlay == Overlay::None);
  CATCH_REQUIRE(bench.state().toast.has_value());
  CATCH_CHECK(bench.state().toast->title == "Loss changes saved");
  bench->run_line("save importance " + path);
  bench.wait();
  CATCH_CHECK(bench.state().overlay == Overlay::Save);
  CATCH_CHECK(bench.state().errors.empty());
  bench->run_line("save importance " + path + " replace");
  bench.wait();
  CATCH_CHECK(bench.state().overlay == Overlay::None);
  CATCH_CHECK(bench.state().errors.empty());
}

CATCH_TEST_CASE("importance: what cannot be computed says why", "[session][importance]") {
  SessionBench bench;
  CATCH_CHECK(bench.refusal("importance").find("nothing is open") != std::string::npos);
  bench.demo("bytes/softmax");
  CATCH_CHECK(bench.refusal("importance.run off").find("run first") != std::string::npos);
  bench.run("ids 5");
  bench.run("run");
  CATCH_CHECK(bench.refusal("importance.run off").find("at least two tokens") != std::string::npos);
  CATCH_CHECK(bench.refusal("importance").find("at least two tokens") != std::string::npos);
  bench.run("ids 5,9");
  bench.run("run");
  bench.run("importance.run off");
  CATCH_CHECK(table(bench, AblationWay::Off).predictions == 1);
  CATCH_CHECK(table(bench, AblationWay::Off).blocks == 0);
  CATCH_CHECK(std::isnan(table(bench, AblationWay::Off).half_width()));
  CATCH_CHECK(bench.refusal("importance.run mean L9.H0").find("L0.H0 to L1.H3") != std::string::npos);
  CATCH_CHECK(bench.refusal("importance.run mean layer 2").find("0 to 1") != std::string::npos);
  CATCH_CHECK(bench.refusal("importance.run mean lasso").find("no heads are in the lasso") != std::string::npos);
  CATCH_CHECK(bench.refusal("heads.quantity sink_score").find("loss changes") != std::string::npos);
  bench.run("heads.quantity delta_loss_mean");
  CATCH_CHECK(bench.state().view.importance.colour == AblationWay::Mean);
  bench.run("importance.against layer");
  CATCH_CHECK_FALSE(bench->execute("importance.against banana").has_value());
  bench.run("select L1.H2");
  bench.run("importance.colour hide-key0");
  bench.run("importance.what-if");
  CATCH_CHECK(bench.state().view.centre == CentreView::WhatIf);
  CATCH_CHECK(bench.state().view.what_if.changes == std::vector<std::string>{"hide-key=0"});
  CATCH_CHECK(bench.state().other()->what_ifs == std::vector<std::string>{"L1.H2:hide-key=0"});
  CATCH_CHECK(bench.refusal("importance.close").find("not open") != std::string::npos);
}

CATCH_TEST_CASE("lasso.ablate is one run with all of the set changed", "[session][importance]") {
  SessionBench bench;
  open_and_run(bench, "bytes/diff_v2", 96);
  CATCH_CHECK(bench.refusal("lasso.ablate").find("no heads are in the lasso") != std::string::npos);
  bench.run("lasso L0.H1,L1.H0,L1.H3");
  for (const auto& [way, mode] : {std::pair{"off", "zero"}, {"mean", "mean"}, {"second-off", "second-map"}}) {
    CATCH_INFO(way);
    bench.run(std::string("lasso.ablate ") + way);
    const RunEntry& set = *bench.state().other();
    CATCH_CHECK(set.status == RunStatus::Done);
    CATCH_CHECK(set.what_ifs.size() == 3);
    const RunEntry& run = *bench.state().shown();
    AblationRequest request;
    request.run.model = bench.state().find_model(run.model)->model.get();
    request.run.prompt = *run.data->prompt;
    request.mode = required(parse_ablation_mode(mode));
    request.sets = {{{0, 1}, {1, 0}, {1, 3}}};
    const AblationOutcome outcome = required(ablate(*required(load_compute()), request, {}, {}, {}));
    CATCH_CHECK(set.data->next_token_loss.value() - run.data->next_token_loss.value() ==
                near(outcome.results.front().delta_loss, 0.0, 1e-5));
  }
  SessionBench softmax;
  open_and_run(softmax, "bytes/softmax", 40);
  softmax.run("lasso L0.H1,L1.H0");
  CATCH_CHECK(softmax.refusal("lasso.ablate second-off").find("fits none") != std::string::npos);
}

CATCH_TEST_CASE("importance: what a sweep costs is said before it starts", "[session][importance]") {
  // 30 layers of 9 heads, the loss as two blocks: 1 + 9 · Σ_{l<30} (30 − l + 2)/32 = 1 + 9 · (3 + … + 32)/32.
  std::map<std::int64_t, std::size_t> left;
  for (std::int64_t layer = 0; layer < 30; ++layer) left[layer] = 9;
  const SweepEstimate all = estimate_sweep(left, 30, 2.0);
  CATCH_CHECK(all.heads == 270);
  CATCH_CHECK(all.forwards == near(1.0 + 9.0 * 525.0 / 32.0, 1e-12));
  CATCH_CHECK(all.seconds == near(2.0 * all.forwards, 1e-12));
  CATCH_CHECK(estimate_sweep({}, 30, 2.0).forwards == 0.0);
  CATCH_CHECK(std::isnan(estimate_sweep(left, 30, kNaN).seconds));
  CATCH_CHECK(estimate_text(all).starts_with("270 heads, as much as 149 runs of the model: about 4 min"));
  CATCH_CHECK(estimate_text(estimate_sweep({{29, 1}}, 30, kNaN)).starts_with("1 head, as much as 1.1 runs"));

  State state = make_state(make_snapshot());
  CATCH_CHECK(no_importance(state).find("headroom ablate MODEL") != std::string::npos);
  CATCH_CHECK(no_importance(State{}) == "nothing is open");
  for (const AblationWay way : kAblationWays) {
    CATCH_CHECK(parse_word<AblationWay>(word_of(way)) == way);
    CATCH_CHECK(way_of_quantity(way_info(way).quantity) == way);
    CATCH_CHECK(required(parse_ablation_mode(way_info(way).mode)).change == way_info(way).change);
  }
  CATCH_CHECK_FALSE(parse_word<AblationWay>("zero").has_value());
  CATCH_CHECK_FALSE(way_of_quantity("sink_score").has_value());
}

}  // namespace headroom::test
