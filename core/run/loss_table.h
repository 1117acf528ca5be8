// What each head is worth on one text, as it is shown while a sweep of ablations goes on, or on the sequences of a
// plan: loss changes of single heads with their standard errors, without the losses of single tokens. Plain values;
// safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/numbers.h"
#include "core/run/ablation.h"

namespace headroom {

struct LossTable {
  AblationMode mode;
  std::vector<std::int64_t> layers, heads;  // axes, ascending
  std::vector<double> delta, error;         // [layers, heads], nats; NaN: not computed (yet), or no such head
  double loss = kNaN;                       // of the model as it is, mean over `predictions` tokens
  std::size_t predictions = 0;
  std::size_t blocks = 0;           // of tokens, that an error is by; 0: too few tokens, and errors are NaN
  std::size_t sequences = 0;        // of a plan, over which these are means: then blocks are its documents; 0: one text
  std::size_t asked = 0, done = 0;  // single heads
  // Of a file: standard errors of sets of several heads that are done, which the table does not hold otherwise.
  std::vector<double> set_errors;
  bool of_file = false;  // nothing more arrives

  // Place of a head in [layers, heads]; nothing where it is on none of the axes.
  [[nodiscard]] std::optional<std::size_t> place(const HeadRef& head) const { return place_of(layers, heads, head); }
  [[nodiscard]] HeadRef head_at(std::size_t place) const { return headroom::head_at(layers, heads, place); }
  // Changes that the intervals hold for together (Bonferroni): of a file all that were measured, sets too; else all
  // that were asked for, so that intervals do not move while they arrive.
  [[nodiscard]] std::size_t tested() const;
  // Half of a 95 % interval in standard errors, Student's t with blocks − 1 degrees, corrected for those that are
  // tested; NaN without blocks.
  [[nodiscard]] double half_width() const;
  // The change that is seen in 80 of 100 cases at the median standard error, nats; NaN without blocks.
  [[nodiscard]] double detectable() const;
  // By place: half_width · error.
  [[nodiscard]] double interval(std::size_t place) const { return half_width() * error[place]; }
  // Whether the interval leaves out 0.
  [[nodiscard]] bool differs(std::size_t place) const;
  [[nodiscard]] std::size_t count_differing() const;
  // Places with a finite change, the largest first, at equal ones by head.
  [[nodiscard]] std::vector<std::size_t> by_change() const;
};

// Nothing of it is done yet. `losses`: of the model's tokens 1 … n − 1.
[[nodiscard]] LossTable make_loss_table(const AblationMode& mode, std::vector<std::int64_t> layers,
                                        std::vector<std::int64_t> heads, std::span<const double> losses);
// One head more; a head that is on none of the axes changes nothing.
void add_change(LossTable& table, const AblatedSet& single);
// Of a sweep whole or stopped; `layers`, `heads`: the axes, which may hold more than was asked for.
[[nodiscard]] LossTable loss_table_of(const AblationMode& mode, std::vector<std::int64_t> layers,
                                      std::vector<std::int64_t> heads, const AblationOutcome& outcome);

}  // namespace headroom
