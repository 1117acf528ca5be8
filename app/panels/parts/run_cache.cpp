#include "app/panels/parts/run_cache.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/quick_layers.h"
#include "app/plot/quantiles.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr std::size_t kSample = 1024;

HeadColumn make_column(const RunSnapshot& run, std::string_view name) {
  HeadColumn column;
  if (name == "layer") {
    for (const std::int64_t layer : run.layers)
      column.values.insert(column.values.end(), run.heads.size(), static_cast<double>(layer));
  } else if (const Result<QuantityRef> ref = parse_quantity(name)) {
    column.ref = *ref;
    column.values = head_values(run, *ref);
  } else {
    column.values.assign(run.layers.size() * run.heads.size(), std::nan(""));
  }
  return measured(std::move(column));
}

double distance_of(const HeadDifferences& differences, const ComparedLayers& layers, HeadRef head) {
  if (layers.stale(head.layer)) return std::nan("");
  if (layers.same(head)) return 0.0;
  const HeadDifferences::Head* found = differences.find(head.layer, head.head);
  return found ? found->distance.mean : std::nan("");
}

}  // namespace

HeadColumn measured(HeadColumn column) {
  column.low = column.high = column.median = std::nan("");
  std::vector<double> sorted;
  column.hash = 0xCBF29CE484222325ULL;
  for (const double value : column.values) {
    column.hash = (column.hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001B3ULL;
    if (std::isfinite(value)) sorted.push_back(value);
  }
  std::ranges::sort(sorted);
  column.finite = sorted.size();
  if (sorted.empty()) return column;
  column.low = sorted.front();
  column.high = sorted.back();
  column.median = 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
  if (sorted.size() <= kSample) {
    column.sample = std::move(sorted);
    return column;
  }
  for (std::size_t i = 0; i < kSample; ++i) column.sample.push_back(sorted[i * (sorted.size() - 1) / (kSample - 1)]);
  return column;
}

void RunCache::show(std::shared_ptr<const RunSnapshot> run) {
  if (run == run_) return;
  if (!run || !run_ || run->prompt != run_->prompt) sequences_.clear();
  run_ = std::move(run);
  columns_.clear();
  distances_of_.reset();
  table_.reset();
  medians_.clear();
  series_layer_ = nullptr;
  series_ = {};
  pieces_.clear();
}

const HeadColumn& RunCache::column(std::string_view name) {
  const auto found = columns_.find(name);
  if (found != columns_.end()) return found->second;
  return columns_.emplace(std::string(name), run_ ? make_column(*run_, name) : HeadColumn()).first->second;
}

const HeadColumn& RunCache::distances(const std::shared_ptr<const HeadDifferences>& differences, const RunEntry& a,
                                      const RunEntry& b) {
  if (distances_of_ && distances_of_ == differences && distances_to_ == b.data) return distances_;
  HeadColumn column;
  column.ref = {&row_distance_info(), 0};
  const ComparedLayers layers(a, b);
  if (run_)
    for (const std::int64_t layer : run_->layers)
      for (const std::int64_t head : run_->heads)
        column.values.push_back(differences ? distance_of(*differences, layers, {layer, head}) : std::nan(""));
  distances_ = measured(std::move(column));
  distances_of_ = differences;
  distances_to_ = b.data;
  return distances_;
}

const HeadTable& RunCache::table(const HeadsState& view) {
  if (!table_ || table_filter_ != view.filter || table_sort_ != view.sort || table_descending_ != view.descending) {
    table_ = run_ ? make_head_table(*run_, view.filter, view.sort, view.descending) : HeadTable();
    medians_.clear();
    table_filter_ = view.filter;
    table_sort_ = view.sort;
    table_descending_ = view.descending;
  }
  return *table_;
}

double RunCache::table_median(std::string_view name) {
  const auto found = medians_.find(name);
  if (found != medians_.end()) return found->second;
  const double median = table_ ? median_of(column(name).values, table_->rows) : std::nan("");
  return medians_.emplace(std::string(name), median).first->second;
}

const HeadSeries& RunCache::series(const LayerSnapshot& layer, std::int64_t head) {
  if (series_layer_ != &layer || series_head_ != head) {
    series_ = run_ ? make_head_series(*run_, layer, head) : HeadSeries();
    series_layer_ = &layer;
    series_head_ = head;
  }
  return series_;
}

const TokenLines& RunCache::lines(const std::shared_ptr<const Prompt>& prompt, float width, const TextMeasure& measure,
                                  const TokenStyle& style) {
  const std::pair<const Prompt*, float> key(prompt.get(), style.size);
  if (lines_.size() > 3 && !lines_.contains(key)) lines_.clear();
  TokenLines& lines = lines_[key];
  if (lines.prompt != prompt || (lines.width != width && std::min(lines.width, width) < 260.0f))
    lines = break_tokens(prompt, width, measure, style);
  else if (lines.width != width)
    rebreak_tokens(lines, width);
  return lines;
}

const std::shared_ptr<const Prompt>& RunCache::sequence(const std::string& name,
                                                        const std::function<std::shared_ptr<const Prompt>()>& make) {
  std::shared_ptr<const Prompt>& kept = sequences_[name];
  if (!kept) kept = make();
  return kept;
}

RunCache& run_cache(PanelContext& context, RunCache& own) {
  RunCache& memory = context.run_cache != nullptr ? *context.run_cache : own;
  memory.show(context.state.heads_shown());
  return memory;
}

}  // namespace headroom
