#include "app/panels/residual/residual_cells.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/residual/residual_parts.h"
#include "app/plot/color_bar.h"
#include "app/plot/quantiles.h"
#include "app/plot/ticks.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kRow = 17.0f, kLeastRow = 13.0f, kHeading = 18.0f, kBar = 24.0f, kTicks = 14.0f, kBetween = 18.0f;
constexpr float kGap = 34.0f, kRight = 16.0f, kStatement = 17.0f;

// What follows from the view for a height of the map of all tokens.
struct Images {
  std::shared_ptr<const ResidualView> view;
  std::size_t height = 0;
  MapImage cells, received, wide_cells, wide_received;
  ColorScale cell_scale, received_scale;
  bool clips_low = false;
};

MapImage image_of(std::vector<float> values, std::size_t columns, MapImage before) {
  if (before.id == 0) before.id = next_image_id();
  ++before.generation;
  before.width = static_cast<std::int32_t>(columns);
  before.height = columns > 0 ? static_cast<std::int32_t>(values.size() / columns) : 0;
  before.values = std::make_shared<const std::vector<float>>(std::move(values));
  return before;
}

// The rows of these tokens.
std::vector<float> rows_of(const std::vector<float>& values, std::size_t columns,
                           const std::vector<std::int64_t>& tokens) {
  std::vector<float> rows;
  for (const std::int64_t token : tokens) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(token) * columns);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(columns));
  }
  return rows;
}

// All tokens in groups of rows, and the widened ones. Magnitudes span decades: a logarithmic scale from the quantile of
// a hundredth to the largest one, which is never cut off.
void make_images(Images& images, const std::shared_ptr<const ResidualView>& view, std::size_t height,
                 const Theme& theme) {
  const auto columns = static_cast<std::size_t>(view->boundaries);
  images.view = view;
  images.height = height;
  images.cells = image_of(pooled_rows(view->cells, columns, height), columns, images.cells);
  images.received = image_of(pooled_rows(view->received, columns, height), columns, images.received);
  images.wide_cells = image_of(rows_of(view->cells, columns, view->widened), columns, images.wide_cells);
  images.wide_received = image_of(rows_of(view->received, columns, view->widened), columns, images.wide_received);
  const RobustRange range = robust_log_range(NumberView(view->cells), 0.02, 5.0);
  float most = 0.0f, least = std::numeric_limits<float>::infinity();
  for (const float value : view->cells)
    if (std::isfinite(value)) most = std::max(most, value), least = std::min(least, value);
  const float high = most > 0.0f ? most : 1.0f;
  images.cell_scale = {theme.sequential(), ScaleKind::Log10, std::min(static_cast<float>(range.low), 0.5f * high), high,
                       1e-3f};
  images.clips_low = least < images.cell_scale.low;
  images.received_scale = view->signed_received ? ColorScale{theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, 1e-3f}
                                                : ColorScale{theme.sequential(), ScaleKind::Log10, 1e-3f, 1.0f, 1e-3f};
}

// Where things lie. One block of rows where all tokens have room for a label, else the widened rows above all.
struct Cells {
  Rect left, right;          // widened rows of the two maps
  Rect all_left, all_right;  // all tokens; empty: the block above holds them all
  Rect heading_left, heading_right;
  float row = kRow;
  std::vector<std::int64_t> tokens;  // of the block above
};

std::string cells_title(const ResidualView& view) {
  switch (view.of.cells) {
    case ResidualCells::Rms: return "RMS over channels";
    case ResidualCells::Largest: return "Largest |h| of the token";
    case ResidualCells::Channel: break;
  }
  return "|h| in channel " + std::to_string(view.channel);
}

std::string received_title(const ResidualView& view) {
  const std::string what = view.signed_received ? "Net attention received" : "Attention received";
  return view.heads > 1 ? what + ", mean of " + grouped_text(view.heads) + " heads" : what;
}

