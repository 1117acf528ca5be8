// The what-if panel as it is drawn: texts within it at many sizes and in every state, the changes it offers, numbers
// before and after, and what its controls ask for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/compare/compare_geometry.h"
#include "app/panels/compare/compare_parts.h"
#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/compare_cache.h"
#include "app/panels/what_if/what_if_subject.h"
#include "core/base/number_text.h"
#include "core/model/what_if_title.h"
#include "tests/app/panels/compare_bench.h"

namespace headroom::test {
namespace {

struct Size {
  float width, height, scale;
};
constexpr Size kSizes[] = {{800, 500, 1.0f},   {1024, 640, 1.0f},  {1024, 640, 0.75f},
                           {1440, 900, 1.0f},  {1440, 900, 1.5f},  {1440, 900, 2.0f},
                           {2560, 1440, 1.0f}, {2560, 1440, 2.0f}, {2560, 1440, 0.75f}};

bool holds_line(const std::vector<std::string>& lines, const std::string& line) {
  return std::ranges::find(lines, line) != lines.end();
}

// Whether a curve goes through the letters of a text, where both are seen.
bool under_a_curve(const RecordingPainter& painter, const RecordedText& text) {
  const Rect letters = text.box.bounds().inset(1.5f);
  for (const RecordedShape& shape : painter.shapes()) {
    if (shape.kind != RecordedShape::Kind::Polyline || !shape.bounds.overlaps(letters)) continue;
    for (std::size_t i = 0; i + 1 < shape.points.size(); ++i)
      for (int k = 0; k <= 200; ++k)
        if (letters.contains(shape.points[i] +
                             (shape.points[i + 1] - shape.points[i]) * (0.005f * static_cast<float>(k))))
          return true;
  }
  return false;
}

// What the panel is about, seen as a frame sees it.
void with_context(CompareBench& bench, const std::function<void(PanelContext&)>& look) {
  const CompareBench::Lookup lookup(bench.session);
  RecordingPainter painter(bench.measure, {0, 0, 1440, 900}, 1.0f);
  Ui ui(painter, dark_theme(), bench.input, *bench.ui_memory, lookup, bench.clipboard);
  PanelContext context{ui,          bench.session.state(), *bench.tiles, bench.session.commands(),
                       bench.hover, bench.facts,           nullptr,      bench.memory.get()};
  look(context);
  (void)ui.finish();
  (void)ui.take_commands();
}

}  // namespace

CATCH_TEST_CASE("what-if: the mass of key 0 has gone only where key 0 lost most") {
  const std::vector<KeyChange> lost = {{0, 0.9, 0.1}, {7, 0.1, 0.7}, {9, 0.2, 0.1}};
  const std::vector<KeyChange> gained = {{0, 0.1, 0.2}, {7, 0.7, 0.1}};
  const std::vector<KeyChange> other = {{0, 0.3, 0.25}, {7, 0.7, 0.1}};
  CATCH_CHECK(received_title(lost, false) == "Where the mass of key 0 went");
  CATCH_CHECK(received_title(lost, true).starts_with("Where the mass of key 0 went: attention received"));
  for (const auto& keys : {gained, other, std::vector<KeyChange>{}, {{0, 0.5, 0.5}}})
    CATCH_CHECK(received_title(keys, true) == "Attention received by the keys that change most");
}

CATCH_TEST_CASE("what-if panel: no text leaves its panel or lies on another, at any size, scale, theme and state",
                "[what-if]") {
  int names = 0;   // of the lower bound in the plot of ρ
  int unmade = 0;  // frames that say so of a map
  for (const int state : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
    PairOptions options;
    options.hostile = state % 2 == 0;
    options.maps_b = state != 6;
    options.series = state != 7;
    if (state == 5) options.kind = "diff_v2";
    CompareBench bench(options);
    State& s = bench.session.edit();
    bench.quick("temperature=1.5", state == 2   ? RunStatus::Running
                                   : state == 3 ? RunStatus::Failed
                                   : state == 4 ? RunStatus::Cancelled
                                                : RunStatus::Done);
    if (state == 1) s.view.what_if.changes.clear(), s.view.other_run = -1;
    if (state == 8) s.runs[0].model = -1;
    if (state == 5)
      s.view.what_if.changes = {"temperature=1.5", "lambda=0.25", "hide-key=0,5,9,13,17,21,25,29,33,37,41,45",
                                "first-map=off"};
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      bench.width = kSizes[i].width;
      bench.height = kSizes[i].height;
      bench.scale = kSizes[i].scale;
      bench.dark = i % 2 == 0;
      for (const CompareMode mode : {CompareMode::SideBySide, CompareMode::Swipe, CompareMode::Difference}) {
        s.view.compare = {mode, false, 0.4};
        s.view.what_if.scope = i % 3 == 0 ? "head" : i % 3 == 1 ? "layer" : "model";
        s.view.selection.query = i % 2 == 0 ? std::optional<std::int64_t>(150) : std::nullopt;
        s.view.selection.key = i % 2 == 0 ? std::optional<std::int64_t>(33) : std::nullopt;
        s.view.map = {};
        if (i % 4 == 1) s.view.map.window = {100, 120, 90, 110};
        CATCH_INFO("state " << state << ", size " << kSizes[i].width << " × " << kSizes[i].height << " at "
                            << kSizes[i].scale << ", mode " << static_cast<int>(mode));
        check_clean(bench.draw_without_tiles());
        if (bench.painter->shows("the map is being made")) ++unmade;
        check_clean(bench.settle());
        for (const RecordedText* name : bench.painter->find("1/√nᵢ")) {
          CATCH_CHECK_FALSE(under_a_curve(*bench.painter, *name));
          ++names;
        }
      }
    }
  }
  CATCH_CHECK(names > 100);
  CATCH_CHECK(unmade > 100);
}

