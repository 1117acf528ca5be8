#include "core/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/utf8.h"
#include "core/text/oniguruma.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxPatternBytes = 65536;
constexpr std::uint32_t kMatchSteps = 1'000'000;  // per start; one run of n characters may need a few times n steps
constexpr std::uint32_t kMatchStepsPerByte = 8;
constexpr std::uint32_t kMaxMatchSteps = 2'000'000'000;
constexpr std::uint32_t kDepth = 1'000'000;
constexpr std::uint32_t kHeapKib = 256 * 1024;
constexpr std::size_t kJitStackBytes = 64 * 1024 * 1024;
constexpr double kSeconds = 0.5;
constexpr double kSecondsPerByte = 2e-6;
constexpr std::size_t kStartsPerSearch = 64;  // the clock is looked at between searches
constexpr unsigned kSearchesPerClock = 16;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};

PCRE2_SPTR code_units(std::string_view text) {
  static constexpr char kEmpty[1] = {};
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? kEmpty : text.data());
}

std::string pcre2_message(int code) {
  PCRE2_UCHAR buffer[256] = {};
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

std::string shorten(std::string_view pattern) {
  constexpr std::size_t kShown = 80;
  return pattern.size() > kShown ? std::string(pattern.substr(0, kShown)) + "…" : std::string(pattern);
}

}  // namespace

struct RegexSession::State {
  std::unique_ptr<pcre2_match_data, Free> data;
  std::unique_ptr<pcre2_match_context, Free> context;
  std::unique_ptr<pcre2_jit_stack, Free> stack;  // made when a search outgrows the small default
  double deadline = 0;
  unsigned searches = 0;

  [[nodiscard]] bool out_of_time() { return ++searches % kSearchesPerClock == 0 && thread_seconds() > deadline; }
};

RegexSession::RegexSession(std::size_t size_bytes) : state_(std::make_unique<State>()) {
  state_->data.reset(pcre2_match_data_create(1, nullptr));
  state_->context.reset(pcre2_match_context_create(nullptr));
  HEADROOM_CHECK(state_->data && state_->context, "no memory for a regex search");
  pcre2_set_depth_limit(state_->context.get(), kDepth);
  pcre2_set_heap_limit(state_->context.get(), kHeapKib);
  const auto steps = static_cast<std::uint32_t>(std::min<std::size_t>(
      kMaxMatchSteps, kMatchSteps + kMatchStepsPerByte * std::min(size_bytes, std::size_t{1} << 28)));
  pcre2_set_match_limit(state_->context.get(), steps);
  state_->deadline = thread_seconds() + kSeconds + kSecondsPerByte * static_cast<double>(size_bytes);
}

RegexSession::~RegexSession() = default;

struct Regex::Code {
  std::unique_ptr<pcre2_code, Free> pcre2;
};

Result<Regex> Regex::compile(std::string_view pattern) {
  auto translated = pcre2_from_oniguruma(pattern);
  if (!translated) return std::move(translated.error()).wanted("", shorten(pattern));
  return compile_pcre2(*translated, pattern);
}

Result<Regex> Regex::compile_literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80)
      pattern += format("\\x{%x}", static_cast<unsigned>(c));
    else
      pattern += c;
  }
  return compile_pcre2(pattern, text);
}

Result<Regex> Regex::compile_pcre2(std::string_view pattern, std::string_view shown) {
  const auto refused = [&](std::string reason) -> Error {
    return Error(ErrorCode::Unsupported, "The tokenizer's regex does not compile: " + std::move(reason))
        .wanted("", shorten(shown));
  };
  if (pattern.size() > kMaxPatternBytes) return refused(format("it is longer than %zu bytes", kMaxPatternBytes));
  if (!is_valid_utf8(pattern)) return refused("it is not UTF-8");
  const std::unique_ptr<pcre2_compile_context, Free> context(pcre2_compile_context_create(nullptr));
  HEADROOM_CHECK(context != nullptr, "no memory for a regex");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  constexpr std::uint32_t kOptions =
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
  int code = 0;
  PCRE2_SIZE offset = 0;
  std::unique_ptr<pcre2_code, Free> compiled(
      pcre2_compile(code_units(pattern), pattern.size(), kOptions, &code, &offset, context.get()));
  if (!compiled) return refused(pcre2_message(code) + format(" (near byte %zu)", static_cast<std::size_t>(offset)));
  // Without JIT (not built in, or memory that may not be executed) pcre2_match interprets: slower, same result.
  (void)pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
  Regex regex;
  regex.code_ = std::make_shared<const Code>(Code{std::move(compiled)});
  regex.shown_ = shorten(shown);
  return regex;
}

Result<void> Regex::find_all(RegexSession& session, std::string_view text, std::vector<ByteRange>& matches) const {
  matches.clear();
  std::size_t begin = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Utf8Scalar scalar = decode_utf8(text.substr(end));
    if (scalar.valid) {
      end += scalar.size_bytes;
      continue;
    }
    if (end > begin) HEADROOM_TRY_VOID(find_in_valid(session, text.substr(begin, end - begin), begin, matches));
    begin = ++end;
  }
  if (end > begin) HEADROOM_TRY_VOID(find_in_valid(session, text.substr(begin, end - begin), begin, matches));
  return {};
}

Result<void> Regex::find_in_valid(RegexSession& session, std::string_view text, std::size_t offset,
                                  std::vector<ByteRange>& matches) const {
  RegexSession::State& state = *session.state_;
  const auto limit_reached = [&](const std::string& reason) {
    Error error(ErrorCode::OutOfMemory, "The tokenizer's regex reached a limit: " + reason);
    error.wanted("", shown_).at_offset(offset).advise("Give the prompt as token ids, or shorten it.");
    return error;
  };
  const auto next_character = [&](std::size_t at) { return at + decode_utf8(text.substr(at)).size_bytes; };

  std::size_t start = 0;
  bool has_match = false;
  std::size_t last_end = 0;
  while (start <= text.size()) {
    if (state.out_of_time()) return limit_reached("it took too long");
    std::size_t last_start = std::min(text.size(), start + kStartsPerSearch);
    while (last_start < text.size() && (static_cast<unsigned char>(text[last_start]) & 0xC0u) == 0x80u) ++last_start;
    pcre2_set_offset_limit(state.context.get(), last_start);
    const auto search = [&] {
      return pcre2_match(code_->pcre2.get(), code_units(text), text.size(), start, PCRE2_NO_UTF_CHECK, state.data.get(),
                         state.context.get());
    };
    int found = search();
    if (found == PCRE2_ERROR_JIT_STACKLIMIT && !state.stack) {
      state.stack.reset(pcre2_jit_stack_create(32 * 1024, kJitStackBytes, nullptr));
      pcre2_jit_stack_assign(state.context.get(), nullptr, state.stack.get());
      found = search();
    }
    if (found == PCRE2_ERROR_NOMATCH) {
      start = last_start + 1;
      while (start < text.size() && (static_cast<unsigned char>(text[start]) & 0xC0u) == 0x80u) ++start;
      continue;
    }
    if (found < 0) return limit_reached(pcre2_message(found));
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(state.data.get());
    const std::size_t begin = bounds[0];
    const std::size_t end = bounds[1];
    if (end < begin) return limit_reached("\\K moved the start of a match behind its end");
    if (begin == end && has_match && end == last_end) {
      start = end < text.size() ? next_character(end) : text.size() + 1;
      continue;
    }
    matches.push_back({offset + begin, offset + end});
    has_match = true;
    last_end = end;
    start = end;
  }
  return {};
}

}  // namespace headroom
