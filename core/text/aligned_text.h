// Text that normalisation changed, with the byte of the prompt that each of its bytes came from. An AlignedText is a
// value; not safe for concurrent changes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class AlignedText {
 public:
  // `text` as it stands in the prompt at byte `origin`.
  explicit AlignedText(std::string_view text, std::size_t origin = 0);

  [[nodiscard]] const std::string& text() const { return text_; }

  // The prompt's byte for a boundary 0 … text().size(). Monotonic, so that consecutive ranges stay consecutive; inside
  // a replacement it counts bytes and stops at the end of what was replaced.
  [[nodiscard]] std::size_t origin(std::size_t boundary) const;

 private:
  friend class AlignedTextBuilder;
  struct Anchor {
    std::size_t position;
    std::size_t origin;
  };
  AlignedText() = default;

  std::string text_;
  std::vector<Anchor> anchors_;  // sorted by position; between two anchors both sides advance byte by byte
};

// Builds a changed copy from left to right.
class AlignedTextBuilder {
 public:
  explicit AlignedTextBuilder(const AlignedText& source) : source_(source) {}

  void keep(ByteRange range);
  void replace(ByteRange range, std::string_view replacement);
  [[nodiscard]] std::size_t size() const { return result_.text_.size(); }
  [[nodiscard]] AlignedText take();

 private:
  void add_anchor(std::size_t origin);

  const AlignedText& source_;
  AlignedText result_;
};

}  // namespace headroom
