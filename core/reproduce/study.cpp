#include "core/reproduce/study.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "core/base/check.h"
#include "core/base/numbers.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

constexpr std::uint64_t kShippedSeed = 1;  // demo/RECIPE/VARIANT in the assets

constexpr const char* kOwnAssets = "name the project's own assets with --assets";

// What the claims ask of a recipe.
std::vector<std::string_view> variants_of(std::string_view recipe) {
  if (recipe == "bytes_sweep") return {"softmax", "diff_v2", "wrong_pairing", "no_lambda", "raw_lambda"};
  if (recipe == "bytes_ablations") return {"wrong_pairing", "no_lambda", "raw_lambda"};
  if (recipe == "backcopy_slow") return {"softmax", "diff_v2"};
  return {"softmax", "softmax_one", "softmax_sink", "gated", "diff_v1", "diff_v1_no_norm", "diff_v2"};
}

Recipe without_steps(const Recipe& recipe) {
  Recipe copy = recipe;
  copy.stored_dtype = "float32";
  for (Variant& variant : copy.variants) {
    variant.training.steps = 0;
    variant.training.stop_below_error = 0.0;
    variant.checkpoints.clear();
  }
  return copy;
}

Result<StudiedModel> open_studied(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                  const std::filesystem::path& folder) {
  HEADROOM_TRY(OpenedModel opened, open_model(folder, {}));
  HEADROOM_TRY(WhatIfResult changed, apply_what_ifs(opened.spec, variant.what_ifs));
  return StudiedModel{&recipe, &variant, seed, folder, std::move(opened), std::move(changed.model)};
}

}  // namespace

const Variant* find_variant(const Recipe& recipe, std::string_view name) {
  const auto found = std::ranges::find(recipe.variants, name, &Variant::name);
  return found == recipe.variants.end() ? nullptr : &*found;
}

Start common_start(const Variant& variant, const Variant& other) {
  const auto part = [](const Variant& from, const char* key) { return nlohmann::json::parse(from.definition).at(key); };
  const auto weights = [](const Variant& from) {
    std::vector<std::tuple<std::string, std::string, std::vector<std::int64_t>>> all;
    for_each_weight(from.model, [&](const WeightRef& weight, std::string_view account, std::int64_t) {
      all.emplace_back(weight.tensor, account, weight.stored_shape);
    });
    std::ranges::sort(all);
    return all;
  };
  Start start;
  // Seeds are met in order, and one side may have fewer.
  const auto [end, other_end] = std::ranges::mismatch(variant.seeds, other.seeds);
  const bool seeds = end == variant.seeds.end() || other_end == other.seeds.end();
  const bool task = part(variant, "task") == part(other, "task");
  start.data = seeds && task && variant.training.batch == other.training.batch;
  start.weights =
      seeds && task && variant.training.initial_std == other.training.initial_std && weights(variant) == weights(other);
  return start;
}

Result<std::unique_ptr<Study>> Study::create(ComputeBackend& backend, StudyOptions options, Progress progress,
                                             Stop stop) {
  for (const std::uint64_t seed : options.seeds) {
    if (std::ranges::count(options.seeds, seed) == 1) continue;
    Error error(ErrorCode::InvalidArgument, "a seed is there twice");
    return error.wanted("different seeds", std::to_string(seed));
  }
  const std::filesystem::path folder = options.assets / "recipes";
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (failed) {
    Error error(ErrorCode::NotFound, "the recipes are not there");
    return error.in_file(folder.string()).advise("call it in the project's folder, or name its assets with --assets");
  }
  std::ranges::sort(files);
  std::unique_ptr<Study> study(new Study(backend, std::move(options), std::move(progress), std::move(stop)));
  for (const std::filesystem::path& file : files) {
    HEADROOM_TRY(Recipe recipe, read_recipe(file));
    if (const auto& given = study->options_.seeds; !given.empty()) {
      recipe.seeds = given;
      for (Variant& variant : recipe.variants) variant.seeds = given;
    }
    study->untrained_.push_back(without_steps(recipe));
    study->recipes_.push_back(std::move(recipe));
  }
  return study;
}

const Recipe& Study::recipe(std::string_view name) const {
  const auto found = std::ranges::find(recipes_, name, &Recipe::name);
  HEADROOM_CHECK(found != recipes_.end(), "no recipe of this name");
  return *found;
}

void Study::show(double fraction, const std::string& what) const {
  if (progress_) progress_(fraction, what);
}

std::filesystem::path Study::folder_of(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                       Moment moment) const {
  const std::string name = model_name(recipe, variant, seed);
  if (moment == Moment::Initial) return options_.output / "models" / "initial" / name;
  const std::filesystem::path shipped = options_.assets / "demo" / recipe.name / variant.name;
  const bool is_shipped = seed == kShippedSeed && std::filesystem::exists(shipped / "config.json");
  return is_shipped ? shipped : options_.output / "models" / name;
}

TrainingRequest Study::request_for(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                   const std::filesystem::path& folder) const {
  TrainingRequest request;
  request.recipe = &recipe;
  request.variant = &variant;
  request.seed = seed;
  request.folder = folder;
  request.resume = true;
  request.program = options_.program;
  request.git_commit = options_.git_commit;
  return request;
}

Result<void> Study::train(std::deque<TrainingJob>& jobs) {
  const auto idle = [&] {
    const TrainingProgress progress = training_progress(jobs);
    show(progress.fraction, "training " + progress.text);
  };
  HEADROOM_TRY(const TrainingsDone done,
               run_trainings(backend_, jobs, options_.workers, options_.command_line, {}, idle, stop_));
  if (done.stopped > 0) return Error(ErrorCode::Cancelled, "cancelled");
  return {};
}

