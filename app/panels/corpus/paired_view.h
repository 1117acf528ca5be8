// What the panels of two corpora share: the changes of the quantity that is looked at. Main thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "core/base/numbers.h"
#include "core/corpus/paired.h"
#include "core/run/quantity_info.h"

namespace headroom {

struct PairedView {
  const RunEntry& a;
  const RunEntry& b;
  const PairedCorpora* pairs = nullptr;  // null: not there (yet)
  QuantityRef ref;
  std::vector<const PairedChange*> changes;  // [layers, heads]; empty: nothing to show
  const PairedChange* over_heads = nullptr;  // of each sequence's mean over its heads
  const PairedChange* loss = nullptr;
  std::string why;  // there are no changes

  [[nodiscard]] HeadRef head_at(std::size_t place) const {
    return headroom::head_at(a.corpus.file->layers, a.corpus.file->heads, place);
  }
  // With a sign, as exact as `uncertainty` lets it be.
  [[nodiscard]] std::string number(double value, double uncertainty = kNaN) const;
};
// Nothing where two corpora are not compared.
[[nodiscard]] std::optional<PairedView> paired_view(const State& state);

// Places of heads that have a change.
[[nodiscard]] std::vector<std::size_t> changed_places(const PairedView& view);
[[nodiscard]] double half_of(const PairedChange& change);  // of the 95 % t interval; NaN without one
[[nodiscard]] inline double mean_change(const PairedChange& change) { return of(change.change, Statistic::Mean); }
// As `headroom compare` counts them.
[[nodiscard]] inline bool changes_surely(const PairedChange& change) { return change.q <= PairedChange::kLevel; }
// "0.003", "< 10⁻⁴", "–" where nothing was tested.
[[nodiscard]] std::string p_text(double p);
// "+0.080, 95 % 0.031 … 0.129, p 0.004".
[[nodiscard]] std::string change_sentence(const PairedView& view, const PairedChange& change);

}  // namespace headroom
