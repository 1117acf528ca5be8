#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/app/ui/ui_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::UiBench;

constexpr Rect kField{100, 100, 300, 124};
constexpr Modifiers kCtrl{.ctrl = true}, kShift{.shift = true};

struct Field {
  std::string value;
  TextFieldOptions options;
  Rect area = kField;
  TextFieldResult result;
  UiBench bench{[this](Ui& ui) { result = ui.text_field("field", area, value, options); }};
};

CATCH_TEST_CASE("text field: takes the keyboard on a press and gives it up on one beside it") {
  Field field;
  CATCH_CHECK_FALSE(field.bench.wants_text);
  field.bench.type("x");
  CATCH_CHECK(field.value.empty());
  field.bench.click({150, 110});
  CATCH_CHECK(field.bench.wants_text);
  CATCH_CHECK(field.bench.cursor == Cursor::Text);
  field.bench.type("é注👩‍👧");
  CATCH_CHECK(field.value == "é注👩‍👧");
  CATCH_CHECK(field.result.changed);
  field.bench.key(Key::Backspace);
  CATCH_CHECK(field.value == "é注");
  field.bench.click({500, 500});
  field.bench.frame();
  CATCH_CHECK_FALSE(field.bench.wants_text);
  field.bench.type("y");
  CATCH_CHECK(field.value == "é注");
}

CATCH_TEST_CASE("text field: Enter submits, Escape cancels, and both are the field's keys") {
  Field field;
  field.bench.click({150, 110});
  field.bench.type("abc");
  field.bench.key(Key::Enter);
  CATCH_CHECK(field.result.submitted);
  CATCH_CHECK(field.bench.wants_text);
  field.bench.frame();
  CATCH_CHECK_FALSE(field.bench.wants_text);
  field.bench.click({150, 110});
  field.bench.key(Key::Escape);
  CATCH_CHECK((field.result.cancelled && field.bench.wants_text));
  field.bench.frame();
  CATCH_CHECK_FALSE(field.bench.wants_text);
}

CATCH_TEST_CASE("text field: selection by mouse, double click, shift and keys, and clipboard") {
  Field field;
  field.value = "one two three";
  // 6.72 pixels a letter from x = 108.
  field.bench.drag({108, 110}, {108 + 3 * 6.72f, 110});
  field.bench.key(letter_key('C'), kCtrl);
  CATCH_CHECK(field.bench.clipboard.text == "one");
  field.bench.click({108 + 5 * 6.72f, 110}, 2);
  field.bench.key(letter_key('X'), kCtrl);
  CATCH_CHECK(field.bench.clipboard.text == "two");
  CATCH_CHECK(field.value == "one  three");
  field.bench.key(Key::End);
  field.bench.key(letter_key('V'), kCtrl);
  CATCH_CHECK(field.value == "one  threetwo");
  field.bench.key(Key::Home, kShift);
  field.bench.type("new");
  CATCH_CHECK(field.value == "new");
  field.bench.key(letter_key('Z'), kCtrl);
  CATCH_CHECK(field.value == "one  threetwo");
  field.bench.key(letter_key('Z'), {.ctrl = true, .shift = true});
  CATCH_CHECK(field.value == "new");
  field.bench.key(letter_key('A'), kCtrl);
  field.bench.key(Key::Delete);
  CATCH_CHECK(field.value.empty());
  // Nothing selected: the clipboard stays.
  field.bench.key(letter_key('C'), kCtrl);
  CATCH_CHECK(field.bench.clipboard.text == "two");
  field.bench.clipboard.text = "two\nlines";
  field.bench.key(letter_key('V'), kCtrl);
  CATCH_CHECK(field.value == "two lines");
}

CATCH_TEST_CASE("text field: words by Ctrl") {
  Field field;
  field.value = "alpha beta gamma";
  field.bench.click({290, 110});
  field.bench.key(Key::End);
  field.bench.key(Key::Backspace, kCtrl);
  CATCH_CHECK(field.value == "alpha beta ");
  field.bench.key(Key::Left, kCtrl);
  field.bench.type("|");
  CATCH_CHECK(field.value == "alpha |beta ");
}

