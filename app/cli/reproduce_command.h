// headroom reproduce: the claims of the DIFF V2 text at the scale of the shipped models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct ReproduceArguments {
  std::string output;
  std::string assets;                // empty: found beside the program or in the current folder
  std::vector<int> claims;           // empty: all
  std::vector<std::uint64_t> seeds;  // empty: the recipes'
  std::optional<std::string> checkpoint;
  std::string device_name;                          // of claim 8
  double device_tflops = 0.0, device_gbytes = 0.0;  // 0: the default device
  int jobs = 0;
  bool only_models = false;  // the table of the shipped models alone
  bool json = false;
  std::string command_line;
};

[[nodiscard]] int run_reproduce(const ReproduceArguments& arguments);

}  // namespace headroom