class CellsPanel {
 public:
  CellsPanel(PanelContext& context, const ResidualView& view, const Images& images)
      : context_(context),
        ui_(context.ui),
        painter_(context.painter()),
        theme_(context.theme()),
        view_(view),
        images_(images) {}

  void draw(const Cells& cells) {
    hover(cells);
    headings(cells);
    block(cells.left, images_.wide_cells, images_.cell_scale, view_.boundaries);
    block(cells.right, images_.wide_received, images_.received_scale, view_.boundaries - 1);
    labels(cells);
    if (!cells.all_left.empty()) {
      block(cells.all_left, images_.cells, images_.cell_scale, view_.boundaries);
      block(cells.all_right, images_.received, images_.received_scale, view_.boundaries - 1);
      rows(cells);
    }
    const Rect& low_left = cells.all_left.empty() ? cells.left : cells.all_left;
    const Rect& low_right = cells.all_right.empty() ? cells.right : cells.all_right;
    boundaries(low_left, low_left.y1 + 9.0f, view_.boundaries);
    boundaries(low_right, low_right.y1 + 9.0f, view_.boundaries - 1);
    cursor(cells);
  }

 private:
  [[nodiscard]] float cell_width(const Rect& map, std::int64_t columns) const {
    return map.width() / static_cast<float>(std::max<std::int64_t>(1, columns));
  }

  void headings(const Cells& cells) {
    const auto one = [&](Rect area, const std::string& title, const ColorScale& scale, bool clips) {
      const Rect head = area.cut_top(kHeading);
      // Without what follows the comma where that has no room.
      const bool whole = ui_.width(title, theme_.plot_title()) <= head.width();
      ui_.label_at(head.x0, head.y0 + 8.0f, whole ? title : title.substr(0, title.find(',')), theme_.plot_title(),
                   head.width());
      ColorBarSpec spec;
      spec.scale = scale;
      spec.vertical = false;
      spec.thickness = 7.0f;
      spec.clips_low = clips;
      if (area.width() > 60.0f) draw_color_bar(painter_, {area.x0, area.y0, area.x1, area.y0 + kBar}, spec, theme_);
    };
    one(cells.heading_left, cells_title(view_), images_.cell_scale, images_.clips_low);
    one(cells.heading_right, received_title(view_), images_.received_scale, true);
  }

  void block(const Rect& map, const MapImage& image, const ColorScale& scale, std::int64_t columns) {
    if (map.empty() || image.height < 1 || columns < 1) return;
    painter_.fill_rect(map, theme_.empty);
    MapShading shading{scale, NanStyle::Hatched, 0.0f, {}};
    const float row = map.height() / static_cast<float>(image.height);
    if (row >= 6.0f && cell_width(map, columns) >= 5.0f) shading.cell_gap = 1.0f, shading.gap_color = theme_.panel;
    painter_.map(map, image, {0.0f, 0.0f, static_cast<float>(columns), static_cast<float>(image.height)}, shading);
  }

  // Token and index at the left of each widened row.
  void labels(const Cells& cells) {
    for (std::size_t i = 0; i < cells.tokens.size(); ++i) {
      const std::int64_t token = cells.tokens[i];
      const float y = cells.left.y0 + (static_cast<float>(i) + 0.5f) * cells.row;
      const bool chosen = token == view_.token,
                 stands_out = std::ranges::find(view_.coloured, token) != view_.coloured.end();
      const std::string number = std::to_string(token);
      const TextStyle mono{Face::Mono, 11.0f, chosen ? theme_.accent : stands_out ? theme_.text : theme_.text2};
      const float width = ui_.width(number, mono);
      painter_.text_at(cells.left.x0 - 6.0f, y, number, mono, Painter::Align::Right);
      const float right = cells.left.x0 - 6.0f - width - 6.0f, room = right - left_ - 2.0f;
      const std::string text = residual_token(view_, token, view_.axis());
      const TextStyle style{stands_out ? Face::SansMedium : Face::Sans, 11.0f, mono.color};
      if (room > 12.0f && !text.empty()) ui_.label_at(right, y, text, style, room, Painter::Align::Right);
    }
  }

