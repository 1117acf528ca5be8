// Any bytes at all become text that can be drawn, shows what it holds, and is cut between graphemes only.
#include "app/plot/token_text.h"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/unicode.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

std::string text(const char8_t* utf8) { return reinterpret_cast<const char*>(utf8); }

CATCH_TEST_CASE("White space is visible and counted") {
  CATCH_CHECK(visible_token(" the") == "␣the");
  CATCH_CHECK(visible_token("the") == "the");
  CATCH_CHECK(visible_token("\n") == "↵");
  CATCH_CHECK(visible_token("\n\n") == "↵↵");
  CATCH_CHECK(visible_token("\n\n\n") == "↵×3");
  CATCH_CHECK(visible_token(std::string(19, ' ')) == "␣×19");
  CATCH_CHECK(visible_token("\n" + std::string(22, ' ')) == "↵␣×22");
  CATCH_CHECK(visible_token("\tx") == "→x");
  CATCH_CHECK(visible_token("a b") == "a␣b");
  CATCH_CHECK(visible_token("") == "");
  CATCH_CHECK(visible_token("\r\n") == "\\x0D↵");
}

CATCH_TEST_CASE("Controls, broken bytes and what turns text round are spelt out") {
  CATCH_CHECK(visible_token("\x1b[0m") == "\\x1B[0m");
  CATCH_CHECK(visible_token(std::string(1, '\0')) == "\\x00");
  CATCH_CHECK(visible_token("\x7f") == "\\x7F");
  CATCH_CHECK(visible_token("a\xff"
                            "b") == "a\\xFFb");
  CATCH_CHECK(visible_token("\xe2\x82") == "\\xE2\\x82");           // cut off
  CATCH_CHECK(visible_token("\xac") == "\\xAC");                    // continuation alone
  CATCH_CHECK(visible_token("\xc0\xaf") == "\\xC0\\xAF");           // overlong
  CATCH_CHECK(visible_token("\xed\xa0\x80") == "\\xED\\xA0\\x80");  // surrogate
  CATCH_CHECK(visible_token("\xf4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80");
  CATCH_CHECK(visible_token(text(u8"a\u202Eb")) == "a\\u{202E}b");
  CATCH_CHECK(visible_token(text(u8"\u2066")) == "\\u{2066}");
  CATCH_CHECK(visible_token(text(u8"\uFEFFx")) == "\\u{FEFF}x");
  CATCH_CHECK(visible_token(text(u8"\u200B")) == "\\u{200B}");
  CATCH_CHECK(visible_token(text(u8"\u00A0")) == "\\u{00A0}");
  CATCH_CHECK(visible_token(text(u8"\u0085")) == "\\u{0085}");
  CATCH_CHECK(visible_token(text(u8"\u2028")) == "\\u{2028}");
  CATCH_CHECK(visible_token(text(u8"\U000E0041")) == "\\u{E0041}");
}

CATCH_TEST_CASE("Scripts, emoji and accents stay what they are") {
  for (const char8_t* kept : {u8"注意力", u8"مرحبا", u8"नमस्ते", u8"한국어", u8"e\u0301", u8"👍🏽", u8"👩\u200D🔬",
                              u8"❤\uFE0F", u8"🇩🇪", u8"ρ̃", u8"naïve"}) {
    CATCH_CHECK(visible_token(text(kept)) == text(kept));
  }
  // A joiner that joins nothing, a mark without a letter, a selector of nothing.
  CATCH_CHECK(visible_token(text(u8"\u200D")) == "\\u{200D}");
  CATCH_CHECK(visible_token(text(u8"👩\u200D")) == text(u8"👩\\u{200D}"));
  CATCH_CHECK(visible_token(text(u8"a\u200Db")) == "a\\u{200D}b");
  CATCH_CHECK(visible_token(text(u8"\u0301")) == text(u8"◌\u0301"));
  CATCH_CHECK(visible_token(text(u8"\uFE0F")) == "\\u{FE0F}");
}

CATCH_TEST_CASE("Labels drop one leading space") {
  CATCH_CHECK(token_label(" the") == "the");
  CATCH_CHECK(token_label("the") == "the");
  CATCH_CHECK(token_label(" ") == "␣");
  CATCH_CHECK(token_label("  ") == "␣␣");
  CATCH_CHECK(token_label("  x") == "␣␣x");
  CATCH_CHECK(token_label(std::string(19, ' ')) == "␣×19");
  CATCH_CHECK(token_label(" \n") == "␣↵");
  CATCH_CHECK(token_label(" \xff") == "\\xFF");
}

CATCH_TEST_CASE("Random bytes become text that can be drawn") {
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 12; i > 0; --i) {
      switch (random() % 3) {
        case 0: bytes.push_back(static_cast<char>(random() % 256)); break;
        case 1: append_utf8(bytes, static_cast<char32_t>(random() % 0x800)); break;
        default: append_utf8(bytes, static_cast<char32_t>(random() % 0x110000)); break;
      }
    }
    const std::string shown = visible_token(bytes);
    bool good = bytes.empty() == shown.empty();
    for (std::size_t at = 0; at < shown.size();) {
      const auto point = decode_utf8(shown, at);
      good = good && point && (!is_invisible(point->value) && point->value != 0xA0);
      if (!point) break;
      at += point->bytes;
    }
    CATCH_CHECK(good);
  }
}

