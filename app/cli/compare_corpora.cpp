#include "app/cli/compare_corpora.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

using nlohmann::ordered_json;

struct ShownChange {
  std::string_view name, title;
};
constexpr std::array<ShownChange, 12> kShownChanges = {{{"sink_score", "sink score α₀"},
                                                        {"sink_score_net", "sink score, net"},
                                                        {"entropy_mean", "entropy"},
                                                        {"effective_keys_mean", "effective keys"},
                                                        {"weight_l2_mean", "‖w‖₂"},
                                                        {"context_rms_mean", "context RMS, raw"},
                                                        {"context_rms_relative_mean", "context RMS ρ"},
                                                        {"energy_cancellation_mean", "cancelled energy"},
                                                        {"mean_distance", "mean distance"},
                                                        {"induction_score", "induction"},
                                                        {"lambda_mean", "λ"},
                                                        {"logit_max", "largest logit"}}};
constexpr std::size_t kMostMaps = 2;  // all of the above are of a head, or of its maps
constexpr double kLevelOfHeads = PairedChange::kLevel;

std::string number_or_dash(double value) { return std::isfinite(value) ? format("%.6g", value) : "–"; }
std::string signed_or_dash(double value) { return std::isfinite(value) ? format("%+.6g", value) : "–"; }

// "3.3209 → 3.2962: −0.0247 ± 0.0074, 95 % [−0.042, −0.007], p 0.013; 0.024 would be seen".
std::string change_text(const PairedChange& change) {
  if (of(change.change, Statistic::Count) == 0.0) return "no sequence has it in both";
  std::string text = number_or_dash(change.mean_a) + " → " + number_or_dash(change.mean_b) + ": " +
                     signed_or_dash(of(change.change, Statistic::Mean));
  const std::string alone =
      change.in_one > 0 ? format("; in one file alone: %lld", static_cast<long long>(change.in_one)) : "";
  const double error = of(change.change, Statistic::StandardError);
  if (!std::isfinite(error)) return text + alone;
  text += format(" ± %.3g, 95 %% [%+.3g, %+.3g]", error, of(change.change, Statistic::CiLow),
                 of(change.change, Statistic::CiHigh));
  if (std::isfinite(change.p)) text += format(", p %.2g; %.3g would be seen", change.p, change.detectable);
  return text + alone;
}

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return kNaN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// One line for each map of the quantity.
std::string quantity_lines(const PairedCorpora& paired, const PairedQuantity& quantity, std::string_view title) {
  const auto heads = static_cast<std::size_t>(quantity.shape[0] * quantity.shape[1]);
  const std::size_t places = quantity.over_heads.size();
  std::string text;
  for (std::size_t place = 0; place < places; ++place) {
    const PairedChange& mean = quantity.over_heads[place];
    if (of(mean.change, Statistic::Count) == 0.0) continue;
    std::size_t tested = 0, rose = 0, fell = 0, largest = heads;
    std::vector<double> seen;
    for (std::size_t h = 0; h < heads; ++h) {
      const PairedChange& change = quantity.changes[h * places + place];
      const double by = of(change.change, Statistic::Mean);
      if (std::isfinite(change.q)) ++tested;
      if (change.q <= kLevelOfHeads) ++(by > 0.0 ? rose : fell);
      seen.push_back(change.detectable);
      if (std::isfinite(by) &&
          (largest == heads ||
           std::abs(by) > std::abs(of(quantity.changes[largest * places + place].change, Statistic::Mean))))
        largest = h;
    }
    std::string name(title);
    if (places == 2) name += place == 0 ? ", first map" : ", second map";
    text += name + "\n  mean of heads  " + change_text(mean) + "\n  ";
    text += format("heads          %zu rose, %zu fell of %zu that vary (q ≤ %g); %s would be seen in the median head",
                   rose, fell, tested, kLevelOfHeads, number_or_dash(median_of(std::move(seen))).c_str());
    if (largest < heads) {
      const auto per_layer = static_cast<std::size_t>(quantity.shape[1]);
      const PairedChange& change = quantity.changes[largest * places + place];
      text += format("\n  largest        L%lld.H%lld  ", static_cast<long long>(paired.layers[largest / per_layer]),
                     static_cast<long long>(paired.heads[largest % per_layer])) +
              change_text(change) + format(", q %.2g", change.q);
    }
    text += "\n";
  }
  return text;
}

