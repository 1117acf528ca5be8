// What `headroom bench` prints. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/bench_model.h"

namespace headroom {

struct BenchFacts {
  BenchmarkReport report;
  std::optional<ModelBenchmark> model;
  std::string date;  // UTC
  std::uint64_t peak_rss_bytes = 0;
};

[[nodiscard]] std::string bench_text(const BenchFacts& facts);
[[nodiscard]] std::string bench_json(const BenchFacts& facts);

}  // namespace headroom
