// Sessions as files.
#include "app/session/session_file.h"

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
  CATCH_REQUIRE(save_session(folder.path() / "a.headroom", session).has_value());
  const auto back = load_session(folder.path() / "a.headroom");
  CATCH_REQUIRE(back.has_value());
  CATCH_CHECK(back->view == view);
  const std::string text = session_text(session);
  for (const char* word :
       {"L3.H5", "what-if", "scaled", "symlog", "negative", "table", "L2.H3", "flip", "rho", "hide-key0", "rms"})
    CATCH_CHECK(text.find('"' + std::string(word) + '"') != std::string::npos);
}

}  // namespace headroom::test
