#include "core/compute/training/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <omp.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/compute/device.h"
#include "core/compute/training/head_measurements.h"
#include "core/compute/training/optimizer.h"
#include "core/compute/training/training_state.h"
#include "core/training/checkpoint_writer.h"
#include "core/training/folder_lock.h"

namespace headroom {
namespace {

constexpr std::size_t kLossWindow = 100;  // steps that the loss in config.json is a mean of

class Trainer {
 public:
  Trainer(const TrainingRequest& request, TorchTarget target, TrainingObserver& observer)
      : request_(request),
        settings_(request.variant->training),
        task_(*request.recipe->task),
        observer_(observer),
        parameters_(Parameters::create(request.variant->model, settings_, request.recipe->frozen, task_.embedding(),
                                       request.seed, target)),
        optimizer_(parameters_, settings_) {}

  Result<TrainingOutcome> run() {
    const auto begin = std::chrono::steady_clock::now();
    HEADROOM_TRY(const TrainableModel model,
                 TrainableModel::create(request_.variant->model, parameters_, task_.length()));
    for (const Parameter& parameter : parameters_.all()) {
      outcome_.parameters += parameter.value.numel();
      if (parameter.trained) outcome_.trained_parameters += parameter.value.numel();
    }
    HEADROOM_TRY_VOID(prepare_folder());
    const std::int64_t first = outcome_.step;
    auto saved = begin;
    const auto since = [](auto from) {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    };
    for (bool last = false; !last;) {
      const std::int64_t step = outcome_.step;
      const bool stop = observer_.stop_requested() || (request_.stop_after >= 0 && step >= first + request_.stop_after);
      if (stop || since(saved) > request_.save_every_seconds) {
        HEADROOM_TRY_VOID(save_state(request_, step, parameters_, optimizer_, outcome_.history));
        saved = std::chrono::steady_clock::now();
      }
      if (stop) {
        HEADROOM_TRY_VOID(
            write_model(request_.folder));  // what there is can be looked at; the state says it is not the end
        break;
      }
      HEADROOM_TRY(last, one_step(model, step));
    }
    outcome_.seconds = since(begin);
    return std::move(outcome_);
  }

 private:
  Result<void> prepare_folder() {
    HEADROOM_TRY(lock_, FolderLock::take(request_.folder));
    if (!request_.resume || !std::filesystem::exists(request_.folder / kStateFile)) return {};
    HEADROOM_TRY(outcome_.step, load_state(request_, parameters_, optimizer_, outcome_.history));
    return {};
  }

  [[nodiscard]] BatchTensors batch(Split split, std::int64_t index) const {
    return {task_.batch(split, request_.seed, static_cast<std::uint64_t>(index), settings_.batch),
            parameters_.target()};
  }

  // What is measured before step `step`, and the step; true where the training ends before it.
  Result<bool> one_step(const TrainableModel& model, std::int64_t step) {
    TrainingHistory& history = outcome_.history;
    const BatchTensors now = batch(Split::Training, step);
    bool last = step == settings_.steps;
    // A state saved at the end has the measurements of that step in its history.
    const auto measured = [&](const std::vector<double>& steps) {
      return !steps.empty() && steps.back() == static_cast<double>(step);
    };
    if (last || step % settings_.validate_every == 0) {
      if (!measured(history.validation_step)) validate(model, step);
      last = last || history.validation_error.back() < settings_.stop_below_error;
    }
    if ((last || step % settings_.statistics_every == 0) && !measured(history.statistics_step)) {
      history.statistics_step.push_back(static_cast<double>(step));
      HEADROOM_TRY_VOID(measure_heads(model, now, training_statistics(), history));
    }
    for (const std::int64_t kept : request_.variant->checkpoints)
      if (kept == step && request_.seed == request_.recipe->seeds.front())
        HEADROOM_TRY_VOID(write_model(request_.folder / step_folder(step)));
    if (last) {
      HEADROOM_TRY_VOID(write_model(request_.folder));
      outcome_.finished = true;
      HEADROOM_TRY_VOID(save_state(request_, step, parameters_, optimizer_, history));
      return true;
    }

    const at::Tensor loss = task_loss(model(now.tokens), now);
    loss.backward();
    const double value = loss.item<double>();
    const double norm = optimizer_.clip_gradients();
    const double rate = learning_rate_at(settings_, step);
    history.loss.push_back(value);
    history.gradient_norm.push_back(norm);
    history.learning_rate.push_back(rate);
    if (!std::isfinite(value) || !std::isfinite(norm)) {
      outcome_.diverged_step = step;
      return true;
    }
    optimizer_.step(rate);
    ++outcome_.step;
    observer_.on_step(outcome_.step, settings_.steps, value);
    return false;
  }

