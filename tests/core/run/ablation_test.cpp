// Sweeps of ablations: the same numbers however many heads go together and whichever streams are kept; ranks.
#include "core/run/ablation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/base/student.h"
#include "core/run/ablation_file.h"
#include "core/run/ablation_summary.h"
#include "core/run/loss_table.h"
#include "core/run/read_ablation.h"
#include "core/run/run_plan.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

class Losses final : public VariantObserver {
 public:
  Result<void> on_base(std::vector<double> losses) override {
    base = std::move(losses);
    return {};
  }
  Result<void> on_variant(std::size_t variant, std::vector<double> losses) override {
    order.push_back(variant);
    of[variant] = std::move(losses);
    return {};
  }
  [[nodiscard]] bool stop_requested() const override { return order.size() >= stop_after; }

  std::vector<double> base;
  std::vector<std::size_t> order;
  std::vector<std::vector<double>> of = std::vector<std::vector<double>>(64);
  std::size_t stop_after = std::numeric_limits<std::size_t>::max();
};

// Every head of the model off, and the model run as it is.
struct Swept {
  explicit Swept(const std::string& name) : live(name), plan(required(plan_run(live.analysis("unused.h5")))) {
    for (const std::int64_t layer : plan.request.layers)
      for (const std::int64_t head : plan.request.heads) heads.push_back({layer, head});
    for (const HeadRef& head : heads) sweep.first_layers.push_back(head.layer);
    sweep.make = [this](std::size_t i) -> Result<ModelVariant> {
      const WhatIf off = required(parse_what_if(head_text(heads[i]) + ":head=off"));
      const ModelSpec changed = required(apply_what_ifs(plan.model, {off})).model;
      const auto layer = static_cast<std::size_t>(heads[i].layer);
      return ModelVariant{{{heads[i].layer, changed.blocks[layer].attention}}};
    };
  }
  Result<ForwardSummary> run(Losses& losses) {
    return live_backend().run_variants(live.model->source, plan.model, plan.forward, sweep, losses);
  }

  LiveModel live;
  RunPlan plan;
  std::vector<HeadRef> heads;
  VariantSweep sweep;
};

AblationRequest request_of(const LiveModel& live, const std::string& mode = "zero") {
  AblationRequest request;
  request.run = live.analysis("unused.h5");
  request.mode = required(parse_ablation_mode(mode));
  return request;
}

}  // namespace

CATCH_TEST_CASE("variants: the same bits in one batch, one at a time, and from the embedding on") {
  for (const char* name : {"bytes/diff_v2", "backcopy/softmax"}) {
    CATCH_INFO(name);
    Swept swept(name);
    swept.sweep.keep_bytes = std::size_t{1} << 30;
    Losses together, alone;
    const ForwardSummary summary = required(swept.run(together));
    CATCH_REQUIRE(together.order.size() == swept.heads.size());
    CATCH_CHECK(swept.heads[together.order.front()].layer == swept.plan.request.layers.back());
    CATCH_CHECK(summary.predictions.loss == together.base);
    swept.sweep.rows = 1;
    swept.sweep.keep_bytes = 0;
    CATCH_REQUIRE(swept.run(alone).has_value());
    for (std::size_t i = 0; i < swept.heads.size(); ++i) {
      CATCH_CHECK(together.of[i].size() == together.base.size());
      CATCH_CHECK(together.of[i] == alone.of[i]);
      CATCH_CHECK(together.of[i] != together.base);
    }
  }
}

CATCH_TEST_CASE("variants: what is done when the run is stopped has been handed over") {
  Swept swept("bytes/diff_v2");
  Losses losses;
  losses.stop_after = 2;
  const auto run = swept.run(losses);
  CATCH_REQUIRE(!run);
  CATCH_CHECK(run.error().code == ErrorCode::Cancelled);
  CATCH_CHECK(losses.order.size() >= 2);
  CATCH_CHECK(losses.order.size() < swept.heads.size());
}

