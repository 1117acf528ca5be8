#include "app/figures/premise_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "app/figures/head_series.h"
#include "app/figures/row_curve.h"
#include "core/base/number_text.h"

namespace headroom {

PremiseRows premise_rows(const LayerSnapshot& layer, std::int64_t head, const HeadSeries& series) {
  PremiseRows rows;
  const std::span<const float> uniform = layer.row_values("rows/uniform_rms_relative", head),
                               signs = layer.row_values("rows/sign_rms_relative", head);
  std::vector<std::pair<double, double>> line;
  for (std::size_t i = 0; i < std::min(uniform.size(), series.rows()); ++i)
    if (std::isfinite(uniform[i]) && uniform[i] > 0.0f)
      line.emplace_back(series.place[i], static_cast<double>(uniform[i]));
  std::ranges::stable_sort(line, {}, &std::pair<double, double>::first);
  for (const auto& [place, value] : line) rows.uniform.place.push_back(place), rows.uniform.value.push_back(value);
  const std::span<const float> lows = map_part(signs, 0, series.rows()), highs = map_part(signs, 1, series.rows());
  for (std::size_t i = 0; i < lows.size(); ++i)
    if (std::isfinite(lows[i]))
      rows.signs.push_back(
          {static_cast<std::int64_t>(i), series.place[i], static_cast<double>(lows[i]), static_cast<double>(highs[i])});
  const auto from = static_cast<double>(std::max<std::int64_t>(series.min_row, 1));
  if (lows.empty()) return rows;
  rows.low = row_medians(series, lows, from, series.by_position);
  rows.high = row_medians(series, highs, from, series.by_position);
  return rows;
}

std::string premise_sentence(const HeadPremise& premise, std::int64_t tests) {
  if (premise.verdict == PremiseVerdict::Unknown) return "";
  const std::string shared = " (*m*·*n* = " + short_text(premise.product) + ", uncorrelated values: 1, below " +
                             short_text(premise.limit) + ")";
  if (premise.verdict == PremiseVerdict::Common)
    return " The premise fails here: the values share a vector" + shared + ".";
  if (premise.verdict == PremiseVerdict::Unopposed)
    return " The values share no vector" + shared + "; whether they are uncorrelated was not tested.";
  const std::string of = std::to_string(tests) + (tests == 1 ? " head" : " heads, Benjamini–Hochberg"),
                    interval = short_text(premise.low) + " to " + short_text(premise.high);
  std::string text = " Blue: 5 to 95 % of *ρ*_{*i*} with random signs of the values, dotted: uniform attention.";
  const std::string signs = "ΣRMS²/Σ*q*² is " + short_text(premise.coherence) + ", with random signs " + interval +
                            " (95 % of 999 draws over this text; adjusted *p* = " + short_text(premise.adjusted) +
                            " among " + of + ")";
  if (premise.verdict == PremiseVerdict::NotRefuted)
    return text + " The premise is not refuted here: " + signs + "; what lies between could not have been seen.";
  text += " The premise fails here: " + signs;
  if (premise.verdict == PremiseVerdict::Cancelling) return text + "; the values cancel.";
  return text +
         (premise.verdict == PremiseVerdict::CommonMean ? "; their common mean is the reason"
                                                        : "; not only by their common mean") +
         ". Its values count as " + short_text(premise.count) +
         " uncorrelated ones: uniform attention has *ρ* = " + short_text(premise.uniform) + ".";
}

}  // namespace headroom
