// The prompts of the needle test: numbers of cities as sentences in a stretch of joined documents, and a question for
// one of them. Ids are joined from parts that are tokenised alone, so that every position belongs to a known span. What
// a prompt is follows from (seed, length, depth, sample). Immutable once made; safe from any thread. Definitions:
// core/corpus/NEEDLES.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/documents.h"
#include "core/corpus/plan.h"

namespace headroom {

struct NeedleOptions {
  DocumentOptions documents;
  std::vector<std::int64_t> lengths;  // of prompts in tokens, answer and BOS among them; ascending
  std::vector<double> depths;         // of the answer's needle, per cent of the haystack; ascending
  std::int64_t needles = 6;
  std::int64_t samples = 50;
  std::uint64_t seed = 0;
  BosMode bos = BosMode::Auto;
};

// A partition of the keys.
enum class NeedleSpan : std::uint8_t {
  First,       // position 0
  Answer,      // the number that is asked for, where it stands in the haystack
  Needle,      // the rest of its sentence
  Distractor,  // sentences of other cities
  Haystack,
  Question,  // what stands behind the haystack, the answer's own tokens too
};
inline constexpr std::size_t kNeedleSpans = 6;
[[nodiscard]] const std::vector<std::string>& needle_span_names();

struct NeedlePrompt {
  std::vector<std::int32_t> ids;
  std::vector<NeedleSpan> spans;     // by position
  std::int64_t answer_begin = 0;     // of the span `answer`
  std::int64_t answer_tokens = 0;    // of the span, and of the answer, which are the last ones of ids
  std::int64_t haystack_tokens = 0;  // R
  std::int64_t haystack_start = 0;   // in the joined documents
  std::int64_t needle_place = 0;     // tokens of the haystack before the answer's needle
  std::string city;
  std::int64_t number = 0;

  // The row that predicts the answer's first token.
  [[nodiscard]] std::int64_t first_row() const { return static_cast<std::int64_t>(ids.size()) - answer_tokens - 1; }
};

class NeedleHaystack {
 public:
  // Reads and joins the documents. InvalidArgument for options that do not go together and lengths that the needles do
  // not fit into; Corrupt where the documents are shorter than a haystack; Cancelled by `stop`.
  [[nodiscard]] static Result<NeedleHaystack> create(std::span<const std::filesystem::path> data,
                                                     const NeedleOptions& options, const PlanModel& model,
                                                     const std::function<void(std::int64_t documents)>& progress,
                                                     const std::function<bool()>& stop);

  // Of lengths[length] and depths[depth].
  [[nodiscard]] NeedlePrompt prompt(std::size_t length, std::size_t depth, std::int64_t sample) const;
  // Over the ids of all prompts as little-endian int32: lengths, in them depths, in them samples.
  [[nodiscard]] std::string ids_sha256() const;
  [[nodiscard]] std::int64_t most_answer_tokens() const;

  [[nodiscard]] const NeedleOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<CorpusFile>& files() const { return files_; }
  [[nodiscard]] const std::string& corpus_sha256() const { return corpus_sha256_; }
  [[nodiscard]] const std::string& tokenizer() const { return tokenizer_; }
  [[nodiscard]] const std::string& tokenizer_sha256() const { return tokenizer_sha256_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] std::optional<std::int32_t> bos_id() const { return bos_id_; }
  [[nodiscard]] std::int64_t tokens() const { return static_cast<std::int64_t>(ids_.size()); }  // of all documents
  [[nodiscard]] std::int64_t documents() const { return documents_; }

 private:
  using Ids = std::vector<std::int32_t>;
  struct Sample {
    std::vector<std::size_t> cities;    // of the needles, the answer's first
    std::vector<std::int64_t> numbers;  // likewise
    std::vector<Ids> numbers_ids;       // likewise
    std::int64_t others = 0;            // tokens of a prompt that are not of the haystack
  };

  explicit NeedleHaystack(const NeedleOptions& options) : options_(options) {}
  Result<void> read(std::span<const std::filesystem::path> data, const PlanModel& model,
                    const std::function<void(std::int64_t)>& progress, const std::function<bool()>& stop);
  Result<void> encode_parts(const PlanModel& model);
  Result<void> mark_ends(const PlanModel& model);
  Result<void> make_samples(const PlanModel& model);
  [[nodiscard]] Result<void> check_lengths() const;
  [[nodiscard]] std::int64_t moved_back(std::int64_t place, std::int64_t start) const;

  NeedleOptions options_;
  Ids ids_;                                // of the joined documents
  std::vector<std::uint8_t> ends_;         // by id: a needle may stand behind it
  std::vector<Ids> openings_, questions_;  // by city
  Ids end_;
  std::vector<Sample> samples_;
  std::optional<std::int32_t> bos_id_;
  std::vector<CorpusFile> files_;
  std::string corpus_sha256_, tokenizer_, tokenizer_sha256_;
  std::vector<std::string> warnings_;
  std::int64_t documents_ = 0;
};

}  // namespace headroom
