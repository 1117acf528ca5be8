// What heads can do, from weights alone: their strongest compositions, a number of every head by layer, and the spectra
// of OV and QK.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/head_levels.h"
#include "app/figures/kinds/circuit_pairs.h"
#include "app/figures/kinds/composition_panels.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "app/plot/place_quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostSpectra = 3;    // heads that one plot can tell apart
constexpr double kSpectrumDecades = 1e-4;  // of the largest: what lies below is not drawn
constexpr std::size_t kCrowd = 4000;       // points that cover what is below them
constexpr std::size_t kWideLayers = 96;    // that take a row of their own
constexpr float kCircuitPitch = 3.0f;      // millimetres, of the pairs that are listed
constexpr std::array<const char*, 3> kOfLayers = {"qk_refused", "ov_refused", "path_refused"};

std::string circuit_heads_word(std::int64_t count) { return grouped_text(count) + (count == 1 ? " head" : " heads"); }

// A number of every head by layer, with medians and quartiles.
class CircuitLayersPanel final : public FigurePanel {
 public:
  DrawnHeads drawn;
  QuantityRef quantity;
  std::vector<double> values;  // [layers, heads] that are drawn
  std::vector<double> lower, median, upper;
  std::optional<HeadRef> chosen;
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    // The last of many layers stands at the end.
    return {left_of_axis(y, inner.y, page), std::max(page.style.pt(2.0f), beyond_axis(x, inner.x, page) + 0.5f), 0.0f,
            below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(20.0f), page.style.pt(0.9f) * static_cast<float>(drawn.layers.size())),
            page.style.mm(14.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    const std::string named = quantity_text(quantity);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    std::vector<double> at;
    for (std::size_t l = 0; l < drawn.layers.size(); ++l) at.push_back(static_cast<double>(l));
    const bool pooled = drawn.heads.size() > 1 && drawn.layers.size() > 1;
    if (pooled) {
      painter.begin_series({named, "", "quartiles"});
      draw_page_band(painter, along, up, at, lower, upper, ink::kSecond.mark.faded(0.16f));
      painter.end_series();
    }
    const bool crowd = values.size() > kCrowd;
    if (!crowd) draw_lines(painter, inner, up, page, space);
    const float radius = style.pt(crowd ? 0.4f : values.size() > 100 ? 0.9f : 1.2f);
    painter.begin_series({named, "", "heads"});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      const Vec2 point{along.pixel(at[i / drawn.heads.size()]), up.pixel(values[i])};
      painter.disc(point, radius, own(i) ? ink::kHead.mark : ink::kOthers.mark.faded(crowd ? 0.5f : 0.9f));
      space.block(Rect{point.x - radius, point.y - radius, point.x + radius, point.y + radius});
    }
    painter.end_series();
    if (crowd) draw_lines(painter, inner, up, page, space);
    if (pooled) {
      const std::vector<Vec2> line = placed_points(along, up, at, median);
      painter.begin_series({named, "", "median"});
      draw_page_line(painter, line, ink::kSecond.mark, 1.1f, kSolidLine, page);
      painter.end_series();
      block_page_line(space, line, style.pt(1.2f));
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      if (own(i) && std::isfinite(values[i]))
        name_chosen(painter, {along.pixel(at[i / drawn.heads.size()]), up.pixel(values[i])}, page, space);
    // Of a crowd the title says it, with the count.
    if (!crowd) draw_threshold(painter, inner, up, page, space, true);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity_text(quantity), mark.kind = "point";
      mark.layer = drawn.layers[i / drawn.heads.size()], mark.head = drawn.heads[i % drawn.heads.size()];
      mark.x = static_cast<double>(mark.layer), mark.y = values[i];
      data.add(std::move(mark));
    }
    for (std::size_t l = 0; drawn.heads.size() > 1 && drawn.layers.size() > 1 && l < drawn.layers.size(); ++l) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity_text(quantity) + " median", mark.kind = "line";
      mark.layer = drawn.layers[l], mark.x = static_cast<double>(mark.layer);
      mark.y = median[l], mark.low = lower[l], mark.high = upper[l], mark.n = std::ssize(drawn.heads);
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] bool own(std::size_t i) const {
    return chosen && *chosen == HeadRef{drawn.layers[i / drawn.heads.size()], drawn.heads[i % drawn.heads.size()]};
  }
  void name_chosen(Painter& painter, Vec2 at, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    painter.disc(at, style.pt(1.4f), ink::kHead.mark);
    const RichText label = rich(head_text(*chosen));
    const float width = rich_width(page.measure, label, style.text());
    for (const float gap : {3.0f, 6.0f, 10.0f})
      if (try_label(painter, page, space, label, style.on_lines(ink::kHead.text),
                    places_beside(at, width, style.pt(gap), page)))
        return;
    leave_out(page, label);
  }
  // Where the number is 0, and the threshold.
  void draw_lines(Painter& painter, const Rect& inner, const Axis& up, const Page& page, LabelSpace& space) const {
    if (!y.log && y.low < 0.0 && y.high > 0.0) {
      const float zero = up.pixel(0.0);
      painter.line({inner.x0, zero}, {inner.x1, zero}, ink::kBlack, page.style.pt(0.5f));
    }
    draw_threshold(painter, inner, up, page, space, false);
  }
  // Over which heads are counted: the line, or its number.
  void draw_threshold(Painter& painter, const Rect& inner, const Axis& up, const Page& page, LabelSpace& space,
                      bool value) const {
    if (!quantity.info->threshold || !(*quantity.info->threshold > y.low && *quantity.info->threshold < y.high)) return;
    const PageStyle& style = page.style;
    const float at = up.pixel(*quantity.info->threshold);
    if (!value) {
      painter.begin_series({"", "", "threshold"});
      painter.dashed_line({inner.x0, at}, {inner.x1, at}, ink::kBlack, style.pt(0.7f), style.pt(5.0f), style.pt(3.0f));
      painter.end_series();
      space.block(Rect{inner.x0, at - 0.4f, inner.x1, at + 0.4f});
      return;
    }
    const RichText text = rich(short_text(*quantity.info->threshold));
    put_label(painter, page, space, text, style.on_lines(ink::kBlack),
              places_along(inner, at, rich_width(page.measure, text, style.text()), false, page));
  }
};

