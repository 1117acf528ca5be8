#include "core/run/analysis_memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/memory_text.h"
#include "core/measure/head_view.h"
#include "core/run/recorder.h"
#include "core/run/run_layout.h"
#include "core/run/run_pieces.h"
#include "core/run/run_plan.h"

namespace headroom {
namespace {

constexpr double kRowsInTheQueue = 4.0;  // as they come, waiting, being written, in the type of the file
constexpr double kWaitingRowBytes =
    2 * kernels::kMapRowBytes + kernels::kNetRowBytes + HeadRecord::kRowBytes + HeadView::kRowBytes;
constexpr double kChunkBytes = 1048576.0;  // HDF5's cache of a dataset
constexpr double kHiddenRows = 2048.0, kExactEntries = 1048576.0;
constexpr std::size_t kShownParts = 4;

LiveRunRequest as_live(const AnalysisRequest& request) {
  LiveRunRequest live;
  live.model = {std::shared_ptr<const OpenedModel>(), request.model};  // not owned
  live.what_ifs = request.what_ifs;
  live.layers = request.layers;
  live.heads = request.heads;
  live.dtype = request.dtype;
  live.device = request.device;
  live.backend = request.backend;
  live.keep_maps = false;
  live.last_layer = last_layer_to_run(request.model->spec, request);
  return live;
}

struct DatasetSizes {
  double largest = 0.0, caches = 0.0;  // bytes: of one layer of a quantity; of HDF5's chunks
};

DatasetSizes dataset_sizes(const RunShape& shape, double heads) {
  DatasetSizes sizes;
  for (const Quantity& quantity : head_quantities()) {
    if (!is_written(quantity, shape)) continue;
    double size = heads * sizeof(double);
    for (const std::int64_t extent : extents(quantity, shape)) size *= static_cast<double>(extent);
    sizes.largest = std::max(sizes.largest, size);
    sizes.caches += std::min(size, kChunkBytes);
  }
  return sizes;
}

std::int64_t token_count(const AnalysisRequest& request) {
  return static_cast<std::int64_t>(request.prompt.ids.size());
}

// The first `count` of the layers that can be measured.
AnalysisRequest with_layers(const AnalysisRequest& request, std::int64_t count) {
  AnalysisRequest changed = request;
  changed.layers = request.model->spec.attention_layers();
  changed.layers.resize(static_cast<std::size_t>(count));
  return changed;
}

AnalysisRequest with_tokens(const AnalysisRequest& request, std::int64_t tokens) {
  AnalysisRequest changed = request;
  changed.prompt.ids.resize(static_cast<std::size_t>(tokens));
  changed.prompt.key_ids.resize(std::min(changed.prompt.key_ids.size(), changed.prompt.ids.size()));
  return changed;
}

// The most of 1 … `most` that fits, where less takes less; 0: none.
std::int64_t most_that_fits(std::int64_t most, const std::function<bool(std::int64_t)>& fits) {
  std::int64_t good = 0, bad = most + 1;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

std::string working_text(const RunMemory& memory) { return memory_text(static_cast<double>(memory.working_bytes)); }

// As --layers takes it: "0-3", "2,5,8-10".
std::string index_list(std::span<const std::int64_t> layers) {
  std::string text = layers_text(layers);
  std::erase(text, ' ');
  return text;
}

std::string allowed_text(const AnalysisBudget& budget) {
  return memory_text(static_cast<double>(budget.allowed_bytes)) + " (" + budget.limit + ")";
}

// "weights of two layers 0.21 GB, LM head 0.11 GB, the rest 0.15 GB": the largest first.
std::string parts_text(const RunMemory& memory) {
  std::string text;
  std::size_t rest = memory.working_bytes;
  for (std::size_t i = 0; i < std::min(kShownParts, memory.items.size()); ++i) {
    const MemoryItem& item = memory.items[i];
    text += (i ? ", " : "") + item.what + " " + memory_text(static_cast<double>(item.bytes));
    rest -= item.bytes;
  }
  return rest > 0 ? text + ", the rest " + memory_text(static_cast<double>(rest)) : text;
}

}  // namespace

RunMemory estimate_analysis_memory(const AnalysisRequest& request, std::int64_t threads) {
  const auto length = token_count(request);
  const LiveRunRequest live = as_live(request);
  RunMemory memory = estimate_run_memory(live, length, threads);
  memory.layer_bytes = 0;
  if (!request.model || request.model->spec.blocks.empty()) return memory;
  const ModelSpec& model = request.model->spec;
  const RunShape shape = make_shape(model, request);
  const double n = static_cast<double>(length), hidden = static_cast<double>(model.hidden_size);
  const double heads =
      static_cast<double>(request.heads.empty() ? static_cast<std::size_t>(model.num_heads) : request.heads.size());
  const auto add = [&](const char* what, std::string formula, double bytes) {
    if (bytes <= 0.0) return;
    memory.items.push_back({what, std::move(formula), static_cast<std::size_t>(std::ceil(bytes))});
    memory.working_bytes += memory.items.back().bytes;
  };
  DatasetSizes sizes = dataset_sizes(shape, heads);
  // One is written and others wait, while a layer makes the next: of a single layer there is no next.
  const double waiting = std::min(1.0 + Recorder::kWaiting, static_cast<double>(shape.layers.size()) - 1.0);
  add("records that wait to be written", format("%g × %g heads × %g × %g bytes", waiting, heads, n, kWaitingRowBytes),
      waiting * heads * n * kWaitingRowBytes);
  add("a quantity while it is written", format("3 × %g bytes", sizes.largest), 3.0 * sizes.largest);
  double rows = 0.0;
  if (request.hidden)
    rows = std::max(rows, std::max(std::min(n, kHiddenRows) * hidden, std::min(n, static_cast<double>(kLogitRows)) *
                                                                          static_cast<double>(model.vocab_size)));
  if (request.exact_maps) {
    double channels = 0.0;
    for (const BlockSpec& block : model.blocks)
      channels =
          std::max(channels, static_cast<double>(std::max(block.attention.head_dim, block.attention.context_dim())));
    rows = std::max({rows, std::min(n * n, kExactEntries + n), n * channels});
    sizes.caches += 8.0 * kChunkBytes;
  }
  add("rows that wait to be written", format("%g × %g × 8 bytes", kRowsInTheQueue, rows), kRowsInTheQueue * rows * 8.0);
  add("HDF5's cache", "", sizes.caches);
  std::ranges::stable_sort(memory.items, std::ranges::greater(), &MemoryItem::bytes);
  return memory;
}

AnalysisBudget make_analysis_budget(const AnalysisRequest& request, std::int64_t threads, double memory_gb,
                                    const FreeMemory& free) {
  AnalysisBudget budget;
  budget.memory = estimate_analysis_memory(request, threads);
  budget.allowed_bytes = static_cast<std::size_t>(std::max(0.0, memory_gb > 0.0 ? memory_gb * 1e9 : free.bytes));
  budget.limit = memory_gb > 0.0 ? "--memory" : free.limit;
  return budget;
}

std::string estimate_text(const AnalysisBudget& budget) {
  return "takes up to " + working_text(budget.memory) + " of " + allowed_text(budget) + ": " +
         parts_text(budget.memory);
}

Error over_budget(const AnalysisRequest& request, std::int64_t threads, const AnalysisBudget& budget) {
  const auto fits = [&](const AnalysisRequest& changed) {
    return estimate_analysis_memory(changed, threads).working_bytes <= budget.allowed_bytes;
  };
  const std::vector<std::int64_t> layers = request.model->spec.attention_layers();
  std::string ways;
  const auto add = [&](const std::string& way) { ways += (ways.empty() ? "" : "; ") + way; };
  const std::int64_t last = request.layers.empty() ? layers.back() : request.layers.back();
  const std::int64_t before = std::ranges::lower_bound(layers, last) - layers.begin();
  if (const std::int64_t count = request.hidden ? 0 : most_that_fits(before, [&](std::int64_t fewer) {
        return fits(with_layers(request, fewer));
      }))
    add("--layers " + index_list(std::span(layers).first(static_cast<std::size_t>(count))) +
        " fits, since a run ends with the last layer that is measured");
  if (const std::int64_t tokens = most_that_fits(token_count(request) - 1,
                                                 [&](std::int64_t count) { return fits(with_tokens(request, count)); }))
    add(format("--max-tokens %lld fits", static_cast<long long>(tokens)));
  if (request.dtype == ComputeDtype::Float32) {
    AnalysisRequest narrow = request;
    narrow.dtype = ComputeDtype::BFloat16;
    if (fits(narrow)) add("--dtype bfloat16 fits");
  }
  add("--memory GB starts it all the same");
  Error error(ErrorCode::OutOfMemory, "the run takes more memory than it may");
  error.wanted("at most " + allowed_text(budget),
               "up to " + working_text(budget.memory) + ": " + parts_text(budget.memory));
  return error.advise(ways);
}

}  // namespace headroom
