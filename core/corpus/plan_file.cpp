#include "core/corpus/plan_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/format.h"
#include "core/base/parse_number.h"
#include "core/base/utc.h"
#include "core/io/corpus_schema.h"
#include "core/run/provenance.h"
#include "core/run/run_layout.h"

namespace headroom {
namespace {

std::vector<double> counting(std::int64_t first, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(first) + static_cast<double>(i);
  return values;
}

std::vector<PlannedDocument> documents_of(const CorpusPlan& plan, const ShardRange& range) {
  std::map<std::int64_t, std::int64_t> sequences;
  for (std::int64_t s = range.first; s < range.first + range.count; ++s)
    ++sequences[plan.sequences[static_cast<std::size_t>(s)].document];
  std::vector<PlannedDocument> documents;
  for (PlannedDocument document : plan.documents) {
    const auto found = sequences.find(document.index);
    if (found == sequences.end()) continue;
    document.sequences = found->second;
    documents.push_back(std::move(document));
  }
  return documents;
}

struct PlanDataset {
  const char *group, *name, *axis;
  ElementType type;
  const char *units, *long_name, *definition;
};

constexpr PlanDataset kSequenceData[] = {
    {"sequences", "document", "sequence", ElementType::Int32, "1", "document of a sequence",
     "index of the document of the sequence's first token, among all that were read, from 0"},
    {"sequences", "piece", "sequence", ElementType::Int32, "1", "piece of the document",
     "which of the sequences that begin in the document, from 0"},
    {"sequences", "token_start", "sequence", ElementType::Int64, "1", "first token",
     "index in its document of the first token of the sequence, a BOS left out"},
    {"documents", "name", "document", ElementType::String, "1", "name of a document",
     "file, and where it holds several documents the line, or the number of the document from 0, after a colon"},
    {"documents", "sha256", "document", ElementType::String, "1", "SHA-256 of a document",
     "of the bytes of its text, or of its ids as little-endian int32"},
    {"documents", "bytes", "document", ElementType::Int64, "1", "bytes of a document", "what sha256 is of"},
    {"documents", "tokens", "document", ElementType::Int64, "1", "tokens of a document", "all of them"},
    {"documents", "sequences", "document", ElementType::Int32, "1", "sequences of a document",
     "number of sequences of this file that begin in it"},
};

constexpr PlanDataset kFileData[] = {
    {"files", "path", "file", ElementType::String, "1", "path", "where the file lay when the plan was made"},
    {"files", "name", "file", ElementType::String, "1", "name", "below the folder that was given, or its own"},
    {"files", "sha256", "file", ElementType::String, "1", "SHA-256 of a file", "of the file on disk"},
    {"files", "bytes", "file", ElementType::Int64, "1", "bytes of a file", "on disk"},
};

Result<void> define(RunFileWriter& writer, const PlanDataset& data) {
  DatasetDef def;
  def.group = data.group;
  def.name = data.name;
  def.axes = {data.axis};
  def.type = data.type;
  def.units = data.units;
  def.long_name = data.long_name;
  def.definition = data.definition;
  return writer.add_dataset(def);
}

template <typename Item, typename Value>
Result<void> write_numbers(RunFileWriter& writer, const char* path, std::span<const Item> items, const Value& value) {
  std::vector<double> values;
  for (const Item& item : items) values.push_back(static_cast<double>(value(item)));
  const std::int64_t start[] = {0}, count[] = {static_cast<std::int64_t>(values.size())};
  return writer.write(path, start, count, values);
}

template <typename Item, typename Value>
Result<void> write_texts(RunFileWriter& writer, const char* path, std::span<const Item> items, const Value& value) {
  std::vector<std::string> values;
  for (const Item& item : items) values.push_back(value(item));
  const std::int64_t start[] = {0}, count[] = {static_cast<std::int64_t>(values.size())};
  return writer.write_strings(path, start, count, values);
}

std::string bos_text(const CorpusPlan& plan) {
  constexpr const char* names[] = {"auto", "always", "never"};
  return std::string(names[static_cast<std::size_t>(plan.options.bos)]) +
         (plan.bos_id ? ": " + std::to_string(*plan.bos_id) : ": none");
}

std::optional<std::int32_t> id_behind_colon(std::string_view text) {
  const std::size_t colon = text.find(": ");
  const auto id = colon == std::string_view::npos ? std::nullopt : parse_index(text.substr(colon + 2));
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

// Numbers of a file that may say anything, as integers.
Result<std::int64_t> as_integer(double value, const char* what) {
  if (value >= -1.0 && value <= 0x1p53 && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return Error(ErrorCode::Corrupt, std::string("the plan has no whole number as ") + what);
}

class PlanReader {
 public:
  explicit PlanReader(const RunFile& file) : file_(file) {}

  Result<CorpusPlan> read() {
    HEADROOM_TRY_VOID(read_attributes());
    HEADROOM_TRY_VOID(read_files());
    HEADROOM_TRY_VOID(read_sequences());
    HEADROOM_TRY_VOID(read_documents());
    return std::move(plan_);
  }

 private:
  Result<std::int64_t> number(const char* name) const {
    HEADROOM_TRY(const std::string text, file_.root_attribute(name));
    const auto value = parse_index(text);
    if (value) return *value;
    Error error(ErrorCode::Corrupt, "the plan has no number as this attribute");
    return error.at_tensor(name).wanted("a number from 0", text);
  }

  Result<void> read_attributes() {
    PlanOptions& options = plan_.options;
    const auto text = [&](const char* name) { return file_.root_attribute(name); };
    HEADROOM_TRY(const std::string split, text("split"));
    HEADROOM_TRY(options.documents.split, parse_text_split(split));
    HEADROOM_TRY(options.documents.field, text("field"));
    if (options.documents.field == "text") options.documents.field.clear();
    HEADROOM_TRY(const std::string type, text("ids_dtype"));
    HEADROOM_TRY(options.documents.ids_type, parse_ids_type(type));
    HEADROOM_TRY(const std::string end, text("document_end"));
    if (const auto id = parse_index(end)) options.documents.document_end = static_cast<std::int32_t>(*id);
    HEADROOM_TRY(options.length, number("length"));
    HEADROOM_TRY(options.stride, number("stride"));
    HEADROOM_TRY(const std::string bos, text("bos"));
    plan_.bos_id = id_behind_colon(bos);
    options.bos = bos.starts_with("always")  ? BosMode::Always
                  : bos.starts_with("never") ? BosMode::Never
                                             : BosMode::Auto;
    HEADROOM_TRY(const std::string pack, text("pack"));
    options.concat = pack == "concat";
    HEADROOM_TRY(const std::string separator, text("separator"));
    options.separator = separator.substr(0, separator.find(": "));
    plan_.separator_id = id_behind_colon(separator);
    HEADROOM_TRY(const std::string order, text("order"));
    HEADROOM_TRY(options.order, parse_corpus_order(order));
    HEADROOM_TRY(const std::string seed, text("seed"));
    std::uint64_t number_of_seed = 0;
    const auto parsed = std::from_chars(seed.data(), seed.data() + seed.size(), number_of_seed);
    if (parsed.ec == std::errc() && parsed.ptr == seed.data() + seed.size()) options.seed = number_of_seed;
    HEADROOM_TRY(options.pieces, number("pieces"));
    HEADROOM_TRY(options.sequences, number("sequences_requested"));
    HEADROOM_TRY(plan_.documents_read, number("documents"));
    HEADROOM_TRY(plan_.documents_short, number("documents_short"));
    HEADROOM_TRY(plan_.tokens_dropped, number("tokens_dropped"));
    HEADROOM_TRY(plan_.tokenizer_sha256, text("tokenizer_sha256"));
    HEADROOM_TRY(plan_.ids_sha256, text("ids_sha256"));
    HEADROOM_TRY(plan_.corpus_sha256, text("corpus_sha256"));
    HEADROOM_TRY(plan_.plan_sha256, text("plan_sha256"));
    return {};
  }

  Result<void> read_files() {
    HEADROOM_TRY(const std::vector<std::string> paths, file_.read_strings("files/path"));
    HEADROOM_TRY(const std::vector<std::string> names, file_.read_strings("files/name"));
    HEADROOM_TRY(const std::vector<std::string> hashes, file_.read_strings("files/sha256"));
    HEADROOM_TRY(const std::vector<double> bytes, file_.read("files/bytes"));
    if (names.size() != paths.size() || hashes.size() != paths.size() || bytes.size() != paths.size())
      return Error(ErrorCode::Corrupt, "the files of the plan have not all their parts");
    for (std::size_t f = 0; f < paths.size(); ++f) {
      CorpusFile file;
      file.path = paths[f];
      file.name = names[f];
      file.sha256 = hashes[f];
      HEADROOM_TRY(const std::int64_t size, as_integer(bytes[f], "files/bytes"));
      file.bytes = static_cast<std::uint64_t>(size);
      plan_.files.push_back(std::move(file));
    }
    return {};
  }

  Result<void> read_sequences() {
    HEADROOM_TRY(const std::vector<double> documents, file_.read("sequences/document"));
    HEADROOM_TRY(const std::vector<double> pieces, file_.read("sequences/piece"));
    HEADROOM_TRY(const std::vector<double> starts, file_.read("sequences/token_start"));
    const DatasetInfo* ids = file_.find("sequences/token_id");
    const auto sequences = static_cast<std::int64_t>(documents.size());
    const bool fits = !ids || ids->shape == std::vector<std::int64_t>{sequences, plan_.options.length};
    if (!fits || pieces.size() != documents.size() || starts.size() != documents.size() || sequences == 0)
      return Error(ErrorCode::Corrupt, "the sequences of the plan have not all their parts")
          .at_tensor("sequences/token_id");
    constexpr std::int64_t kAtOnce = 1024;
    const auto length = static_cast<std::size_t>(plan_.options.length);
    for (std::int64_t first = 0; first < sequences; first += kAtOnce) {
      const std::int64_t start[] = {first, 0}, count[] = {std::min(kAtOnce, sequences - first), plan_.options.length};
      std::vector<double> values;
      if (ids) {
        HEADROOM_TRY(values, file_.read_part("sequences/token_id", start, count));
      }
      for (std::int64_t s = 0; s < count[0]; ++s) {
        const auto at = static_cast<std::size_t>(first + s);
        PlannedSequence sequence;
        HEADROOM_TRY(sequence.document, as_integer(documents[at], "sequences/document"));
        HEADROOM_TRY(sequence.piece, as_integer(pieces[at], "sequences/piece"));
        HEADROOM_TRY(sequence.token_start, as_integer(starts[at], "sequences/token_start"));
        const auto row =
            ids ? std::span(values).subspan(static_cast<std::size_t>(s) * length, length) : std::span<double>();
        for (const double id : row) {
          if (!(id >= 0.0 && id <= 0x1p31 - 1.0))
            return Error(ErrorCode::Corrupt, "the plan holds what is no token id").at_tensor("sequences/token_id");
          sequence.ids.push_back(static_cast<std::int32_t>(id));
        }
        plan_.sequences.push_back(std::move(sequence));
      }
    }
    return {};
  }

  Result<void> read_documents() {
    HEADROOM_TRY(const std::vector<double> indices, file_.read_axis("documents/document"));
    HEADROOM_TRY(const std::vector<std::string> names, file_.read_strings("documents/name"));
    HEADROOM_TRY(const std::vector<std::string> hashes, file_.read_strings("documents/sha256"));
    HEADROOM_TRY(const std::vector<double> bytes, file_.read("documents/bytes"));
    HEADROOM_TRY(const std::vector<double> tokens, file_.read("documents/tokens"));
    HEADROOM_TRY(const std::vector<double> counts, file_.read("documents/sequences"));
    std::set<std::int64_t> known;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (d >= names.size() || d >= hashes.size() || d >= bytes.size() || d >= tokens.size() || d >= counts.size())
        return Error(ErrorCode::Corrupt, "the documents of the plan have not all their parts");
      PlannedDocument document;
      HEADROOM_TRY(document.index, as_integer(indices[d], "documents/document"));
      document.name = names[d];
      document.sha256 = hashes[d];
      HEADROOM_TRY(const std::int64_t size, as_integer(bytes[d], "documents/bytes"));
      document.bytes = static_cast<std::uint64_t>(size);
      HEADROOM_TRY(document.tokens, as_integer(tokens[d], "documents/tokens"));
      HEADROOM_TRY(document.sequences, as_integer(counts[d], "documents/sequences"));
      known.insert(document.index);
      plan_.documents.push_back(std::move(document));
    }
    for (const PlannedSequence& sequence : plan_.sequences)
      if (!known.contains(sequence.document))
        return Error(ErrorCode::Corrupt, "a sequence of the plan is of a document that it has not")
            .at_tensor("sequences/document");
    return {};
  }

  const RunFile& file_;
  CorpusPlan plan_;
};

}  // namespace

Result<void> define_plan(RunFileWriter& writer, const CorpusPlan& plan, const ShardRange& range, bool with_ids) {
  const PlanOptions& options = plan.options;
  const auto id_text = [](const std::optional<std::int32_t>& id) { return id ? std::to_string(*id) : "none"; };
  std::string data;
  for (const CorpusFile& file : plan.files) data += (data.empty() ? "" : "\n") + stored_text(file.name);
  const std::pair<const char*, AttributeValue> attributes[] = {
      {"plan_sha256", plan.plan_sha256},
      {"corpus_sha256", plan.corpus_sha256},
      {"ids_sha256", plan.ids_sha256},
      {"tokenizer_sha256", plan.tokenizer_sha256},
      {"data", data},
      {"split", std::string(text_split_name(options.documents.split))},
      {"field", options.documents.field.empty() ? "text" : options.documents.field},
      {"ids_dtype", std::string(ids_type_name(options.documents.ids_type))},
      {"document_end", id_text(options.documents.document_end)},
      {"pack", options.concat ? "concat" : "none"},
      {"separator", options.separator == "none" ? "none" : options.separator + ": " + id_text(plan.separator_id)},
      {"length", options.length},
      {"stride", options.stride},
      {"bos", bos_text(plan)},
      {"order", std::string(corpus_order_name(options.order))},
      {"pieces", options.pieces},
      {"seed", options.seed ? std::to_string(*options.seed) : "none"},
      {"sequences", static_cast<std::int64_t>(range.count)},
      {"sequences_requested", options.sequences},
      {"documents", plan.documents_read},
      {"documents_used", static_cast<std::int64_t>(plan.documents.size())},
      {"documents_short", plan.documents_short},
      {"tokens_dropped", plan.tokens_dropped},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer.set_attribute("", name, value));

  std::vector<double> numbers = counting(range.first, range.count);
  if (!plan.numbers.empty())
    numbers.assign(plan.numbers.begin() + range.first, plan.numbers.begin() + range.first + range.count);
  HEADROOM_TRY_VOID(
      writer.add_axis(index_axis("sequence", std::move(numbers), "sequence of the plan, from 0", "sequences")));
  std::vector<double> indices;
  for (const PlannedDocument& document : documents_of(plan, range))
    indices.push_back(static_cast<double>(document.index));
  HEADROOM_TRY_VOID(writer.add_axis(
      index_axis("document", indices, "index of the document among all that were read, from 0", "documents")));
  HEADROOM_TRY_VOID(
      writer.add_axis(index_axis("file", counting(0, std::ssize(plan.files)), "file that was read, from 0", "files")));
  for (const PlanDataset& dataset : kSequenceData) HEADROOM_TRY_VOID(define(writer, dataset));
  for (const PlanDataset& dataset : kFileData) HEADROOM_TRY_VOID(define(writer, dataset));
  if (!with_ids) return {};
  DatasetDef ids;
  ids.group = "sequences";
  ids.name = "token_id";
  ids.axes = {"sequence", "position"};
  ids.type = ElementType::Int32;
  ids.units = "1";
  ids.long_name = "token id";
  ids.definition = "id of the token in the model's vocabulary";
  return writer.add_dataset(ids);
}

Result<void> write_plan_parts(RunFileWriter& writer, const CorpusPlan& plan, const ShardRange& range, bool with_ids) {
  const auto sequences = std::span<const PlannedSequence>(plan.sequences)
                             .subspan(static_cast<std::size_t>(range.first), static_cast<std::size_t>(range.count));
  const std::vector<PlannedDocument> kept = documents_of(plan, range);
  const std::span<const PlannedDocument> documents = kept;
  const std::span<const CorpusFile> files = plan.files;
  HEADROOM_TRY_VOID(write_numbers(writer, "sequences/document", sequences, [](const auto& s) { return s.document; }));
  HEADROOM_TRY_VOID(write_numbers(writer, "sequences/piece", sequences, [](const auto& s) { return s.piece; }));
  HEADROOM_TRY_VOID(
      write_numbers(writer, "sequences/token_start", sequences, [](const auto& s) { return s.token_start; }));
  HEADROOM_TRY_VOID(
      write_texts(writer, "documents/name", documents, [](const auto& d) { return stored_text(d.name); }));
  HEADROOM_TRY_VOID(write_texts(writer, "documents/sha256", documents, [](const auto& d) { return d.sha256; }));
  HEADROOM_TRY_VOID(write_numbers(writer, "documents/bytes", documents, [](const auto& d) { return d.bytes; }));
  HEADROOM_TRY_VOID(write_numbers(writer, "documents/tokens", documents, [](const auto& d) { return d.tokens; }));
  HEADROOM_TRY_VOID(write_numbers(writer, "documents/sequences", documents, [](const auto& d) { return d.sequences; }));
  HEADROOM_TRY_VOID(
      write_texts(writer, "files/path", files, [](const auto& f) { return stored_text(f.path.string()); }));
  HEADROOM_TRY_VOID(write_texts(writer, "files/name", files, [](const auto& f) { return f.name; }));
  HEADROOM_TRY_VOID(write_texts(writer, "files/sha256", files, [](const auto& f) { return f.sha256; }));
  HEADROOM_TRY_VOID(write_numbers(writer, "files/bytes", files, [](const auto& f) { return f.bytes; }));
  if (!with_ids) return {};
  constexpr std::size_t kAtOnce = 1024;
  for (std::size_t first = 0; first < sequences.size(); first += kAtOnce) {
    std::vector<double> ids;
    const auto some = sequences.subspan(first, std::min(kAtOnce, sequences.size() - first));
    for (const PlannedSequence& sequence : some) ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
    const std::int64_t start[] = {static_cast<std::int64_t>(first), 0},
                       count[] = {static_cast<std::int64_t>(some.size()), plan.options.length};
    HEADROOM_TRY_VOID(writer.write("sequences/token_id", start, count, ids));
  }
  return {};
}

Result<void> write_plan_file(const CorpusPlan& plan, const std::filesystem::path& path,
                             const PlanFileOptions& options) {
  RunFileWriter::Options file;
  file.force = options.force;
  file.inputs = options.inputs;
  file.schema_name = kPlanSchemaName;
  HEADROOM_TRY(const std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(path, file));
  const std::string now = utc_now();
  const std::pair<const char*, std::string> attributes[] = {
      {"Conventions", "CF-1.10, ACDD-1.3"},
      {"title", "Sequences of a corpus, for " + options.model_id},
      {"source", options.program},
      {"history", now + " " + options.command_line},
      {"created_utc", now},
      {"command_line", options.command_line},
      {"program_git_commit", options.git_commit},
      {"model_id", options.model_id},
      {"tokenizer", plan.tokenizer.empty() ? "none" : plan.tokenizer},
      {"plan_text", canonical_text(plan)},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer->set_attribute("", name, value));
  const ShardRange all{0, std::ssize(plan.sequences)};
  HEADROOM_TRY_VOID(
      writer->add_axis(index_axis("position", counting(0, plan.options.length), "token position, from 0")));
  HEADROOM_TRY_VOID(define_plan(*writer, plan, all, true));
  HEADROOM_TRY_VOID(write_plan_parts(*writer, plan, all, true));
  return writer->commit();
}

Result<CorpusPlan> read_plan_part(const RunFile& file) { return PlanReader(file).read(); }

Result<CorpusPlan> read_plan_file(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  HEADROOM_TRY(const std::string schema, file->root_attribute("schema_name"));
  if (schema != kPlanSchemaName) {
    Error error(ErrorCode::Corrupt, "the file is no plan of a corpus");
    return error.in_file(path.string()).wanted(kPlanSchemaName, schema);
  }
  auto read = read_plan_part(*file);
  if (!read) return std::move(read.error()).in_file(path.string());
  CorpusPlan plan = std::move(*read);
  const std::string ids = plan.ids_sha256, all = plan.plan_sha256;
  hash_plan(plan);
  for (const auto& [name, found, expected] :
       {std::tuple{"ids_sha256", ids, plan.ids_sha256}, std::tuple{"plan_sha256", all, plan.plan_sha256}})
    if (found != expected) {
      Error error(ErrorCode::Corrupt, "what the plan holds is not what its hash is of");
      return error.in_file(path.string()).at_tensor(name).wanted(expected, found);
    }
  return plan;
}

Result<std::vector<std::int32_t>> read_planned_sequence(const std::filesystem::path& path, std::int64_t number) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  const auto failed = [&](ErrorCode code, const char* message) { return Error(code, message).in_file(path.string()); };
  const DatasetInfo* ids = file->find("sequences/token_id");
  if (ids == nullptr || ids->shape.size() != 2)
    return failed(ErrorCode::Corrupt, "the file holds no ids of sequences")
        .wanted("a corpus or a plan with ids", "none");
  HEADROOM_TRY(const std::vector<double> numbers, file->read_axis("sequences/sequence"));
  const auto found = std::ranges::find(numbers, static_cast<double>(number));
  if (found == numbers.end() || numbers.empty() || std::ssize(numbers) != ids->shape[0])
    return failed(ErrorCode::NotFound, "the file has no such sequence")
        .wanted(numbers.empty() ? "none" : format("%.0f to %.0f", numbers.front(), numbers.back()),
                std::to_string(number));
  const std::int64_t start[] = {found - numbers.begin(), 0}, count[] = {1, ids->shape[1]};
  HEADROOM_TRY(const std::vector<double> values, file->read_part("sequences/token_id", start, count));
  std::vector<std::int32_t> sequence;
  for (const double value : values) {
    if (!(value >= 0.0 && value <= 0x1p31 - 1.0))
      return failed(ErrorCode::Corrupt, "the sequence holds what is no token id").at_tensor("sequences/token_id");
    sequence.push_back(static_cast<std::int32_t>(value));
  }
  return sequence;
}

}  // namespace headroom
