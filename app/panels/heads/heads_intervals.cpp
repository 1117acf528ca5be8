#include "app/panels/heads/heads_intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/session/enum_words.h"
#include "app/session/head_threshold.h"
#include "core/base/number_text.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr float kLeastCellWidth = 9.0f, kLeastCellHeight = 7.0f;  // for a bar

constexpr std::array<std::pair<Statistic, const char*>, kStatistics> kStatisticTitles = {{
    {Statistic::Mean, "mean"},
    {Statistic::Deviation, "std over sequences"},
    {Statistic::StandardError, "standard error"},
    {Statistic::CiLow, "t interval, lower end"},
    {Statistic::CiHigh, "t interval, upper end"},
    {Statistic::BootstrapLow, "bootstrap, lower end"},
    {Statistic::BootstrapHigh, "bootstrap, upper end"},
    {Statistic::Least, "lowest sequence"},
    {Statistic::Most, "highest sequence"},
    {Statistic::Count, "count of sequences"},
}};

float bar_length(const AtlasIntervals& intervals, double half, float cell) {
  const auto share = static_cast<float>(std::clamp(half / intervals.full, 0.0, 1.0));
  return std::max(1.0f, std::round(share * (cell - 6.0f)));
}

std::string share_level(const State& state) {
  const auto ref = parse_quantity(state.view.heads.quantity);
  return ref ? threshold_name(ref->info) : "ε";
}

}  // namespace

bool atlas_of_values(const State& state) {
  const CorpusEntry* const corpus = state.corpus();
  if (corpus == nullptr) return true;
  const Statistic shown = corpus->fill.statistic;
  return corpus->fill.share_of.empty() && shown != Statistic::Deviation && shown != Statistic::StandardError &&
         shown != Statistic::Count;
}

std::optional<AtlasIntervals> atlas_intervals(const State& state) {
  const CorpusEntry* const corpus = state.corpus();
  if (corpus == nullptr || corpus->fill.statistic != Statistic::Mean || !corpus->fill.share_of.empty()) return {};
  const auto ref = parse_quantity(atlas_quantity(state.view));
  if (!ref) return {};
  AtlasIntervals intervals;
  intervals.of = corpus_intervals(*corpus, *ref, state.view.corpus.bootstrap);
  std::vector<double> halves;
  for (std::size_t head = 0; head < intervals.of.mean.size(); ++head)
    if (const double half = intervals.of.half(head); std::isfinite(half)) halves.push_back(half);
  if (halves.empty()) return {};
  // The widest tenth goes through the whole cell: one head does not make the others' bars vanish.
  const auto tenth = halves.begin() + static_cast<std::ptrdiff_t>(9 * (halves.size() - 1) / 10);
  std::ranges::nth_element(halves, tenth);
  intervals.full = *tenth > 0.0 ? nice_range(0.0, *tenth, false).high : 1.0;
  intervals.level = threshold_of(ref->info, state.view.heads);
  intervals.level_name = threshold_name(ref->info);
  if (intervals.level) intervals.counts = count_intervals(intervals.of, *intervals.level);
  return intervals;
}

void draw_half_widths(PanelContext& context, const AtlasIntervals& intervals, const AtlasLayout& layout,
                      std::span<const std::size_t> order, std::span<const double> values, const ColorScale& scale) {
  if (layout.cell_width < kLeastCellWidth || layout.cell_height < kLeastCellHeight) return;
  const float thick = layout.cell_height >= 14.0f ? 2.0f : 1.0f;
  for (std::size_t row = 0; row < layout.rows; ++row)
    for (std::size_t column = 0; column < layout.columns; ++column) {
      const std::size_t head = order[row * layout.columns + column];
      const double half = intervals.of.half(head);
      if (!std::isfinite(half)) continue;
      Rect cell = layout.cell(row, column);
      cell.x1 -= layout.gap, cell.y1 -= layout.gap;
      const Color ink = text_on(scale_color(scale, static_cast<float>(values[head])));
      const float bottom = std::round(cell.y1) - 3.0f, left = std::round(cell.x0) + 3.0f;
      context.painter().fill_rect({left, bottom - thick, left + bar_length(intervals, half, cell.width()), bottom},
                                  ink);
    }
}

