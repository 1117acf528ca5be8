#include "app/cli/tokenize_command.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/cli/prompt_input.h"
#include "app/process/report_error.h"
#include "core/base/format.h"
#include "core/base/utf8.h"
#include "core/checkpoint/checkpoint.h"
#include "core/run/open_model.h"
#include "core/text/text_lines.h"
#include "core/text/tokenizer.h"

namespace headroom {
namespace {

constexpr std::size_t kTextColumns = 50;  // of a line of 80

// A folder needs no weights; whatever else is a checkpoint.
Result<std::unique_ptr<Tokenizer>> open_tokenizer_at(const std::filesystem::path& path, const std::string& base) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    auto tokenizer = Tokenizer::from_folder(path);
    if (tokenizer || tokenizer.error().code != ErrorCode::NotFound) return tokenizer;
  }
  CheckpointOptions options;
  options.base = base;
  HEADROOM_TRY(const std::shared_ptr<const Checkpoint> checkpoint, Checkpoint::open(path, options));
  auto tokenizer = open_tokenizer(*checkpoint);
  if (!tokenizer && tokenizer.error().file.empty()) tokenizer.error().in_file(path.string());
  return tokenizer;
}

nlohmann::ordered_json object_of(const Encoding& encoding) {
  nlohmann::ordered_json texts = nlohmann::ordered_json::array();
  nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
  for (const std::string& text : encoding.texts) texts.push_back(to_valid_utf8(text));
  for (const ByteRange& range : encoding.ranges) ranges.push_back({range.begin, range.end});
  return {{"ids", encoding.ids},
          {"texts", std::move(texts)},
          {"ranges", std::move(ranges)},
          {"special", encoding.is_special}};
}

// In quotation marks, cut to kTextColumns characters.
std::string shown_text(std::string_view text) {
  const std::string escaped = escape_for_terminal(text);
  std::string shown = "\"";
  std::size_t columns = 0;
  for (std::size_t i = 0; i < escaped.size(); ++columns) {
    if (columns == kTextColumns) return shown + "…\"";
    const std::size_t size = decode_utf8(std::string_view(escaped).substr(i)).size_bytes;
    shown += escaped.substr(i, size);
    i += size;
  }
  return shown + "\"";
}

std::string table_of(const Tokenizer& tokenizer, const Encoding& encoding) {
  std::string text = "   token       id    bytes  text\n";
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const ByteRange& range = encoding.ranges[i];
    const bool covers_text = range.end > range.begin;
    const std::string bytes = covers_text ? format("%zu-%zu", range.begin, range.end) : std::string("none");
    text += format("%8zu %8d %8s  ", i, encoding.ids[i], bytes.c_str()) + shown_text(encoding.texts[i]) + "\n";
  }
  return text + format("%zu tokens by ", encoding.ids.size()) + escape_for_terminal(tokenizer.description()) + "\n";
}

Result<void> print_lines(const Tokenizer& tokenizer, const std::string& path, BosMode bos) {
  HEADROOM_TRY(const std::string content, read_prompt_source(path));
  for (LineReader lines(content); lines.next();) {
    const auto value = nlohmann::json::parse(lines.line(), nullptr, false);
    if (!value.is_string())
      return Error(ErrorCode::Corrupt, format("line %zu is not a JSON string", lines.number())).in_file(path);
    auto encoding = tokenizer.encode(value.get_ref<const std::string&>(), bos);
    if (!encoding) {
      encoding.error().message += format(" (line %zu)", lines.number());
      return std::move(encoding.error());
    }
    std::fputs((object_of(*encoding).dump() + "\n").c_str(), stdout);
  }
  return {};
}

Result<void> print_tokens(const TokenizeArguments& arguments) {
  const int given = (arguments.text ? 1 : 0) + (arguments.text_file ? 1 : 0) + (arguments.json_lines ? 1 : 0);
  if (given != 1)
    return Error(ErrorCode::InvalidArgument, "tokenize needs one text")
        .wanted("one of --text, --text-file, --json-lines", std::to_string(given));
  HEADROOM_TRY(const std::unique_ptr<Tokenizer> tokenizer, open_tokenizer_at(arguments.path, arguments.base));
  const BosMode bos = bos_mode_named(arguments.bos);
  if (arguments.json_lines) return print_lines(*tokenizer, *arguments.json_lines, bos);
  std::string text;
  if (arguments.text) {
    text = *arguments.text;
  } else {
    HEADROOM_TRY(text, read_prompt_source(*arguments.text_file));
  }
  HEADROOM_TRY(const Encoding encoding, tokenizer->encode(text, bos));
  if (arguments.json) {
    nlohmann::ordered_json object = {{"tokenizer", tokenizer->description()}};
    object.update(object_of(encoding));
    std::fputs((object.dump() + "\n").c_str(), stdout);
  } else {
    std::fputs(table_of(*tokenizer, encoding).c_str(), stdout);
  }
  return {};
}

}  // namespace

int run_tokenize(const TokenizeArguments& arguments) {
  const auto done = print_tokens(arguments);
  return done ? 0 : report_error(done.error(), arguments.json);
}

}  // namespace headroom