CATCH_TEST_CASE("an ablation reports one head after another, and keeps what is done") {
  const LiveModel live("bytes/diff_v2");
  std::vector<std::size_t> reported;
  const AblatedReport report = [&](const AblationOutcome& outcome, std::size_t index) {
    CATCH_CHECK(outcome.results[index].done());
    CATCH_CHECK(std::isfinite(outcome.results[index].delta_loss));
    reported.push_back(index);
    CATCH_CHECK(outcome.done == reported.size());
  };
  const AblationOutcome stopped =
      required(ablate(live_backend(), request_of(live), report, {}, [&] { return reported.size() >= 3; }));
  CATCH_CHECK(stopped.cancelled);
  CATCH_CHECK(stopped.done >= 3);
  CATCH_CHECK(stopped.done < stopped.results.size());
  reported.clear();
  const AblationOutcome whole = required(ablate(live_backend(), request_of(live), report, {}, {}));
  CATCH_CHECK(!whole.cancelled);
  CATCH_CHECK(whole.done == whole.results.size());
  for (std::size_t i = 0; i < whole.results.size(); ++i)
    if (stopped.results[i].done()) CATCH_CHECK(stopped.results[i].by_token == whole.results[i].by_token);
  const auto none = ablate(live_backend(), request_of(live), report, {}, [] { return true; });
  CATCH_CHECK((!none && none.error().code == ErrorCode::Cancelled));
  const std::vector<std::size_t> order = by_importance(whole);
  for (std::size_t i = 1; i < order.size(); ++i)
    CATCH_CHECK(whole.results[order[i - 1]].delta_loss >= whole.results[order[i]].delta_loss);
}

CATCH_TEST_CASE("an ablation that was stopped goes on: what is done is not computed again, and all equals one go") {
  const LiveModel live("bytes/diff_v2");
  for (const char* mode : {"zero", "mean"}) {
    CATCH_INFO(mode);
    std::vector<std::size_t> reported;
    const AblatedReport report = [&](const AblationOutcome&, std::size_t index) { reported.push_back(index); };
    AblationRequest request = request_of(live, mode);
    const AblationOutcome whole = required(ablate(live_backend(), request, report, {}, {}));
    reported.clear();
    const auto stopped = std::make_shared<const AblationOutcome>(
        required(ablate(live_backend(), request, report, {}, [&] { return reported.size() >= 3; })));
    CATCH_REQUIRE(stopped->cancelled);
    const std::vector<std::size_t> before = std::exchange(reported, {});
    request.before = stopped;
    const AblationOutcome all = required(ablate(live_backend(), request, report, {}, {}));
    CATCH_CHECK_FALSE(all.cancelled);
    CATCH_CHECK(all.done == all.results.size());
    CATCH_CHECK(reported.size() == all.results.size() - before.size());
    for (const std::size_t index : reported) CATCH_CHECK(std::ranges::count(before, index) == 0);
    CATCH_CHECK(all.token_loss == whole.token_loss);
    for (std::size_t i = 0; i < whole.results.size(); ++i) {
      CATCH_CHECK(all.results[i].by_token == whole.results[i].by_token);
      CATCH_CHECK(all.results[i].delta_loss == whole.results[i].delta_loss);
    }
    // As NaN is no number equal to itself, tables are compared as they print.
    CATCH_CHECK(all.summary.values.at("sink_score").size() == whole.summary.values.at("sink_score").size());
    // Stopped again before anything new it is what it was.
    const AblationOutcome same = required(ablate(live_backend(), request, report, {}, [] { return true; }));
    CATCH_CHECK(same.cancelled);
    CATCH_CHECK(same.done == stopped->done);
    CATCH_CHECK(same.summary.values.at("sink_score").size() == stopped->summary.values.at("sink_score").size());
    // Nothing is left: nothing runs.
    request.before = std::make_shared<const AblationOutcome>(all);
    reported.clear();
    CATCH_CHECK(required(ablate(live_backend(), request, report, {}, {})).done == all.done);
    CATCH_CHECK(reported.empty());
    // Of another text it does not go on.
    const LiveModel other("bytes/diff_v2", 95);
    AblationRequest of_other = request_of(other, mode);
    of_other.before = stopped;
    const auto refused = ablate(live_backend(), of_other, report, {}, {});
    CATCH_CHECK((!refused && refused.error().code == ErrorCode::InvalidArgument));
  }
}

