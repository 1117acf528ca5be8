// Heads, map and head side by side: where the panels lie, the bar of actions at the lasso, the chosen heads as
// thumbnails, and what they have in common.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_layout.h"
#include "app/panels/head/head_panel.h"
#include "app/panels/heads/heads_panel.h"
#include "app/panels/heads/heads_set.h"
#include "core/base/number_text.h"
#include "tests/support/heads_bench.h"

namespace headroom {
namespace {

using test::HeadsBench;
using test::holds;
using test::SnapshotOptions;
using Lines = std::vector<std::string>;

const Rect kHeads{0, 69, 560, 860}, kSet{561, 640, 1100, 860}, kHead{1101, 69, 1440, 860};

SnapshotOptions options_of(std::int64_t layers, std::int64_t heads, const char* kind = "softmax") {
  SnapshotOptions options;
  options.layers = layers, options.heads = heads, options.kind = kind;
  return options;
}

void set_beside(HeadsBench& bench, std::vector<HeadRef> lasso) {
  bench.state.view.heads.view = HeadsView::Scatter;
  bench.state.view.heads.beside = true;
  bench.state.view.heads.lasso = std::move(lasso);
}

std::vector<Vec2> discs_of(const RecordingPainter& painter) {
  std::vector<Vec2> discs;
  for (const RecordedShape& shape : painter.shapes())
    if (shape.kind == RecordedShape::Kind::Disc && shape.width == 3.5f) discs.push_back(shape.bounds.centre());
  return discs;
}

}  // namespace

CATCH_TEST_CASE("beside: heads, map and head panel at once, the chosen heads under the map, and nothing overlaps") {
  HeadsBench bench(options_of(6, 5));
  for (const HeadsView view : {HeadsView::Scatter, HeadsView::Table, HeadsView::Maps})
    for (const bool chosen : {false, true})
      for (const float width : {640.0f, 800.0f, 1024.0f, 1440.0f, 2400.0f})
        for (const float height : {400.0f, 640.0f, 1400.0f}) {
          CATCH_CAPTURE(static_cast<int>(view), chosen, width, height);
          set_beside(bench, chosen ? std::vector<HeadRef>{{1, 1}, {2, 3}} : std::vector<HeadRef>{});
          bench.state.view.heads.view = view;
          const WindowLayout layout = window_layout({0, 0, width, height}, bench.state);
          CATCH_CHECK(layout.heads.panel == &kHeadsPanel);
          CATCH_CHECK(std::string(layout.centre.panel->id) == "map");
          CATCH_CHECK(std::string(layout.side.panel->id) == "head");
          CATCH_CHECK(layout.centre.drawn());
          CATCH_CHECK(layout.heads.rect.width() <= 560.0f);
          if (width >= 1440.0f) CATCH_CHECK((layout.heads.drawn() && layout.side.drawn()));
          const bool set = layout.tokens.shown();
          if (height >= 640.0f) CATCH_CHECK(set == chosen);
          if (set) {
            CATCH_CHECK(layout.tokens.panel == &kHeadsSetPanel);
            CATCH_CHECK(layout.tokens.rect.y0 >= layout.centre.rect.y1);
          }
          for (const PanelSlot* a : layout.slots())
            for (const PanelSlot* b : layout.slots())
              if (a != b && a->shown() && b->shown()) CATCH_CHECK_FALSE(a->rect.overlaps(b->rect));
        }
  // The atlas has them beside it anyway.
  bench.state.view.heads.view = HeadsView::Atlas;
  CATCH_CHECK_FALSE(shown_beside(bench.state.view));
}

CATCH_TEST_CASE("beside: the bar of actions says how many heads, covers none of them, and each button runs") {
  HeadsBench bench(options_of(10, 6));
  set_beside(bench, {{1, 1}, {2, 3}, {9, 0}});
  holds(bench.draw(draw_heads_panel, kHeads), "bar");
  CATCH_CHECK(bench.painter->shows("3 heads"));
  const auto at = [&](const char* title) {
    const auto found = bench.painter->find(title);
    CATCH_CAPTURE(title);
    CATCH_REQUIRE(found.size() == 1);
    return Vec2{found[0]->baseline.x + 0.5f * found[0]->width, found[0]->baseline.y - 4.0f};
  };
  for (const auto& [title, line] :
       {std::pair{"What-if…", "palette lasso.what-if"}, {"Ablate", "lasso.ablate"}, {"Export…", "lasso.export"}})
    CATCH_CHECK(bench.click(draw_heads_panel, kHeads, at(title)) == Lines{line});
  // What a run of all of them takes is said before it starts.
  bench.state.runs.front().seconds = 8.2;
  bench.state.runs.front().status = RunStatus::Done;
  const Vec2 ablate = at("Ablate");
  for (int i = 0; i < 4; ++i) {
    bench.point(ablate);
    bench.draw(draw_heads_panel, kHeads);
  }
  CATCH_CHECK(bench.painter->shows("in one run: about 9 s"));
  bench.state.view.heads.lasso_name = "sinks";
  bench.draw(draw_heads_panel, {0, 69, 900, 860});
  CATCH_CHECK(bench.painter->shows("sinks, 3 heads"));
  bench.state.view.heads.lasso_name = std::string(300, 'W');
  holds(bench.draw(draw_heads_panel, kHeads), "a long name");
  CATCH_CHECK(bench.painter->shows("3 heads"));
  bench.state.view.heads.lasso = {{2, 2}};
  bench.state.view.heads.lasso_name.clear();
  bench.draw(draw_heads_panel, kHeads);
  CATCH_CHECK(bench.painter->shows("1 head"));
  bench.state.view.heads.lasso.clear();
  bench.draw(draw_heads_panel, kHeads);
  CATCH_CHECK_FALSE(bench.painter->shows("Ablate"));
}

CATCH_TEST_CASE("beside: a lasso by the pointer sets, with Shift adds, with Alt takes away") {
  HeadsBench bench(options_of(4, 3));
  set_beside(bench, {});
  const std::vector<Vec2> discs = discs_of(bench.draw(draw_heads_panel, kHeads));
  CATCH_REQUIRE(discs.size() == 12);
  // Round the head that is farthest from the others' corner, and nobody else.
  const std::size_t k =
      static_cast<std::size_t>(std::ranges::max_element(discs, {}, [](Vec2 p) { return p.x - p.y; }) - discs.begin());
  const Vec2 c = discs[k];
  const std::vector<Vec2> path = {{c.x - 6, c.y - 6}, {c.x + 6, c.y - 6}, {c.x + 6, c.y + 6}, {c.x - 6, c.y + 6}};
  std::string names;
  for (std::size_t i = 0; i < discs.size(); ++i)
    if (points_inside(path, std::vector<Vec2>{discs[i]}).size() == 1)
      names += (names.empty() ? "" : ",") + head_text(head_of_row(*bench.state.runs.front().data, i));
  CATCH_CHECK(bench.drag(draw_heads_panel, kHeads, path) == Lines{"lasso " + names});
  bench.input.modifiers.shift = true;
  CATCH_CHECK(bench.drag(draw_heads_panel, kHeads, path) == Lines{"lasso.add " + names});
  bench.input.modifiers = {.alt = true};
  CATCH_CHECK(bench.drag(draw_heads_panel, kHeads, path) == Lines{"lasso.remove " + names});
}

CATCH_TEST_CASE("beside: the chosen heads as thumbnails, the largest first, and clicks and arrows go through them") {
  HeadsBench bench(options_of(6, 5), {2, 3});
  set_beside(bench, {{1, 1}, {2, 3}, {4, 0}, {5, 4}});
  const RunSnapshot& run = *bench.state.runs.front().data;
  std::vector<HeadRef> order = bench.state.view.heads.lasso;
  std::ranges::sort(order, [&](HeadRef a, HeadRef b) {
    return run.at("sink_score", a.layer, a.head) > run.at("sink_score", b.layer, b.head);
  });
  holds(bench.draw(kHeadsSetPanel.draw, kSet), "set");
  CATCH_CHECK(bench.painter->shows("The 4 selected heads"));
  CATCH_CHECK(bench.fact("set.there") == 4.0);
  CATCH_CHECK(*bench.facts.find("set.first") == head_text(order.front()));
  for (const HeadRef head : order) CATCH_CHECK(bench.painter->shows(head_text(head)));
  const auto name = bench.painter->find(head_text(order[2]));
  CATCH_REQUIRE(name.size() == 1);
  const Vec2 above{name[0]->baseline.x + 0.5f * name[0]->width, name[0]->baseline.y - 30.0f};
  CATCH_CHECK(bench.click(kHeadsSetPanel.draw, kSet, above) == Lines{"select " + head_text(order[2])});
  const auto at = static_cast<std::size_t>(std::ranges::find(order, HeadRef{2, 3}) - order.begin());
  bench.input.keys = {{at + 1 < order.size() ? Key::Right : Key::Left, {}}};
  bench.draw(kHeadsSetPanel.draw, kSet);
  CATCH_CHECK(bench.lines == Lines{"select " + head_text(order[at + 1 < order.size() ? at + 1 : at - 1])});
  // Of a head that is not among them the arrows are those of all heads.
  bench.state.view.selection.head = HeadRef{0, 0};
  bench.input.keys = {{Key::Right, {}}};
  bench.draw(kHeadsSetPanel.draw, kSet);
  CATCH_CHECK(bench.lines.empty());
  bench.state.view.heads.lasso = {{99, 0}};
  holds(bench.draw(kHeadsSetPanel.draw, kSet), "nobody");
  CATCH_CHECK(bench.painter->shows("None of these heads is in this run."));
}

CATCH_TEST_CASE("beside: medians and ranges of the chosen heads, and how many are of each layer") {
  HeadsBench bench(options_of(6, 5), {2, 3});
  set_beside(bench, {{1, 1}, {2, 3}, {4, 0}});
  const RunSnapshot& run = *bench.state.runs.front().data;
  bench.state.view.head.folded = {"rms"};
  holds(bench.draw(draw_head_panel, kHead), "section");
  CATCH_CHECK(bench.painter->shows("Across the selection"));
  for (const char* name : {"sink_score", "context_rms_relative_mean", "value_drain"}) {
    std::vector<double> values;
    for (const HeadRef head : bench.state.view.heads.lasso) values.push_back(run.at(name, head.layer, head.head));
    std::ranges::sort(values);
    CATCH_CAPTURE(name);
    CATCH_CHECK(bench.fact(("set." + std::string(name)).c_str()) == values[1]);
    const QuantityInfo& info = *find_quantity_info(name);
    CATCH_CHECK(bench.painter->shows(number_text(info, values[0]) + " … " + number_text(info, values[2])));
  }
  // Alone, or where the map is not beside them, it says nothing.
  bench.state.view.heads.lasso = {{1, 1}};
  CATCH_CHECK_FALSE(bench.draw(draw_head_panel, kHead).shows("Across the selection"));
  set_beside(bench, {{1, 1}, {2, 3}});
  bench.state.view.heads.beside = false;
  CATCH_CHECK_FALSE(bench.draw(draw_head_panel, kHead).shows("Across the selection"));
}

CATCH_TEST_CASE("beside: no text is cut, outside or on another, for any kind, size and theme") {
  for (const char* kind : {"softmax", "diff_v2", "diff_v1", "gated"})
    for (const std::int64_t layers : {1, 4, 61}) {
      HeadsBench bench(options_of(layers, 5, kind), {0, 1});
      std::vector<HeadRef> all;
      for (std::int64_t l = 0; l < layers; ++l)
        for (std::int64_t h = 0; h < 5; ++h) all.push_back({l, h});
      for (const bool dark : {true, false})
        for (const float scale : {1.0f, 2.0f})
          for (const std::size_t count : {std::size_t{1}, std::size_t{2}, all.size()}) {
            bench.dark = dark, bench.scale = scale;
            set_beside(bench, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()))});
            const std::string where = std::string(kind) + " " + std::to_string(layers) + " " + std::to_string(count);
            for (const Rect frame : {kHeads, Rect{0, 69, 320, 640}, Rect{0, 69, 400, 300}})
              holds(bench.draw(draw_heads_panel, frame), "scatter " + where);
            for (const Rect frame : {kSet, Rect{0, 500, 300, 610}, Rect{0, 400, 1200, 860}})
              holds(bench.draw(kHeadsSetPanel.draw, frame), "set " + where);
            for (const Rect frame : {kHead, Rect{0, 69, 262, 640}, Rect{0, 69, 700, 1400}})
              holds(bench.draw(draw_head_panel, frame), "head " + where);
          }
    }
}

}  // namespace headroom
