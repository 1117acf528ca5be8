#include "core/corpus/documents.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/corpus/document_reader.h"
#include "core/corpus/named_word.h"
#include "core/run/provenance.h"

namespace headroom {
namespace {

constexpr std::array<std::string_view, 3> kSplitNames = {"none", "lines", "blank"};
constexpr std::array<std::string_view, 3> kIdsTypeNames = {"uint16", "uint32", "int32"};

// Formats that are recognised and not read, with what makes one of them that is.
struct Foreign {
  std::string_view magic;
  const char* name;
  const char* hint;
};
constexpr std::array kForeign = {
    Foreign{"PAR1", "Parquet",
            "python3 -c \"import pandas; pandas.read_parquet('X.parquet').to_json('X.jsonl', orient='records', "
            "lines=True)\" makes a file that is read"},
    Foreign{"ARROW1", "Arrow",
            "python3 -c \"import pyarrow.feather as f; f.read_feather('X.arrow').to_json('X.jsonl', orient='records', "
            "lines=True)\" makes a file that is read"},
    Foreign{"PK\x03\x04", "a ZIP archive", "unpack it; arrays of NumPy are read as .npy"},
    Foreign{"\x89HDF", "HDF5", "text, JSONL and files of token ids are read"},
    Foreign{"BZh", "bzip2", "unpack it, or pack it as gzip or zstd"},
    Foreign{"\xFD"
            "7zXZ",
            "xz", "unpack it, or pack it as gzip or zstd"},
};

constexpr std::string_view kNumpyMagic = "\x93NUMPY";
constexpr std::size_t kSniffed = std::size_t{1} << 16;

bool begins_as_llm_c(std::string_view head) {
  std::int32_t word = 0;
  if (head.size() < sizeof(word)) return false;
  std::memcpy(&word, head.data(), sizeof(word));
  return word == 20240520 || word == 20240801;
}

// "x.bin", and packed "x.bin.gz".
bool is_named_bin(const std::filesystem::path& path) {
  return path.extension() == ".bin" || path.stem().extension() == ".bin";
}

// The name is kept in files of results, which hold UTF-8.
CorpusFile corpus_file(const std::filesystem::path& path, const std::string& name) {
  CorpusFile file;
  file.path = path;
  file.name = stored_text(name);
  return file;
}

// Where an .idx describes the .bin, that is read in its place.
void add_file(std::vector<CorpusFile>& files, const std::filesystem::path& path, const std::string& name) {
  if (path.extension() == ".bin") {
    std::filesystem::path index = path;
    index.replace_extension(".idx");
    if (begins_as_index(index)) {
      CorpusFile file = corpus_file(index, std::filesystem::path(name).replace_extension(".idx").string());
      if (std::ranges::find(files, index, &CorpusFile::path) == files.end()) files.push_back(std::move(file));
      return;
    }
  }
  if (path.extension() == ".idx" && std::ranges::find(files, path, &CorpusFile::path) != files.end()) return;
  files.push_back(corpus_file(path, name));
}

Result<void> add_folder(std::vector<CorpusFile>& files, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed), end;
  if (failed) return path_error(folder, failed.value());
  while (entry != end) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    std::error_code ignored;
    if (hidden && entry->is_directory(ignored)) entry.disable_recursion_pending();
    if (!hidden && entry->is_regular_file(ignored)) names.push_back(entry->path().lexically_relative(folder).string());
    const fs::path at = entry->path();
    entry.increment(failed);
    if (failed) return path_error(at, failed.value());
  }
  std::ranges::sort(names);
  if (names.empty()) {
    Error error(ErrorCode::Corrupt, "the folder has no file that could hold documents");
    return error.in_file(folder.string());
  }
  for (const std::string& name : names) add_file(files, folder / name, name);
  return {};
}

}  // namespace

