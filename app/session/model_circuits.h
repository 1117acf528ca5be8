// The circuits of an open checkpoint as the window has them: what is measured so far, and what one head writes after
// one token. Plain data; what lies behind shared_ptr<const …> is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/circuits/circuits.h"
#include "core/circuits/token_effect.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct ModelCircuits {
  std::vector<std::shared_ptr<const LayerCircuits>> layers;  // by block of the model; null: not (yet)
  std::shared_ptr<const RunSnapshot> heads;                  // the model's heads where no run has them: no tokens
  std::shared_ptr<const TokenEffect> effect;
  std::string effect_refused;  // why there is none
  bool running = false;
  double fraction = 0.0;
  std::string doing;              // "vocabulary", "layer 12"
  std::size_t done = 0, all = 0;  // layers; those whose paths are not measured yet do not count
  std::optional<Error> error;

  [[nodiscard]] bool complete() const { return all > 0 && done == all; }
  // Null: not (yet).
  [[nodiscard]] const LayerCircuits* layer(std::int64_t index) const {
    return index >= 0 && index < static_cast<std::int64_t>(layers.size())
               ? layers[static_cast<std::size_t>(index)].get()
               : nullptr;
  }
};

// The numbers of heads that circuits give, as quantities of the window: beside what a run measured, whose data it
// returns with them. A run of other heads gets those that it has.
[[nodiscard]] std::shared_ptr<const RunSnapshot> with_circuits(const std::shared_ptr<const RunSnapshot>& run,
                                                               const ModelCircuits& circuits);
// The heads of a model without a run.
[[nodiscard]] std::shared_ptr<const RunSnapshot> heads_of_model(const ModelSpec& model, const std::string& name);

}  // namespace headroom
