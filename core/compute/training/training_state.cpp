#include "core/compute/training/training_state.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr const char* kHistoryPrefix = "history/";

using Arrays = std::vector<std::pair<std::string, std::vector<double>*>>;

// Every array of the history by the name it has in the file.
Arrays arrays_of(TrainingHistory& history) {
  Arrays arrays = {{"loss", &history.loss},
                   {"gradient_norm", &history.gradient_norm},
                   {"learning_rate", &history.learning_rate},
                   {"validation_step", &history.validation_step},
                   {"validation_loss", &history.validation_loss},
                   {"validation_error", &history.validation_error},
                   {"statistics_step", &history.statistics_step}};
  for (const HeadStatistic& statistic : training_statistics())
    arrays.emplace_back(std::string("heads/") + std::string(statistic.name),
                        &history.heads[std::string(statistic.name)]);
  return arrays;
}

// Parameters and moments by name.
std::vector<std::pair<std::string, at::Tensor>> tensors_of(const Parameters& parameters, const Optimizer& optimizer) {
  std::vector<std::pair<std::string, at::Tensor>> tensors = optimizer.state();
  for (const Parameter& parameter : parameters.all()) tensors.emplace_back(parameter.name, parameter.value);
  return tensors;
}

Result<void> read_into(const StateFile& file, const std::filesystem::path& path, const std::string& name,
                       at::Tensor& tensor) {
  const std::vector<std::int64_t>* shape = file.shape(name);
  if (!shape || *shape != tensor.sizes().vec()) {
    Error error(ErrorCode::Corrupt, "the state of the training lacks a tensor");
    return error.in_file(path.string()).at_tensor(name);
  }
  at::Tensor values = at::empty(tensor.sizes(), tensor.scalar_type());
  const auto size = static_cast<std::size_t>(values.numel());
  if (values.scalar_type() == at::kDouble)
    HEADROOM_TRY_VOID(file.read(name, std::span<double>(values.mutable_data_ptr<double>(), size)));
  else
    HEADROOM_TRY_VOID(file.read(name, std::span<float>(values.mutable_data_ptr<float>(), size)));
  tensor.copy_(values);
  return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> training_identity(const TrainingRequest& request) {
  return {{"variant", request.variant->name},
          {"seed", std::to_string(request.seed)},
          {"steps", std::to_string(request.variant->training.steps)},
          {"definition_sha256", request.variant->definition_sha256}};
}

TensorBytes tensor_bytes(const std::string& name, const at::Tensor& tensor) {
  const char* dtype = tensor.scalar_type() == at::kDouble ? "F64" : tensor.scalar_type() == at::kFloat ? "F32" : "BF16";
  return {name,
          dtype,
          tensor.sizes().vec(),
          {static_cast<const std::byte*>(tensor.const_data_ptr()), static_cast<std::size_t>(tensor.nbytes())}};
}

Result<void> save_state(const TrainingRequest& request, std::int64_t step, const Parameters& parameters,
                        const Optimizer& optimizer, const TrainingHistory& history) {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> kept;
  std::vector<TensorBytes> tensors;
  for (const auto& [name, tensor] : tensors_of(parameters, optimizer)) {
    kept.push_back(tensor.detach().cpu().contiguous());
    tensors.push_back(tensor_bytes(name, kept.back()));
  }
  TrainingHistory copy = history;
  for (const auto& [name, values] : arrays_of(copy))
    tensors.push_back({kHistoryPrefix + name,
                       "F64",
                       {static_cast<std::int64_t>(values->size())},
                       std::as_bytes(std::span<const double>(*values))});
  const auto identity = training_identity(request);
  std::map<std::string, std::string> metadata(identity.begin(), identity.end());
  metadata["step"] = std::to_string(step);
  // For who looks at the history while it grows (core/training/stored_history).
  metadata["recipe"] = request.recipe->name;
  metadata["layers"] = std::to_string(request.variant->model.blocks.size());
  metadata["heads"] = std::to_string(request.variant->model.num_heads);
  metadata["gradient_clip"] = format("%.17g", request.variant->training.gradient_clip);
  metadata["loss_unit"] = request.recipe->task->objective() == Objective::NextToken ? "nat" : "1";
  return write_state_file(request.folder / kStateFile, tensors, metadata);
}

Result<std::int64_t> load_state(const TrainingRequest& request, Parameters& parameters, Optimizer& optimizer,
                                TrainingHistory& history) {
  const at::NoGradGuard no_gradients;
  const std::filesystem::path path = request.folder / kStateFile;
  HEADROOM_TRY(const StateFile file, StateFile::open(path));
  for (const auto& [name, wanted] : training_identity(request)) {
    if (file.text(name) == wanted) continue;
    Error error(ErrorCode::Corrupt, "the folder holds the state of another training");
    error.in_file(path.string()).at_tensor(name).wanted(wanted, file.text(name));
    return error.advise("train into another folder, or begin anew with --force");
  }
  for (auto& [name, tensor] : tensors_of(parameters, optimizer)) HEADROOM_TRY_VOID(read_into(file, path, name, tensor));
  for (const auto& [name, values] : arrays_of(history)) {
    const std::vector<std::int64_t>* shape = file.shape(kHistoryPrefix + name);
    if (!shape || shape->size() != 1) {
      Error error(ErrorCode::Corrupt, "the state of the training lacks a part of its history");
      return error.in_file(path.string()).at_tensor(kHistoryPrefix + name);
    }
    values->resize(static_cast<std::size_t>(shape->front()));
    HEADROOM_TRY_VOID(file.read(kHistoryPrefix + name, std::span<double>(*values)));
  }
  const std::string text = file.text("step");
  std::int64_t step = 0;
  if (const auto read = std::from_chars(text.data(), text.data() + text.size(), step);
      read.ec != std::errc() || read.ptr != text.data() + text.size() || step < 0) {
    Error error(ErrorCode::Corrupt, "the state of the training has no step");
    return error.in_file(path.string()).at_tensor("step").wanted("a whole number", text);
  }
  optimizer.set_steps_done(step);
  return step;
}

}  // namespace headroom
