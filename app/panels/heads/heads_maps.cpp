// All heads as thumbnails of their maps.
#include "app/panels/heads/heads_maps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/heads/layer_plots.h"
#include "app/panels/heads/maps_layout.h"
#include "app/panels/heads/thumbnails.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/quick_layers.h"
#include "app/plot/color_bar.h"
#include "app/session/head_threshold.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr double kCardDelay = 0.15;  // seconds that the pointer rests on a thumbnail
constexpr float kScrollBar = 10.0f;

struct Maps {
  PanelContext& context;
  RunCache& memory;
  const RunSnapshot& run;
  const HeadColumn& number;  // in the corners, and what heads are ordered by
  const HeadColumn& atlas;   // whose threshold the contour is of
  MapsLayout layout;
  float scrolled = 0.0f;
  std::optional<std::size_t> place;  // under the pointer

  [[nodiscard]] const HeadsState& view() const { return context.state.view.heads; }
  [[nodiscard]] HeadRef head(std::size_t at) const { return head_of_row(run, layout.heads[at]); }
  // Under the pointer, here or in another panel; else the one whose card is kept.
  [[nodiscard]] std::optional<HeadRef> pointed() const {
    if (place) return head(*place);
    return context.state.hover.head ? context.state.hover.head : view().maps_card;
  }
  [[nodiscard]] ThumbnailView thumbnails() const { return {layout, scrolled, view().maps_show, pointed(), {}}; }
};

MenuItem choice(std::string title, std::string command, bool checked, bool line = false) {
  MenuItem item;
  item.title = std::move(title), item.command = std::move(command), item.checked = checked, item.separator = line;
  return item;
}

std::string show_title(MapKind kind, bool differential) {
  switch (kind) {
    case MapKind::First: return differential ? "first maps" : "weights";
    case MapKind::Second: return "second maps";
    case MapKind::Logits: return "logits";
    case MapKind::Net:
    case MapKind::ScaledSecond: break;
  }
  return differential ? "net maps" : "weights";
}

bool is_differential(const RunSnapshot& run) {
  return std::ranges::any_of(run.data, [](const auto& layer) {
    return layer && std::ranges::any_of(layer->programs, [](const HeadProgram& p) { return p.has_second(); });
  });
}

// By the table's order: heads that are there, the largest value first, those without one last.
std::vector<std::size_t> order_by_value(PanelContext& context, const RunSnapshot& run) {
  const std::string quantity = maps_quantity(context.state.view);
  return kept_for(context.ui.kept_value("order"), std::pair(context.state.heads_shown(), quantity),
                  [&] { return make_head_table(run, "", quantity, true).rows; });
}

void draw_maps_bar(const Maps& maps, Rect area) {
  const HeadsState& view = maps.view();
  ColorBarSpec spec;
  spec.scale = thumbnail_scale(maps.run, maps.memory, view.maps_show, maps.context.theme());
  spec.vertical = false, spec.thickness = 8.0f, spec.histogram_height = 0.0f;
  spec.clips_low = view.maps_show != MapKind::Logits;
  draw_color_bar(maps.context.painter(), area, spec, maps.context.theme());
}

