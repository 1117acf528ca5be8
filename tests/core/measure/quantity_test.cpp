// The table of quantities: the datasets that run files have promised, every entry described, and its numbers those of
// the goldens (tests/support/attention_goldens.h) and of small cases worked out by hand.
#include "core/measure/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/core/measure/contract.h"
#include "tests/core/measure/dense_head.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// Layer, head and view together: a view refers to the other two.
struct Measured {
  DenseHead dense;
  LayerRecord layer;
  HeadRecord record;
  HeadView view;

  explicit Measured(DenseHead head, std::int64_t min_row = 1)
      : dense(std::move(head)),
        layer(dense_layer(dense)),
        record(dense_record(dense, layer, dense_program(dense))),
        view(layer, record, min_row) {}
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  // As the recorder asks: filled with what stands for "no value".
  [[nodiscard]] std::vector<double> values(std::string_view group, std::string_view name, std::size_t size) const {
    const Quantity* quantity = find_quantity(group, name);
    if (!quantity) throw std::runtime_error(std::string(name));
    const bool integer = quantity->type == ElementType::Int32 || quantity->type == ElementType::Int64;
    std::vector<double> out(size, integer ? -1.0 : std::nan(""));
    const kernels::StatisticsRequest request;
    quantity->compute({view, request}, out);
    return out;
  }
  [[nodiscard]] double number(std::string_view name) const { return values("", name, 1)[0]; }
};

double mean_of(const std::vector<double>& values, std::size_t count) {
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

// Printed with ten digits.
bool printed(double found, double wanted) {
  return std::abs(found - wanted) <= 6e-10 * std::max(1.0, std::abs(wanted));
}

}  // namespace

CATCH_TEST_CASE("quantities: exactly the per-head datasets that are promised, with their axes and types") {
  std::set<std::string> wanted;
  for (const ContractEntry& entry : contract({kContractDefault, kContractLarge, kContractMaps, kContractComponents,
                                              kContractRounding, kContractPremiseSummary, kContractPremiseRows})) {
    // Per head and of the table: not per layer, per key block, or an alignment between heads.
    if (entry.axes.size() < 2 || entry.axes[1] != "head" || entry.axes.back() == "head_other") continue;
    CATCH_INFO(entry.path);
    wanted.insert(entry.path);
    const std::size_t slash = entry.path.find('/');
    const std::string group = slash == std::string::npos ? "" : entry.path.substr(0, slash);
    const Quantity* quantity =
        find_quantity(group, slash == std::string::npos ? entry.path : entry.path.substr(slash + 1));
    CATCH_REQUIRE(quantity != nullptr);
    std::vector<std::string> axes = {"layer", "head"};
    axes.insert(axes.end(), quantity->axes.begin(), quantity->axes.end());
    CATCH_CHECK(axes == entry.axes);
    CATCH_CHECK(quantity->type == entry.type);
  }
  std::set<std::string> found;
  for (const Quantity& quantity : head_quantities()) {
    CATCH_INFO(path_of(quantity));
    CATCH_CHECK(found.insert(path_of(quantity)).second);
    CATCH_CHECK(wanted.contains(path_of(quantity)));
  }
  CATCH_CHECK(found.size() == wanted.size());
  CATCH_CHECK(find_quantity("", "no_such_quantity") == nullptr);
  CATCH_CHECK(find_quantity("rows", "sink_score") == nullptr);
}

CATCH_TEST_CASE("quantities: every entry has a unit, a name for people, a definition, a source and a computation") {
  for (const Quantity& quantity : head_quantities()) {
    CATCH_INFO(path_of(quantity));
    CATCH_CHECK((quantity.units == "1" || quantity.units == "nat" || quantity.units == "token"));
    CATCH_CHECK(quantity.long_name.size() > 0);
    CATCH_CHECK_FALSE(quantity.formula.empty());
    CATCH_CHECK_FALSE(quantity.range.empty());
    CATCH_CHECK_FALSE(quantity.sources.empty());
    CATCH_CHECK(quantity.compute != nullptr);
    CATCH_CHECK((quantity.rows == "" || quantity.rows == "all" || quantity.rows == "eligible"));
  }
  // Means are over eligible rows; sink_* and the extrema use all.
  for (const char* name :
       {"sink_score", "sink_score_net", "sink_score_absolute", "top_sink_score", "logit_max", "logit_min",
        "logit_abs_max", "logit_max_raw", "context_rms_min", "context_rms_max", "norm_gain_max"})
    CATCH_CHECK(find_quantity("", name)->rows == "all");
  for (const char* name :
       {"entropy_mean", "implicit_sink_mass", "context_rms_mean", "context_rms_quantile", "lambda_std",
        "rows_below_bound", "coherence_mean", "norm_gain_median", "previous_token_score"})
    CATCH_CHECK(find_quantity("", name)->rows == "eligible");
}

