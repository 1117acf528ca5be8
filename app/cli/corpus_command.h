// `headroom corpus MODEL …`: runs a checkpoint on many sequences and writes what its heads do over them; `headroom
// merge PARTS …`: parts of such a run as one file. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/analyze_command.h"
#include "app/cli/run_request.h"
#include "app/cli/slurm_command.h"
#include "core/base/result.h"
#include "core/corpus/corpus_run.h"
#include "core/corpus/plan.h"
#include "core/run/compute.h"
#include "core/run/open_model.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headroom {

struct CorpusArguments {
  AnalyzeArguments run;  // its prompt is not used
  std::vector<std::filesystem::path> data;
  std::filesystem::path plan;
  bool plan_only = false, no_ids = false, curves = false;
  std::string shard;  // "3/8"; empty: everything
  std::string split = "none", field, ids_dtype = "uint16", pack = "none", separator = "none", order = "spread";
  std::string bos = "auto", keep = "all";
  std::optional<std::int64_t> document_end;
  std::optional<std::uint64_t> seed;
  std::int64_t length = 0, stride = 0, sequences = 0, pieces = 0, batch_tokens = 0, threads = 0;
  std::vector<double> epsilons = {0.2, 0.3, 0.4};
  std::uint64_t bootstrap_seed = 0;
  SlurmArguments slurm;
};

struct MergeArguments {
  std::vector<std::filesystem::path> parts;
  std::filesystem::path output;
  bool force = false, partial = false, json = false;
  std::string command_line;
};

// Which documents there are, --data first, for every command that reads them.
std::vector<CLI::Option*> add_document_options(CLI::App& command, CorpusArguments& arguments);
// What a plan is, or is made of; returns --plan. Without `with_bos` the command has the option --bos already.
CLI::Option* add_plan_options(CLI::App& command, CorpusArguments& arguments, bool with_bos = true);
// How sequences run, and what is drawn of their statistics.
std::vector<CLI::Option*> add_batch_options(CLI::App& command, CorpusArguments& arguments);
// The options; those that every command of a run has are there already.
void add_corpus_options(CLI::App& command, CorpusArguments& arguments);
// What is kept of sequences and said of them, as every command of a plan has it.
std::vector<CLI::Option*> add_measure_options(CLI::App& command, CorpusArguments& arguments);
void add_merge(CLI::App& app, MergeArguments& arguments);

[[nodiscard]] int run_corpus_command(const CorpusArguments& arguments);

// Before LibTorch is loaded: as many threads as --threads says and the process may have.
void use_threads(const CorpusArguments& arguments);

struct PreparedCorpus {
  CorpusRequest request;
  RunNotes notes;
};
// The request of a plan's sequences, or of a shard of them; OutOfMemory where it does not fit, or where `runs` of them
// keep more than anybody expects. Says on a terminal what it takes. The request borrows model and plan.
[[nodiscard]] Result<PreparedCorpus> prepare_corpus(const CorpusArguments& arguments, const OpenedModel& model,
                                                    const CorpusPlan& plan, ComputeBackend& backend,
                                                    std::int64_t runs = 1);
[[nodiscard]] int run_merge(const MergeArguments& arguments);

}  // namespace headroom
