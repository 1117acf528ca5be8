#include "app/panels/residual/massive_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/residual/residual_parts.h"
#include "app/plot/series.h"
#include "app/plot/text_box.h"
#include "app/session/command_parts.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kLine = 20.0f, kHead = 20.0f, kSection = 26.0f, kHistogram = 132.0f, kButton = 26.0f;
constexpr std::size_t kMostMassive = 9, kMostBelow = 6;
constexpr float kColumn = 560.0f;  // wider ones only have longer gaps

// Draws downwards; with `draw` false only the height is found.
class List {
 public:
  List(PanelContext& context, const ResidualView& view, Rect column, Rect seen, bool draw)
      : context_(context),
        ui_(context.ui),
        painter_(context.painter()),
        theme_(context.theme()),
        view_(view),
        x0_(column.x0),
        x1_(column.x1),
        y_(column.y0),
        seen_(seen),
        draw_(draw) {}

  [[nodiscard]] float y() const { return y_; }

  void activations() {
    const bool narrow = x1_ - x0_ < 290.0f;
    header({"token", "channel", "peak h", narrow ? "ratio" : "× median", narrow ? "where" : "boundaries"});
    if (view_.massive.empty()) {
      const std::string largest =
          view_.largest ? "none; the largest |h| is " + ratio_text(view_.largest_ratio) + " × the median" : "none yet";
      text(largest, theme_.body(theme_.text2));
      if (view_.largest)
        text(activation_text(static_cast<double>(view_.largest->value)) + " at token " +
                 std::to_string(view_.largest->position) + ", channel " + std::to_string(view_.largest->channel) +
                 ", boundary " + std::to_string(view_.largest_boundary),
             theme_.hint());
    }
    rows(view_.massive, kMostMassive, "massive");
    y_ += 8.0f;
    title("Below 1\u2009000 × the median", "≥ " + ratio_text(view_.of.least) + " ×");
    if (view_.below.empty())
      text("no other activation reaches " + ratio_text(view_.of.least) + " × the median", theme_.hint());
    rows(view_.below, kMostBelow, "below");
  }

  void links() {
    if (view_.layers.empty() || !view_.largest) return;
    line();
    title("Linked with sinks", "medians over the heads");
    const std::string token = std::to_string(view_.largest->position);
    const bool others = !view_.companions.empty();
    std::vector<std::string> names = {"layers", "|h| of " + token, "received", "others", "drain"};
    if (!others) names.erase(names.begin() + 3);
    header(names, true);
    for (const LinkedLayers& group : view_.layers) {
      std::vector<std::string> cells = {group.first == group.last
                                            ? std::to_string(group.first)
                                            : std::to_string(group.first) + "\u2013" + std::to_string(group.last),
                                        activation_text(group.value), fixed_text(group.received, 3),
                                        fixed_text(group.others, 3), fixed_text(group.drain, 2)};
      if (!others) cells.erase(cells.begin() + 3);
      const std::int64_t boundary = view_.run->boundary_before(group.first);
      const bool here = view_.boundary >= boundary && view_.boundary <= view_.run->boundary_before(group.last);
      const Rect row = take(kLine);
      if (!visible(row)) continue;
      ground(row, here, "link " + cells[0], {"residual.boundary " + std::to_string(boundary)});
      for (std::size_t i = 0; i < cells.size(); ++i)
        cell(row, i, cells.size(), cells[i], i == 2 ? theme_.text : theme_.text2, true);
    }
    text("In channel " + std::to_string(view_.largest->channel) + ": |h| of token " + token +
             " before the layers, and the attention that key " + token +
             " receives. Drain: ‖v‖ of the token over the mean ‖v‖.",
         theme_.hint());
    if (others) {
      std::string keys;
      for (const std::int64_t key : view_.companions) keys += (keys.empty() ? "" : ", ") + std::to_string(key);
      text("Others: keys " + keys + " together.", theme_.hint());
    }
  }

