// Documents of Megatron-LM: X.idx says where in X.bin each sequence lies, and which sequences are one document.
// Layout: megatron/core/datasets/indexed_dataset.py.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/checkpoint/byte_reader.h"
#include "core/checkpoint/sha256.h"
#include "core/corpus/document_reader.h"

namespace headroom {
namespace {

// By the byte that names the type; 0: no integer.
constexpr std::array<IdFormat, 9> kIndexTypes = {IdFormat{0, false}, {1, false}, {1, true},  {2, true}, {4, true},
                                                 {8, true},          {0, false}, {0, false}, {2, false}};
constexpr std::uint64_t kIndexHead = 34;  // magic, version, type, numbers of sequences and documents

class IndexedDocuments final : public DocumentReader {
 public:
  IndexedDocuments(CorpusFile index, CorpusFile data, const DocumentOptions& options, InputFile index_file,
                   InputFile data_file)
      : index_(std::move(index)),
        data_(std::move(data)),
        options_(options),
        index_file_(std::move(index_file)),
        data_file_(std::move(data_file)) {}

  Result<void> read_index() {
    ByteReader reader(index_file_);
    std::array<std::byte, kIndexMagic.size()> magic{};
    HEADROOM_TRY_VOID(named(reader.bytes(magic, "the magic number")));
    HEADROOM_TRY(const auto version, named(reader.number<std::uint64_t>("the version")));
    HEADROOM_TRY(const auto type, named(reader.number<std::uint8_t>("the type")));
    HEADROOM_TRY(const auto sequences, named(reader.number<std::uint64_t>("the number of sequences")));
    HEADROOM_TRY(const auto ends, named(reader.number<std::uint64_t>("the number of documents")));
    if (version != 1) return wrong(9, "the index is of another version").wanted("1", std::to_string(version));
    if (type >= kIndexTypes.size() || kIndexTypes[type].bytes == 0)
      return wrong(17, "the index is of numbers that are no token ids")
          .wanted("1 to 5, or 8: integers", std::to_string(type));
    format_ = kIndexTypes[type];
    const std::uint64_t left = index_file_.size_bytes() - kIndexHead;
    const auto expected = [&]() -> std::optional<std::uint64_t> {
      const auto of_sequences = checked_multiply(sequences, 12), of_documents = checked_multiply(ends, 8);
      return of_sequences && of_documents ? checked_add(*of_sequences, *of_documents) : std::nullopt;
    }();
    if (expected != left || ends == 0)
      return wrong(18, "the index has another size than its numbers say")
          .wanted(headroom::format("12 bytes for each of %llu sequences and 8 for each of %llu documents and one more",
                                   static_cast<unsigned long long>(sequences),
                                   static_cast<unsigned long long>(ends == 0 ? 0 : ends - 1)),
                  headroom::format("%llu bytes", static_cast<unsigned long long>(left)));
    lengths_.resize(static_cast<std::size_t>(sequences));
    pointers_.resize(lengths_.size());
    starts_.resize(static_cast<std::size_t>(ends));
    HEADROOM_TRY_VOID(named(reader.bytes(std::as_writable_bytes(std::span(lengths_)), "the lengths")));
    HEADROOM_TRY_VOID(named(reader.bytes(std::as_writable_bytes(std::span(pointers_)), "the offsets")));
    HEADROOM_TRY_VOID(named(reader.bytes(std::as_writable_bytes(std::span(starts_)), "the documents")));
    return check_index();
  }

  Result<bool> next(CorpusDocument& document) override {
    document = {};
    if (at_ + 1 >= starts_.size()) return false;
    document.has_ids = true;
    document.name = data_.name + headroom::format(":%zu", at_);
    std::string bytes;
    for (std::int64_t s = starts_[at_]; s < starts_[at_ + 1]; ++s) {
      const auto count = static_cast<std::uint64_t>(lengths_[static_cast<std::size_t>(s)]);
      if ((document.ids.size() + count) * sizeof(std::int32_t) > options_.most_document_bytes) {
        Error error(ErrorCode::Corrupt, "a document has more ids than this program reads");
        error.in_file(index_.path.string()).at_offset(kIndexHead + 4 * static_cast<std::uint64_t>(s));
        return error.wanted(headroom::format("at most %llu", static_cast<unsigned long long>(
                                                                 options_.most_document_bytes / sizeof(std::int32_t))),
                            "more");
      }
      const auto offset = static_cast<std::uint64_t>(pointers_[static_cast<std::size_t>(s)]);
      bytes.resize(static_cast<std::size_t>(count) * format_.bytes);
      HEADROOM_TRY_VOID(data_file_.read_at(offset, std::as_writable_bytes(std::span(bytes))));
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::int64_t id = decode_id(bytes.data() + i * format_.bytes, format_);
        HEADROOM_TRY_VOID(check_id(id, options_, data_, offset + i * format_.bytes));
        document.ids.push_back(static_cast<std::int32_t>(id));
      }
    }
    ++at_;
    return true;
  }

