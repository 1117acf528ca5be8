// Enumerations by their words, as files and commands have them. Pure functions; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "app/session/state.h"

namespace headroom {

// The words of an enumeration, in the order of its values.
template <typename Enum>
struct EnumWords;
template <>
struct EnumWords<MapKind> {
  static constexpr std::array<const char*, 5> words{"net", "first", "second", "scaled", "logits"};
};
template <>
struct EnumWords<HeadsView> {
  static constexpr std::array<const char*, 4> words{"atlas", "scatter", "table", "maps"};
};
template <>
struct EnumWords<CentreView> {
  static constexpr std::array<const char*, 8> words{"map",        "what-if",  "compare", "circuit",
                                                    "importance", "training", "tokens",  "residual"};
};
template <>
struct EnumWords<AblationWay> {
  static constexpr std::array<const char*, 4> words{"off", "mean", "hide-key0", "second-off"};
};
template <>
struct EnumWords<TokenAttention> {
  static constexpr std::array<const char*, 3> words{"head", "layer", "mean"};
};
template <>
struct EnumWords<ResidualCells> {
  static constexpr std::array<const char*, 3> words{"channel", "rms", "largest"};
};
template <>
struct EnumWords<Statistic> {
  static constexpr std::array<const char*, 10> words{
      "mean", "std", "standard_error", "ci_low", "ci_high", "bootstrap_low", "bootstrap_high", "min", "max", "count"};
};
template <>
struct EnumWords<CorpusSort> {
  static constexpr std::array<const char*, 7> words{"sequence", "document", "loss", "over", "value", "z", "off"};
};
template <>
struct EnumWords<CorpusSide> {
  static constexpr std::array<const char*, 3> words{"sequences", "rows", "keys"};
};
template <>
struct EnumWords<CorpusList> {
  static constexpr std::array<const char*, 2> words{"table", "thumbnails"};
};
template <>
struct EnumWords<CompareMode> {
  static constexpr std::array<const char*, 4> words{"side", "swipe", "flip", "difference"};
};
template <>
struct EnumWords<ComparedSort> {
  static constexpr std::array<const char*, 6> words{"distance", "sink_a", "sink_b", "sink", "rho", "entropy"};
};
template <>
struct EnumWords<ScaleKind> {
  static constexpr std::array<const char*, 3> words{"linear", "log10", "symlog"};
};
template <>
struct EnumWords<Pooling> {
  static constexpr std::array<const char*, 4> words{"max", "mean", "positive", "negative"};
};

template <>
struct EnumWords<Colours> {
  static constexpr std::array<const char*, 5> words{"headroom", "viridis", "cividis", "magma", "grey"};
};
template <>
struct EnumWords<SignedColours> {
  static constexpr std::array<const char*, 3> words{"headroom", "puor", "vik"};
};
template <>
struct EnumWords<BosMode> {
  static constexpr std::array<const char*, 3> words{"trained", "add", "never"};
};

template <>
struct EnumWords<PictureTheme> {
  static constexpr std::array<const char*, 3> words{"shown", "light", "dark"};
};
template <>
struct EnumWords<SaveKind> {
  static constexpr std::array<const char*, 6> words{"run", "picture", "table", "session", "importance", "figure"};
};

template <typename Enum>
[[nodiscard]] constexpr const char* word_of(Enum value) {
  return EnumWords<Enum>::words[static_cast<std::size_t>(value)];
}

template <typename Enum>
[[nodiscard]] std::optional<Enum> parse_word(std::string_view text) {
  const auto& words = EnumWords<Enum>::words;
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) return {};
  return static_cast<Enum>(found - words.begin());
}

// "linear|log10|symlog": what a command takes.
template <typename Enum>
[[nodiscard]] std::string all_words() {
  std::string all;
  for (const char* word : EnumWords<Enum>::words) all += (all.empty() ? "" : "|") + std::string(word);
  return all;
}

}  // namespace headroom