Result<void> Study::make(const std::deque<Recipe>& recipes, const std::vector<std::string>& names, Moment moment) {
  for (const std::string& name : names) {
    const std::string file = (options_.assets / "recipes" / (name + ".json")).string();
    if (std::ranges::count(recipes, name, &Recipe::name) > 0) continue;
    Error error(ErrorCode::NotFound, "a recipe is not there");
    return error.in_file(file).advise(kOwnAssets);
  }
  std::deque<TrainingJob> jobs;
  for (const Recipe& recipe : recipes) {
    if (std::ranges::count(names, recipe.name) == 0) continue;
    for (const Variant& variant : recipe.variants)
      for (const std::uint64_t seed : variant.seeds) {
        const std::filesystem::path folder = folder_of(recipe, variant, seed, moment);
        TrainingRequest request = request_for(recipe, variant, seed, folder);
        HEADROOM_TRY(const FolderState state, folder_state(request));
        const bool ended = state == FolderState::Trained || state == FolderState::Diverged;
        if (!ended) jobs.emplace_back(std::move(request), model_name(recipe, variant, seed));
      }
  }
  return train(jobs);
}

Result<void> Study::check_variants(const std::vector<std::string>& names) const {
  for (const Recipe& from : recipes_) {
    if (std::ranges::count(names, from.name) == 0) continue;
    for (const std::string_view variant : variants_of(from.name)) {
      if (std::ranges::count(from.variants, variant, &Variant::base) > 0) continue;
      Error error(ErrorCode::NotFound, "a recipe lacks a variant that a claim is about");
      error.in_file((options_.assets / "recipes" / (from.name + ".json")).string())
          .at_tensor("variants." + std::string(variant));
      return error.advise(kOwnAssets);
    }
  }
  return {};
}

Result<void> Study::train_models(const std::vector<std::string>& names) {
  return make(recipes_, names, Moment::Trained);
}

Result<void> Study::make_initial_models(const std::vector<std::string>& names) {
  return make(untrained_, names, Moment::Initial);
}

Result<StudiedModel> Study::random_model(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                         const std::string& name) {
  const std::filesystem::path folder = options_.output / "models" / name;
  TrainingRequest request = request_for(recipe, variant, seed, folder);
  HEADROOM_TRY(const FolderState state, folder_state(request));
  if (state != FolderState::Trained) {
    std::deque<TrainingJob> jobs;
    jobs.emplace_back(std::move(request), name);
    HEADROOM_TRY_VOID(train(jobs));
  }
  return open_studied(recipe, variant, seed, folder);
}

bool Study::diverged(const Recipe& recipe, const Variant& variant, std::uint64_t seed) const {
  return !std::filesystem::exists(folder_of(recipe, variant, seed, Moment::Trained) / "config.json");
}

Result<const StudiedModel*> Study::model(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                         Moment moment) {
  const std::filesystem::path folder = folder_of(recipe, variant, seed, moment);
  const auto found = models_.find(folder.string());
  if (found != models_.end()) return &found->second;
  HEADROOM_TRY(StudiedModel opened, open_studied(recipe, variant, seed, folder));
  return &models_.emplace(folder.string(), std::move(opened)).first->second;
}

Result<const Evaluation*> Study::evaluation(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                            Moment moment) {
  const std::string key = folder_of(recipe, variant, seed, moment).string();
  const auto found = evaluations_.find(key);
  if (found != evaluations_.end()) return &found->second;
  HEADROOM_TRY(const StudiedModel* studied, model(recipe, variant, seed, moment));
  show(0.0, "measuring " + model_name(recipe, variant, seed));
  EvaluationRequest request;
  request.source = &studied->opened.source;
  request.model = &studied->spec;
  request.sequences = evaluation_sequences(*recipe.task);
  request.residual = true;
  HEADROOM_TRY(Evaluation evaluated, evaluate(backend_, request, stop_));
  return &evaluations_.emplace(key, std::move(evaluated)).first->second;
}

Result<std::vector<double>> Study::history(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                           const std::string& name) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file,
               RunFile::open(folder_of(recipe, variant, seed, Moment::Trained) / kHistoryFile));
  return file->read(name);
}

Result<Spread> Study::spread(const std::string& recipe_name, const std::string& variant_name, Moment moment,
                             const std::function<double(const Evaluation&)>& value) {
  const Recipe& from = recipe(recipe_name);
  const Variant* variant = find_variant(from, variant_name);
  HEADROOM_CHECK(variant != nullptr, "no variant of this name");
  Spread result;
  for (const std::uint64_t seed : variant->seeds) {
    if (moment == Moment::Trained && diverged(from, *variant, seed)) {
      result.values.push_back(kNaN);
      continue;
    }
    HEADROOM_TRY(const Evaluation* evaluated, evaluation(from, *variant, seed, moment));
    result.values.push_back(value(*evaluated));
  }
  return result;
}

Result<Spread> Study::history_spread(const std::string& recipe_name, const std::string& variant_name,
                                     const std::string& name,
                                     const std::function<double(const std::vector<double>&)>& value) {
  const Recipe& from = recipe(recipe_name);
  const Variant* variant = find_variant(from, variant_name);
  HEADROOM_CHECK(variant != nullptr, "no variant of this name");
  Spread result;
  for (const std::uint64_t seed : variant->seeds) {
    HEADROOM_TRY(const std::vector<double> array, history(from, *variant, seed, name));
    result.values.push_back(value(array));
  }
  return result;
}

}  // namespace headroom
