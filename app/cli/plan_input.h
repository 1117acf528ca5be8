// What commands over many sequences have in common: their plan, and what they say of it and of statistics. Main thread
// only.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/cli/corpus_command.h"
#include "app/cli/progress.h"
#include "core/base/result.h"
#include "core/corpus/plan.h"
#include "core/corpus/statistics.h"
#include "core/run/open_model.h"

namespace headroom {

// What a document is, as core/corpus takes it.
[[nodiscard]] Result<DocumentOptions> document_options(const CorpusArguments& arguments);
// Of --plan, or made of --data; it warns of another tokenizer. Errors as of read_plan_file() and plan_corpus().
[[nodiscard]] Result<CorpusPlan> make_plan(const CorpusArguments& arguments, const OpenedModel& model,
                                           ProgressLine& progress);
// Every file that the command reads: never written onto.
[[nodiscard]] std::vector<std::filesystem::path> plan_inputs(const CorpusArguments& arguments, const OpenedModel& model,
                                                             const CorpusPlan& plan);

// What can be said of the target before documents are read; of one that may be there, a run may find that it is
// finished.
[[nodiscard]] Result<void> check_plan_output(const CorpusArguments& arguments, const OpenedModel& model,
                                             bool may_be_there);

// "32 sequences of 128 positions from 8 of 8 documents in 1 files\n".
[[nodiscard]] std::string plan_text(const CorpusPlan& plan);
[[nodiscard]] nlohmann::json plan_json(const CorpusPlan& plan);
// Each statistic by its name; null for NaN.
[[nodiscard]] nlohmann::json statistics_json(const StatisticValues& values);
// "3.320898 ± 0.098049, 95 % by t [3.089048, 3.552748]".
[[nodiscard]] std::string interval_text(const StatisticValues& values);

void print_json(const nlohmann::json& value);
// On standard error; what begins with "warning: " as it is.
void print_notes(const std::vector<std::string>& notes);
// Of the self-check, on standard error.
void warn_of_violations(const std::vector<std::string>& violations);

}  // namespace headroom
