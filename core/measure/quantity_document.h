// The table of quantities for people and programs: as text, as the document QUANTITIES.md, as JSON. Pure functions;
// safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/quantity.h"

namespace headroom {

// Every dataset of a run file, group by group: root, tokens, rows, keys, hist, maps, exact, hidden, weights, program.
[[nodiscard]] std::vector<const Quantity*> all_quantities();
// Those whose path or name is the pattern, in which * stands for any characters and ? for one.
[[nodiscard]] std::vector<const Quantity*> matching_quantities(const std::string& pattern);

// `with_notions`: what the formulas share stands before them.
[[nodiscard]] std::string quantities_text(std::span<const Quantity* const> quantities, bool with_notions);
[[nodiscard]] std::string quantities_json(std::span<const Quantity* const> quantities, bool with_notions);
// With notions: the whole document, as it lies beside this file.
[[nodiscard]] std::string quantities_markdown(std::span<const Quantity* const> quantities, bool with_notions);

}  // namespace headroom
