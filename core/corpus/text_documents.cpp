// Documents of text and of JSONL.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/checkpoint/strict_json.h"
#include "core/corpus/document_reader.h"
#include "core/text/json_fields.h"

namespace headroom {
namespace {

Error too_long(const CorpusFile& file, const std::string& what, std::uint64_t line, std::uint64_t limit) {
  Error error(ErrorCode::Corrupt, what + " is longer than this program reads");
  error.in_file(file.path.string()).at_tensor(format("line %llu", static_cast<unsigned long long>(line)));
  return error.wanted(format("at most %llu bytes", static_cast<unsigned long long>(limit)), "more");
}

// Lines with their line feeds, of bounded length.
class StreamLines {
 public:
  StreamLines(ByteStream& stream, const CorpusFile& file, std::uint64_t limit)
      : stream_(stream), file_(file), limit_(limit), buffer_(std::size_t{256} << 10, '\0') {}

  // The line until the next call; nothing at the end.
  Result<bool> next() {
    line_.clear();
    offset_ = stream_.offset() - (end_ - at_);
    ++number_;
    for (;;) {
      if (at_ == end_) {
        at_ = 0;
        HEADROOM_TRY(end_, stream_.read(std::as_writable_bytes(std::span(buffer_))));
        if (end_ == 0) return !line_.empty();
      }
      const char* const begin = buffer_.data() + at_;
      const void* const feed = std::memchr(begin, '\n', end_ - at_);
      const std::size_t size = feed ? static_cast<std::size_t>(static_cast<const char*>(feed) - begin) + 1 : end_ - at_;
      line_.append(begin, size);
      at_ += size;
      if (line_.size() > limit_) return too_long(file_, "a line", number_, limit_);
      if (feed) return true;
    }
  }
  [[nodiscard]] const std::string& line() const { return line_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }  // from 1
  [[nodiscard]] std::uint64_t offset() const { return offset_; }  // of its first byte, unpacked
  // Without "\n" or "\r\n".
  [[nodiscard]] std::string_view text() const {
    std::string_view text = line_;
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

 private:
  ByteStream& stream_;
  const CorpusFile& file_;
  std::uint64_t limit_;
  std::string buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::string line_;
  std::uint64_t number_ = 0, offset_ = 0;
};

std::string place_name(const CorpusFile& file, std::uint64_t number) {
  return file.name + format(":%llu", static_cast<unsigned long long>(number));
}

class TextDocuments final : public StreamedDocuments {
 public:
  TextDocuments(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream)
      : StreamedDocuments(std::move(file), options, std::move(stream)),
        lines_(*stream_, file_, std::min(options.most_line_bytes, options.most_document_bytes)) {}

  Result<bool> next(CorpusDocument& document) override {
    document = {};
    if (options_.split == TextSplit::None) return whole(document);
    return options_.split == TextSplit::Lines ? line(document) : run_of_lines(document);
  }

 private:
  Result<bool> whole(CorpusDocument& document) {
    if (std::exchange(done_, true)) return false;
    document.name = file_.name;
    constexpr std::size_t kStep = std::size_t{1} << 20;
    for (;;) {
      const std::size_t size = document.text.size();
      document.text.resize(size + kStep);
      HEADROOM_TRY(const std::size_t got,
                   stream_->read(std::as_writable_bytes(std::span(document.text).subspan(size))));
      document.text.resize(size + got);
      if (got == 0) return true;
      if (document.text.size() > options_.most_document_bytes)
        return too_long(file_, "a document", 1, options_.most_document_bytes);
    }
  }

  Result<bool> line(CorpusDocument& document) {
    for (;;) {
      HEADROOM_TRY(const bool more, lines_.next());
      if (!more) return false;
      if (lines_.text().empty()) continue;
      document.name = place_name(file_, lines_.number());
      document.text = lines_.text();
      return true;
    }
  }

  Result<bool> run_of_lines(CorpusDocument& document) {
    for (;;) {
      HEADROOM_TRY(const bool more, lines_.next());
      if (!more) return !document.text.empty();
      if (lines_.text().empty()) {
        if (document.text.empty()) continue;
        return true;
      }
      if (document.text.empty()) document.name = place_name(file_, lines_.number());
      document.text += lines_.line();
      if (document.text.size() > options_.most_document_bytes)
        return too_long(file_, "a document", lines_.number(), options_.most_document_bytes);
    }
  }

