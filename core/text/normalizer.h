// The "normalizer" of tokenizer.json: NFC, NFD, NFKC, NFKD, Prepend, Replace and sequences of them. Immutable; safe
// from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/text/aligned_text.h"
#include "core/text/regex.h"
#include "core/text/unicode_form.h"

namespace headroom {

class Normalizer {
 public:
  struct Prepend {
    std::string text;
  };
  struct Replace {
    Regex pattern;
    std::string content;
  };
  using Step = std::variant<UnicodeForm, Prepend, Replace>;

  Normalizer() = default;
  explicit Normalizer(std::vector<Step> steps) : steps_(std::move(steps)) {}
  [[nodiscard]] static Result<Normalizer> create(const nlohmann::json& component);

  // Empty text stays empty.
  [[nodiscard]] Result<AlignedText> apply(AlignedText text, RegexSession& session) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace headroom
