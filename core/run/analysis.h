// One run from a described model to a run file: axes and datasets from the tables, layers written as they finish,
// provenance, self-check and the numbers a summary needs. Call on one thread; it and a thread of its own have HDF5 in
// turns while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/measure/self_check.h"
#include "core/model/what_if.h"
#include "core/run/compute.h"
#include "core/run/open_model.h"
#include "core/run/stages.h"

namespace headroom {

struct Prompt {
  std::vector<std::int32_t> ids;
  std::vector<std::string> texts;        // bytes per token; empty where there is no tokenizer
  std::vector<std::uint8_t> is_special;  // empty where there is no tokenizer
  // Of the other sequence that a capture names, whose keys some calls have; empty elsewhere.
  std::vector<std::int32_t> key_ids;
  std::vector<std::string> key_texts;
  bool bos_added = false;
  bool first_is_bos = false;
  std::string source;  // the text's bytes, or the ids as text: what prompt_sha256 is of
};

// What a run measures only where it is asked to; not where dtype is bfloat16.
struct ExtraMeasures {
  bool rounding = false;  // --rounding: errors of maps in bfloat16
  bool premise = false;   // --premise: what the values are against what the interval supposes
};

struct AnalysisRequest {
  const OpenedModel* model = nullptr;
  std::vector<WhatIf> what_ifs;
  Prompt prompt;
  std::vector<std::int64_t> layers, heads;  // empty: all
  ComputeDtype dtype = ComputeDtype::Float32;
  std::string device = "cpu";
  std::string backend = "auto";
  std::int64_t pool_blocks = 0;  // --maps
  bool components = false;
  bool exact_maps = false;
  ExtraMeasures extra;
  double exact_budget_bytes = 4.0 * 1024 * 1024 * 1024;
  bool hidden = false;
  bool summary_only = false;
  std::filesystem::path output;
  bool force = false;
  std::vector<std::filesystem::path> inputs;
  std::shared_ptr<const Tokenizer> tokenizer;  // names the tokens that are predicted; null: they have no names
  std::string command_line;
  std::string program;     // name and version
  std::string git_commit;  // of the program
};

// Head quantities of the root group, [layers, heads, …] each, kept for text output.
struct SummaryTable {
  std::vector<std::int64_t> layers, heads;
  std::map<std::string, std::vector<double>, std::less<>> values;  // name → row-major

  // Element `index` of quantity `name` at position (l, h) of the axes; NaN where unknown.
  [[nodiscard]] double at(std::string_view name, std::size_t l, std::size_t h, std::size_t index = 0) const;
};

// How far the contexts of a capture's calls are from those that the model itself got.
inline constexpr double kContextTolerance = 1e-3;  // beyond it a head is marked
struct ContextCheck {
  std::int64_t heads = 0;  // that were compared
  double worst = 0.0;      // HeadRecord::context_difference
  std::string where;       // "decoder.layers.0.self_attn, head 3"
};

struct AnalysisOutcome {
  SummaryTable summary;
  ForwardSummary forward;
  AttentionChoice attention;  // the backend that ran
  StageSeconds stages;        // those of the forward, and the writing
  SelfCheck self_check;
  ContextCheck contexts;
  std::vector<std::string> notes;  // what-ifs, warnings
  std::int64_t min_row = 0;
  double sink_null = 0.0;
  std::size_t size_bytes = 0;  // of the run file
  double seconds = 0.0;
};

using ProgressReport = std::function<void(double fraction, const std::string& what)>;

// Cancelled leaves no file. A run that met non-finite values goes on, with NaN in what is made of them; see
// forward.non_finite_weights and forward.non_finite_layer.
[[nodiscard]] Result<AnalysisOutcome> analyze(ComputeBackend& backend, const AnalysisRequest& request,
                                              const ProgressReport& progress, const kernels::StopRequested& stop);

}  // namespace headroom