CATCH_TEST_CASE("what-if panel: every change of the format is offered, and one that does not fit gives its reason",
                "[what-if]") {
  PairOptions options;
  options.demo = "softmax";
  CompareBench bench(options);
  State& state = bench.session.edit();
  state.view.centre = CentreView::WhatIf;
  state.view.selection.head = HeadRef{0, 0};
  const auto offers_of = [&] {
    std::vector<OfferedChange> offers;
    with_context(
        bench, [&](PanelContext& context) { offers = offered_changes(context, *bench.memory, HeadProgram{}, 0, 0.6); });
    return offers;
  };
  std::vector<OfferedChange> offers = offers_of();
  const auto find = [&](const std::string& name) -> const OfferedChange& {
    const auto at =
        std::ranges::find_if(offers, [&](const OfferedChange& offer) { return offer.change.starts_with(name); });
    CATCH_INFO(name);
    CATCH_REQUIRE(at != offers.end());
    return *at;
  };
  // The names of core/io/RUN_FILE.md#what-ifs, and nothing else.
  for (const char* name : {"second-map=", "first-map=", "lambda=", "lambda=none", "lambda=raw",
                           "pairing=", "norm=", "normalizer=", "sink=", "hide-key=", "temperature=", "gate=", "head="})
    (void)find(name);
  CATCH_CHECK(find("normalizer=softmax_one").reason.empty());
  CATCH_CHECK(find("hide-key=0").reason.empty());
  CATCH_CHECK(find("head=off").reason.empty());
  CATCH_CHECK(find("sink=off").reason == "the head has no sink logit and no implicit zero");
  CATCH_CHECK(find("second-map=off").reason == "the head has no second map");
  CATCH_CHECK(find("gate=off").reason == "the head has no gate");
  bool unfit = false;
  for (const OfferedChange& offer : offers) {
    CATCH_CHECK((offer.reason.empty() ? !unfit : true));
    unfit = unfit || !offer.reason.empty();
  }
  const auto pinned = std::ranges::find(offers, "pinned key hidden", &OfferedChange::title);
  CATCH_REQUIRE(pinned != offers.end());
  CATCH_CHECK(pinned->reason == "pin a key in the map");
  state.view.selection.key = 12;
  state.view.what_if.changes = {"temperature=1.7"};
  offers = offers_of();
  CATCH_CHECK(find("hide-key=12").reason.empty());
  CATCH_CHECK(find("temperature=").active);
  CATCH_CHECK(find("temperature=").slider->value == 1.7);
  CATCH_CHECK_FALSE(find("lambda=").active);

  bench.show({});  // DIFF V2
  state.view.selection.head = HeadRef{0, 0};
  state.view.what_if.changes = {"lambda=none"};
  offers = offers_of();
  CATCH_CHECK(find("second-map=off").reason.empty());
  CATCH_CHECK(find("lambda=none").active);
  CATCH_CHECK(find("lambda=0.6").reason.empty());
  CATCH_CHECK_FALSE(find("lambda=0.6").active);
}

