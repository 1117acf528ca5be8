// The notions that the formulas of the quantities share: symbols, rows, logits, contexts, intervals, quantiles. Stands
// once before the quantities in QUANTITIES.md and in what `headroom quantities` prints. Immutable; safe from any
// thread.
#pragma once

#include <span>
#include <string_view>

namespace headroom {

struct Notion {
  std::string_view title;  // its anchor: lower case, hyphens for blanks
  std::string_view text;   // Markdown that reads as plain text too; lines of at most 120 characters
};

[[nodiscard]] std::span<const Notion> notions();

}  // namespace headroom