// Singular values by their place: of heads, and of all that are drawn.
class SpectrumPanel final : public FigurePanel {
 public:
  struct Line {
    HeadRef head;
    std::size_t map = 0;
    std::vector<double> y;
    MarkColor color;
    LineDash dash;
    RichText label;
  };
  std::string quantity;
  std::vector<double> lower, median, upper;  // over heads, by place
  std::int64_t heads = 0;
  std::vector<Line> lines;
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    std::vector<RichText> names;
    for (const Line& line : lines) names.push_back(line.label);
    return {left_of_axis(y, inner.y, page), std::max(end_name_room(names, page), most_beyond_axis(x, inner.x, page)),
            0.0f, below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(18.0f), page.style.mm(14.0f)}; }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, page.style.pt(1.0f));
    const std::vector<double> at = places();
    std::vector<double> from = lower, to = upper;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (std::isfinite(from[i])) from[i] = std::max(from[i], y.low), to[i] = std::max(to[i], y.low);
    if (heads > 1) {
      painter.begin_series({quantity, "", "5–95 %"});
      draw_page_band(painter, along, up, at, from, to, ink::kSecond.mark.faded(0.16f));
      painter.end_series();
      const std::vector<Vec2> line = placed_points(along, up, at, shown(median));
      painter.begin_series({quantity, "", "median"});
      draw_page_line(painter, line, ink::kSecond.mark, 0.9f, kBoundDash, page);
      painter.end_series();
      block_page_line(space, line, page.style.pt(1.6f));
    }
    std::vector<EndName> names;
    for (const Line& one : lines) {
      const std::vector<Vec2> line = placed_points(along, up, at, shown(one.y));
      painter.begin_series({quantity, head_text(one.head), one.map == 0 ? "head" : "head, second map"});
      draw_page_line(painter, line, one.color.mark, one.map == 0 ? 1.1f : 0.8f, one.dash, page);
      painter.end_series();
      block_page_line(space, line, page.style.pt(1.6f));
      float end = std::nanf("");
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (std::isfinite(line[i].y)) end = line[i].y;
        // It goes on below the axis.
        if (i > 0 && std::isfinite(line[i - 1].y) && !std::isfinite(line[i].y) && i < one.y.size() &&
            std::isfinite(one.y[i]))
          draw_below(painter, {along.pixel(at[i]), inner.y1}, one.color.mark, page);
      }
      names.push_back({one.label, one.color.text, end});
    }
    if (heads > 1) {
      std::vector<std::vector<Vec2>> known{placed_points(along, up, at, shown(median))};
      for (const Line& one : lines) known.push_back(placed_points(along, up, at, shown(one.y)));
      for (auto& line : known) std::erase_if(line, [](Vec2 corner) { return !std::isfinite(corner.y); });
      const RichText label = rich("all heads");
      if (!known.front().empty())
        put_label(painter, page, space, label, page.style.on_lines(ink::kSecond.text),
                  places_at_line(known, 0, rich_width(page.measure, label, page.style.text()), inner, page));
    }
    draw_end_names(painter, inner, names, page);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; heads > 1 && i < median.size(); ++i) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity + " median", mark.kind = "line", mark.x = static_cast<double>(i + 1);
      mark.y = median[i], mark.low = lower[i], mark.high = upper[i], mark.n = heads;
      data.add(std::move(mark));
    }
    for (const Line& line : lines)
      for (std::size_t i = 0; i < line.y.size(); ++i) {
        if (!std::isfinite(line.y[i])) continue;
        FigureMark mark;
        mark.panel = id, mark.series = quantity, mark.kind = "line", mark.x = static_cast<double>(i + 1);
        mark.layer = line.head.layer, mark.head = line.head.head, mark.y = line.y[i];
        if (quantity == "qk_singular_value") mark.component = static_cast<std::int64_t>(line.map);
        data.add(std::move(mark));
      }
  }
  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] std::vector<double> places() const {
    std::vector<double> at;
    for (std::size_t i = 0; i < median.size(); ++i) at.push_back(static_cast<double>(i + 1));
    return at;
  }
  static void draw_below(Painter& painter, Vec2 tip, Color color, const Page& page) {
    const float size = page.style.pt(2.4f);
    painter.fill_polygon(
        std::array<Vec2, 3>{{tip, {tip.x - 0.7f * size, tip.y - size}, {tip.x + 0.7f * size, tip.y - size}}}, color);
  }
  // What lies on the axis.
  [[nodiscard]] std::vector<double> shown(std::vector<double> values) const {
    for (double& value : values)
      if (!(value >= y.low)) value = kNaN;
    return values;
  }
};