CATCH_TEST_CASE("what-if panel: numbers before and after are those of the runs", "[what-if]") {
  CompareBench bench;
  bench.quick("temperature=1.5", RunStatus::Done);
  bench.settle();
  const RunSnapshot &before = *bench.session.state().runs[0].data, &after = *bench.session.state().runs[2].data;
  with_context(bench, [&](PanelContext& context) {
    const WhatIfSubject subject = what_if_subject(context, *bench.memory);
    CATCH_CHECK(subject.status == WhatIfSubject::Status::Done);
    const auto numbers = changed_numbers(subject);
    CATCH_CHECK(numbers.size() >= 8);
    for (const ChangedNumber& number : numbers) {
      if (number.name == "rows_above_bound") continue;  // an element of three
      const double a = before.at(number.name, 1, 2), b = after.at(number.name, 1, 2);
      CATCH_INFO(number.name);
      CATCH_CHECK(number.before_value == a);
      CATCH_CHECK(number.after_value == b);
      CATCH_CHECK(number.before == fixed_text(a, quantity_decimals(number.name)));
      CATCH_CHECK(number.delta == signed_text(b - a, quantity_decimals(number.name)));
    }
  });
  CATCH_CHECK(std::abs(bench.fact("what_if.after.sink_score") - after.at("sink_score", 1, 2)) < 1e-12);
  CATCH_CHECK(bench.painter->shows(signed_text(after.at("sink_score", 1, 2) - before.at("sink_score", 1, 2), 3)));
  CATCH_CHECK(bench.painter->shows("temperature 1.5"));
}

CATCH_TEST_CASE("what-if panel: controls ask for commands", "[what-if]") {
  PairOptions options;
  options.demo = "softmax";
  CompareBench bench(options);
  State& state = bench.session.edit();
  bench.quick("head=off", RunStatus::Done);
  state.view.selection.head = HeadRef{0, 0};
  bench.settle();
  CATCH_CHECK(holds_line(bench.click(bench.at("softmax → off-by-one")), "what-if normalizer=softmax_one"));
  CATCH_CHECK(holds_line(bench.click(bench.at("key 0 hidden")), "what-if hide-key=0"));
  // The only change that is active is taken back by starting again.
  const auto active = bench.painter->find("head off");
  CATCH_CHECK(holds_line(bench.click(active.back()->box.centre), "what-if.reset"));
  state.view.what_if.changes = {"head=off", "hide-key=0"};
  bench.draw();
  CATCH_CHECK(holds_line(bench.click(bench.painter->find("head off").back()->box.centre), "what-if -head=off"));
  CATCH_CHECK(holds_line(bench.click(bench.at("layer 0")), "what-if.scope layer"));
  CATCH_CHECK(holds_line(bench.click(bench.at("reset to as trained")), "what-if.reset"));
  CATCH_CHECK(holds_line(bench.click(bench.at("difference")), "compare.mode difference"));
  CATCH_CHECK(holds_line(bench.click(bench.at("Recompute layer")), "what-if.complete"));
  // What does not fit does nothing.
  CATCH_CHECK(bench.click(bench.at("sink off")).empty());
  // A window is of whole layers.
  CATCH_CHECK(bench.click(bench.at("… and the first 4 keys")).empty());
  state.view.what_if.scope = "layer";
  bench.draw();
  const auto windows = bench.click(bench.at("… and the first 4 keys"));
  CATCH_REQUIRE_FALSE(windows.empty());
  CATCH_CHECK(windows.back().starts_with("what-if window="));
  CATCH_CHECK(windows.back().ends_with("+4"));
  state.view.what_if.changes = {"window=8+4"};
  CATCH_CHECK_FALSE(bench.session.commands().disabled_reason(state, "what-if.scope head").empty());
  state.view.what_if.changes = {"head=off"};
  state.view.what_if.scope = "head";
  bench.draw();
  // The slider of the temperature: a third of the way from 0.25 to 4.
  const Vec2 title = bench.at("temperature");
  const float x0 = bench.side.x0 + 12.0f + std::max(120.0f, 0.30f * (bench.side.width() - 24.0f)),
              x1 = bench.side.x0 + 12.0f + 0.70f * (bench.side.width() - 24.0f);
  const auto dragged = bench.drag({x0 + 30.0f, title.y}, {x0 + 5.0f + (x1 - x0 - 10.0f) / 3.0f, title.y});
  CATCH_REQUIRE_FALSE(dragged.empty());
  CATCH_CHECK(dragged.back().starts_with("what-if temperature=1.5"));
  for (const std::string& line : dragged) CATCH_CHECK(bench.session.commands().disabled_reason(state, line).empty());
}

