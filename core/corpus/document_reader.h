// Readers of one file of documents, by what the file is. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/byte_stream.h"
#include "core/corpus/documents.h"

namespace headroom {

class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  [[nodiscard]] virtual Result<bool> next(CorpusDocument& document) = 0;
  // Appends the file, and what was read beside it, with their hashes.
  [[nodiscard]] virtual Result<void> finish(std::vector<CorpusFile>& files) = 0;
};

// From one file, from its beginning to its end.
class StreamedDocuments : public DocumentReader {
 public:
  Result<void> finish(std::vector<CorpusFile>& files) override;

 protected:
  StreamedDocuments(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream)
      : file_(std::move(file)), options_(options), stream_(std::move(stream)) {}

  CorpusFile file_;
  const DocumentOptions& options_;
  std::unique_ptr<ByteStream> stream_;
};

// Of a stream that nothing has been read of.
using StreamReader = Result<std::unique_ptr<DocumentReader>>;
[[nodiscard]] StreamReader read_text_documents(CorpusFile file, const DocumentOptions& options,
                                               std::unique_ptr<ByteStream> stream);
[[nodiscard]] StreamReader read_json_documents(CorpusFile file, const DocumentOptions& options,
                                               std::unique_ptr<ByteStream> stream);
[[nodiscard]] StreamReader read_raw_ids(CorpusFile file, const DocumentOptions& options,
                                        std::unique_ptr<ByteStream> stream);
[[nodiscard]] StreamReader read_llm_c_ids(CorpusFile file, const DocumentOptions& options,
                                          std::unique_ptr<ByteStream> stream);
[[nodiscard]] StreamReader read_numpy_ids(CorpusFile file, const DocumentOptions& options,
                                          std::unique_ptr<ByteStream> stream);
// `file` is the .idx.
[[nodiscard]] Result<std::unique_ptr<DocumentReader>> read_indexed_ids(CorpusFile file, const DocumentOptions& options);

// The .idx beside a .bin, where it is one of Megatron-LM's.
inline constexpr std::string_view kIndexMagic{"MMIDIDX\0\0", 9};
[[nodiscard]] bool begins_as_index(const std::filesystem::path& path);

// Whether JSON documents are in a file that begins so.
[[nodiscard]] bool begins_as_json_lines(std::string_view head, bool field_given);

// An integer of `bytes` bytes, least first; of more than 4, or unsigned of 4, also what no id can be.
struct IdFormat {
  std::size_t bytes = 2;
  bool is_signed = false;
};
[[nodiscard]] std::int64_t decode_id(const char* bytes, const IdFormat& format);
// Corrupt with the offset where `id` is none of the vocabulary, or of any.
[[nodiscard]] Result<void> check_id(std::int64_t id, const DocumentOptions& options, const CorpusFile& file,
                                    std::uint64_t offset);

}  // namespace headroom
