// What the three tasks ask of a model, from their definitions (assets/recipes/README.md#tasks), on batches that are
// drawn.
#include "core/training/task.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/core/training/task_text.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr std::size_t kFlags = 3;
constexpr double kSigmas = 5.0;  // of the law of large numbers: once in 1.7 million draws, and the draws are fixed

nlohmann::json trigger_settings(bool bos) {
  return {{"kind", "trigger"}, {"bos", bos}, {"contents", 30}, {"features", 5}, {"length", 12}};
}

nlohmann::json backcopy_settings() {
  return {{"kind", "bigram_backcopy"}, {"text", "chain.txt"}, {"symbols", 5}, {"triggers", "bd"}, {"length", 40}};
}

}  // namespace

CATCH_TEST_CASE("trigger task: the embedding is flags and features, and every token has the same norm") {
  const auto task = require_task(trigger_settings(true));
  const std::vector<float> table = task->embedding();
  const std::size_t width = kFlags + 5;
  CATCH_REQUIRE(task->embedding_width() == static_cast<std::int64_t>(width));
  CATCH_REQUIRE(task->vocab_size() == 61);
  CATCH_REQUIRE(table.size() == 61 * width);
  std::set<float> different;
  for (std::size_t token = 0; token < 61; ++token) {
    CATCH_INFO("token " << token);
    const float* row = table.data() + token * width;
    double squares = 0.0;
    for (std::size_t c = 0; c < width; ++c) squares += static_cast<double>(row[c]) * row[c];
    // One flag, and five features whose squares have mean 1/3.
    CATCH_CHECK(squares == near(1.0 + 5.0 / 3.0, 1e-6));
    if (token == 0) {
      CATCH_CHECK(row[0] > 0.0f);
      CATCH_CHECK(std::all_of(row + 1, row + width, [](float value) { return value == 0.0f; }));
      continue;
    }
    CATCH_CHECK(row[0] == 0.0f);
    CATCH_CHECK(row[1] == (token > 30 ? 1.0f : 0.0f));
    CATCH_CHECK(row[2] == (token > 30 ? 0.0f : 1.0f));
    const float* plain = table.data() + (token > 30 ? token - 30 : token) * width;
    CATCH_CHECK(std::equal(row + kFlags, row + width, plain + kFlags));
    different.insert(row[kFlags]);
  }
  CATCH_CHECK(different.size() == 30);
}

CATCH_TEST_CASE("trigger task: one trigger, where the mean of the features so far is asked, and elsewhere nothing") {
  for (const bool bos : {true, false}) {
    CATCH_INFO((bos ? "with BOS" : "without BOS"));
    const auto task = require_task(trigger_settings(bos));
    CATCH_CHECK(task->objective() == Objective::Residual);
    CATCH_CHECK(task->bos() == (bos ? 0 : -1));
    check_batches_are_pure(*task);
    const std::vector<float> table = task->embedding();
    const std::size_t width = kFlags + 5, length = 12, first = bos ? 1 : 0;
    constexpr std::size_t kSequences = 4000;
    const Batch batch = task->batch(Split::Training, 3, 8, kSequences);
    CATCH_REQUIRE(batch.residual.size() == kSequences * length * width);
    CATCH_CHECK(batch.targets.empty());
    std::vector<double> at(length, 0.0), contents(30, 0.0);
    double largest_error = 0.0;
    for (std::size_t s = 0; s < kSequences; ++s) {
      const std::int32_t* tokens = batch.tokens.data() + s * length;
      const auto is_trigger = [](std::int32_t token) { return token > 30; };
      CATCH_REQUIRE(std::count_if(tokens, tokens + length, is_trigger) == 1);
      const auto trigger = static_cast<std::size_t>(std::find_if(tokens, tokens + length, is_trigger) - tokens);
      at[trigger] += 1.0;
      for (std::size_t i = 0; i < length; ++i) {
        CATCH_REQUIRE((tokens[i] == 0) == (i < first));
        if (i >= first) contents[static_cast<std::size_t>((tokens[i] - 1) % 30)] += 1.0;
        CATCH_REQUIRE(task->asks({tokens, length}, static_cast<std::int64_t>(i)) == (i == trigger));
        for (std::size_t c = 0; c < width; ++c) {
          double expected = 0.0;
          for (std::size_t j = first; i == trigger && c >= kFlags && j <= trigger; ++j)
            expected += static_cast<double>(table[static_cast<std::size_t>(tokens[j]) * width + c]) /
                        static_cast<double>(trigger - first + 1);
          const double error = std::abs(batch.residual[(s * length + i) * width + c] - expected);
          largest_error = std::max(largest_error, error);
        }
      }
    }
    // Sums of at most twelve float terms of at most 1.
    CATCH_CHECK(largest_error < 1e-6);
    const auto even = [](const std::vector<double>& counts, std::size_t begin) {
      double all = 0.0, sum = 0.0;
      for (std::size_t i = begin; i < counts.size(); ++i) all += counts[i];
      const double bins = static_cast<double>(counts.size() - begin), expected = all / bins;
      for (std::size_t i = begin; i < counts.size(); ++i) sum += std::pow(counts[i] - expected, 2) / expected;
      return sum < bins - 1.0 + kSigmas * std::sqrt(2.0 * (bins - 1.0));
    };
    CATCH_CHECK(even(at, first));
    CATCH_CHECK(even(contents, 0));
  }
}

