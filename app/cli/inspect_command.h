// `headroom inspect PATH`: what a checkpoint is, from its headers alone. Main thread only.
#pragma once

#include <string>

#include "core/checkpoint/checkpoint.h"

namespace headroom {

struct InspectArguments {
  std::string path;  // may be an address: model/::L3.H5
  CheckpointOptions options;
  bool tensors = false;  // list them all
  bool json = false;
};

[[nodiscard]] int run_inspect(const InspectArguments& arguments);

}  // namespace headroom
