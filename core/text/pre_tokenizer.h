// The "pre_tokenizer" of tokenizer.json: cuts normalised text into the words that the model sees. Immutable; safe from
// any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/text/aligned_text.h"
#include "core/text/regex.h"

namespace headroom {

// The regex of ByteLevel, where it splits by itself.
inline constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Stands for a space in vocabularies that come from SentencePiece.
inline constexpr std::string_view kMetaspaceSign = "\xE2\x96\x81";  // U+2581

// Words are ranges of the text, in order; bytes outside them were removed.
struct Words {
  AlignedText text;
  std::vector<ByteRange> ranges;
};

enum class SplitBehavior { Isolated, Removed, MergedWithPrevious, MergedWithNext, Contiguous };

class PreTokenizer {
 public:
  struct Split {
    Regex pattern;
    SplitBehavior behavior = SplitBehavior::Isolated;
    bool invert = false;
  };
  // A space in front of each word that does not begin with one.
  struct SpacePrefix {};
  // Spaces become `replacement`; one is put in front of each word, of the prompt's first word only, or of none.
  struct Metaspace {
    enum class Prefix { Always, First, Never };
    std::string replacement;
    Prefix prefix = Prefix::Always;
  };
  using Step = std::variant<Split, SpacePrefix, Metaspace>;

  PreTokenizer() = default;
  [[nodiscard]] static Result<PreTokenizer> create(const nlohmann::json& component);
  // Isolated splits by one regex after the other, then ByteLevel: the form that GGUF files imply.
  [[nodiscard]] static Result<PreTokenizer> create_byte_level(const std::vector<std::string_view>& regexes);

  [[nodiscard]] Result<Words> apply(Words words, RegexSession& session) const;

  // The vocabulary spells bytes in the characters of core/text/byte_level.h.
  [[nodiscard]] bool byte_level() const { return byte_level_; }

 private:
  [[nodiscard]] Result<void> add(const nlohmann::json& component);

  std::vector<Step> steps_;
  bool byte_level_ = false;
};

}  // namespace headroom