void draw_controls(const Maps& maps, Rect row) {
  PanelContext& context = maps.context;
  const State& state = context.state;
  const HeadsState& view = maps.view();
  Ui& ui = context.ui;
  const bool differential = is_differential(maps.run);
  const std::string quantity = maps_quantity(state.view), number = view.maps_number == "none" ? "none" : quantity;
  const auto order_menu = [by_value = view.maps_by_value, quantity] {
    return std::vector<MenuItem>{
        choice("By layer", "heads.maps.order index", !by_value),
        choice("By " + column_title(quantity) + ", falling", "heads.maps.order value", by_value)};
  };
  const auto show_menu = [show = view.maps_show, differential] {
    return std::vector<MenuItem>{
        choice(differential ? "Net maps" : "Weights", "heads.maps.show net", show == MapKind::Net),
        choice("First maps", "heads.maps.show first", show == MapKind::First),
        choice("Second maps", "heads.maps.show second", show == MapKind::Second),
        choice("Logits", "heads.maps.show logits", show == MapKind::Logits)};
  };
  const auto number_menu = [number] {
    std::vector<MenuItem> items = quantity_menu("heads.maps.number", number);
    items.push_back(choice("No number", "heads.maps.number none", number == "none", true));
    return items;
  };
  const auto size_menu = [size = view.maps_size] {
    std::vector<MenuItem> items = {choice("As large as fits", "heads.maps.size fit", size <= 0.0)};
    for (const int pixels : {16, 24, 32, 48, 64, 96, 128})
      items.push_back(choice(std::to_string(pixels) + " px", "heads.maps.size " + std::to_string(pixels),
                             std::lround(size) == pixels, pixels == 16));
    return items;
  };
  const std::string order = view.maps_by_value ? column_heading(quantity) + ", falling" : "by layer";
  const std::string shown = view.maps_show == MapKind::Logits ? "" : ", log₁₀";
  const std::string number_name = number == "none" ? "none" : column_heading(quantity);
  const std::string size =
      (view.maps_size > 0.0 ? "" : "fit, ") + std::to_string(std::lround(maps.layout.size)) + " px";
  if (row.width() < 420.0f) {
    const float half = 0.5f * (row.width() - measure::kGap);
    const Rect left = row.cut_left(half);
    row.cut_left(measure::kGap);
    ui.combo("order", left, "order", order, [=] {
      std::vector<MenuItem> items = order_menu();
      MenuItem kinds = choice("Show", "", false, true), sizes = choice("Size", "", false);
      kinds.items = show_menu(), sizes.items = size_menu();
      items.push_back(std::move(kinds));
      items.push_back(std::move(sizes));
      return items;
    });
    ui.combo("number", row, "number", number_name, number_menu);
    return;
  }
  if (row.width() >= 900.0f) {
    draw_maps_bar(maps, {row.x1 - 220.0f, row.y0 - 1.0f, row.x1, row.y0 + 27.0f});
    row.cut_right(220.0f + measure::kGroupGap);
  }
  row.y1 = row.y0 + measure::kPanelControl;
  const float each = std::min(1.0f, (row.width() - 3.0f * measure::kGap) / 660.0f);
  const auto part = [&](float width) {
    const Rect area = row.cut_left(std::floor(width * each));
    row.cut_left(measure::kGap);
    return area;
  };
  ui.combo("order", part(190.0f), "order", order, order_menu);
  ui.combo("show", part(150.0f), "show", show_title(view.maps_show, differential) + shown, show_menu);
  ui.combo("number", part(190.0f), "number", number_name, number_menu);
  ui.combo("size", part(130.0f), "size", size, size_menu);
}

