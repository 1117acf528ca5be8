#include "app/cli/head_tables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/run/premise.h"

namespace headroom {
namespace {

constexpr double kSinkThreshold = 0.3;  // ε of Gu et al., arXiv 2410.10781
constexpr std::size_t kShownHeads = 5;

bool has_map(const SummaryTable& table, const HeadPlace& place, std::size_t map) {
  return table.at("kv_head", place.layer_index, place.head_index, map) >= 0.0;
}

bool any_with_both_maps(const SummaryTable& table) {
  return std::ranges::any_of(places(table), [&](const HeadPlace& place) { return has_both_maps(table, place); });
}

// Whether NaN or infinities reach the weights of a head: then they reach its largest logit too.
bool is_not_finite(const SummaryTable& table, const HeadPlace& place) {
  return !std::isfinite(component(table, "logit_max", place));
}

template <typename Value>
std::vector<HeadPlace> largest(const std::vector<HeadPlace>& all, const Value& value) {
  std::vector<HeadPlace> order;
  for (const HeadPlace& place : all)
    if (!std::isnan(value(place))) order.push_back(place);
  std::ranges::stable_sort(order, [&](const HeadPlace& a, const HeadPlace& b) { return value(a) > value(b); });
  order.resize(std::min(order.size(), kShownHeads));
  return order;
}

// Uniform causal attention is nothing to compare with where the keys are not the rows' own.
std::string null_text(double sink_null) {
  if (std::isnan(sink_null)) return "";
  return format("; uniform attention gives %.3f", sink_null);
}

std::string share_text(double value, int width, const char* otherwise) {
  return std::isnan(value) ? format("%*s", width, otherwise) : format("%*.3f", width, value);
}

}  // namespace

std::string HeadPlace::name() const {
  return format("L%lld.H%lld", static_cast<long long>(layer), static_cast<long long>(head));
}

std::vector<HeadPlace> places(const SummaryTable& table) {
  std::vector<HeadPlace> all;
  for (std::size_t l = 0; l < table.layers.size(); ++l)
    for (std::size_t h = 0; h < table.heads.size(); ++h) all.push_back({l, h, table.layers[l], table.heads[h]});
  return all;
}

std::vector<HeadPlace> map_places(const SummaryTable& table) {
  std::vector<HeadPlace> all;
  for (HeadPlace place : places(table))
    for (place.map = 0; place.map < 2; ++place.map) all.push_back(place);
  return all;
}

bool has_both_maps(const SummaryTable& table, const HeadPlace& place) {
  return has_map(table, place, 0) && has_map(table, place, 1);
}

double component(const SummaryTable& table, std::string_view name, const HeadPlace& place) {
  return table.at(name, place.layer_index, place.head_index, has_map(table, place, 0) ? 0 : 1);
}

std::int64_t count_sinks(const SummaryTable& table, std::int64_t& heads) {
  std::int64_t sinks = 0;
  heads = 0;
  for (const HeadPlace& place : places(table)) {
    const double score = component(table, "sink_score", place);
    if (std::isnan(score)) continue;
    ++heads;
    if (score > kSinkThreshold) ++sinks;
  }
  return sinks;
}

BoundShares bound_shares(const SummaryTable& table, std::size_t bound) {
  BoundShares sum;
  double heads = 0.0;
  for (const HeadPlace& p : places(table)) {
    const double inside = table.at("rows_inside_bound", p.layer_index, p.head_index, bound);
    if (std::isnan(inside)) continue;
    sum.below += table.at("rows_below_bound", p.layer_index, p.head_index, bound);
    sum.inside += inside;
    sum.above += table.at("rows_above_bound", p.layer_index, p.head_index, bound);
    heads += 1.0;
  }
  if (heads == 0.0) return {kNaN, kNaN, kNaN};
  return {sum.below / heads, sum.inside / heads, sum.above / heads};
}

std::string sink_lines(const SummaryTable& table, double sink_null) {
  const std::vector<HeadPlace> all = places(table);
  const auto not_finite = std::ranges::count_if(all, [&](const HeadPlace& p) { return is_not_finite(table, p); });
  std::int64_t heads = 0;
  const std::int64_t sinks = count_sinks(table, heads);
  std::string text = "\nSinks: key 0 is hidden from every head; the keys that receive most in its place";
  if (heads > 0)
    text = format("\nSinks: %lld of %lld heads (%.1f %%) give key 0 more than %.1f of their attention",
                  static_cast<long long>(sinks), static_cast<long long>(heads),
                  100.0 * static_cast<double>(sinks) / static_cast<double>(heads), kSinkThreshold) +
           null_text(sink_null);
  else if (not_finite == std::ssize(all))
    return "\nSinks: the weights of every head are NaN\n";
  if (not_finite > 0) text += format("; %lld more heads are NaN", static_cast<long long>(not_finite));
  const bool differential = any_with_both_maps(table);
  text += differential ? "\n  head        first map  second map       net   top key   its score\n"
                       : "\n  head       sink score       net   top key   its score\n";
  const char* order = heads == 0 ? "top_sink_score" : "sink_score";
  for (const HeadPlace& p : largest(all, [&](const HeadPlace& place) { return component(table, order, place); })) {
    const char* missing = heads == 0 ? "hidden" : "NaN";
    text += format("  %-10s ", p.name().c_str()) + share_text(component(table, "sink_score", p), 10, missing);
    if (differential)
      text += share_text(table.at("sink_score", p.layer_index, p.head_index, 1), 12,
                         has_map(table, p, 1) ? missing : "none");
    text += share_text(table.at("sink_score_net", p.layer_index, p.head_index), 10, missing);
    const double top = component(table, "top_sink_score", p);
    text += (std::isnan(top) ? format("  %8s", "none") : format("  %8.0f", component(table, "top_sink_position", p))) +
            share_text(top, 12, "NaN") + "\n";
  }
  return text;
}

std::string logit_lines(const SummaryTable& table) {
  const auto value = [&](const char* name, const HeadPlace& p) {
    return table.at(name, p.layer_index, p.head_index, p.map);
  };
  const auto width = [&](const HeadPlace& p) { return value("logit_max", p) - value("logit_min", p); };
  const bool differential = any_with_both_maps(table);
  const std::vector<HeadPlace> widest = largest(map_places(table), width);
  if (widest.empty()) return "";
  std::string text = "\nWidest qk-logits (scaled, visible)\n  head      ";
  text += differential ? " map           max       min     range   effective keys\n"
                       : "        max       min     range   effective keys\n";
  for (const HeadPlace& p : widest) {
    text += format("  %-10s ", p.name().c_str());
    if (differential) text += p.map == 0 ? "first  " : "second ";
    text += format("%10.1f  %8.1f  %8.1f  %15.2f\n", value("logit_max", p), value("logit_min", p), width(p),
                   value("effective_keys_mean", p));
  }
  return text;
}

std::string bound_lines(const SummaryTable& table, std::int64_t min_row) {
  static constexpr const char* kNames[] = {"softmax [1/√n, 1)", "diff_v2 (0, √2)", "the head's own"};
  std::string text = format("\nContext RMS ρ over all heads and rows with n ≥ %lld      below    inside     above\n",
                            static_cast<long long>(min_row));
  for (std::size_t b = 0; b < 3; ++b) {
    const BoundShares shares = bound_shares(table, b);
    if (std::isnan(shares.inside)) return "\nContext RMS ρ: no row of any head is finite\n";
    // printf pads bytes, so that the column is filled by hand after a name with √.
    const int symbols = b < 2 ? static_cast<int>(std::string_view(kNames[b]).size()) - 2 : 14;
    text += "  " + std::string(kNames[b]) + std::string(static_cast<std::size_t>(49 - symbols), ' ');
    text += format("%6.1f %%  %6.1f %%  %6.1f %%\n", 100.0 * shares.below, 100.0 * shares.inside, 100.0 * shares.above);
  }
  return text;
}

std::string premise_lines(const SummaryTable& table) {
  const RunPremise premises(table);
  if (premises.tests() == 0) return "";
  std::int64_t counts[3] = {};
  std::vector<double> values;
  for (const HeadPlace& place : places(table)) {
    const HeadPremise one = premises.of(table.layers[place.layer_index], table.heads[place.head_index]);
    if (std::isnan(one.p)) continue;
    values.push_back(one.count);
    if (one.verdict == PremiseVerdict::CommonMean) ++counts[0];
    if (one.verdict == PremiseVerdict::Aligned) ++counts[1];
    if (one.verdict == PremiseVerdict::Cancelling) ++counts[2];
  }
  const std::int64_t refuted = counts[0] + counts[1] + counts[2];
  return format(
      "\nPremise of the interval: refuted in %lld of %lld heads (values with one common vector %lld, aligned "
      "beyond it %lld, cancelling %lld; 999 draws of signs over this text, 5 %% by Benjamini and Hochberg)\n"
      "  in uniform attention the values count as %.3g uncorrelated ones (median head)\n",
      static_cast<long long>(refuted), static_cast<long long>(premises.tests()), static_cast<long long>(counts[0]),
      static_cast<long long>(counts[1]), static_cast<long long>(counts[2]), quantiles(values, {0.5}).front());
}

std::string differential_lines(const SummaryTable& table) {
  double lambda = 0.0, weight = 0.0, output = 0.0, heads = 0.0;
  for (const HeadPlace& p : places(table)) {
    const auto value = [&](const char* name) { return table.at(name, p.layer_index, p.head_index); };
    const double of_head[] = {value("weight_cancellation_mean"), value("lambda_mean"),
                              value("output_cancellation_mean")};
    if (!std::isfinite(of_head[0] + of_head[1] + of_head[2])) continue;
    weight += of_head[0];
    lambda += of_head[1];
    output += of_head[2];
    heads += 1.0;
  }
  if (heads == 0.0) return "";
  return format(
      "\nDifferential heads: mean λ %.3f, weight cancellation %.3f, output cancellation %.3f (1 = disjoint maps)\n",
      lambda / heads, weight / heads, output / heads);
}

}  // namespace headroom
