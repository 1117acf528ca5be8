#include "core/corpus/corpus_budget.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {

Result<void> check_kept_bytes(const std::string& keep, double bytes) {
  if (keep != "all" || bytes <= kMostKeptBytes) return {};
  Error error(ErrorCode::OutOfMemory, "what would be kept of all sequences is larger than without being asked for");
  return error.at_tensor("--keep")
      .wanted("at most " + size_text(kMostKeptBytes), size_text(bytes))
      .advise("--keep core keeps a tenth; name the quantities to keep them whatever their size");
}

AnalysisBudget make_corpus_budget(const CorpusRequest& request, const CorpusSize& size, std::int64_t threads,
                                  double memory_gb, const FreeMemory& free) {
  AnalysisBudget budget = make_analysis_budget(request.run, threads, memory_gb, free);
  budget.memory.items.push_back({"sequences together and counts of rows",
                                 format("%.0f bytes of a batch and of the file", size.working_bytes),
                                 static_cast<std::size_t>(size.working_bytes)});
  budget.memory.working_bytes += budget.memory.items.back().bytes;
  std::ranges::stable_sort(budget.memory.items, std::ranges::greater(), &MemoryItem::bytes);
  return budget;
}

}  // namespace headroom
