// Unigram language model of subwords: the segmentation with the best sum of scores (arXiv 1804.10959), by Viterbi's
// algorithm. Immutable after creation; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/byte_trie.h"
#include "core/text/token_model.h"

namespace headroom {

struct UnigramOptions {
  std::vector<double> scores;          // by id, one for each token
  std::vector<bool> excluded;          // by id: not found in text; empty: none is
  std::vector<bool> always_chosen;     // by id: symbols that the user defined; empty: none is
  double min_score = 0;                // an unknown character counts 10 less
  double max_score = 0;                // what a symbol always chosen counts for each byte
  std::optional<std::int32_t> unk_id;  // absent: text with unknown characters is refused
  bool byte_fallback = false;          // unknown characters become <0xNN> tokens where all of these are there
  bool single_precision = false;       // sums are rounded to float, as SentencePiece has them
};

class Unigram final : public TokenModel {
 public:
  [[nodiscard]] static Result<std::unique_ptr<TokenModel>> create(Vocabulary vocabulary, UnigramOptions options);

  [[nodiscard]] Result<void> encode(std::string_view word, std::vector<ModelToken>& out) const override;
  [[nodiscard]] const Vocabulary& vocabulary() const override { return vocabulary_; }
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override { return options_.unk_id; }
  [[nodiscard]] std::string spelled(std::string_view token) const override;
  [[nodiscard]] std::string kind() const override { return "Unigram"; }

 private:
  // The best way to the end of a piece of the word.
  struct Step {
    double score = 0;
    std::size_t begin = 0;
    std::int32_t id = kUnreached;
  };
  static constexpr std::int32_t kUnreached = -2;
  static constexpr std::int32_t kUnknown = -1;
  [[nodiscard]] Result<void> append(std::string_view word, const Step& step, std::size_t end,
                                    std::vector<ModelToken>& out) const;
  [[nodiscard]] double score_of(std::int32_t id, std::size_t size_bytes) const;

  Vocabulary vocabulary_;
  UnigramOptions options_;
  ByteTrie trie_;
  std::vector<std::int32_t> byte_ids_;
};

}  // namespace headroom
