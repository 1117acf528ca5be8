// What the window asks of figures for papers, and what was drawn of it: a part of the state. Plain data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure_options.h"
#include "app/plot/picture.h"
#include "core/base/error.h"

namespace headroom {

// How figures of a kind are asked for, as it was last chosen.
struct FigureLook {
  FigureOptions options;
  std::string letters = "a", ending = ".pdf";
  std::set<std::string, std::less<>> left_out;  // names of parts of the screen that are not taken over
  friend bool operator==(const FigureLook&, const FigureLook&) = default;
};

// A part of what is on the screen, as an option of the command: {"cell", "230,129"}.
struct ScreenPart {
  std::string name, value;
  friend bool operator==(const ScreenPart&, const ScreenPart&) = default;
};

struct FigureKindLine {
  std::string name, brief, summary;
  std::string missing;  // why the run cannot be drawn so; empty: it can
};

// A page that was drawn, or why it was not.
struct FigureDrawn {
  std::string kind;
  double width_mm = 0.0, height_mm = 0.0, least_text = 0.0;  // least_text: points
  RgbPicture picture;
  std::string caption, latex;
  std::vector<std::string> warnings, notes;  // as `headroom figure` says them
  std::optional<Error> error;
};

// What was chosen last: kept between starts of the program, but for options that name places of one run.
struct FigureChoices {
  std::map<std::string, FigureLook, std::less<>> looks;  // by kind
  bool latex = false;                                    // which caption is shown
  bool data = false, caption = false, run = true;  // written beside the figure: marks, caption, a run without a file

  [[nodiscard]] FigureLook look(std::string_view kind) const {
    const auto found = looks.find(kind);
    return found == looks.end() ? FigureLook() : found->second;
  }
  friend bool operator==(const FigureChoices&, const FigureChoices&) = default;
};

struct FigureWish : FigureChoices {
  std::string kind = "map";
  double room_width = 0.0, room_height = 0.0;  // pixels of the screen that the page may take; 0: not known yet

  // Kept up to date by session/figure_desk.h while the panel is open.
  std::vector<FigureKindLine> kinds;
  std::shared_ptr<const FigureDrawn> drawn;  // null: nothing yet
  bool drawing = false;                      // another one is on its way
  std::string command;                       // words of `headroom` that make the same file, but for "-o FILE"
  std::string run_file;                      // what the run's file is called there
  bool has_file = false;                     // the run has one of its own
  std::string writing;                       // the run is being written, since it has none: what is said of it
  std::string problem;                       // why no figure can be made of what is shown; empty: none
};

}  // namespace headroom