  Result<void> finish(std::vector<CorpusFile>& files) override {
    for (CorpusFile* file : {&index_, &data_}) {
      const InputFile& input = file == &index_ ? index_file_ : data_file_;
      file->bytes = input.size_bytes();
      HEADROOM_TRY(file->sha256, sha256_of_file(file->path));
      files.push_back(*file);
    }
    return {};
  }

 private:
  [[nodiscard]] Error wrong(std::uint64_t offset, const char* message) const {
    Error error(ErrorCode::Corrupt, message);
    return error.in_file(index_.path.string()).at_offset(offset);
  }
  template <typename T>
  Result<T> named(Result<T> read) const {
    if (!read) return std::move(read.error()).in_file(index_.path.string());
    return read;
  }

  [[nodiscard]] Result<void> check_index() const {
    const std::uint64_t size = data_file_.size_bytes();
    std::uint64_t end = 0;
    for (std::size_t s = 0; s < lengths_.size(); ++s) {
      const std::int64_t length = lengths_[s], pointer = pointers_[s];
      if (length < 0 || pointer < 0 || static_cast<std::uint64_t>(pointer) > size ||
          static_cast<std::uint64_t>(length) > (size - static_cast<std::uint64_t>(pointer)) / format_.bytes)
        return wrong(kIndexHead + 4 * s, "the index names ids that its .bin has not")
            .at_tensor(headroom::format("sequence %zu", s))
            .wanted(headroom::format("ids within %llu bytes", static_cast<unsigned long long>(size)),
                    headroom::format("%lld ids of %zu bytes from byte %lld", static_cast<long long>(length),
                                     format_.bytes, static_cast<long long>(pointer)));
      end = std::max(end, static_cast<std::uint64_t>(pointer) + static_cast<std::uint64_t>(length) * format_.bytes);
    }
    if (end != size)
      return wrong(kIndexHead, "the index ends before its .bin")
          .wanted(headroom::format("%llu bytes of ids", static_cast<unsigned long long>(end)),
                  headroom::format("%llu bytes in %s", static_cast<unsigned long long>(size),
                                   data_.path.filename().c_str()));
    const std::uint64_t begin = kIndexHead + 12 * lengths_.size();
    for (std::size_t d = 0; d < starts_.size(); ++d) {
      const std::int64_t before = d == 0 ? 0 : starts_[d - 1];
      const auto last = static_cast<std::int64_t>(lengths_.size());
      const bool fits = starts_[d] >= before && starts_[d] <= last && (d > 0 || starts_[d] == 0) &&
                        (d + 1 < starts_.size() || starts_[d] == last);
      if (!fits)
        return wrong(begin + 8 * d, "the documents of the index do not divide its sequences")
            .at_tensor(headroom::format("document %zu", d))
            .wanted(headroom::format("%lld to %lld", static_cast<long long>(before), static_cast<long long>(last)),
                    std::to_string(starts_[d]));
    }
    return {};
  }

  CorpusFile index_, data_;
  const DocumentOptions& options_;
  InputFile index_file_, data_file_;
  IdFormat format_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> pointers_, starts_;
  std::size_t at_ = 0;
};

}  // namespace

bool begins_as_index(const std::filesystem::path& path) {
  const auto file = InputFile::open(path);
  std::array<char, kIndexMagic.size()> head{};
  return file && file->size_bytes() >= head.size() && file->read_at(0, std::as_writable_bytes(std::span(head))) &&
         std::string_view(head.data(), head.size()) == kIndexMagic;
}

Result<std::unique_ptr<DocumentReader>> read_indexed_ids(CorpusFile file, const DocumentOptions& options) {
  HEADROOM_TRY(InputFile index, InputFile::open(file.path));
  CorpusFile data = file;
  data.path.replace_extension(".bin");
  data.name = std::filesystem::path(file.name).replace_extension(".bin").string();
  auto opened = InputFile::open(data.path);
  if (!opened) return std::move(opened.error()).advise("an .idx needs the .bin of the same name beside it");
  auto reader = std::make_unique<IndexedDocuments>(std::move(file), std::move(data), options, std::move(index),
                                                   std::move(*opened));
  HEADROOM_TRY_VOID(reader->read_index());
  return std::unique_ptr<DocumentReader>(std::move(reader));
}

}  // namespace headroom
