#include "app/figures/kinds/sink_intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/base/student.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

constexpr double kIntervalLevel = 0.05;

enum class SinkSide : std::uint8_t { Above, Below, Crossing };
constexpr std::array kSideColors = {ink::kFirst, ink::kOthers, ink::kLambda};
constexpr std::array kSideNames = {"above", "below", "undecided"};

struct HeadInterval {
  HeadRef head;
  double mean = kNaN, low = kNaN, high = kNaN;
  double corrected = kNaN;  // half of an interval that holds for all heads together
  std::int64_t n = 0;       // sequences
};

SinkSide side_of(double mean, double half_low, double half_high, double epsilon) {
  if (mean - half_low > epsilon) return SinkSide::Above;
  return mean + half_high < epsilon ? SinkSide::Below : SinkSide::Crossing;
}

SinkSide side_of(const HeadInterval& one, double epsilon) {
  return side_of(one.mean, one.mean - one.low, one.high - one.mean, epsilon);
}

// Of one map.
struct MapIntervals {
  std::string name, quantity;
  std::vector<HeadInterval> heads;  // that have an interval, by falling mean
  std::int64_t without = 0;         // heads that have none
};

struct SinkCorpus {
  DrawnHeads drawn;
  std::vector<MapIntervals> maps;
  std::int64_t sequences = 0, documents = 0;
  double null_value = kNaN;
};

Error wrong_corpus(const FigureRun& run, const std::string& path) {
  Error error(ErrorCode::Corrupt, "the corpus lacks a dataset, or it has another shape");
  return error.at_tensor(path).in_file(run.path.string());
}

class SinkReader {
 public:
  SinkReader(const FigureRun& run, const RunFile& file) : run_(run), file_(file) {}

  Result<SinkCorpus> read(const FigureChoice& choice) {
    SinkCorpus corpus;
    HEADROOM_TRY_VOID(chosen_heads(run_, choice, {}));
    HEADROOM_TRY(corpus.drawn, drawn_heads(run_, choice));
    HEADROOM_TRY(documents_, file_.read("sequences/document"));
    corpus.sequences = std::ssize(documents_);
    corpus.documents = documents_with([](std::size_t) { return true; });
    if (file_.find("sink_null") != nullptr) {
      HEADROOM_TRY(const std::vector<double> null_value, file_.read("sink_null"));
      if (!null_value.empty()) corpus.null_value = null_value.front();
    }
    const std::tuple<const char*, const char*, const char*, std::int64_t> maps[] = {
        {"first", "sink_score[first]", "sink_score", 0},
        {"second", "sink_score[second]", "sink_score", 1},
        {"net", "sink_score_net", "sink_score_net", -1}};
    for (const auto& [name, quantity, dataset, component] : maps) {
      HEADROOM_TRY(MapIntervals map, read_map(dataset, component, corpus));
      map.name = name, map.quantity = quantity;
      corpus.maps.push_back(std::move(map));
    }
    // Of heads with one map the net one is the same.
    if (corpus.maps[1].heads.empty()) corpus.maps.resize(1);
    if (corpus.maps.front().heads.empty())
      return Error(ErrorCode::Unsupported, "sinks: no head of " + run_.name() + " has an interval of its sink score" +
                                               (corpus.documents < 2 ? "; the corpus is of one document" : ""))
          .advise("headroom corpus keeps sink_score unless --keep says otherwise; intervals are over documents");
    return corpus;
  }

 private:
  template <typename Has>
  [[nodiscard]] std::int64_t documents_with(const Has& has) const {
    std::set<double> found;
    for (std::size_t s = 0; s < documents_.size(); ++s)
      if (has(s)) found.insert(documents_[s]);
    return std::ssize(found);
  }

