// Claim 5: the largest logits of trained models, of any map and map by map.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/reproduce/claims.h"
#include "core/reproduce/measures.h"

namespace headroom {
namespace {

double map_count(const ModelSpec& model) {
  double maps = 0.0;
  for (const BlockSpec& block : model.blocks)
    for (const HeadProgram& head : block.attention.heads)
      maps += (head.has_first() ? 1.0 : 0.0) + (head.has_second() ? 1.0 : 0.0);
  return maps;
}

// The largest of the logits that were measured in training, on one batch at a time, and the step of it.
struct Peak {
  Spread value, step;
};

Result<Peak> training_peak(Study& study, const Recipe& recipe, const Variant& variant) {
  const auto count = variant.model.blocks.size() * static_cast<std::size_t>(variant.model.num_heads) * 2;
  Peak peak;
  for (const std::uint64_t seed : variant.seeds) {
    HEADROOM_TRY(const std::vector<double> logits, study.history(recipe, variant, seed, "logit_max"));
    double largest = kNaN;
    std::size_t best = 0;
    for (std::size_t i = 0; i < logits.size(); ++i)
      if (logits[i] > largest || (std::isnan(largest) && !std::isnan(logits[i]))) largest = logits[i], best = i;
    peak.value.values.push_back(largest);
    const std::size_t record = best / count;
    peak.step.values.push_back(static_cast<double>(record) * static_cast<double>(variant.training.statistics_every));
  }
  return peak;
}

Result<void> examine_logits_of(Study& study, const std::string& name, ClaimReport& report) {
  const Recipe& recipe = study.recipe(name);
  ClaimTable table;
  table.caption = name +
                  ": largest scaled logit on 64 sequences that no training has seen, mean ± standard deviation over "
                  "seeds; beside it what single training batches showed";
  table.columns = {"heads", "maps", "of any map", "of a map, mean over maps", "in training", "step of it"};
  std::map<std::string, Spread> any, each;
  for (const Variant& variant : recipe.variants) {
    HEADROOM_TRY(any[variant.name], measured(study, name, variant.name, largest_logit()));
    HEADROOM_TRY(each[variant.name], measured(study, name, variant.name, largest_logit_of_map()));
    HEADROOM_TRY(Peak peak, training_peak(study, recipe, variant));
    table.rows.push_back({variant.name, map_count(variant.model), any[variant.name], each[variant.name],
                          std::move(peak.value), std::move(peak.step)});
  }
  report.tables.push_back(std::move(table));
  const Variant& softmax = *find_variant(recipe, "softmax");
  for (const char* variant : {"diff_v1", "diff_v2"}) {
    const Start start = common_start(*find_variant(recipe, variant), softmax);
    const auto compare = [&](const Measure& measure, const std::map<std::string, Spread>& numbers) {
      report.sentences.push_back(smaller(name + ": " + measure.what, {variant, numbers.at(variant)},
                                         {"softmax", numbers.at("softmax")}, start));
    };
    compare(largest_logit(), any);
    compare(largest_logit_of_map(), each);
  }
  return {};
}

}  // namespace

Result<ClaimReport> examine_logits(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 5;
  report.title = "The largest qk-logits";
  report.claim = "Differential attention has smaller outliers among its logits than softmax attention.";
  for (const char* recipe : {"backcopy", "bytes"}) HEADROOM_TRY_VOID(examine_logits_of(study, recipe, report));
  report.remarks =
      "V2 has twice as many maps as softmax, and the largest of more numbers is larger: hence both, the largest of any map and the "
      "mean over maps of each one's largest. V1 has half as many heads with two maps each.";
  return report;
}

}  // namespace headroom
