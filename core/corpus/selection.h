// Which pieces of which documents a corpus is: keys that order them by a seed, and the S first of them in an order,
// which are kept while documents go by. Pure functions and a container; one thread at a time. Definitions:
// core/corpus/CORPUS.md#selection
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/split_mix.h"

namespace headroom {

// A number for a seed and up to two indices, the same on every machine.
[[nodiscard]] constexpr std::uint64_t corpus_key(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return split_mix(split_mix(split_mix(seed) + a) + b);
}

enum class CorpusOrder : std::uint8_t {
  Spread,   // all first pieces, then all second …
  Natural,  // document after document
  Random,   // by corpus_key(seed, document, piece)
};
[[nodiscard]] Result<CorpusOrder> parse_corpus_order(std::string_view word);  // "spread", "natural", "random"
[[nodiscard]] std::string_view corpus_order_name(CorpusOrder order);

struct PlannedSequence {
  std::int64_t document = 0;     // of all that were read, from 0
  std::int64_t piece = 0;        // of the document, from 0
  std::int64_t token_start = 0;  // of its first token, in the document
  std::vector<std::int32_t> ids;
};

class SequenceSelection {
 public:
  // The first `most` sequences (0: all) in the order; with a seed, documents come in the order of their keys.
  SequenceSelection(CorpusOrder order, std::optional<std::uint64_t> seed, std::int64_t most)
      : order_(order), seed_(seed), most_(most) {}

  // Whether a piece would be among the first, as far as it is known by now.
  [[nodiscard]] bool wants(std::int64_t document, std::int64_t piece) const;
  void add(PlannedSequence sequence);
  // No later document can change what is selected; documents come in ascending order, the pieces of one together.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(kept_.size()); }
  [[nodiscard]] std::set<std::int64_t> documents() const;  // that kept sequences are of
  // In the order; the selection is empty afterwards.
  [[nodiscard]] std::vector<PlannedSequence> take();

 private:
  using Rank = std::array<std::uint64_t, 4>;
  struct Ranked {
    Rank rank;
    PlannedSequence sequence;
  };
  [[nodiscard]] Rank rank_of(std::int64_t document, std::int64_t piece) const;

  CorpusOrder order_;
  std::optional<std::uint64_t> seed_;
  std::int64_t most_;
  std::vector<Ranked> kept_;  // a heap with the last one on top, where there is a bound
  std::int64_t first_pieces_ = 0;
};

}  // namespace headroom