  // Positions beside the map of all tokens, and which rows are widened.
  void rows(const Cells& cells) {
    const Rect& map = cells.all_left;
    const Axis axis{0.0, static_cast<double>(view_.tokens), false, map.y0, map.y1};
    for (const Tick& tick : index_ticks(0, view_.tokens - 1, static_cast<double>(map.height()), 36.0)) {
      if (tick.label.empty()) continue;
      const float y = axis.pixel(tick.value + 0.5);
      painter_.line({map.x0 - 3.0f, y}, {map.x0, y}, theme_.faint);
      painter_.text_at(map.x0 - 6.0f, std::clamp(y, map.y0 + 4.0f, map.y1 - 4.0f), tick.label, theme_.tick(),
                       Painter::Align::Right);
    }
    for (const std::int64_t token : view_.widened) {
      const float y = axis.pixel(static_cast<double>(token) + 0.5);
      painter_.line({cells.all_right.x1 + 3.0f, y}, {cells.all_right.x1 + 9.0f, y},
                    token == view_.token ? theme_.accent : theme_.text3);
    }
    const std::string many = grouped_text((view_.tokens + images_.cells.height - 1) / images_.cells.height);
    const std::string text = "above: the largest rows, widened; below: all " + grouped_text(view_.tokens) + " tokens" +
                             (view_.tokens > images_.cells.height ? ", " + many + " per row, the larger value" : "");
    ui_.label_at(map.x0, map.y0 - 0.5f * kBetween, text, theme_.hint(), cells.all_right.x1 - map.x0);
  }

  void boundaries(const Rect& map, float y, std::int64_t columns) {
    if (map.empty()) return;
    const float width = cell_width(map, columns);
    float taken = -1e9f;
    for (const Tick& tick : index_ticks(0, columns - 1, static_cast<double>(map.width()), 34.0)) {
      if (tick.label.empty()) continue;
      const float x = map.x0 + (static_cast<float>(tick.value) + 0.5f) * width,
                  half = 0.5f * ui_.width(tick.label, theme_.tick());
      if (x - half < taken + 5.0f) continue;
      taken = x + half;
      painter_.text_at(x, y, tick.label, theme_.tick(), Painter::Align::Centre);
    }
  }

  // The chosen boundary in both maps: the column of the layer that reads it at the right.
  void cursor(const Cells& cells) {
    const auto frame = [&](const Rect& map, std::int64_t columns, std::int64_t column, Color color) {
      if (map.empty() || column < 0 || column >= columns) return;
      const float width = cell_width(map, columns), x = map.x0 + static_cast<float>(column) * width;
      painter_.line({x, map.y0}, {x, map.y1}, color);
      painter_.line({x + width, map.y0}, {x + width, map.y1}, color);
    };
    for (const Rect& map : {cells.left, cells.all_left}) {
      if (over_) frame(map, view_.boundaries, over_->second, theme_.text2);
      frame(map, view_.boundaries, view_.boundary, theme_.accent);
    }
    for (const Rect& map : {cells.right, cells.all_right}) {
      if (over_) frame(map, view_.boundaries - 1, over_->second, theme_.text2);
      frame(map, view_.boundaries - 1, view_.boundary, theme_.accent);
    }
  }

