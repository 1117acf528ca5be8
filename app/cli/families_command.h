// `headroom families`: the model types that open. Main thread only.
#pragma once

namespace headroom {

struct FamiliesArguments {
  bool markdown = false;
  bool json = false;
};

[[nodiscard]] int run_families(const FamiliesArguments& arguments);

}  // namespace headroom
