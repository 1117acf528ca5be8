// Where the router of a layer with experts sent each token. Immutable once handed over; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

struct RouterRecord {
  std::int64_t layer = 0;            // of the model, which counts layers without experts and without attention too
  std::int64_t experts = 0;          // that the router knows
  std::int64_t chosen = 0;           // of them for each token
  std::vector<std::uint16_t> index;  // [length, chosen]: which ones, by descending weight, equal ones by their number
  std::vector<double> weight;        // likewise: what an expert's output is multiplied with

  [[nodiscard]] std::int64_t length() const {
    return chosen > 0 ? static_cast<std::int64_t>(index.size()) / chosen : 0;
  }
  // For each expert how many tokens it was sent.
  [[nodiscard]] std::vector<std::int64_t> tokens_per_expert() const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(experts), 0);
    for (const std::uint16_t expert : index)
      if (expert < counts.size()) ++counts[expert];
    return counts;
  }
};

}  // namespace headroom