  void hover(const Cells& cells) {
    const auto look = [&](const char* name, const Rect& map, std::int64_t columns, bool all) {
      if (map.empty() || columns < 1) return;
      const Interaction hit = ui_.interact(name, map, Cursor::Crosshair);
      if (!hit.hovered) return;
      const Vec2 at = ui_.input.pointer;
      const auto boundary = std::clamp<std::int64_t>(
          static_cast<std::int64_t>((at.x - map.x0) / cell_width(map, columns)), 0, columns - 1);
      std::int64_t token = 0;
      if (all) {
        const float share = (at.y - map.y0) / map.height();
        const auto row = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(share * static_cast<float>(images_.cells.height)), 0, images_.cells.height - 1);
        token = token_of(row, boundary, columns == view_.boundaries ? view_.cells : view_.received);
      } else {
        const auto row = static_cast<std::size_t>((at.y - map.y0) / cells.row);
        token = cells.tokens[std::min(row, cells.tokens.size() - 1)];
      }
      over_ = std::pair(token, boundary);
      context_.hover.key = token;
      ui_.tooltip(Rect::sized(at.x - 6.0f, at.y - 6.0f, 12.0f, 12.0f), tip(token, boundary));
      if (hit.clicked) {
        ui_.run("residual.boundary " + std::to_string(boundary));
        ui_.run("residual.token " + std::to_string(token));
      }
    };
    look("left", cells.left, view_.boundaries, false);
    look("right", cells.right, view_.boundaries - 1, false);
    look("all left", cells.all_left, view_.boundaries, true);
    look("all right", cells.all_right, view_.boundaries - 1, true);
  }

  // Of the tokens that share a row the one whose value it shows.
  [[nodiscard]] std::int64_t token_of(std::int64_t row, std::int64_t boundary, const std::vector<float>& values) const {
    const std::int64_t height = images_.cells.height;
    std::int64_t best = (row * view_.tokens + height - 1) / height;
    for (std::int64_t t = best; t < view_.tokens && t * height / view_.tokens == row; ++t) {
      const float value = values[static_cast<std::size_t>(t * view_.boundaries + boundary)],
                  most = values[static_cast<std::size_t>(best * view_.boundaries + boundary)];
      if (!std::isnan(value) && !(std::abs(value) <= std::abs(most))) best = t;
    }
    return best;
  }

  [[nodiscard]] std::string tip(std::int64_t token, std::int64_t boundary) const {
    const std::string text = residual_token(view_, token, view_.axis());
    std::string lines = "token " + std::to_string(token) + (text.empty() ? "" : " “" + text + "”") + ", boundary " +
                        std::to_string(boundary) + ": " + boundary_name(*view_.run, boundary);
    const auto cell = static_cast<std::size_t>(token * view_.boundaries + boundary);
    const float value = view_.cells[cell], attention = view_.received[cell];
    if (view_.of.cells == ResidualCells::Channel) {
      const ResidualBoundary* at = view_.at(boundary);
      lines += "\nh = " + (at && at->has_channel(view_.channel)
                               ? activation_text(static_cast<double>(at->value(token, view_.channel)))
                               : std::string("not kept of this channel"));
    } else {
      lines += "\n" + cells_title(view_) + ": " +
               (std::isnan(value) ? std::string("not there") : activation_text(static_cast<double>(value)));
    }
    const std::int64_t layer = view_.run->layer_reading(boundary);
    if (layer >= 0 && !std::isnan(attention))
      lines += "\nreceives " + readout_text(static_cast<double>(attention)) + " in " +
               context_.state.layer_name(layer) + ", mean of its heads";
    return lines;
  }

  PanelContext& context_;
  Ui& ui_;
  Painter& painter_;
  const Theme& theme_;
  const ResidualView& view_;
  const Images& images_;
  std::optional<std::pair<std::int64_t, std::int64_t>> over_;  // token and boundary under the pointer

 public:
  float left_ = 0.0f;  // edge of the panel's room
};

