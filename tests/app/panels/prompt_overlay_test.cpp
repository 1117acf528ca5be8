// The editor of the prompt: what stands beside the text, boundaries of tokens, and the token at the caret.
#include "app/panels/chrome/prompt_overlay.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/number_text.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/app/session/word_tokenizer.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::PanelBench;
using test::show_run;
using test::small_run;
using test::WordTokenizer;
using Lines = std::vector<std::string>;

struct PromptBench : PanelBench {
  explicit PromptBench(Vec2 size = {1440.0f, 900.0f}, float scale = 1.0f)
      : PanelBench(
            [](PanelContext& c) {
              if (c.state.overlay == Overlay::PromptFile) return keep_prompt(c);
              draw_prompt(c, c.ui.input.window);
            },
            size, scale) {
    show_run(state, small_run(false));
    state.models.front().tokenizer = std::make_shared<WordTokenizer>();
    state.overlay = Overlay::Prompt;
  }
  [[nodiscard]] std::string fact(const char* name) const {
    const std::string* found = facts.find(name);
    return found ? *found : std::string();
  }
};

PromptEntry of_text(std::string title, std::string text, std::int64_t first = 0) {
  PromptEntry prompt;
  prompt.title = std::move(title);
  prompt.text = std::move(text);
  prompt.max_tokens = first;
  return prompt;
}

CATCH_TEST_CASE("prompt: what was set before and what is built in is taken by a click, and nothing is set by it") {
  PromptBench bench;
  PromptEntry ids;
  ids.title = "3 ids";
  ids.ids = {5, 6, 7};
  bench.state.recent_prompts = {of_text("kjv.txt", "In the beginning God created", 3), ids};
  bench.state.built_in_prompts = {of_text("GPL-3", "Everyone is permitted to copy")};
  bench.state.prompt = of_text("GPL-3", "Everyone is permitted to copy");
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.shows("28 characters · kjv.txt · first 3"));
  CATCH_CHECK(bench.shows("3 ids"));
  CATCH_CHECK(bench.wrong().empty());
  bench.click(bench.place("In the beginning God created"));
  bench.frame();
  CATCH_CHECK(bench.taken().empty());
  CATCH_CHECK(bench.shows("first 3 of 6 tokens are read"));
  bench.key(Key::Enter, {.ctrl = true});
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "prompt \"In the beginning God created\" 3"});
  bench.click(bench.place("5 6 7"));
  bench.frame();
  bench.click(bench.place("Apply"));
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "ids \"5 6 7\""});
}

CATCH_TEST_CASE("prompt: BOS as trained, added or left out, counted and applied") {
  PromptBench bench;
  bench.state.prompt = of_text("", "one two two");
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.fact("prompt.tokens") == "4");
  CATCH_CHECK(bench.shows("as trained"));
  bench.click(bench.place("never"));
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.fact("prompt.tokens") == "3");
  CATCH_CHECK(bench.fact("prompt.special") == "0");
  CATCH_CHECK(bench.shows("none stands in front"));
  bench.click(bench.place("Apply"));
  CATCH_CHECK(bench.taken() == Lines{"overlay.close", "prompt \"one two two\"", "prompt.bos never"});
  bench.state.prompt.bos = BosMode::Never;
  bench.click(bench.place("as trained"));
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.fact("prompt.tokens") == "4");
}

CATCH_TEST_CASE("prompt: the token at the caret, counted from the BOS, with its bytes") {
  PromptBench bench;
  bench.state.prompt = of_text("", "one two three");
  bench.frame();
  bench.frame();
  bench.key(Key::Home, {.ctrl = true});
  CATCH_CHECK(bench.fact("prompt.caret") == "token 1 “one” · bytes 0–3");
  for (int i = 0; i < 3; ++i) bench.key(Key::Right);
  CATCH_CHECK(bench.fact("prompt.caret") == "token 2 “␣two” · bytes 3–7");
  bench.key(Key::End, {.ctrl = true});
  CATCH_CHECK(bench.fact("prompt.caret") == "token 3 “␣three” · bytes 7–13");
}

CATCH_TEST_CASE("prompt: lines have their numbers, wrapped ones none") {
  PromptBench bench;
  std::string text = "first\n";
  for (int i = 0; i < 60; ++i) text += "wrapped ";
  text += "\nthird";
  bench.state.prompt = of_text("", text);
  bench.frame();
  bench.frame();
  // The baseline of what is drawn as these letters alone; −1: of nothing.
  const auto line_of = [&](std::string_view letters) {
    for (const RecordedText* drawn : bench.painter->find(letters))
      if (drawn->text == letters) return drawn->baseline.y;
    return -1.0f;
  };
  CATCH_CHECK(line_of("1") == line_of("first"));
  CATCH_CHECK(line_of("2") == line_of("1") + 18.0f);
  CATCH_CHECK(line_of("3") == line_of("third"));
  CATCH_CHECK(line_of("3") - line_of("2") >= 36.0f);
  CATCH_CHECK(bench.wrong().empty());
}

