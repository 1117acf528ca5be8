// What one figure of needles is of, and what its captions say of it. Pure functions; safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/kinds/needle_numbers.h"

namespace headroom {

inline constexpr std::size_t kMostNeedleLines = 4;  // that one plot tells apart

// What the lines go along: the depths of one length, or the lengths where there is one depth.
struct NeedleAlong {
  bool lengths = false;
  std::vector<double> places;
  std::vector<std::size_t> groups;  // lengths that have panels of their own; of lines over lengths one
  [[nodiscard]] bool single() const { return places.size() < 2; }
};

[[nodiscard]] NeedleAlong needle_along(const NeedleNumbers& numbers);

// "1,024 tokens".
[[nodiscard]] std::string length_text(double tokens);

// What one figure is of.
struct NeedleFigure {
  std::vector<NeedleNumbers> files;
  std::vector<std::string> names;  // of the files
  NeedleQuantityRef quantity;
  NeedleAlong along;
  std::string of_heads;  // "mean of 270 heads", "L18.H6"
  FigureChoice choice;

  [[nodiscard]] const NeedleNumbers& first() const { return files.front(); }
  [[nodiscard]] bool several() const { return files.size() > 1; }
  [[nodiscard]] bool intervals() const {
    return std::ranges::any_of(files, [](const NeedleNumbers& one) { return one.samples > 1; });
  }
  [[nodiscard]] std::string quantity_name() const {
    return std::string(quantity.measure->name) +
           (quantity.map == NeedleMap::Net ? "" : "[" + std::string(map_name()) + "]");
  }
  [[nodiscard]] const char* map_name() const { return kNeedleMapNames[static_cast<std::size_t>(quantity.map)]; }
  [[nodiscard]] std::string quantity_title() const {
    return std::string(quantity.measure->title) +
           (quantity.map == NeedleMap::Net ? "" : ", " + std::string(map_name()) + " map");
  }
  // Of a panel of that length; empty where there is one.
  [[nodiscard]] std::string length_of(std::size_t group) const {
    return along.groups.size() > 1 ? length_text(first().lengths[group]) : std::string();
  }
  [[nodiscard]] std::string with_length(const char* name, std::size_t group) const {
    return along.groups.size() > 1 ? name + ("-" + std::to_string(static_cast<std::int64_t>(first().lengths[group])))
                                   : std::string(name);
  }
};

// Of a panel of spans; `what`: of which span, after a comma.
[[nodiscard]] std::string spans_caption(const NeedleFigure& of, std::size_t group, const std::string& what);
// "The same in prompts of 768 tokens."
[[nodiscard]] std::string same_caption(const NeedleFigure& of, std::size_t group);
[[nodiscard]] std::string recall_caption(const NeedleFigure& of);
// What a retrieval score is, how many heads of each file reach the threshold, and how surely.
[[nodiscard]] std::string retrieval_caption(const NeedleFigure& of);

}  // namespace headroom
