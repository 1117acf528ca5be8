// What is trained is what is analysed: a model's parameters written as a checkpoint and opened again give the same
// residual stream, logits, loss and head quantities, for every kind of attention, in float64.
#include "core/compute/training/trainable_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/compute/training/head_measurements.h"
#include "core/compute/training/training_state.h"
#include "core/io/run_file.h"
#include "core/measure/quantity.h"
#include "core/run/analysis.h"
#include "core/training/checkpoint_writer.h"
#include "tests/core/compute/counted_memory.h"
#include "tests/core/compute/training_models.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kSequences = 3, kLength = 9;

// A model in training and the checkpoint of the same parameters.
struct Twin {
  Threads one_thread{1};
  const TrainingCase& given;
  ModelSpec spec;
  Parameters parameters;
  Batch batch;
  TempFolder folder;

  Twin(const TrainingCase& c, bool language, std::uint64_t seed)
      : Twin(c, training_spec(c, language), language, seed) {}
  // The checkpoint of these parameters, for logits.
  Twin(const TrainingCase& c, Parameters from, Batch sequences)
      : given(c), spec(training_spec(c, true)), parameters(std::move(from)), batch(std::move(sequences)) {
    write(true);
  }

 private:
  Twin(const TrainingCase& c, ModelSpec model, bool language, std::uint64_t seed)
      : given(c),
        spec(std::move(model)),
        parameters(training_parameters(spec, seed)),
        batch(training_batch(spec, language, kSequences, kLength, seed + 1)) {
    write(language);
  }
  void write(bool language) {
    const at::NoGradGuard no_gradients;
    std::vector<headroom::TensorBytes> tensors;
    for (const Parameter& parameter : parameters.all())
      tensors.push_back(tensor_bytes(parameter.name, parameter.value.detach()));
    CATCH_REQUIRE(write_checkpoint(folder.path(), training_config_of(given, language), {}, tensors).has_value());
  }

 public:
  [[nodiscard]] OpenedModel opened() const {
    auto model = open_model(folder.path(), {});
    if (!model) CATCH_FAIL(describe(model.error()));
    if (given.change) given.change(model->spec);
    return std::move(*model);
  }
  [[nodiscard]] TrainableModel trainable() const { return *TrainableModel::create(spec, parameters, kLength); }
  [[nodiscard]] std::vector<std::int32_t> sequence(std::int64_t s) const {
    return {batch.tokens.begin() + s * kLength, batch.tokens.begin() + (s + 1) * kLength};
  }
};

ComputeBackend& library() {
  auto backend = load_compute();
  CATCH_REQUIRE(backend.has_value());
  return **backend;
}

// The residual stream at both ends and the logits of one sequence.
class Outputs final : public ForwardObserver {
 public:
  Result<void> on_layer(LayerRecord) override { return {}; }
  Result<void> on_residual(std::int64_t boundary, std::int64_t, std::int64_t, std::span<const double> values) override {
    std::vector<double>& kept = boundary == 0 ? first : last;
    if (boundary > last_boundary) last.clear(), last_boundary = boundary;
    kept.insert(kept.end(), values.begin(), values.end());
    return {};
  }
  Result<void> on_logits(std::int64_t, std::int64_t, std::span<const double> values) override {
    logits.insert(logits.end(), values.begin(), values.end());
    return {};
  }
  Result<void> on_exact_rows(std::int64_t, std::int64_t, int, std::int64_t, std::int64_t,
                             std::span<const double>) override {
    return {};
  }
  void on_progress(double, const std::string&) override {}
  [[nodiscard]] bool stop_requested() const override { return false; }

  std::vector<double> first, last, logits;
  std::int64_t last_boundary = 0;
};

void check_close(const at::Tensor& found, const std::vector<double>& expected) {
  const at::Tensor wanted = at::tensor(expected, at::kDouble);
  CATCH_REQUIRE(found.numel() == wanted.numel());
  CATCH_REQUIRE(wanted.abs().max().item<double>() > 0.1);
  CATCH_CHECK((found.flatten() - wanted).abs().max().item<double>() <= 1e-12 * wanted.abs().max().item<double>());
}