CATCH_TEST_CASE("the table of a sweep: changes by head, errors by blocks of tokens, intervals of all together") {
  LossTable table = make_loss_table({"zero", "head=off"}, {2, 5}, {0, 1, 3}, std::vector<double>(40, 2.0));
  CATCH_CHECK(table.loss == 2.0);
  CATCH_CHECK(table.predictions == 40);
  CATCH_REQUIRE(table.blocks == 5);
  table.asked = 6;
  AblatedSet set;
  set.heads = {{5, 1}};
  // Blocks of eight with the means 1, 2, 3, 4, 5: their mean 3, Σ (mean − 3)² = 10, se = √(10/(5·4)).
  for (int i = 0; i < 40; ++i) set.by_token.push_back(1.0 + i / 8);
  set.delta_loss = 3.0;
  add_change(table, set);
  set.heads = {{2, 3}};
  std::ranges::fill(set.by_token, -0.25);
  set.delta_loss = -0.25;
  add_change(table, set);
  set.heads = {{9, 9}};  // on no axis
  add_change(table, set);
  CATCH_CHECK(table.done == 2);
  CATCH_REQUIRE(table.place({5, 1}) == std::optional<std::size_t>(4));
  CATCH_CHECK(table.head_at(4) == HeadRef{5, 1});
  CATCH_CHECK_FALSE(table.place({5, 2}).has_value());
  CATCH_CHECK(table.delta[4] == 3.0);
  CATCH_CHECK(table.error[4] == near(std::sqrt(0.5), 1e-12));
  CATCH_CHECK(std::isnan(table.delta[0]));
  // t with 4 degrees beyond which 0.05/6 lies, both sides (mpmath: betainc).
  CATCH_CHECK(table.half_width() == near(4.85100844309786, 1e-9));
  CATCH_CHECK(table.interval(4) == near(4.85100844309786 * std::sqrt(0.5), 1e-9));
  CATCH_CHECK_FALSE(table.differs(4));
  CATCH_CHECK(table.differs(2));  // every block says the same
  CATCH_CHECK(table.count_differing() == 1);
  CATCH_CHECK(table.by_change() == std::vector<std::size_t>{4, 2});
  // Of a file nothing more arrives: what was measured counts, with the sets; t beyond which 0.05/3 lies (SciPy).
  LossTable file = table;
  file.of_file = true, file.set_errors = {0.25};
  CATCH_CHECK((table.tested() == 6 && file.tested() == 3));
  CATCH_CHECK(file.half_width() == near(3.96078648, 1e-7));
  // At the median standard error, that of the set between the two of the heads.
  CATCH_CHECK(file.detectable() == near(0.25 * student_detectable(4.0, 0.05 / 3.0, 0.8), 1e-12));
  const LossTable few = make_loss_table({"zero", "head=off"}, {0}, {0}, std::vector<double>(31, 1.0));
  CATCH_CHECK(few.blocks == 0);
  CATCH_CHECK((std::isnan(few.half_width()) && std::isnan(few.detectable())));

  const LiveModel live("bytes/diff_v2");
  const AblationOutcome outcome = required(ablate(live_backend(), request_of(live), {}, {}, {}));
  const LossTable whole = loss_table_of(request_of(live).mode, outcome.summary.layers, outcome.summary.heads, outcome);
  const TokenSpread spread = token_spread(outcome);
  CATCH_CHECK(whole.loss == near(outcome.loss, 1e-12));
  CATCH_CHECK(whole.half_width() == spread.half_width);
  CATCH_CHECK(whole.detectable() == near(spread.detectable, 1e-12));
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    const std::size_t place = whole.place(outcome.results[i].heads.front()).value();
    CATCH_CHECK(whole.delta[place] == outcome.results[i].delta_loss);
    CATCH_CHECK(whole.error[place] == spread.standard_error[i]);
    CATCH_CHECK(whole.differs(place) == spread.differs(outcome, i));
  }
}

CATCH_TEST_CASE("a file of a sweep opens with the numbers that were written") {
  const LiveModel live("bytes/diff_v2");
  const TempFolder folder;
  AblationRequest request = request_of(live);
  request.run.output = folder.path() / "a.h5";
  std::size_t done = 0;
  const AblatedReport report = [&](const AblationOutcome&, std::size_t) { ++done; };
  const AblationOutcome outcome = required(ablate(live_backend(), request, report, {}, [&] { return done >= 2; }));
  CATCH_REQUIRE(outcome.cancelled);
  const auto writer = required(create_ablation_file(request));
  CATCH_REQUIRE(write_ablation(*writer, request, outcome, live_backend().info(), false, {}).has_value());
  CATCH_REQUIRE(is_ablation_file(request.run.output));
  const OpenedAblation opened = required(read_ablation(request.run.output));
  const LossTable written = loss_table_of(request.mode, outcome.summary.layers, outcome.summary.heads, outcome);
  CATCH_CHECK(opened.table.mode.name == "zero");
  CATCH_CHECK(opened.table.mode.change == "head=off");
  CATCH_CHECK(opened.table.layers == written.layers);
  CATCH_CHECK(opened.table.heads == written.heads);
  CATCH_CHECK(opened.table.loss == outcome.loss);
  CATCH_CHECK(opened.table.predictions == outcome.token_loss.size());
  CATCH_CHECK(opened.table.blocks == written.blocks);
  CATCH_CHECK(opened.table.asked == outcome.results.size());
  CATCH_CHECK(opened.table.done == outcome.done);
  for (std::size_t i = 0; i < written.delta.size(); ++i) {
    CATCH_CHECK(std::isnan(opened.table.delta[i]) == std::isnan(written.delta[i]));
    if (std::isfinite(written.delta[i])) {
      CATCH_CHECK(opened.table.delta[i] == written.delta[i]);
      CATCH_CHECK(opened.table.error[i] == written.error[i]);
    }
  }
  CATCH_CHECK(opened.run->prompt->ids == live.prompt->ids);
  CATCH_CHECK(opened.run->length == static_cast<std::int64_t>(live.prompt->ids.size()));
  const std::vector<double>& sinks = outcome.summary.values.at("sink_score");
  for (std::size_t l = 0; l < outcome.summary.layers.size(); ++l)
    for (std::size_t h = 0; h < outcome.summary.heads.size(); ++h)
      CATCH_CHECK(opened.run->at("sink_score", outcome.summary.layers[l], outcome.summary.heads[h], 1) ==
                  sinks[(l * outcome.summary.heads.size() + h) * 2 + 1]);
  CATCH_CHECK_FALSE(is_ablation_file(folder.path() / "none.h5"));
}