  void histogram() {
    line();
    const ResidualBoundary* at = view_.at(view_.boundary);
    title("All |h| at boundary " + std::to_string(view_.boundary),
          at ? grouped_text(at->rows * at->channels) + " values, log count" : "");
    const Rect area = take(kHistogram);
    if (!visible(area) || !at || !at->finite) return;
    const auto& edges = magnitude_edges();
    std::size_t first = kMagnitudeBins, last = 0;
    double most = 1.0;
    for (std::size_t b = 0; b < kMagnitudeBins; ++b)
      if (at->histogram[b] > 0) {
        first = std::min(first, b), last = b;
        most = std::max(most, static_cast<double>(at->histogram[b]));
      }
    if (first == kMagnitudeBins) return;
    // The tail of small values says nothing: it begins where a ten thousandth of all lie.
    double below = 0.0;
    const double all = static_cast<double>(at->rows * at->channels);
    while (first < last && below + static_cast<double>(at->histogram[first]) < 1e-4 * all)
      below += static_cast<double>(at->histogram[first++]);
    AxisSpec x = axis_spec(static_cast<double>(edges[first]), static_cast<double>(edges[last + 1]) * 1.6, true);
    AxisSpec y = axis_spec(0.6, 2.0 * most, true);
    PlotRoom room;
    room.left = 46.0f;
    room.right = 8.0f;
    room.top = 12.0f;
    const PlotFrame frame = lay_out_plot(area, x, y, ui_.measure(), room);
    if (frame.inner.width() < 40.0f) return;
    draw_plot_ground(painter_, frame, theme_);
    const double massive = std::max(kMassiveMagnitude, kMassiveRatio * at->median);
    LabelSpace space({frame.inner.x0, frame.outer.y0, frame.inner.x1, frame.inner.y1});
    for (std::size_t b = first; b <= last; ++b) {
      if (at->histogram[b] == 0) continue;
      const Rect bar{frame.x.pixel(static_cast<double>(edges[b])), frame.y.pixel(static_cast<double>(at->histogram[b])),
                     std::max(frame.x.pixel(static_cast<double>(edges[b + 1])) - 1.0f,
                              frame.x.pixel(static_cast<double>(edges[b])) + 1.0f),
                     frame.inner.y1};
      painter_.fill_rect(bar, static_cast<double>(edges[b + 1]) > massive ? theme_.accent : theme_.text3);
      space.block(bar);
    }
    const float median = frame.x.pixel(at->median);
    painter_.line({median, frame.outer.y0 + 4.0f}, {median, frame.inner.y1}, theme_.text);
    const TextStyle style{Face::Sans, 11.0f, theme_.text2};
    const std::string name = "median " + readout_text(at->median);
    const float width = ui_.width(name, style);
    const bool right = median + width + 8.0f < frame.inner.x1;
    const Rect label = text_rect_at(right ? median + 4.0f : median - 4.0f - width, frame.outer.y0 + 8.0f, width, 11.0f);
    if (label.x0 >= frame.outer.x0) {
      draw_text_in(painter_, label, name, style);
      space.block(label);
    }
    // The largest by name, above its bar.
    if (!at->largest.empty() && static_cast<double>(std::abs(at->largest.front().value)) >= massive) {
      const LargeActivation& one = at->largest.front();
      const std::string who = std::to_string(one.position) + " · " + std::to_string(one.channel);
      const TextStyle mono{Face::Mono, 10.0f, theme_.accent};
      const float wide = ui_.width(who, mono), x_of = frame.x.pixel(static_cast<double>(std::abs(one.value)));
      std::vector<Rect> places;
      for (const float up : {30.0f, 46.0f, 62.0f})
        places.push_back(
            text_rect_at(std::min(x_of + 6.0f, frame.inner.x1 - 1.0f) - wide, frame.inner.y1 - up, wide, 10.0f));
      if (const std::ptrdiff_t chosen = space.place_first(places); chosen >= 0)
        draw_text_in(painter_, places[static_cast<std::size_t>(chosen)], who, mono);
    }
    draw_plot_axes(painter_, frame, theme_);
  }

