#include "app/panels/circuit/circuit_plots.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/plot/place_quantiles.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/circuits/spectra.h"

namespace headroom {
namespace {

constexpr float kFoot = 18.0f;               // the line of numbers below a plot
constexpr std::size_t kSampledHeads = 1024;  // that the band of all heads is made of, at equal steps

// Title, a hint at the right end where there is room, and what is left; `foot` lines are cut off too.
Rect draw_plot_head(const CircuitView& view, Rect& area, const std::string& title, const std::string& hint) {
  const Theme& theme = view.context.theme();
  Rect bar = area.cut_top(measure::kTitleToPlot);
  const float width = view.context.ui.label_at(bar.x0, bar.centre_y(), title, theme.plot_title(), bar.width());
  if (!hint.empty() && bar.width() - width - 14.0f > view.context.ui.width(hint, theme.hint()))
    view.context.painter().text_at(bar.x1, bar.centre_y(), hint, theme.hint(), Painter::Align::Right);
  return area.cut_bottom(kFoot);
}

// "largest 14.3 · effective rank (Σσ²)²/Σσ⁴" and its number at the right end.
void draw_foot(const CircuitView& view, Rect foot, const std::string& text, const std::string& value) {
  const Theme& theme = view.context.theme();
  const TextStyle strong{Face::MonoSemibold, 12.0f, theme.text};
  const float width = view.context.ui.width(value, strong);
  if (foot.width() < width) return;
  view.context.painter().text_at(foot.x1, foot.centre_y(), value, strong, Painter::Align::Right);
  view.context.ui.label_at(foot.x0, foot.centre_y(), text, theme.hint(), std::max(0.0f, foot.width() - width - 8.0f));
}

void draw_refused(const CircuitView& view, Rect area, const std::string& what, const std::string& reason) {
  draw_note(view.context, area, what, reason.empty() ? "Not measured yet." : "Refused: " + reason + ".");
}

using SpectrumOf = std::function<const std::vector<double>&(const HeadCircuits&)>;

// Lines of the head and its layer over the band and median of all heads measured so far.
struct Spectra {
  std::vector<double> places;
  PlaceQuantiles of_heads;
};

Spectra all_spectra(const CircuitView& view, const SpectrumOf& of, std::size_t length) {
  std::vector<std::span<const double>> rows;
  std::size_t heads = 0, place = 0;
  for (const auto& layer : view.circuits.layers)
    if (layer) heads += layer->heads.size();
  const std::size_t step = std::max<std::size_t>(1, heads / kSampledHeads);
  for (const auto& layer : view.circuits.layers)
    if (layer)
      for (const HeadCircuits& head : layer->heads)
        if (place++ % step == 0) rows.emplace_back(of(head));
  Spectra spectra{{}, place_quantiles(rows, length)};
  for (std::size_t i = 0; i < length; ++i) spectra.places.push_back(static_cast<double>(i + 1));
  for (std::vector<double>* values : {&spectra.of_heads.low, &spectra.of_heads.median, &spectra.of_heads.high})
    values->resize(length, kNaN);
  return spectra;
}

void draw_spectrum(const CircuitView& view, Rect area, const std::string& title, const std::string& hint,
                   const std::string& refused, const std::vector<std::pair<const std::vector<double>*, Color>>& own,
                   const SpectrumOf& of) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  const Rect foot = draw_plot_head(view, area, title, hint);
  if (own.empty() || own.front().first->empty()) {
    draw_refused(view, area, "No singular values.", refused);
    return;
  }
  const std::size_t length = own.front().first->size();
  const Spectra& all = kept_for(view.context.ui.kept_value(title + " " + std::to_string(length)), view.circuits.layers,
                                [&] { return all_spectra(view, of, length); });
  double low = kInfinity, high = 0.0;
  const auto widen = [&](const std::vector<double>& values) {
    for (const double value : values)
      if (value > 0.0 && std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  };
  for (const auto& one : own) widen(*one.first);
  for (const HeadCircuits& head : view.layer.heads) widen(of(head));
  widen(all.of_heads.low), widen(all.of_heads.high);
  if (!(high > 0.0)) return;
  const Range range = nice_range(std::max(low, high * 1e-4), high, true);
  AxisSpec x = axis_spec(1.0, static_cast<double>(std::max<std::size_t>(length, 2)));
  x.whole = x.low_label = x.high_label = true;
  const PlotFrame frame =
      lay_out_plot(area, x, axis_spec(range.low, range.high, true), view.context.ui.measure(), {4.0f, 8.0f, {}, {}});
  if (frame.inner.width() < 30.0f || frame.inner.height() < 24.0f) return;
  draw_plot_ground(painter, frame, theme);
  {
    const DataClip clip(painter, frame.inner);
    // Blue is the second map where there is one.
    const Color others = own.size() > 1 ? theme.text3 : theme.second;
    draw_band(painter, frame, all.places, all.of_heads.low, all.of_heads.high, others.faded(0.22f));
    draw_curve(painter, frame, all.places, all.of_heads.median, others, 1.5f);
    for (const HeadCircuits& head : view.layer.heads)
      draw_curve(painter, frame, all.places, of(head), theme.text3.faded(0.5f), 1.0f);
    for (const auto& [values, color] : own) draw_curve(painter, frame, all.places, *values, color, 2.0f);
  }
  draw_plot_axes(painter, frame, theme);
  std::string ranks;
  for (const auto& one : own) ranks += (ranks.empty() ? "" : ", ") + fixed_text(effective_rank(*one.first), 1);
  draw_foot(view, foot, "largest " + readout_text(own.front().first->front()) + " · effective rank (Σσ²)²/Σσ⁴",
            ranks + " of " + std::to_string(length));
}

// Every two heads that share their values, by layer.
struct Pairs {
  std::vector<double> x, y;
  double sum = 0.0, null = 0.0;  // of |cos|; the largest standard deviation of random matrices
};

Pairs all_pairs(const ModelCircuits& circuits) {
  Pairs pairs;
  for (const auto& layer : circuits.layers) {
    if (!layer || layer->output_alignment.empty()) continue;
    const std::size_t heads = layer->heads.size();
    pairs.null = std::max(pairs.null, layer->output_alignment_null);
    for (std::size_t a = 0; a < heads; ++a)
      for (std::size_t b = a + 1; b < heads; ++b) {
        const double value = layer->output_alignment[a * heads + b];
        if (!std::isfinite(value)) continue;
        pairs.x.push_back(static_cast<double>(layer->layer));
        pairs.y.push_back(value);
        pairs.sum += std::abs(value);
      }
  }
  return pairs;
}

// By |μ| on a logarithmic radius: 1 at the rim, so many decades to the centre.
constexpr double kDecades = 3.0;

double radius_of(double size) { return std::max(0.0, 1.0 + std::log10(std::max(size, 1e-12)) / kDecades); }

std::string cosine_text(double value) {
  std::string text = cell_text(value);
  return text == "·" && value != 0.0 ? fixed_text(value, 2) : text;
}

}  // namespace

void draw_ov_spectrum(const CircuitView& view, Rect area) {
  const Theme& theme = view.context.theme();
  const HeadCircuits& mine = view.mine();
  std::vector<std::pair<const std::vector<double>*, Color>> own = {{&mine.ov, theme.accent}};
  std::string hint = "grey: layer · blue: all heads";
  if (mine.block_ov.size() == 2) {
    // The halves of DIFF V1's values are shorter than the whole.
    own.push_back({&mine.block_ov[0], theme.first});
    own.push_back({&mine.block_ov[1], theme.lambda});
    hint = "and its two value blocks";
  }
  draw_spectrum(view, area, "Singular values of OV = W_O·W_V", hint, view.layer.ov_refused, own,
                [](const HeadCircuits& head) -> const std::vector<double>& { return head.ov; });
}

void draw_qk_spectrum(const CircuitView& view, Rect area) {
  const Theme& theme = view.context.theme();
  const HeadCircuits& mine = view.mine();
  std::vector<std::pair<const std::vector<double>*, Color>> own = {
      {&mine.qk[0], mine.qk[1].empty() ? theme.accent : theme.first}};
  if (!mine.qk[1].empty()) own.push_back({&mine.qk[1], theme.second});
  draw_spectrum(view, area, "Singular values of QK = W_Qᵀ·W_K",
                mine.qk[1].empty() ? "unrotated" : "first and second map, unrotated", view.layer.qk_refused, own,
                [](const HeadCircuits& head) -> const std::vector<double>& { return head.qk[0]; });
}

void draw_eigenvalues(const CircuitView& view, Rect area) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  const std::vector<std::complex<double>>& values = view.mine().eigenvalues;
  const Rect foot = draw_plot_head(view, area, "Eigenvalues through the vocabulary", "");
  if (values.empty()) {
    draw_refused(view, area, "No eigenvalues.", view.layer.path_refused);
    return;
  }
  const float side = std::min(area.width(), area.height());
  if (side < 60.0f) return;
  const Rect square = Rect::sized(area.centre_x() - 0.5f * side, area.y0, side, side);
  const Vec2 centre = square.centre();
  const float radius = 0.5f * side - 6.0f;
  painter.fill_rect(square, theme.empty);
  painter.line({centre.x - radius, centre.y}, {centre.x + radius, centre.y}, theme.faint);
  painter.line({centre.x, centre.y - radius}, {centre.x, centre.y + radius}, theme.faint);
  for (int decade = 0; decade < static_cast<int>(kDecades); ++decade) {
    const double size = std::pow(10.0, -decade);
    const float ring = radius * static_cast<float>(radius_of(size));
    painter.ring(centre, ring, decade == 0 ? theme.faint : theme.grid, 1.0f);
    if (ring > 16.0f) painter.text_at(centre.x + 4.0f, centre.y - ring + 8.0f, short_text(size), theme.tick());
  }
  if (side >= 150.0f) {
    painter.text_at(square.x0 + 6.0f, square.y1 - 10.0f, "suppresses", {Face::Sans, 11.0f, theme.second});
    painter.text_at(square.x1 - 6.0f, square.y1 - 10.0f, "copies", {Face::Sans, 11.0f, theme.first},
                    Painter::Align::Right);
  }
  const double largest = std::abs(values.front());
  for (const auto& value : values) {
    const double size = std::abs(value) / largest;
    const auto at = static_cast<float>(radius_of(size));
    const double angle = std::arg(value);
    const Vec2 place{centre.x + radius * at * static_cast<float>(std::cos(angle)),
                     centre.y - radius * at * static_cast<float>(std::sin(angle))};
    painter.disc(place, 3.0f, (value.real() >= 0.0 ? theme.first : theme.second).faded(0.8f));
  }
  draw_foot(view, foot, "|μ| ÷ largest, log radius", "score " + fixed_text(view.mine().copying, 3));
}

