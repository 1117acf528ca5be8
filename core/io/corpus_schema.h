// What the files of `headroom corpus` say they are, and their axis `statistic`: the layout of a run file. Constants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

inline constexpr std::string_view kPlanSchemaName = "headroom-plan";      // which sequences there are to run
inline constexpr std::string_view kCorpusSchemaName = "headroom-corpus";  // what came of them
inline constexpr std::string_view kSeriesSchemaName = "headroom-series";  // the same of several checkpoints
inline constexpr std::string_view kNeedleSchemaName = "headroom-needle";  // of `headroom needle`

// What is said of a number over sequences, by its place along the axis `statistic`.
enum class Statistic : std::uint8_t {
  Mean,
  Deviation,
  StandardError,
  CiLow,
  CiHigh,
  BootstrapLow,
  BootstrapHigh,
  Least,
  Most,
  Count,
};
inline constexpr std::array<std::string_view, 10> kStatisticNames = {
    "mean", "std", "standard_error", "ci_low", "ci_high", "bootstrap_low", "bootstrap_high", "min", "max", "count"};
inline constexpr std::size_t kStatistics = kStatisticNames.size();

}  // namespace headroom
