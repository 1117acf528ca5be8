#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/text_edit.h"

#include "tests/support/catch.h"

namespace headroom {
namespace {

TextEdit edit_of(const char* text, bool multiline = false) {
  TextEdit edit(multiline);
  edit.set_text(text);
  return edit;
}

CATCH_TEST_CASE("text edit: what is typed goes where the caret is") {
  TextEdit edit = edit_of("ac");
  edit.move(Motion::Left, false);
  edit.insert("b");
  CATCH_CHECK(edit.text() == "abc");
  CATCH_CHECK(edit.caret() == 2);
  edit.erase(Motion::Right);
  CATCH_CHECK(edit.text() == "ab");
  edit.erase(Motion::Right);
  CATCH_CHECK(edit.text() == "ab");
  edit.erase(Motion::Left);
  CATCH_CHECK(edit.text() == "a");
}

CATCH_TEST_CASE("text edit: motions and erasing never split a grapheme") {
  // e with two combining marks, a family joined by ZWJ, a flag, CJK.
  const std::string e = "e\xCC\x81\xCC\xA3", family = "👩‍👩‍👧", flag = "🇨🇦", cjk = "注";
  TextEdit edit = edit_of((e + family + flag + cjk).c_str());
  edit.move(Motion::Left, false);
  CATCH_CHECK(edit.caret() == (e + family + flag).size());
  edit.move(Motion::Left, false);
  CATCH_CHECK(edit.caret() == (e + family).size());
  edit.move(Motion::Left, false);
  CATCH_CHECK(edit.caret() == e.size());
  edit.move(Motion::Left, false);
  CATCH_CHECK(edit.caret() == 0);
  edit.move(Motion::Right, false);
  CATCH_CHECK(edit.caret() == e.size());
  edit.erase(Motion::Left);
  CATCH_CHECK(edit.text() == family + flag + cjk);
  edit.erase(Motion::Right);
  CATCH_CHECK(edit.text() == flag + cjk);
  edit.place(3, false);  // inside the flag
  CATCH_CHECK(edit.caret() == 0);
}

CATCH_TEST_CASE("text edit: words") {
  TextEdit edit = edit_of("map.scale  log10, näher");
  edit.move(Motion::TextStart, false);
  std::vector<std::size_t> stops;
  for (int i = 0; i < 6; ++i) {
    edit.move(Motion::WordRight, false);
    stops.push_back(edit.caret());
  }
  CATCH_CHECK(stops == std::vector<std::size_t>{3, 4, 11, 16, 18, 24});
  edit.move(Motion::WordLeft, false);
  CATCH_CHECK(edit.caret() == 18);
  edit.move(Motion::WordLeft, true);
  CATCH_CHECK(edit.selected() == ", ");
  edit.erase(Motion::WordLeft);
  CATCH_CHECK(edit.text() == "map.scale  log10näher");
  edit.select_word(12);
  CATCH_CHECK(edit.selected() == "log10näher");
}

CATCH_TEST_CASE("text edit: selections are replaced, and left to their ends") {
  TextEdit edit = edit_of("one two three");
  edit.select(4, 7);
  edit.insert("2");
  CATCH_CHECK(edit.text() == "one 2 three");
  edit.select(0, 3);
  edit.move(Motion::Right, false);
  CATCH_CHECK(edit.caret() == 3);
  edit.select(4, 0);
  edit.move(Motion::Left, false);
  CATCH_CHECK(edit.caret() == 0);
  edit.select_all();
  edit.erase(Motion::Left);
  CATCH_CHECK(edit.text().empty());
  CATCH_CHECK_FALSE(edit.has_selection());
}

CATCH_TEST_CASE("text edit: undo takes back a word of typing, an erasing, a paste") {
  TextEdit edit = edit_of("x");
  for (const char* letter : {"a", "b", "c"}) edit.insert(letter);
  edit.insert(" ");
  edit.insert("pasted text");
  edit.erase(Motion::Left);
  edit.erase(Motion::Left);
  CATCH_CHECK(edit.text() == "xabc pasted te");
  CATCH_CHECK(edit.undo());
  CATCH_CHECK(edit.text() == "xabc pasted text");
  CATCH_CHECK(edit.undo());
  CATCH_CHECK(edit.text() == "xabc ");
  CATCH_CHECK(edit.undo());
  CATCH_CHECK(edit.text() == "xabc");
  CATCH_CHECK(edit.undo());
  CATCH_CHECK(edit.text() == "x");
  CATCH_CHECK_FALSE(edit.undo());
  CATCH_CHECK(edit.redo());
  CATCH_CHECK(edit.text() == "xabc");
  edit.insert("!");
  CATCH_CHECK_FALSE(edit.redo());
}

CATCH_TEST_CASE("text edit: one line takes no line ends and no control characters") {
  TextEdit line = edit_of("");
  line.insert(
      "a\r\nb\tc\x01\x7F"
      "d");
  CATCH_CHECK(line.text() == "a b cd");
  TextEdit lines = edit_of("", true);
  lines.insert(std::string_view("a\r\nb\rc\td\0e", 11));
  CATCH_CHECK(lines.text() == "a\nb\nc\tde");
  line.set_text("");
  line.insert("ok\xFF");
  CATCH_CHECK(line.text() == "ok\xEF\xBF\xBD");
}

CATCH_TEST_CASE("text edit: lines") {
  TextEdit edit = edit_of("first\nsecond\n\nlast", true);
  edit.place(8, false);
  edit.move(Motion::LineStart, false);
  CATCH_CHECK(edit.caret() == 6);
  edit.move(Motion::LineEnd, true);
  CATCH_CHECK(edit.selected() == "second");
  edit.place(6, false);
  edit.move(Motion::Left, false);
  CATCH_CHECK(edit.caret() == 5);
  edit.select_line(7);
  CATCH_CHECK(edit.selected() == "second\n");
  edit.select_word(13);
  CATCH_CHECK_FALSE(edit.has_selection());
}

}  // namespace
}  // namespace headroom
