#include "app/paper/page_keys.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <png.h>

#include "core/base/input_file.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr std::uint64_t kMostPageBytes = std::uint64_t{256} << 20;

std::string without_entities(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 4> kEntities = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}}};
  std::string out;
  while (!text.empty()) {
    std::size_t taken = 1;
    char meant = text[0];
    for (const auto& [entity, character] : kEntities)
      if (text.starts_with(entity)) taken = entity.size(), meant = character;
    out += meant;
    text.remove_prefix(taken);
  }
  return out;
}

FileKeys svg_keys(std::string_view text) {
  FileKeys keys;
  const std::size_t from = text.find("<metadata>"), to = text.find("</metadata>");
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) return keys;
  const auto json =
      nlohmann::ordered_json::parse(without_entities(text.substr(from + 10, to - from - 10)), nullptr, false);
  if (!json.is_object()) return keys;
  for (const auto& [key, value] : json.items())
    if (value.is_string()) keys.emplace_back(key, value.get<std::string>());
  return keys;
}

// What libpng reads from.
struct Bytes {
  std::string_view left;
};

void take(png_structp png, png_bytep to, png_size_t size) {
  auto& bytes = *static_cast<Bytes*>(png_get_io_ptr(png));
  if (size > bytes.left.size()) png_error(png, "the file ends");
  std::memcpy(to, bytes.left.data(), size);
  bytes.left.remove_prefix(size);
}

void say_nothing(png_structp, png_const_charp) {}
[[noreturn]] void jump(png_structp png, png_const_charp) { png_longjmp(png, 1); }

void read_texts(png_structp png, png_infop info, FileKeys& keys) {
  if (setjmp(png_jmpbuf(png)) != 0) return;
  png_read_info(png, info);
  png_textp texts = nullptr;
  const int count = png_get_text(png, info, &texts, nullptr);
  for (int i = 0; i < count; ++i)
    keys.emplace_back(texts[i].key, std::string(texts[i].text, texts[i].compression >= PNG_ITXT_COMPRESSION_NONE
                                                                   ? texts[i].itxt_length
                                                                   : texts[i].text_length));
}

FileKeys png_keys(std::string_view bytes) {
  FileKeys keys;
  Bytes source{bytes};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, jump, say_nothing);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  if (info != nullptr) {
    png_set_read_fn(png, &source, take);
    read_texts(png, info, keys);
  }
  png_destroy_read_struct(&png, &info, nullptr);
  return keys;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

// The string behind a name in a PDF: (…) with its escapes, or <…> in hexadecimal digits.
std::optional<std::string> pdf_string(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \r\n");
  if (at == std::string_view::npos) return {};
  std::string out;
  if (text[at] == '<') {
    int high = -1;
    for (++at; at < text.size() && text[at] != '>'; ++at) {
      const int digit = hex_digit(text[at]);
      if (digit < 0) continue;
      if (high < 0)
        high = digit;
      else
        out += static_cast<char>(high * 16 + digit), high = -1;
    }
    return out;
  }
  if (text[at] != '(') return {};
  int depth = 1;
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      const char next = text[++at];
      out += next == 'n' ? '\n' : next == 'r' ? '\r' : next == 't' ? '\t' : next;
      continue;
    }
    if (c == '(') ++depth;
    if (c == ')' && --depth == 0) return out;
    out += c;
  }
  return {};
}

// UTF-16 behind its byte order mark, else as it is.
std::string utf8_of(std::string_view text) {
  if (!text.starts_with("\xfe\xff")) return std::string(text);
  std::string out;
  for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
    const auto unit = [&](std::size_t at) {
      return static_cast<char32_t>(static_cast<unsigned char>(text[at]) << 8 |
                                   static_cast<unsigned char>(text[at + 1]));
    };
    char32_t c = unit(i);
    if (c >= 0xd800 && c < 0xdc00 && i + 3 < text.size()) {
      c = 0x10000 + ((c - 0xd800) << 10) + (unit(i + 2) - 0xdc00);
      i += 2;
    }
    append_utf8(out, c);
  }
  return out;
}

FileKeys pdf_keys(std::string_view bytes) {
  FileKeys keys;
  const std::size_t name = bytes.rfind("/Keywords");
  if (name == std::string_view::npos) return keys;
  const std::optional<std::string> found = pdf_string(bytes.substr(name + 9));
  if (!found) return keys;
  const std::string text = utf8_of(*found);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find("; ", from), text.size()), equal = text.find('=', from);
    if (equal < end) keys.emplace_back(text.substr(from, equal - from), text.substr(equal + 1, end - equal - 1));
    from = end + 2;
  }
  return keys;
}

}  // namespace

Result<FileKeys> read_page_keys(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::string bytes, read_text_file(path, kMostPageBytes));
  FileKeys keys;
  if (bytes.starts_with("%PDF"))
    keys = pdf_keys(bytes);
  else if (bytes.starts_with("\x89PNG"))
    keys = png_keys(bytes);
  else if (bytes.find("<svg") != std::string::npos)
    keys = svg_keys(bytes);
  for (const auto& [key, value] : keys)
    if (key == "command" && !value.empty()) return keys;
  return Error(ErrorCode::Corrupt,
               "the file does not say how it was made: it is no figure of headroom, or was changed since")
      .in_file(path.string());
}

}  // namespace headroom
