// Random events as fast as no person makes them, the same ones for the same seed: for tests that look for crashes,
// errors of GL and memory that grows. No window needed. Main thread only.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/ui/input.h"

namespace headroom {

class RandomHands {
 public:
  // Presses the keys of the table and those that widgets know.
  RandomHands(unsigned seed, const CommandTable& commands);

  // One event more in this frame's input: pointer, buttons, wheel, a key, a text, time that passes. False where chance
  // chose none of them.
  bool event(Input& input);
  // Up to ten of them; how many.
  int events(Input& input);

  // A line as from the palette, which many keys would be needed to reach: one that is enabled and may run; most often
  // empty.
  [[nodiscard]] std::string line(const State& state);
  // Not what leaves the program, goes on for minutes, opens anything but the small demos, or shows the tools of
  // developers, of which some stop the program.
  [[nodiscard]] static bool may_run(const std::string& line);
  // What keeps the play going: a demo where nothing is open, "close" where much is, a second run; most often empty.
  [[nodiscard]] std::string upkeep(const State& state);

  [[nodiscard]] int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  [[nodiscard]] float between(float low, float high) {
    return low + (high - low) * static_cast<float>(below(10001)) / 10000.0f;
  }

 private:
  std::mt19937 random_;
  const CommandTable& commands_;
  std::vector<KeyPress> keys_;
};

}  // namespace headroom