void draw_interval_legend(PanelContext& context, const AtlasIntervals& intervals, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect row = area.cut_top(std::min(area.height(), kIntervalLegend));
  if (row.height() < 14.0f) return;
  const float y = row.centre_y();
  const std::string title = row.width() >= 200.0f ? "half-width" : "± 95 %";
  float x = row.x0;
  x += ui.label_at(x, y, title, theme.hint(), row.width()) + 10.0f;
  constexpr float kCell = 22.0f;
  for (const double share : {0.25, 0.5, 1.0}) {
    const std::string text = short_text(share * intervals.full) + (share == 1.0 ? "+" : "");
    const float width = kCell + 5.0f + ui.width(text, theme.tick());
    if (x + width > row.x1) break;
    painter.fill_rect({x, y - 6.0f, x + kCell, y + 6.0f}, theme.raised);
    painter.fill_rect({x + 3.0f, y + 1.0f, x + 3.0f + bar_length(intervals, share * intervals.full, kCell), y + 3.0f},
                      theme.text);
    painter.text_at(x + kCell + 5.0f, y, text, theme.tick());
    x += width + 10.0f;
  }
  if (area.height() < 28.0f || !intervals.level || intervals.counts.cross == 0) return;
  ui.icon(Icon::Warning, {area.x0 + 6.0f, area.y0 + 8.0f}, 11.0f, theme.warn);
  const std::string text =
      std::to_string(intervals.counts.cross) + (intervals.counts.cross == 1 ? " head" : " heads") +
      ": the interval holds " + intervals.level_name +
      (area.width() >= 230.0f ? ", so above or below is not settled by these sequences" : ", not settled");
  ui.paragraph({area.x0 + 18.0f, area.y0}, text, {Face::Sans, 11.0f, theme.warn}, area.width() - 18.0f, 15.0f, true, 2);
}

std::string unmarked_note(const State& state) {
  const std::string epsilon = "ε " + short_text(state.view.heads.threshold);
  if (atlas_of_values(state)) return epsilon + " is outside this range";
  const CorpusEntry& corpus = *state.corpus();
  if (corpus.fill.share_of.empty()) return statistic_title(state);
  const auto ref = parse_quantity(corpus.fill.share_of);
  if (corpus.fill.values)
    return "share of sequences over " + (ref && ref->info->threshold ? share_level(state) : epsilon);
  const bool kept = ref && corpus.file->keeps(ref->info->name);
  return kept ? "the numbers of its sequences are being read" : "no numbers of single sequences are kept";
}

std::string statistic_tip(const State& state) {
  const CorpusEntry* const corpus = state.corpus();
  if (corpus == nullptr || (corpus->fill.statistic == Statistic::Mean && corpus->fill.share_of.empty())) return "";
  return "\n" + (corpus->fill.share_of.empty() ? statistic_title(state) : unmarked_note(state));
}

std::string statistic_title(const State& state) {
  const CorpusState& view = state.view.corpus;
  if (view.share) return "share over " + share_level(state);
  if (view.statistic == Statistic::Mean) return "mean ± 95 %";
  for (const auto& [statistic, title] : kStatisticTitles)
    if (statistic == view.statistic) return title;
  return "";
}

std::vector<MenuItem> statistic_menu(const State& state) {
  const CorpusState& view = state.view.corpus;
  std::vector<MenuItem> items;
  for (const auto& [statistic, title] : kStatisticTitles) {
    MenuItem item;
    item.title = title, item.detail = word_of(statistic);
    item.command = "corpus.statistic " + item.detail, item.checked = !view.share && statistic == view.statistic;
    items.push_back(std::move(item));
  }
  MenuItem share;
  share.title = "share of sequences over " + share_level(state), share.detail = "share";
  share.command = "corpus.statistic share", share.checked = view.share;
  items.push_back(std::move(share));
  for (const bool bootstrap : {false, true}) {
    MenuItem item;
    item.title = bootstrap ? "Intervals by bootstrap" : "Intervals by Student's t";
    item.command = std::string("corpus.interval ") + (bootstrap ? "bootstrap" : "t");
    item.checked = bootstrap == view.bootstrap, item.separator = !bootstrap;
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace headroom
