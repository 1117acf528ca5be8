// Regexes with Oniguruma's meaning, matched by PCRE2 under limits: no input makes a search run away. A Regex is
// immutable and safe from any thread; a RegexSession belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/text/aligned_text.h"

namespace headroom {

// Scratch memory and the processor time that the searches of one encode() share.
class RegexSession {
 public:
  // `size_bytes` of the prompt: longer prompts are given more time.
  explicit RegexSession(std::size_t size_bytes);
  ~RegexSession();
  RegexSession(const RegexSession&) = delete;
  RegexSession& operator=(const RegexSession&) = delete;

 private:
  friend class Regex;
  struct State;
  std::unique_ptr<State> state_;
};

class Regex {
 public:
  // Unsupported, with the pattern and the place, where it does not compile.
  [[nodiscard]] static Result<Regex> compile(std::string_view pattern);
  // Matches `text` literally.
  [[nodiscard]] static Result<Regex> compile_literal(std::string_view text);

  // Non-overlapping matches from left to right. An empty match is reported unless it touches the one before. Bytes that
  // are not UTF-8 match nothing and end the text on both sides. OutOfMemory at a limit.
  [[nodiscard]] Result<void> find_all(RegexSession& session, std::string_view text,
                                      std::vector<ByteRange>& matches) const;

 private:
  struct Code;
  Regex() = default;
  [[nodiscard]] static Result<Regex> compile_pcre2(std::string_view pattern, std::string_view shown);
  [[nodiscard]] Result<void> find_in_valid(RegexSession& session, std::string_view text, std::size_t offset,
                                           std::vector<ByteRange>& matches) const;

  std::shared_ptr<const Code> code_;
  std::string shown_;
};

}  // namespace headroom
