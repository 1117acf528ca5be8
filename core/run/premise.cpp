#include "core/run/premise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/many_tests.h"

namespace headroom {
namespace {

double two_sided(double aligned, double cancelling) { return std::min(1.0, 2.0 * std::min(aligned, cancelling)); }

double most_visible(const LayerSnapshot& layer, std::int64_t head) {
  const auto h = layer.visible.size() == 1 ? 0 : static_cast<std::size_t>(layer.head_index(head));
  if (h >= layer.visible.size() || layer.visible[h].empty()) return kNaN;
  return static_cast<double>(*std::ranges::max_element(layer.visible[h]));
}

}  // namespace

double premise_limit(std::int64_t channels) { return 1.0 + 4.0 * std::sqrt(2.0 / static_cast<double>(channels)); }

RunPremise::RunPremise(const RunSnapshot& run) {
  std::vector<HeadPremise*> tested;
  std::vector<double> p, centred;
  for (const std::int64_t number : run.layers) {
    const LayerSnapshot* layer = run.layer(number);
    if (!layer) continue;
    for (const std::int64_t head : layer->heads) {
      HeadPremise& premise = heads_[{number, head}];
      const auto value = [&](const char* name, std::size_t index = 0) {
        const std::span<const double> values = layer->values(name, head);
        return index < values.size() ? values[index] : kNaN;
      };
      const double share = value("value_mean_share");
      premise.visible = most_visible(*layer, head);
      premise.count = 1.0 / share;
      premise.uniform = std::sqrt(share);
      premise.product = share * premise.visible;
      premise.limit = premise_limit(std::max<std::int64_t>(layer->context_dim, 1));
      if (std::isfinite(premise.product))
        premise.verdict = premise.product <= premise.limit ? PremiseVerdict::Unopposed : PremiseVerdict::Common;
      if (std::isnan(value("sign_p"))) continue;
      premise.coherence = value("sign_coherence");
      premise.low = value("sign_coherence_interval", 0);
      premise.high = value("sign_coherence_interval", 1);
      premise.p = two_sided(value("sign_p", 0), value("sign_p", 1));
      premise.inside = 1.0 - value("sign_rows_below_bound") - value("sign_rows_above_bound");
      tested.push_back(&premise);
      p.push_back(premise.p);
      centred.push_back(value("sign_p", 2));
    }
  }
  tests_ = static_cast<std::int64_t>(tested.size());
  const std::vector<double> adjusted = benjamini_hochberg(p), still_aligned = benjamini_hochberg(centred);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    HeadPremise& premise = *tested[i];
    premise.adjusted = adjusted[i];
    if (!(premise.adjusted <= kPremiseLevel))
      premise.verdict = PremiseVerdict::NotRefuted;
    else if (premise.coherence < premise.low)
      premise.verdict = PremiseVerdict::Cancelling;
    else
      premise.verdict = still_aligned[i] <= kPremiseLevel ? PremiseVerdict::Aligned : PremiseVerdict::CommonMean;
  }
}

HeadPremise RunPremise::of(std::int64_t layer, std::int64_t head) const {
  const auto found = heads_.find({layer, head});
  return found == heads_.end() ? HeadPremise{} : found->second;
}

std::string premise_words(const HeadPremise& premise) {
  switch (premise.verdict) {
    case PremiseVerdict::Common: return "premise fails: values share a vector";
    case PremiseVerdict::Unopposed: return "no common vector in the values";
    case PremiseVerdict::NotRefuted: return "premise not refuted";
    case PremiseVerdict::CommonMean: return "premise fails: one common vector";
    case PremiseVerdict::Aligned: return "premise fails: aligned values";
    case PremiseVerdict::Cancelling: return "premise fails: cancelling values";
    case PremiseVerdict::Unknown: break;
  }
  return "";
}

}  // namespace headroom