CATCH_TEST_CASE("text field: a long text scrolls with the caret, and what is drawn is inside") {
  Field field;
  std::string wide;
  for (int i = 0; i < 60; ++i) wide += "注意 e\xCC\x81 ";
  field.value = wide;
  field.bench.click({290, 110});
  for (const Key key : {Key::End, Key::Home}) {
    field.bench.key(key);
    CATCH_CHECK(field.bench.painter->violations().empty());
    const RecordedText& text = field.bench.painter->texts().front();
    CATCH_CHECK(text.width <= 190.0f);
    CATCH_CHECK(text.width > 100.0f);
  }
  field.bench.key(Key::End);
  field.bench.type("Z");
  CATCH_CHECK(field.value.ends_with("Z"));
  CATCH_CHECK(field.bench.painter->shows("Z"));
  for (int i = 0; i < 200; ++i) {
    field.bench.key(Key::Left);
    CATCH_REQUIRE(field.bench.painter->violations().empty());
  }
}

CATCH_TEST_CASE("text field: a caller who keeps nothing gets the edit, and one who changes the text is followed") {
  std::string shown = "from the state", got;
  UiBench bench([&](Ui& ui) {
    std::string value = shown;
    if (ui.text_field("f", kField, value, {}).changed) got = value;
  });
  bench.click({290, 110});
  bench.key(Key::End);
  bench.type("!");
  bench.type("?");
  CATCH_CHECK(got == "from the state!?");
  shown = "other";
  bench.frame();
  CATCH_CHECK(bench.painter->shows("other"));
  bench.key(Key::End);
  bench.type("s");
  CATCH_CHECK(got == "others");
}

CATCH_TEST_CASE("text field: hint, prefix, clear button") {
  Field field;
  field.options.hint = "find a quantity";
  field.options.prefix = "filter";
  field.options.clear_button = true;
  field.bench.frame();
  CATCH_CHECK(field.bench.painter->shows("find a quantity"));
  CATCH_CHECK(field.bench.painter->shows("filter"));
  CATCH_CHECK(field.bench.painter->violations().empty());
  field.value = "sink > 0.3";
  field.bench.frame();
  CATCH_CHECK_FALSE(field.bench.painter->shows("find a quantity"));
  field.bench.press({288, 112});
  field.bench.release();
  CATCH_CHECK(field.value.empty());
}

CATCH_TEST_CASE(
    "text field: blanks at the ends of a token are seen where its field asks for it, with and without the keyboard") {
  Field field;
  field.options.mono = true;
  field.value = "  a b ";
  for (const bool blanks : {false, true}) {
    field.options.blanks = blanks;
    for (const bool focused : {false, true}) {
      CATCH_INFO(blanks << focused);
      if (focused) field.bench.click(field.area.centre());
      field.bench.frame();
      const auto seen = field.bench.painter->find("␣");
      CATCH_CHECK(seen.size() == (blanks ? 3 : 0));
      if (!seen.empty()) CATCH_CHECK(std::abs(seen[2]->baseline.x - seen[0]->baseline.x - 5 * 7.2f) < 0.1f);
      CATCH_CHECK(field.bench.painter->shows("a b"));
      CATCH_CHECK(field.bench.painter->violations().empty());
      if (focused) field.bench.key(Key::Escape);
    }
  }
  CATCH_CHECK(field.value == "  a b ");
}

