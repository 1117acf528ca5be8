#include "app/panels/parts/token_lines.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "app/plot/token_text.h"

namespace headroom {

std::int64_t TokenLines::line_of(std::int64_t token) const {
  const auto after = std::ranges::upper_bound(starts, token);
  return std::clamp<std::int64_t>((after - starts.begin()) - 1, 0, std::max<std::int64_t>(0, lines() - 1));
}

void rebreak_tokens(TokenLines& lines, float width) {
  lines.width = width;
  lines.starts.assign(1, 0);
  float x = 0.0f;
  for (std::int64_t token = 0; token < lines.tokens(); ++token) {
    const float wide = lines.width_of(token);
    if (x > 0.0f && x + wide > width) {
      lines.starts.push_back(token);
      x = 0.0f;
    }
    x += wide + lines.style.gap;
  }
  lines.starts.push_back(lines.tokens());
}

TokenLines break_tokens(const std::shared_ptr<const Prompt>& prompt, float width, const TextMeasure& measure,
                        const TokenStyle& style, float longest) {
  TokenLines lines;
  lines.style = style;
  lines.prompt = prompt;
  if (!prompt) return lines;
  const bool texts = prompt->texts.size() == prompt->ids.size();
  std::unordered_map<std::string, std::uint32_t> known;
  lines.label_of.reserve(prompt->ids.size());
  const float most = std::max(8.0f, std::min(longest, width) - 2.0f * style.padding);
  for (std::size_t i = 0; i < prompt->ids.size(); ++i) {
    // Behind the end of the shorter one of two sequences there is none.
    const std::string bytes = texts ? prompt->texts[i] : prompt->ids[i] < 0 ? "" : std::to_string(prompt->ids[i]);
    const auto [found, added] = known.try_emplace(bytes, static_cast<std::uint32_t>(lines.labels.size()));
    if (added) {
      std::string label = elide_middle(token_label(bytes), most, measure, Face::Sans, style.size);
      if (label.empty()) label = "·";  // an empty token still has its place
      // What a dropped space leaves visible: the gap between words.
      const bool word = texts && bytes.size() > 1 && bytes[0] == ' ' && bytes[1] != ' ';
      lines.label_widths.push_back(std::min(std::max(width, 1.0f), measure.width(label, Face::Sans, style.size) +
                                                                       2.0f * style.padding + (word ? 3.0f : 0.0f)));
      lines.labels.push_back(std::move(label));
    }
    lines.label_of.push_back(found->second);
  }
  rebreak_tokens(lines, width);
  return lines;
}

}  // namespace headroom
