#include "core/run/loss_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "core/base/student.h"
#include "core/measure/head_view.h"
#include "core/run/ablation_summary.h"

namespace headroom {

std::size_t LossTable::tested() const {
  if (!of_file) return asked;
  return static_cast<std::size_t>(std::ranges::count_if(error, [](double one) { return std::isfinite(one); })) +
         set_errors.size();
}

double LossTable::half_width() const {
  if (blocks < 2) return kNaN;
  return student_point(kIntervalLevel / static_cast<double>(std::max<std::size_t>(1, tested())),
                       static_cast<double>(blocks) - 1.0);
}

double LossTable::detectable() const {
  std::vector<double> errors = set_errors;
  std::ranges::copy_if(error, std::back_inserter(errors), [](double one) { return std::isfinite(one); });
  if (blocks < 2 || errors.empty()) return kNaN;
  return student_detectable(static_cast<double>(blocks) - 1.0, kIntervalLevel / static_cast<double>(tested()),
                            kSeenShare) *
         quantiles(std::move(errors), {0.5}).front();
}

bool LossTable::differs(std::size_t place) const { return std::abs(delta[place]) > interval(place); }

std::size_t LossTable::count_differing() const {
  const double half = half_width();
  std::size_t count = 0;
  for (std::size_t i = 0; i < delta.size(); ++i) count += std::abs(delta[i]) > half * error[i] ? 1 : 0;
  return count;
}

std::vector<std::size_t> LossTable::by_change() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < delta.size(); ++i)
    if (std::isfinite(delta[i])) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return delta[i]; });
  return order;
}

LossTable make_loss_table(const AblationMode& mode, std::vector<std::int64_t> layers, std::vector<std::int64_t> heads,
                          std::span<const double> losses) {
  LossTable table;
  table.mode = mode;
  table.layers = std::move(layers);
  table.heads = std::move(heads);
  table.delta.assign(table.layers.size() * table.heads.size(), kNaN);
  table.error = table.delta;
  table.predictions = losses.size();
  double sum = 0.0;
  for (const double loss : losses) sum += loss;
  if (!losses.empty()) table.loss = sum / static_cast<double>(losses.size());
  table.blocks = token_blocks(losses.size());
  return table;
}

void add_change(LossTable& table, const AblatedSet& single) {
  if (single.heads.size() != 1 || !single.done()) return;
  const std::optional<std::size_t> place = table.place(single.heads.front());
  if (!place) return;
  table.delta[*place] = single.delta_loss;
  if (table.blocks > 0) table.error[*place] = error_of_blocks(single.by_token, table.blocks);
  ++table.done;
}

LossTable loss_table_of(const AblationMode& mode, std::vector<std::int64_t> layers, std::vector<std::int64_t> heads,
                        const AblationOutcome& outcome) {
  LossTable table = make_loss_table(mode, std::move(layers), std::move(heads), outcome.token_loss);
  table.asked = outcome.singles;
  for (std::size_t i = 0; i < outcome.singles; ++i) add_change(table, outcome.results[i]);
  return table;
}

}  // namespace headroom
