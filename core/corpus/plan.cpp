#include "core/corpus/plan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <map>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/base/parse_number.h"
#include "core/checkpoint/sha256.h"
#include "core/run/provenance.h"

namespace headroom {
namespace {

static_assert(std::endian::native == std::endian::little, "hashes are of little-endian ids");

std::span<const std::byte> bytes_of(std::span<const std::int32_t> ids) { return std::as_bytes(ids); }

std::string hash_of(std::span<const std::byte> bytes) {
  return text_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string optional_text(std::int64_t value, const char* none) { return value == 0 ? none : std::to_string(value); }

// Cuts documents into pieces and hands them to the selection.
class Cutter {
 public:
  Cutter(const PlanOptions& options, const PlanModel& model, CorpusPlan& plan)
      : options_(options), model_(model), plan_(plan), selection_(options.order, options.seed, options.sequences) {}

  Result<void> begin() {
    if (options_.bos == BosMode::Always) {
      HEADROOM_TRY(plan_.bos_id, model_.bos_id());
    }
    if (options_.concat && options_.separator != "none") {
      HEADROOM_TRY(plan_.separator_id, separator());
    }
    return {};
  }

  Result<void> add(CorpusDocument document) {
    PlannedDocument planned;
    planned.index = plan_.documents_read++;
    planned.name = document.name;
    if (!document.has_ids) {
      HEADROOM_TRY_VOID(encode(document));
    }
    planned.tokens = std::ssize(document.ids);
    longest_ = std::max(longest_, planned.tokens);
    document_ = &document;
    HEADROOM_TRY_VOID(options_.concat ? join(planned) : cut(planned));
    if (wanted_) {
      const auto bytes = document.text.empty() ? bytes_of(document.ids) : std::as_bytes(std::span(document.text));
      planned.bytes = bytes.size();
      planned.sha256 = hash_of(bytes);
      documents_[planned.index] = planned;
      forget_unused();
    }
    return {};
  }

  [[nodiscard]] bool complete() const { return selection_.complete(); }
  [[nodiscard]] std::int64_t kept() const { return selection_.size(); }

  Result<void> finish() {
    if (options_.concat) plan_.tokens_dropped += static_cast<std::int64_t>(joined_.size());
    plan_.sequences = selection_.take();
    for (const PlannedSequence& sequence : plan_.sequences) ++documents_[sequence.document].sequences;
    for (const auto& [index, document] : documents_)
      if (document.sequences > 0) plan_.documents.push_back(document);
    if (!plan_.sequences.empty()) return {};
    Error error(ErrorCode::Corrupt, "no document is as long as a sequence");
    error.in_file(plan_.files.empty() ? "" : plan_.files.front().path.string()).at_tensor("--length");
    return error
        .wanted(format("at least %lld tokens", static_cast<long long>(piece_length(plan_.bos_id.has_value()))),
                plan_.documents_read == 0 ? "no document"
                                          : format("at most %lld in %lld documents", static_cast<long long>(longest_),
                                                   static_cast<long long>(plan_.documents_read)))
        .advise("choose a smaller --length, or join documents with --pack concat");
  }

 private:
  [[nodiscard]] std::int64_t piece_length(bool bos) const { return options_.length - (bos ? 1 : 0); }
  [[nodiscard]] std::int64_t stride(std::int64_t piece) const { return options_.stride > 0 ? options_.stride : piece; }

  Result<std::int32_t> separator() const {
    if (options_.separator == "eos") return model_.eos_id();
    if (options_.separator == "bos") return model_.bos_id();
    const auto id = parse_index(options_.separator);
    if (id && *id < model_.vocab_size) return static_cast<std::int32_t>(*id);
    Error error(ErrorCode::InvalidArgument, "the separator is no token");
    return error.at_tensor("--separator")
        .wanted(format("none, eos, bos or an id from 0 to %lld", static_cast<long long>(model_.vocab_size - 1)),
                options_.separator);
  }

  Result<void> encode(CorpusDocument& document) {
    if (plan_.tokenizer.empty()) {
      // A tokenizer that cannot be opened says so here.
      HEADROOM_TRY([[maybe_unused]] const std::vector<std::int32_t> none, model_.encode(""));
      plan_.tokenizer = model_.tokenizer();
      plan_.tokenizer_sha256 = model_.tokenizer_sha256();
      if (options_.bos == BosMode::Auto) {
        HEADROOM_TRY(const bool adds, model_.adds_bos());
        if (adds) {
          HEADROOM_TRY(plan_.bos_id, model_.bos_id());
        }
      }
    }
    auto ids = document.text.empty() ? Result<std::vector<std::int32_t>>(std::vector<std::int32_t>())
                                     : model_.encode(document.text);
    if (!ids) return std::move(ids.error()).at_tensor(document.name);
    document.ids = std::move(*ids);
    for (const std::int32_t id : document.ids)
      if (id < 0 || id >= model_.vocab_size) {
        Error error(ErrorCode::Corrupt, "the tokenizer makes a token that is not in the model's vocabulary");
        error.at_tensor(document.name);
        return error.wanted(format("0 to %lld", static_cast<long long>(model_.vocab_size - 1)), std::to_string(id));
      }
    return {};
  }

  // Whether a BOS stands before each sequence of the document.
  [[nodiscard]] bool with_bos() const {
    if (document_->is_sequence) return false;
    return plan_.bos_id && (options_.bos == BosMode::Always || !document_->has_ids);
  }

  void offer(std::int64_t document, std::int64_t piece, std::int64_t start, std::span<const std::int32_t> ids,
             bool bos) {
    if (!selection_.wants(document, piece)) return;
    PlannedSequence sequence{document, piece, start, {}};
    sequence.ids.reserve(static_cast<std::size_t>(options_.length));
    if (bos) sequence.ids.push_back(*plan_.bos_id);
    sequence.ids.insert(sequence.ids.end(), ids.begin(), ids.end());
    wanted_ = true;
    selection_.add(std::move(sequence));
  }

  Result<void> cut(const PlannedDocument& planned) {
    wanted_ = false;
    const bool bos = with_bos();
    const std::int64_t c = piece_length(bos), step = stride(c);
    if (document_->is_sequence && options_.bos == BosMode::Always) {
      Error error(ErrorCode::InvalidArgument, "a row of a matrix is a sequence: nothing is put before it");
      error.at_tensor("--bos");
      return error.wanted("auto or never for " + planned.name, "always");
    }
    if (document_->is_sequence && planned.tokens != c) {
      Error error(ErrorCode::Corrupt, "a row of a matrix is a sequence, and has another length");
      error.at_tensor(planned.name);
      return error.wanted(format("%lld ids, as --length says", static_cast<long long>(c)),
                          std::to_string(planned.tokens));
    }
    if (planned.tokens < c) {
      ++plan_.documents_short;
      return {};
    }
    const std::int64_t pieces = (planned.tokens - c) / step + 1;
    plan_.tokens_dropped += planned.tokens - ((pieces - 1) * step + c);
    const std::int64_t taken = options_.pieces > 0 ? std::min(pieces, options_.pieces) : pieces;
    for (std::int64_t p = 0; p < taken; ++p) {
      // Later pieces of a document come after this one in every order but the random one.
      if (options_.order != CorpusOrder::Random && !selection_.wants(planned.index, p)) break;
      offer(planned.index, p, p * step, std::span(document_->ids).subspan(static_cast<std::size_t>(p * step), c), bos);
    }
    return {};
  }

  // One stream of all documents: what is not cut yet, and where in it documents begin.
  Result<void> join(const PlannedDocument& planned) {
    wanted_ = false;
    if (document_->is_sequence) {
      Error error(ErrorCode::InvalidArgument, "rows of a matrix are sequences: they are not joined");
      return error.at_tensor("--pack").wanted("none for " + planned.name, "concat");
    }
    const bool bos = with_bos();
    if (joined_bos_.value_or(bos) != bos) {
      Error error(ErrorCode::InvalidArgument,
                  "documents of text, which get a BOS, and of ids, which get none, are joined");
      error.at_tensor("--bos").wanted("always or never", "auto");
      return error.advise("the first of the other kind is " + planned.name);
    }
    joined_bos_ = bos;
    const std::int64_t c = piece_length(bos), step = stride(c);
    Begin begin{cut_ + std::ssize(joined_), planned.index, 0};
    if (plan_.separator_id && options_.separator == "bos") joined_.push_back(*plan_.separator_id);
    joined_.insert(joined_.end(), document_->ids.begin(), document_->ids.end());
    if (plan_.separator_id && options_.separator != "bos") joined_.push_back(*plan_.separator_id);
    if (cut_ + std::ssize(joined_) > begin.at) begins_.push_back(begin);
    std::int64_t front = 0;  // of joined_, where the next sequence begins; beyond its end with a long stride
    for (front = skip_; std::ssize(joined_) - front >= c; front += step) {
      // The last document that begins at or before the sequence.
      while (begins_.size() > 1 && begins_[1].at <= cut_ + front) begins_.pop_front();
      Begin& of = begins_.front();
      if (options_.pieces == 0 || of.pieces < options_.pieces)
        offer(of.document, of.pieces, cut_ + front - of.at,
              std::span(joined_).subspan(static_cast<std::size_t>(front), static_cast<std::size_t>(c)), bos);
      ++of.pieces;
    }
    const std::int64_t gone = std::min<std::int64_t>(front, std::ssize(joined_));
    joined_.erase(joined_.begin(), joined_.begin() + gone);
    cut_ += gone;
    skip_ = front - gone;
    // Sequences may be of this document later.
    wanted_ = true;
    return {};
  }

  // Documents that nothing is selected of any more are as many as those that were read.
  void forget_unused() {
    if (documents_.size() < forget_at_ || options_.sequences == 0) return;
    std::map<std::int64_t, PlannedDocument> used;
    for (const std::int64_t index : selection_.documents())
      if (const auto found = documents_.find(index); found != documents_.end()) used.insert(*found);
    for (const Begin& begin : begins_)
      if (const auto found = documents_.find(begin.document); found != documents_.end()) used.insert(*found);
    documents_ = std::move(used);
    forget_at_ = std::max<std::size_t>(4096, 2 * documents_.size());
  }

  struct Begin {
    std::int64_t at = 0, document = 0, pieces = 0;
  };

  const PlanOptions& options_;
  const PlanModel& model_;
  CorpusPlan& plan_;
  SequenceSelection selection_;
  const CorpusDocument* document_ = nullptr;
  bool wanted_ = false;
  std::map<std::int64_t, PlannedDocument> documents_;
  std::size_t forget_at_ = 4096;
  std::int64_t longest_ = 0;
  std::vector<std::int32_t> joined_;
  std::deque<Begin> begins_;
  std::optional<bool> joined_bos_;   // a BOS stands before each sequence of the stream
  std::int64_t cut_ = 0, skip_ = 0;  // of the stream: before joined_, and still to be left out
};

Result<void> check_options(const PlanOptions& options, const PlanModel& model) {
  const auto wrong = [](const char* option, const char* message, const std::string& expected, std::int64_t found) {
    Error error(ErrorCode::InvalidArgument, message);
    return error.at_tensor(option).wanted(expected, std::to_string(found));
  };
  const std::int64_t least = options.bos == BosMode::Always ? 2 : 1;
  constexpr std::int64_t kLongest = std::int64_t{1} << 24;
  if (options.length < least || options.length > kLongest)
    return wrong("--length", "sequences cannot be of this length",
                 format("%lld to %lld", static_cast<long long>(least), static_cast<long long>(kLongest)),
                 options.length);
  if (options.documents.document_end && *options.documents.document_end >= model.vocab_size)
    return wrong("--document-end", "the id that ends a document is not in the vocabulary",
                 format("0 to %lld", static_cast<long long>(model.vocab_size - 1)), *options.documents.document_end);
  if (options.separator != "none" && !options.concat) {
    Error error(ErrorCode::InvalidArgument, "documents that are not joined have nothing between them");
    return error.at_tensor("--separator").wanted("--pack concat", "none");
  }
  return {};
}

}  // namespace

ShardRange shard_range(std::int64_t sequences, std::int64_t index, std::int64_t shards) {
  const auto begin = [&](std::int64_t i) {
    return static_cast<std::int64_t>(static_cast<__int128>(i) * sequences / shards);
  };
  return {begin(index), begin(index + 1) - begin(index)};
}

std::string canonical_text(const CorpusPlan& plan) {
  const PlanOptions& options = plan.options;
  const auto id_text = [](const std::optional<std::int32_t>& id) { return id ? std::to_string(*id) : "none"; };
  std::string text = "headroom-plan 1\n";
  const auto line = [&](const char* name, const std::string& value) { text += std::string(name) + " " + value + "\n"; };
  line("split", std::string(text_split_name(options.documents.split)));
  line("field", options.documents.field.empty() ? "text" : escape_for_terminal(options.documents.field));
  line("ids_dtype", std::string(ids_type_name(options.documents.ids_type)));
  line("document_end", id_text(options.documents.document_end));
  line("length", std::to_string(options.length));
  line("stride", std::to_string(options.stride));
  line("bos", id_text(plan.bos_id));
  line("pack", options.concat ? "concat" : "none");
  line("separator", options.separator == "none" ? "none" : options.separator + " " + id_text(plan.separator_id));
  line("order", std::string(corpus_order_name(options.order)));
  line("seed", options.seed ? std::to_string(*options.seed) : "none");
  line("pieces", optional_text(options.pieces, "all"));
  line("sequences_requested", optional_text(options.sequences, "all"));
  line("sequences", std::to_string(plan.sequences.size()));
  for (const CorpusFile& file : plan.files)
    line("file", file.sha256 + " " + std::to_string(file.bytes) + " " + escape_for_terminal(file.name));
  line("tokenizer_sha256", plan.tokenizer_sha256);
  line("ids_sha256", plan.ids_sha256);
  return text;
}

void hash_plan(CorpusPlan& plan) {
  Sha256 ids, corpus;
  for (const PlannedSequence& sequence : plan.sequences) ids.update(bytes_of(sequence.ids));
  plan.ids_sha256 = ids.finish_hex();
  std::string lines;
  for (const CorpusFile& file : plan.files)
    lines += file.sha256 + " " + std::to_string(file.bytes) + " " + escape_for_terminal(file.name) + "\n";
  plan.corpus_sha256 = text_hash(lines);
  plan.plan_sha256 = text_hash(canonical_text(plan));
}

Result<CorpusPlan> plan_corpus(std::span<const std::filesystem::path> data, const PlanOptions& options,
                               const PlanModel& model, const PlanProgress& progress,
                               const std::function<bool()>& stop) {
  HEADROOM_TRY_VOID(check_options(options, model));
  CorpusPlan plan;
  plan.options = options;
  plan.options.documents.vocab_size = model.vocab_size;
  plan.tokenizer_sha256 = "none";
  HEADROOM_TRY(std::vector<CorpusFile> files, find_corpus_files(data));
  CorpusDocuments documents(std::move(files), plan.options.documents);
  Cutter cutter(plan.options, model, plan);
  HEADROOM_TRY_VOID(cutter.begin());
  CorpusDocument document;
  while (!cutter.complete()) {
    if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
    HEADROOM_TRY(const bool more, documents.next(document));
    if (!more) break;
    HEADROOM_TRY_VOID(cutter.add(std::move(document)));
    if (progress) progress(plan.documents_read, cutter.kept());
  }
  HEADROOM_TRY(plan.files, documents.finish());
  HEADROOM_TRY_VOID(cutter.finish());
  if (documents.raw_ids_seen())
    plan.warnings.push_back("files of ids without a header: each id is taken as " +
                            std::string(ids_type_name(options.documents.ids_type)) + " (--ids-dtype)");
  if (options.sequences > std::ssize(plan.sequences))
    plan.warnings.push_back(format("warning: the documents give %zu sequences, %lld were asked for",
                                   plan.sequences.size(), static_cast<long long>(options.sequences)));
  plan.options.stride = options.stride > 0 ? options.stride : options.length - (plan.bos_id ? 1 : 0);
  hash_plan(plan);
  return plan;
}

Result<void> check_ids(const CorpusPlan& plan, std::int64_t vocab_size, const std::filesystem::path& path) {
  for (std::size_t s = 0; s < plan.sequences.size(); ++s) {
    const std::vector<std::int32_t>& ids = plan.sequences[s].ids;
    const auto wrong = std::ranges::find_if(ids, [&](std::int32_t id) { return id < 0 || id >= vocab_size; });
    if (wrong == ids.end()) continue;
    Error error(ErrorCode::Corrupt, "a token id of the plan is not in the model's vocabulary");
    error.in_file(path.string()).at_tensor(format("sequence %zu, position %td", s, wrong - ids.begin()));
    return error.wanted(format("0 to %lld", static_cast<long long>(vocab_size - 1)), std::to_string(*wrong))
        .advise("a plan is for models with the tokenizer that it was made with");
  }
  return {};
}

Result<void> check_files(const CorpusPlan& plan) {
  for (const CorpusFile& file : plan.files) {
    std::error_code missing;
    if (!std::filesystem::exists(file.path, missing)) continue;
    HEADROOM_TRY(const InputFile now, InputFile::open(file.path));
    const auto changed = [&](const std::string& expected, const std::string& found) {
      Error error(ErrorCode::Corrupt, "a file of documents has changed since the corpus was planned");
      return error.in_file(file.path.string()).wanted(expected, found).advise("make the plan again");
    };
    if (now.size_bytes() != file.bytes)
      return changed(std::to_string(file.bytes) + " bytes", std::to_string(now.size_bytes()));
    HEADROOM_TRY(const std::string sha256, sha256_of_file(file.path));
    if (sha256 != file.sha256) return changed("SHA-256 " + file.sha256, sha256);
  }
  return {};
}

}  // namespace headroom
