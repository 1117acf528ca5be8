#include "app/ui/text_edit.h"

#include <algorithm>

#include "app/plot/unicode.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr std::size_t kUndoBytes = std::size_t{16} << 20;
constexpr std::size_t kUndoSteps = 500;

enum class Sort : std::uint8_t { Space, Word, Other };

Sort sort_of(char byte) {
  const auto b = static_cast<unsigned char>(byte);
  if (b == ' ' || b == '\n' || b == '\t') return Sort::Space;
  const bool word = b >= 0x80 || b == '_' || (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z');
  return word ? Sort::Word : Sort::Other;
}

std::string sanitised(std::string_view input, bool multiline) {
  const std::string text = to_valid_utf8(input);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n') continue;
      c = '\n';
    }
    const auto b = static_cast<unsigned char>(c);
    if (multiline) {
      if (b != 0) out += c;
    } else if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (b >= 0x20 && b != 0x7F) {
      out += c;
    }
  }
  return out;
}

}  // namespace

void TextEdit::set_text(std::string_view text) {
  text_ = to_valid_utf8(text);
  caret_ = anchor_ = text_.size();
  undo_.clear();
  redo_.clear();
  last_edit_ = Edit::None;
  ++revision_;
}

std::pair<std::size_t, std::size_t> TextEdit::selection() const {
  return {std::min(caret_, anchor_), std::max(caret_, anchor_)};
}

std::string_view TextEdit::selected() const {
  const auto [begin, end] = selection();
  return std::string_view(text_).substr(begin, end - begin);
}

std::size_t TextEdit::line_start(std::size_t offset) const {
  if (offset == 0) return 0;
  const std::size_t newline = text_.rfind('\n', offset - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

std::size_t TextEdit::line_end(std::size_t offset) const {
  const std::size_t newline = text_.find('\n', offset);
  return newline == std::string::npos ? text_.size() : newline;
}

std::size_t TextEdit::next(std::size_t offset) const {
  return offset >= text_.size() ? text_.size() : grapheme_end(text_, offset);
}

std::size_t TextEdit::previous(std::size_t offset) const {
  if (offset == 0) return 0;
  std::size_t at = line_start(offset);
  if (at == offset) return offset - 1;  // the newline
  for (;;) {
    const std::size_t end = grapheme_end(text_, at);
    if (end >= offset) return at;
    at = end;
  }
}

std::size_t TextEdit::boundary(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  std::size_t at = line_start(offset);
  while (at < offset) {
    const std::size_t end = grapheme_end(text_, at);
    if (end > offset) return at;
    at = end;
  }
  return at;
}

std::size_t TextEdit::target(Motion motion) const {
  std::size_t at = caret_;
  switch (motion) {
    case Motion::Left: return previous(at);
    case Motion::Right: return next(at);
    case Motion::LineStart: return line_start(at);
    case Motion::LineEnd: return line_end(at);
    case Motion::TextStart: return 0;
    case Motion::TextEnd: return text_.size();
    case Motion::WordLeft: {
      while (at > 0 && sort_of(text_[at - 1]) == Sort::Space) --at;
      if (at == 0) return 0;
      const Sort sort = sort_of(text_[at - 1]);
      while (at > 0 && sort_of(text_[at - 1]) == sort) --at;
      return boundary(at);
    }
    case Motion::WordRight: {
      if (at == text_.size()) return at;
      const Sort sort = sort_of(text_[at]);
      if (sort != Sort::Space) {
        while (at < text_.size() && sort_of(text_[at]) == sort) ++at;
      }
      while (at < text_.size() && sort_of(text_[at]) == Sort::Space) ++at;
      return boundary(at);
    }
  }
  return at;
}

void TextEdit::place(std::size_t offset, bool extend) {
  caret_ = boundary(offset);
  if (!extend) anchor_ = caret_;
  last_edit_ = Edit::None;
}

void TextEdit::move(Motion motion, bool extend) {
  last_edit_ = Edit::None;
  if (has_selection() && !extend && (motion == Motion::Left || motion == Motion::Right)) {
    const auto [begin, end] = selection();
    caret_ = anchor_ = motion == Motion::Left ? begin : end;
    return;
  }
  caret_ = target(motion);
  if (!extend) anchor_ = caret_;
}

void TextEdit::select_all() { select(0, text_.size()); }

void TextEdit::select(std::size_t begin, std::size_t end) {
  anchor_ = boundary(begin);
  caret_ = boundary(end);
  last_edit_ = Edit::None;
}

void TextEdit::select_word(std::size_t offset) {
  offset = boundary(offset);
  if (text_.empty()) return;
  const Sort sort = sort_of(text_[offset < text_.size() ? offset : offset - 1]);
  std::size_t begin = offset, end = offset;
  while (begin > 0 && text_[begin - 1] != '\n' && sort_of(text_[begin - 1]) == sort) --begin;
  while (end < text_.size() && text_[end] != '\n' && sort_of(text_[end]) == sort) ++end;
  select(begin, end);
}

void TextEdit::select_line(std::size_t offset) {
  offset = boundary(offset);
  const std::size_t end = line_end(offset);
  select(line_start(offset), end < text_.size() ? end + 1 : end);
}

void TextEdit::remember(Edit edit) {
  redo_.clear();
  const bool same_step = edit == last_edit_ && (edit == Edit::Typing || edit == Edit::Erasing) && !has_selection();
  last_edit_ = edit;
  if (same_step) return;
  undo_.push_back({text_, caret_, anchor_});
  std::size_t bytes = 0;
  for (const Snapshot& step : undo_) bytes += step.text.size();
  while (undo_.size() > 1 && (undo_.size() > kUndoSteps || bytes > kUndoBytes)) {
    bytes -= undo_.front().text.size();
    undo_.erase(undo_.begin());
  }
}

void TextEdit::replace(std::size_t begin, std::size_t end, std::string_view with) {
  text_.replace(begin, end - begin, with);
  caret_ = anchor_ = boundary(begin + with.size());
  ++revision_;
}

void TextEdit::insert(std::string_view input) {
  const std::string text = sanitised(input, multiline_);
  if (text.empty()) return;
  // A word at a time comes back with one undo.
  const bool one = text.size() <= 4 && text != " " && text != "\n";
  remember(one ? Edit::Typing : Edit::Other);
  const auto [begin, end] = selection();
  replace(begin, end, text);
}

void TextEdit::erase(Motion motion) {
  auto [begin, end] = selection();
  const bool selected = begin != end;
  if (!selected) {
    const std::size_t to = target(motion);
    begin = std::min(caret_, to);
    end = std::max(caret_, to);
  }
  if (begin == end) return;
  remember(selected || (motion != Motion::Left && motion != Motion::Right) ? Edit::Other : Edit::Erasing);
  replace(begin, end, "");
}

bool TextEdit::undo() {
  if (undo_.empty()) return false;
  redo_.push_back({text_, caret_, anchor_});
  text_ = std::move(undo_.back().text);
  caret_ = undo_.back().caret;
  anchor_ = undo_.back().anchor;
  undo_.pop_back();
  last_edit_ = Edit::None;
  ++revision_;
  return true;
}

bool TextEdit::redo() {
  if (redo_.empty()) return false;
  undo_.push_back({text_, caret_, anchor_});
  text_ = std::move(redo_.back().text);
  caret_ = redo_.back().caret;
  anchor_ = redo_.back().anchor;
  redo_.pop_back();
  last_edit_ = Edit::None;
  ++revision_;
  return true;
}

}  // namespace headroom