// What is read of the file, of heads that are drawn.
struct CircuitFile {
  std::unique_ptr<RunFile> file;
  DrawnHeads drawn;
  QuantityRef quantity;
  std::vector<double> values;  // of the quantity, [layers, heads] that are drawn
};

std::size_t stored_place(const RunSnapshot& run, HeadRef head) {
  const auto l = std::ranges::find(run.layers, head.layer) - run.layers.begin(),
             h = std::ranges::find(run.heads, head.head) - run.heads.begin();
  return static_cast<std::size_t>(l) * run.heads.size() + static_cast<std::size_t>(h);
}

// The first reason that the file has for what is missing: "a norm stands between the factors".
std::string refused_because(const RunFile& file) {
  for (const char* name : kOfLayers)
    if (file.find(name))
      if (const auto reasons = file.read_strings(name))
        for (const std::string& reason : *reasons)
          if (!reason.empty()) return reason;
  return {};
}

Result<CircuitFile> read_circuit_file(const FigureRun& run, const FigureChoice& choice) {
  CircuitFile circuits;
  HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
  HEADROOM_TRY(circuits.drawn, drawn_heads(run, choice));
  if (choice.quantities.size() > 1)
    return Error(ErrorCode::InvalidArgument,
                 "circuits is drawn of one quantity; --quantity has " + std::to_string(choice.quantities.size()));
  if (choice.heads.size() > kMostSpectra)
    return Error(ErrorCode::InvalidArgument,
                 "circuits shows spectra of at most three heads; --head names " + std::to_string(choice.heads.size()));
  circuits.quantity =
      choice.quantities.empty() ? QuantityRef{find_quantity_info("copying_score"), 0} : choice.quantities.front();
  if (circuits.quantity.info->group != QuantityGroup::Circuits) {
    std::string names;
    for (const QuantityInfo& info : quantity_infos())
      if (info.group == QuantityGroup::Circuits) names += (names.empty() ? "" : ", ") + info.name;
    return Error(ErrorCode::InvalidArgument, "circuits: " + quantity_text(circuits.quantity) + " is of a run")
        .wanted("one of " + names, quantity_text(circuits.quantity));
  }
  HEADROOM_TRY(circuits.file, RunFile::open(run.path));
  HEADROOM_TRY(const HeadNumbers numbers, numbers_by_head(run, *circuits.file, circuits.quantity.info->name));
  for (const std::int64_t layer : circuits.drawn.layers)
    for (const std::int64_t head : circuits.drawn.heads) {
      const bool there = circuits.quantity.index < numbers.elements;
      circuits.values.push_back(there ? numbers.of(stored_place(*run.run, {layer, head}))[circuits.quantity.index]
                                      : kNaN);
    }
  const auto finite = [](double v) { return std::isfinite(v); };
  if (!choice.quantities.empty() && std::ranges::none_of(circuits.values, finite)) {
    const std::string why = refused_because(*circuits.file);
    return Error(ErrorCode::Unsupported, "circuits: " + quantity_text(circuits.quantity) + ": no head of " +
                                             run.name() + " has a value" + (why.empty() ? "" : " (" + why + ")"));
  }
  return circuits;
}

