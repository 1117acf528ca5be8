// Claim 9: what DIFF V2's authors promise above all: V2 beside softmax in loss, spikes and activation outliers.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/reproduce/claims.h"
#include "core/reproduce/measures.h"

namespace headroom {
namespace {

const std::vector<const Measure*>& headline_measures() {
  static const std::vector<const Measure*> measures = {&validation_loss(),   &loss_spikes(),      &gradient_spikes(),
                                                       &residual_kurtosis(), &residual_outlier(), &largest_logit()};
  return measures;
}

// Where V2 and softmax are compared: the mean over these points of the two, for each seed.
struct Place {
  std::string name;
  const Recipe* recipe;
  std::vector<const Variant*> softmax, v2;
};

double parameters_of(const ModelSpec& model) {
  double sum = 0.0;
  for_each_weight(model, [&](const WeightRef& weight, std::string_view, std::int64_t) {
    sum += static_cast<double>(weight.rows() * weight.columns());
  });
  return sum;
}

Result<void> add_rows_of(Study& study, const Place& place, ClaimTable& table) {
  for (const auto& [name, points] : {std::pair{"softmax", &place.softmax}, std::pair{"diff_v2", &place.v2}}) {
    std::vector<Cell> row = {place.name, std::string(name), format("%.0f", parameters_of(points->front()->model))};
    for (const Measure* measure : headline_measures()) {
      HEADROOM_TRY(Spread numbers, measured_over(study, *place.recipe, *points, *measure));
      row.emplace_back(std::move(numbers));
    }
    table.rows.push_back(std::move(row));
  }
  return {};
}

Result<void> compare(Study& study, const Place& place, ClaimReport& report) {
  const Start start = common_start(*place.v2.front(), *place.softmax.front());
  for (const Measure* measure : headline_measures()) {
    HEADROOM_TRY(const Spread v2, measured_over(study, *place.recipe, place.v2, *measure));
    HEADROOM_TRY(const Spread softmax, measured_over(study, *place.recipe, place.softmax, *measure));
    report.sentences.push_back(
        smaller(place.name + ": " + measure->what, {"diff_v2", v2}, {"softmax", softmax}, start));
  }
  return {};
}

}  // namespace

Result<ClaimReport> examine_headline(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 9;
  report.title = "DIFF V2 beside softmax";
  report.claim =
      "DIFF V2 has a lower loss than a Transformer of as many parameters, fewer loss and gradient spikes, above all at large learning "
      "rates, and smaller activation outliers.";
  const auto all = [](const Variant&) { return true; };
  const auto place_of = [&](const std::string& name, const Recipe& recipe, const auto& chosen) {
    return Place{name, &recipe, swept_variants(recipe, "softmax", chosen), swept_variants(recipe, "diff_v2", chosen)};
  };
  const Recipe& sweep = study.recipe("bytes_sweep");
  const double usual = study.recipe("bytes").variants.front().training.learning_rate;
  ClaimTable table;
  table.caption =
      "Mean ± standard deviation over seeds; at large learning rates: of the mean over all points of the sweep above the recipe's own "
      "rate, clipped and not";
  table.columns = {"models", "heads", "parameters"};
  for (const Measure* measure : headline_measures()) table.columns.emplace_back(measure->column);
  for (const Place& place :
       {place_of("bytes", study.recipe("bytes"), all), place_of("backcopy", study.recipe("backcopy"), all),
        place_of("bytes at large learning rates", sweep,
                 [&](const Variant& variant) { return variant.training.learning_rate > usual; })}) {
    if (place.softmax.empty() || place.v2.empty()) continue;  // a sweep without larger rates
    HEADROOM_TRY_VOID(add_rows_of(study, place, table));
    HEADROOM_TRY_VOID(compare(study, place, report));
  }
  report.tables.push_back(std::move(table));

  ClaimTable points;
  points.caption = "The points of the sweep one by one";
  points.columns = {"learning rate", "clip", "heads", "parameters"};
  points.columns.insert(points.columns.end(), report.tables.front().columns.begin() + 3,
                        report.tables.front().columns.end());
  for (const Variant& variant : sweep.variants) {
    if (variant.base != "softmax") continue;
    const auto same_point = [&](const Variant& other) { return other.swept == variant.swept; };
    ClaimTable rows;
    HEADROOM_TRY_VOID(add_rows_of(study, place_of("", sweep, same_point), rows));
    for (std::vector<Cell>& row : rows.rows) {
      row.front() = format("%g", variant.training.learning_rate);
      row.insert(row.begin() + 1, Cell(format("%g", variant.training.gradient_clip)));
      points.rows.push_back(std::move(row));
    }
  }
  report.tables.push_back(std::move(points));
  report.remarks =
      "Kurtosis (3 for a normal distribution; mean over layers) and the largest over the median activation (the layer with the most) are "
      "those of the residual stream after each block, before the final norm, on 64 sequences that no training has seen. Massive "
      "activations need longer trainings than these; their absence here says nothing about them.";
  return report;
}

}  // namespace headroom
