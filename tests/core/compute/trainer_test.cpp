// Whole small trainings: one that is stopped and goes on equals one that is not, in every bit of its files and history;
// what a folder holds afterwards; divergence; states that are refused.
#include "core/compute/training/trainer.h"

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/compute/training/training_state.h"
#include "core/run/open_model.h"
#include "tests/core/compute/counted_memory.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kSteps = 23;

// A language task with everything that has a state: moments, warm-up, clipping, decay, frozen weights, measurements;
// and the task on the residual stream.
nlohmann::json recipe_json(bool language) {
  nlohmann::json recipe = {
      {"about", "test"},
      {"licence", "CC0-1.0"},
      {"model",
       {{"hidden_size", 16},
        {"num_hidden_layers", 2},
        {"intermediate_size", 8},
        {"num_attention_heads", 2},
        {"num_key_value_heads", 2},
        {"head_dim", 4},
        {"position", "rope"}}},
      {"variants",
       {{"v2", {{"model", {{"attention", {{"kind", "diff_v2"}}}}}, {"checkpoints", {0, 12, kSteps}}}},
        {"v1", {{"model", {{"attention", {{"kind", "diff_v1"}}}}}}},
        {"halves", {{"model", {{"attention", {{"kind", "diff_v2"}}}}}, {"what_if", {"pairing=halves"}}}},
        {"sink", {{"model", {{"attention", {{"kind", "softmax_sink"}}}}}}}}},
      {"training",
       {{"steps", kSteps},
        {"batch", 3},
        {"learning_rate", 0.02},
        {"warmup_steps", 4},
        {"final_learning_rate", 0.1},
        {"weight_decay", 0.1},
        {"gradient_clip", 0.5},
        {"statistics_every", 5},
        {"validate_every", 7},
        {"validation_batches", 2}}},
      {"seeds", {3, 4}},
      {"frozen", {"norm"}}};
  if (language) {
    recipe["task"] = {{"kind", "bytes"}, {"text", "text.txt"}, {"length", 10}};
    recipe["stored_dtype"] = "bfloat16";
  } else {
    recipe["task"] = {{"kind", "trigger"}, {"contents", 20}, {"features", 13}, {"length", 6}};
    recipe["frozen"].push_back("embedding");
  }
  return recipe;
}

class NeverStops : public TrainingObserver {
 public:
  void on_step(std::int64_t step, std::int64_t steps, double loss) override {
    CATCH_CHECK(step == ++last_step);
    CATCH_CHECK(steps == kSteps);
    CATCH_CHECK(std::isfinite(loss));
  }
  [[nodiscard]] bool stop_requested() const override { return false; }
  std::int64_t last_step = 0;
};

struct Trainings {
  Threads one_thread{1};
  TempFolder folder;
  Recipe recipe;

  explicit Trainings(const nlohmann::json& json) {
    std::string text;
    while (text.size() < 5000)
      text += "In the beginning was the word, and " + std::to_string(text.size() * 7919) + " words came. ";
    folder.write("text.txt", text);
    auto read = read_recipe(folder.write("small.json", json.dump()));
    if (!read) CATCH_FAIL(describe(read.error()));
    recipe = std::move(*read);
  }

  [[nodiscard]] TrainingRequest request(const std::string& variant, const std::string& name) const {
    TrainingRequest request;
    request.recipe = &recipe;
    for (const Variant& known : recipe.variants)
      if (known.name == variant) request.variant = &known;
    CATCH_REQUIRE(request.variant != nullptr);
    request.seed = 3;
    request.folder = folder.path() / name;
    return request;
  }
};

TrainingOutcome run(const TrainingRequest& request, std::int64_t first_step = 0) {
  NeverStops observer;
  observer.last_step = first_step;
  auto outcome = train(request, observer);
  if (!outcome) CATCH_FAIL(describe(outcome.error()));
  CATCH_REQUIRE(observer.last_step == outcome->step);
  return std::move(*outcome);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  CATCH_INFO(path.filename().string());
  CATCH_REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_same(const std::vector<double>& a, const std::vector<double>& b) {
  CATCH_REQUIRE(a.size() == b.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different += std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]) ? 1 : 0;
  CATCH_CHECK(different == 0);
}