std::unique_ptr<CircuitLayersPanel> circuit_layers(const CircuitFile& circuits, const FigureChoice& choice) {
  std::int64_t finite = 0, above = 0;
  const QuantityInfo& info = *circuits.quantity.info;
  double low = kInfinity, high = -kInfinity;
  for (const double v : circuits.values)
    if (std::isfinite(v)) {
      ++finite, above += info.threshold && v > *info.threshold ? 1 : 0;
      low = std::min(low, v), high = std::max(high, v);
    }
  if (finite == 0) return nullptr;
  auto panel = std::make_unique<CircuitLayersPanel>();
  panel->kind = "circuits", panel->name = "layers", panel->weight = 46.0f;
  panel->drawn = circuits.drawn, panel->quantity = circuits.quantity, panel->values = circuits.values;
  if (!choice.heads.empty()) panel->chosen = choice.heads.front();
  const std::size_t heads = circuits.drawn.heads.size();
  std::vector<std::vector<double>> q = layer_quantiles(circuits.values, heads, std::array{0.25, 0.5, 0.75});
  panel->lower = std::move(q[0]), panel->median = std::move(q[1]), panel->upper = std::move(q[2]);
  panel->x = layer_axis(circuits.drawn.layers, circuits.drawn.all_layers);
  const bool log = info.log && low > 0.0;
  const Range range = nice_range(low, high > low ? high : low + std::max(1e-6, 0.01 * std::abs(low)), log);
  panel->y = {range.low, range.high, log};
  if (info.natural) panel->y = {info.natural->low, info.natural->high};
  panel->title = rich_title(quantity_title(circuits.quantity));
  panel->brief = rich_title(info.column);
  panel->right =
      rich(info.threshold ? std::to_string(above) + " of " + grouped_text(finite) + " > " + short_text(*info.threshold)
                          : circuit_heads_word(finite));
  panel->sentence = plain_text(rich_title(quantity_heading(circuits.quantity))) + " of every head by layer";
  if (!info.definition.empty()) panel->sentence += ": " + definition_markup(info.definition);
  if (!panel->sentence.ends_with('.')) panel->sentence += ".";
  if (heads > 1 && circuits.drawn.layers.size() > 1)
    panel->sentence += " Blue: median and quartiles over the " + std::to_string(heads) + " heads of a layer.";
  if (const auto lacking = std::ssize(circuits.values) - finite; lacking > 0) {
    const std::string why = refused_because(*circuits.file);
    panel->sentence += " Not drawn: " + circuit_heads_word(lacking) + " without a value" +
                       (why.empty() ? "" : " (" + literal_markup(why) + ")") + ".";
  }
  return panel;
}

