// Histories read back: the shipped training.h5 as HDF5 has it, trainer_state.json as Python writes it, folders of step
// checkpoints, and what is being written.
#include "core/training/stored_history.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/io/run_file.h"
#include "core/training/trainer_state.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

fs::path backcopy() { return fs::path(HEADROOM_FIXTURES).parent_path().parent_path() / "assets" / "demo" / "backcopy"; }

StoredHistory history_of(const fs::path& path) {
  auto history = read_history(path, {});
  if (!history) CATCH_FAIL(describe(history.error()));
  return std::move(*history);
}

}  // namespace

CATCH_TEST_CASE("stored history: the numbers are the file's, step by step") {
  for (const char* name : {"softmax", "diff_v2"}) {
    const fs::path folder = backcopy() / name;
    const StoredHistory history = history_of(folder / "training.h5");
    auto file = RunFile::open(folder / "training.h5");
    CATCH_REQUIRE(file.has_value());
    const auto same = [&](const char* dataset, const StepSeries& series, std::size_t stride) {
      CATCH_INFO(name << " " << dataset);
      const auto values = (*file)->read(dataset);
      CATCH_REQUIRE(values.has_value());
      CATCH_REQUIRE(series.size() * stride == values->size());
      for (std::size_t i = 0; i < series.size(); ++i)
        CATCH_REQUIRE(static_cast<double>(series.values()[i]) == (*values)[i * stride]);
    };
    same("loss", history.loss, 1);
    same("gradient_norm", history.gradient_norm, 1);
    same("learning_rate", history.learning_rate, 1);
    same("validation_loss", history.validation_loss, 1);
    CATCH_REQUIRE(history.sink_head == HeadAddress(0, 0));
    const HeadCurves& curves = history.curves.at({0, 0});
    same("sink_score", curves.sink_score, 2);  // one head with two components: the first map's
    same("sink_score_net", curves.sink_score_net, 1);
    const auto logits = (*file)->read("logit_max");
    CATCH_REQUIRE(logits.has_value());
    for (std::size_t i = 0; i < curves.logit_max.size(); ++i) {
      const double first = (*logits)[2 * i], second = (*logits)[2 * i + 1];
      CATCH_REQUIRE(static_cast<double>(curves.logit_max.values()[i]) ==
                    (std::isnan(second) ? first : std::max(first, second)));
    }
    // One head: it is the median, and the range.
    CATCH_CHECK(std::ranges::equal(history.sink_score.median.values(), curves.sink_score.values()));
    CATCH_CHECK(std::ranges::equal(history.sink_score.high.values(), curves.sink_score.values()));
    CATCH_CHECK(history.kind == name);
    CATCH_CHECK(history.recipe == "backcopy");
    CATCH_CHECK(history.seed == 1);
    CATCH_CHECK(history.step == 6000);
    CATCH_CHECK(history.planned_steps == 6000);
    CATCH_CHECK(history.finished);
    CATCH_CHECK_FALSE(history.diverged_step.has_value());
    CATCH_CHECK(history.loss_unit == "nat");
    CATCH_CHECK(history.second_maps == (std::string(name) == "diff_v2"));
    CATCH_CHECK(history.loss_spikes == std::stoll(*(*file)->root_attribute("loss_spikes")));
    std::vector<std::int64_t> steps;
    for (const KeptCheckpoint& kept : history.checkpoints) steps.push_back(kept.step);
    CATCH_CHECK(steps == std::vector<std::int64_t>{0, 100, 300, 1000, 3000, 6000});
    CATCH_CHECK(history.checkpoints.back().folder == folder);
    CATCH_CHECK(history.last_step() == 6000);
    // A folder is its history.
    CATCH_CHECK(history_of(folder).step == 6000);
  }
  const auto none = read_head_curves(history_of(backcopy() / "softmax"), {0, 1});
  CATCH_REQUIRE_FALSE(none.has_value());
  CATCH_CHECK(none.error().code == ErrorCode::InvalidArgument);
}

