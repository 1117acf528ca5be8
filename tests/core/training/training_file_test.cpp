// training.h5 read back: axes, units, definitions, numbers and attributes; and the count of spikes.
#include "core/training/training_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/run_file.h"
#include "core/measure/quantity.h"
#include "tests/core/training/task_text.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kStatisticsSteps = 3, kLayers = 2, kHeads = 3;

const Quantity& table_entry(const HeadStatistic& statistic) {
  const auto quantity = quantity_of(statistic);
  if (!quantity) CATCH_FAIL(describe(quantity.error()));
  return **quantity;
}

bool by_component(const HeadStatistic& statistic) {
  return table_entry(statistic).axes == std::vector<std::string_view>{axis::kComponent};
}

struct Training {
  TempFolder folder;
  Recipe recipe;
  TrainingRequest request;
  TrainingOutcome outcome;

  explicit Training(bool language) {
    nlohmann::json json = {{"about", "test"},
                           {"licence", "CC0-1.0"},
                           {"seeds", {5}},
                           {"task", {{"kind", "trigger"}, {"contents", 20}, {"features", 9}, {"length", 8}}},
                           {"model",
                            {{"hidden_size", 12},
                             {"num_hidden_layers", kLayers},
                             {"intermediate_size", 0},
                             {"num_attention_heads", kHeads},
                             {"num_key_value_heads", kHeads},
                             {"head_dim", 4},
                             {"attention", {{"kind", "diff_v2"}}}}},
                           {"variants", {{"v2", nlohmann::json::object()}}},
                           {"training", {{"steps", 4}, {"batch", 1}, {"learning_rate", 0.1}}}};
    if (language) {
      folder.write("text.txt", counting_text(5000));
      json["task"] = {{"kind", "bytes"}, {"text", "text.txt"}, {"length", 8}};
    }
    auto read = read_recipe(folder.write("small.json", json.dump()));
    if (!read) CATCH_FAIL(describe(read.error()));
    recipe = std::move(*read);
    request.recipe = &recipe;
    request.variant = &recipe.variants.front();
    request.seed = 5;
    request.folder = folder.path();
    request.program = "headroom test";
    request.git_commit = "0123";
    outcome.step = 4;
    outcome.finished = true;
    outcome.parameters = 1000;
    outcome.trained_parameters = 900;
    TrainingHistory& history = outcome.history;
    history.loss = {3.0, 2.5, 2.0, 1.5};
    history.gradient_norm = {1.0, 4.0, 2.0, 3.0};
    history.learning_rate = {0.1, 0.1, 0.05, 0.025};
    history.validation_step = {0, 4};
    history.validation_loss = {3.5, 1.25};
    history.validation_error = language ? std::vector<double>{kNaN, kNaN} : std::vector<double>{0.75, 0.5};
    history.statistics_step = {0, 2, 4};
    double value = 0.0;
    for (const HeadStatistic& statistic : training_statistics()) {
      std::vector<double>& array = history.heads[std::string(statistic.name)];
      array.resize(kStatisticsSteps * kLayers * kHeads * (by_component(statistic) ? 2 : 1));
      for (double& element : array) element = value += 0.125;
      array.front() = kNaN;
    }
  }

  [[nodiscard]] std::unique_ptr<RunFile> written() const {
    const auto done = write_training_file(request, outcome, "headroom train small.json");
    if (!done) CATCH_FAIL(describe(done.error()));
    auto file = RunFile::open(folder.path() / "training.h5");
    if (!file) CATCH_FAIL(describe(file.error()));
    CATCH_CHECK((*file)->verify().has_value());
    return std::move(*file);
  }
};

void check_values(const RunFile& file, const std::string& name, const std::vector<double>& expected) {
  CATCH_INFO(name);
  const auto found = file.read(name);
  CATCH_REQUIRE(found.has_value());
  CATCH_REQUIRE(found->size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CATCH_CHECK((std::isnan(expected[i]) ? std::isnan((*found)[i]) : (*found)[i] == near(expected[i], 1e-7)));
}

}  // namespace

