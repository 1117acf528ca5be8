// What every panel is given: the state it reads, the widgets it draws with, and the places where it leaves what it
// noticed. A panel is a function of these and a rectangle; it changes nothing but through commands. Main thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/session/facts.h"
#include "app/session/state.h"
#include "app/ui/ui.h"

namespace headroom {

class CommandTable;
class RunCache;      // panels/parts/run_cache.h
class CompareCache;  // panels/parts/compare_cache.h
class FolderReader;  // session/folder_reader.h
class TokenCounter;  // session/token_counter.h

// What panels say of themselves in this frame, for the bars and for each other. Nothing: the panel is not drawn.
struct Readouts {
  std::string map;           // how a cell of the map is to be read: "at 24 × 24 cells per texel, …"
  std::string maps;          // the same of the thumbnails
  std::string maps_rank;     // of the head under the pointer by the quantity that orders them: "2 of 270"
  std::string maps_over;     // heads over ε: "141 of 270"
  std::string row_distance;  // of the head under the pointer
  std::optional<std::int32_t> map_level;
  double tiles_needed = 0.0, tiles_ready = 0.0;       // of the map
  std::int64_t boundary = -1, residual_channel = -1;  // that the residual stream is looked at
};

struct PanelContext {
  Ui& ui;
  const State& state;
  TileStore& tiles;
  const CommandTable& commands;
  Hover& hover;                           // what is under the pointer in this frame
  Facts& facts;                           // for scripts; no panel reads them
  RunCache* run_cache = nullptr;          // kept between frames; null: what it would hold is computed in each
  CompareCache* compare_cache = nullptr;  // the same; null: no row distances of heads
  FolderReader* folders = nullptr;        // of the file chooser; null: a folder is read while it is drawn
  TokenCounter* tokens = nullptr;         // of the prompt's editor; null: its text is counted while it is drawn
  std::vector<WantedTiles> wanted{};      // that maps in this frame lack; whoever drew it hands them to the tiles
  Readouts readouts{};                    // of what is drawn in this frame

  [[nodiscard]] const Theme& theme() const { return ui.theme; }
  [[nodiscard]] Painter& painter() const { return ui.painter; }
};

// A panel of the window: a source and a header in a folder of panels, and the line of window_layout() that gives it a
// slot.
struct PanelInfo {
  const char* id;            // one word; the fact "drawn" lists those that are drawn
  const char* title;         // on its rail, when it is folded
  float least_width = 0.0f;  // pixels below which its texts have no room
  // Draws into `frame` and nowhere else, menus and tooltips apart.
  void (*draw)(PanelContext& context, Rect frame) = nullptr;
};

}  // namespace headroom
