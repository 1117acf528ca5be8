// What a figure is asked for, as texts: of the command line, of a figure file, of the window. Pure functions; safe from
// any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "core/base/result.h"

namespace headroom {

// Empty texts: the kind's choice.
struct FigureOptions {
  std::string heads, layers, only_heads, rows, keys, cell, range, scale;
  std::vector<std::string> quantities;
  std::string width, height, theme = "paper", colour_map, points;
  double epsilon = 0.3;
  std::int64_t top = 12;
  bool names = false;
  std::vector<std::string> against;  // run files; read_choice() reads none
  bool paired = false;
};

// InvalidArgument names the option, what it takes and what was found.
[[nodiscard]] Result<FigureChoice> read_choice(const FigureOptions& options, const std::string& kind);

}  // namespace headroom
