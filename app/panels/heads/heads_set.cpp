#include "app/panels/heads/heads_set.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/heads/maps_layout.h"
#include "app/panels/heads/thumbnails.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/parts/run_cache.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kScrollRoom = 10.0f;

// The largest first; heads without a value last.
std::vector<std::size_t> rows_by_value(const RunSnapshot& run, const std::vector<HeadRef>& heads,
                                       const HeadColumn& column) {
  std::vector<std::size_t> rows;
  for (const HeadRef head : heads)
    if (const auto row = row_of(run, head)) rows.push_back(*row);
  std::ranges::sort(rows);
  const auto place = [&](std::size_t row) {
    return row < column.values.size() && std::isfinite(column.values[row]) ? column.values[row] : -HUGE_VAL;
  };
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) { return place(a) > place(b); });
  return rows;
}

void take_pointer(PanelContext& context, const RunSnapshot& run, const MapsLayout& layout, float scrolled) {
  Ui& ui = context.ui;
  const Interaction hit = ui.interact("places", layout.view, Cursor::Hand);
  const auto place = hit.hovered ? layout.at(ui.input.pointer, scrolled) : std::nullopt;
  if (!place) return;
  const HeadRef head = head_of_row(run, layout.heads[*place]);
  context.hover.head = head;
  ui.tooltip(layout.square(*place, scrolled), head_text(head));
  if (hit.clicked) ui.run("select " + head_text(head));
}

void draw_set(PanelContext& context, RunCache& memory, const std::string& quantity, Rect body) {
  const RunSnapshot& run = *memory.run();
  const std::vector<HeadRef>& heads = context.state.view.heads.lasso;
  MapsRequest request;
  request.body = body.inset(measure::kPadding, 8.0f);
  request.layers = run.layers.size(), request.heads = run.heads.size();
  request.by_value = rows_by_value(run, heads, memory.column(quantity));
  request.name_width =
      context.ui.width(head_text({run.layers.back(), run.heads.back()}), context.theme().tick()) + 4.0f;
  if (request.by_value.empty()) {
    draw_note(context, request.body, "None of these heads is in this run.");
    return;
  }
  MapsLayout layout = lay_out_maps(request);
  if (layout.content() > layout.view.height() + 1.0f && request.body.width() > 80.0f) {
    request.body.x1 -= kScrollRoom;
    layout = lay_out_maps(request);
  }
  if (layout.places.grid.empty()) {
    draw_note(context, request.body, "There is no room for thumbnails.");
    return;
  }
  const float scrolled = context.ui.scroll("scroll", {layout.view.x0, layout.view.y0, body.x1 - 2.0f, layout.view.y1},
                                           layout.content() - layout.gap, layout.places.cell_height);
  take_pointer(context, run, layout, scrolled);
  const Ui& ui = context.ui;
  if (context.state.overlay == Overlay::None && !ui.wants_text() && !ui.popup_open())
    select_by_arrows(context, run, layout, /*wraps=*/true);
  ThumbnailView view{layout, scrolled, context.state.view.heads.maps_show, {}, {}, /*frames=*/false};
  context.facts.set("set.there", static_cast<double>(draw_thumbnails(context, memory, view)));
  draw_thumbnail_names(context, run, view);
  context.facts.set("set.first", head_text(head_of_row(run, layout.heads.front())));
}

void draw_heads_set(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "set", frame);
  const HeadsState& view = context.state.view.heads;
  const std::size_t count = view.lasso.size();
  const std::string quantity = maps_quantity(context.state.view);
  const std::string title = !view.lasso_name.empty() ? view.lasso_name
                            : count == 1             ? std::string("The selected head")
                                                     : "The " + std::to_string(count) + " selected heads";
  const Rect body = draw_panel_title(context, frame, "tokens", title, "",
                                     "maps, by " + column_title(quantity) + " · arrows go through them");
  context.facts.set("set.heads", static_cast<double>(count));
  if (memory.run() == nullptr || memory.run()->heads.empty() || memory.run()->layers.empty())
    draw_note(context, body.inset(measure::kPadding, 8.0f), "No heads are measured yet.");
  else
    draw_set(context, memory, quantity, body);
}

}  // namespace

const PanelInfo kHeadsSetPanel{.id = "set", .title = "Selected heads", .least_width = 200.0f, .draw = draw_heads_set};

}  // namespace headroom