// `stored`: of the dataset; its elements are [maps, places].
std::unique_ptr<SpectrumPanel> spectrum(const FigureRun& run, const DrawnHeads& drawn,
                                        const std::vector<HeadRef>& chosen, const std::string& quantity,
                                        const HeadNumbers& stored, std::size_t maps) {
  if (stored.empty()) return nullptr;
  constexpr std::array<MarkColor, kMostSpectra> kColors = {ink::kHead, MarkColor{ink::kBlack, ink::kBlack},
                                                           ink::kFirst};
  constexpr std::array<LineDash, kMostSpectra> kDashes = {kSolidLine, kLongDash, kShortDash};
  const std::size_t length = stored.elements / maps;
  auto panel = std::make_unique<SpectrumPanel>();
  panel->kind = "circuits", panel->quantity = quantity, panel->weight = 38.0f;
  std::vector<std::span<const double>> rows;
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      rows.push_back(stored.of(stored_place(*run.run, {layer, head})).first(length));
      panel->heads += std::isfinite(rows.back().front()) ? 1 : 0;
    }
  PlaceQuantiles all = place_quantiles(rows, length);
  const std::size_t places = all.median.size();
  if (places == 0) return nullptr;
  double high = 0.0, low = kInfinity;
  for (std::size_t i = 0; i < places && panel->heads > 1; ++i)
    high = std::max(high, all.high[i]), low = std::min(low, all.low[i]);
  panel->lower = std::move(all.low), panel->median = std::move(all.median), panel->upper = std::move(all.high);
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const auto values = stored.of(stored_place(*run.run, chosen[c]));
    for (std::size_t map = 0; map < maps; ++map) {
      SpectrumPanel::Line line{chosen[c],
                               map,
                               {},
                               kColors[c],
                               map == 0 ? kDashes[c] : kDots,
                               rich(map == 0 ? head_text(chosen[c]) : "second map")};
      const auto own = values.subspan(map * length, std::min(length, places));
      line.y.assign(own.begin(), own.end());
      if (std::ranges::none_of(line.y, [](double v) { return std::isfinite(v); })) continue;
      for (const double v : line.y)
        if (std::isfinite(v)) high = std::max(high, v), low = std::min(low, v);
      panel->lines.push_back(std::move(line));
    }
  }
  if (!(high > 0.0)) return nullptr;
  const bool cut = low < kSpectrumDecades * high;
  if (cut) low = kSpectrumDecades * high;
  const double room = std::pow(high / low, 0.03);
  panel->y = {cut ? low : low / std::max(room, 1.02), high * std::max(room, 1.02), true};
  panel->x = {1.0, std::max(2.0, static_cast<double>(places))};
  panel->x.whole = true, panel->x.title = rich("place");
  const std::string of = quantity.starts_with("ov") ? "OV" : "QK";
  panel->name = quantity.starts_with("ov") ? "ov" : "qk";
  panel->title = rich("singular values of " + of), panel->brief = rich("*σ* of " + of);
  panel->right = rich(circuit_heads_word(panel->heads));
  std::string& text = panel->sentence;
  text =
      "Singular values of " + of + " by place, the largest first: " +
      (of == "OV" ? "of *W*_{*O*} *W*_{*V*} *G*, what the head writes for what it reads"
                  : "of *G* *W*_{*Q*}ᵀ *W*_{*K*} *G*, which keys a query looks for, without the logit scale and RoPE") +
      ", *G* the gain of the norm before it.";
  if (panel->heads > 1)
    text += " Blue: median (dashed) and 5–95 % of " + circuit_heads_word(panel->heads) +
            (maps > 1 && panel->lines.size() > chosen.size() ? ", first maps." : ".");
  if (cut) text += " ▼ what is below 10⁻⁴ of the largest is not drawn.";
  return panel;
}