CATCH_TEST_CASE("training file: every array with its axes, unit, definition and numbers") {
  for (const bool language : {true, false}) {
    const Training training(language);
    const auto file = training.written();
    const TrainingHistory& history = training.outcome.history;
    const std::string loss_unit = language ? "nat" : "1";
    struct Series {
      const char* name;
      const char* axis;
      const std::vector<double>* values;
      std::string unit;
    };
    const Series series[] = {{"loss", "step", &history.loss, loss_unit},
                             {"gradient_norm", "step", &history.gradient_norm, "1"},
                             {"learning_rate", "step", &history.learning_rate, "1"},
                             {"validation_loss", "validation_step", &history.validation_loss, loss_unit},
                             {"validation_error", "validation_step", &history.validation_error, "1"}};
    CATCH_REQUIRE(file->datasets().size() == std::size(series) + training_statistics().size());
    for (const Series& one : series) {
      CATCH_INFO(one.name);
      const DatasetInfo* info = file->find(one.name);
      CATCH_REQUIRE(info != nullptr);
      CATCH_CHECK(info->axes == std::vector<std::string>{one.axis});
      CATCH_CHECK(info->type == ElementType::Float32);
      CATCH_CHECK(info->units == one.unit);
      CATCH_CHECK(!info->definition.empty());
      CATCH_CHECK(!info->long_name.empty());
      check_values(*file, one.name, *one.values);
    }
    CATCH_CHECK((file->find("loss")->definition.find("cross-entropy") != std::string::npos) == language);
    for (const HeadStatistic& statistic : training_statistics()) {
      const std::string name(statistic.name);
      CATCH_INFO(name);
      const DatasetInfo* info = file->find(name);
      CATCH_REQUIRE(info != nullptr);
      std::vector<std::string> axes = {"statistics_step", "layer", "head"};
      std::vector<std::int64_t> shape = {kStatisticsSteps, kLayers, kHeads};
      if (by_component(statistic)) axes.emplace_back("component"), shape.push_back(2);
      CATCH_CHECK(info->axes == axes);
      CATCH_CHECK(info->shape == shape);
      CATCH_CHECK(info->units == table_entry(statistic).units);
      CATCH_CHECK(info->definition.starts_with(definition_of(table_entry(statistic)) + "; "));
      check_values(*file, name, history.heads.at(name));
    }
  }
}