void draw_alignment(const CircuitView& view, Rect area) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  const std::size_t heads = view.layer.heads.size();
  const Rect foot = draw_plot_head(view, area, "W_O alignment in the group", "");
  if (view.layer.output_alignment.empty() || heads == 0) {
    draw_refused(view, area, "No alignment.", view.layer.ov_refused);
    return;
  }
  const Rect labels = area.cut_left(16.0f);
  const Rect top = area.cut_top(14.0f);
  const float cell = std::floor(std::min(area.width(), area.height()) / static_cast<float>(heads));
  const float pitch = cell >= 2.0f ? cell : std::min(area.width(), area.height()) / static_cast<float>(heads);
  const auto at = [&](std::size_t row, std::size_t column) {
    return Rect::sized(area.x0 + pitch * static_cast<float>(column), area.y0 + pitch * static_cast<float>(row),
                       pitch - (pitch >= 4.0f ? 1.0f : 0.0f), pitch - (pitch >= 4.0f ? 1.0f : 0.0f));
  };
  auto values = std::make_shared<std::vector<float>>(heads * heads);
  std::uint64_t hash = 1469598103934665603ULL;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const double value = view.layer.output_alignment[i];
    (*values)[i] = i % (heads + 1) == 0 ? 0.0f : static_cast<float>(value);
    hash = (hash ^ std::hash<float>{}((*values)[i])) * 1099511628211ULL;
  }
  static const std::uint64_t image_id = next_image_id();
  MapImage image;
  image.id = image_id;
  image.generation = hash;
  image.width = image.height = static_cast<std::int32_t>(heads);
  image.values = values;
  MapShading shading;
  shading.scale = {theme.diverging(), ScaleKind::Linear, -0.9f, 0.9f, 1e-3f};
  shading.nan = NanStyle::Hatched;
  shading.cell_gap = pitch >= 4.0f ? 1.0f : 0.0f;
  shading.gap_color = theme.panel;
  const float side = pitch * static_cast<float>(heads);
  const Rect grid = Rect::sized(area.x0, area.y0, side, side);
  painter.map(grid, image, {0.0f, 0.0f, static_cast<float>(heads), static_cast<float>(heads)}, shading);
  const std::size_t every = pitch >= 12.0f ? 1 : static_cast<std::size_t>(std::ceil(14.0f / pitch));
  for (std::size_t h = 0; h < heads; h += every) {
    const bool mine = h == view.index();
    const TextStyle style{mine ? Face::MonoSemibold : Face::Mono, 10.0f, mine ? theme.accent : theme.text3};
    painter.text_at(labels.x1 - 4.0f, at(h, 0).centre_y(), std::to_string(h), style, Painter::Align::Right);
    painter.text_at(at(0, h).centre_x(), top.centre_y(), std::to_string(h), style, Painter::Align::Centre);
  }
  if (pitch >= 22.0f)
    for (std::size_t row = 0; row < heads; ++row)
      for (std::size_t column = 0; column < heads; ++column) {
        const double value = view.layer.output_alignment[row * heads + column];
        if (!std::isfinite(value)) continue;
        const Color ground = scale_color(shading.scale, (*values)[row * heads + column]);
        painter.text_at(at(row, column).centre_x(), at(row, column).centre_y(),
                        row == column ? "·" : cosine_text(value), {Face::Mono, 10.0f, text_on(ground)},
                        Painter::Align::Centre);
      }
  const std::vector<std::size_t> group = view.layer.group_of(view.index());
  if (!group.empty()) {
    const Rect first = at(group.front(), group.front()), last = at(group.back(), group.back());
    if (group.back() - group.front() + 1 == group.size())
      painter.stroke_rect({first.x0 - 1.0f, first.y0 - 1.0f, last.x1 + 1.0f, last.y1 + 1.0f}, theme.accent, 1.0f);
  }
  if (view.context.ui.hovered(grid)) {
    const Vec2 pointer = view.context.ui.input.pointer;
    const auto column = static_cast<std::size_t>((pointer.x - grid.x0) / pitch),
               row = static_cast<std::size_t>((pointer.y - grid.y0) / pitch);
    if (row < heads && column < heads) {
      const double value = view.layer.output_alignment[row * heads + column];
      view.context.ui.tooltip(at(row, column),
                              "heads " + std::to_string(row) + " and " + std::to_string(column) + "\n" +
                                  (std::isfinite(value) ? "cos of their W_O blocks " + signed_text(value, 3)
                                                        : std::string("values not shared: their channels differ")) +
                                  "\ncos of OV " + signed_text(view.layer.ov_alignment[row * heads + column], 3) +
                                  "\nrandom: 0 ± " + readout_text(view.layer.output_alignment_null));
    }
  }
  const bool alone = group.size() < 2;
  draw_foot(view, foot, alone ? "values not shared" : "cosine; hatched: not shared", "");
}