Result<TextSplit> parse_text_split(std::string_view word) {
  return named_word<TextSplit>(word, kSplitNames, "--split");
}
Result<IdsType> parse_ids_type(std::string_view word) {
  return named_word<IdsType>(word, kIdsTypeNames, "--ids-dtype");
}
std::string_view text_split_name(TextSplit split) { return kSplitNames[static_cast<std::size_t>(split)]; }
std::string_view ids_type_name(IdsType type) { return kIdsTypeNames[static_cast<std::size_t>(type)]; }

Result<std::vector<CorpusFile>> find_corpus_files(std::span<const std::filesystem::path> paths) {
  std::vector<CorpusFile> files;
  for (const std::filesystem::path& path : paths) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      HEADROOM_TRY_VOID(add_folder(files, path));
    } else {
      HEADROOM_TRY([[maybe_unused]] const InputFile there, InputFile::open(path));
      add_file(files, path, path.filename().string());
    }
  }
  return files;
}

Result<void> StreamedDocuments::finish(std::vector<CorpusFile>& files) {
  file_.bytes = stream_->file_bytes();
  HEADROOM_TRY(file_.sha256, stream_->finish_hex());
  files.push_back(file_);
  return {};
}

CorpusDocuments::CorpusDocuments(std::vector<CorpusFile> files, DocumentOptions options)
    : files_(std::move(files)), options_(std::move(options)) {}
CorpusDocuments::~CorpusDocuments() = default;

Result<void> CorpusDocuments::open_next() {
  const CorpusFile& file = files_[at_++];
  if (begins_as_index(file.path)) {
    HEADROOM_TRY(reader_, read_indexed_ids(file, options_));
    return {};
  }
  HEADROOM_TRY(std::unique_ptr<ByteStream> stream, ByteStream::open(file.path));
  HEADROOM_TRY(const std::string head, stream->peek(kSniffed));
  const bool packed = stream->packing() != Packing::None;
  const auto unread = [&](const std::string& name, const std::string& hint) {
    Error error(ErrorCode::Unsupported, name + " is not read");
    return error.in_file(file.path.string()).advise(hint);
  };
  for (const Foreign& foreign : kForeign)
    if (head.starts_with(foreign.magic)) return unread(foreign.name, foreign.hint);
  const bool numpy = head.starts_with(kNumpyMagic), llm_c = begins_as_llm_c(head);
  const bool json = begins_as_json_lines(head, !options_.field.empty());
  if (packed && (numpy || llm_c || (!json && is_named_bin(file.path))))
    return unread("a packed file of token ids", "unpack it: text and JSONL may be packed");
  if (numpy) {
    HEADROOM_TRY(reader_, read_numpy_ids(file, options_, std::move(stream)));
  } else if (llm_c) {
    HEADROOM_TRY(reader_, read_llm_c_ids(file, options_, std::move(stream)));
  } else if (!packed && file.path.extension() == ".bin") {
    raw_ids_seen_ = true;
    HEADROOM_TRY(reader_, read_raw_ids(file, options_, std::move(stream)));
  } else if (json) {
    HEADROOM_TRY(reader_, read_json_documents(file, options_, std::move(stream)));
  } else if (!options_.field.empty() && !head.empty()) {
    Error error(ErrorCode::Corrupt, "a field was named, and the file is no JSONL");
    error.in_file(file.path.string()).at_tensor("line 1").at_offset(0);
    return error.wanted("an object in each line", "another text");
  } else {
    HEADROOM_TRY(reader_, read_text_documents(file, options_, std::move(stream)));
  }
  return {};
}

Result<bool> CorpusDocuments::next(CorpusDocument& document) {
  for (;;) {
    if (!reader_) {
      if (at_ == files_.size()) return false;
      HEADROOM_TRY_VOID(open_next());
    }
    HEADROOM_TRY(const bool more, reader_->next(document));
    if (more) return true;
    HEADROOM_TRY_VOID(reader_->finish(done_));
    reader_.reset();
  }
}

Result<std::vector<CorpusFile>> CorpusDocuments::finish() {
  if (reader_) HEADROOM_TRY_VOID(reader_->finish(done_));
  reader_.reset();
  return done_;
}

}  // namespace headroom