CATCH_TEST_CASE(
    "stored history: several heads: quantiles over all of them, and the curves of the one that is asked for") {
  const fs::path path = backcopy().parent_path() / "bytes" / "softmax" / "training.h5";
  auto file = RunFile::open(path);
  CATCH_REQUIRE(file.has_value());
  const std::vector<std::int64_t> shape = (*file)->find("sink_score")->shape;  // steps, layers, heads, components
  const auto values = (*file)->read("sink_score");
  CATCH_REQUIRE(values.has_value());
  auto history = read_history(path, HeadAddress{1, 2});
  CATCH_REQUIRE(history.has_value());
  CATCH_CHECK(history->layers == shape[1]);
  CATCH_CHECK(history->heads == shape[2]);
  const auto heads = static_cast<std::size_t>(shape[1] * shape[2]);
  const HeadCurves& curves = history->curves.at({1, 2});
  for (std::size_t s = 0; s < static_cast<std::size_t>(shape[0]); ++s) {
    std::vector<double> all;
    for (std::size_t h = 0; h < heads; ++h) all.push_back((*values)[(s * heads + h) * 2]);
    const std::size_t one = static_cast<std::size_t>(shape[2]) + 2;
    CATCH_REQUIRE(static_cast<double>(curves.sink_score.values()[s]) == all[one]);
    std::ranges::sort(all);
    CATCH_REQUIRE(static_cast<double>(history->sink_score.low.values()[s]) == all.front());
    CATCH_REQUIRE(static_cast<double>(history->sink_score.high.values()[s]) == all.back());
    const double median = 0.5 * (all[(heads - 1) / 2] + all[heads / 2]);
    CATCH_REQUIRE(std::abs(static_cast<double>(history->sink_score.median.values()[s]) - median) < 1e-6);
  }
  const auto again = read_head_curves(*history, {1, 2});
  CATCH_REQUIRE(again.has_value());
  CATCH_CHECK(std::ranges::equal(again->sink_score.values(), curves.sink_score.values()));
}

CATCH_TEST_CASE("stored history: what Hugging Face's Trainer logs, with Python's NaN, and while it is being written") {
  const std::string text = R"({
  "best_metric": null, "epoch": 1.5, "global_step": 30, "max_steps": 100, "note": "NaN in a text stays",
  "log_history": [
    {"epoch": 0.5, "grad_norm": 2.5, "learning_rate": 5e-05, "loss": 3.25, "step": 10},
    {"epoch": 1.0, "eval_loss": 3.0, "eval_runtime": 0.1, "step": 10},
    {"epoch": 1.0, "grad_norm": NaN, "learning_rate": 4e-05, "loss": 2.5, "step": 20},
    {"epoch": 1.5, "grad_norm": Infinity, "learning_rate": 3e-05, "loss": 2.25, "step": 30}
  ]})";
  StoredHistory history;
  CATCH_REQUIRE(read_trainer_state(text, history).has_value());
  CATCH_CHECK(std::ranges::equal(history.loss.values(), std::vector<float>{3.25f, 2.5f, 2.25f}));
  CATCH_CHECK(history.loss.step(1) == 20);
  CATCH_CHECK(history.gradient_norm.values()[0] == 2.5f);
  CATCH_CHECK(std::isnan(history.gradient_norm.values()[1]));
  CATCH_CHECK(history.learning_rate.values()[2] == 3e-05f);
  CATCH_CHECK(std::ranges::equal(history.validation_loss.values(), std::vector<float>{3.0f}));
  CATCH_CHECK(history.step == 30);
  CATCH_CHECK(history.planned_steps == 100);
  CATCH_CHECK_FALSE(history.finished);
  CATCH_CHECK_FALSE(history.diverged_step.has_value());
  // Broken off at any byte: whole entries, or an error; never something else.
  for (std::size_t length = 0; length < text.size(); ++length) {
    StoredHistory part;
    const auto read = read_trainer_state(text.substr(0, length), part);
    if (!read) continue;
    CATCH_REQUIRE(part.loss.size() <= 3);
    for (std::size_t i = 0; i < part.loss.size(); ++i) CATCH_REQUIRE(part.loss.values()[i] == history.loss.values()[i]);
  }
  StoredHistory part;
  CATCH_REQUIRE(read_trainer_state(text.substr(0, text.find("2.25")), part).has_value());
  CATCH_CHECK(part.loss.size() == 2);
  // A loss that is no number is where it diverged.
  StoredHistory diverged;
  CATCH_REQUIRE(
      read_trainer_state(
          R"({"log_history": [{"loss": 2.0, "step": 5}, {"loss": NaN, "grad_norm": 1.0, "step": 10}, {"loss": 0.0, "step": 15}]})",
          diverged)
          .has_value());
  CATCH_CHECK(diverged.loss.size() == 1);
  CATCH_CHECK(diverged.diverged_step == 10);
  StoredHistory none;
  const auto refused = read_trainer_state(R"({"global_step": 3})", none);
  CATCH_REQUIRE_FALSE(refused.has_value());
  CATCH_CHECK(refused.error().code == ErrorCode::Corrupt);
}

