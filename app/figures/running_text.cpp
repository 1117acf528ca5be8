#include "app/figures/running_text.h"

#include <algorithm>
#include <utility>

#include "app/plot/token_text.h"
#include "app/plot/unicode.h"

namespace headroom {
namespace {

constexpr std::size_t kCountedBlanks = 4;

void add_segment(std::vector<TokenSegment>& segments, std::string text, bool mark) {
  if (text.empty()) return;
  if (!segments.empty() && segments.back().mark == mark)
    segments.back().text += text;
  else
    segments.push_back({std::move(text), mark});
}

bool begins_control(std::string_view bytes) {
  return static_cast<unsigned char>(bytes.front()) < 0x20 || bytes.front() == 0x7f;
}

// The end of a run of what is shown alike.
std::size_t run_end(std::string_view bytes) {
  std::size_t end = 1;
  if (bytes.front() == ' ') {
    while (end < bytes.size() && bytes[end] == ' ') ++end;
    return end;
  }
  const bool control = begins_control(bytes);
  while (end < bytes.size() && bytes[end] != ' ' && begins_control(bytes.substr(end)) == control) ++end;
  return end;
}

float segments_width(const std::vector<TokenSegment>& segments, const TextMeasure& measure, Face face, float size) {
  float width = 0.0f;
  for (const TokenSegment& segment : segments) width += measure.width(segment.text, face, size);
  return width;
}

// As many graphemes as fit, at least one; the rest stays in `segments`.
TextPiece cut_piece(std::size_t token, std::vector<TokenSegment>& segments, float width, const TextMeasure& measure,
                    Face face, float size) {
  TextPiece piece;
  piece.token = token;
  while (!segments.empty()) {
    TokenSegment& segment = segments.front();
    std::size_t end = 0;
    float taken = 0.0f;
    while (end < segment.text.size()) {
      const std::size_t next = grapheme_end(segment.text, end);
      const float wide = measure.width(std::string_view(segment.text).substr(0, next), face, size);
      if (piece.width + wide > width && !(end == 0 && piece.segments.empty())) break;
      end = next, taken = wide;
    }
    if (end == 0) break;
    add_segment(piece.segments, segment.text.substr(0, end), segment.mark);
    piece.width += taken;
    const bool whole = end == segment.text.size();
    segment.text.erase(0, end);
    if (!whole) break;
    segments.erase(segments.begin());
  }
  return piece;
}

}  // namespace

std::vector<TokenSegment> token_segments(std::string_view bytes) {
  std::vector<TokenSegment> segments;
  if (bytes.empty()) return {{"∅", true}};
  while (!bytes.empty()) {
    const std::size_t end = run_end(bytes);
    const std::string_view run = bytes.substr(0, end);
    if (run.front() != ' ')
      add_segment(segments, visible_token(run), begins_control(run));
    else if (run.size() >= kCountedBlanks)
      add_segment(segments, "␣×" + std::to_string(run.size()), true);
    else
      add_segment(segments, std::string(run), false);
    bytes.remove_prefix(end);
  }
  return segments;
}

std::vector<TextLine> break_lines(std::span<const std::string> tokens, float width, const TextMeasure& measure,
                                  Face face, float size) {
  std::vector<TextLine> lines;
  float taken = 0.0f;
  const auto put = [&](TextPiece piece) {
    taken += piece.width;
    lines.back().push_back(std::move(piece));
  };
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    std::vector<TokenSegment> segments = token_segments(tokens[token]);
    const float whole = segments_width(segments, measure, face, size);
    if (!lines.empty() && taken + whole <= width) {
      put({token, std::move(segments), whole, 0.0f});
      continue;
    }
    lines.emplace_back();
    taken = 0.0f;
    // A blank before a word hangs out, so that lines begin flush.
    const std::string& first = segments.front().text;
    const bool hangs = !segments.front().mark && first.size() > 1 && first[0] == ' ' && first[1] != ' ';
    const float lead = hangs ? measure.width(" ", face, size) : 0.0f;
    if (whole - lead <= width) {
      put({token, std::move(segments), whole - lead, lead});
      continue;
    }
    for (float hanging = lead; true; hanging = 0.0f) {
      TextPiece piece = cut_piece(token, segments, width + hanging, measure, face, size);
      piece.lead = hanging, piece.width -= hanging;
      put(std::move(piece));
      if (segments.empty()) break;
      lines.emplace_back();
      taken = 0.0f;
    }
  }
  return lines;
}

}  // namespace headroom
