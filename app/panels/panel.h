// What every panel is given: the state it reads, the widgets it draws with, and the places where it leaves what it
// noticed. A panel is a function of these and a rectangle; it changes nothing but through commands. Main thread only.
#pragma once

#include <string>
#include <string_view>

#include "app/session/facts.h"
#include "app/session/state.h"
#include "app/ui/ui.h"

namespace headroom {

class CommandTable;
class HeadsMemory;    // panels/heads_memory.h
class CompareMemory;  // panels/compare_memory.h
class FolderReader;   // session/folder_reader.h

struct PanelContext {
  Ui& ui;
  const State& state;
  TileStore& tiles;
  const CommandTable& commands;
  Hover& hover;  // what is under the pointer in this frame
  Facts& facts;
  HeadsMemory* heads_memory = nullptr;      // kept between frames; null: what it would hold is computed in each
  CompareMemory* compare_memory = nullptr;  // the same; null: no row distances of heads
  FolderReader* folders = nullptr;          // of the file chooser; null: a folder is read while it is drawn

  [[nodiscard]] const Theme& theme() const { return ui.theme; }
  [[nodiscard]] Painter& painter() const { return ui.painter; }
};

// One file each in app/panels. They draw into `frame` and nowhere else (menus and tooltips apart).
void draw_menu_bar(PanelContext& context, Rect frame);
void draw_tool_bar(PanelContext& context, Rect frame);
void draw_start_page(PanelContext& context, Rect frame);
void draw_heads_panel(PanelContext& context, Rect frame);    // atlas, scatter or table
void draw_columns_panel(PanelContext& context, Rect frame);  // of the table
void draw_model_panel(PanelContext& context, Rect frame);    // ribbons by layer and the lasso's table
void draw_map_panel(PanelContext& context, Rect frame);
void draw_head_panel(PanelContext& context, Rect frame);
void draw_what_if_panel(PanelContext& context, Rect centre, Rect change);
void draw_compare_panel(PanelContext& context, Rect centre, Rect side);
void draw_where_panel(PanelContext& context, Rect frame);  // overview and tiles of a long map
void draw_tokens_panel(PanelContext& context, Rect frame);
void draw_status_bar(PanelContext& context, Rect frame);
void draw_error_cards(PanelContext& context, Rect map_frame);
void draw_overlay(PanelContext& context, Rect window);  // palette, keys, settings, about, log, files, prompt

// The bar with a panel's title; returns what is left of `frame` below it. `collapsed` panels show it upright.
[[nodiscard]] Rect draw_panel_title(PanelContext& context, Rect frame, std::string_view name, std::string_view title,
                                    std::string_view mono, std::string_view hint);

}  // namespace headroom