void draw_maps_labels(const Maps& maps) {
  Painter& painter = maps.context.painter();
  const Theme& theme = maps.context.theme();
  const MapsLayout& layout = maps.layout;
  const AtlasLayout& places = layout.places;
  if (layout.above.empty() && layout.left.empty()) return;
  const auto& selected = maps.context.state.view.selection.head;
  const auto mine = selected ? row_of(maps.run, *selected) : std::nullopt;
  const std::size_t heads = maps.run.heads.size(), none = kNoHead;
  const std::size_t my_layer = mine ? *mine / heads : none, my_head = mine ? *mine % heads : none;
  const std::optional<HeadRef> pointed = maps.pointed();
  const auto theirs = pointed ? row_of(maps.run, *pointed) : std::nullopt;
  const std::size_t its_layer = theirs ? *theirs / heads : none, its_head = theirs ? *theirs % heads : none;
  const std::size_t its_column = layout.across ? its_layer : its_head, its_row = layout.across ? its_head : its_layer;
  const auto style = [&](bool strong, bool at = false) {
    if (strong) return TextStyle{Face::MonoSemibold, 10.0f, theme.accent};
    return at ? TextStyle{Face::MonoSemibold, 10.0f, theme.text} : theme.tick();
  };
  const auto layer_text = [&](std::size_t l) { return std::to_string(maps.run.layers[l]); };
  const auto head_name = [&](std::size_t h) { return "H" + std::to_string(maps.run.heads[h]); };
  const std::size_t across = layout.across ? maps.run.layers.size() : heads;
  const bool in_one_row = layout.across || places.columns == heads;
  const float y = layout.above.y0 + 7.0f;
  if (in_one_row) {
    const std::string last = layout.across ? layer_text(across - 1) : head_name(across - 1);
    const float least = maps.context.ui.width(last, style(true)) + 6.0f;
    const std::size_t strong = layout.across ? my_layer : my_head;
    for (const std::size_t column : thinned_positions(across, places.cell_width, least)) {
      if (strong != none && column != strong &&
          std::abs(static_cast<float>(column) - static_cast<float>(strong)) * places.cell_width < least)
        continue;
      painter.text_at(places.cell(0, column).x0 + 0.5f * layout.size, y,
                      layout.across ? layer_text(column) : head_name(column),
                      style(column == strong, column == its_column), Painter::Align::Centre);
    }
    if (strong != none && strong < across) {
      const auto shown = thinned_positions(across, places.cell_width, least);
      if (std::ranges::find(shown, strong) == shown.end())
        painter.text_at(places.cell(0, strong).x0 + 0.5f * layout.size, y,
                        layout.across ? layer_text(strong) : head_name(strong), style(true), Painter::Align::Centre);
    }
  } else {
    maps.context.ui.label_at(layout.view.x0, y, std::to_string(heads) + " heads a layer", theme.hint(),
                             layout.view.width());
  }
  if (layout.left.empty()) return;
  const float layer_word = maps.context.ui.width("layer", theme.hint());
  if (layer_word <= layout.left.width() + 2.0f && layout.left.width() > 0.0f)
    painter.text_at(layout.left.x0, y, "layer", theme.hint());
  painter.push_clip({layout.left.x0, layout.view.y0, layout.view.x0, layout.view.y1});
  const std::size_t lines = layout.across ? 1 : std::max<std::size_t>(1, (heads + places.columns - 1) / places.columns);
  const std::size_t down = layout.across ? heads : maps.run.layers.size(), strong = layout.across ? my_head : my_layer;
  const float step = places.cell_height * static_cast<float>(lines);
  for (const std::size_t at : thinned_positions(down, step, 13.0f)) {
    const float centre = places.grid.y0 + step * static_cast<float>(at) + 0.5f * layout.side() - maps.scrolled;
    if (centre < layout.view.y0 + 7.0f || centre > layout.view.y1 - 7.0f) continue;
    painter.text_at(layout.view.x0 - 6.0f, centre, layout.across ? head_name(at) : layer_text(at),
                    style(at == strong, at == its_row), Painter::Align::Right);
  }
  painter.pop_clip();
}

// Between heads over the atlas's threshold and the others, as there; the number of its edges.
std::size_t draw_contour(const Maps& maps) {
  const auto threshold = threshold_of(maps.atlas.ref.info, maps.view());
  if (!threshold) return 0;
  std::vector<std::uint8_t> over(maps.atlas.values.size());
  for (std::size_t row = 0; row < over.size(); ++row) over[row] = maps.atlas.values[row] > *threshold ? 1 : 0;
  const std::vector<Edge> edges = maps_contour(maps.layout, over);
  const Rect view = maps.layout.view;
  const float back = 0.5f * maps.layout.gap, width = maps.layout.size >= 24.0f ? 2.0f : 1.0f;
  // Below names the line runs between a name and the thumbnail under it.
  Painter& painter = maps.context.painter();
  painter.push_clip(view);
  for (const Edge& edge : edges) {
    const Vec2 from{edge.from.x - back, edge.from.y - back - maps.scrolled},
        to{edge.to.x - back, edge.to.y - back - maps.scrolled};
    if (to.y < view.y0 || from.y > view.y1) continue;
    painter.line(from, to, maps.context.theme().mark, width);
  }
  painter.pop_clip();
  return edges.size();
}