// The head that copies most, else the later one of the strongest pair, else the first.
HeadRef usual_circuit_head(const CircuitFile& circuits, const HeadPairsOfFile& pairs) {
  const std::size_t heads = circuits.drawn.heads.size();
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < circuits.values.size(); ++i)
    if (std::isfinite(circuits.values[i]) && (!best || circuits.values[i] > circuits.values[*best])) best = i;
  if (best) return {circuits.drawn.layers[*best / heads], circuits.drawn.heads[*best % heads]};
  if (!pairs.strongest.empty()) return pairs.strongest.front().to;
  return {circuits.drawn.layers.front(), circuits.drawn.heads.front()};
}

}  // namespace

Result<void> check_circuits(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const CircuitFile circuits, read_circuit_file(run, choice));
  return {};
}

Result<Figure> make_circuits(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& run = runs.front();
  HEADROOM_TRY(const CircuitFile circuits, read_circuit_file(run, choice));
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, choice.top));
  HEADROOM_TRY(HeadPairsOfFile found, composed_pairs(run, *circuits.file, circuits.drawn, choice.heads, most));
  HEADROOM_TRY(const HeadNumbers ov, numbers_by_head(run, *circuits.file, "ov_singular_value"));
  HEADROOM_TRY(const HeadNumbers qk, numbers_by_head(run, *circuits.file, "qk_singular_value"));
  Figure figure;
  std::vector<HeadRef> heads = choice.heads;
  if (heads.empty()) {
    heads = {usual_circuit_head(circuits, found)};
    figure.notes.push_back(run.name() + ": spectra of " + head_text(heads.front()) + ", whose " +
                           plain_text(rich_title(quantity_title(circuits.quantity))) + " is the largest");
  }
  std::optional<HeadRef> chosen;
  if (!choice.heads.empty()) chosen = choice.heads.front();
  if (!circuits.file->find("composition_null"))
    figure.notes.push_back(
        run.name() + " has no compositions: headroom circuits --composition writes them, and then they are drawn");
  else if (found.strongest.empty())
    figure.notes.push_back("no head that is drawn composes with an earlier one: there is no pair of layers");
  const bool composed = !found.strongest.empty();
  const double least = 19.0 + static_cast<double>(kCircuitPitch) * static_cast<double>(found.strongest.size());
  if (composed)
    for (auto& panel :
         composition_panels(std::make_shared<const HeadPairsOfFile>(std::move(found)), circuits.drawn, chosen))
      figure.panels.push_back(std::move(panel));
  const std::size_t first = figure.panels.size();
  if (auto layers = circuit_layers(circuits, choice)) figure.panels.push_back(std::move(layers));
  if (auto panel = spectrum(run, circuits.drawn, heads, "ov_singular_value", ov, 1))
    figure.panels.push_back(std::move(panel));
  if (auto panel = spectrum(run, circuits.drawn, heads, "qk_singular_value", qk, 2))
    figure.panels.push_back(std::move(panel));
  if (figure.panels.empty()) {
    const std::string why = refused_because(*circuits.file);
    return Error(ErrorCode::Unsupported,
                 "circuits: no head of " + run.name() + " has a circuit" + (why.empty() ? "" : ": " + why));
  }
  arrange(figure, choice, 174.0, 150.0, 55.0);
  const std::size_t count = figure.panels.size();
  const bool wide_layers = circuits.drawn.layers.size() > kWideLayers && first + 1 < count;
  if (figure.width_mm >= 110.0 && (composed || wide_layers || figure.width_mm < 150.0)) {
    const bool two = figure.width_mm < 150.0;
    figure.rows.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const bool begins = two && !wide_layers ? i % 2 == 0
                                              : i == 0 || i == first || (two && i < first && i % 2 == 0) ||
                                                    (wide_layers && i == first + 1);
      if (begins) figure.rows.emplace_back();
      figure.rows.back().push_back(i);
    }
  }
  const double row = composed ? std::max(55.0, least) : 55.0;
  if (!choice.height_mm) figure.height_mm = row * static_cast<double>(figure.rows.size());
  if (composed && figure.rows.size() == count && count > 2) {  // below each other: the list alone needs so much
    figure.row_shares.assign(count, 1.0f);
    figure.row_shares[1] = static_cast<float>((row - 17.0) / 27.0);
    if (!choice.height_mm) figure.height_mm = row + 44.0 * static_cast<double>(count - 1);
  }
  return figure;
}

}  // namespace headroom
