// Claim 3: wrong pairing and the other ablations, at the recipe's learning rate and at larger ones, with clipped
// gradients and without.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/reproduce/claims.h"
#include "core/reproduce/measures.h"

namespace headroom {
namespace {

struct Ablation {
  const char* variant;
  bool unstable;  // the claim is about spikes, too
};

constexpr Ablation kAblations[] = {{"wrong_pairing", true}, {"no_lambda", false}, {"raw_lambda", true}};

std::vector<const Measure*> measures_of(const Ablation& ablation) {
  if (!ablation.unstable) return {&validation_loss()};
  return {&validation_loss(), &gradient_spikes(), &loss_spikes()};
}

Result<void> examine_recipe(Study& study, ClaimReport& report) {
  const std::vector<const Measure*> columns = {&validation_loss(), &gradient_median(), &gradient_peak(),
                                               &gradient_spikes(), &loss_spikes(),     &clipped_steps()};
  const std::pair<const char*, const char*> kinds[] = {{"bytes", "diff_v2"},
                                                       {"bytes_ablations", "wrong_pairing"},
                                                       {"bytes_ablations", "no_lambda"},
                                                       {"bytes_ablations", "raw_lambda"},
                                                       {"bytes", "softmax"},
                                                       {"bytes", "diff_v1"}};
  const TrainingSettings& training = study.recipe("bytes").variants.front().training;
  ClaimTable table;
  table.caption = format(
      "Byte models at learning rate %g, gradients clipped at %g, %lld steps; mean ± standard deviation over seeds",
      training.learning_rate, training.gradient_clip, static_cast<long long>(training.steps));
  table.columns = {"heads"};
  for (const Measure* measure : columns) table.columns.emplace_back(measure->column);
  for (const auto& [recipe, variant] : kinds) {
    std::vector<Cell> row = {std::string(variant)};
    for (const Measure* measure : columns) {
      HEADROOM_TRY(Spread numbers, measured(study, recipe, variant, *measure));
      row.emplace_back(std::move(numbers));
    }
    table.rows.push_back(std::move(row));
  }
  report.tables.push_back(std::move(table));

  const Recipe &bytes = study.recipe("bytes"), &ablations = study.recipe("bytes_ablations");
  for (const Ablation& ablation : kAblations) {
    const Start start = common_start(*find_variant(bytes, "diff_v2"), *find_variant(ablations, ablation.variant));
    for (const Measure* measure : measures_of(ablation)) {
      HEADROOM_TRY(const Spread v2, measured(study, "bytes", "diff_v2", *measure));
      HEADROOM_TRY(const Spread other, measured(study, "bytes_ablations", ablation.variant, *measure));
      report.sentences.push_back(smaller(measure->what, {"diff_v2", v2}, {ablation.variant, other}, start));
    }
  }
  return {};
}

Result<void> add_sweep_table(Study& study, ClaimReport& report) {
  const Recipe& sweep = study.recipe("bytes_sweep");
  ClaimTable table;
  table.caption = format(
      "The sweep: %lld steps at other learning rates, with clipped gradients and without (clip 0); a training "
      "that diverged counts with the loss of guessing",
      static_cast<long long>(sweep.variants.front().training.steps));
  const std::vector<const Measure*> columns = {&validation_loss(), &gradient_peak(), &gradient_spikes(), &loss_spikes(),
                                               &clipped_steps()};
  table.columns = {"heads", "learning rate", "clip", "diverged"};
  for (const Measure* measure : columns) table.columns.emplace_back(measure->column);
  for (const Variant& variant : sweep.variants) {
    double diverged = 0.0;
    for (const std::uint64_t seed : variant.seeds) diverged += study.diverged(sweep, variant, seed) ? 1.0 : 0.0;
    std::vector<Cell> row = {variant.base, format("%g", variant.training.learning_rate),
                             format("%g", variant.training.gradient_clip), diverged};
    for (const Measure* measure : columns) {
      HEADROOM_TRY(Spread numbers, measured_over(study, sweep, {&variant}, *measure));
      row.emplace_back(std::move(numbers));
    }
    table.rows.push_back(std::move(row));
  }
  report.tables.push_back(std::move(table));
  return {};
}

Result<void> examine_sweep(Study& study, ClaimReport& report) {
  HEADROOM_TRY_VOID(add_sweep_table(study, report));
  const Recipe& sweep = study.recipe("bytes_sweep");
  const double usual = study.recipe("bytes").variants.front().training.learning_rate;
  const auto large = [&](const Variant& variant) { return variant.training.learning_rate > usual; };
  const auto v2_points = swept_variants(sweep, "diff_v2", large);
  for (const Ablation& ablation : kAblations) {
    const auto points = swept_variants(sweep, ablation.variant, large);
    if (points.empty() || v2_points.size() != points.size()) continue;
    const Start start = common_start(*v2_points.front(), *points.front());
    for (const Measure* measure : measures_of(ablation)) {
      HEADROOM_TRY(const Spread v2, measured_over(study, sweep, v2_points, *measure));
      HEADROOM_TRY(const Spread other, measured_over(study, sweep, points, *measure));
      report.sentences.push_back(smaller("At large learning rates: " + std::string(measure->what), {"diff_v2", v2},
                                         {ablation.variant, other}, start));
    }
  }
  return {};
}

}  // namespace

Result<ClaimReport> examine_pairing(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 3;
  report.title = "Wrong pairing and the other ablations";
  report.claim =
      "Subtracting heads of different GQA groups (first half from second half) is obviously unstable at large learning rates: more "
      "loss and gradient spikes, higher loss. Without λ, or without its sigmoid, the loss is higher; without the sigmoid it is less "
      "stable.";
  HEADROOM_TRY_VOID(examine_recipe(study, report));
  HEADROOM_TRY_VOID(examine_sweep(study, report));
  report.remarks =
      "A spike is a step above the median of the 100 steps before by more than six median absolute deviations. A sentence at large "
      "learning rates is about the mean, for each seed, over all points of the sweep above the recipe's own rate, clipped and not. "
      "Models of 0.13 million parameters and 0.5 to 2 million tokens: the claim is about models four orders of magnitude larger.";
  return report;
}

}  // namespace headroom
