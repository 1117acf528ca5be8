#include "core/circuits/vocabulary.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "core/base/all_threads.h"
#include "core/base/format.h"
#include "core/base/mutex.h"
#include "core/base/process_memory.h"
#include "kernels/cpu/product.h"

namespace headroom {
namespace {

constexpr std::int64_t kStripTokens = 1024;
constexpr double kSumBytes = 1024.0 * 1024.0 * 1024.0;  // of all partial sums

}  // namespace

std::int64_t path_vocabulary(const ModelSpec& model) {
  return std::min(model.embedding.rows(), model.lm_head.weight.rows());
}

Result<Thin> read_rows(const ModelSource& source, const WeightRef& weight, std::int64_t first, std::int64_t count) {
  Thin rows(count, weight.columns());
  if (weight.row_group > 0 || weight.transposed) {
    for (std::int64_t r = 0; r < count; ++r)
      HEADROOM_TRY_VOID(
          source.read_row(weight, first + r, std::span<double>(rows.row(r), static_cast<std::size_t>(rows.columns))));
    return rows;
  }
  WeightRef part = weight;
  part.row_begin += first;
  part.row_count = count;
  HEADROOM_TRY_VOID(source.read(part, std::span<double>(rows.values)));
  return rows;
}

Result<std::vector<double>> read_token(const ModelSource& source, const WeightRef& weight, std::int64_t token) {
  std::vector<double> row(static_cast<std::size_t>(weight.columns()));
  HEADROOM_TRY_VOID(source.read_row(weight, token, std::span<double>(row)));
  return row;
}

Result<Thin> embedding_times_unembedding(const ModelSource& source, const ModelSpec& model,
                                         const CircuitProgress& progress, const CircuitStop& stop) {
  const std::int64_t hidden = model.embedding.columns(), tokens = path_vocabulary(model);
  const std::int64_t strips = (tokens + kStripTokens - 1) / kStripTokens;
  const double bytes_of_sum = 8.0 * static_cast<double>(hidden) * static_cast<double>(hidden);
  // Each part of the strips has a sum of its own. How many there are follows from the model alone, so that any number
  // of threads gives the same bits.
  const std::int64_t parts = std::min(strips, std::clamp<std::int64_t>(std::llround(kSumBytes / bytes_of_sum), 2, 16));
  const double bytes = static_cast<double>(parts) * bytes_of_sum;
  const FreeMemory memory = free_memory();
  if (bytes > memory.bytes) {
    Error error(ErrorCode::OutOfMemory, "the product of embedding and unembedding does not fit into memory");
    return error.wanted(format("%.1f GB", bytes / 1e9),
                        format("%.1f GB, %s", memory.bytes / 1e9, memory.limit.c_str()));
  }
  std::vector<Thin> sums(static_cast<std::size_t>(parts), Thin(hidden, hidden));
  Mutex mutex;
  std::optional<Error> failed;
  std::int64_t done = 0;
  std::atomic<bool> ended{false};
  on_all_threads(parts, [&](std::int64_t part) {
    for (std::int64_t strip = part; strip < strips && !ended; strip += parts) {
      if (stop && stop()) ended = true;
      const std::int64_t first = strip * kStripTokens, count = std::min(kStripTokens, tokens - first);
      const auto embedding = read_rows(source, model.embedding, first, count);
      const auto other = model.tied ? embedding : read_rows(source, model.lm_head.weight, first, count);
      if (!embedding || !other) {
        const MutexLock lock(mutex);
        failed = embedding ? other.error() : embedding.error();
        ended = true;
        return;
      }
      kernels::add_product(embedding->values.data(), hidden, other->values.data(), hidden, count, hidden, hidden,
                           sums[static_cast<std::size_t>(part)].values.data(), hidden);
      const MutexLock lock(mutex);
      ++done;
      if (progress) progress(static_cast<double>(done) / static_cast<double>(strips));
    }
  });
  if (failed) return *failed;
  if (ended) return Error(ErrorCode::Cancelled, "stopped while embedding and unembedding were multiplied");
  for (std::size_t part = 1; part < sums.size(); ++part)
    for (std::size_t i = 0; i < sums[part].values.size(); ++i) sums[0].values[i] += sums[part].values[i];
  return std::move(sums[0]);
}

}  // namespace headroom