// A statistic of each change.
template <typename Value>
ordered_json array_of(std::span<const PairedChange> changes, const Value& value) {
  ordered_json list = ordered_json::array();
  for (const PairedChange& change : changes) {
    const double number = value(change);
    list.push_back(std::isfinite(number) ? ordered_json(number) : ordered_json());
  }
  return list;
}

ordered_json changes_json(std::span<const PairedChange> changes) {
  ordered_json object;
  object["mean_a"] = array_of(changes, [](const PairedChange& c) { return c.mean_a; });
  object["mean_b"] = array_of(changes, [](const PairedChange& c) { return c.mean_b; });
  for (std::size_t i = 0; i < kStatistics; ++i)
    object[statistic_names()[i]] = array_of(changes, [i](const PairedChange& c) { return c.change[i]; });
  object["p"] = array_of(changes, [](const PairedChange& c) { return c.p; });
  object["q"] = array_of(changes, [](const PairedChange& c) { return c.q; });
  object["in_one"] = array_of(changes, [](const PairedChange& c) { return static_cast<double>(c.in_one); });
  object["detectable"] = array_of(changes, [](const PairedChange& c) { return c.detectable; });
  return object;
}

}  // namespace

std::string paired_text(const PairedCorpora& paired) {
  std::string text = format("%lld sequences of %lld documents in both", static_cast<long long>(paired.sequences),
                            static_cast<long long>(paired.documents));
  if (paired.sequences_a != paired.sequences || paired.sequences_b != paired.sequences)
    text += format(" (A has %lld, B %lld)", static_cast<long long>(paired.sequences_a),
                   static_cast<long long>(paired.sequences_b));
  text += paired.documents < 2 ? "; one document: no interval\n"
                               : "; changes are of B from A, ± a standard error with documents as clusters, and what "
                                 "would be seen is so in 80 of 100 cases at a level of 0.05\n";
  for (const PairedCorpora::Difference& difference : paired.settings)
    text += "other " + difference.name + "\n  A " + escape_for_terminal(difference.a) + "\n  B " +
            escape_for_terminal(difference.b) + "\n";
  for (const PairedQuantity& quantity : paired.quantities) {
    if (quantity.name == "next_token_loss")
      text += "next-token loss, nats\n  " + change_text(quantity.changes.front()) + "\n";
    if (quantity.name == "sink_rate")
      for (std::size_t e = 0; e < paired.epsilons.size(); ++e)
        text += format("share of heads that are sinks above %g, first map\n  ", paired.epsilons[e]) +
                change_text(quantity.changes[3 * e]) + "\n";
  }
  for (const ShownChange& shown : kShownChanges)
    for (const PairedQuantity& quantity : paired.quantities)
      if (quantity.name == shown.name && quantity.by_head() && quantity.over_heads.size() <= kMostMaps)
        text += quantity_lines(paired, quantity, shown.title);
  for (const std::string& why : paired.left_out) text += "not compared: " + escape_for_terminal(why) + "\n";
  return text;
}

ordered_json paired_json(const PairedCorpora& paired) {
  ordered_json result;
  result["kind"] = "paired corpora";
  result["equal"] = paired.equal();
  result["sequences"] = paired.sequences;
  result["documents"] = paired.documents;
  result["level"] = PairedChange::kLevel;
  result["power"] = PairedChange::kPower;
  result["layers"] = paired.layers;
  result["heads"] = paired.heads;
  result["epsilon"] = paired.epsilons;
  result["settings"] = ordered_json::array();
  for (const PairedCorpora::Difference& difference : paired.settings)
    result["settings"].push_back({{"name", difference.name}, {"a", difference.a}, {"b", difference.b}});
  result["left_out"] = paired.left_out;
  result["quantities"] = ordered_json::array();
  for (const PairedQuantity& quantity : paired.quantities) {
    ordered_json one = {{"name", quantity.name}, {"axes", quantity.axes}, {"shape", quantity.shape}};
    one.update(changes_json(quantity.changes));
    if (!quantity.over_heads.empty()) one["over_heads"] = changes_json(quantity.over_heads);
    result["quantities"].push_back(std::move(one));
  }
  return result;
}

}  // namespace headroom
