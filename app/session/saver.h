// Saving what is shown, and telling of it. Main thread only; files are written there, but runs, loss changes and
// figures, which other threads write.
#pragma once

#include <string>

#include "app/session/figure_desk.h"
#include "app/session/keeping.h"
#include "app/session/runner.h"
#include "app/session/session_parts.h"

namespace headroom {

class Saver : private SessionParts {
 public:
  Saver(const SessionParts& parts, Keeping& keeping, Runner& runner, FigureDesk& desk)
      : SessionParts(parts), keeping_(keeping), runner_(runner), desk_(desk) {}

  // Writes what is shown, or the wish fails at once or with a card: a run on the compute thread, a picture after the
  // next frame. What a person asks for by a line replaces nothing that is there unless `replace`: the save panel asks.
  Result<void> save(SaveKind kind, const std::string& panel, const std::string& path, bool replace);
  void ask(SaveKind kind, std::string panel, std::string path = {});  // opens the save panel
  // `by_person`: with a toast, and the panel again where it failed; else a message, and a card.
  void saved(SaveKind kind, const std::string& path, bool by_person, const std::string& detail = {});
  void not_saved(SaveKind kind, const std::string& path, bool by_person, const Error& error);

 private:
  Keeping& keeping_;
  Runner& runner_;
  FigureDesk& desk_;
};

}  // namespace headroom