  void attempts() {
    line();
    title("Try", "");
    const State& state = context_.state;
    const std::int64_t layer = view_.run->layer_reading(view_.boundary);
    const LayerSnapshot* reader = layer < 0 ? nullptr : view_.run->layer(layer);
    const std::int64_t key = view_.largest ? view_.largest->position : 0;
    if (!reader) {
      text("No measured layer reads this boundary.", theme_.hint());
    } else {
      const HeadRef head = most_sinking(*reader);
      const std::string select = "select " + head_text(head);
      const bool keys_fit = reader->axes.keys == view_.axis();
      if (const std::string reason = needs_checkpoint(state); !reason.empty())
        text("Hide key " + std::to_string(key) + ": " + reason, theme_.hint());
      else if (keys_fit)
        button("Hide key " + std::to_string(key) + " in " + state.layer_name(layer),
               {select, "what-if.scope layer", "what-if hide-key=" + std::to_string(key)}, /*beside=*/true);
      button("Show " + head_text(head), {"residual off", select});
    }
    if (!state.find_model(state.shown()->model))
      button("Open the checkpoint of this run file", {"run.checkpoint"});
    else if (!view_.at(view_.boundary) || !view_.at(view_.boundary)->stream)
      button("Run again, and keep the whole stream", {"residual.keep on", "run"});
    text(notes(), theme_.hint());
  }

 private:
  // What is cut by the edge of the scrolled view is left out.
  [[nodiscard]] bool visible(const Rect& row) const {
    return draw_ && row.y0 >= seen_.y0 - 0.5f && row.y1 <= seen_.y1 + 0.5f;
  }
  Rect take(float height) {
    const Rect row{x0_, y_, x1_, y_ + height};
    y_ += height;
    return row;
  }

  void line() {
    y_ += 10.0f;
    if (draw_ && y_ > seen_.y0) painter_.fill_rect({x0_, y_, x1_, y_ + 1.0f}, theme_.line);
    y_ += 5.0f;
  }
  void title(const std::string& name, const std::string& hint) {
    const Rect row = take(kSection);
    if (!visible(row)) return;
    const float width = ui_.label_at(row.x0, row.centre_y(), name, theme_.plot_title(), row.width());
    if (!hint.empty() && ui_.width(hint, theme_.hint()) <= row.width() - width - 12.0f)
      painter_.text_at(row.x1, row.centre_y(), hint, theme_.hint(), Painter::Align::Right);
  }
  void text(const std::string& sentence, const TextStyle& style) {
    constexpr float kParagraphLine = 16.0f;
    const float height = ui_.paragraph({x0_, y_}, sentence, style, x1_ - x0_, kParagraphLine, /*draw=*/false);
    const int lines = static_cast<int>((seen_.y1 - y_) / kParagraphLine);
    if (draw_ && y_ >= seen_.y0 - 0.5f && lines > 0)
      ui_.paragraph({x0_, y_}, sentence, style, x1_ - x0_, kParagraphLine, true, lines);
    y_ += height + 3.0f;
  }
  void header(const std::vector<std::string>& names, bool first_left = false) {
    const Rect row = take(kHead);
    if (!visible(row)) return;
    for (std::size_t i = 0; i < names.size(); ++i)
      cell(row, i, names.size(), names[i], theme_.text3, first_left, Face::Sans);
    painter_.fill_rect({row.x0, row.y1 - 1.0f, row.x1, row.y1}, theme_.line);
  }

  // Right ends of equal columns; the first begins at the left where it is a name.
  void cell(const Rect& row, std::size_t i, std::size_t count, const std::string& value, Color color, bool first_left,
            Face face = Face::Mono) {
    const float width = row.width() / static_cast<float>(count);
    const TextStyle style{face, 11.0f, color};
    const bool left = i == 0 && first_left;
    const float x = left ? row.x0 : row.x0 + width * static_cast<float>(i + 1);
    if (ui_.width(value, style) > width + 2.0f) return;
    painter_.text_at(x, row.centre_y(), value, style, left ? Painter::Align::Left : Painter::Align::Right);
  }