void check_same(const TrainingHistory& a, const TrainingHistory& b) {
  check_same(a.loss, b.loss);
  check_same(a.gradient_norm, b.gradient_norm);
  check_same(a.learning_rate, b.learning_rate);
  check_same(a.validation_step, b.validation_step);
  check_same(a.validation_loss, b.validation_loss);
  check_same(a.validation_error, b.validation_error);
  check_same(a.statistics_step, b.statistics_step);
  CATCH_REQUIRE(a.heads.size() == b.heads.size());
  for (const auto& [name, values] : a.heads) {
    CATCH_INFO(name);
    check_same(values, b.heads.at(name));
  }
}

}  // namespace

CATCH_TEST_CASE("trainer: a training that was stopped and goes on equals one that was not, in every bit") {
  for (const bool language : {true, false}) {
    const Trainings trainings(recipe_json(language));
    for (const std::string variant : {"v2", "v1", "halves", "sink"}) {
      const TrainingRequest whole = trainings.request(variant, "whole_" + variant);
      const TrainingOutcome expected = run(whole);
      CATCH_REQUIRE(expected.finished);
      CATCH_REQUIRE(expected.history.loss.size() == static_cast<std::size_t>(kSteps));
      CATCH_REQUIRE(expected.history.loss.front() != expected.history.loss.back());
      // Before the first step, in the middle, where heads are measured and validated, one step at a time, at the end.
      const std::vector<std::vector<std::int64_t>> stops = {{0},        {1, 1, 1}, {5},      {7, 3},
                                                            {12, 0, 0}, {22},      {kSteps}, {35}};
      for (std::size_t s = 0; s < stops.size(); ++s) {
        TrainingRequest parts = trainings.request(variant, variant + "_parts" + std::to_string(s));
        parts.resume = true;
        std::int64_t done = 0;
        for (const std::int64_t after : stops[s]) {
          parts.stop_after = after;
          const TrainingOutcome outcome = run(parts, done);
          CATCH_INFO(variant << ", stopped at step " << outcome.step);
          CATCH_CHECK(outcome.step == std::min(done + after, kSteps));
          CATCH_CHECK(outcome.finished == (done + after > kSteps));
          CATCH_CHECK(std::filesystem::exists(parts.folder / kStateFile));
          CATCH_CHECK(nlohmann::json::parse(bytes_of(parts.folder / "config.json"))["training"]["step"] ==
                      outcome.step);
          done = outcome.step;
        }
        parts.stop_after = -1;
        const TrainingOutcome found = run(parts, done);
        CATCH_INFO(variant << ", stop " << s << (language ? ", language" : ", residual"));
        CATCH_CHECK(found.finished);
        check_same(found.history, expected.history);
        for (const char* file : {"model.safetensors", "config.json", kStateFile})
          CATCH_CHECK((bytes_of(parts.folder / file) == bytes_of(whole.folder / file)));
        for (const std::int64_t step : whole.variant->checkpoints)
          for (const char* file : {"model.safetensors", "config.json"})
            CATCH_CHECK((bytes_of(parts.folder / step_folder(step) / file) ==
                         bytes_of(whole.folder / step_folder(step) / file)));
      }
    }
  }
}

CATCH_TEST_CASE("trainer: stopped by its observer, it leaves a state and the checkpoint of that step") {
  class StopsAtTwelve final : public NeverStops {
   public:
    [[nodiscard]] bool stop_requested() const override { return last_step >= 12; }
  };
  const Trainings trainings(recipe_json(true));
  const TrainingRequest whole = trainings.request("v2", "whole");
  (void)run(whole);
  StopsAtTwelve observer;
  const TrainingRequest request = trainings.request("v2", "out");
  const auto outcome = train(request, observer);
  CATCH_REQUIRE(outcome.has_value());
  CATCH_CHECK(!outcome->finished);
  CATCH_CHECK(outcome->step == 12);
  CATCH_CHECK(outcome->history.loss.size() == 12);
  CATCH_CHECK(std::filesystem::exists(request.folder / kStateFile));
  // The checkpoint that a training without a stop keeps of this step.
  CATCH_CHECK(open_model(request.folder, {}).has_value());
  CATCH_CHECK((bytes_of(request.folder / "model.safetensors") ==
               bytes_of(whole.folder / step_folder(12) / "model.safetensors")));
  CATCH_CHECK((bytes_of(request.folder / "model.safetensors") != bytes_of(whole.folder / "model.safetensors")));
}

