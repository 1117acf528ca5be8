#include "core/corpus/sequence_record.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/numbers.h"
#include "core/run/measured_layer.h"

namespace headroom {

RegionSink region_sink(std::vector<FixedRegion>& regions) {
  const auto region = [](std::string_view path, std::span<const std::int64_t> start,
                         std::span<const std::int64_t> count) {
    return FixedRegion{std::string(path), {start.begin(), start.end()}, {count.begin(), count.end()}, {}, {}};
  };
  return {[&regions, region](std::string_view path, std::span<const std::int64_t> start,
                             std::span<const std::int64_t> count, const std::vector<double>& values) {
            regions.push_back(region(path, start, count));
            regions.back().numbers = values;
            return Result<void>();
          },
          [&regions, region](std::string_view path, std::span<const std::int64_t> start,
                             std::span<const std::int64_t> count, const std::vector<std::string>& values) {
            regions.push_back(region(path, start, count));
            regions.back().texts = values;
            return Result<void>();
          }};
}

float sink_indicator(const CorpusLayout& layout, std::span<const float> sink_score,
                     std::span<const float> sink_score_net, std::size_t place, std::size_t head) {
  const std::size_t map = place % 3;
  const float score = map < 2 ? sink_score[2 * head + map] : sink_score_net[head];
  if (std::isnan(score)) return score;
  return static_cast<double>(score) > layout.epsilons()[place / 3] ? 1.0F : 0.0F;
}

std::size_t reserved_counts(const CorpusLayout& layout) {
  // A row is in a bin of each sketch at most, and many rows of a head share one.
  constexpr std::size_t kBinsOfRow = 9, kBinsOfHead = 512;
  return layout.heads() * (kBinsOfHead + kBinsOfRow * static_cast<std::size_t>(layout.shape().length));
}

std::size_t record_bytes(const CorpusLayout& layout) {
  return layout.float_columns() * sizeof(float) + layout.integer_columns() * sizeof(std::int32_t) +
         (layout.rates() + 2 * layout.extremes()) * sizeof(double) +
         reserved_counts(layout) * sizeof(decltype(SequenceRecord::counts)::value_type);
}

void SequenceCollector::begin(std::int64_t sequence, bool with_fixed) {
  with_fixed_ = with_fixed;
  record_ = {};
  // All at once: what grows between the large blocks of a forward pass that come and go keeps them from being used
  // again.
  record_.counts.reserve(reserved_counts(layout_));
  record_.sequence = sequence;
  record_.floats.assign(layout_.float_columns(), static_cast<float>(kNaN));
  record_.integers.assign(layout_.integer_columns(), -1);
  record_.rates.assign(layout_.rates(), kNaN);
  record_.extremes.assign(2 * layout_.extremes(), kNaN);
  fixed_.clear();
}

Result<void> SequenceCollector::on_layer(LayerRecord record) {
  const RunShape& shape = layout_.shape();
  const auto l = static_cast<std::size_t>(std::ranges::lower_bound(shape.layers, record.layer) - shape.layers.begin());
  const MeasuredLayer measured(record, shape, request_, check_);
  const RegionSink fixed = region_sink(fixed_);
  if (with_fixed_) HEADROOM_TRY_VOID(layer_program(record, shape, static_cast<std::int64_t>(l), fixed));
  HEADROOM_TRY_VOID(
      measured.for_each_quantity([&](const Quantity& quantity, const std::vector<double>& values) -> Result<void> {
        if (quantity.group == "weights" || quantity.name == "kv_head") {
          if (!with_fixed_) return {};
          std::vector<std::int64_t> start = {static_cast<std::int64_t>(l), 0};
          std::vector<std::int64_t> count = {1, std::ssize(record.heads)};
          for (const std::int64_t extent : extents(quantity, shape)) start.push_back(0), count.push_back(extent);
          return fixed.numbers(path_of(quantity), start, count, values);
        }
        if (!quantity.group.empty()) return {};
        for (const CorpusDataset& dataset : layout_.floats())
          if (dataset.quantity == &quantity) {
            float* out = record_.floats.data() + dataset.first + l * (dataset.size / shape.layers.size());
            for (const double value : values) *out++ = static_cast<float>(value);
          }
        for (const CorpusDataset& dataset : layout_.integers())
          if (dataset.quantity == &quantity) {
            std::int32_t* out = record_.integers.data() + dataset.first + l * (dataset.size / shape.layers.size());
            for (const double value : values) *out++ = std::isnan(value) ? -1 : static_cast<std::int32_t>(value);
          }
        return {};
      }));
  for (std::size_t h = 0; h < measured.heads().size(); ++h) {
    const std::size_t place = l * shape.heads.size() + h;
    count_bins(measured.heads()[h], place);
    for (const CorpusDataset& dataset : layout_.floats())
      if (const std::size_t size = dataset.size / layout_.heads(); dataset.curve != nullptr)
        curve_values(measured.heads()[h], *dataset.curve,
                     std::span(record_.floats).subspan(dataset.first + place * size, size));
  }
  return {};
}

// `place` of the head among all of the layout. A row falls into one of thousands of bins: only those are visited.
void SequenceCollector::count_bins(const HeadView& head, std::size_t place) {
  std::vector<double> histogram;
  for (const CorpusBins& bins : layout_.bins()) {
    const std::size_t first = bins.first + place * bins.per_head;
    if (bins.histogram != nullptr) {
      histogram.assign(bins.per_head, 0.0);
      bins.histogram->compute({head, request_}, histogram);
      // What a map that is not there has not counted is NaN, or −1, in a table of histograms.
      for (std::size_t bin = 0; bin < histogram.size(); ++bin)
        if (histogram[bin] > 0.0) record_.counts.emplace_back(first + bin, static_cast<std::uint64_t>(histogram[bin]));
      continue;
    }
    const SketchedQuantity& sketch = *bins.sketch;
    if (rows_in_bin_.size() < bins.per_head) rows_in_bin_.resize(bins.per_head, 0);
    const std::size_t components = sketch.by_component ? 2 : 1;
    for (std::size_t m = 0; m < components; ++m) {
      if (!head.has[m]) continue;
      double least = kInfinity, most = -kInfinity;
      for (std::int64_t row = 0; row < head.length; ++row) {
        if (head.eligible[static_cast<std::size_t>(row)] == 0) continue;
        const double value = sketch.value(head, m, row);
        if (std::isnan(value)) continue;
        const std::size_t bin =
            m * static_cast<std::size_t>(sketch.bins.bins) + static_cast<std::size_t>(sketch.bins.bin_of(value));
        if (rows_in_bin_[bin]++ == 0) bins_with_rows_.push_back(bin);
        least = std::min(least, value), most = std::max(most, value);
      }
      if (least > most) continue;
      double* const extremes = record_.extremes.data() + 2 * (bins.first_extreme + place * components + m);
      extremes[0] = least, extremes[1] = most;
    }
    for (const std::size_t bin : bins_with_rows_)
      record_.counts.emplace_back(first + bin, std::exchange(rows_in_bin_[bin], 0));
    bins_with_rows_.clear();
  }
}

// Which heads are sinks, by epsilon and map, and their shares.
void SequenceCollector::mark_sinks() {
  const CorpusDataset& score = *layout_.find("sink_score");
  const CorpusDataset& net = *layout_.find("sink_score_net");
  const CorpusDataset& sinks = layout_.sinks();
  const std::size_t heads = layout_.heads();
  const auto scores = std::span<const float>(record_.floats).subspan(score.first, score.size);
  const auto nets = std::span<const float>(record_.floats).subspan(net.first, net.size);
  for (std::size_t place = 0; place < layout_.rates(); ++place) {
    double over = 0.0, with_map = 0.0;
    for (std::size_t h = 0; h < heads; ++h) {
      const float indicator = sink_indicator(layout_, scores, nets, place, h);
      record_.floats[sinks.first + place * heads + h] = indicator;
      if (std::isnan(indicator)) continue;
      over += static_cast<double>(indicator), with_map += 1.0;
    }
    if (with_map > 0.0) record_.rates[place] = over / with_map;
  }
}

SequenceRecord SequenceCollector::finish(const ForwardSummary& summary) {
  record_.loss = summary.next_token_loss.value_or(kNaN);
  record_.non_finite_layer = summary.non_finite_layer;
  mark_sinks();
  std::ranges::sort(record_.counts);
  return std::move(record_);
}

}  // namespace headroom
