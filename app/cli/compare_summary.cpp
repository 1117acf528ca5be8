#include "app/cli/compare_summary.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "app/cli/head_tables.h"
#include "core/base/format.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

struct Shown {
  const char* name;  // of the dataset
  const char* title;
  int decimals;
};
constexpr std::array<Shown, 12> kChanges = {{{"sink_score", "sink score α₀", 4},
                                             {"entropy_normalized_mean", "entropy / ln n", 4},
                                             {"effective_keys_mean", "effective keys", 2},
                                             {"weight_l2_mean", "‖w‖₂", 4},
                                             {"context_rms_mean", "context RMS, raw", 4},
                                             {"context_rms_relative_mean", "context RMS ρ", 4},
                                             {"coherence_mean", "coherence κ", 4},
                                             {"mean_distance", "mean distance", 2},
                                             {"previous_token_score", "previous token", 4},
                                             {"induction_score", "induction", 4},
                                             {"lambda_mean", "λ", 4},
                                             {"logit_max", "largest logit", 2}}};

struct Change {
  double a = 0.0, b = 0.0;  // means over the heads below
  std::int64_t heads = 0, rose = 0;
  double largest = 0.0;  // b − a of one head, by magnitude
  std::string where;
};

bool same_heads(const RunOverview& a, const RunOverview& b) {
  return a.table.layers == b.table.layers && a.table.heads == b.table.heads;
}

// Over the heads of which both runs have the number.
std::optional<Change> change_of(const RunOverview& a, const RunOverview& b, std::string_view name) {
  if (!same_heads(a, b) || !a.table.values.contains(name) || !b.table.values.contains(name)) return {};
  Change change;
  for (const HeadPlace& place : places(a.table)) {
    const double from = component(a.table, name, place), to = component(b.table, name, place);
    if (!std::isfinite(from) || !std::isfinite(to)) continue;
    ++change.heads;
    change.a += from;
    change.b += to;
    if (to > from) ++change.rose;
    if (change.where.empty() || std::abs(to - from) > std::abs(change.largest)) {
      change.largest = to - from;
      change.where = place.name();
    }
  }
  if (change.heads == 0) return {};
  change.a /= static_cast<double>(change.heads);
  change.b /= static_cast<double>(change.heads);
  return change;
}

double loss_of(const RunOverview& run) {
  const std::string text = run.attribute("next_token_loss");
  double loss = kNaN;
  std::from_chars(text.data(), text.data() + text.size(), loss);
  return loss;
}

std::string signed_number(double value, int decimals) {
  const std::string text = format("%+.*f", decimals, value);
  return text.find_first_of("123456789") == std::string::npos ? text.substr(1) : text;  // neither +0 nor −0
}

// Columns end at the same place, whatever bytes their letters take.
std::string padded(const std::string& text, std::size_t width, bool left = false) {
  std::size_t letters = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++letters;
  const std::string blanks(letters < width ? width - letters : 0, ' ');
  return left ? text + blanks : blanks + text;
}

std::string line(const std::string& title, const std::string& a, const std::string& b, const std::string& change,
                 const std::string& heads) {
  return "  " + padded(title, 18, true) + padded(a, 10) + padded(b, 10) + padded(change, 10) +
         (heads.empty() ? "" : "   " + heads) + "\n";
}

}  // namespace

std::string change_lines(const RunOverview& a, const RunOverview& b) {
  std::string text;
  const double loss_a = loss_of(a), loss_b = loss_of(b);
  if (std::isfinite(loss_a) && std::isfinite(loss_b))
    text += line("next-token loss", format("%.4f", loss_a), format("%.4f", loss_b), signed_number(loss_b - loss_a, 4),
                 "nats");
  std::int64_t heads_a = 0, heads_b = 0;
  const std::int64_t sinks_a = count_sinks(a.table, heads_a), sinks_b = count_sinks(b.table, heads_b);
  if (heads_a > 0 && heads_b > 0)
    text += line("sink heads", std::to_string(sinks_a), std::to_string(sinks_b),
                 signed_number(static_cast<double>(sinks_b - sinks_a), 0),
                 heads_a == heads_b ? format("of %lld with α₀ > 0.3", static_cast<long long>(heads_a))
                                    : format("of %lld and of %lld with α₀ > 0.3", static_cast<long long>(heads_a),
                                             static_cast<long long>(heads_b)));
  for (const Shown& shown : kChanges)
    if (const auto change = change_of(a, b, shown.name))
      text += line(
          shown.title, format("%.*f", shown.decimals, change->a), format("%.*f", shown.decimals, change->b),
          signed_number(change->b - change->a, shown.decimals),
          format("%lld of %lld rose", static_cast<long long>(change->rose), static_cast<long long>(change->heads)) +
              (change->largest == 0.0
                   ? std::string()
                   : ", most " + signed_number(change->largest, shown.decimals) + " in " + change->where));
  if (text.empty()) return text;
  const char* what = same_heads(a, b) ? "means over heads" : "their layers or heads differ: no means over heads";
  return line(what, "a", "b", "b − a", "") + text + "\n";
}

nlohmann::ordered_json change_json(const RunOverview& a, const RunOverview& b) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  const double loss_a = loss_of(a), loss_b = loss_of(b);
  std::int64_t heads_a = 0, heads_b = 0;
  const std::int64_t sinks_a = count_sinks(a.table, heads_a), sinks_b = count_sinks(b.table, heads_b);
  nlohmann::ordered_json means = nlohmann::ordered_json::object();
  for (const Shown& shown : kChanges)
    if (const auto change = change_of(a, b, shown.name))
      means[shown.name] = {{"a", change->a},
                           {"b", change->b},
                           {"change", change->b - change->a},
                           {"heads", change->heads},
                           {"rose", change->rose},
                           {"largest", change->largest},
                           {"largest_at", change->where}};
  return {{"next_token_loss", {{"a", number(loss_a)}, {"b", number(loss_b)}, {"change", number(loss_b - loss_a)}}},
          {"sink_heads", {{"a", sinks_a}, {"b", sinks_b}, {"of_a", heads_a}, {"of_b", heads_b}}},
          {"means", means}};
}

}  // namespace headroom