CATCH_TEST_CASE("trainer: a state kept from time to time is enough to go on after a kill") {
  const Trainings trainings(recipe_json(true));
  const TrainingRequest whole = trainings.request("v2", "whole");
  const TrainingOutcome expected = run(whole);
  // The first error ends the training as a kill would: the file that was saved last is all there is.
  class FailsAtTen final : public NeverStops {
   public:
    void on_step(std::int64_t step, std::int64_t, double) override {
      last_step = step;
      if (step == 10) throw std::runtime_error("killed");
    }
  };
  TrainingRequest killed = trainings.request("v2", "killed");
  killed.save_every_seconds = 0.0;
  FailsAtTen observer;
  CATCH_CHECK_THROWS(train(killed, observer));
  CATCH_CHECK(!std::filesystem::exists(killed.folder / "config.json"));
  killed.resume = true;
  const TrainingOutcome found = run(killed, 9);
  check_same(found.history, expected.history);
  CATCH_CHECK((bytes_of(killed.folder / "model.safetensors") == bytes_of(whole.folder / "model.safetensors")));
}

CATCH_TEST_CASE(
    "trainer: checkpoints open as models and hold the parameters of their step, frozen ones as they began") {
  const Trainings trainings(recipe_json(false));
  const TrainingRequest request = trainings.request("v2", "out");
  const TrainingOutcome outcome = run(request);
  TrainingSettings settings = request.variant->training;
  const Parameters begin = Parameters::create(request.variant->model, settings, trainings.recipe.frozen,
                                              trainings.recipe.task->embedding(), request.seed, TorchTarget());
  std::int64_t parameters = 0, trained = 0;
  for (const std::string& place : {std::string(), step_folder(0), step_folder(12), step_folder(kSteps)}) {
    CATCH_INFO(place);
    const auto opened = open_model(request.folder / place, {});
    if (!opened) CATCH_FAIL(describe(opened.error()));
    CATCH_CHECK(opened->checkpoint->warnings().empty());
    const nlohmann::json& note = opened->checkpoint->config()["training"];
    CATCH_CHECK(note["step"] == (place.empty() ? kSteps : std::stoll(place.substr(5))));
    CATCH_CHECK(note["variant"] == "v2");
    CATCH_CHECK(note["seed"] == 3);
    CATCH_CHECK(note["licence"] == "CC0-1.0");
    for (const Parameter& parameter : begin.all()) {
      const TensorInfo* info = opened->checkpoint->find(parameter.name);
      CATCH_REQUIRE(info != nullptr);
      std::vector<float> values(static_cast<std::size_t>(parameter.value.numel()));
      CATCH_REQUIRE(opened->checkpoint->read(*info, 0, std::span<float>(values)).has_value());
      const at::Tensor stored = at::tensor(at::ArrayRef<float>(values)).view(parameter.value.sizes());
      const bool frozen = parameter.account == "norm" || parameter.account == "embedding";
      CATCH_INFO(parameter.name);
      CATCH_CHECK(parameter.trained != frozen);
      CATCH_CHECK(at::equal(stored, parameter.value.detach()) == (frozen || place == step_folder(0)));
      if (!place.empty()) continue;
      parameters += parameter.value.numel();
      if (!frozen) trained += parameter.value.numel();
    }
  }
  CATCH_CHECK(outcome.parameters == parameters);
  CATCH_CHECK(outcome.trained_parameters == trained);
  CATCH_CHECK(trained < parameters);
  CATCH_CHECK((bytes_of(request.folder / "model.safetensors") ==
               bytes_of(request.folder / step_folder(kSteps) / "model.safetensors")));
}

CATCH_TEST_CASE("trainer: validation and measurements lie at the steps that the recipe asks for, and at the last one") {
  const Trainings trainings(recipe_json(false));
  const TrainingOutcome outcome = run(trainings.request("v1", "out"));
  CATCH_CHECK(outcome.history.validation_step == std::vector<double>{0, 7, 14, 21, 23});
  CATCH_CHECK(outcome.history.statistics_step == std::vector<double>{0, 5, 10, 15, 20, 23});
  CATCH_CHECK(outcome.history.heads.at("sink_score").size() == 6 * 2 * 2 * 2);
  CATCH_CHECK(outcome.history.heads.at("lambda_mean").size() == 6 * 2 * 2);
  for (const double error : outcome.history.validation_error) CATCH_CHECK(error > 0.0);
  // A mean of squares is below the largest square.
  for (std::size_t i = 0; i < outcome.history.validation_error.size(); ++i)
    CATCH_CHECK(outcome.history.validation_loss[i] < std::pow(outcome.history.validation_error[i], 2));
}

