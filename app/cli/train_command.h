// headroom train: models from recipes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct TrainArguments {
  std::vector<std::string> recipes;
  std::string output;
  std::vector<std::string> variants;  // empty: all
  std::vector<std::uint64_t> seeds;   // empty: the recipe's
  std::optional<std::int64_t> steps;  // in place of the recipe's
  std::string device = "cpu";
  int jobs = 0;     // trainings at a time; 0: one for each processor, on a GPU one
  int threads = 1;  // of each training
  bool resume = false, force = false, json = false;
  std::string command_line;
};

[[nodiscard]] int run_train(const TrainArguments& arguments);

}  // namespace headroom
