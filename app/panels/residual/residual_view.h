// What the residual stream's panels show of a run: numbers by boundary, the activations that stand out, one number of
// tokens × boundaries beside the attention that tokens receive, and counts that link the two. Pure functions; safe from
// any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/state.h"

namespace headroom {

inline constexpr std::size_t kLinked = 8;  // largest values and most attended keys that are counted against each other
inline constexpr std::int64_t kFewestRows = 16;  // that see a key which is counted, where there are four times as many
inline constexpr std::size_t kMostWidened = 10;  // rows that are widened
inline constexpr std::size_t kTokenColours = 4;

// One activation over the boundaries at which it is listed.
struct ListedActivation {
  std::int64_t token = 0, channel = 0;
  double value = 0.0, ratio = 0.0;  // where |h| is largest; ratio: |h| / median there
  std::int64_t boundary = 0;
  std::vector<std::int64_t> boundaries;  // ascending: where it is massive, or where it reaches the least ratio
};
// "2-9, 12-30".
[[nodiscard]] std::string ranges_text(const std::vector<std::int64_t>& indices);

// Layers, one behind another, before which the largest activation reaches the least ratio, or not, and one of the
// others of its channel does, or not.
struct LinkedLayers {
  std::int64_t first = 0, last = 0;
  double value = 0.0;     // median |h| of the token in the channel, before these layers
  double received = 0.0;  // median over their heads of the attention that the token receives
  double others = 0.0;    // the same of the other listed tokens together; NaN without them
  double drain = 0.0;     // median over their value heads of ‖v‖ of the token over its mean
};

struct ResidualView {
  std::shared_ptr<const RunSnapshot> run;
  ResidualState of;
  std::int64_t boundaries = 0, tokens = 0, channels = 0;
  std::size_t there = 0;  // boundaries that are there
  std::int64_t channel = 0, boundary = 0, token = 0;

  // By boundary; NaN where it is not there.
  std::vector<double> places, median;
  struct ByBoundary {
    std::vector<double> token, low, lower, median, upper, high;  // of the token; of all but the first
  } rms, kurtosis;

  std::optional<LargeActivation> largest;  // of all boundaries
  std::int64_t largest_boundary = 0;
  double largest_ratio = 0.0;
  // By |h|, the largest first: massive ones, and others that reach the least ratio.
  std::vector<ListedActivation> massive, below;
  std::vector<std::int64_t> coloured;  // tokens of the three largest, those with the largest first

  // [tokens, boundaries]: what ResidualState::cells says, as magnitudes, and the attention that a token receives in the
  // layer that reads the boundary, mean of its heads. NaN: not there, not kept.
  std::vector<float> cells, received;
  bool signed_received = false;  // net attention
  std::int64_t heads = 0;
  std::vector<std::int64_t> widened;  // tokens
  std::int64_t kept_from = 0;         // first boundary that keeps the channel; −1: none does

  // Of the boundary's largest kLinked values, how many are among as many most attended keys of the layer that reads it;
  // nothing where there are none of either. Keys that fewer than kFewestRows see are left out of both.
  struct Link {
    std::size_t linked = 0, count = 0;
    std::int64_t largest = 0, attended = 0;  // the first of each
  };
  [[nodiscard]] std::int64_t counted() const;  // keys that enough rows see: those before this one
  [[nodiscard]] std::optional<Link> link(std::int64_t of_boundary) const;
  std::vector<LinkedLayers> layers;      // of the token and channel of the largest activation
  std::vector<std::int64_t> companions;  // the other listed tokens of that channel

  [[nodiscard]] const ResidualBoundary* at(std::int64_t number) const { return run->boundary(number); }
  [[nodiscard]] TokenAxis axis_of(std::int64_t of_boundary) const;  // whose tokens its rows are
  [[nodiscard]] TokenAxis axis() const { return axis_of(boundary); }
};

// Null where the run has no residual stream (yet). What is the same in `before` is taken from there.
[[nodiscard]] std::shared_ptr<const ResidualView> make_residual_view(const std::shared_ptr<const RunSnapshot>& run,
                                                                     const ResidualState& state,
                                                                     const ResidualView* before = nullptr);

// "input", "output of layer 11", "input of the decoder".
[[nodiscard]] std::string boundary_name(const RunSnapshot& run, std::int64_t boundary);

// Of [rows, columns] the value of the largest magnitude of each of `height` groups of rows.
[[nodiscard]] std::vector<float> pooled_rows(const std::vector<float>& values, std::size_t columns, std::size_t height);

}  // namespace headroom