CATCH_TEST_CASE("quantities: the goldens, one map") {
  const Measured base(golden_head(false));
  CATCH_CHECK(printed(base.values("", "sink_score", 2)[0], 0.05741787484));
  CATCH_CHECK(printed(base.values("keys", "attention_received", 128)[5], 0.03917211268));
  CATCH_CHECK(printed(mean_of(base.values("rows", "lse", 128), 64), 4.048097068));
  CATCH_CHECK(printed(base.values("", "entropy_mean", 2)[0], 2.457590683));
  CATCH_CHECK(printed(mean_of(base.values("rows", "weight_l2_component", 128), 64), 0.4098266601));
  CATCH_CHECK(printed(base.number("weight_l2_mean"), 0.4098266601));
  CATCH_CHECK(printed(base.values("", "logit_max", 2)[0], 5.206552199));
  CATCH_CHECK(printed(base.values("", "logit_abs_max", 2)[0], 7.257406548));
  CATCH_CHECK(printed(base.number("context_rms_mean"), 0.2659052276));
  CATCH_CHECK(printed(base.number("coherence_mean"), 0.9191340180));
  CATCH_CHECK(std::abs(base.number("implicit_sink_mass")) < 1e-12);
}

CATCH_TEST_CASE("quantities: the goldens, V2") {
  const Measured pair(golden_head(true));
  CATCH_CHECK(printed(pair.values("", "sink_score", 2)[0], 0.05741787484));
  CATCH_CHECK(printed(pair.number("weight_l2_mean"), 0.3835799988));
  CATCH_CHECK(printed(pair.number("context_rms_mean"), 0.2699874775));
  CATCH_CHECK(printed(pair.number("coherence_mean"), 1.017887568));
  CATCH_CHECK(printed(pair.number("weight_l1_mean"), 0.9587514015));
  CATCH_CHECK(printed(pair.number("negative_mass_mean"), 0.2311418217));
  CATCH_CHECK(printed(mean_of(pair.values("rows", "weight_sum", 64), 64), 0.4964677582));
  CATCH_CHECK(printed(pair.number("implicit_sink_mass"), 1.0 - 0.4964677582));
  CATCH_CHECK(printed(pair.number("lambda_mean"), 1.0 - 0.4964677582));
  CATCH_CHECK(printed(pair.number("output_cancellation_mean"), 0.9091961792));
}

CATCH_TEST_CASE("quantities: an absent map, λ, norm or gate is NaN, and -1 in integers") {
  const Measured base(golden_head(false, 8));
  for (const char* name :
       {"sink_score", "top_sink_score", "logit_max", "entropy_mean", "effective_keys_mean", "self_score"}) {
    CATCH_INFO(name);
    const std::vector<double> values = base.values("", name, 2);
    CATCH_CHECK_FALSE(std::isnan(values[0]));
    CATCH_CHECK(std::isnan(values[1]));
  }
  CATCH_CHECK(base.values("", "kv_head", 2) == std::vector<double>{0.0, -1.0});
  CATCH_CHECK(base.values("", "top_sink_position", 2)[1] == -1.0);
  for (const char* name :
       {"lambda_mean", "lambda_std", "norm_gain_median", "norm_gain_max", "gate_mean", "weight_cancellation_mean",
        "energy_cancellation_mean", "output_cancellation_mean", "map_cosine_mean"}) {
    CATCH_INFO(name);
    CATCH_CHECK(std::isnan(base.number(name)));
  }
  // No token occurred before: nothing to average.
  CATCH_CHECK(std::isnan(base.values("", "induction_score", 2)[0]));
  for (const double value : base.values("rows", "lambda", 8)) CATCH_CHECK(std::isnan(value));
  // 8 of 16 ranks exist.
  const std::vector<double> ranks = base.values("", "top_key_position", 32);
  for (std::size_t r = 0; r < 32; ++r) CATCH_CHECK((ranks[r] == -1.0) == (r >= 8));
}