CATCH_TEST_CASE("what-if panel: while the next one computes the last one stays, dimmed", "[what-if]") {
  CompareBench bench;
  State& state = bench.session.edit();
  bench.quick("temperature=1.5", RunStatus::Done);
  bench.settle();
  CATCH_CHECK(*bench.facts.find("what_if.status") == "done");
  const std::size_t maps = bench.painter->maps().size();
  const std::string after = fixed_text(state.runs[2].data->at("sink_score", 1, 2), 3);
  bench.quick("temperature=2", RunStatus::Running, 10);
  bench.draw();
  CATCH_CHECK(*bench.facts.find("what_if.status") == "computing");
  CATCH_CHECK(bench.painter->shows("computing"));
  CATCH_CHECK(bench.painter->maps().size() == maps);
  CATCH_CHECK(bench.painter->shows(after));
  CATCH_CHECK(bench.facts.find("what_if.after.sink_score") == nullptr);
  // Of another head nothing is kept.
  state.view.selection.head = HeadRef{1, 4};
  bench.draw();
  CATCH_CHECK(bench.painter->maps().size() < maps);
  CATCH_CHECK_FALSE(bench.painter->shows(after));
}

CATCH_TEST_CASE("what-if panel: complete runs, their loss, and a way to compare them", "[what-if]") {
  CompareBench bench;
  State& state = bench.session.edit();
  bench.quick("temperature=1.5", RunStatus::Done);
  state.runs[1].what_ifs = {"L1:sink=off"};
  bench.settle();
  CATCH_CHECK(bench.painter->shows("sink off"));
  CATCH_CHECK(bench.painter->shows("layer 1"));
  CATCH_CHECK(bench.painter->shows("+0.3700"));
  CATCH_CHECK(bench.painter->shows("not known before the run"));
  CATCH_CHECK(bench.painter->shows("layers 1–2, logits, loss"));
  CATCH_CHECK(bench.painter->shows("layer 0"));
  CATCH_CHECK(holds_line(bench.click(bench.painter->find("compare").back()->box.centre), "compare 1 2"));
  // The complete run of these changes is known.
  state.runs[1].what_ifs = {"L1.H2:temperature=1.5"};
  bench.draw();
  CATCH_CHECK(bench.painter->shows("+0.3700 nats per token"));
  state.view.what_if.scope = "model";
  bench.draw();
  CATCH_CHECK(bench.painter->shows("not known before the run"));
  CATCH_CHECK(bench.painter->shows("Recompute layers 0–2"));
}

CATCH_TEST_CASE("what-if panel: nothing chosen, failed, a run file", "[what-if]") {
  CompareBench bench;
  State& state = bench.session.edit();
  state.view.centre = CentreView::WhatIf;
  state.view.other_run = -1;
  bench.settle();
  CATCH_CHECK(bench.painter->shows("Nothing is changed yet"));
  bench.quick("head=off", RunStatus::Failed);
  bench.settle();
  CATCH_CHECK(bench.painter->shows("The what-if failed"));
  CATCH_CHECK(bench.painter->shows("no memory left"));
  state.runs[0].model = -1;
  bench.draw();
  CATCH_CHECK(bench.painter->shows("a run file has no weights"));
}

CATCH_TEST_CASE("what-if text: changes, scopes, runs and differences in words", "[what-if]") {
  CATCH_CHECK(change_title("normalizer=softmax_one") == "off-by-one");
  CATCH_CHECK(change_title("hide-key=0") == "key 0 hidden");
  CATCH_CHECK(change_title("hide-key=0,7") == "keys 0, 7 hidden");
  CATCH_CHECK(change_title("lambda=none") == "no λ");
  CATCH_CHECK(change_title("lambda=0.5") == "λ = 0.5");
  CATCH_CHECK(change_title("second-map=off") == "second map off");
  CATCH_CHECK(change_title("unheard=of") == "unheard=of");
  CATCH_CHECK(split_scope("L17.H4:sink=off").scope == "L17.H4");
  CATCH_CHECK(split_scope("sink=off").scope.empty());
  CATCH_CHECK(split_scope("L3:hide-key=0:1").change == "hide-key=0:1");
  CATCH_CHECK(scope_title("L17") == "layer 17");
  CATCH_CHECK(scope_title("") == "model");
  CATCH_CHECK(delta_text(0.305, 3) == "+.305");
  CATCH_CHECK(delta_text(-0.05, 2) == "−.05");
  CATCH_CHECK(delta_text(0.001, 2) == "0");
  CATCH_CHECK(delta_text(-10.26, 1) == "−10.3");
  CATCH_CHECK(delta_text(1.02, 2) == "+1.02");
  RunEntry run;
  run.name = "demo";
  CATCH_CHECK(run_title(run) == "demo");
  run.what_ifs = {"L3.H2:sink=off", "temperature=2"};
  CATCH_CHECK(run_title(run) == "sink off in L3.H2, temperature 2");
}

}  // namespace headroom::test
