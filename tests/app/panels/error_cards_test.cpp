#include <cstddef>
#include <string>
#include <vector>

#include "app/panels/chrome/error_cards.h"
#include "app/panels/panel.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::PanelBench;

constexpr Rect kMap{301, 69, 1099, 772};

PanelBench cards(Rect frame = kMap) {
  return PanelBench([frame](PanelContext& c) { draw_error_cards(c, frame); });
}

ErrorCard damaged(int id) {
  ErrorCard card;
  card.id = id;
  card.title = "Cannot open diff-v2-1b-step-40000";
  card.error = Error(ErrorCode::Corrupt, "the file ends before its last tensor does");
  card.error.in_file("/train/diff_v2/model-00002-of-00003.safetensors")
      .at_tensor("model.layers.17.self_attn.o_proj.weight");
  card.error.at_offset(1610612736).wanted("1 644 167 168 bytes", "1 612 709 888").advise("copy the file again");
  card.retry = "open /train/diff_v2";
  card.stays_open = "SmolLM2-135M stays open; nothing was lost.";
  return card;
}

CATCH_TEST_CASE("error card: what, where, why, what to do, and what stays open") {
  PanelBench bench = cards();
  bench.state.errors = {damaged(7)};
  bench.frame();
  for (const char* text : {"Cannot open diff-v2-1b-step-40000", "Corrupt", "What", "The file ends before", "Where",
                           "o_proj.weight, byte 1", "Why", "expected 1 644 167 168 bytes; found 1 612 709 888", "Do",
                           "Copy the file again", "stays open"}) {
    CATCH_INFO(text);
    CATCH_CHECK(bench.shows(text));
  }
  CATCH_CHECK(bench.wrong() == "");
  CATCH_REQUIRE(bench.painter->panels().size() == 1);
  const Rect box = bench.painter->panels()[0].frame;
  CATCH_CHECK(box.width() == 560.0f);
  CATCH_CHECK(box.x1 == kMap.x1 - 24.0f);
  CATCH_CHECK(box.y1 == kMap.y1 - 23.0f);
}

CATCH_TEST_CASE("error card: its buttons run commands of this card") {
  PanelBench bench = cards();
  bench.state.errors = {damaged(7)};
  bench.frame();
  bench.click(bench.place("Copy details"));
  bench.click(bench.place("Close"));
  bench.click(bench.place("Try again"));
  CATCH_CHECK(bench.taken() ==
              std::vector<std::string>{"error.copy 7", "error.close 7", "open /train/diff_v2", "error.close 7"});
  bench.state.errors[0].retry.clear();
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("Try again"));
}

CATCH_TEST_CASE(
    "error card: its file is shown in its folder where there is a file manager, and else the button says why not") {
  PanelBench bench = cards();
  bench.state.errors = {damaged(7)};
  bench.frame();
  CATCH_CHECK(bench.painter->find("Show in folder").front()->style.color == bench.theme().off);
  bench.click(bench.place("Show in folder"));
  CATCH_CHECK(bench.taken().empty());
  bench.state.no_file_manager.clear();
  for (const bool dark : {true, false}) {
    bench.state.settings.dark = dark;
    bench.frame();
    bench.click(bench.place("Show in folder"));
    CATCH_CHECK(bench.taken() == std::vector<std::string>{"file.show /train/diff_v2/model-00002-of-00003.safetensors"});
    for (const char* other : {"Try again", "Copy details", "Close"}) CATCH_CHECK(bench.shows(other));
    CATCH_CHECK(bench.wrong() == "");
  }
  bench.state.errors[0].error.file.clear();
  bench.frame();
  CATCH_CHECK_FALSE(bench.shows("Show in folder"));
}

CATCH_TEST_CASE("error cards: stacked from below, the latest lowest, and what has no room is counted") {
  PanelBench bench = cards();
  for (int i = 0; i < 5; ++i) {
    ErrorCard card = damaged(i);
    card.title = "error number " + std::to_string(i);
    bench.state.errors.push_back(card);
  }
  bench.frame();
  CATCH_CHECK(bench.place("error number 4").y > bench.place("error number 3").y);
  CATCH_CHECK_FALSE(bench.shows("error number 0"));
  CATCH_CHECK(bench.shows("more error"));
  CATCH_CHECK(bench.wrong() == "");
  for (const RecordedPanel& panel : bench.painter->panels()) CATCH_CHECK(panel.frame.y0 >= kMap.y0);
}

CATCH_TEST_CASE("error cards: where the window is lower than a card, a line counts them") {
  PanelBench bench = cards({0, 0, 600, 60});
  bench.state.errors = {damaged(1), damaged(2)};
  bench.frame();
  CATCH_CHECK(bench.shows("2 errors"));
  CATCH_CHECK_FALSE(bench.shows("Cannot open"));
  CATCH_CHECK(bench.painter->misuses().empty());
}

CATCH_TEST_CASE("error card: a long sentence has as many lines as there is room for, no more") {
  std::size_t last = 100;
  for (const float height : {700.0f, 340.0f, 300.0f}) {
    PanelBench bench = cards({301, 69, 1099, 69 + height});
    ErrorCard card = damaged(1);
    card.error.message = "word";
    for (int i = 0; i < 80; ++i) card.error.message += " word" + std::to_string(i);
    bench.state.errors = {card};
    bench.frame();
    const std::size_t lines = bench.painter->find("word").size();
    CATCH_CHECK(lines < last);
    CATCH_CHECK(lines >= 2);
    CATCH_CHECK(bench.wrong() == "");
    last = lines;
  }
}

CATCH_TEST_CASE("error card: hostile texts wrap inside, in small maps too") {
  for (const Rect frame : {kMap, Rect{100, 60, 400, 300}, Rect{28, 60, 330, 220}}) {
    for (const std::string& name : test::hostile_names()) {
      PanelBench bench = cards(frame);
      ErrorCard card = damaged(1);
      card.title = name;
      card.error.message = name + " " + name;
      card.error.file = "/" + name;
      card.error.hint = name;
      card.stays_open = name;
      bench.state.errors = {card, card};
      bench.frame();
      CATCH_INFO(name << " in " << frame.width() << " x " << frame.height());
      CATCH_CHECK(bench.wrong() == "");
      for (const RecordedPanel& panel : bench.painter->panels()) {
        CATCH_CHECK(panel.frame.x0 >= frame.x0);
        CATCH_CHECK(panel.frame.y0 >= frame.y0);
        CATCH_CHECK(panel.frame.y1 <= frame.y1);
      }
    }
  }
}

}  // namespace
}  // namespace headroom
