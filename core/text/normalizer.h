// The "normalizer" of tokenizer.json, and SentencePiece's own. Immutable; safe from any thread.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/text/aligned_text.h"
#include "core/text/character_steps.h"
#include "core/text/charsmap.h"
#include "core/text/regex.h"
#include "core/text/sentencepiece_normalizer.h"
#include "core/text/unicode_form.h"

namespace headroom {

class TextNormalizer {
 public:
  struct Prepend {
    std::string text;
  };
  struct Replace {
    Regex pattern;
    std::string content;
  };
  struct StripSpace {
    bool left = true;
    bool right = true;
  };
  struct Precompiled {
    std::shared_ptr<const Charsmap> rules;
  };
  // Steps that have no settings.
  enum class Plain { Lowercase, StripAccents, Nmt, ByteLevel };
  using Step = std::variant<UnicodeForm, Prepend, Replace, StripSpace, Precompiled, Plain, BertNormalization,
                            SentencePieceNormalizer>;

  TextNormalizer() = default;
  explicit TextNormalizer(std::vector<Step> steps) : steps_(std::move(steps)) {}
  // NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, Nmt, Precompiled, ByteLevel
  // and sequences of them; Unsupported names any other.
  [[nodiscard]] static Result<TextNormalizer> create(const nlohmann::json& component);

  // Empty text stays empty.
  [[nodiscard]] Result<AlignedText> apply(AlignedText text, RegexSession& session) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace headroom
