// A script: command lines one after the other, where `wait` holds it until nothing runs, `sleep` for a while,
// `until NAME OP VALUE` until a fact of the last frame holds, and `expect NAME OP VALUE` fails it unless one does. No
// window needed. Main thread only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/session/facts.h"
#include "app/session/session.h"

namespace headroom {

class Script {
 public:
  struct Line {
    std::string text;
    int number = 0;
  };

  // NotFound, or InvalidArgument with the line's number for one that cannot be split, names no command or has
  // arguments of another form.
  [[nodiscard]] static Result<Script> read(const std::filesystem::path& path, const CommandTable& commands);

  // What holds the next line back.
  struct Surroundings {
    bool busy = false;  // the session, or tiles that are still coming
    bool opening =
        false;           // what comes after `open` speaks of what was opened; after `sleep` and `until`, of this moment
    bool drawn = false;  // two frames were drawn since the last line: what is seen is up to date
    bool request_pending = false;  // a screenshot or a pointer's move not yet done
    double now_s = 0.0;
  };
  // Runs the next line if it may. False when the script is at its end. An error names file and line.
  [[nodiscard]] Result<bool> step(Session& session, const Facts& facts, const Surroundings& surroundings);
  // The error of something that the last line asked of the window, with file and line.
  [[nodiscard]] Error blamed(Error error) const;
  [[nodiscard]] bool finished() const { return next_ >= lines_.size(); }
  [[nodiscard]] bool ran_line() const { return ran_; }   // in the last step()
  [[nodiscard]] bool waited() const { return waited_; }  // and that was `wait`

 private:
  [[nodiscard]] Error at_line(const Line& line, Error error) const;

  std::filesystem::path path_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  Line ran_line_;
  double sleep_until_s_ = -1.0;
  double waiting_since_s_ = -1.0;
  bool ran_ = false, waited_ = false;
  bool slept_ = false;  // nothing but looking since `sleep` or `until`
};

// "map.cells_visible == 1024": == != < <= > >= ~ (within 1e-6 relative; for texts: contains). Empty: it holds; else
// what was found.
[[nodiscard]] std::string check_fact(const Facts& facts, std::span<const std::string> words);

}  // namespace headroom
