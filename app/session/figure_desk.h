// Draws figures of what is shown on a thread of its own, and writes them: with the code of `headroom figure`, from run
// files. A run without a file is written to a temporary one first, as saving it would write it; for a map, the run of
// that head alone with each weight of it. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/figure_wish.h"
#include "app/session/runner.h"
#include "app/session/session_parts.h"
#include "core/base/worker.h"

namespace headroom {

class FigureDesk : private SessionParts {
 public:
  FigureDesk(const SessionParts& parts, Runner& runner);
  ~FigureDesk();
  FigureDesk(const FigureDesk&) = delete;
  FigureDesk& operator=(const FigureDesk&) = delete;

  void update();  // once a frame: what the panel lacks is begun
  // Another model or prompt is shown than when it was asked last: what was chosen of all kinds that names a place is
  // forgotten. Before anything is chosen or asked for; update() does it too.
  void forget_other_places();
  void stop();  // waits for what runs; at the end

  // The figure that is asked for, into `path`, with what is to lie beside it; `told` hears how it went. What cannot
  // begin is refused at once.
  Result<void> write(const std::string& kind, const FigureLook& look, const std::string& path, bool replace,
                     std::function<void(const Result<void>&)> told);

 private:
  struct Files;
  struct Order;
  class Drawing;
  struct Temporary;

  // What a kind is made of now; with the run that has no file yet, if that is lacking.
  [[nodiscard]] Files files_of(const std::string& kind, const FigureLook& look) const;
  [[nodiscard]] Order order_of(const std::string& kind, const FigureLook& look) const;
  void forget();
  // Begins to write the run that lacks a file, unless that is on its way.
  Result<void> begin_file(const Files& files);
  void drawn(std::uint64_t serial, std::vector<FigureKindLine> kinds, std::shared_ptr<const FigureDrawn> page);
  void write_now(const Order& order, const std::string& path, bool replace,
                 std::function<void(const Result<void>&)> told);

  Runner& runner_;
  std::filesystem::path folder_;                                // of temporary run files; empty: there are none yet
  std::map<std::pair<int, std::string>, Temporary> temporary_;  // by the run's id, and a head whose maps it is of
  std::string places_model_;                                    // whose places the options name, and
  std::shared_ptr<const Prompt> places_prompt_;                 // of which prompt; null: none was shown yet
  std::vector<std::function<void()>> waiting_;                  // for the file that is being written
  std::string asked_;                                           // what the drawing that was asked for last shows
  std::uint64_t serial_ = 0;                                    // of that drawing
  std::uint64_t picture_id_;                                    // of the pages that are shown
  bool pending_ = false;                                        // it has not arrived
  std::shared_ptr<Drawing> drawing_;                            // what the thread works with
  std::unique_ptr<Worker> worker_;                              // last: its jobs use the others
};

}  // namespace headroom