CATCH_TEST_CASE("Each token of a split character shows its own bytes") {
  CATCH_CHECK(visible_tokens({"\xe2\x82", "\xac", " x", ""}) ==
              std::vector<std::string>{"\\xE2\\x82", "\\xAC", "␣x", ""});
}

CATCH_TEST_CASE("Elided text fits, keeps its ends and its graphemes whole") {
  const PlainMeasure measure;
  const auto middle = [&](const std::string& word, float ems) {
    return elide_middle(word, ems * 0.56f * 10.0f + 0.01f, measure, Face::Sans, 10.0f);
  };
  CATCH_CHECK(middle("responsibilities", 16) == "responsibilities");
  CATCH_CHECK(middle("responsibilities", 9) == "resp…ties");
  CATCH_CHECK(middle("responsibilities", 8) == "resp…ies");
  CATCH_CHECK(middle("responsibilities", 2) == "r…");
  CATCH_CHECK(middle("responsibilities", 1) == "…");
  CATCH_CHECK(middle("responsibilities", 0.5f) == "");
  CATCH_CHECK(middle("", 5) == "");
  CATCH_CHECK(elide_end("responsibilities", 9 * 5.6f + 0.01f, measure, Face::Sans, 10.0f) == "responsi…");

  // Numbers with their units and names of heads are whole, or not there.
  CATCH_CHECK(middle("GPL-3, 512 tokens", 14) == "GP… 512 tokens");
  CATCH_CHECK(middle("GPL-3, 512 tokens", 10) == "GPL-3, …");
  CATCH_CHECK(middle("0.0741", 5) == "…");
  CATCH_CHECK(middle("−0.0741 nats", 6) == "…");
  CATCH_CHECK(middle("loss −1.2×10⁻³", 12) == "lo…−1.2×10⁻³");
  CATCH_CHECK(middle("range 7\u2009639", 8) == "ra…7\u2009639");
  CATCH_CHECK(middle("λ = 0 in L17.H4", 8) == "λ…L17.H4");
  CATCH_CHECK(middle("λ = 0 in L17.H4", 7) == "λ = …");
  CATCH_CHECK(middle("λ = 0 in L17.H4", 6) == "λ = …");
  CATCH_CHECK(middle("SmolLM2-135M-Instruct.Q4_1", 14) == "SmolLM2…t.Q4_1");
  CATCH_CHECK(middle("012345678901234567890", 7) == "012…890");
  CATCH_CHECK(elide_end("takes up to 4.31 GB", 17 * 5.6f + 0.01f, measure, Face::Sans, 10.0f) == "takes up to …");

  const std::vector<std::string> clusters = {text(u8"e\u0301"), text(u8"👩\u200D🔬"), text(u8"🇩🇪"),
                                             text(u8"각"),      text(u8"नि"),         "x"};
  std::mt19937 random(8);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> parts;
    std::string whole;
    for (std::size_t i = 1 + random() % 12; i > 0; --i) {
      parts.push_back(clusters[random() % clusters.size()]);
      whole += parts.back();
    }
    const float width = static_cast<float>(random() % 90);
    const std::string shown = elide_middle(whole, width, measure, Face::Sans, 10.0f);
    if (shown == whole || shown.empty()) continue;
    CATCH_CHECK(measure.width(shown, Face::Sans, 10.0f) <= width);
    const std::size_t at = shown.find("…");
    CATCH_REQUIRE(at != std::string::npos);
    const std::string head = shown.substr(0, at), tail = shown.substr(at + std::string("…").size());
    // Both sides are whole clusters: flags may pair up differently only if one was cut.
    std::string from_front, from_back;
    std::size_t front = 0, back = parts.size();
    while (from_front.size() < head.size()) from_front += parts[front++];
    while (from_back.size() < tail.size()) from_back = parts[--back] + from_back;
    CATCH_CHECK(from_front == head);
    CATCH_CHECK(from_back == tail);
  }
}

CATCH_TEST_CASE("Plain widths") {
  const PlainMeasure measure;
  CATCH_CHECK(measure.width("abc", Face::Mono, 10.0f) == near(18.0, 1e-5));
  CATCH_CHECK(measure.width("abc", Face::SansSemibold, 10.0f) == near(16.8, 1e-5));
  CATCH_CHECK(measure.width(text(u8"注"), Face::Sans, 11.0f) == near(11.0, 1e-5));
  CATCH_CHECK(measure.width(text(u8"e\u0301"), Face::Sans, 10.0f) == near(5.6, 1e-5));
  CATCH_CHECK(measure.width("\n", Face::Sans, 10.0f) == 0.0f);
}

}  // namespace
}  // namespace headroom::test
