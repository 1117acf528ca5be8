// The documents of a corpus, file after file: text and JSONL, also packed by gzip or zstd, and token ids as nanoGPT,
// llm.c, Megatron-LM and NumPy keep them. What a file is, its first bytes say, except that ids without a header are
// told by the ending .bin. Files are not trusted: every length is compared with what is there. One thread at a time.
// Formats: core/corpus/CORPUS.md#documents
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

enum class TextSplit : std::uint8_t { None, Lines, Blank };   // a document is a file, a line, a run of lines
enum class IdsType : std::uint8_t { UInt16, UInt32, Int32 };  // of raw ids
[[nodiscard]] Result<TextSplit> parse_text_split(std::string_view word);  // "none", "lines", "blank"
[[nodiscard]] Result<IdsType> parse_ids_type(std::string_view word);      // "uint16", "uint32", "int32"
[[nodiscard]] std::string_view text_split_name(TextSplit split);
[[nodiscard]] std::string_view ids_type_name(IdsType type);

struct DocumentOptions {
  TextSplit split = TextSplit::None;
  std::string field;  // of JSONL, a path a.b; empty: "text", and a file is JSONL only if its first line is an object
  IdsType ids_type = IdsType::UInt16;
  std::optional<std::int32_t> document_end;  // the id that ends a document of raw ids, and belongs to it
  std::int64_t vocab_size = 0;               // ids reach up to one below; 0: they are not compared
  std::uint64_t most_line_bytes = std::uint64_t{64} << 20;
  std::uint64_t most_document_bytes = std::uint64_t{256} << 20;  // of text, or 4 for each id
};

struct CorpusFile {
  std::filesystem::path path;
  std::string name;  // below the folder that was given, or its own: the same on every machine; UTF-8
  std::uint64_t bytes = 0;
  std::string sha256;  // once it has been read
};

struct CorpusDocument {
  std::string name;  // "a/b.txt", "c.jsonl:7" (line), "d.bin:3" (document, from 0)
  std::string text;
  std::vector<std::int32_t> ids;  // in place of text
  bool has_ids = false;
  bool is_sequence = false;  // a row of a matrix: taken as it is, never cut
};

// Regular files of `paths`; folders recursively in the bytewise order of their paths, hidden ones left out. A .bin that
// an .idx beside it describes is read with that. NotFound for what is not there, Corrupt for a folder without files.
[[nodiscard]] Result<std::vector<CorpusFile>> find_corpus_files(std::span<const std::filesystem::path> paths);

class DocumentReader;

class CorpusDocuments {
 public:
  CorpusDocuments(std::vector<CorpusFile> files, DocumentOptions options);
  ~CorpusDocuments();
  CorpusDocuments(const CorpusDocuments&) = delete;
  CorpusDocuments& operator=(const CorpusDocuments&) = delete;

  // The next document, empty ones too; false at the end. Corrupt with file and line or offset for what is damaged,
  // holds an id outside of the vocabulary or is longer than the options allow; Unsupported for formats that are not
  // read.
  [[nodiscard]] Result<bool> next(CorpusDocument& document);
  // The files that were opened, hashed to their ends though not all of their documents were read.
  [[nodiscard]] Result<std::vector<CorpusFile>> finish();
  [[nodiscard]] bool raw_ids_seen() const { return raw_ids_seen_; }  // ids without a header: their type was supposed

 private:
  Result<void> open_next();

  std::vector<CorpusFile> files_, done_;
  DocumentOptions options_;
  std::size_t at_ = 0;
  std::unique_ptr<DocumentReader> reader_;
  bool raw_ids_seen_ = false;
};

}  // namespace headroom