// A sentence over the largest hatched part.
struct Missing {
  Rect box;  // empty: nothing is missing, or there is no room
  std::string title, text;
};
Missing missing_of(const Maps& maps, std::size_t there) {
  const MapsLayout& layout = maps.layout;
  std::size_t first = kNoHead, last = 0;
  for (std::size_t place = 0; place < layout.heads.size(); ++place) {
    if (layout.heads[place] == kNoHead) continue;
    const HeadRef head = maps.head(place);
    if (thumbnail_reason(maps.run, maps.view().maps_show, head).empty()) continue;
    if (first == kNoHead) first = place;
    last = place;
  }
  if (first == kNoHead) return {};
  const std::string reason = thumbnail_reason(maps.run, maps.view().maps_show, maps.head(first));
  const bool waits = !maps.run.complete && maps.run.layer(maps.head(first).layer) == nullptr;
  const std::string title = waits ? "not yet" : there == 0 ? "no maps" : "no map";
  const std::string text = waits ? std::to_string(maps.run.finished_layers()) + " of " +
                                       std::to_string(maps.run.layers.size()) + " layers so far"
                                 : reason;
  const Theme& theme = maps.context.theme();
  Rect part = layout.square(first, maps.scrolled);
  const Rect end = layout.square(last, maps.scrolled);
  part =
      Rect{std::min(part.x0, end.x0), std::min(part.y0, end.y0), std::max(part.x1, end.x1), std::max(part.y1, end.y1)};
  if (there > 0 && layout.across) part.y0 = layout.view.y0, part.y1 = layout.view.y1;
  part = part.intersected(seen_places(layout, maps.scrolled));
  const float width =
      std::max(maps.context.ui.width(title, theme.body(theme.text)), maps.context.ui.width(text, theme.hint())) + 20.0f;
  if (width > part.width() - 4.0f || part.height() < 46.0f) return {};
  const Rect box =
      Rect::sized(std::round(part.centre_x() - 0.5f * width), std::round(part.centre_y() - 21.0f), width, 42.0f);
  return {box, title, text};
}

void draw_missing(const Maps& maps, const Missing& missing) {
  if (missing.box.empty()) return;
  Painter& painter = maps.context.painter();
  const Theme& theme = maps.context.theme();
  const Rect& box = missing.box;
  painter.fill_rect(box, theme.panel, measure::kRadius);
  painter.text_at(box.x0 + 10.0f, box.y0 + 14.0f, missing.title, theme.body(theme.text));
  painter.text_at(box.x0 + 10.0f, box.y0 + 30.0f, missing.text, theme.hint());
}

// "α₀ > 0.3 above the line" where the last row leaves room.
void draw_count(const Maps& maps, std::size_t over, std::size_t measured) {
  const MapsLayout& layout = maps.layout;
  const auto threshold = threshold_of(maps.atlas.ref.info, maps.view());
  if (!maps.view().maps_by_value || maps.number.ref != maps.atlas.ref || !threshold) return;
  const std::string first = quantity_title(maps.atlas.ref) + " > " + short_text(*threshold) + " before the line",
                    second = std::to_string(over) + " of " + std::to_string(measured) + " heads";
  const Theme& theme = maps.context.theme();
  const float width = maps.context.ui.width(first, theme.hint());
  const Rect seen = seen_places(layout, maps.scrolled);
  std::size_t last = layout.heads.size();
  while (last > 0 && layout.heads[last - 1] == kNoHead) --last;
  if (last == 0) return;
  const Rect end = layout.square(last - 1, maps.scrolled);
  Rect room{end.x1 + 12.0f, end.y0, seen.x1, end.y1};
  if (room.width() < width || room.height() < 30.0f)
    room = {layout.view.x0, seen.y1 + 6.0f, layout.view.x1, layout.view.y1};
  if (room.width() < width || room.height() < 34.0f) return;
  maps.context.painter().text_at(room.x1, room.y0 + 10.0f, first, theme.hint(), Painter::Align::Right);
  maps.context.painter().text_at(room.x1, room.y0 + 26.0f, second, {Face::Mono, 11.0f, theme.text2},
                                 Painter::Align::Right);
}

