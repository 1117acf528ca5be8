// Sessions as files.
#include "app/session/session_file.h"

#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {

CATCH_TEST_CASE("Every field of a view that is kept comes back, by its words", "[session]") {
  const TempFolder folder;
  ViewState view;
  view.centre = CentreView::WhatIf;
  view.selection = {HeadRef{3, 5}, 230, 129};
  view.map = {.kind = MapKind::ScaledSecond,
              .scale = ScaleKind::Symlog,
              .pooling = Pooling::Negative,
              .range = std::pair(-0.25, 0.5),
              .exclude_sink = true,
              .window = {1.5, 2.5, 0.0, 8.0},
              .swipe = true,
              .divider = 0.25};
  view.heads = {.view = HeadsView::Table,
                .quantity = "entropy_mean",
                .range_per_layer = true,
                .threshold = 0.125,
                .by_value = true,
                .x = "a",
                .y = "b",
                .colour = "c",
                .log_x = true,
                .log_y = false,
                .lasso = {{0, 1}, {2, 3}},
                .columns = {"a", "b"},
                .sort = "b",
                .descending = false,
                .filter = "layer > 3",
                .lasso_name = "sinks",
                .beside = true,
                .maps_by_value = true,
                .maps_size = 96.0,
                .maps_number = "none",
                .maps_show = MapKind::Second,
                .maps_card = HeadRef{4, 1}};
  view.head = {.rms = "raw", .folded = {"sinks"}, .across_model = true};
  view.tokens = {.experts = true,
                 .tint = "lambda",
                 .large_tint = "entropy",
                 .attention = TokenAttention::Layer,
                 .arcs = false,
                 .least_arc = 0.125,
                 .top = 9,
                 .scroll_to = {}};
  view.what_if = {.scope = "layer", .changes = {"sink=off"}};
  view.compare = {.mode = CompareMode::Flip,
                  .divider = 0.75,
                  .quantity = "entropy_mean",
                  .sort = ComparedSort::Rho,
                  .descending = false};
  view.circuit = {.quantity = "ov_effective_rank", .token = 12};
  view.importance = {.colour = AblationWay::HideKey0, .against = "entropy_mean"};
  view.training = {.step = 250,
                   .range = std::pair(10.0, 400.0),
                   .log_steps = true,
                   .smooth = 7,
                   .seed_range = true,
                   .head = HeadRef{1, 2},
                   .all_heads = true};
  view.residual = {.cells = ResidualCells::Rms, .channel = 7, .boundary = 2, .token = 5, .least = 100.0};
  SavedSession session;
  session.files = {{"x"}};
  session.view = view;
  session.keep_residual = true, session.extra.premise = true;
  CATCH_REQUIRE(save_session(folder.path() / "a.headroom", session).has_value());
  const auto back = load_session(folder.path() / "a.headroom");
  CATCH_REQUIRE(back.has_value());
  CATCH_CHECK(back->view == view);
  CATCH_CHECK((back->keep_residual && back->extra.premise && !back->extra.rounding));
  const std::string text = session_text(session);
  for (const char* word :
       {"L3.H5", "what-if", "scaled", "symlog", "negative", "table", "L2.H3", "flip", "rho", "hide-key0", "rms"})
    CATCH_CHECK(text.find('"' + std::string(word) + '"') != std::string::npos);
}

CATCH_TEST_CASE("Loss changes come back, those that were not computed too, and what does not fit its axes is left out",
                "[session]") {
  const TempFolder folder;
  const auto path = folder.path() / "a.headroom";
  SavedSession session;
  session.files = {{"x"}};
  SavedSession::Sweep sweep{AblationWay::HideKey0, {}};
  sweep.table.layers = {1, 4};
  sweep.table.heads = {0, 2};
  sweep.table.delta = {0.1, kNaN, -1e-9, 0.0};
  sweep.table.error = {0.01, kNaN, kNaN, 0.5};
  sweep.table.loss = 1.0 / 3.0;
  sweep.table.predictions = 511;
  sweep.table.blocks = 16;
  sweep.table.asked = 4;
  sweep.table.done = 3;
  session.sweeps = {sweep};
  CATCH_REQUIRE(save_session(path, session).has_value());
  const auto back = load_session(path);
  CATCH_REQUIRE(back.has_value());
  CATCH_REQUIRE(back->sweeps.size() == 1);
  const LossTable& table = back->sweeps[0].table;
  CATCH_CHECK(back->sweeps[0].way == AblationWay::HideKey0);
  CATCH_CHECK(table.mode.change == "hide-key=0");
  CATCH_CHECK(table.layers == sweep.table.layers);
  CATCH_CHECK(table.heads == sweep.table.heads);
  CATCH_CHECK(table.loss == sweep.table.loss);
  CATCH_CHECK(table.predictions == 511);
  CATCH_CHECK(table.blocks == 16);
  CATCH_CHECK(table.asked == 4);
  CATCH_CHECK(table.done == 3);
  for (const auto& [read, kept] :
       {std::pair(table.delta, sweep.table.delta), std::pair(table.error, sweep.table.error)}) {
    CATCH_REQUIRE(read.size() == 4);
    for (std::size_t i = 0; i < 4; ++i)
      CATCH_CHECK((read[i] == kept[i] || (std::isnan(read[i]) && std::isnan(kept[i]))));
  }
  const std::string text = session_text(session);
  for (const auto& [from, to] : {std::pair("hide-key0\"", "banana\""), std::pair("\"loss\": 0.3", "\"lost\": 0.3"),
                                 std::pair("-1e-09,", ""), std::pair("\"blocks\": 16", "\"blocks\": 512")}) {
    CATCH_INFO(from);
    std::string other = text;
    const std::size_t at = other.find(from);
    CATCH_REQUIRE(at != std::string::npos);
    other.replace(at, std::string(from).size(), to);
    std::ofstream(path) << other;
    const auto loaded = load_session(path);
    CATCH_REQUIRE(loaded.has_value());
    CATCH_CHECK(loaded->sweeps.empty());
  }
}

}  // namespace headroom::test
