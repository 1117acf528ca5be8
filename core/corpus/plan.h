// The plan of a corpus: which sequences of tokens run, cut from which documents, and what all of that follows from. One
// thread at a time. Definitions: core/corpus/CORPUS.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/documents.h"
#include "core/corpus/selection.h"
#include "core/run/open_model.h"
#include "core/text/tokenizer.h"

namespace headroom {

struct Prompt;

struct PlanOptions {
  DocumentOptions documents;  // vocab_size is the model's
  std::int64_t length = 0;    // L, of every sequence
  std::int64_t stride = 0;    // between pieces of a document; 0: what a piece takes of it
  BosMode bos = BosMode::Auto;
  bool concat = false;             // documents are joined before they are cut
  std::string separator = "none";  // behind each joined document: none, eos, an id; or bos before it
  std::int64_t sequences = 0;      // S; 0: all
  std::int64_t pieces = 0;         // at most of a document; 0: all
  std::optional<std::uint64_t> seed;
  CorpusOrder order = CorpusOrder::Spread;
};

struct PlannedDocument {
  std::int64_t index = 0;  // of all that were read
  std::string name;
  std::string sha256;       // of the text, or of the ids as little-endian int32
  std::uint64_t bytes = 0;  // that this hash is of
  std::int64_t tokens = 0;
  std::int64_t sequences = 0;  // that are selected
};

struct CorpusPlan {
  PlanOptions options;                               // stride as it is
  std::optional<std::int32_t> bos_id, separator_id;  // that were put in
  std::vector<CorpusFile> files;                     // that were read
  std::vector<PlannedDocument> documents;            // that sequences are from, ascending
  std::vector<PlannedSequence> sequences;            // in the order
  std::vector<std::int64_t> numbers;                 // of them, where they are some of a plan's; empty: 0, 1 …
  std::int64_t sequences_all = 0;                    // of that plan; 0: these
  std::int64_t documents_read = 0, documents_short = 0, tokens_dropped = 0;
  std::string tokenizer;         // what it is; empty where documents hold ids
  std::string tokenizer_sha256;  // "none" there
  std::string ids_sha256, corpus_sha256, plan_sha256;
  std::vector<std::string> warnings;
};

// What a plan asks of a model. Functions are called where they are needed only.
struct PlanModel {
  std::int64_t vocab_size = 0;
  std::function<Result<std::vector<std::int32_t>>(std::string_view text)> encode;  // without a BOS
  std::function<Result<std::int32_t>()> bos_id, eos_id;
  std::function<Result<bool>()> adds_bos;                           // to text, by itself
  std::function<Result<std::string>(std::int32_t id)> token_bytes;  // empty for an id that stands for no text
  std::function<std::string()> tokenizer, tokenizer_sha256;
};
// Borrows the model.
[[nodiscard]] PlanModel plan_model(const OpenedModel& model);
// One of its sequences as the prompt of a run (core/run/analysis.h).
[[nodiscard]] Prompt prompt_of_sequence(const CorpusPlan& plan, std::size_t sequence, const ModelSpec& model);

using PlanProgress = std::function<void(std::int64_t documents, std::int64_t sequences)>;

// Reads documents until no later one could change the plan. InvalidArgument for options that do not go together;
// Corrupt where no document is long enough, and as CorpusDocuments::next; Cancelled by `stop`.
[[nodiscard]] Result<CorpusPlan> plan_corpus(std::span<const std::filesystem::path> data, const PlanOptions& options,
                                             const PlanModel& model, const PlanProgress& progress,
                                             const std::function<bool()>& stop);

// What plan_sha256 is of: all choices and hashes, a line each.
[[nodiscard]] std::string canonical_text(const CorpusPlan& plan);
// The hashes of a plan whose files, documents and sequences are there.
void hash_plan(CorpusPlan& plan);

// Sequences [first, first + count) of shard `index` of `shards`.
struct ShardRange {
  std::int64_t first = 0, count = 0;
};
[[nodiscard]] ShardRange shard_range(std::int64_t sequences, std::int64_t index, std::int64_t shards);

// Corrupt, with sequence and position in `path`, for what is no id of a vocabulary of this size.
[[nodiscard]] Result<void> check_ids(const CorpusPlan& plan, std::int64_t vocab_size,
                                     const std::filesystem::path& path);

// Corrupt, with both sizes or hashes, for a file that is there and not what was planned; what is not there is not
// needed: a plan holds the ids.
[[nodiscard]] Result<void> check_files(const CorpusPlan& plan);

}  // namespace headroom
