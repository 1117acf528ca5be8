#include "app/cli/fact_lines.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr std::size_t kNameColumns = 13, kFewestColumns = 40;

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Utf8Scalar scalar = decode_utf8(text);
    text.remove_prefix(scalar.size_bytes);
    const bool combining = scalar.code_point >= 0x300 && scalar.code_point < 0x370;
    const bool wide = scalar.code_point >= 0x2E80 && scalar.code_point < 0xFF61;
    columns += combining ? 0 : wide ? 2 : 1;
  }
  return columns;
}

std::string wrapped_line(std::string_view line, std::size_t columns, std::size_t indent) {
  if (columns_of(line) <= columns) return std::string(line);
  std::string text;
  std::size_t used = 0;
  bool begun = false;  // whether this output line holds a word
  for (std::size_t begin = 0; begin < line.size();) {
    // A word with the blanks before it.
    const std::size_t word = std::min(line.find_first_not_of(' ', begin), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const std::size_t width = columns_of(line.substr(begin, end - begin));
    if (begun && used + width > columns) {
      text += "\n" + std::string(indent, ' ');
      text += line.substr(word, end - word);
      used = indent + columns_of(line.substr(word, end - word));
    } else {
      text += line.substr(begin, end - begin);
      used += width;
    }
    // The name of a fact and its value stay together.
    begun = begun || used > indent;
    begin = end;
  }
  return text;
}

}  // namespace

std::size_t stdout_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1) return 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<std::size_t>(size.ws_col, kFewestColumns);
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  if (columns == 0) return text;
  std::string all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    all += wrapped_line(std::string_view(text).substr(begin, end - begin), columns, indent);
    if (end < text.size()) all += '\n';
    begin = end + 1;
  }
  return all;
}

void print_fact(const char* name, const std::string& value) {
  // printf would count bytes.
  std::string line = name;
  line.append(std::max<std::size_t>(2, kNameColumns - std::min(columns_of(line), kNameColumns)), ' ');
  line += escape_for_terminal(value) + "\n";
  std::fputs(wrapped(line, stdout_columns(), kNameColumns).c_str(), stdout);
}

void print_wrapped(const std::string& text, std::size_t indent) {
  std::fputs(wrapped(text, stdout_columns(), indent).c_str(), stdout);
}

}  // namespace headroom
