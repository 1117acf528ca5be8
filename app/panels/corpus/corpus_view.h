// What the panels of a corpus share: the quantity that is looked at with its intervals, the chosen head and sequence,
// colours of documents, and how many sequences a number rests on, as it is said. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/corpus_entry.h"
#include "core/base/numbers.h"
#include "core/run/quantity_info.h"

namespace headroom {

struct CorpusView {
  const CorpusEntry& corpus;
  const OpenedCorpus& file;
  QuantityRef ref;  // info null: there is no quantity of this name
  CorpusIntervals intervals;
  std::optional<double> level;      // over which heads are counted
  double null = 0.0;                // level of uniform attention; NaN: the quantity has none
  std::optional<std::size_t> head;  // position in [layers, heads] of the selected one
  bool bootstrap = false;
  std::shared_ptr<const CorpusValues> values;  // of this quantity and step; null: not there (yet)

  [[nodiscard]] HeadRef head_at(std::size_t place) const { return headroom::head_at(file.layers, file.heads, place); }
  [[nodiscard]] bool any_interval() const;
  // A statistic of one head; NaN where the file has none.
  [[nodiscard]] double statistic(Statistic which, std::size_t place) const;
  // "0.786", as exact as `uncertainty` lets it be; "± 0.030": half of the interval.
  [[nodiscard]] std::string number(double value, double uncertainty = kNaN) const;
  [[nodiscard]] std::string half_text(std::size_t place) const;
};
// Nothing where no corpus is shown.
[[nodiscard]] std::optional<CorpusView> corpus_view(const State& state);

// "32 sequences of 8 documents", with "so far" where there are more to come.
[[nodiscard]] std::string so_far_text(const CorpusView& view);
// "95 % t interval", "95 % bootstrap interval", "one sequence: no interval", "one document: no interval".
[[nodiscard]] std::string interval_kind_text(const CorpusView& view);
[[nodiscard]] bool few_documents(const CorpusView& view);  // two: an interval that says little

// Documents in their order, in as many colours as can be told apart; where there are more they have one.
[[nodiscard]] Color document_color(const Theme& theme, const CorpusView& view, std::int64_t document);
[[nodiscard]] bool documents_have_colors(const CorpusView& view);

// Why the numbers of single sequences are not shown: they are being read, the file does not keep them.
[[nodiscard]] std::string why_no_values(const CorpusView& view);

// The position of the sequence under the pointer, or of the chosen one.
[[nodiscard]] std::optional<std::size_t> pointed_sequence(const State& state, const CorpusView& view);
[[nodiscard]] std::optional<std::size_t> chosen_sequence(const State& state, const CorpusView& view);

}  // namespace headroom
