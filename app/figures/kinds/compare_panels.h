// Panels of the heads of two sides: head against head, the difference of each, and how the heads of either side are
// distributed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/kinds/compare_heads.h"
#include "app/figures/page_axes.h"
#include "core/run/quantity_info.h"

namespace headroom {

inline constexpr std::size_t kLongestSide = 26;  // letters of a side's name

// What the panels of one comparison share.
struct Comparison {
  TwoSides sides;
  QuantityRef quantity;
  RichText symbol;
  PageAxis value;                   // of the quantity
  std::optional<double> threshold;  // over which heads are counted
  RichText threshold_name;
  std::map<std::string, std::string> sentences;  // by a panel's name: pairs, differences, ecdf

  [[nodiscard]] bool beyond(double v) const { return v < value.low || v > value.high; }
  [[nodiscard]] std::int64_t heads_beyond() const {
    return std::ranges::count_if(sides.heads, [&](const auto& one) { return beyond(one.a) || beyond(one.b); });
  }
  [[nodiscard]] bool threshold_shown() const { return threshold && !beyond(*threshold); }
};

[[nodiscard]] std::unique_ptr<FigurePanel> compare_pairs_panel(std::shared_ptr<const Comparison> all);
[[nodiscard]] std::unique_ptr<FigurePanel> compare_differences_panel(std::shared_ptr<const Comparison> all);
[[nodiscard]] std::unique_ptr<FigurePanel> compare_shares_panel(std::shared_ptr<const Comparison> all);

}  // namespace headroom