CATCH_TEST_CASE("training statistics: what the table of quantities does not have is an error, not another quantity") {
  const auto refused = [](const HeadStatistic& statistic) {
    const auto quantity = quantity_of(statistic);
    CATCH_INFO(statistic.quantity);
    CATCH_REQUIRE(!quantity.has_value());
    CATCH_CHECK(quantity.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(quantity.error().tensor == statistic.name);
    return quantity.error().found;
  };
  CATCH_CHECK(refused({"norm_gain_mean", "rows", "norm_gian", OverBatch::MeanOfRows}) == "rows/norm_gian");
  CATCH_CHECK(refused({"a", "", "nothing"}) == "nothing");
  CATCH_CHECK(refused({"a", "rows", "sink_score"}) == "rows/sink_score");
  CATCH_CHECK(refused({"a", "", ""}).empty());
  // Of another shape than what is asked for.
  CATCH_CHECK(refused({"a", "rows", "lambda"}) == "rows/lambda [position]");
  CATCH_CHECK(refused({"a", "rows", "entropy", OverBatch::MeanOfRows}) == "rows/entropy [component, position]");
  CATCH_CHECK(refused({"a", "", "lambda_quantile"}) == "lambda_quantile [quantile]");
  CATCH_CHECK(refused({"a", "", "lambda_mean", OverBatch::DeviationOfRows}) == "lambda_mean []");
  CATCH_CHECK(table_entry({"a", "", "map_cosine_mean"}).name == "map_cosine_mean");
}

CATCH_TEST_CASE("training file: attributes say what was trained, and how it ended") {
  Training training(false);
  const auto attribute = [](const RunFile& file, const char* name) {
    const auto value = file.root_attribute(name);
    CATCH_INFO(name);
    CATCH_REQUIRE(value.has_value());
    return *value;
  };
  {
    const auto file = training.written();
    CATCH_CHECK(attribute(*file, "schema_name") == "headroom-training");
    CATCH_CHECK(attribute(*file, "variant") == "v2");
    CATCH_CHECK(attribute(*file, "seed") == "5");
    CATCH_CHECK(attribute(*file, "step") == "4");
    CATCH_CHECK(attribute(*file, "finished") == "1");
    CATCH_CHECK(attribute(*file, "diverged_step") == "-1");
    CATCH_CHECK(attribute(*file, "parameters") == "1000");
    CATCH_CHECK(attribute(*file, "trained_parameters") == "900");
    CATCH_CHECK(attribute(*file, "license") == "CC0-1.0");
    CATCH_CHECK(attribute(*file, "recipe_sha256") == training.recipe.sha256);
    CATCH_CHECK(attribute(*file, "recipe") == training.recipe.json);
    CATCH_CHECK(nlohmann::json::parse(training.recipe.json)["variants"].contains("v2"));
    CATCH_CHECK(attribute(*file, "command_line") == "headroom train small.json");
    CATCH_CHECK(attribute(*file, "program_git_commit") == "0123");
    // Of 1, 2, 3, 4: the median is 2.5.
    CATCH_CHECK(std::stod(attribute(*file, "gradient_norm_max_over_median")) == near(1.6, 1e-6));
    CATCH_CHECK(attribute(*file, "loss_spikes") == "0");
  }
  // A stopped one, written again over the old file; and one that had no time to begin.
  training.outcome.finished = false;
  training.outcome.diverged_step = 3;
  CATCH_CHECK(attribute(*training.written(), "finished") == "0");
  CATCH_CHECK(attribute(*training.written(), "diverged_step") == "3");
  training.outcome.history = TrainingHistory();
  training.outcome.step = 0;
  const auto empty = training.written();
  CATCH_CHECK(empty->find("loss")->shape == std::vector<std::int64_t>{0});
  CATCH_CHECK(attribute(*empty, "step") == "0");
}

CATCH_TEST_CASE("spikes: above the median of the 100 steps before by more than six median absolute deviations") {
  // 1 … 100 in some order: the median is 50.5, the deviations are 0.5, 0.5, … 49.5, 49.5 with the median 25, the
  // threshold 200.5.
  std::vector<double> window;
  for (int i = 0; i < 100; ++i) window.push_back(1.0 + i * 37 % 100);
  const auto after = [&](std::vector<double> values) {
    values.insert(values.begin(), window.begin(), window.end());
    return count_spikes(values);
  };
  CATCH_CHECK(after({}) == 0);
  CATCH_CHECK(after({200.5}) == 0);
  CATCH_CHECK(after({200.25}) == 0);
  CATCH_CHECK(after({200.75}) == 1);
  CATCH_CHECK(after({-1e9}) == 0);
  CATCH_CHECK(after({kNaN}) == 1);
  CATCH_CHECK(after({1000.0, 50.0, 1000.0}) == 2);
  // Too early to be judged.
  CATCH_CHECK(count_spikes(std::vector<double>(50, 1.0)) == 0);
  window[99] = 1e9;
  CATCH_CHECK(after({}) == 0);
  // A window without any deviation: every rise is a spike, which raises no bound before half of the window has risen.
  window.assign(100, 2.0);
  CATCH_CHECK(after({2.0, 1.0, 2.0}) == 0);
  CATCH_CHECK(after(std::vector<double>(60, 3.0)) == 50);
}

}  // namespace headroom::test