CATCH_TEST_CASE("quantities: three rows by hand") {
  // Zero queries: every visible key gets 1/n_i. One channel, values 3, 0, 3.
  DenseHead head;
  head.length = 3;
  head.dim = 1;
  head.maps = {{{0, 0, 0}, {1, 1, 1}}};
  head.value = {3, 0, 3};
  const Measured uniform(head);
  CATCH_CHECK(printed(uniform.values("", "sink_score", 2)[0], (1.0 + 1.0 / 2.0 + 1.0 / 3.0) / 3.0));
  const std::vector<double> received = uniform.values("keys", "attention_received", 6);
  CATCH_CHECK(printed(received[1], (1.0 / 2.0 + 1.0 / 3.0) / 2.0));
  CATCH_CHECK(printed(received[2], 1.0 / 3.0));
  CATCH_CHECK(uniform.values("", "top_sink_position", 2)[0] == 0.0);
  const std::vector<double> mass = uniform.values("", "top_key_mass", 10);
  CATCH_CHECK(printed(mass[0], (11.0 / 6.0) / 3.0));
  CATCH_CHECK(printed(mass[1], (11.0 / 6.0 + 5.0 / 6.0) / 3.0));
  CATCH_CHECK(printed(mass[2], 1.0));
  CATCH_CHECK(printed(uniform.values("", "entropy_mean", 2)[0], (std::log(2.0) + std::log(3.0)) / 3.0));
  CATCH_CHECK(printed(uniform.values("", "entropy_normalized_mean", 2)[0], 1.0));
  CATCH_CHECK(printed(uniform.values("", "effective_keys_mean", 2)[0], 2.0));
  CATCH_CHECK(printed(uniform.values("", "self_score", 2)[0], (1.0 + 1.0 / 2.0 + 1.0 / 3.0) / 3.0));
  CATCH_CHECK(printed(uniform.values("", "previous_token_score", 2)[0], (1.0 / 2.0 + 1.0 / 3.0) / 2.0));
  CATCH_CHECK(printed(uniform.values("", "mean_distance", 2)[0], (0.0 + 0.5 + 1.0) / 3.0));
  // c = 3, 1.5, 2 and r̄ = 3, √4.5, √6.
  const double rho[] = {1.0, 1.5 / std::sqrt(4.5), 2.0 / std::sqrt(6.0)};
  CATCH_CHECK(printed(uniform.number("context_rms_mean"), 6.5 / 3.0));
  CATCH_CHECK(printed(uniform.number("context_rms_min"), 1.5));
  CATCH_CHECK(printed(uniform.number("context_rms_max"), 3.0));
  CATCH_CHECK(printed(uniform.values("", "context_rms_quantile", 11)[5], 2.0));
  CATCH_CHECK(printed(uniform.number("context_rms_relative_mean"), (rho[0] + rho[1] + rho[2]) / 3.0));
  // κ = (9 + 2.25 + 4)/(9 + 9/4 + 18/9).
  CATCH_CHECK(printed(uniform.number("coherence_mean"), 15.25 / 13.25));
  // ρ = 1 on its bound, 0.7071 on 1/√2 up to rounding, 0.816 above 1/√3.
  CATCH_CHECK(printed(uniform.values("", "rows_above_bound", 3)[0], 0.0));
}

