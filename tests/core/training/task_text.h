// What tests of tasks share: a task from its settings, and texts with known properties. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/training/task.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {

inline std::unique_ptr<Task> require_task(const nlohmann::json& settings, const std::filesystem::path& folder = {}) {
  auto task = create_task(settings, folder);
  if (!task) CATCH_FAIL(describe(task.error()));
  return std::move(*task);
}

// Letters of a Markov chain in which some pairs never occur, with capitals among them and rare characters between.
inline std::string chain_text(std::size_t size) {
  const std::array<std::array<double, 5>, 5> weights = {
      {{0, 4, 3, 2, 1}, {5, 1, 0, 2, 1}, {3, 3, 1, 0, 2}, {2, 2, 2, 1, 0}, {1, 0, 3, 2, 1}}};
  std::mt19937_64 random(17);
  std::string text;
  std::size_t last = 0;
  while (text.size() < size) {
    std::discrete_distribution<std::size_t> next(weights[last].begin(), weights[last].end());
    last = next(random);
    text += static_cast<char>((random() % 9 == 0 ? 'A' : 'a') + static_cast<char>(last));
    if (random() % 97 == 0) text += '?';
  }
  return text;
}

// "0000000 0000001 …": eight characters a number, so that every window of sixteen lies at one place only.
inline std::string counting_text(std::size_t size) {
  std::string text;
  for (std::size_t number = 0; text.size() < size; ++number) {
    std::string digits = std::to_string(number);
    text += std::string(7 - digits.size(), '0') + digits + " ";
  }
  text.resize(size);
  return text;
}

inline bool same_batch(const Batch& a, const Batch& b) {
  return a.sequences == b.sequences && a.length == b.length && a.tokens == b.tokens && a.targets == b.targets &&
         a.residual == b.residual;
}

// Batches depend on (split, seed, index) and on nothing that was drawn before; validation batches on the index alone.
inline void check_batches_are_pure(const Task& task) {
  const Batch first = task.batch(Split::Training, 1, 0, 6);
  CATCH_REQUIRE(first.sequences == 6);
  CATCH_REQUIRE(first.length == task.length());
  CATCH_REQUIRE(first.tokens.size() == static_cast<std::size_t>(6 * task.length()));
  (void)task.batch(Split::Training, 1, 1, 3);
  CATCH_CHECK(same_batch(task.batch(Split::Training, 1, 0, 6), first));
  CATCH_CHECK(task.batch(Split::Training, 1, 1, 6).tokens != first.tokens);
  CATCH_CHECK(task.batch(Split::Training, 2, 0, 6).tokens != first.tokens);
  CATCH_CHECK(task.batch(Split::Validation, 1, 0, 6).tokens != first.tokens);
  CATCH_CHECK(task.batch(Split::Training, 0, 0, 6).tokens != task.batch(Split::Validation, 0, 0, 6).tokens);
  CATCH_CHECK(same_batch(task.batch(Split::Validation, 1, 4, 6), task.batch(Split::Validation, 2, 4, 6)));
  CATCH_CHECK(task.batch(Split::Validation, 1, 5, 6).tokens != task.batch(Split::Validation, 1, 4, 6).tokens);
  for (const std::int32_t token : first.tokens) CATCH_CHECK((token >= 0 && token < task.vocab_size()));
}

}  // namespace headroom::test