CATCH_TEST_CASE("trainer: with an error bound it ends at the first validation below it") {
  nlohmann::json json = recipe_json(false);
  const Trainings free(json);
  const TrainingOutcome whole = run(free.request("v2", "whole"));
  const std::vector<double>& errors = whole.history.validation_error;
  const double bound = *std::min_element(errors.begin() + 1, errors.end() - 1) * 1.0000001;
  json["training"]["stop_below_error"] = bound;
  const Trainings bounded(json);
  std::size_t first = 0;
  while (!(errors[first] < bound)) ++first;
  const TrainingOutcome outcome = run(bounded.request("v2", "out"));
  CATCH_CHECK(outcome.finished);
  CATCH_CHECK(static_cast<double>(outcome.step) == whole.history.validation_step[first]);
  CATCH_CHECK(outcome.history.loss.size() == static_cast<std::size_t>(outcome.step));
  CATCH_CHECK(outcome.history.statistics_step.back() == static_cast<double>(outcome.step));
}

CATCH_TEST_CASE("trainer: a loss that is no number ends it and leaves no model") {
  nlohmann::json json = recipe_json(true);
  json["training"]["learning_rate"] = 1e30;
  json["training"]["gradient_clip"] = 0.0;
  const Trainings trainings(json);
  TrainingRequest request = trainings.request("sink", "out");
  const TrainingOutcome outcome = run(request);
  CATCH_CHECK(!outcome.finished);
  CATCH_REQUIRE(outcome.diverged_step > 0);
  CATCH_CHECK(outcome.diverged_step == outcome.step);
  CATCH_REQUIRE(outcome.history.loss.size() == static_cast<std::size_t>(outcome.step) + 1);
  CATCH_CHECK(!(std::isfinite(outcome.history.loss.back()) && std::isfinite(outcome.history.gradient_norm.back())));
  for (std::size_t i = 0; i + 1 < outcome.history.loss.size(); ++i) CATCH_CHECK(std::isfinite(outcome.history.loss[i]));
  CATCH_CHECK(!std::filesystem::exists(request.folder / "config.json"));
}

CATCH_TEST_CASE("trainer: a state of another training or a damaged one is refused, and names what is wrong") {
  const Trainings trainings(recipe_json(true));
  TrainingRequest request = trainings.request("v2", "out");
  request.stop_after = 4;
  (void)run(request);
  request.resume = true;
  const auto refused = [&](const TrainingRequest& other) {
    NeverStops observer;
    const auto outcome = train(other, observer);
    CATCH_REQUIRE(!outcome.has_value());
    CATCH_CHECK(outcome.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(outcome.error().file == (request.folder / kStateFile).string());
    return outcome.error();
  };
  TrainingRequest other = request;
  other.seed = 4;
  CATCH_CHECK(refused(other).tensor == "seed");
  CATCH_CHECK(refused(other).expected == "4");
  CATCH_CHECK(refused(other).found == "3");
  other = trainings.request("v1", "out");
  other.resume = true;
  CATCH_CHECK(refused(other).tensor == "variant");
  Variant changed = *request.variant;
  changed.training.steps += 1;
  other = request;
  other.variant = &changed;
  CATCH_CHECK(refused(other).tensor == "steps");
  changed = *request.variant;
  changed.definition_sha256[0] = changed.definition_sha256[0] == '0' ? '1' : '0';
  CATCH_CHECK(refused(other).tensor == "definition_sha256");
  const std::string whole = bytes_of(request.folder / kStateFile);
  for (const std::size_t kept : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(request.folder / kStateFile, std::ios::binary) << whole.substr(0, kept);
    (void)refused(request);
  }
  std::ofstream(request.folder / kStateFile, std::ios::binary) << whole;
  CATCH_CHECK(run(request, 4).step == 8);

  // More seeds and other words are the same training.
  Recipe longer = trainings.recipe;
  longer.seeds.push_back(99);
  longer.sha256[0] = longer.sha256[0] == '0' ? '1' : '0';
  other = request;
  other.recipe = &longer;
  CATCH_CHECK(run(other, 8).step == 12);
}

}  // namespace headroom::test