CATCH_TEST_CASE(
    "backcopy task: after a trigger the symbol before it, else a draw from the text's pairs of neighbours") {
  const TempFolder folder;
  const std::string text = chain_text(20'000);
  folder.write("chain.txt", text);
  const auto task = require_task(backcopy_settings(), folder.path());
  CATCH_CHECK(task->objective() == Objective::NextToken);
  CATCH_CHECK(task->vocab_size() == 6);
  CATCH_CHECK(task->bos() == 0);
  check_batches_are_pure(*task);

  // Symbols in the order of their frequency; the question mark is too rare to be one.
  std::map<char, double> counts;
  std::map<std::string, double> pairs;
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  for (std::size_t i = 0; i < lower.size(); ++i) {
    counts[lower[i]] += 1.0;
    if (i > 0) pairs[lower.substr(i - 1, 2)] += 1.0;
  }
  std::string symbols = "abcde";
  std::sort(symbols.begin(), symbols.end(), [&](char a, char b) { return counts[a] > counts[b]; });
  CATCH_REQUIRE(counts['?'] < counts[symbols.back()]);
  const auto is_trigger = [](char c) { return c == 'b' || c == 'd'; };

  constexpr std::size_t kSequences = 3000, kLength = 40;
  const Batch batch = task->batch(Split::Training, 5, 2, kSequences);
  std::map<std::string, double> drawn, first;
  std::size_t wrong_shifts = 0, wrong_copies = 0, wrong_questions = 0;
  for (std::size_t s = 0; s < kSequences; ++s) {
    std::string chain;
    for (std::size_t i = 0; i < kLength; ++i) {
      const std::int32_t target = batch.targets[s * kLength + i], token = batch.tokens[s * kLength + i];
      CATCH_REQUIRE((target >= 1 && target <= 5));
      wrong_shifts += token != (i == 0 ? 0 : batch.targets[s * kLength + i - 1]) ? 1 : 0;
      wrong_questions += task->asks({batch.tokens.data() + s * kLength, kLength}, static_cast<std::int64_t>(i)) !=
                                 (token > 0 && is_trigger(symbols[static_cast<std::size_t>(token - 1)]))
                             ? 1
                             : 0;
      chain += symbols[static_cast<std::size_t>(target - 1)];
    }
    first[chain.substr(0, 1)] += 1.0;
    for (std::size_t i = 1; i < kLength; ++i) {
      if (!is_trigger(chain[i - 1]))
        drawn[chain.substr(i - 1, 2)] += 1.0;
      else
        wrong_copies += i < 2 || chain[i] != chain[i - 2] ? 1 : 0;
    }
  }
  CATCH_CHECK(wrong_shifts == 0);
  CATCH_CHECK(wrong_copies == 0);
  CATCH_CHECK(wrong_questions == 0);

  // χ² of the draws after each symbol, and of the first symbol.
  const auto check = [](const std::map<std::string, double>& found, const std::map<std::string, double>& expected) {
    double all = 0.0, of_all = 0.0, sum = 0.0, freedom = -1.0;
    for (const auto& [key, weight] : expected) {
      of_all += weight;
      if (found.contains(key)) all += found.at(key);
    }
    for (const auto& [key, count] : found) {
      CATCH_INFO(key << " is drawn " << count << " times");
      CATCH_REQUIRE(expected.contains(key));
    }
    for (const auto& [key, weight] : expected) {
      const double wanted = all * weight / of_all;
      sum += std::pow((found.contains(key) ? found.at(key) : 0.0) - wanted, 2) / wanted;
      freedom += 1.0;
    }
    CATCH_REQUIRE(freedom >= 1.0);
    CATCH_CHECK(sum < freedom + kSigmas * std::sqrt(2.0 * freedom));
  };
  std::map<std::string, double> begin;
  for (const char here : symbols) {
    if (is_trigger(here)) continue;
    begin[std::string(1, here)] = counts[here];
    std::map<std::string, double> expected, found;
    for (const auto& [pair, count] : pairs)
      if (pair[0] == here && pair[1] != '?') expected[pair] = count;
    for (const auto& [pair, count] : drawn)
      if (pair[0] == here) found[pair] = count;
    check(found, expected);
  }
  check(first, begin);
}

CATCH_TEST_CASE(
    "bytes task: windows of the text behind BOS, those of validation from its end, which is never trained on") {
  const TempFolder folder;
  const std::string text = counting_text(6000);
  folder.write("text.txt", text);
  constexpr std::size_t kLength = 20;
  const auto task = require_task(
      {{"kind", "bytes"}, {"text", "text.txt"}, {"length", kLength}, {"validation_share", 0.25}}, folder.path());
  CATCH_CHECK(task->objective() == Objective::NextToken);
  CATCH_CHECK(task->vocab_size() == 257);
  CATCH_CHECK(task->bos() == 256);
  check_batches_are_pure(*task);
  for (const Split split : {Split::Training, Split::Validation}) {
    const bool validation = split == Split::Validation;
    const std::size_t begin = validation ? 4500 : 0, end = validation ? 6000 : 4500;
    constexpr std::size_t kSequences = 30'000;
    const Batch batch = task->batch(split, 1, 0, kSequences);
    std::set<std::size_t> places;
    for (std::size_t s = 0; s < kSequences; ++s) {
      const std::int32_t* targets = batch.targets.data() + s * kLength;
      const std::string window(targets, targets + kLength);
      CATCH_REQUIRE(batch.tokens[s * kLength] == 256);
      CATCH_REQUIRE(std::equal(targets, targets + kLength - 1, batch.tokens.data() + s * kLength + 1));
      // Windows without a whole number lie at several places; one of them will do.
      const std::size_t at = text.find(window, begin);
      CATCH_REQUIRE(at != std::string::npos);
      CATCH_REQUIRE(at + kLength <= end);
      places.insert(at);
    }
    // Every place is drawn, both ends too: each is missed with a probability below e^−6, the ends' are asked for.
    CATCH_CHECK(places.contains(begin));
    CATCH_CHECK(places.contains(end - kLength));
    CATCH_CHECK(places.size() > (end - begin - kLength + 1) * 99 / 100);
  }
}

CATCH_TEST_CASE("evaluation sequences are none of the first validation batches") {
  const auto task = require_task(trigger_settings(true));
  const auto sequences = evaluation_sequences(*task, 10);
  CATCH_REQUIRE(sequences.size() == 10);
  std::set<std::vector<std::int32_t>> validated;
  for (std::uint64_t index = 0; index < 20; ++index) {
    const Batch batch = task->batch(Split::Validation, 0, index, 16);
    for (auto at = batch.tokens.begin(); at != batch.tokens.end(); at += 12) validated.emplace(at, at + 12);
  }
  for (const auto& sequence : sequences) {
    CATCH_CHECK(sequence.size() == 12);
    CATCH_CHECK(!validated.contains(sequence));
  }
}

CATCH_TEST_CASE("task settings: every mistake names its field") {
  const TempFolder folder;
  folder.write("chain.txt", chain_text(5000));
  folder.write("short.txt", std::string(4095, 'a'));
  struct Mistake {
    nlohmann::json settings;
    const char* field;
    ErrorCode code = ErrorCode::Corrupt;
  };
  const auto with = [](nlohmann::json settings, const nlohmann::json& changes) {
    settings.merge_patch(changes);
    return settings;
  };
  const nlohmann::json trigger = trigger_settings(true), copy = backcopy_settings();
  const nlohmann::json bytes = {{"kind", "bytes"}, {"text", "chain.txt"}, {"length", 20}};
  const Mistake mistakes[] = {
      {nullptr, "task"},
      {"trigger", "task"},
      {nlohmann::json::object(), "task.kind"},
      {{{"kind", 3}}, "task.kind"},
      {{{"kind", "copy"}}, "task.kind", ErrorCode::Unsupported},
      {with(trigger, {{"lenght", 4}}), "task.lenght"},
      {with(trigger, {{"length", nullptr}}), "task.length"},
      {with(trigger, {{"length", "12"}}), "task.length"},
      {with(trigger, {{"length", 12.5}}), "task.length"},
      {with(trigger, {{"length", 1}}), "task.length"},
      {with(trigger, {{"contents", 0}}), "task.contents"},
      {with(trigger, {{"features", nullptr}}), "task.features"},
      {with(trigger, {{"bos", 1}}), "task.bos"},
      {with(copy, {{"text", nullptr}}), "task.text"},
      {with(copy, {{"text", "short.txt"}}), "task.text", ErrorCode::InvalidArgument},
      {with(copy, {{"length", 2}}), "task.length"},
      {with(copy, {{"symbols", 256}}), "task.symbols"},
      {with(copy, {{"triggers", nullptr}}), "task.triggers"},
      {with(copy, {{"triggers", ""}}), "task.triggers", ErrorCode::InvalidArgument},
      {with(copy, {{"triggers", "bz"}}), "task.triggers", ErrorCode::InvalidArgument},
      {with(copy, {{"triggers", "bb"}}), "task.triggers", ErrorCode::InvalidArgument},
      {with(copy, {{"triggers", "abcde"}}), "task.triggers", ErrorCode::InvalidArgument},
      {with(copy, {{"validation_share", 0.5}}), "task.validation_share"},
      {with(bytes, {{"length", 1}}), "task.length"},
      {with(bytes, {{"length", 4000}}), "task.validation_share", ErrorCode::InvalidArgument},
      {with(bytes, {{"validation_share", 0.0}}), "task.validation_share", ErrorCode::InvalidArgument},
      {with(bytes, {{"validation_share", 1.0}}), "task.validation_share", ErrorCode::InvalidArgument},
      {with(bytes, {{"validation_share", "a tenth"}}), "task.validation_share"},
  };
  for (const Mistake& mistake : mistakes) {
    CATCH_INFO(mistake.settings.dump());
    const auto task = create_task(mistake.settings, folder.path());
    CATCH_REQUIRE(!task.has_value());
    CATCH_CHECK(task.error().tensor == mistake.field);
    CATCH_CHECK(task.error().code == mistake.code);
    CATCH_CHECK(!task.error().expected.empty());
  }
  const auto missing = create_task(with(bytes, {{"text", "none.txt"}}), folder.path());
  CATCH_REQUIRE(!missing.has_value());
  CATCH_CHECK(missing.error().code == ErrorCode::NotFound);
  CATCH_CHECK(missing.error().file == (folder.path() / "none.txt").string());
}

}  // namespace headroom::test