CATCH_TEST_CASE(
    "stored history: what a path holds: a folder of trainings in natural order, step checkpoints, nothing") {
  const TempFolder folder;
  const fs::path root = folder.path();
  const auto make = [&](const fs::path& name, const std::string& text = "{}") {
    fs::create_directories((root / name).parent_path());
    (void)folder.write(name.string(), text);
  };
  const std::string state = R"({"global_step": 20, "max_steps": 20, "log_history": [{"loss": 1.5, "step": 20}]})";
  for (const char* step : {"500", "1500", "90"})
    make(fs::path("run") / ("checkpoint-" + std::string(step)) / "config.json");
  make(fs::path("run") / "checkpoint-1500" / "trainer_state.json", state);
  make(fs::path("run") / "checkpoint-old" / "config.json");
  make(fs::path("run") / "checkpoint-7" / "notes.txt");  // no model
  StoredHistory history = history_of(root / "run");
  CATCH_CHECK(history.form == HistoryForm::Trainer);
  CATCH_CHECK(history.path == root / "run" / "checkpoint-1500" / "trainer_state.json");
  std::vector<std::int64_t> steps;
  for (const KeptCheckpoint& kept : history.checkpoints) steps.push_back(kept.step);
  CATCH_CHECK(steps == std::vector<std::int64_t>{90, 500, 1500});
  CATCH_CHECK(history.kind == "run");
  CATCH_CHECK_FALSE(history.seed.has_value());
  for (const char* name : {"many/v_seed10", "many/v_seed2", "many/a_seed3"})
    make(fs::path(name) / "step_000010" / "config.json");
  make("many/nothing/readme.txt");
  std::vector<std::string> names;
  for (const fs::path& one : find_histories(root / "many")) names.push_back(one.filename().string());
  CATCH_CHECK(names == std::vector<std::string>{"a_seed3", "v_seed2", "v_seed10"});
  CATCH_CHECK(history_of(root / "many" / "v_seed2").form == HistoryForm::Checkpoints);
  CATCH_CHECK(history_of(root / "many" / "v_seed2").last_step() == 10);
  CATCH_CHECK(find_histories(root / "many" / "nothing").empty());
  CATCH_CHECK(find_histories(root / "not there").empty());
  const auto missing = read_history(root / "not there", {});
  CATCH_REQUIRE_FALSE(missing.has_value());
  CATCH_CHECK(missing.error().code == ErrorCode::NotFound);
  const auto empty = read_history(root / "many" / "nothing", {});
  CATCH_REQUIRE_FALSE(empty.has_value());
  CATCH_CHECK(empty.error().expected.find("checkpoint-N") != std::string::npos);
  make("training.h5", "no HDF5");
  const auto damaged = read_history(root / "training.h5", {});
  CATCH_REQUIRE_FALSE(damaged.has_value());
  CATCH_CHECK(damaged.error().code == ErrorCode::Corrupt);
}

}  // namespace headroom::test