CATCH_TEST_CASE("quantities: under a window, keys are judged by the rows that can see them") {
  const DenseHead head = golden_head(false, 12);
  LayerRecord layer = dense_layer(head);
  layer.window = 4;
  const HeadRecord record = dense_record(head, layer, dense_program(head));
  const HeadView view(layer, record, 1);
  const kernels::StatisticsRequest request;
  const auto values = [&](std::string_view group, std::string_view name, std::size_t size) {
    std::vector<double> out(size, std::nan(""));
    find_quantity(group, name)->compute({view, request}, out);
    return out;
  };
  // Rows 0 … 3 see key 0, rows k … k + 3 key k, and only one row the last key.
  const std::vector<double>& first = record.statistics.maps[0].first_key_weight;
  const double score = (first[0] + first[1] + first[2] + first[3]) / 4.0;
  CATCH_CHECK(printed(values("", "sink_score", 2)[0], score));
  CATCH_CHECK(printed(values("", "sink_score_net", 1)[0], score));
  CATCH_CHECK(printed(values("", "sink_score_absolute", 1)[0], score));
  const std::vector<double> received = values("keys", "attention_received", 24);
  CATCH_CHECK(printed(received[0], score));
  CATCH_CHECK(printed(received[5], record.statistics.maps[0].column_sum[5] / 4.0));
  CATCH_CHECK(printed(received[11], record.statistics.maps[0].column_sum[11]));
  CATCH_CHECK(values("rows", "first_key_weight", 24)[4] == 0.0);
}

CATCH_TEST_CASE("quantities: shares of rows below, inside and above their intervals") {
  DenseHead head = golden_head(false, 5);
  Measured measured(head);
  // r̄ = 1 everywhere: ρ is what is put here. Softmax intervals: [1, 1], [.707, 1), [.577, 1), [.5, 1), [.447, 1).
  HeadRecord record = measured.record;
  record.value_mean_square.assign(5, 1.0);
  record.context_rms = {1.0, 0.7, 0.6, 1.0, 1.5};
  record.statistics.maps[0].weight_sum.assign(5, 1.0);  // without the rounding of a sum
  const HeadView view(measured.layer, record, 1);
  const kernels::StatisticsRequest request;
  const auto shares = [&](const char* name) {
    std::vector<double> out(3, std::nan(""));
    find_quantity("", name)->compute({view, request}, out);
    return out;
  };
  // Order: softmax, diff_v2, variant.
  const std::vector<double> below = shares("rows_below_bound"), inside = shares("rows_inside_bound"),
                            above = shares("rows_above_bound");
  CATCH_CHECK(printed(below[0], 0.2));
  CATCH_CHECK(printed(inside[0], 0.4));
  CATCH_CHECK(printed(above[0], 0.4));
  CATCH_CHECK(printed(below[1], 0.0));
  CATCH_CHECK(printed(inside[1], 0.8));
  CATCH_CHECK(printed(above[1], 0.2));
  CATCH_CHECK(below[2] == below[0]);
  CATCH_CHECK(inside[2] == inside[0]);
  CATCH_CHECK(above[2] == above[0]);
}

