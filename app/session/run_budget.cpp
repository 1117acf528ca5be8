#include "app/session/run_budget.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// Two digits in GB, never less than `bytes`; as the setting and its command take it.
double gigabytes_above(double bytes) {
  const double gb = bytes / 1e9;
  const double step = std::pow(10.0, std::floor(std::log10(std::max(gb, 1e-6))) - 1.0);
  return std::ceil(gb / step - 1e-9) * step;
}

LiveRunRequest without_maps(const LiveRunRequest& request) {
  LiveRunRequest changed = request;
  changed.keep_maps = false;
  return changed;
}

std::vector<RunOffer> make_offers(const LiveRunRequest& request, const RunBudget& budget,
                                  const BudgetQuestion& question) {
  std::vector<RunOffer> offers;
  const std::int64_t length = budget.memory.length;
  if (request.keep_maps) {
    const LiveRunRequest changed = without_maps(request);
    const RunMemory memory = estimate_run_memory(changed, length, question.threads);
    if (fit_run(memory, budget.budget_bytes, question.inputs_share).fits)
      offers.push_back({"Run without maps",
                        "needs " + memory_text(static_cast<double>(memory.least_bytes())),
                        {"run without-maps"}});
  }
  const std::int64_t fits = round_down(longest_fitting(request, budget.budget_bytes, length - 1, question.threads));
  if (fits > 0) {
    const std::string count = grouped_text(fits);
    const std::string line = request.keep_maps ? "run" : "run without-maps";
    offers.push_back({fits == 1 ? "Run on the first token" : "Run on the first " + count + " tokens",
                      "of " + grouped_text(length),
                      {"prompt.first " + std::to_string(fits), line}});
  }
  return offers;
}

}  // namespace

std::int64_t round_down(std::int64_t value) {
  std::int64_t step = 1;
  while (value / step >= 100) step *= 10;
  return value / step * step;
}

RunBudget make_run_budget(const LiveRunRequest& request, std::int64_t length, const BudgetQuestion& question) {
  RunBudget budget;
  budget.memory = estimate_run_memory(request, length, question.threads);
  budget.maps = request.keep_maps;
  budget.memory_gb = question.memory_gb;
  budget.free = question.free;
  double bytes = 0.5 * question.free.bytes;
  if (question.memory_gb > 0.0) {
    budget.held_bytes = question.held_bytes;
    bytes = std::min(question.memory_gb * 1e9 - static_cast<double>(question.held_bytes), question.free.bytes);
  }
  budget.budget_bytes = static_cast<std::size_t>(std::max(0.0, bytes));
  budget.fit = fit_run(budget.memory, budget.budget_bytes, question.inputs_share);
  if (budget.fit.fits) return budget;
  budget.offers = make_offers(request, budget, question);
  for (const std::size_t wanted : {budget.memory.all_bytes(), budget.memory.least_bytes()}) {
    const double needed = static_cast<double>(wanted),
                 total = gigabytes_above(needed + static_cast<double>(question.held_bytes));
    if (needed > question.free.bytes || total > 4096.0) continue;
    const std::string text = format("%.6g", total);
    budget.offers.push_back({"Raise the budget to " + text + " GB",
                             memory_text(question.free.bytes) + " are free",
                             {"memory " + text, request.keep_maps ? "run" : "run without-maps"}});
    break;
  }
  return budget;
}

std::vector<RunOffer> offers_after_failure(const LiveRunRequest& request, const RunBudget& failed,
                                           const BudgetQuestion& question) {
  RunBudget smaller = failed;
  smaller.budget_bytes =
      std::min(failed.fit.needed_bytes / 2, static_cast<std::size_t>(std::max(0.0, 0.5 * question.free.bytes)));
  return make_offers(request, smaller, question);
}

std::string budget_text(const RunBudget& budget) {
  const std::string bytes = memory_text(static_cast<double>(budget.budget_bytes));
  const bool machine = budget.free.limit == "free memory";
  if (budget.memory_gb <= 0.0) return bytes + ", half of what " + (machine ? "is free" : budget.free.limit + " leaves");
  if (static_cast<double>(budget.budget_bytes) + 1.0 < budget.memory_gb * 1e9 - static_cast<double>(budget.held_bytes))
    return bytes + ", all that " + (machine ? "is free" : budget.free.limit + " leaves");
  if (budget.held_bytes > 0)
    return bytes + ", what earlier runs leave of the " + memory_text(budget.memory_gb * 1e9) + " set for runs";
  return bytes + ", as set for runs";
}

std::string estimate_text(const RunBudget& budget) {
  const std::string needed = memory_text(static_cast<double>(budget.fit.needed_bytes)),
                    allowed = memory_text(static_cast<double>(budget.budget_bytes));
  if (!budget.fit.fits) return "takes up to " + needed + ", allowed " + allowed;
  std::string text = "takes up to " + needed + " of " + allowed;
  if (!budget.maps) return text + ": no maps are kept";
  if (budget.fit.kept_layers == budget.memory.layers) return text;
  const auto kept = static_cast<long long>(budget.fit.kept_layers),
             layers = static_cast<long long>(budget.memory.layers);
  return text + format(": maps of %lld of %lld layers", kept, layers);
}

Error over_budget(const RunBudget& budget) {
  Error error(ErrorCode::OutOfMemory, "the run takes more memory than allowed");
  error.wanted("at most " + budget_text(budget), "up to " + memory_text(static_cast<double>(budget.fit.needed_bytes)) +
                                                     (budget.maps ? " with the fewest maps kept" : " without maps"));
  return error.advise("a shorter prompt, or more memory for runs: memory GB");
}

}  // namespace headroom
