#include "core/run/premise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
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
  for (const std::int64_t number : run.layers) {
    const LayerSnapshot* layer = run.layer(number);
    if (!layer) continue;
    for (const std::int64_t head : layer->heads) {
      const auto value = [&](const char* name, std::size_t index) {
        const std::span<const double> values = layer->values(name, head);
        return index < values.size() ? values[index] : kNaN;
      };
      add(number, head, value, most_visible(*layer, head), layer->context_dim);
    }
  }
  judge();
}

RunPremise::RunPremise(const SummaryTable& table) {
  for (std::size_t l = 0; l < table.layers.size(); ++l)
    for (std::size_t h = 0; h < table.heads.size(); ++h) {
      const auto value = [&](const char* name, std::size_t index) { return table.at(name, l, h, index); };
      add(table.layers[l], table.heads[h], value, kNaN, 0);
    }
  judge();
}

void RunPremise::add(std::int64_t layer, std::int64_t head, const Value& value, double visible, std::int64_t channels) {
  HeadPremise& premise = heads_[{layer, head}];
  const double share = value("value_mean_share", 0);
  premise.visible = visible;
  premise.count = 1.0 / share;
  premise.uniform = std::sqrt(share);
  premise.product = share * visible;
  premise.limit = premise_limit(std::max<std::int64_t>(channels, 1));
  if (std::isfinite(premise.product))
    premise.verdict = premise.product <= premise.limit ? PremiseVerdict::Unopposed : PremiseVerdict::Common;
  if (std::isnan(value("sign_p", 0))) return;
  premise.coherence = value("sign_coherence", 0);
  premise.low = value("sign_coherence_interval", 0);
  premise.high = value("sign_coherence_interval", 1);
  premise.p = two_sided(value("sign_p", 0), value("sign_p", 1));
  centred_p_[{layer, head}] = value("sign_p", 2);
}

void RunPremise::judge() {
  std::vector<double> p, centred;
  for (const auto& [head, of_rest] : centred_p_) {
    p.push_back(heads_[head].p);
    centred.push_back(of_rest);
  }
  tests_ = std::ssize(p);
  const std::vector<double> adjusted = benjamini_hochberg(p), still_aligned = benjamini_hochberg(centred);
  std::size_t i = 0;
  for (const auto& [head, of_rest] : centred_p_) {
    HeadPremise& premise = heads_[head];
    premise.adjusted = adjusted[i];
    if (!(premise.adjusted <= kPremiseLevel))
      premise.verdict = PremiseVerdict::NotRefuted;
    else if (premise.coherence < premise.low)
      premise.verdict = PremiseVerdict::Cancelling;
    else
      premise.verdict = still_aligned[i] <= kPremiseLevel ? PremiseVerdict::Aligned : PremiseVerdict::CommonMean;
    ++i;
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