CATCH_TEST_CASE("rank correlations: ties share ranks and a third is held fixed") {
  const std::vector<double> a = {1, 2, 3, 4, 5}, same = {7, 7, 7, 7, 7};
  CATCH_CHECK(rank_correlation(a, std::vector<double>{2, 4, 8, 16, 32}) == 1.0);
  CATCH_CHECK(rank_correlation(a, std::vector<double>{5, 4, 3, 2, 1}) == -1.0);
  // Ranks 1, 2.5, 2.5, 4, 5: Σ (x − 3)(y − 3) = 9.5, Σ (x − 3)² = 10, Σ (y − 3)² = 9.5.
  CATCH_CHECK(rank_correlation(a, std::vector<double>{1, 2, 2, 3, 4}) == near(9.5 / std::sqrt(95.0), 1e-12));
  CATCH_CHECK(std::isnan(rank_correlation(a, same)));
  // With r_ab = 0.9 and r_ac = 0.7, r_bc = 0.9 of the ranks 1 3 2 4 5 and 1 4 2 3 5.
  const std::vector<double> b = {1, 3, 2, 4, 5}, c = {1, 4, 2, 3, 5};
  const double ab = 0.9, ac = 0.7, bc = 0.9;
  CATCH_CHECK(rank_correlation(a, b, c) == near((ab - ac * bc) / std::sqrt((1 - ac * ac) * (1 - bc * bc)), 1e-12));
  CATCH_CHECK(rank_correlation(a, b, same) == near(ab, 1e-12));
}

// Reference: NumPy, which draws with a mt19937_64 of its own (seed 0, number % 24 for each place), ranks every draw
// anew (ties share their mean rank) and takes numpy.corrcoef and numpy.quantile (linear) of 10,000 draws.
CATCH_TEST_CASE("ablation: a rank correlation's interval over heads is that of an independent bootstrap") {
  std::vector<double> a, b;
  for (int i = 0; i < 24; ++i) {
    a.push_back(std::floor((i * 7 % 24 / 8.0 - 1.0) * 4.0) / 4.0);
    b.push_back(i % 3 == 0 ? i * 0.5 : i * i % 17 * 0.25);
  }
  const Bootstrapped number = bootstrapped_rank_correlation(a, b);
  CATCH_CHECK(number.value == near(-0.16069875124379088, 1e-12));
  CATCH_CHECK(number.low == near(-0.566397223336966, 1e-12));
  CATCH_CHECK(number.high == near(0.2806866444365858, 1e-12));
  const Bootstrapped pair = bootstrapped_rank_correlation(std::vector<double>{1, 2}, std::vector<double>{3, 4});
  CATCH_CHECK((pair.value == 1.0 && std::isnan(pair.low) && std::isnan(pair.high)));
  std::stop_source stop;
  stop.request_stop();
  CATCH_CHECK(std::isnan(bootstrapped_rank_correlation(a, b, stop.get_token()).low));
}

CATCH_TEST_CASE("heads by name") {
  CATCH_CHECK(required(parse_heads("L18.H8,L3.H20", ',', "--heads")) == std::vector<HeadRef>{{18, 8}, {3, 20}});
  for (const char* text : {"", "L1", "L1.H", "L.H2", "H1.L2", "L1.H2,", "L1.H-2", "L1.H2+L1.H3"})
    CATCH_CHECK(!parse_heads(text, ',', "--heads"));
  CATCH_CHECK(set_name({{1, 2}, {0, 3}}) == "L1.H2+L0.H3");
  CATCH_CHECK(required(parse_ablation_mode("hide-key=3,0")).change == "hide-key=3,0");
  for (const char* text : {"", "off", "hide-key=", "hide-key=a", "zero "}) CATCH_CHECK(!parse_ablation_mode(text));
}

}  // namespace headroom::test