  void ground(const Rect& row, bool here, const std::string& id, const std::vector<std::string>& lines) {
    const Rect wide{row.x0 - 8.0f, row.y0, row.x1 + 8.0f, row.y1};
    const Interaction hit = ui_.interact(id, wide, Cursor::Hand);
    if (here)
      painter_.fill_rect(wide, theme_.accent_soft);
    else if (hit.hovered)
      painter_.fill_rect(wide, theme_.hover);
    if (here) painter_.fill_rect({wide.x0, wide.y0, wide.x0 + 3.0f, wide.y1}, theme_.accent);
    if (hit.clicked)
      for (const std::string& command : lines) ui_.run(command);
  }

  // Token and text, channel, peak, ratio, boundaries: where these have no room, how many they are.
  void rows(const std::vector<ListedActivation>& list, std::size_t most, const char* id) {
    const float width = x1_ - x0_;
    const float token = x0_ + 0.10f * width, channel = x0_ + 0.38f * width, peak = x0_ + 0.56f * width,
                ratio = x0_ + 0.755f * width;
    for (std::size_t i = 0; i < std::min(most, list.size()); ++i) {
      const ListedActivation& one = list[i];
      const Rect row = take(kLine);
      if (!visible(row)) continue;
      const bool here = one.token == view_.token && one.channel == view_.channel;
      ground(row, here, std::string(id) + std::to_string(i),
             {"residual.channel " + std::to_string(one.channel), "residual.token " + std::to_string(one.token),
              "residual.boundary " + std::to_string(one.boundary)});
      const float y = row.centre_y();
      const TextStyle mono{Face::Mono, 11.0f, theme_.text2}, strong{Face::MonoSemibold, 11.0f, theme_.text};
      const auto number = [&](float right, const std::string& value, const TextStyle& style) {
        painter_.text_at(right, y, value, style, Painter::Align::Right);
        return right - ui_.width(value, style);
      };
      number(token, std::to_string(one.token), {Face::Mono, 11.0f, token_color(view_, one.token, theme_)});
      const float to = number(channel, std::to_string(one.channel), mono) - 6.0f;
      number(peak, activation_text(one.value), strong);
      number(ratio, ratio_text(one.ratio), mono);
      if (to - token > 18.0f)
        ui_.label_at(token + 6.0f, y, residual_token(view_, one.token, view_.axis_of(one.boundary)), theme_.hint(),
                     to - token - 8.0f);
      std::string where = ranges_text(one.boundaries);
      if (ui_.width(where, mono) > x1_ - ratio - 6.0f)
        where = std::to_string(one.boundaries.size()) + " of " + std::to_string(view_.boundaries);
      number(x1_, where, mono);
      ui_.tooltip(row, "boundaries " + ranges_text(one.boundaries) + "\nlargest at boundary " +
                           std::to_string(one.boundary) + ": " + boundary_name(*view_.run, one.boundary));
    }
    if (list.size() > most)
      text("and " + grouped_text(static_cast<std::int64_t>(list.size() - most)) + " more", theme_.hint());
  }

  // `beside`: the next one stands at its right, where there is room.
  void button(const std::string& name, const std::vector<std::string>& lines, bool beside = false) {
    const float width = ui_.button_width(name);
    if (beside_ > 0.0f && beside_ + width > x1_) beside_ = 0.0f;
    const bool again = beside_ > 0.0f;
    const Rect row = again ? Rect{beside_, y_ - kButton - 6.0f, x1_, y_} : take(kButton + 6.0f);
    beside_ = beside ? row.x0 + width + 8.0f : 0.0f;
    if (!visible(row) || width > row.width()) return;
    if (ui_.button({row.x0, row.y0, row.x0 + width, row.y0 + kButton}, name, "", ButtonStyle::Plain))
      for (const std::string& command : lines) ui_.run(command);
  }