void draw_alignment_by_layer(const CircuitView& view, Rect area) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  const Rect foot = draw_plot_head(view, area, "In the group, by layer", "");
  const Pairs& all =
      kept_for(view.context.ui.kept_value("pairs"), view.circuits.layers, [&] { return all_pairs(view.circuits); });
  const std::size_t heads = view.layer.heads.size();
  std::vector<double> mine_x, mine_y;
  for (std::size_t other = 0; other < heads && !view.layer.output_alignment.empty(); ++other)
    if (const double value = view.layer.output_alignment[view.index() * heads + other];
        other != view.index() && std::isfinite(value))
      mine_x.push_back(static_cast<double>(view.layer.layer)), mine_y.push_back(value);
  const std::size_t pairs = all.x.size();
  if (pairs == 0) {
    draw_note(view.context, area, "No two heads share their values.", "There is nothing to compare.");
    return;
  }
  const double last = static_cast<double>(std::max<std::size_t>(view.circuits.layers.size(), 2) - 1);
  AxisSpec along = axis_spec(-0.5, last + 0.5);
  along.whole = true;
  const PlotFrame frame =
      lay_out_plot(area, along, axis_spec(-1.0, 1.0), view.context.ui.measure(), {4.0f, 6.0f, {}, {}});
  if (frame.inner.width() < 30.0f || frame.inner.height() < 24.0f) return;
  draw_plot_ground(painter, frame, theme);
  draw_veil(painter, frame, theme, -2.0 * all.null, 2.0 * all.null, false);
  painter.line(frame.at(-0.5, 0.0), frame.at(last + 0.5, 0.0), theme.faint);
  draw_cloud(painter, frame, all.x, all.y, theme.text2, {}, 3.0f);
  draw_cloud(painter, frame, mine_x, mine_y, theme.accent, {}, 5.0f);
  draw_plot_axes(painter, frame, theme);
  draw_foot(view, foot, grouped_text(static_cast<std::int64_t>(pairs)) + " pairs, mean |cos|",
            fixed_text(all.sum / static_cast<double>(pairs), 3));
}

}  // namespace headroom