// The pointer and the keys; the place under the pointer.
void take_hands(Maps& maps) {
  PanelContext& context = maps.context;
  Ui& ui = context.ui;
  const State& state = context.state;
  const Interaction hit = ui.interact("places", maps.layout.view, Cursor::Hand);
  if (hit.hovered) maps.place = maps.layout.at(ui.input.pointer, maps.scrolled);
  if (maps.place) {
    const HeadRef head = maps.head(*maps.place);
    context.hover.head = head;
    const bool there = maps.run.layer(head.layer) != nullptr;
    if (hit.double_clicked && there && state.layout.maximised == "heads") {
      ui.run("select " + head_text(head));
      ui.run("panel.maximise heads");
    } else if (hit.clicked && there && !hit.double_clicked) {
      ui.run("select " + head_text(head));
    }
  }
  if (hit.hovered && ui.input.modifiers.ctrl && ui.input.wheel.y != 0.0f) {
    const float wanted = std::round(maps.layout.size * std::pow(1.15f, ui.input.wheel.y));
    const float next = ui.input.wheel.y > 0.0f ? std::max(wanted, maps.layout.size + 1.0f) : wanted;
    ui.run("heads.maps.size " + std::to_string(std::lround(std::clamp(next, kLeastThumbnail, kMostThumbnail))));
  }
  const std::optional<HeadRef> hovered = context.hover.head;
  ui.context_menu("places menu", maps.layout.view, [hovered] {
    std::vector<MenuItem> items(5);
    items[0].title = "Copy the value", items[0].command = "copy";
    items[1].title = "Copy the address of the selection", items[1].command = "copy.address";
    items[2].title = "Show the heads as a table", items[2].command = "heads table", items[2].separator = true;
    items[3].title = "Export these maps as a figure…", items[3].command = "figure.screen heads";
    items[4].title = "Save a picture of the window…", items[4].command = "palette screenshot";
    if (hovered) {
      items.insert(items.begin(), {choice("Select " + head_text(*hovered), "select " + head_text(*hovered), false),
                                   choice("Keep its card", "heads.maps.card " + head_text(*hovered), false)});
    }
    return items;
  });

  if (state.overlay != Overlay::None || ui.wants_text() || ui.popup_open()) return;
  if (ui.key(Key::Space)) {
    const auto head = maps.place ? std::optional(maps.head(*maps.place)) : std::nullopt;
    const bool keep = head && maps.view().maps_card != head;
    if (keep || maps.view().maps_card) {
      ui.run("heads.maps.card " + (keep ? head_text(*head) : std::string("none")));
      ui.capture_keys();
    }
  }
  if (ui.key(Key::Enter) && state.view.selection.head && state.layout.maximised == "heads") {
    ui.run("panel.maximise heads");
    ui.capture_keys();
  }
  select_by_arrows(context, maps.run, maps.layout);
}