  Result<MapIntervals> read_map(const std::string& path, std::int64_t component, const SinkCorpus& corpus) {
    MapIntervals map;
    const DatasetInfo* info = file_.find(path);
    const RunSnapshot& all = *run_.run;
    const auto layers = std::ssize(all.layers), heads = std::ssize(all.heads);
    std::vector<std::int64_t> shape = {std::int64_t{kStatistics}, layers, heads};
    if (component >= 0) shape.push_back(2);
    if (info == nullptr || info->shape != shape) return wrong_corpus(run_, path);
    std::vector<std::int64_t> start(shape.size(), 0), count = shape;
    if (component >= 0) start.back() = component, count.back() = 1;
    HEADROOM_TRY(const std::vector<double> values, file_.read_part(path, start, count));
    const auto at = [&](Statistic which, std::int64_t place) {
      return values[static_cast<std::size_t>(static_cast<std::int64_t>(which) * layers * heads + place)];
    };
    for (const std::int64_t layer : corpus.drawn.layers) {
      std::vector<double> of_layer;  // [sequences, heads], where they are needed
      for (const std::int64_t head : corpus.drawn.heads) {
        const std::int64_t l = std::ranges::find(all.layers, layer) - all.layers.begin(),
                           h = std::ranges::find(all.heads, head) - all.heads.begin(), place = l * heads + h;
        HeadInterval one{
            {layer, head}, at(Statistic::Mean, place), at(Statistic::CiLow, place), at(Statistic::CiHigh, place)};
        if (!std::isfinite(one.mean) || !std::isfinite(one.low) || !std::isfinite(one.high)) {
          ++map.without;
          continue;
        }
        one.n = static_cast<std::int64_t>(at(Statistic::Count, place));
        std::int64_t documents = corpus.documents;
        if (one.n < corpus.sequences) {
          if (of_layer.empty()) {
            HEADROOM_TRY(of_layer, values_of_layer(path, component, l, heads));
          }
          documents = documents_with([&](std::size_t s) {
            return !std::isnan(of_layer[s * static_cast<std::size_t>(heads) + static_cast<std::size_t>(h)]);
          });
        }
        // Until all heads are known.
        one.corrected = at(Statistic::StandardError, place);
        degrees_.push_back(static_cast<double>(documents - 1));
        map.heads.push_back(one);
      }
    }
    const double level = kIntervalLevel / static_cast<double>(std::max<std::size_t>(1, map.heads.size()));
    for (std::size_t i = 0; i < map.heads.size(); ++i) map.heads[i].corrected *= student_point(level, degrees_[i]);
    degrees_.clear();
    std::ranges::stable_sort(map.heads, std::ranges::greater(), &HeadInterval::mean);
    return map;
  }

  // Of every sequence.
  Result<std::vector<double>> values_of_layer(const std::string& path, std::int64_t component, std::int64_t l,
                                              std::int64_t heads) {
    std::vector<std::int64_t> start = {0, l, 0}, count = {std::ssize(documents_), 1, heads};
    if (component >= 0) start.push_back(component), count.push_back(1);
    return file_.read_part("sequences/" + path, start, count);
  }

  const FigureRun& run_;
  const RunFile& file_;
  std::vector<double> documents_, degrees_;
};

class SinkIntervalsPanel final : public FigurePanel {
 public:
  MapIntervals map;
  std::vector<HeadRef> chosen;
  double epsilon = 0.3, null_value = kNaN;
  PageAxis x, y;
  std::string sentence;

