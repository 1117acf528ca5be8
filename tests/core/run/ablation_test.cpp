// Sweeps of ablations: the same numbers however many heads go together and whichever streams are kept; ranks.
#include "core/run/ablation.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/run/ablation_summary.h"
#include "core/run/run_plan.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/near.h"

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
    for (const HeadIndex& head : heads) sweep.first_layers.push_back(head.layer);
    sweep.make = [this](std::size_t i) -> Result<ModelVariant> {
      const WhatIf off = required(parse_what_if(head_name(heads[i]) + ":head=off"));
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
  std::vector<HeadIndex> heads;
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

CATCH_TEST_CASE("heads by name") {
  CATCH_CHECK(required(parse_head_names("L18.H8,L3.H20", ',', "--heads")) == std::vector<HeadIndex>{{18, 8}, {3, 20}});
  for (const char* text : {"", "L1", "L1.H", "L.H2", "H1.L2", "L1.H2,", "L1.H-2", "L1.H2+L1.H3"})
    CATCH_CHECK(!parse_head_names(text, ',', "--heads"));
  CATCH_CHECK(set_name({{1, 2}, {0, 3}}) == "L1.H2+L0.H3");
  CATCH_CHECK(required(parse_ablation_mode("hide-key=3,0")).change == "hide-key=3,0");
  for (const char* text : {"", "off", "hide-key=", "hide-key=a", "zero "}) CATCH_CHECK(!parse_ablation_mode(text));
}

}  // namespace headroom::test
