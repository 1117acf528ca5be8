// `headroom figure RUN… KIND -o OUT`: a figure for a paper, made of run files alone. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure_options.h"

namespace CLI {
class App;
}

namespace headroom {

struct FigureArguments {
  std::vector<std::string> places;     // run files and one kind
  std::filesystem::path output, from;  // from: a figure that is drawn again
  FigureOptions options;
  std::string letters = "a", caption, data, font, svg_text = "outlines";
  double text_size = 7.0, dots_per_inch = 0.0;  // 0: 600, of a PNG 300
  bool list = false, force = false, json = false;
  std::string expected_runs;       // hashes of the run files, where a figure is drawn again
  std::vector<std::string> words;  // of the command line, from "figure" on
};

// Whether a word sets one of the options that say where something is written or how it is reported, in itself
// ("--output=x.pdf", "-ox.pdf") or with the word behind it.
struct OutputWord {
  bool here = false, with_next = false;
};
[[nodiscard]] OutputWord output_word(std::string_view word);

void add_figure(CLI::App& app, FigureArguments& arguments);
// 0, or the code of the error that it reported.
[[nodiscard]] int run_figure(const FigureArguments& arguments);

}  // namespace headroom
