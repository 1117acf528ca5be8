// Prompts that come back: in the list of those that were set before, in settings and in sessions.
#include "app/session/prompt_entry.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/session/settings_file.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

PromptEntry of_text(std::string text) {
  PromptEntry prompt;
  prompt.text = std::move(text);
  return prompt;
}

std::vector<std::string> texts(const std::vector<PromptEntry>& prompts) {
  std::vector<std::string> all;
  for (const PromptEntry& prompt : prompts) all.push_back(prompt.text);
  return all;
}

}  // namespace

CATCH_TEST_CASE("prompts: the latest first, each once, twelve at most, none that is a file's", "[session][prompt]") {
  std::vector<PromptEntry> recent;
  for (int i = 0; i < 20; ++i) remember_prompt(recent, of_text(std::to_string(i)));
  CATCH_CHECK(recent.size() == kRecentPrompts);
  CATCH_CHECK(recent.front().text == "19");
  remember_prompt(recent, of_text("12"));
  CATCH_CHECK(recent.size() == kRecentPrompts);
  CATCH_CHECK(texts({recent.begin(), recent.begin() + 3}) == std::vector<std::string>{"12", "19", "18"});
  remember_prompt(recent, of_text(std::string(kLongestRecentPrompt + 1, 'a')));
  remember_prompt(recent, {});
  CATCH_CHECK(recent.front().text == "12");
}

CATCH_TEST_CASE("prompts: a line and what is known of it", "[session][prompt]") {
  PromptEntry text = of_text("Grüße\n an  alle");
  CATCH_CHECK(prompt_line(text) == "Grüße an alle");
  CATCH_CHECK(prompt_detail(text) == "15 characters");
  text.title = "letters.txt";
  text.max_tokens = 1234;
  CATCH_CHECK(prompt_detail(text) == "15 characters · letters.txt · first 1 234");
  PromptEntry ids;
  ids.ids = {5};
  CATCH_CHECK(prompt_detail(ids) == "1 id");
  for (std::int32_t id = 6; id < 20; ++id) ids.ids.push_back(id);
  CATCH_CHECK(prompt_line(ids) == "5 6 7 8 9 10 11 12 13 14 15 16 …");
}

CATCH_TEST_CASE("prompts: JSON and back, and what is damaged stays at its default", "[session][prompt]") {
  PromptEntry prompt;
  prompt.title = "a \"title\"";
  prompt.text = "text\n";
  prompt.max_tokens = 12;
  prompt.bos = BosMode::Never;
  prompt.target = "Ziel";
  prompt.target_ids = {1, 2};
  const PromptEntry back = prompt_of_json(prompt_json(prompt));
  CATCH_CHECK(back.title == prompt.title);
  CATCH_CHECK(back.text == prompt.text);
  CATCH_CHECK(back.max_tokens == 12);
  CATCH_CHECK(back.bos == BosMode::Never);
  CATCH_CHECK(back.target == "Ziel");
  CATCH_CHECK(back.target_ids == prompt.target_ids);
  const PromptEntry odd = prompt_of_json(
      nlohmann::json::parse(R"({"text": 7, "bos": "banana", "max_tokens": -3, "ids": [1, -1, 99999999999, "x", 2]})"));
  CATCH_CHECK(odd.text.empty());
  CATCH_CHECK(odd.bos == BosMode::Auto);
  CATCH_CHECK(odd.max_tokens == 0);
  CATCH_CHECK(odd.ids == std::vector<std::int32_t>{1, 2});
}

CATCH_TEST_CASE("prompts: what a person set comes back after a start, by its number, with its BOS",
                "[session][prompt]") {
  const TempFolder folder;
  {
    SessionBench bench(folder.path());
    bench.demo("bytes/softmax");
    bench.run("prompt \"one text\" 5");
    bench.run("prompt.bos never");
    bench.run("ids 5,6,7");
    bench.run("prompt.built-in gpl-3 64");  // is there anyway
    bench.run("prompt.default");
    CATCH_CHECK(bench.state().recent_prompts.size() == 2);
    bench->finish_files();
  }
  SessionBench bench(folder.path());
  CATCH_CHECK(bench.refusal("prompt.recent 1").find("open") != std::string::npos);
  bench.demo("bytes/softmax");
  CATCH_REQUIRE(bench.state().recent_prompts.size() == 2);
  CATCH_CHECK(bench.refusal("prompt.recent 3").find("1 to 2") != std::string::npos);
  CATCH_CHECK(bench.refusal("prompt.recent 0").find("1 to 2") != std::string::npos);
  bench.run("prompt.recent 2");
  CATCH_CHECK(bench.state().prompt.text == "one text");
  CATCH_CHECK(bench.state().prompt.max_tokens == 5);
  CATCH_CHECK(bench.state().prompt.bos == BosMode::Never);
  CATCH_CHECK(texts(bench.state().recent_prompts) == std::vector<std::string>{"one text", ""});
  bench.run("ids 9,8");
  CATCH_CHECK(bench.refusal("prompt.bos add").find("ids are read as they are") != std::string::npos);
  bench.run("clear-recent");
  CATCH_CHECK(bench.state().recent_prompts.empty());
}

}  // namespace headroom::test
