// The numbers of a file of `headroom circuits` that figures show: compositions of earlier heads with later ones,
// spectra and numbers of heads. HDF5 is used: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"
#include "core/base/numbers.h"
#include "core/io/run_file.h"

namespace headroom {

inline constexpr std::array<const char*, 3> kCompositionNames = {"Q", "K", "V"};

struct HeadPair {
  HeadRef from, to;     // from: of an earlier layer
  std::size_t way = 0;  // of kCompositionNames
  std::size_t map = 0;  // of the later head; values have one
  double composition = 0.0;

  // "L17.H8 → L18.H7", and by what: "K", of a second map "K₂".
  [[nodiscard]] std::string heads() const { return head_text(from) + " → " + head_text(to); }
  [[nodiscard]] std::string way_name() const { return std::string(kCompositionNames[way]) + (map > 0 ? "₂" : ""); }
};

struct HeadPairsOfFile {
  std::vector<HeadPair> strongest;                  // the largest first
  std::int64_t candidates = 0;                      // that these are of
  std::array<std::int64_t, 3> pairs{}, above{};     // by way; above: composition_null
  std::vector<double> edges;                        // of bins of one width
  std::array<std::vector<std::int64_t>, 3> counts;  // by way and bin
  double null_value = kNaN;                         // of unrelated matrices
  bool second_maps = false;                         // some pairs are of them
  [[nodiscard]] std::int64_t all() const { return pairs[0] + pairs[1] + pairs[2]; }
};

// Of the heads that are drawn, the `most` strongest of them those that begin or end at one of `touching`, where it is
// not empty. Nothing is found (all() is 0) where the file has no compositions or no head an earlier one.
[[nodiscard]] Result<HeadPairsOfFile> composed_pairs(const FigureRun& run, const RunFile& file, const DrawnHeads& drawn,
                                                     std::span<const HeadRef> touching, std::size_t most);

// A dataset by head, [layers, heads, elements]; `elements` is of the file. Corrupt where it does not fit the axes.
struct HeadNumbers {
  std::vector<double> values;
  std::size_t elements = 0;
  [[nodiscard]] bool empty() const { return values.empty(); }
  // Of the head's place in [layers, heads].
  [[nodiscard]] std::span<const double> of(std::size_t place) const {
    return std::span<const double>(values).subspan(place * elements, elements);
  }
};
// Empty where the file has no such dataset.
[[nodiscard]] Result<HeadNumbers> numbers_by_head(const FigureRun& run, const RunFile& file,
                                                  const std::string& dataset);

}  // namespace headroom
