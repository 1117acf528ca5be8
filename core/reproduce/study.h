// The models that claims are examined on: the shipped ones, those still to be trained, and the same ones before their
// first step; with their evaluations and training histories. One thread; HDF5 is used on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/reproduce/seed_test.h"
#include "core/reproduce/spread.h"
#include "core/run/analysis.h"
#include "core/run/evaluation.h"
#include "core/run/open_model.h"
#include "core/training/training_pool.h"

namespace headroom {

struct StudyOptions {
  std::filesystem::path assets;      // has recipes/ and demo/
  std::filesystem::path output;      // what is trained here goes to models/ in it
  std::vector<std::uint64_t> seeds;  // in place of the recipes' own; empty: those
  std::size_t workers = 1;
  std::string program, git_commit, command_line;
};

// Before the first step, or after the last.
enum class Moment { Initial, Trained };

struct StudiedModel {
  const Recipe* recipe = nullptr;
  const Variant* variant = nullptr;
  std::uint64_t seed = 0;
  std::filesystem::path folder;
  OpenedModel opened;
  ModelSpec spec;  // what-ifs of the variant applied
};

class Study {
 public:
  using Progress = std::function<void(double fraction, const std::string& what)>;
  using Stop = std::function<bool()>;
  static Result<std::unique_ptr<Study>> create(ComputeBackend& backend, StudyOptions options, Progress progress,
                                               Stop stop);

  [[nodiscard]] const std::deque<Recipe>& recipes() const { return recipes_; }
  [[nodiscard]] const Recipe& recipe(std::string_view name) const;  // must be there
  [[nodiscard]] ComputeBackend& backend() const { return backend_; }
  [[nodiscard]] const StudyOptions& options() const { return options_; }
  [[nodiscard]] const Stop& stop() const { return stop_; }
  void show(double fraction, const std::string& what) const;

  // NotFound where one of these recipes lacks a variant that the claims are about.
  [[nodiscard]] Result<void> check_variants(const std::vector<std::string>& names) const;
  // Trains the models of these recipes that neither the assets nor an earlier call hold.
  Result<void> train_models(const std::vector<std::string>& names);
  // Makes their models as they are before the first step.
  Result<void> make_initial_models(const std::vector<std::string>& names);

  // Whether the training ended without a model: its loss was no number.
  [[nodiscard]] bool diverged(const Recipe& recipe, const Variant& variant, std::uint64_t seed) const;
  Result<const StudiedModel*> model(const Recipe& recipe, const Variant& variant, std::uint64_t seed, Moment moment);
  // On 64 sequences of the recipe's task that no training has seen.
  Result<const Evaluation*> evaluation(const Recipe& recipe, const Variant& variant, std::uint64_t seed, Moment moment);
  // An array of training.h5.
  Result<std::vector<double>> history(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                      const std::string& name);

  // value(evaluation) for every seed of the recipe; NaN where there is no model.
  Result<Spread> spread(const std::string& recipe, const std::string& variant, Moment moment,
                        const std::function<double(const Evaluation&)>& value);
  // value(array of training.h5) for every seed.
  Result<Spread> history_spread(const std::string& recipe, const std::string& variant, const std::string& name,
                                const std::function<double(const std::vector<double>&)>& value);

  // A model with the weights of step 0, made in output/models/NAME from a recipe that need not be a file.
  Result<StudiedModel> random_model(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                    const std::string& name);

 private:
  Study(ComputeBackend& backend, StudyOptions options, Progress progress, Stop stop)
      : backend_(backend), options_(std::move(options)), progress_(std::move(progress)), stop_(std::move(stop)) {}
  [[nodiscard]] std::filesystem::path folder_of(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                                Moment moment) const;
  [[nodiscard]] TrainingRequest request_for(const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                                            const std::filesystem::path& folder) const;
  Result<void> make(const std::deque<Recipe>& recipes, const std::vector<std::string>& names, Moment moment);
  Result<void> train(std::deque<TrainingJob>& jobs);

  ComputeBackend& backend_;
  StudyOptions options_;
  Progress progress_;
  Stop stop_;
  std::deque<Recipe> recipes_;
  std::deque<Recipe> untrained_;                   // the same with no steps
  std::map<std::string, StudiedModel> models_;     // by folder
  std::map<std::string, Evaluation> evaluations_;  // by folder
};

[[nodiscard]] const Variant* find_variant(const Recipe& recipe, std::string_view name);

// How the models of two variants began, seed by seed: a task draws its batches by (seed, step), a weight is drawn by
// (seed, name) in the order of its elements, so that two models share it where its shape is the same.
[[nodiscard]] Start common_start(const Variant& variant, const Variant& other);

}  // namespace headroom
