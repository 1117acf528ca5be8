// The whole window but for what shows it: a session, what its panels remember, and one function that draws a frame on
// any painter. The application renders its frames on a screen; tests play on it without one. Main thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/parts/compare_cache.h"
#include "app/panels/parts/run_cache.h"
#include "app/session/facts.h"
#include "app/session/folder_reader.h"
#include "app/session/session.h"
#include "app/session/token_counter.h"
#include "app/ui/ui.h"

namespace headroom {

struct FrameResult {
  std::vector<std::string> lines;  // what the person asked for in this frame, in order
  bool again = false;              // what is seen is not yet what is so: another frame is due at once
  double wait_seconds = 0.0;       // until something changes by itself; infinite: nothing does
  Cursor cursor = Cursor::Arrow;
};

class WindowCore {
 public:
  // Both outlive it.
  WindowCore(Session& session, Clipboard& clipboard);

  // Every panel in its place, menus, overlays and keys, on `painter`, which is as large as the input's window. What the
  // person asks for by it is done before the frame is seen: its lines run (an error becomes a message in the log), and
  // it is drawn again as things are then. `choose` has the lines before they run: hands of chance may not do all.
  using Choose = std::function<void(std::vector<std::string>& lines)>;
  [[nodiscard]] FrameResult frame(Painter& painter, const Input& input, const Choose& choose = {});

  // The window as a picture of it is saved, without what lies over it and what the pointer does. Nothing comes of it;
  // what of its maps is not there yet is returned.
  std::vector<WantedTiles> draw_for_picture(Painter& painter, Rect window);
  // Besides what each frame wants, until others take their place.
  void want_for_picture(std::vector<WantedTiles> wanted);

  // Of the last frame.
  [[nodiscard]] Facts& facts() { return facts_; }
  [[nodiscard]] const Theme& theme();
  // What lies over the window waits for a folder, or for the tokens of a text.
  [[nodiscard]] bool overlay_waits();

 private:
  // Draws, runs what was asked for, and draws again as things are then.
  [[nodiscard]] FrameResult draw_settled(Painter& painter, const Input& input, const Choose& choose);
  [[nodiscard]] FrameResult draw(Painter& painter, const Input& input);
  void want();

  class TableLookup final : public CommandLookup {
   public:
    explicit TableLookup(const Session& session) : session_(session) {}
    [[nodiscard]] std::string disabled_reason(std::string_view line) const override;
    [[nodiscard]] std::string key_text(std::string_view line) const override;

   private:
    const Session& session_;
  };

  Session& session_;
  Theme theme_;
  Clipboard& clipboard_;
  TableLookup lookup_;
  UiStatePtr memory_;
  RunCache run_cache_;
  CompareCache compare_cache_;
  FolderReader folders_;
  TokenCounter tokens_;
  Facts facts_;
  std::vector<WantedTiles> wanted_;  // of the last frame
  std::vector<WantedTiles> wanted_for_picture_;
};

}  // namespace headroom