void check_outputs(const TrainingCase& given, bool language) {
  const Twin twin(given, language, 21);
  const OpenedModel opened = twin.opened();
  const auto changed = apply_what_ifs(opened.spec, training_what_ifs(given));
  CATCH_REQUIRE(changed.has_value());
  const BatchTensors batch(twin.batch, kDoubleTarget);
  const at::NoGradGuard no_gradients;
  const TrainableModel::Output output = twin.trainable()(batch.tokens);
  CATCH_REQUIRE(output.logits.defined() == language);
  double loss = 0.0;
  for (std::int64_t s = 0; s < kSequences; ++s) {
    ForwardOptions options;
    options.ids = twin.sequence(s);
    options.dtype = ComputeDtype::Float64;
    options.hidden = true;
    Outputs analysed;
    const auto summary = library().run(opened.source, changed->model, options, analysed);
    if (!summary) CATCH_FAIL(describe(summary.error()));
    CATCH_REQUIRE(analysed.last_boundary == static_cast<std::int64_t>(twin.spec.blocks.size()));
    std::vector<double> added;
    for (std::size_t i = 0; i < analysed.last.size(); ++i) added.push_back(analysed.last[i] - analysed.first[i]);
    check_close(output.added[s], added);
    if (!language) continue;
    check_close(output.logits[s], analysed.logits);
    for (std::int64_t i = 0; i < kLength; ++i) {
      const double* row = analysed.logits.data() + i * twin.spec.vocab_size;
      double sum = 0.0;
      for (std::int64_t v = 0; v < twin.spec.vocab_size; ++v) sum += std::exp(row[v]);
      loss += std::log(sum) - row[twin.batch.targets[static_cast<std::size_t>(s * kLength + i)]];
    }
  }
  if (language) CATCH_CHECK(task_loss(output, batch).item<double>() == near(loss / (kSequences * kLength), 1e-13));
}

// The mean over sequences of what the analysis of each says; of `logit_max` the largest. All sequences have one length
// and all their rows count (min_row is 1 for short prompts), so that the mean over sequences is that over all rows.
class Expected {
 public:
  explicit Expected(const Twin& twin) {
    const OpenedModel opened = twin.opened();
    for (std::int64_t s = 0; s < kSequences; ++s) {
      AnalysisRequest request;
      request.model = &opened;
      request.what_ifs = training_what_ifs(twin.given);
      request.prompt.ids = twin.sequence(s);
      request.dtype = ComputeDtype::Float64;
      request.backend = "reference";
      request.output = twin.folder.path() / ("run" + std::to_string(s) + ".h5");
      auto outcome = analyze(library(), request, [](double, const std::string&) {}, nullptr);
      if (!outcome) CATCH_FAIL(describe(outcome.error()));
      CATCH_REQUIRE(outcome->min_row == 1);
      const auto file = RunFile::open(request.output);
      CATCH_REQUIRE(file.has_value());
      const auto gains = (*file)->find("rows/norm_gain") ? *(*file)->read("rows/norm_gain") : std::vector<double>();
      runs_.push_back({std::move(outcome->summary), gains});
    }
  }

  [[nodiscard]] double at(const std::string& name, std::size_t l, std::size_t h, std::size_t component) const {
    double sum = 0.0, largest = -std::numeric_limits<double>::infinity(), squares = 0.0;
    for (const Run& run : runs_) {
      double value = run.summary.at(name, l, h, component);
      if (name == "norm_gain_mean") value = mean_gain(run, l, h);
      sum += value;
      largest = std::max(largest, value);
      if (name == "lambda_std") squares += value * value + std::pow(run.summary.at("lambda_mean", l, h), 2);
    }
    const double count = static_cast<double>(runs_.size());
    // Variance of all rows: the mean of the squares less the square of the mean.
    if (name == "lambda_std") {
      const double variance = squares / count - std::pow(at("lambda_mean", l, h, 0), 2);
      return variance < 0.0 ? 0.0 : std::sqrt(variance);
    }
    if (name == "logit_max") return std::isnan(sum) ? sum : largest;
    return sum / count;
  }

 private:
  struct Run {
    SummaryTable summary;
    std::vector<double> gains;  // [layer, head, position]
  };
  static double mean_gain(const Run& run, std::size_t l, std::size_t h) {
    if (run.gains.empty()) return std::numeric_limits<double>::quiet_NaN();
    const std::size_t first = (l * run.summary.heads.size() + h) * kLength;
    double sum = 0.0;
    for (std::size_t i = 0; i < kLength; ++i) sum += run.gains[first + i];
    return sum / kLength;
  }
  std::vector<Run> runs_;
};

}  // namespace

CATCH_TEST_CASE("trainable model: residual stream, logits and loss are those of the analysis") {
  for (const bool language : {true, false})
    for (const TrainingCase& given : training_cases()) {
      CATCH_INFO(given.name << (language ? "" : ", without logits"));
      check_outputs(given, language);
    }
}

