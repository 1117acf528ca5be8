#include "core/training/training_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/utc.h"
#include "core/io/run_file_writer.h"
#include "core/measure/quantity.h"

namespace headroom {
namespace {

constexpr std::size_t kSpikeWindow = 100;
constexpr double kSpikeDeviations = 6.0;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2.0;
}

AxisDef axis_of(const std::string& name, const std::vector<double>& values, ElementType type,
                const std::string& long_name) {
  AxisDef axis;
  axis.name = name;
  axis.size = static_cast<std::int64_t>(values.size());
  axis.values = values;
  axis.type = type;
  axis.units = "1";
  axis.long_name = long_name;
  return axis;
}

std::vector<double> counting(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

class TrainingFile {
 public:
  TrainingFile(RunFileWriter& writer, const TrainingHistory& history) : writer_(writer), history_(history) {}

  Result<void> define_axes(const ModelSpec& model) {
    layers_ = static_cast<std::int64_t>(model.blocks.size());
    heads_ = model.num_heads;
    HEADROOM_TRY_VOID(writer_.add_axis(axis_of("step", counting(history_.loss.size()), ElementType::Int64,
                                               "optimizer step; its numbers are from before the step")));
    HEADROOM_TRY_VOID(writer_.add_axis(axis_of("validation_step", history_.validation_step, ElementType::Int64,
                                               "steps done when the model was validated")));
    HEADROOM_TRY_VOID(writer_.add_axis(axis_of("statistics_step", history_.statistics_step, ElementType::Int64,
                                               "steps done when the heads were measured")));
    HEADROOM_TRY_VOID(writer_.add_axis(
        axis_of("layer", counting(static_cast<std::size_t>(layers_)), ElementType::Int64, "layer, from 0")));
    HEADROOM_TRY_VOID(writer_.add_axis(
        axis_of("head", counting(static_cast<std::size_t>(heads_)), ElementType::Int64, "output head, from 0")));
    return writer_.add_axis(axis_of("component", {0, 1}, ElementType::Int64, "0: first map, 1: second map"));
  }

  Result<void> series(const std::string& name, const std::string& axis, const std::vector<double>& values,
                      const std::string& units, const std::string& definition) {
    return array(name, {axis}, {static_cast<std::int64_t>(values.size())}, values, units, definition);
  }

  Result<void> head_arrays() {
    const auto steps = static_cast<std::int64_t>(history_.statistics_step.size());
    for (const HeadStatistic& statistic : training_statistics()) {
      const auto found = history_.heads.find(statistic.name);
      if (found == history_.heads.end()) continue;
      HEADROOM_TRY(const Quantity* quantity, quantity_of(statistic));
      std::vector<std::string> axes = {"statistics_step", "layer", "head"};
      std::vector<std::int64_t> shape = {steps, layers_, heads_};
      if (quantity->axes == std::vector<std::string_view>{axis::kComponent}) {
        axes.emplace_back("component");
        shape.push_back(2);
      }
      HEADROOM_TRY_VOID(array(std::string(statistic.name), axes, shape, found->second, std::string(quantity->units),
                              definition_of(statistic, *quantity)));
    }
    return {};
  }

 private:
  Result<void> array(const std::string& name, const std::vector<std::string>& axes,
                     const std::vector<std::int64_t>& shape, const std::vector<double>& values,
                     const std::string& units, const std::string& definition) {
    DatasetDef dataset;
    dataset.name = name;
    dataset.axes = axes;
    dataset.type = ElementType::Float32;
    dataset.units = units;
    dataset.long_name = name;
    std::replace(dataset.long_name.begin(), dataset.long_name.end(), '_', ' ');
    dataset.definition = definition;
    HEADROOM_TRY_VOID(writer_.add_dataset(dataset));
    if (values.empty()) return {};
    return writer_.write(name, std::vector<std::int64_t>(shape.size(), 0), shape, values);
  }

  RunFileWriter& writer_;
  const TrainingHistory& history_;
  std::int64_t layers_ = 0, heads_ = 0;
};

}  // namespace

std::int64_t count_spikes(std::span<const double> values) {
  std::int64_t spikes = 0;
  for (std::size_t i = kSpikeWindow; i < values.size(); ++i) {
    const std::vector<double> before(values.begin() + static_cast<std::ptrdiff_t>(i - kSpikeWindow),
                                     values.begin() + static_cast<std::ptrdiff_t>(i));
    const double middle = median(before);
    std::vector<double> deviations;
    for (const double value : before) deviations.push_back(std::abs(value - middle));
    if (!(values[i] <= middle + kSpikeDeviations * median(deviations))) ++spikes;
  }
  return spikes;
}

Result<void> write_training_file(const TrainingRequest& request, const TrainingOutcome& outcome,
                                 const std::string& command_line) {
  const TrainingHistory& history = outcome.history;
  const Recipe& recipe = *request.recipe;
  RunFileWriter::Options options;
  options.force = true;
  options.schema_name = kTrainingSchemaName;
  HEADROOM_TRY(std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(request.folder / kHistoryFile, options));
  const double largest = history.gradient_norm.empty() ? 0.0 : *std::ranges::max_element(history.gradient_norm);
  const double middle = history.gradient_norm.empty() ? 0.0 : median(history.gradient_norm);
  const std::string now = utc_now();
  const std::vector<std::pair<const char*, AttributeValue>> attributes = {
      {"Conventions", "CF-1.10, ACDD-1.3"},
      {"title", "Training of " + recipe.name + ", " + request.variant->name},
      {"source", request.program},
      {"history", now + " " + command_line},
      {"created_utc", now},
      {"command_line", command_line},
      {"program_git_commit", request.git_commit},
      {"recipe", recipe.json},
      {"recipe_sha256", recipe.sha256},
      {"variant", request.variant->name},
      {"seed", static_cast<std::int64_t>(request.seed)},
      {"license", recipe.licence},
      {"device", request.device},
      {"dtype_compute", "float32"},
      {"step", outcome.step},
      {"finished", std::int64_t{outcome.finished ? 1 : 0}},
      {"diverged_step", outcome.diverged_step},
      {"parameters", outcome.parameters},
      {"trained_parameters", outcome.trained_parameters},
      {"loss_spikes", count_spikes(history.loss)},
      {"gradient_norm_spikes", count_spikes(history.gradient_norm)},
      {"gradient_norm_max_over_median", middle > 0.0 ? largest / middle : std::numeric_limits<double>::quiet_NaN()},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer->set_attribute("", name, value));
  TrainingFile file(*writer, history);
  HEADROOM_TRY_VOID(file.define_axes(request.variant->model));
  const bool language = recipe.task->objective() == Objective::NextToken;
  const std::string loss_units = language ? "nat" : "1";
  const std::string loss = language ? "mean cross-entropy of the next token"
                                    : "mean square of (residual stream after the blocks − embedding) − target";
  HEADROOM_TRY_VOID(file.series("loss", "step", history.loss, loss_units, loss + ", of the step's batch"));
  HEADROOM_TRY_VOID(file.series("gradient_norm", "step", history.gradient_norm, "1",
                                "L2 norm of all gradients together, before clipping"));
  HEADROOM_TRY_VOID(file.series("learning_rate", "step", history.learning_rate, "1", "AdamW's learning rate"));
  HEADROOM_TRY_VOID(file.series("validation_loss", "validation_step", history.validation_loss, loss_units,
                                loss + ", of sequences that are the same for every seed and never trained on"));
  HEADROOM_TRY_VOID(
      file.series("validation_error", "validation_step", history.validation_error, "1",
                  "largest abs((residual stream after the blocks − embedding) − target) of the validation sequences; "
                  "NaN for next-token tasks"));
  HEADROOM_TRY_VOID(file.head_arrays());
  return writer->commit();
}

}  // namespace headroom