  [[nodiscard]] bool on_axis(double score) const { return score >= y.low && score <= y.high; }

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), std::max(page.style.pt(2.0f), most_beyond_axis(x, inner.x, page)),
            page.style.pt(1.0f), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(22.0f), page.style.mm(18.0f)}; }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    draw_page_level(painter, inner, up, epsilon, "threshold", ink::kBlack, kBoundDash, space, page);
    draw_page_level(painter, inner, up, null_value, "uniform", ink::kNull, kDots, space, page);
    const float step = inner.width() / static_cast<float>(std::max<std::size_t>(1, map.heads.size()));
    const float radius = std::clamp(0.4f * step, style.pt(0.5f), style.pt(1.3f));
    for (std::size_t side = 0; side < kSideNames.size(); ++side) {
      painter.begin_series({map.quantity, "", kSideNames[side]});
      for (std::size_t i = 0; i < map.heads.size(); ++i)
        if (side_of(map.heads[i], epsilon) == static_cast<SinkSide>(side) && !is_named(map.heads[i].head))
          draw_head(painter, i, along, up, kSideColors[side].mark, radius, page, space);
      painter.end_series();
      std::vector<BeyondMark> beyond;
      for (std::size_t i = 0; i < map.heads.size(); ++i)
        if (const HeadInterval& one = map.heads[i];
            side_of(one, epsilon) == static_cast<SinkSide>(side) && !on_axis(one.mean))
          beyond.push_back({along.pixel(static_cast<double>(i + 1)), one.mean, one.mean > y.high});
      painter.begin_series({map.quantity, "", std::string(kSideNames[side]) + " beyond"});
      draw_all_beyond(painter, page, space, inner, beyond, kSideColors[side]);
      painter.end_series();
    }
    for (std::size_t i = 0; i < map.heads.size(); ++i) {
      if (!is_named(map.heads[i].head)) continue;
      painter.begin_series({map.quantity, head_text(map.heads[i].head), "named"});
      draw_head(painter, i, along, up, ink::kHead.mark, std::max(radius, style.pt(1.2f)), page, space);
      painter.end_series();
    }
    draw_interval_names(painter, inner, along, up, page, space);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < map.heads.size(); ++i) {
      const HeadInterval& one = map.heads[i];
      FigureMark mark;
      mark.panel = id, mark.series = map.quantity, mark.kind = "interval";
      mark.layer = one.head.layer, mark.head = one.head.head;
      mark.x = static_cast<double>(i + 1), mark.y = one.mean, mark.low = one.low, mark.high = one.high, mark.n = one.n;
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] bool is_named(HeadRef head) const { return std::ranges::find(chosen, head) != chosen.end(); }

  void draw_head(Painter& painter, std::size_t i, const Axis& along, const Axis& up, Color color, float radius,
                 const Page& page, LabelSpace& space) const {
    const HeadInterval& one = map.heads[i];
    if (one.high < y.low || one.low > y.high) return;
    const float at = along.pixel(static_cast<double>(i + 1));
    const float top = up.pixel(std::clamp(one.high, y.low, y.high)),
                foot = up.pixel(std::clamp(one.low, y.low, y.high));
    painter.line({at, top}, {at, foot}, color.faded(0.75f), page.style.pt(0.5f));
    space.block(Rect{at - radius, top, at + radius, foot});
    if (!on_axis(one.mean)) return;
    const Vec2 point{at, up.pixel(one.mean)};
    painter.disc(point, radius, color);
    space.block(Rect{at - radius, point.y - radius, at + radius, point.y + radius});
  }

  void draw_interval_names(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                           LabelSpace& space) const {
    const PageStyle& style = page.style;
    for (std::size_t i = 0; i < map.heads.size(); ++i) {
      if (!is_named(map.heads[i].head) || !on_axis(map.heads[i].mean)) continue;
      const RichText label = rich(head_text(map.heads[i].head));
      const Vec2 at{along.pixel(static_cast<double>(i + 1)), up.pixel(map.heads[i].mean)};
      std::vector<Vec2> places;
      for (const float gap : {3.0f, 8.0f, 16.0f})
        for (const Vec2 place : places_beside(at, rich_width(page.measure, label, style.text()), style.pt(gap), page))
          places.push_back(place);
      if (!try_label(painter, page, space, label, style.on_lines(ink::kHead.text), places)) leave_out(page, label);
    }
    const auto name_level = [&](double value, const RichText& label, Color color, bool from_right) {
      if (!(value >= y.low && value <= y.high)) return;
      const float width = rich_width(page.measure, label, style.text());
      std::vector<Vec2> places = places_along(inner, up.pixel(value), width, from_right, page);
      for (const float lift : {1.0f, 2.0f, 3.0f, 4.0f})
        for (const float share : {1.0f, 0.75f, 0.5f, 0.25f})
          places.push_back({inner.x0 + share * (inner.width() - width - style.pt(3.0f)),
                            up.pixel(value) - style.pt(3.0f) - lift * style.size()});
      if (!try_label(painter, page, space, label, style.on_lines(color), places)) leave_out(page, label);
    };
    name_level(epsilon, rich("*ε* = " + short_text(epsilon)), ink::kBlack, true);
    name_level(null_value, rich("uniform " + short_text(null_value)), ink::kNull, true);
  }
};

std::string counts_text(const std::array<std::int64_t, 3>& counts) {
  return std::to_string(counts[0]) + " above, " + std::to_string(counts[1]) + " below, " + std::to_string(counts[2]) +
         " not told from it";
}

