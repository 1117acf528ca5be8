// A text that is being edited: caret, selection, motions by grapheme and word, undo. No drawing and no fonts: positions
// are byte offsets between graphemes. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

enum class Motion : std::uint8_t { Left, Right, WordLeft, WordRight, LineStart, LineEnd, TextStart, TextEnd };

class TextEdit {
 public:
  explicit TextEdit(bool multiline = false) : multiline_(multiline) {}

  // Replaces everything; the caret goes to the end and there is nothing to undo. Invalid bytes become U+FFFD.
  void set_text(std::string_view text);
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t caret() const { return caret_; }
  // [begin, end) of what is selected; equal if nothing is.
  [[nodiscard]] std::pair<std::size_t, std::size_t> selection() const;
  [[nodiscard]] bool has_selection() const { return caret_ != anchor_; }
  [[nodiscard]] std::string_view selected() const;
  // Counts changes of the text.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  // Moves the caret to the grapheme boundary at or before `offset`; `extend` keeps the other end of the selection.
  void place(std::size_t offset, bool extend);
  // Without `extend`, Left and Right put a selection's end under the caret.
  void move(Motion motion, bool extend);
  void select_all();
  void select(std::size_t begin, std::size_t end);  // the caret at `end`
  void select_word(std::size_t offset);
  void select_line(std::size_t offset);

  // In place of the selection. Line ends become '\n'; a single line turns them and tabs into spaces and drops other
  // control characters; a text of several lines drops NUL only.
  void insert(std::string_view text);
  // The selection, else what the motion passes over.
  void erase(Motion motion);
  bool undo();
  bool redo();

  // Grapheme boundaries round `offset`, which is one.
  [[nodiscard]] std::size_t next(std::size_t offset) const;
  [[nodiscard]] std::size_t previous(std::size_t offset) const;
  [[nodiscard]] std::size_t line_start(std::size_t offset) const;
  [[nodiscard]] std::size_t line_end(std::size_t offset) const;

 private:
  enum class Edit : std::uint8_t { None, Typing, Erasing, Other };
  struct Snapshot {
    std::string text;
    std::size_t caret, anchor;
  };

  [[nodiscard]] std::size_t target(Motion motion) const;
  [[nodiscard]] std::size_t boundary(std::size_t offset) const;
  void remember(Edit edit);
  void replace(std::size_t begin, std::size_t end, std::string_view with);

  bool multiline_;
  std::string text_;
  std::size_t caret_ = 0, anchor_ = 0;
  std::uint64_t revision_ = 0;
  Edit last_edit_ = Edit::None;
  std::vector<Snapshot> undo_, redo_;
};

}  // namespace headroom
