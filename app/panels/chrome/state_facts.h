// What scripts can ask of the session itself. Main thread only.
#pragma once

namespace headroom {

class Facts;
struct State;

// What scripts can ask of the session itself: "run.status", "select.head", "runs" …
void describe_state(const State& state, Facts& facts);

}  // namespace headroom
