// Figures of several panels in rows, from a JSON file: {"width", "gap", "letters", "theme", "title", "run",
// options…, "rows": [{"height", "panels": [{"kind", "panel", "width", "columns", options…} | {"text"} |
// {"empty": true}]}]}.
// Options are those of the command line with underscores; a panel inherits them from the figure. Reads files; one
// thread at a time: HDF5.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "core/base/result.h"

namespace headroom {

struct ComposedFigure {
  Figure figure;
  std::vector<FigureRun> runs;  // each file once, in the order in which they are named
  std::string theme = "paper", letters = "a";
};

// Heights in the file are those of inner rectangles, widths of panels are shares. `width`, `height`: of the page, over
// what the file says. Paths are relative to the file's folder. Corrupt with line and column where it is no JSON;
// InvalidArgument names a member that is not known and the nearest that is.
[[nodiscard]] Result<ComposedFigure> read_composed(const std::filesystem::path& file, const std::string& width,
                                                   const std::string& height);

}  // namespace headroom
