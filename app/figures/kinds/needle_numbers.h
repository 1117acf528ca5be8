// What a file of `headroom needle` says, as its figure draws it: spans over depth, recall and retrieval scores, with
// the file's own intervals over samples. HDF5 is used: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/kinds/lines_panel.h"
#include "core/base/numbers.h"

namespace headroom {

// Places along the axes `span` and `map` of the file.
enum class NeedlePart : std::uint8_t { First, Answer, Needle, Distractor, Haystack, Question };
inline constexpr std::array<const char*, 6> kNeedleParts = {"first",      "answer",   "needle",
                                                            "distractor", "haystack", "question"};
enum class NeedleMap : std::uint8_t { First, Second, Net };
inline constexpr std::array<const char*, 3> kNeedleMapNames = {"first", "second", "net"};

// From this score on Wu et al. (arXiv 2404.15574) speak of a retrieval head.
inline constexpr double kRetrievalHead = 0.1;

// What is measured of the heads by span: "share", with its map: "share[second]".
struct NeedleMeasure {
  const char* name = "";
  const char* title = "";     // markup
  const char* sentence = "";  // what it is of a span, markup
  bool to_one = false;        // of 0 to 1
};
struct NeedleQuantityRef {
  const NeedleMeasure* measure = nullptr;
  NeedleMap map = NeedleMap::Net;
};
// Of `--quantity`; share of the net map where nothing is asked for. InvalidArgument names what there is.
[[nodiscard]] Result<NeedleQuantityRef> needle_quantity(const FigureChoice& choice);

// Over the depths.
struct NeedleLine : LineValues {
  std::vector<std::int64_t> n;  // samples
};
struct RetrievalScore {
  HeadRef head;
  double mean = kNaN, low = kNaN, high = kNaN;  // of the net map
  double second = kNaN;     // mean by the second map alone; NaN: it has none, or an older file does not say
  double corrected = kNaN;  // half of an interval that holds for all heads together
  std::int64_t n = 0;       // prompts
};
struct NeedleMean {
  double mean = kNaN, low = kNaN, high = kNaN;
  [[nodiscard]] double half() const { return 0.5 * (high - low); }
};

struct NeedleNumbers {
  std::string name;  // of the file
  std::vector<double> lengths, depths;
  std::vector<std::array<std::array<NeedleLine, 3>, 6>> spans;  // [length][span][map]
  std::vector<NeedleLine> recalled;                             // [length]
  std::vector<RetrievalScore> scores;                           // that have a value, by falling mean
  std::int64_t without = 0;                                     // heads that have none
  NeedleMean overall;                                           // recall of all cells
  std::int64_t prompts = 0, recalled_prompts = 0;               // with a recall; of them those with more than one half
  std::int64_t recalled_heads = 0;  // that copy at least kRetrievalHead of the answer over these
  std::int64_t samples = 0, needles = 0, cells_done = 0, cells_asked = 0, non_finite = 0;
  std::string model, documents, prompts_sha256;

  [[nodiscard]] bool two_maps() const;
  [[nodiscard]] const NeedleLine& of(std::size_t length, NeedlePart part, NeedleMap map) const {
    return spans[length][static_cast<std::size_t>(part)][static_cast<std::size_t>(map)];
  }
};

// Of the mean over heads, or of the first of --head. Corrupt where the file lacks a dataset or has another shape;
// Unsupported where no cell is done.
[[nodiscard]] Result<NeedleNumbers> read_needle_numbers(const FigureRun& run, const FigureChoice& choice);

}  // namespace headroom
