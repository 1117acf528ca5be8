#include "app/session/opened_path.h"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace headroom {
namespace {

constexpr std::string_view kBase = "::base=", kSequence = "::S";

}  // namespace

OpenedPath parse_opened_path(const std::string& text) {
  OpenedPath opened{text, 0, ""};
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return opened;
  if (const std::size_t at = text.find(kBase); at != std::string::npos) {
    opened.path = text.substr(0, at);
    opened.base = text.substr(at + kBase.size());
  } else if (const std::size_t begin = text.rfind(kSequence); begin != std::string::npos) {
    std::int64_t sequence = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + begin + kSequence.size(), end, sequence);
    if (parsed.ec != std::errc() || parsed.ptr != end || sequence < 0) return opened;
    opened.path.resize(begin);
    opened.sequence = sequence;
  }
  return opened;
}

std::string with_base(std::string_view adapter, std::string_view base) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(base, ignored).lexically_normal();
  return std::string(adapter) + std::string(kBase) + (ignored ? std::string(base) : whole.string());
}

}  // namespace headroom
