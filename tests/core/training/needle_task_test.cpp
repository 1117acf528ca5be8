// The task of needles (assets/recipes/README.md#tasks): sentences and questions as text, read back from drawn batches.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/text/tokenizer.h"
#include "core/training/task.h"
#include "tests/core/training/task_text.h"

namespace headroom::test {
namespace {

constexpr std::size_t kLength = 60;  // of three questions two fit
constexpr std::int32_t kNotAsked = -100;

nlohmann::json needle_settings() {
  return {{"kind", "needle"}, {"text", "text.txt"}, {"length", kLength}, {"needles", 3}, {"digits", 4}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

CATCH_TEST_CASE("needle task: each answer is the number of its city's sentence, and only its digits are asked for") {
  const TempFolder folder;
  folder.write("text.txt", counting_text(20'000));
  const auto task = require_task(needle_settings(), folder.path());
  CATCH_CHECK(task->objective() == Objective::NextToken);
  CATCH_CHECK(task->bos() == 256);
  check_batches_are_pure(*task);
  const auto tokenizer = Tokenizer::from_tokenizer_json(task->tokenizer_json(), nullptr);
  CATCH_REQUIRE(tokenizer.has_value());
  CATCH_CHECK((*tokenizer)->vocab_size() == task->vocab_size());

  constexpr std::size_t kSequences = 400;
  const Batch batch = task->batch(Split::Training, 4, 1, kSequences);
  std::set<std::string> cities;
  std::set<std::pair<std::size_t, std::size_t>> shapes;  // sentences and questions
  for (std::size_t s = 0; s < kSequences; ++s) {
    const std::vector<std::int32_t> tokens(batch.tokens.begin() + static_cast<std::ptrdiff_t>(s * kLength),
                                           batch.tokens.begin() + static_cast<std::ptrdiff_t>((s + 1) * kLength));
    const std::int32_t* const targets = batch.targets.data() + s * kLength;
    CATCH_REQUIRE(tokens.front() == 256);
    std::string text, answer;
    std::size_t answers = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
      if (i > 0) text += (*tokenizer)->token_bytes(tokens[i]);
      const bool asked = targets[i] != kNotAsked;
      CATCH_REQUIRE(asked == task->asks(tokens, static_cast<std::int64_t>(i)));
      if (i + 1 < kLength) CATCH_REQUIRE((!asked || targets[i] == tokens[i + 1]));
      if (!asked) continue;
      answer += (*tokenizer)->token_bytes(targets[i]);
      if (answer.size() < 5) continue;  // a blank and four digits
      ++answers;
      const std::string question = "\nQuestion: What is the special magic number for ";
      const std::size_t at = text.rfind(question) + question.size();
      const std::string city = text.substr(at, text.find('?', at) - at);
      CATCH_INFO(text);
      CATCH_CHECK(count_of(text, "\nThe special magic number for " + city + " is" + answer + ".\n") == 1);
      cities.insert(city);
      answer.clear();
    }
    CATCH_CHECK(answer.empty());
    const std::size_t sentences = count_of(text, "\nThe special magic number for ");
    CATCH_CHECK(answers == count_of(text, "\nQuestion: "));
    CATCH_CHECK((sentences >= 1 && sentences <= 3 && answers >= 1 && answers <= sentences));
    shapes.emplace(sentences, answers);
    const auto encoded = (*tokenizer)->encode(text, BosMode::Always);
    CATCH_REQUIRE(encoded.has_value());
    CATCH_CHECK(encoded->ids == tokens);
  }
  CATCH_CHECK(cities.size() == 24);
  CATCH_CHECK(shapes == std::set<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 2}, {3, 2}});
}

CATCH_TEST_CASE("needle task: every mistake names its field") {
  const TempFolder folder;
  folder.write("text.txt", counting_text(6000));
  const auto refused = [&](const nlohmann::json& changes, const char* field, ErrorCode code) {
    nlohmann::json settings = needle_settings();
    settings.merge_patch(changes);
    CATCH_INFO(settings.dump());
    const auto task = create_task(settings, folder.path());
    CATCH_REQUIRE(!task.has_value());
    CATCH_CHECK(task.error().tensor == field);
    CATCH_CHECK(task.error().code == code);
    CATCH_CHECK(!task.error().expected.empty());
  };
  refused({{"needles", 25}}, "task.needles", ErrorCode::Corrupt);
  refused({{"needles", nullptr}}, "task.needles", ErrorCode::Corrupt);
  refused({{"digits", 0}}, "task.digits", ErrorCode::Corrupt);
  refused({{"length", 47}}, "task.length", ErrorCode::InvalidArgument);
  refused({{"validation_share", 1.0}}, "task.validation_share", ErrorCode::InvalidArgument);
  refused({{"validation_share", 0.005}}, "task.validation_share", ErrorCode::InvalidArgument);
  refused({{"triggers", "a"}}, "task.triggers", ErrorCode::Corrupt);
}

}  // namespace headroom::test
