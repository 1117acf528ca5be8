#include "app/cli/run_request.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cli/address.h"
#include "app/cli/prompt_input.h"
#include "app/process/version.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

// The device itself, and for `auto` why it is that one.
std::string choose_device(const std::string& wanted, const std::string& backend, const BackendInfo& info,
                          std::string& note) {
  if (wanted != "auto") return wanted;
  if (backend == "cpu" || backend == "reference") {
    note = "auto: the backend " + backend + " runs on the processor";
    return "cpu";
  }
  // A backend that needs a GPU is never moved to the processor: what is missing is said where the device is opened.
  if (backend == "cuda") {
    note = "auto: the backend cuda";
    return "cuda:0";
  }
  note = info.devices.size() > 1 ? "auto: the first CUDA device" : "auto: " + info.cuda_note;
  return info.devices.size() > 1 ? "cuda:0" : "cpu";
}

}  // namespace

std::vector<std::filesystem::path> input_paths(const AnalyzeArguments& arguments, const Checkpoint& checkpoint) {
  std::vector<std::filesystem::path> inputs;
  for (const InputFile& file : checkpoint.files()) inputs.push_back(file.path());
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(checkpoint.path(), ignored);
  const std::filesystem::path folder = is_folder ? checkpoint.path() : checkpoint.path().parent_path();
  for (const char* name : {"config.json", "tokenizer.json", "tokenizer_config.json", kExamplePromptFile})
    inputs.push_back(folder / name);
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored))
    if (entry.path().string().ends_with(".index.json")) inputs.push_back(entry.path());
  if (!arguments.options.config.empty()) inputs.push_back(arguments.options.config);
  for (const auto& file : {arguments.prompt.text_file, arguments.prompt.ids_file})
    if (file && *file != "-") inputs.emplace_back(*file);
  if (arguments.prompt.sequence)
    inputs.emplace_back(arguments.prompt.sequence->substr(0, arguments.prompt.sequence->rfind("::S")));
  return inputs;
}

Result<void> place_arguments(AnalyzeArguments& arguments) {
  HEADROOM_TRY(const Address address, parse_address(arguments.path));
  arguments.path = address.path;
  arguments.options.sequence = address.sequence;
  if (arguments.layers.empty()) arguments.layers = address.layers;
  if (arguments.heads.empty()) arguments.heads = address.heads;
  return {};
}

Result<AnalysisRequest> prepare_run(const AnalyzeArguments& arguments, const OpenedModel& model,
                                    ComputeBackend& backend, RunNotes& notes) {
  AnalysisRequest request;
  request.model = &model;
  auto dtype = parse_dtype(arguments.dtype);
  if (!dtype) return std::move(dtype.error()).at_tensor("--dtype");
  request.dtype = *dtype;
  for (const std::string& text : arguments.what_ifs) {
    HEADROOM_TRY(WhatIf what_if, parse_what_if(text));
    request.what_ifs.push_back(std::move(what_if));
  }
  if (!arguments.layers.empty()) {
    HEADROOM_TRY(request.layers,
                 parse_index_list(arguments.layers, "--layers", static_cast<std::int64_t>(model.spec.blocks.size())));
  }
  if (!arguments.heads.empty()) {
    HEADROOM_TRY(request.heads, parse_index_list(arguments.heads, "--heads", model.spec.num_heads));
  }
  TokenizerUse tokenizer;
  HEADROOM_TRY(request.prompt, read_prompt(arguments.prompt, model, tokenizer));
  notes.tokenizer = std::move(tokenizer.note);
  request.tokenizer = std::move(tokenizer.tokenizer);
  request.device = choose_device(arguments.device, arguments.backend, backend.info(), notes.device);
  request.backend = arguments.backend;
  request.pool_blocks = arguments.pool_blocks;
  request.components = arguments.components;
  request.extra = arguments.extra;
  request.exact_maps = arguments.exact_maps;
  request.exact_budget_bytes = arguments.exact_budget_gib * 1073741824.0;
  request.hidden = arguments.hidden;
  request.summary_only = arguments.only == "summary";
  request.output = arguments.output;
  request.force = arguments.force;
  request.inputs = input_paths(arguments, *model.checkpoint);
  request.command_line = arguments.command_line;
  request.program = std::string("headroom ") + kVersion;
  request.git_commit = kGitCommit;
  return request;
}

}  // namespace headroom
