#include "app/figures/figure_runs.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/sha256.h"
#include "core/corpus/shard_origin.h"
#include "core/io/blocks_schema.h"
#include "core/io/circuits_schema.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/run/read_ablation.h"
#include "core/run/read_run.h"
#include "core/run/run_overview.h"

namespace headroom {
namespace {

using Attributes = std::map<std::string, std::string, std::less<>>;

// The heads of a model, of which the file has numbers by name.
Result<std::shared_ptr<const RunSnapshot>> heads_of_file(const RunFile& file, const std::filesystem::path& path,
                                                         Attributes attributes) {
  auto heads = std::make_shared<RunSnapshot>();
  for (const auto& [name, indices] : {std::pair{"layer", &heads->layers}, {"head", &heads->heads}}) {
    HEADROOM_TRY(const std::vector<double> values, file.read_axis(name));
    for (const double value : values) indices->push_back(static_cast<std::int64_t>(value));
    if (indices->empty() || indices->front() < 0 ||
        std::ranges::adjacent_find(*indices, std::greater_equal()) != indices->end())
      return Error(ErrorCode::Corrupt, "an axis does not ascend").at_tensor(name).in_file(path.string());
  }
  heads->data.resize(heads->layers.size());
  heads->model_name = attributes["model_id"];
  heads->what_ifs = stored_what_ifs(file);
  heads->attributes = std::move(attributes);
  return std::shared_ptr<const RunSnapshot>(std::move(heads));
}

// As the window opens it, with what figures name beside that.
Result<std::shared_ptr<const RunSnapshot>> run_of_ablation(const std::filesystem::path& path, Attributes attributes) {
  HEADROOM_TRY(const OpenedAblation opened, read_ablation(path));
  auto run = std::make_shared<RunSnapshot>(*opened.run);
  run->attributes.merge(std::move(attributes));
  return std::shared_ptr<const RunSnapshot>(std::move(run));
}

}  // namespace

std::string FigureRun::attribute(std::string_view wanted) const {
  if (run == nullptr && history == nullptr) return {};
  const auto& all = run != nullptr ? run->attributes : history->attributes;
  const auto found = all.find(wanted);
  return found == all.end() ? std::string() : found->second;
}

Result<FigureRun> read_figure_run(const std::filesystem::path& path) {
  Attributes attributes;
  std::string schema;
  std::vector<std::string> violations;
  if (is_hdf5_file(path)) {
    HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
    for (const char* name : {"schema_name",
                             "recipe_sha256",
                             "variant",
                             "seed",
                             "created_utc",
                             "device",
                             "dtype_compute",
                             "source",
                             "diverged_step",
                             "model_id",
                             "checkpoint_sha256",
                             "prompt_sha256",
                             "bos_added",
                             "first_token_is_bos",
                             "complete",
                             "vocabulary",
                             "hidden_size",
                             "block",
                             "always",
                             "data",
                             "needles",
                             "samples",
                             "cells_asked",
                             "cells_done",
                             "non_finite_prompts",
                             "sequences_missing",
                             "ids_sha256"})
      if (const Result<std::string> text = file->root_attribute(name)) attributes.emplace(name, *text);
    schema = attributes["schema_name"];
    HEADROOM_TRY(attributes[kFileHash], sha256_of_file(path));
    HEADROOM_TRY(violations, read_violations(*file));
    if (!violations.empty()) attributes[kFirstViolation] = violations.front();
    if (schema == kBlocksSchemaName || schema == kCircuitsSchemaName || schema == kSeriesSchemaName ||
        schema == kCorpusSchemaName || schema == kNeedleSchemaName) {
      HEADROOM_TRY(auto heads, heads_of_file(*file, path, std::move(attributes)));
      return FigureRun{path, std::move(heads)};
    }
  }
  if (schema == kAblationSchemaName) {
    HEADROOM_TRY(auto run, run_of_ablation(path, std::move(attributes)));
    return FigureRun{path, std::move(run)};
  }
  if (schema == kTrainingSchemaName) {
    HEADROOM_TRY(StoredHistory curves, read_history(path, std::nullopt));
    return FigureRun{path, nullptr,
                     std::make_shared<const FigureHistory>(FigureHistory{std::move(curves), std::move(attributes)})};
  }
  HEADROOM_TRY(auto run, read_run_without_predictions(path));
  HEADROOM_TRY(run->attributes[kFileHash], sha256_of_file(path));
  if (!violations.empty()) run->attributes[kFirstViolation] = violations.front();
  return FigureRun{path, std::move(run)};
}

}  // namespace headroom