// The card of the head under the pointer, once it rests there, or of the one that is kept.
void wish_card(const Maps& maps) {
  PanelContext& context = maps.context;
  Ui& ui = context.ui;
  std::optional<HeadRef> head;
  std::string& rests_on = ui.kept_text("rests on");
  double& since = ui.kept_number("rests since");
  const std::string now = maps.place ? head_text(maps.head(*maps.place)) : std::string();
  if (rests_on != now) rests_on = now, since = ui.input.time;
  if (maps.place && !ui.input.down[kLeftButton] && !ui.popup_open()) {
    const double due = since + kCardDelay - ui.input.time;
    if (due > 1e-6)
      ui.wake_in(due);
    else
      head = maps.head(*maps.place);
  }
  const auto& kept = maps.view().maps_card;
  if (!head) head = kept;
  const auto row = head ? row_of(maps.run, *head) : std::nullopt;
  const auto place = row ? maps.layout.place_of(*row) : std::nullopt;
  if (!place) return;
  const Rect square = maps.layout.square(*place, maps.scrolled);
  if (square.y1 <= maps.layout.view.y0 || square.y0 >= maps.layout.view.y1) return;
  maps.memory.head_card() = HeadCardWish{*head, square, maps.layout.view.y0 - 4.0f, kept == head};
}

void scroll_to_selection(const Maps& maps) {
  std::string& seen = maps.context.ui.kept_text("selection seen");
  const auto& selected = maps.context.state.view.selection.head;
  const std::string now = selected ? head_text(*selected) : std::string();
  if (now == seen) return;
  seen = now;
  const auto row = selected ? row_of(maps.run, *selected) : std::nullopt;
  const auto place = row ? maps.layout.place_of(*row) : std::nullopt;
  if (!place) return;
  const Rect cell = maps.layout.places.cell(*place / maps.layout.places.columns, 0);
  maps.context.ui.scroll_to("scroll", cell.y0 - maps.layout.view.y0, cell.y1 - maps.layout.view.y0);
}

MapsLayout layout_of(PanelContext& context, const RunSnapshot& run, Rect body) {
  MapsRequest request;
  request.body = body;
  request.layers = run.layers.size(), request.heads = run.heads.size();
  if (context.state.view.heads.maps_by_value) request.by_value = order_by_value(context, run);
  request.wanted = static_cast<float>(context.state.view.heads.maps_size);
  const TextStyle mono = context.theme().tick();
  request.label_width = std::max(context.ui.width("H" + std::to_string(run.heads.back()), mono),
                                 context.ui.width(std::to_string(run.layers.back()), mono));
  request.label_width = std::max(request.label_width, 24.0f);
  request.name_width = context.ui.width(head_text({run.layers.back(), run.heads.back()}), mono) + 4.0f;
  MapsLayout layout = lay_out_maps(request);
  if (layout.content() > layout.view.height() + 1.0f && request.body.width() > 80.0f) {
    request.body.x1 -= kScrollBar;
    layout = lay_out_maps(request);
  }
  return layout;
}

void describe(const Maps& maps, std::size_t there, std::size_t edges) {
  Facts& facts = maps.context.facts;
  facts.set("maps.there", static_cast<double>(there));
  facts.set("maps.size", static_cast<double>(maps.layout.size));
  const Rect& view = maps.layout.view;
  for (const auto& [name, value] : {std::pair{"maps.x0", view.x0},
                                    {"maps.y0", view.y0},
                                    {"maps.x1", view.x1},
                                    {"maps.y1", view.y1},
                                    {"maps.pitch_x", maps.layout.places.cell_width},
                                    {"maps.pitch_y", maps.layout.places.cell_height},
                                    {"maps.columns", static_cast<float>(maps.layout.places.columns)},
                                    {"maps.scrolled", maps.scrolled}})
    facts.set(name, static_cast<double>(value));
  facts.set("maps.edges", static_cast<double>(edges));
  facts.set("maps.across", maps.layout.across ? 1.0 : 0.0);
  facts.set("maps.first", maps.layout.heads.empty() ? "none" : head_text(maps.head(0)));
  const std::optional<HeadRef> looked_at = maps.pointed() ? maps.pointed() : maps.context.state.view.selection.head;
  const auto row = looked_at ? row_of(maps.run, *looked_at) : std::nullopt;
  const std::vector<double>& values = maps.number.values;
  if (maps.view().maps_by_value && row && *row < values.size() && std::isfinite(values[*row])) {
    const auto larger = std::ranges::count_if(values, [&](double value) { return value > values[*row]; });
    const auto all = std::ranges::count_if(values, [](double value) { return std::isfinite(value); });
    std::string& rank = maps.context.readouts.maps_rank;
    rank = grouped_text(larger + 1) + " of " + grouped_text(all);
    facts.set("maps.rank", rank);
  }
  std::int64_t blocks = 0;
  for (const auto& layer : maps.run.data)
    if (layer && layer->pooled) blocks = layer->pooled->blocks;
  if (blocks == 0 || maps.view().maps_show == MapKind::Logits) return;
  std::string& readout = maps.context.readouts.maps;
  readout = std::to_string(blocks) + " × " + std::to_string(blocks) + " blocks, largest of each" +
            (maps.layout.strip > 0.0f ? " · strip at left: key 0" : "");
  facts.set("maps.readout", readout);
}

}  // namespace

