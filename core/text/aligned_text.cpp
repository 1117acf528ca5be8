#include "core/text/aligned_text.h"

#include <algorithm>

namespace headroom {

AlignedText::AlignedText(std::string_view text, std::size_t origin) : text_(text), anchors_{{0, origin}} {}

std::size_t AlignedText::origin(std::size_t boundary) const {
  if (anchors_.empty()) return 0;
  const auto after = std::upper_bound(anchors_.begin(), anchors_.end(), boundary,
                                      [](std::size_t value, const Anchor& anchor) { return value < anchor.position; });
  const Anchor& before = after == anchors_.begin() ? *after : *(after - 1);
  const std::size_t exact = before.origin + (boundary - before.position);
  return after == anchors_.end() ? exact : std::min(exact, after->origin);
}

void AlignedTextBuilder::add_anchor(std::size_t origin) {
  const std::size_t position = result_.text_.size();
  auto& anchors = result_.anchors_;
  if (!anchors.empty()) {
    AlignedText::Anchor& last = anchors.back();
    if (position - last.position == origin - last.origin) return;
    if (position == last.position) {
      last.origin = origin;
      return;
    }
  }
  anchors.push_back({position, origin});
}

void AlignedTextBuilder::keep(ByteRange range) {
  if (range.begin == range.end) return;
  add_anchor(source_.origin(range.begin));
  std::size_t done = range.begin;
  const auto& anchors = source_.anchors_;
  auto anchor = std::upper_bound(
      anchors.begin(), anchors.end(), range.begin,
      [](std::size_t value, const AlignedText::Anchor& candidate) { return value < candidate.position; });
  for (; anchor != anchors.end() && anchor->position < range.end; ++anchor) {
    result_.text_.append(source_.text_, done, anchor->position - done);
    done = anchor->position;
    add_anchor(anchor->origin);
  }
  result_.text_.append(source_.text_, done, range.end - done);
  add_anchor(source_.origin(range.end));
}

void AlignedTextBuilder::replace(ByteRange range, std::string_view replacement) {
  add_anchor(source_.origin(range.begin));
  result_.text_ += replacement;
  add_anchor(source_.origin(range.end));
}

AlignedText AlignedTextBuilder::take() { return std::move(result_); }

}  // namespace headroom
