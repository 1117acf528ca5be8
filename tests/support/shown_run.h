// A window's state for tests that show one run. Header only; one thread.
#pragma once

#include <memory>
#include <utility>

#include "app/session/state.h"
#include "core/run/run_snapshot.h"

namespace headroom::test {

// A state that shows this run with a head selected.
inline State make_state(std::shared_ptr<const RunSnapshot> run, HeadRef head = {1, 1}) {
  State state;
  RunEntry entry;
  entry.id = 1;
  entry.name = "test-model";
  entry.status = run->complete ? RunStatus::Done : RunStatus::Running;
  entry.prompt_title = "a prompt";
  if (run->layer(head.layer) != nullptr) state.view.selection.head = head;
  entry.data = std::move(run);
  state.runs.push_back(std::move(entry));
  state.view.run = 1;
  return state;
}

}  // namespace headroom::test