void draw_maps(PanelContext& context, RunCache& memory, Rect body) {
  const RunSnapshot& run = *memory.run();
  const State& state = context.state;
  body = body.inset(measure::kPadding, 8.0f);
  const Rect controls = body.cut_top(measure::kPanelControl + (body.width() >= 900.0f ? 6.0f : 0.0f));
  body.cut_top(8.0f);
  Maps maps{context,
            memory,
            run,
            memory.column(maps_quantity(state.view)),
            memory.column(state.view.heads.quantity),
            layout_of(context, run, body),
            0.0f,
            {}};
  draw_controls(maps, controls);
  if (maps.layout.places.grid.empty() || maps.layout.heads.empty()) {
    draw_note(context, body, "There is no room for thumbnails.", "Make the panel larger: F11.");
    return;
  }
  scroll_to_selection(maps);
  maps.scrolled = context.ui.scroll(
      "scroll", {maps.layout.view.x0, maps.layout.view.y0, std::max(maps.layout.view.x1, body.x1), maps.layout.view.y1},
      maps.layout.content() - maps.layout.gap, maps.layout.places.cell_height);
  take_hands(maps);
  ThumbnailView thumbnails = maps.thumbnails();
  const std::size_t there = draw_thumbnails(context, memory, thumbnails);
  const Missing missing = missing_of(maps, there);
  thumbnails.covered = missing.box;
  if (state.view.heads.maps_number != "none")
    draw_thumbnail_numbers(context, run, maps.number, thumbnails, threshold_of(maps.number.ref.info, state.view.heads));
  draw_thumbnail_names(context, run, thumbnails);
  const std::size_t edges = draw_contour(maps);
  draw_maps_labels(maps);
  draw_missing(maps, missing);
  std::size_t over = 0, measured = 0;
  const auto threshold = threshold_of(maps.atlas.ref.info, state.view.heads);
  for (const double value : maps.atlas.values)
    if (threshold && std::isfinite(value) && value > *threshold) ++over;
  for (const auto& layer : run.data) measured += layer ? run.heads.size() : 0;
  draw_count(maps, over, measured);
  context.facts.set("heads.count_over", static_cast<double>(over));
  context.readouts.maps_over = grouped_text(static_cast<std::int64_t>(over)) + " of " +
                               grouped_text(static_cast<std::int64_t>(measured)) + " heads";
  context.facts.set("maps.over", context.readouts.maps_over);
  if (!maps.layout.plots.empty()) {
    const auto count = static_cast<std::size_t>(std::clamp(maps.layout.plots.height() / 72.0f, 1.0f, 3.0f));
    const std::vector<std::string> quantities = layer_plot_quantities(memory, maps_quantity(state.view), count);
    draw_layer_plots(context, memory, maps.layout.plots,
                     {maps.layout.places.grid.x0, maps.layout.places.cell_width, maps.layout.size}, quantities,
                     thumbnails.hovered);
  }
  describe(maps, there, edges);
  wish_card(maps);
}

}  // namespace headroom