Cells lay_out(const ResidualView& view, Rect body, float labels) {
  Cells cells;
  body.cut_left(labels);
  body.cut_right(kRight);
  // As many pixels a boundary in both; the last one is read by no layer.
  const float columns = static_cast<float>(2 * view.boundaries - 1);
  const float cell = (body.width() - kGap) / std::max(1.0f, columns);
  const float left = cell * static_cast<float>(view.boundaries);
  Rect head = body.cut_top(kHeading + kBar + 4.0f);
  cells.heading_left = {head.x0, head.y0, head.x0 + left, head.y1};
  cells.heading_right = {head.x0 + left + kGap, head.y0, head.x1, head.y1};
  body.cut_bottom(kTicks);
  const auto split = [&](Rect rect, Rect& a, Rect& b) {
    a = {rect.x0, rect.y0, rect.x0 + left, rect.y1};
    b = {rect.x0 + left + kGap, rect.y0, rect.x1, rect.y1};
  };
  const float row = body.height() / static_cast<float>(view.tokens);
  if (row >= kLeastRow) {
    cells.row = std::min(row, 44.0f);
    for (std::int64_t t = 0; t < view.tokens; ++t) cells.tokens.push_back(t);
    split(body.cut_top(cells.row * static_cast<float>(view.tokens)), cells.left, cells.right);
    return cells;
  }
  cells.tokens = view.widened;
  cells.row = std::clamp(0.35f * body.height() / static_cast<float>(std::max<std::size_t>(1, cells.tokens.size())),
                         kLeastRow, kRow + 3.0f);
  split(body.cut_top(cells.row * static_cast<float>(cells.tokens.size())), cells.left, cells.right);
  body.cut_top(kBetween);
  if (body.height() >= 40.0f) split(body, cells.all_left, cells.all_right);
  return cells;
}

// How the largest values and the most attended keys meet, as counts: one does not say that it makes the other.
std::vector<std::string> statements_of(PanelContext& context, const ResidualView& view) {
  std::vector<std::string> lines;
  const auto what = view.of.cells == ResidualCells::Channel ? " largest |h| in channel " + std::to_string(view.channel)
                    : view.of.cells == ResidualCells::Rms   ? std::string(" largest RMS")
                                                            : std::string(" largest |h|");
  std::size_t layers = 0, same = 0, linked = 0, counted = 0;
  for (std::int64_t b = 0; b + 1 < view.boundaries; ++b) {
    const auto link = view.link(b);
    if (!link) continue;
    ++layers;
    same += link->largest == link->attended ? 1 : 0;
    linked += link->linked;
    counted += link->count;
  }
  if (const auto link = view.link(view.boundary)) {
    lines.push_back(context.state.layer_name(view.run->layer_reading(view.boundary)) + ": " +
                    std::to_string(link->linked) + " of the " + std::to_string(link->count) + what + " are among its " +
                    std::to_string(link->count) + " most attended keys");
    context.facts.set("residual.linked", static_cast<double>(link->linked));
  }
  if (layers > 0)
    lines.push_back("all layers: " + grouped_text(static_cast<std::int64_t>(linked)) + " of " +
                    grouped_text(static_cast<std::int64_t>(counted)) + "; the largest is the most attended key in " +
                    grouped_text(static_cast<std::int64_t>(same)) + " of " +
                    grouped_text(static_cast<std::int64_t>(layers)));
  else if (view.heads == 0)
    lines.push_back("No layer has kept the attention that keys receive.");
  if (layers > 0 && view.counted() < view.tokens)
    lines.push_back("counted: keys that " + grouped_text(kFewestRows) + " rows or more see");
  if (view.of.cells == ResidualCells::Channel && view.kept_from != 0)
    lines.push_back(view.kept_from < 0
                        ? "Channel " + std::to_string(view.channel) + " is not kept: run with the residual stream kept."
                        : "Channel " + std::to_string(view.channel) + " is kept from boundary " +
                              std::to_string(view.kept_from) + " on; a run that keeps the stream has it before.");
  return lines;
}