CATCH_TEST_CASE("text field: several lines wrap, the caret goes up and down at its place") {
  Field field;
  field.area = {100, 100, 300, 240};
  field.options.multiline = true;
  field.options.mono = true;  // 7.2 pixels a letter
  field.value = "0123456789\nab\nABCDEFGHIJ";
  field.bench.click({110 + 5 * 7.2f, 115});
  field.bench.key(Key::Down);
  field.bench.key(Key::Down);
  field.bench.type("|");
  CATCH_CHECK(field.value.find("|") != std::string::npos);
  CATCH_CHECK(field.value.substr(14, 7).find('|') != std::string::npos);
  const std::size_t at = field.value.find('|');
  CATCH_CHECK((at == 14 + 5 || at == 14 + 6));
  field.bench.key(Key::Enter);
  CATCH_CHECK_FALSE(field.result.submitted);
  CATCH_CHECK(field.value[at + 1] == '\n');
  field.bench.key(Key::Enter, kCtrl);
  CATCH_CHECK(field.result.submitted);
}

CATCH_TEST_CASE("text field: every other part is shaded, and what is not read is dimmed") {
  Field field;
  field.area = {100, 100, 300, 240};
  field.options.multiline = true;
  field.options.mono = true;  // 7.2 pixels a letter
  field.value = "one two three\nfour five";
  const std::vector<std::size_t> ends{3, 7, 13, 18, 23};
  field.options.ends = ends;
  field.options.read_to = 13;
  const auto check = [&] {
    std::vector<Rect> shades;
    for (const RecordedShape& shape : field.bench.painter->shapes())
      if (shape.kind == RecordedShape::Kind::FillRect && shape.bounds.height() == 16.0f && shape.bounds.width() > 2.0f)
        shades.push_back(shape.bounds);  // a caret is as high
    CATCH_REQUIRE(shades.size() == 2);   // " two", "four": the newline before it has no width
    CATCH_CHECK(std::abs(shades[0].x0 - (108.0f + 3 * 7.2f)) < 0.01f);
    CATCH_CHECK(std::abs(shades[0].x1 - (108.0f + 7 * 7.2f)) < 0.01f);
    CATCH_CHECK(std::abs(shades[1].x1 - (108.0f + 4 * 7.2f)) < 0.01f);
    CATCH_CHECK(shades[1].y0 == shades[0].y0 + 18.0f);
    const Color read = field.bench.painter->find("one two three").front()->style.color,
                rest = field.bench.painter->find("four five").front()->style.color;
    CATCH_CHECK_FALSE(read == rest);
    CATCH_CHECK(field.bench.painter->violations().empty());
  };
  field.bench.frame();
  check();
  field.bench.click({150, 110});  // with the keyboard, too
  check();
  field.options.read_to = 9;  // inside a line
  field.bench.frame();
  CATCH_CHECK_FALSE(field.bench.painter->find("one two t").front()->style.color ==
                    field.bench.painter->find("hree").front()->style.color);
}

CATCH_TEST_CASE("text field: many lines scroll by whole lines, with the caret and the wheel") {
  Field field;
  field.area = {100, 100, 300, 200};
  field.options.multiline = true;
  for (int i = 0; i < 50; ++i)
    field.value += "line " + std::to_string(i) + " of the prompt, longer than the field is\n";
  field.bench.click({120, 110});
  field.bench.key(Key::End, kCtrl);
  field.bench.type("the end");
  CATCH_CHECK(field.bench.painter->shows("the end"));
  CATCH_CHECK(field.bench.painter->violations().empty());
  field.bench.wheel({150, 150}, 1000.0f);
  CATCH_CHECK(field.bench.painter->shows("line 0"));
  CATCH_CHECK(field.bench.painter->violations().empty());
  field.bench.key(Key::Home, kCtrl);
  field.bench.key(Key::PageDown);
  field.bench.key(Key::PageUp);
  field.bench.type(">");
  CATCH_CHECK(field.value.starts_with(">line 0"));
}

CATCH_TEST_CASE("text field: the caret blinks for a while and then asks for no more frames") {
  Field field;
  field.bench.click({150, 110});
  CATCH_CHECK(field.bench.wait <= 0.54);
  CATCH_CHECK(field.bench.wait > 0.1);  // frames between would show the same
  CATCH_CHECK_FALSE(field.bench.again);
  field.bench.wait_for(11.0);
  CATCH_CHECK(field.bench.wait > 1e6);
}

}  // namespace
}  // namespace headroom