Result<std::unique_ptr<FigurePanel>> intervals_panel(const RunSnapshot& run, const SinkCorpus& corpus,
                                                     const MapIntervals& map, const FigureChoice& choice) {
  auto panel = std::make_unique<SinkIntervalsPanel>();
  panel->kind = "sinks", panel->name = map.name;
  panel->map = map, panel->chosen = choice.heads, panel->epsilon = choice.epsilon;
  panel->null_value = corpus.null_value;
  const bool several = corpus.maps.size() > 1;
  std::array<std::int64_t, 3> counts{}, corrected{};
  std::vector<double> halves, corrected_halves;
  double low = 0.0, high = std::max(choice.epsilon, std::isfinite(corpus.null_value) ? corpus.null_value : 0.0);
  for (const HeadInterval& one : map.heads) {
    ++counts[static_cast<std::size_t>(side_of(one, choice.epsilon))];
    ++corrected[static_cast<std::size_t>(side_of(one.mean, one.corrected, one.corrected, choice.epsilon))];
    halves.push_back(0.5 * (one.high - one.low));
    corrected_halves.push_back(one.corrected);
    low = std::min(low, one.low), high = std::max(high, one.high);
  }
  const double least = map.name == "net" ? -1.0 : 0.0;  // of a sink score
  const bool cut = low < least || high > 1.0;
  low = std::max(low, least), high = std::min(high, 1.0);
  const auto heads = std::ssize(map.heads);
  panel->x = {0.5, static_cast<double>(heads) + 0.5};
  panel->x.whole = true, panel->x.title = rich("heads by sink score");
  panel->y = {low < 0.0 ? std::max(least, 1.06 * low) : 0.0, std::min(1.0, nice_range(0.0, 1.02 * high, false).high)};
  HEADROOM_TRY_VOID(set_range(panel->y, choice));
  panel->title = rich(several ? "sink score *α*_{0}, " + map.name + " map" : "sink score *α*_{0}");
  panel->brief = rich(several ? map.name + " map" : "*α*_{0}");
  for (std::size_t side = 0; side < counts.size(); ++side)
    panel->series_names.push_back(
        {rich(std::to_string(counts[side]) + " " + kSideNames[side]), kSideColors[side].text});
  std::string& text = panel->sentence;
  text = "Sink score *α*_{0}" + std::string(several ? " of the " + map.name + " map" : "") + " of " +
         grouped_text(heads) + (heads == 1 ? " head" : " heads") + ", mean over " + grouped_text(corpus.sequences) +
         " sequences of " + grouped_text(corpus.documents) +
         " documents, with 95 % intervals by Student’s *t*, documents as clusters. Against the dashed *ε* = " +
         short_text(choice.epsilon) + ": " + counts_text(counts) + " (interval holds *ε*); corrected for all " +
         grouped_text(heads) + " heads (Bonferroni): " + counts_text(corrected) + ". Median half width " +
         short_text(quantile(halves, 0.5)) + ", corrected " + short_text(quantile(corrected_halves, 0.5)) +
         ": a head whose mean lies nearer to *ε* than that is not told from it here.";
  if (std::isfinite(corpus.null_value)) text += " Dotted: uniform attention, " + short_text(corpus.null_value) + ".";
  if (cut) text += " Intervals are cut where the score ends, at " + short_text(least) + " and 1.";
  text += beyond_sentence(
      std::ranges::count_if(map.heads, [&](const HeadInterval& one) { return !panel->on_axis(one.mean); }), "head lies",
      "heads lie");
  if (map.without > 0) text += " Not drawn: " + std::to_string(map.without) + " heads without an interval.";
  text += drawn_share(run, corpus.drawn);
  return std::unique_ptr<FigurePanel>(std::move(panel));
}

Result<SinkCorpus> read_sink_corpus(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(run.path));
  return SinkReader(run, *file).read(choice);
}

}  // namespace

bool is_corpus(const FigureRun& run) { return run.attribute("schema_name") == kCorpusSchemaName; }

Result<void> check_sink_intervals(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const SinkCorpus corpus, read_sink_corpus(run, choice));
  return {};
}

Result<Figure> make_sink_intervals(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const SinkCorpus corpus, read_sink_corpus(run, choice));
  Figure figure;
  for (const MapIntervals& map : corpus.maps) {
    HEADROOM_TRY(std::unique_ptr<FigurePanel> panel, intervals_panel(*run.run, corpus, map, choice));
    figure.panels.push_back(std::move(panel));
  }
  // Many heads need the width.
  arrange(figure, choice, 174.0, kInfinity, corpus.maps.size() > 1 ? 48.0 : 57.0);
  return figure;
}

}  // namespace headroom
