// Documents of token ids one after another: raw (nanoGPT's train.bin), behind the header of llm.c, and in arrays of
// NumPy.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/checkpoint/numpy_header.h"
#include "core/corpus/document_reader.h"

namespace headroom {
namespace {

static_assert(std::endian::native == std::endian::little, "ids are decoded as they lie in memory");

// What stands where in the stream.
struct IdLayout {
  IdFormat format;
  std::uint64_t begin = 0;           // offset of the first id
  std::uint64_t count = 0;           // ids
  std::optional<std::uint64_t> row;  // ids of a row that is a sequence
};

class IdStream final : public StreamedDocuments {
 public:
  IdStream(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream, const IdLayout& layout)
      : StreamedDocuments(std::move(file), options, std::move(stream)), layout_(layout), left_(layout.count) {}

  Result<bool> next(CorpusDocument& document) override {
    document = {};
    document.has_ids = true;
    document.is_sequence = layout_.row.has_value();
    const bool several = layout_.row || options_.document_end;
    document.name = several ? file_.name + format(":%llu", static_cast<unsigned long long>(number_)) : file_.name;
    if (left_ == 0) return !several && number_++ == 0;  // a file without ids is an empty document
    ++number_;
    const std::uint64_t most = layout_.row ? *layout_.row : options_.most_document_bytes / sizeof(std::int32_t);
    while (left_ > 0) {
      if (document.ids.size() == most) {
        if (layout_.row) return true;
        Error error(ErrorCode::Corrupt, "a document has more ids than this program reads");
        error.in_file(file_.path.string()).at_offset(offset_of_next());
        error.wanted(format("at most %llu", static_cast<unsigned long long>(most)), "more");
        return error.advise("--document-end says which id ends a document");
      }
      if (at_ == window_.size()) HEADROOM_TRY_VOID(refill());
      const std::int64_t id = decode_id(window_.data() + at_, layout_.format);
      HEADROOM_TRY_VOID(check_id(id, options_, file_, offset_of_next()));
      at_ += layout_.format.bytes;
      --left_;
      document.ids.push_back(static_cast<std::int32_t>(id));
      if (!layout_.row && options_.document_end == document.ids.back()) return true;
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t offset_of_next() const {
    return layout_.begin + (layout_.count - left_) * layout_.format.bytes;
  }

  Result<void> refill() {
    constexpr std::uint64_t kWindowIds = 65536;
    window_.resize(static_cast<std::size_t>(std::min(left_, kWindowIds)) * layout_.format.bytes);
    at_ = 0;
    HEADROOM_TRY(const std::size_t got, stream_->read(std::as_writable_bytes(std::span(window_))));
    if (got == window_.size()) return {};
    Error error(ErrorCode::Corrupt, "the file ends before its last id");
    return error.in_file(file_.path.string()).at_offset(stream_->offset());
  }

  IdLayout layout_;
  std::uint64_t left_, number_ = 0;
  std::string window_;
  std::size_t at_ = 0;
};

StreamReader ids_of(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream,
                    const IdLayout& layout) {
  return std::unique_ptr<DocumentReader>(new IdStream(std::move(file), options, std::move(stream), layout));
}

std::string bytes_text(std::uint64_t bytes) { return format("%llu bytes", static_cast<unsigned long long>(bytes)); }

// How the array holds ids; Corrupt for what holds none.
Result<IdFormat> numpy_format(const CorpusFile& file, const NumpyHeader& header) {
  const auto wrong = [&](const char* message, const char* hint) {
    Error error(ErrorCode::Corrupt, message);
    error.in_file(file.path.string()).at_offset(header.begin);
    const std::string found = header.descr.empty() ? "fields" : header.descr;
    return error.wanted("integers in C order, least byte first", header.fortran ? found + " in Fortran order" : found)
        .advise(hint);
  };
  if (header.descr.size() >= 2 && header.descr.substr(1).starts_with('O'))
    return wrong("the array holds objects, which are code and are never read", "save one array of integers for all");
  if (header.descr.size() != 3 || (header.descr[1] != 'i' && header.descr[1] != 'u') ||
      std::string_view("1248").find(header.descr[2]) == std::string_view::npos)
    return wrong("the array holds no token ids", "save it as int32");
  if (header.descr[0] == '>' && header.descr[2] != '1')
    return wrong("the array has the most significant byte first", "save it with .astype('<i4')");
  if (header.fortran && header.shape.size() > 1)
    return wrong("the rows of the array do not lie one after another", "save numpy.ascontiguousarray of it");
  return IdFormat{static_cast<std::size_t>(header.descr[2] - '0'), header.descr[1] == 'i'};
}

}  // namespace

std::int64_t decode_id(const char* bytes, const IdFormat& format) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, format.bytes);
  const unsigned shift = static_cast<unsigned>(64 - 8 * format.bytes);
  if (format.is_signed) return static_cast<std::int64_t>(value << shift) >> shift;
  return value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
             ? std::numeric_limits<std::int64_t>::max()
             : static_cast<std::int64_t>(value);
}

Result<void> check_id(std::int64_t id, const DocumentOptions& options, const CorpusFile& file, std::uint64_t offset) {
  const std::int64_t last =
      options.vocab_size > 0 ? options.vocab_size - 1 : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  if (id >= 0 && id <= last) return {};
  Error error(ErrorCode::Corrupt, "a token id is not in the vocabulary");
  error.in_file(file.path.string()).at_offset(offset);
  return error.wanted(format("0 to %lld", static_cast<long long>(last)), std::to_string(id));
}

StreamReader read_raw_ids(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream) {
  IdLayout layout;
  layout.format = {options.ids_type == IdsType::UInt16 ? std::size_t{2} : std::size_t{4},
                   options.ids_type == IdsType::Int32};
  layout.count = stream->file_bytes() / layout.format.bytes;
  if (stream->file_bytes() % layout.format.bytes != 0) {
    Error error(ErrorCode::Corrupt, "a file of token ids ends inside an id");
    error.in_file(file.path.string()).at_offset(layout.count * layout.format.bytes);
    return error
        .wanted(format("a multiple of %zu bytes, for %s", layout.format.bytes,
                       std::string(ids_type_name(options.ids_type)).c_str()),
                bytes_text(stream->file_bytes()))
        .advise("--ids-dtype says what an id is");
  }
  return ids_of(std::move(file), options, std::move(stream), layout);
}

StreamReader read_llm_c_ids(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream) {
  constexpr std::size_t kWords = 256;
  std::array<std::int32_t, kWords> header{};
  HEADROOM_TRY(const std::size_t got, stream->read(std::as_writable_bytes(std::span(header))));
  const auto wrong = [&](std::uint64_t offset, const char* message) {
    Error error(ErrorCode::Corrupt, message);
    return error.in_file(file.path.string()).at_offset(offset);
  };
  if (got < sizeof(header))
    return wrong(got, "the header of a file of llm.c is cut off").wanted("1024 bytes", bytes_text(got));
  const bool older = header[0] == 20240520;
  if (header[1] != (older ? 1 : 7))
    return wrong(4, "a file of llm.c is of another version").wanted(older ? "1" : "7", std::to_string(header[1]));
  IdLayout layout;
  layout.format = {older ? std::size_t{2} : std::size_t{4}, false};
  layout.begin = sizeof(header);
  layout.count = static_cast<std::uint64_t>(std::max(header[2], 0));
  const std::uint64_t expected = sizeof(header) + layout.count * layout.format.bytes;
  if (header[2] < 0 || expected != stream->file_bytes())
    return wrong(8, "a file of llm.c has another size than its header says")
        .wanted(format("%d ids, %llu bytes", header[2], static_cast<unsigned long long>(expected)),
                bytes_text(stream->file_bytes()));
  return ids_of(std::move(file), options, std::move(stream), layout);
}

StreamReader read_numpy_ids(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream) {
  HEADROOM_TRY(const std::string head, stream->peek(kMostNumpyHeaderBytes + 12));
  auto header = parse_numpy_header(head);
  if (!header) return std::move(header.error()).in_file(file.path.string());
  HEADROOM_TRY(const IdFormat id_format, numpy_format(file, *header));
  IdLayout layout;
  layout.format = id_format;
  layout.begin = header->data;
  const auto wrong = [&](const char* message) {
    Error error(ErrorCode::Corrupt, message);
    return error.in_file(file.path.string()).at_offset(header->begin);
  };
  if (header->shape.empty() || header->shape.size() > 2)
    return wrong("an array of token ids has one axis, or rows of sequences")
        .wanted("1 or 2 axes", std::to_string(header->shape.size()));
  const std::uint64_t bytes = stream->file_bytes() - header->data;
  layout.count = bytes / layout.format.bytes;
  // Compared by division: the product of an untrusted shape may be anything.
  const std::uint64_t rows = static_cast<std::uint64_t>(header->shape[0]);
  const std::uint64_t row = header->shape.size() == 2 ? static_cast<std::uint64_t>(header->shape[1]) : 1;
  const bool fits = row == 0 || rows == 0
                        ? bytes == 0
                        : bytes % layout.format.bytes == 0 && layout.count % row == 0 && layout.count / row == rows;
  if (!fits)
    return wrong("the size of an array is not that of its shape")
        .wanted(format("%llu × %llu of %s", static_cast<unsigned long long>(rows), static_cast<unsigned long long>(row),
                       header->descr.c_str()),
                bytes_text(bytes));
  if (header->shape.size() == 2) layout.row = row;
  std::string skipped(header->data, '\0');
  HEADROOM_TRY([[maybe_unused]] const std::size_t got, stream->read(std::as_writable_bytes(std::span(skipped))));
  return ids_of(std::move(file), options, std::move(stream), layout);
}

}  // namespace headroom
