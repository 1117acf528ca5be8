// What the what-if panel is about in one frame, the list of changes it offers, and its parts. Main thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"

namespace headroom {

// The head as trained and as it would be.
struct WhatIfSubject {
  const RunEntry* base = nullptr;
  const RunEntry* run = nullptr;  // of these changes; null: none was begun
  const RunEntry* after =
      nullptr;         // what is shown beside: `run`, or the one before while `run` computes; null: nothing
  bool stale = false;  // `after` has other changes than those chosen
  const LayerSnapshot* layer_before = nullptr;
  const LayerSnapshot* layer_after = nullptr;
  HeadRef head;
  std::string blocked;  // why there can be none; empty: there can
  enum class Status : std::uint8_t {
    Blocked,
    NothingChosen,
    Computing,
    Done,
    Failed,
    Cancelled
  } status = Status::Blocked;
};
[[nodiscard]] WhatIfSubject what_if_subject(const PanelContext& context, CompareCache& memory);
// "sink off, temperature 1.5"; empty: nothing is chosen.
[[nodiscard]] std::string changes_title(const WhatIfState& what_if);

// One change that is offered.
struct OfferedChange {
  std::string title, note;
  std::string change;  // "sink=off"; of a slider its value as it is, or as it would begin
  bool active = false;
  struct Slider {
    double low = 0.0, high = 1.0, value = 0.0;
  };
  std::optional<Slider> slider;
  std::string reason;  // why it does not fit; empty: it does
};
[[nodiscard]] std::vector<OfferedChange> offered_changes(const PanelContext& context, CompareCache& memory,
                                                         const HeadProgram& program, std::int64_t head, double lambda);

// A line of "Before and after".
struct ChangedNumber {
  std::string name, title, before, after, delta;
  double before_value = 0.0, after_value = 0.0;
};
[[nodiscard]] std::vector<ChangedNumber> changed_numbers(const WhatIfSubject& subject);

}  // namespace headroom