CATCH_TEST_CASE("quantities: what a row that is not finite enters is NaN, and shares count the others") {
  const Measured measured(golden_head(false, 5));
  HeadRecord record = measured.record;
  kernels::MapStatistics& map = record.statistics.maps[0];
  record.value_mean_square = {1.0, 1.0, 1.0, 1.0, HUGE_VAL};
  record.context_rms = {1.0, std::nan(""), 0.7, 1.5, 0.5};
  map.weight_sum.assign(5, 1.0);
  map.column_sum[2] = std::nan("");
  map.logit_min[1] = std::nan("");
  const HeadView view(measured.layer, record, 1);
  const kernels::StatisticsRequest request;
  const auto values = [&](std::string_view group, std::string_view name, std::size_t size) {
    std::vector<double> out(size, -5.0);
    find_quantity(group, name)->compute({view, request}, out);
    return out;
  };
  // ρ of the rows that count is 1, 0.7 and 1.5; softmax intervals [1, 1], [.577, 1), [.5, 1).
  CATCH_CHECK(values("", "finite_rows", 1)[0] == 3.0);
  CATCH_CHECK(printed(values("", "rows_below_bound", 3)[0], 0.0));
  CATCH_CHECK(printed(values("", "rows_inside_bound", 3)[0], 2.0 / 3.0));
  CATCH_CHECK(printed(values("", "rows_above_bound", 3)[0], 1.0 / 3.0));
  for (const char* name : {"context_rms_mean", "context_rms_min", "context_rms_max", "context_rms_relative_mean"}) {
    CATCH_INFO(name);
    CATCH_CHECK(std::isnan(values("", name, 1)[0]));
  }
  for (const double value : values("", "context_rms_quantile", 11)) CATCH_CHECK(std::isnan(value));
  for (const char* name : {"top_sink_score", "logit_min", "logit_abs_max"}) {
    CATCH_INFO(name);
    CATCH_CHECK(std::isnan(values("", name, 2)[0]));
  }
  CATCH_CHECK(values("", "top_sink_position", 2)[0] == -1.0);
  CATCH_CHECK_FALSE(std::isnan(values("", "logit_max", 2)[0]));
  const std::vector<double> rho = values("rows", "context_rms_relative", 5);
  CATCH_CHECK(printed(rho[2], 0.7));
  CATCH_CHECK((std::isnan(rho[1]) && std::isnan(rho[4])));

  // Nothing is left to count.
  record.context_rms.assign(5, std::nan(""));
  const HeadView none(measured.layer, record, 1);
  std::vector<double> share(3), count(1);
  find_quantity("", "rows_inside_bound")->compute({none, request}, share);
  find_quantity("", "finite_rows")->compute({none, request}, count);
  CATCH_CHECK(std::isnan(share[0]));
  CATCH_CHECK(count[0] == 0.0);
}

CATCH_TEST_CASE("quantities: min_row leaves rows out of means and quantiles, not out of extrema and sinks") {
  const Measured all(golden_head(false, 32));
  const Measured late(golden_head(false, 32), 16);
  CATCH_CHECK(late.values("", "sink_score", 2)[0] == all.values("", "sink_score", 2)[0]);
  CATCH_CHECK(late.number("context_rms_min") == all.number("context_rms_min"));
  CATCH_CHECK(late.number("context_rms_max") == all.number("context_rms_max"));
  const std::vector<double> rms = all.values("rows", "context_rms", 32);
  double sum = 0.0;
  for (std::size_t i = 15; i < 32; ++i) sum += rms[i];
  CATCH_CHECK(printed(late.number("context_rms_mean"), sum / 17.0));
  const std::vector<double> quantile = late.values("", "context_rms_quantile", 11);
  CATCH_CHECK(quantile.front() == *std::min_element(rms.begin() + 15, rms.end()));
  CATCH_CHECK(quantile.back() == *std::max_element(rms.begin() + 15, rms.end()));
}

CATCH_TEST_CASE("quantities: a sink key takes its share and the histograms count every row") {
  DenseHead head = golden_head(true, 16);
  head.has_sink = true;
  head.sink = 0.0;
  const Measured measured(head);
  // 1 − Σw = 1 − s¹ + λs² with s the share that the sink leaves.
  const std::vector<double> mass = measured.values("rows", "implicit_sink_mass", 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const kernels::HeadStatistics& s = measured.record.statistics;
    const double left = 1.0 - 1.0 / std::exp(s.maps[0].lse[i]), right = 1.0 - 1.0 / std::exp(s.maps[1].lse[i]);
    CATCH_CHECK(printed(mass[i], 1.0 - left + head.lambda[i] * right));
  }
  CATCH_CHECK(measured.values("weights", "sink_logit", 1)[0] == 0.0);
  const std::vector<double> lambda = measured.values("hist", "lambda", static_cast<std::size_t>(lambda_bins().bins));
  CATCH_CHECK(std::accumulate(lambda.begin(), lambda.end(), 0.0) == 16.0);
  const auto bin = static_cast<std::size_t>((head.lambda[0] - lambda_bins().low) / lambda_bins().width);
  CATCH_CHECK(lambda[bin] >= 1.0);
  const std::vector<double> rho =
      measured.values("hist", "context_rms_relative", static_cast<std::size_t>(log10_rho_bins().bins));
  CATCH_CHECK(std::accumulate(rho.begin(), rho.end(), 0.0) == 16.0);
}

}  // namespace headroom::test