  void validate(const TrainableModel& model, std::int64_t step) {
    const at::NoGradGuard no_gradients;
    double loss = 0.0, error = kNaN;
    for (std::int64_t index = 0; index < settings_.validation_batches; ++index) {
      const BatchTensors given = batch(Split::Validation, index);
      const TrainableModel::Output output = model(given.tokens);
      loss += task_loss(output, given).item<double>() / static_cast<double>(settings_.validation_batches);
      if (given.residual.defined())
        error = std::fmax(error, (output.added - given.residual).abs().max().item<double>());
    }
    outcome_.history.validation_step.push_back(static_cast<double>(step));
    outcome_.history.validation_loss.push_back(loss);
    outcome_.history.validation_error.push_back(error);
  }

  [[nodiscard]] nlohmann::json training_note() const {
    const TrainingHistory& history = outcome_.history;
    const std::size_t count = std::min(kLossWindow, history.loss.size());
    double recent = 0.0;
    for (std::size_t i = history.loss.size() - count; i < history.loss.size(); ++i) recent += history.loss[i];
    const auto last = [](const std::vector<double>& values) {
      return values.empty() || std::isnan(values.back()) ? nlohmann::json() : nlohmann::json(values.back());
    };
    nlohmann::json what_ifs = nlohmann::json::array();
    for (const WhatIf& what_if : request_.variant->what_ifs) what_ifs.push_back(what_if.text);
    return {{"recipe", request_.recipe->name},
            {"recipe_sha256", request_.recipe->sha256},
            {"variant", request_.variant->name},
            {"seed", request_.seed},
            {"step", outcome_.step},
            {"loss", count > 0 ? nlohmann::json(recent / static_cast<double>(count)) : nlohmann::json()},
            {"validation_loss", last(history.validation_loss)},
            {"validation_error", last(history.validation_error)},
            {"parameters", outcome_.parameters},
            {"trained_parameters", outcome_.trained_parameters},
            {"licence", request_.recipe->licence},
            {"what_if", what_ifs},
            {"program", request_.program},
            {"git_commit", request_.git_commit}};
  }

  [[nodiscard]] Result<void> write_model(const std::filesystem::path& folder) const {
    const at::NoGradGuard no_gradients;
    const bool narrow = request_.recipe->stored_dtype == "bfloat16";
    std::vector<at::Tensor> kept;
    std::vector<TensorBytes> tensors;
    for (const Parameter& parameter : parameters_.all()) {
      kept.push_back(parameter.value.detach().cpu().to(narrow ? at::kBFloat16 : at::kFloat).contiguous());
      tensors.push_back(tensor_bytes(parameter.name, kept.back()));
    }
    nlohmann::json config = nlohmann::json::parse(request_.variant->config);
    config["training"] = training_note();
    return write_checkpoint(folder, config, task_siblings(task_), tensors);
  }

  const TrainingRequest& request_;
  const TrainingSettings& settings_;
  const Task& task_;
  TrainingObserver& observer_;
  Parameters parameters_;
  Optimizer optimizer_;
  TrainingOutcome outcome_;
  FolderLock lock_;
};

}  // namespace

Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer) {
  HEADROOM_TRY(const at::Device device, open_device(request.device));
  // LibTorch gives every thread a pool of its own; MKL and OpenMP ask this thread's setting.
  at::set_num_threads(request.threads);
  omp_set_num_threads(request.threads);
  TorchTarget target;
  target.device = device;
  return Trainer(request, target, observer).run();
}

}  // namespace headroom