CATCH_TEST_CASE("trainable model: what is measured of the heads is what the analysis measures") {
  std::set<std::string> seen;  // quantities that some head of some kind has
  for (const TrainingCase& given : training_cases()) {
    const Twin twin(given, true, 31);
    const Expected expected(twin);
    TrainingHistory history;
    CATCH_REQUIRE(
        measure_heads(twin.trainable(), BatchTensors(twin.batch, kDoubleTarget), training_statistics(), history)
            .has_value());
    CATCH_REQUIRE(history.heads.size() == training_statistics().size());
    const std::size_t layers = twin.spec.blocks.size(), heads = twin.spec.blocks.front().attention.heads.size();
    for (const HeadStatistic& statistic : training_statistics()) {
      const std::string name(statistic.name);
      const std::vector<double>& found = history.heads.at(name);
      const auto quantity = quantity_of(statistic);
      CATCH_REQUIRE(quantity.has_value());
      const std::size_t components = (*quantity)->axes == std::vector<std::string_view>{axis::kComponent} ? 2 : 1;
      CATCH_REQUIRE(found.size() == layers * heads * components);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t l = i / components / heads, h = i / components % heads;
        const double wanted = expected.at(name, l, h, i % components);
        CATCH_INFO(given.name << ", " << name << " of L" << l << ".H" << h << ", component " << i % components << ": "
                              << found[i] << ", the analysis " << wanted);
        CATCH_CHECK(std::isnan(found[i]) == std::isnan(wanted));
        if (std::isnan(wanted)) continue;
        seen.insert(name);
        // A run file's rows are float32; a difference of squares doubles the digits that it loses.
        const double relative = name == "norm_gain_mean" ? 1e-6 : 1e-11, absolute = name == "lambda_std" ? 1e-7 : 1e-14;
        CATCH_CHECK(found[i] == near(wanted, relative, absolute));
      }
    }
  }
  CATCH_CHECK(seen.size() == training_statistics().size());
}

CATCH_TEST_CASE("trainable model: the heads are measured by the parameters of the step, not by those at its making") {
  for (const TrainingCase& given : training_cases()) {
    if (std::string(given.name) != "softmax_sink" && std::string(given.name) != "diff_v1") continue;
    const Twin twin(given, true, 41);
    const TrainableModel model = twin.trainable();
    const BatchTensors batch(twin.batch, kDoubleTarget);
    const auto measured = [&] {
      TrainingHistory history;
      CATCH_REQUIRE(measure_heads(model, batch, training_statistics(), history).has_value());
      return history.heads;
    };
    const auto before = measured();
    {
      const at::NoGradGuard no_gradients;
      for (const Parameter& parameter : twin.parameters.all())
        if (parameter.account == "sink" || parameter.name.find("lambda_q1") != std::string::npos)
          at::Tensor(parameter.value).add_(0.5);
    }
    const Expected expected(Twin(twin.given, twin.parameters, twin.batch));
    const auto after = measured();
    const std::string name = std::string(given.name) == "diff_v1" ? "lambda_mean" : "sink_score";
    const std::size_t step = name == "sink_score" ? 2 : 1, heads = twin.spec.blocks[0].attention.heads.size();
    for (std::size_t i = 0; i < after.at(name).size(); i += step) {
      CATCH_INFO(given.name << ", head " << i / step);
      CATCH_CHECK(after.at(name)[i] != before.at(name)[i]);
      CATCH_CHECK(after.at(name)[i] == near(expected.at(name, i / step / heads, i / step % heads, 0), 1e-11, 1e-14));
    }
  }
}

CATCH_TEST_CASE("trainable model: what the table of quantities does not have is not measured as something else") {
  const Twin twin(training_cases().front(), true, 51);
  TrainingHistory history;
  const HeadStatistic unknown[] = {{"norm_gain_mean", "rows", "norm_gian", OverBatch::MeanOfRows}};
  const auto measured = measure_heads(twin.trainable(), BatchTensors(twin.batch, kDoubleTarget), unknown, history);
  CATCH_REQUIRE(!measured.has_value());
  CATCH_CHECK(measured.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(measured.error().found == "rows/norm_gian");
  CATCH_CHECK(history.heads.empty());
}

CATCH_TEST_CASE("trainable model: measuring the heads of a long sequence takes no map of it") {
  constexpr std::int64_t kLong = 4096;
  const Threads one_thread(1);
  const TrainingCase given{"diff_v2", {{"num_hidden_layers", 1}, {"attention", {{"kind", "diff_v2"}}}}};
  const ModelSpec spec = training_spec(given, true);
  const Parameters parameters = training_parameters(spec, 61, TorchTarget());
  const TrainableModel model = *TrainableModel::create(spec, parameters, kLong);
  const BatchTensors batch(training_batch(spec, true, 1, kLong, 62), TorchTarget());
  const c10::DebugInfoGuard tensors(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<TensorBytes>());
  const std::int64_t before = counted_memory().live;
  counted_memory().peak = before;
  TrainingHistory history;
  CATCH_REQUIRE(measure_heads(model, batch, training_statistics(), history).has_value());
  const std::int64_t peak = counted_memory().peak - before;
  CATCH_INFO(peak << " bytes");
  CATCH_CHECK(peak > kLong * 8 * 20);  // the rows of a head
  CATCH_CHECK(peak < kLong * kLong * 4 / 4);
  CATCH_CHECK(history.heads.at("sink_score").size() == spec.blocks.front().attention.heads.size() * 2);
}

}  // namespace headroom::test
