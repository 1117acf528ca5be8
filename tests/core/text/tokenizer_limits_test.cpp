// Hostile regexes and prompts: limits end them, and time grows with the length of the prompt and not with its square.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/tokenizer.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

nlohmann::json read_fixture(const std::string& name) {
  std::ifstream file(std::filesystem::path(HEADROOM_FIXTURES) / "tokenizers" / name, std::ios::binary);
  CATCH_REQUIRE(file.good());
  return nlohmann::json::parse(file);
}

std::unique_ptr<Tokenizer> require_tokenizer(const nlohmann::json& content) {
  auto tokenizer = Tokenizer::from_tokenizer_json(content.dump(), nullptr);
  if (!tokenizer) CATCH_FAIL(describe(tokenizer.error()));
  return std::move(tokenizer).value();
}

nlohmann::json with_regex(const char* regex) {
  nlohmann::json content = read_fixture("variants.json")["tokenizer"];
  content["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
  return content;
}

std::string repeated(std::string_view unit, std::size_t count) {
  std::string text;
  text.reserve(unit.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += unit;
  return text;
}

// Processor time, so that a busy machine does not fail the test.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Sanitizers and unoptimised builds are some ten times slower.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr double kSlowness = 1;
#else
constexpr double kSlowness = 20;
#endif

CATCH_TEST_CASE("catalogue 75: a regex that runs away ends at a limit") {
  struct Case {
    const char* regex;
    std::string text;
  };
  for (const Case& c :
       {Case{"(a+)+$", repeated("a", 30) + "b"}, Case{"(a|a)*$", repeated("a", 40) + "b"},
        Case{"(?:a?){30}a{30}$", repeated("a", 30) + "b"}, Case{"(a+)+$", repeated(repeated("a", 18) + "b", 5000)},
        Case{"a*a*a*a*[cd]", repeated("a", 100000)}}) {
    CATCH_INFO(c.regex << " on " << c.text.size() << " bytes");
    const auto tokenizer = require_tokenizer(with_regex(c.regex));
    const double start = processor_seconds();
    const auto encoding = tokenizer->encode(c.text, BosMode::Auto);
    const double seconds = processor_seconds() - start;
    CATCH_REQUIRE_FALSE(encoding.has_value());
    CATCH_CHECK(encoding.error().code == ErrorCode::OutOfMemory);
    CATCH_CHECK(encoding.error().found == c.regex);
    // 1 s for a short prompt, and a few microseconds for each byte of a long one.
    CATCH_CHECK(seconds < (1 + 8e-6 * static_cast<double>(c.text.size())) * kSlowness);
  }
}

CATCH_TEST_CASE("catalogue 77: a regex that PCRE2 refuses is Unsupported and shown") {
  for (const char* regex : {"(a", "(?<=a*)b", "a\\C", "[a[b]]", "[a&&b]", "[\\W]", "a{99999}", "\\p{NoSuchThing}"}) {
    CATCH_INFO(regex);
    const auto tokenizer = Tokenizer::from_tokenizer_json(with_regex(regex).dump(), nullptr);
    CATCH_REQUIRE_FALSE(tokenizer.has_value());
    CATCH_CHECK(tokenizer.error().code == ErrorCode::Unsupported);
    CATCH_CHECK(tokenizer.error().found == regex);
  }
}

CATCH_TEST_CASE("catalogue 76: a million times the same character takes time in proportion") {
  for (const char* name : {"llama3", "added", "llama2"}) {
    const auto tokenizer = require_tokenizer(read_fixture(std::string(name) + ".json"));
    for (const char* unit : {"a", "A", " ", "\n", "1", "中", "👨‍👩‍👧", "e\xCC\x81", "\xCC\x81",
                             "\xCC\xA3\xCC\x81", "\xFF", "<"}) {
      CATCH_INFO(name << ", unit \"" << escape_for_terminal(unit) << "\"");
      const std::string text = repeated(unit, 1000000 / std::char_traits<char>::length(unit));
      const double start = processor_seconds();
      const auto encoding = tokenizer->encode(text, BosMode::Auto);
      const double seconds = processor_seconds() - start;
      if (!encoding) CATCH_FAIL(describe(encoding.error()));
      CATCH_CHECK(encoding->ids.size() > 0);
      CATCH_CHECK(seconds < 5 * kSlowness);
    }
  }
}

CATCH_TEST_CASE("every kind of model takes time in proportion to a long word") {
  const nlohmann::json kinds = read_fixture("kinds.json");
  for (const nlohmann::json& kind : kinds) {
    const auto tokenizer = require_tokenizer(kind["tokenizer"]);
    for (const char* unit : {"a", " ", "\xE4\xB8\xAD", "e\xCC\x81", "\xCC\xA3\xCC\x81", "\xFF", "\xE2\x96\x81", "##"}) {
      CATCH_INFO(kind["name"] << ", unit \"" << escape_for_terminal(unit) << "\"");
      const std::string text = repeated(unit, 300000 / std::char_traits<char>::length(unit));
      const double start = processor_seconds();
      const auto encoding = tokenizer->encode(text, BosMode::Auto);
      const double seconds = processor_seconds() - start;
      if (!encoding) CATCH_FAIL(describe(encoding.error()));
      CATCH_CHECK(seconds < 3 * kSlowness);
    }
  }
}

CATCH_TEST_CASE("vocabularies of more bytes than a tokenizer's are refused") {
  nlohmann::json tokens = nlohmann::json::object();
  for (int i = 0; i < 33; ++i) tokens[std::string(std::size_t{1} << 20, static_cast<char>('A' + i))] = i;
  const nlohmann::json content = {{"model", {{"type", "WordPiece"}, {"vocab", tokens}}}};
  const auto tokenizer = Tokenizer::from_tokenizer_json(content.dump(), nullptr);
  CATCH_REQUIRE_FALSE(tokenizer.has_value());
  CATCH_CHECK(tokenizer.error().code == ErrorCode::Unsupported);

  nlohmann::json metadata = {{"tokenizer.ggml.model", "llama"}};
  for (int i = 0; i < 1100; ++i) {
    metadata["tokenizer.ggml.tokens"].push_back(std::to_string(i) + std::string(1000, 'x'));
    metadata["tokenizer.ggml.scores"].push_back(-i);
  }
  const auto scored = Tokenizer::from_gguf(metadata);
  CATCH_REQUIRE_FALSE(scored.has_value());
  CATCH_CHECK(scored.error().code == ErrorCode::Unsupported);
}

CATCH_TEST_CASE("an added token longer than the limit is refused") {
  nlohmann::json content = read_fixture("gpt2.json");
  content["added_tokens"].push_back({{"id", 600}, {"content", std::string(1025, 'x')}});
  const auto tokenizer = Tokenizer::from_tokenizer_json(content.dump(), nullptr);
  CATCH_REQUIRE_FALSE(tokenizer.has_value());
  CATCH_CHECK(tokenizer.error().code == ErrorCode::Unsupported);
  CATCH_CHECK(tokenizer.error().tensor == "id 600");
}

}  // namespace
}  // namespace headroom
