// What a figure is asked for, as texts: of the command line, of a figure file, of the window. Pure functions; safe from
// any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

struct Figure;        // figure.h
struct FigureChoice;  // figure.h
struct FigureRun;     // figure.h
struct FigureKind;    // figure_kinds.h

// Empty texts: the kind's choice.
struct FigureOptions {
  std::string heads, layers, only_heads, rows, keys, cell, range, scale;
  std::vector<std::string> quantities;
  std::string width, height, theme = "paper", colour_map, points;
  double epsilon = 0.3;
  std::int64_t top = 12;
  bool names = false;
  std::string title;                 // of the page
  std::vector<std::string> against;  // run files; read_choice() reads none
  bool paired = false;
  friend bool operator==(const FigureOptions&, const FigureOptions&) = default;
};

// InvalidArgument names the option, what it takes and what was found.
[[nodiscard]] Result<FigureChoice> read_choice(const FigureOptions& options, const std::string& kind);
// The figure that they ask for of these runs, with its letters: "a", "A", "(a)", "none".
[[nodiscard]] Result<Figure> figure_of(const std::string& kind, std::span<const FigureRun> runs,
                                       const std::vector<FigureRun>& against, const FigureOptions& options,
                                       const std::string& letters);

// Notes the options that are given and change nothing of this kind, as figure_of() does: "--rows changes nothing of
// atlas".
void note_without_effect(Figure& figure, const FigureKind& kind, const FigureOptions& options);

// As words of a command line, without those that say nothing: {"--head", "L1.H2"}.
[[nodiscard]] std::vector<std::string> option_words(const FigureOptions& options);

}  // namespace headroom