  [[nodiscard]] HeadRef most_sinking(const LayerSnapshot& layer) const {
    HeadRef best{layer.layer, layer.heads.front()};
    double most = -kInfinity;
    for (const std::int64_t head : layer.heads) {
      const double value = view_.run->at("sink_score", layer.layer, head);
      if (value > most) most = value, best.head = head;
    }
    return best;
  }

  [[nodiscard]] std::string notes() const {
    const RunEntry* run = context_.state.shown();
    const ModelEntry* model = run ? context_.state.find_model(run->model) : nullptr;
    std::string sentence = "The channels are read as they are, before the final norm";
    const std::string dtype = run && !run->dtype.empty() ? run->dtype : "";
    sentence += dtype.empty() ? ". " : ", in " + dtype + ". ";
    if (model && model->model && model->model->spec.streams.present())
      sentence += "The model has " + std::to_string(model->model->spec.streams.count()) +
                  " streams; this is the one that its blocks work on. ";
    if (model && model->model &&
        std::ranges::any_of(model->model->spec.blocks, [](const BlockSpec& block) { return block.parallel; }))
      sentence += "Its blocks add attention and MLP to the same input, so there is no boundary between the two. ";
    return sentence + "They depend on the basis: a rotation of the stream would change this list.";
  }

  PanelContext& context_;
  Ui& ui_;
  Painter& painter_;
  const Theme& theme_;
  const ResidualView& view_;
  float x0_, x1_, y_;
  Rect seen_;
  bool draw_;
  float beside_ = 0.0f;  // where the next button stands; 0: in a row of its own
};

}  // namespace

void draw_massive_panel(PanelContext& context, Rect frame) {
  const std::shared_ptr<const ResidualView> view = residual_view(context);
  const PanelScope scope(context, "massive", frame);
  const std::string hint = fitting_hint(context, frame, "Massive activations",
                                        {"|h| ≥ 100 and ≥ 1\u2009000 × median", "≥ 100, ≥ 1\u2009000 × median"});
  const Rect body = draw_panel_title(context, frame, "head", "Massive activations", "", hint);
  if (!view) {
    draw_note(context, body.inset(measure::kPadding, 8.0f), "No residual stream is shown.");
  } else if (body.width() > 200.0f && body.height() > 60.0f) {
    const bool two = body.width() >= 800.0f;
    const float width = two ? std::min(kColumn, 0.5f * body.width()) : body.width();
    const auto draw = [&](float top, bool drawn) {
      Rect column{body.x0 + measure::kPadding, top, body.x0 + width - measure::kPadding, body.y1};
      List left(context, *view, column, body, drawn);
      left.activations();
      if (!two) {
        left.links();
        left.histogram();
        left.attempts();
        return left.y();
      }
      left.links();
      column = {column.x0 + width, top - 14.0f, column.x1 + width, body.y1};
      List right(context, *view, column, body, drawn);
      right.histogram();
      right.attempts();
      return std::max(left.y(), right.y());
    };
    const float content = draw(0.0f, false) + 10.0f;
    const float offset = context.ui.scroll("list", body, content);
    context.ui.push_clip(body);
    draw(body.y0 + 2.0f - offset, true);
    context.ui.pop_clip();
    context.facts.set("residual.massive", static_cast<double>(view->massive.size()));
    context.facts.set("residual.below", static_cast<double>(view->below.size()));
    context.facts.set("residual.largest_ratio", view->largest_ratio);
    if (view->largest) context.facts.set("residual.largest", std::abs(static_cast<double>(view->largest->value)));
  }
}

const PanelInfo kMassivePanel{
    .id = "massive", .title = "Massive activations", .least_width = 240.0f, .draw = draw_massive_panel};

}  // namespace headroom