// Wrapped, from the top of the area; their height.
float draw_statements(PanelContext& context, const std::vector<std::string>& lines, Rect area, bool draw) {
  float height = 8.0f;
  for (const std::string& line : lines) {
    const Vec2 at{area.x0, area.y0 + height};
    const TextStyle style = context.theme().body(context.theme().text2);
    const float taken = context.ui.paragraph(at, line, style, area.width(), kStatement, /*draw=*/false);
    if (draw && area.y0 + height + taken <= area.y1 + 1.0f)
      context.ui.paragraph(at, line, style, area.width(), kStatement);
    height += taken;
  }
  return height;
}

// What the maps show, and a button for a stream that was not kept.
void draw_choices(PanelContext& context, Rect bar, const ResidualView& view) {
  Ui& ui = context.ui;
  const auto chosen = view.of.cells;
  const std::vector<Choice> choices = {
      {"channel " + std::to_string(view.channel), "residual.cells channel", chosen == ResidualCells::Channel, ""},
      {"RMS", "residual.cells rms", chosen == ResidualCells::Rms, ""},
      {"largest", "residual.cells largest", chosen == ResidualCells::Largest, ""}};
  float right = bar.x1 - 36.0f;
  const float width = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, /*draw=*/false);
  float left = bar.x0 + measure::kPadding + ui.width("Where", context.theme().title()) + 12.0f;
  if (right - width < left) return;
  ui.segmented({right - width, bar.y0 + 4.0f}, measure::kPanelControl, choices);
  right -= width + 12.0f;
  const std::string hint = "tokens down, boundaries across";
  if (ui.width(hint, context.theme().hint()) <= right - left)
    context.painter().text_at(left, bar.y0 + 15.0f, hint, context.theme().hint());
}

}  // namespace

void draw_residual_cells(PanelContext& context, Rect frame) {
  const std::shared_ptr<const ResidualView> view = residual_view(context);
  Painter& painter = context.painter();
  const PanelScope scope(context, "residual cells", frame);
  const Rect bar{frame.x0, frame.y0, frame.x1, frame.y0 + measure::kPanelTitle};
  Rect body = draw_panel_title(context, frame, "map", "Where", "", "").inset(measure::kPadding, 8.0f);
  if (!view) {
    draw_residual_gap(context, body);
  } else {
    context.facts.set("residual.state", std::string("shown"));
    draw_choices(context, bar, *view);
    const std::vector<std::string> lines = statements_of(context, *view);
    const Rect statements =
        body.cut_bottom(std::min(draw_statements(context, lines, body, /*draw=*/false), 0.3f * body.height()));
    float number = context.ui.width(grouped_text(view->tokens - 1), {Face::Mono, 11.0f, context.theme().text});
    const float labels = std::clamp(0.13f * body.width(), number + 14.0f, number + 76.0f);
    const Cells cells = lay_out(*view, body, labels);
    const float rows = cells.row * static_cast<float>(cells.tokens.size());
    if (cells.left.width() >= 40.0f && cells.left.height() >= rows - 1.0f) {
      std::any& kept = context.ui.kept_value("images");
      if (!kept.has_value()) kept = Images();
      Images& images = *std::any_cast<Images>(&kept);
      const bool whole = cells.tokens.size() == static_cast<std::size_t>(view->tokens);
      const auto height =
          whole ? cells.tokens.size()
                : static_cast<std::size_t>(std::max(1.0f, std::floor(cells.all_left.height() * painter.scale())));
      const bool dark = images.cell_scale.map == context.theme().sequential();
      if (images.view != view || images.height != height || !dark) make_images(images, view, height, context.theme());
      Images shown = images;
      if (whole) shown.wide_cells = images.cells, shown.wide_received = images.received;
      CellsPanel panel(context, *view, shown);
      panel.left_ = body.x0;
      panel.draw(cells);
    }
    draw_statements(context, lines, statements, /*draw=*/true);
  }
}

const PanelInfo kResidualCellsPanel{
    .id = "residual_cells", .title = "Where", .least_width = 320.0f, .draw = draw_residual_cells};

}  // namespace headroom
