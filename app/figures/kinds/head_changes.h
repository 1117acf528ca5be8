// What files of `headroom ablate` say of heads: changes of the loss and their intervals, over stretches of one text,
// over several texts or over the documents of a plan, and the same heads taken away in a second way. HDF5 is used: one
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "core/base/numbers.h"
#include "core/run/ablation_summary.h"

namespace headroom {

struct HeadChange {
  HeadRef head;
  double change = kNaN, low = kNaN, high = kNaN;  // nats, means over texts; low, high: NaN where there is no interval
  double sink = kNaN;                             // what key 0 gets, mean over texts
  double other = kNaN;                            // the change by the second way

  [[nodiscard]] bool has_interval() const { return low <= high; }
  [[nodiscard]] bool apart() const { return has_interval() && (low > 0.0 || high < 0.0); }
};

// Several heads that are taken away together.
struct SetChange {
  std::vector<HeadRef> heads;
  double change = kNaN, low = kNaN, high = kNaN;
  double sum = kNaN;  // of the changes of its heads alone; NaN where one of them has none

  [[nodiscard]] bool has_interval() const { return low <= high; }
  [[nodiscard]] bool apart() const { return has_interval() && (low > 0.0 || high < 0.0); }
};

struct HeadChanges {
  std::vector<HeadChange> heads;            // that are drawn and have a value, by layer and head
  std::vector<SetChange> sets;              // that have a value, as they were asked for
  std::vector<SetChange> removed;           // the pruning curve: the first head, the first two, …
  std::int64_t lacking = 0;                 // that are drawn and have none
  std::string way, other_way;               // "head off"; other_way: empty where the files are of one way
  std::string change, other_change;         // "head=off"
  std::int64_t texts = 0, predictions = 0;  // predictions: of all texts of the first way
  std::int64_t blocks = 0;                  // of one text, which its intervals are over; 0: too few tokens
  std::int64_t sequences = 0;               // of a plan, in place of a text: then blocks are its documents
  std::int64_t tested = 0;                  // changes that the intervals hold for together (Bonferroni)
  std::int64_t of_sets = 0;                 // of them changes of several heads at once
  bool other_sets = false;                  // files of several texts have different sets, which are not drawn
  double detectable = kNaN;          // the change that is seen in 80 of 100 cases, at the median standard error; nats
  double loss = kNaN;                // of the model as it is, mean over texts
  std::int64_t done = 0, asked = 0;  // heads
  bool two_maps = false;             // a head has a second one

  [[nodiscard]] std::int64_t apart() const;
  // Observations that an interval is over; fewer than 2: there are none.
  [[nodiscard]] std::int64_t observations() const { return texts > 1 ? texts : blocks; }
};

// InvalidArgument for more than two ways, and for heads that are not there. Unsupported where the files are no texts of
// one model: other weights, settings or heads, one text twice, a text that the second way lacks; and where neither a
// head that is drawn nor a set has a value.
[[nodiscard]] Result<HeadChanges> head_changes(std::span<const FigureRun> runs, const FigureChoice& choice);

// "the head’s output is 0", of a what-if; `of_plan`: means are over all its sequences.
[[nodiscard]] std::string ablation_sentence(const std::string& change, bool of_plan = false);

}  // namespace headroom