  StreamLines lines_;
  bool done_ = false;
};

class JsonDocuments final : public StreamedDocuments {
 public:
  JsonDocuments(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream)
      : StreamedDocuments(std::move(file), options, std::move(stream)),
        field_(options.field.empty() ? "text" : options.field),
        lines_(*stream_, file_, options.most_line_bytes) {}

  Result<bool> next(CorpusDocument& document) override {
    document = {};
    for (;;) {
      HEADROOM_TRY(const bool more, lines_.next());
      if (!more) return false;
      if (lines_.text().find_first_not_of(" \t") != std::string_view::npos) break;
    }
    auto parsed = parse_json(lines_.text(), {.size_bytes = options_.most_line_bytes});
    if (!parsed) {
      Error error = parsed.error();
      error.message = "a line is no JSON: " + error.message;
      if (error.offset) error.at_offset(lines_.offset() + *error.offset);
      return error.in_file(file_.path.string()).at_tensor(place());
    }
    const nlohmann::json* value = &*parsed;
    for (std::string_view rest = field_;;) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      const nlohmann::json* const inner = &json_field(*value, std::string(rest.substr(0, dot)).c_str());
      if (inner->is_null()) {
        Error error(ErrorCode::Corrupt, "a line has not the field that holds the document");
        error.in_file(file_.path.string()).at_tensor(place()).at_offset(lines_.offset());
        return error.wanted("the field " + field_, std::string("none in ") + value->type_name())
            .advise("name it with --field");
      }
      value = inner;
      if (dot == rest.size()) break;
      rest.remove_prefix(dot + 1);
    }
    document.name = place_name(file_, lines_.number());
    if (value->is_string()) {
      document.text = value->get_ref<const std::string&>();
      return true;
    }
    HEADROOM_TRY_VOID(take_ids(*value, document));
    return true;
  }

 private:
  [[nodiscard]] std::string place() const {
    return format("line %llu", static_cast<unsigned long long>(lines_.number()));
  }

  Result<void> take_ids(const nlohmann::json& value, CorpusDocument& document) const {
    const auto wrong = [&](const std::string& found) {
      Error error(ErrorCode::Corrupt, "the field " + field_ + " of a line is neither text nor a list of ids");
      error.in_file(file_.path.string()).at_tensor(place()).at_offset(lines_.offset());
      return error.wanted("a string or an array of integers", found);
    };
    if (!value.is_array()) return wrong(value.type_name());
    document.has_ids = true;
    document.ids.reserve(value.size());
    for (const nlohmann::json& id : value) {
      if (!id.is_number_integer()) return wrong(std::string("an array with a ") + id.type_name());
      const bool large = id.is_number_unsigned() && id.get<std::uint64_t>() > INT32_MAX;
      auto checked =
          check_id(large ? std::int64_t{INT32_MAX} + 1 : id.get<std::int64_t>(), options_, file_, lines_.offset());
      if (!checked) return checked.error().at_tensor(place()).wanted(checked.error().expected, id.dump());
      document.ids.push_back(id.get<std::int32_t>());
    }
    return {};
  }

  std::string field_;
  StreamLines lines_;
};

}  // namespace

bool begins_as_json_lines(std::string_view head, bool field_given) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  const std::size_t end = head.find('\n', first);
  if (field_given || end == std::string_view::npos) {
    // A line that goes on beyond what was seen: a record, if it has keys as JSON writes them.
    const std::size_t key = head.find_first_not_of(" \t", first + 1);
    return field_given || (key != std::string_view::npos && (head[key] == '"' || head[key] == '}'));
  }
  return parse_json(head.substr(first, end - first)).has_value();
}

StreamReader read_text_documents(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream) {
  return std::unique_ptr<DocumentReader>(new TextDocuments(std::move(file), options, std::move(stream)));
}

StreamReader read_json_documents(CorpusFile file, const DocumentOptions& options, std::unique_ptr<ByteStream> stream) {
  return std::unique_ptr<DocumentReader>(new JsonDocuments(std::move(file), options, std::move(stream)));
}

}  // namespace headroom