CATCH_TEST_CASE("prompt: what all of a long text would take is said beside the button that reads it") {
  PromptBench bench;
  std::string text = "one";
  for (int i = 0; i < 999; ++i) text += " two";
  bench.state.prompt = of_text("", text, 100);
  bench.frame();
  bench.frame();
  CATCH_CHECK(bench.fact("prompt.all").empty());  // a run of four tokens says nothing of it
  CATCH_CHECK(bench.shows("first 100 of 1"));
  RunEntry& run = bench.state.runs.front();
  auto longer = std::make_shared<RunSnapshot>(*run.data);
  longer->length = 500;
  run.data = longer;
  run.status = RunStatus::Done, run.seconds = 8.0, run.base = -1, run.model = bench.state.models.front().id;
  run.device = bench.state.settings.device, run.dtype = bench.state.settings.dtype;
  bench.frame();
  const auto hidden = static_cast<double>(bench.state.models.front().model->spec.hidden_size);
  const double seconds = 8.0 * 1001.0 * (12.0 * hidden + 1001.0) / (500.0 * (12.0 * hidden + 500.0));
  CATCH_CHECK((seconds > 16.0 && seconds < 33.0));
  CATCH_CHECK(bench.fact("prompt.all") == "all: about " + estimated_seconds_text(seconds));
  CATCH_CHECK(bench.shows(bench.fact("prompt.all")));
  run.dtype = "another";
  bench.frame();
  CATCH_CHECK(bench.fact("prompt.all").empty());
}

CATCH_TEST_CASE("prompt: a file is chosen in the program's own panel, and keys stand beside what they press") {
  PromptBench bench;
  bench.state.prompt = of_text("", "one two");
  bench.frame();
  bench.frame();
  CATCH_CHECK((bench.shows("Ctrl+Enter") && bench.shows("Ctrl+R")));
  CATCH_CHECK(bench.shows("none can be"));  // this tokenizer has no unknown token
  bench.click(bench.place("Browse…"));
  CATCH_CHECK(bench.taken() == Lines{"prompt.browse"});
}

CATCH_TEST_CASE("prompt: what was typed is there when no file was chosen after all, and gives way to one that was") {
  PromptBench bench;
  bench.state.prompt = of_text("", "one two");
  bench.frame();
  bench.frame();
  const auto browse = [&](int frames) {
    bench.state.overlay = Overlay::PromptFile;
    for (int i = 0; i < frames; ++i) bench.frame();
    bench.state.overlay = Overlay::Prompt;
    bench.frame();
    bench.frame();
  };
  bench.input.text = "typed";
  bench.frame();
  bench.frame();
  CATCH_REQUIRE(bench.painter->shows("typed"));
  browse(5);
  CATCH_CHECK(bench.painter->shows("typed"));
  bench.state.overlay = Overlay::PromptFile;
  bench.frame();
  bench.state.prompt = of_text("chosen.txt", "of a file");
  ++bench.state.prompt_serial;
  browse(2);
  CATCH_CHECK_FALSE(bench.painter->shows("typed"));
  CATCH_CHECK(bench.painter->shows("of a file"));
  // From the palette, with no editor before it.
  PromptBench alone;
  alone.state.prompt = of_text("", "one two");
  alone.state.overlay = Overlay::PromptFile;
  alone.frame();
  alone.frame();
  alone.state.overlay = Overlay::Prompt;
  alone.frame();
  alone.frame();
  CATCH_CHECK(alone.painter->shows("one two"));
}

CATCH_TEST_CASE("prompt: nothing is cut or touches at any size") {
  for (const Vec2 size : {Vec2{640.0f, 400.0f}, Vec2{800.0f, 500.0f}, Vec2{1024.0f, 640.0f}, Vec2{1440.0f, 900.0f},
                          Vec2{2400.0f, 1400.0f}})
    for (const float scale : {1.0f, 1.5f, 3.0f}) {
      if (size.x / scale < 600.0f || size.y / scale < 360.0f) continue;
      CATCH_INFO(size.x << " × " << size.y << " at " << scale);
      PromptBench bench(size, scale);
      for (int i = 0; i < 12; ++i)
        bench.state.recent_prompts.push_back(of_text("a file of a long name that nobody shortened.txt",
                                                     std::to_string(i) + " " + std::string(300, 'W'), 512));
      bench.state.built_in_prompts = {of_text("GPL-3", "Everyone is permitted"), of_text("demo", "a short text")};
      bench.state.prompt = of_text("", "one two three four five " + std::string(200, 'x'), 4);
      bench.frame();
      bench.frame();
      CATCH_CHECK(bench.wrong().empty());
    }
}

}  // namespace
}  // namespace headroom
