#include "core/corpus/corpus_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/base/numbers.h"
#include "core/corpus/plan_file.h"
#include "core/corpus/statistics.h"
#include "core/run/provenance.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr std::string_view kStatisticAxis = "statistic";

Extents origin(const Extents& count) { return Extents(count.size(), 0); }

Extents behind(std::int64_t first, const Extents& rest) {
  Extents all = {first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

DatasetDef number_dataset(const char* group, std::string name, std::vector<std::string> axes, ElementType type,
                          const char* units, const char* long_name, const char* definition) {
  DatasetDef def;
  def.group = group;
  def.name = std::move(name);
  def.axes = std::move(axes);
  def.type = type;
  def.units = units;
  def.long_name = long_name;
  def.definition = definition;
  return def;
}

std::vector<std::string> with_axis(std::string_view first, const std::vector<std::string>& axes) {
  std::vector<std::string> all = {std::string(first)};
  all.insert(all.end(), axes.begin(), axes.end());
  return all;
}

class CorpusWriter {
 public:
  CorpusWriter(RunFileWriter& writer, const CorpusContent& content, const std::function<bool()>& stop)
      : writer_(writer), content_(content), layout_(*content.layout), stop_(stop) {
    for (const PlannedSequence& sequence : sequences()) documents_.push_back(sequence.document);
  }

  Result<CorpusSummary> write() {
    HEADROOM_TRY_VOID(define_all_axes());
    HEADROOM_TRY_VOID(define_plan(writer_, *content_.plan, content_.range, content_.with_ids));
    HEADROOM_TRY_VOID(define_root());
    HEADROOM_TRY_VOID(define_sequences());
    HEADROOM_TRY_VOID(define_bins());
    HEADROOM_TRY_VOID(define_fixed());
    HEADROOM_TRY_VOID(define_shards());
    HEADROOM_TRY_VOID(write_attributes());
    HEADROOM_TRY_VOID(write_plan_parts(writer_, *content_.plan, content_.range, content_.with_ids));
    HEADROOM_TRY_VOID(write_fixed());
    HEADROOM_TRY(CorpusSummary summary, write_sequences());
    HEADROOM_TRY_VOID(write_curve_bins());
    HEADROOM_TRY_VOID(write_bins());
    HEADROOM_TRY_VOID(write_shards());
    return summary;
  }

 private:
  [[nodiscard]] std::span<const PlannedSequence> sequences() const {
    return std::span(content_.plan->sequences)
        .subspan(static_cast<std::size_t>(content_.range.first), static_cast<std::size_t>(content_.range.count));
  }
  [[nodiscard]] Result<void> running() const {
    if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
    return {};
  }

  Result<void> define_all_axes() {
    HEADROOM_TRY_VOID(define_axes(writer_, layout_.shape()));
    HEADROOM_TRY_VOID(writer_.add_axis(
        label_axis(std::string(kStatisticAxis), statistic_names(), "what is said of a number over sequences")));
    AxisDef epsilon = index_axis("epsilon", layout_.epsilons(), "share of attention above which a head is a sink");
    epsilon.type = ElementType::Float64;
    HEADROOM_TRY_VOID(writer_.add_axis(epsilon));
    HEADROOM_TRY_VOID(writer_.add_axis(label_axis("map", sink_maps(), "map that a sink is one of")));
    HEADROOM_TRY_VOID(define_histogram_axes(writer_));
    for (const SketchedQuantity& sketch : sketched_quantities()) {
      std::vector<double> centres;
      for (std::int64_t bin = 0; bin < sketch.bins.bins; ++bin) centres.push_back(sketch.bins.value_of(bin));
      AxisDef axis = index_axis(std::string(sketch.name) + "_bin", std::move(centres),
                                "what stands for a bin of " + std::string(sketch.formula), "sketch");
      axis.type = ElementType::Float64;
      axis.units = sketch.units;
      HEADROOM_TRY_VOID(writer_.add_axis(axis));
    }
    if (layout_.curve_bins() > 0) {
      std::vector<double> middles;
      for (std::int64_t bin = 0; bin < layout_.curve_bins(); ++bin) {
        const CurveBin range = curve_bin_range(bin);
        middles.push_back(0.5 * static_cast<double>(range.first + range.last));
      }
      AxisDef axis =
          index_axis("visible_keys", std::move(middles), "number of visible keys: the middle of those in a bin");
      axis.type = ElementType::Float64;
      HEADROOM_TRY_VOID(writer_.add_axis(axis));
    }
    std::vector<double> shards;
    for (std::size_t i = 0; i < content_.shards.size(); ++i) shards.push_back(static_cast<double>(i));
    return writer_.add_axis(index_axis("shard", std::move(shards), "range of sequences, from 0", "shards"));
  }

  Result<void> define_root() {
    for (const CorpusDataset& dataset : layout_.floats()) {
      if (dataset.quantity == nullptr) continue;
      DatasetDef def = dataset_of(*dataset.quantity, ElementType::Float64);
      def.type = ElementType::Float64;
      def.axes.insert(def.axes.begin(), std::string(kStatisticAxis));
      def.attributes["over"] =
          dataset.kept ? "sequences, documents as clusters" : "sequences; their values are not kept";
      HEADROOM_TRY_VOID(writer_.add_dataset(def));
    }
    HEADROOM_TRY_VOID(writer_.add_dataset(number_dataset(
        "", "next_token_loss", {std::string(kStatisticAxis)}, ElementType::Float64, "nat", "next-token loss",
        "mean over tokens 1 … L − 1 of −ln of the model's probability of the token, of a sequence")));
    HEADROOM_TRY_VOID(writer_.add_dataset(number_dataset(
        "", "sink_rate", {std::string(kStatisticAxis), "epsilon", "map"}, ElementType::Float64, "1",
        "share of heads that are sinks", "share of (layer, head) with a sink score above epsilon, of a sequence")));
    HEADROOM_TRY_VOID(define_curves());
    return writer_.add_dataset(
        number_dataset("", "sink_frequency", with_axis(kStatisticAxis, layout_.sinks().axes), ElementType::Float64, "1",
                       "share of sequences in which a head is a sink",
                       "1 where the head's sink score is above epsilon, 0 elsewhere, of a sequence"));
  }

  Result<void> define_curves() {
    if (layout_.curve_bins() == 0) return {};
    for (const char* name : {"visible_first", "visible_last"})
      HEADROOM_TRY_VOID(writer_.add_dataset(number_dataset(
          "curves", name, {"visible_keys"}, ElementType::Int32, "1",
          name == std::string_view("visible_first") ? "least number of visible keys" : "largest number of visible keys",
          "of the rows in a bin: each number its own bin up to 11, then eighths of octaves")));
    for (const CorpusDataset& dataset : layout_.floats()) {
      if (dataset.curve == nullptr) continue;
      const CurveQuantity& curve = *dataset.curve;
      DatasetDef def = number_dataset("curves", std::string(curve.name), with_axis(kStatisticAxis, dataset.axes),
                                      ElementType::Float64, "1", "", "");
      def.units = curve.units;
      def.long_name = std::string(curve.long_name) + " by visible keys";
      def.definition = "mean of " + std::string(curve.formula) + " over the rows of a sequence that see so many keys";
      def.attributes["over"] = "sequences; their values are not kept";
      def.attributes["clusters"] = "sequence";
      HEADROOM_TRY_VOID(writer_.add_dataset(def));
    }
    return {};
  }

  Result<void> write_curve_bins() {
    if (layout_.curve_bins() == 0) return {};
    std::vector<double> first, last;
    for (std::int64_t bin = 0; bin < layout_.curve_bins(); ++bin) {
      const CurveBin range = curve_bin_range(bin);
      first.push_back(static_cast<double>(range.first)), last.push_back(static_cast<double>(range.last));
    }
    const std::int64_t start[] = {0}, count[] = {layout_.curve_bins()};
    HEADROOM_TRY_VOID(writer_.write("curves/visible_first", start, count, first));
    return writer_.write("curves/visible_last", start, count, last);
  }

  Result<void> define_sequences() {
    HEADROOM_TRY_VOID(writer_.add_dataset(
        number_dataset("sequences", "next_token_loss", {"sequence"}, ElementType::Float64, "nat", "next-token loss",
                       "mean over tokens 1 … L − 1 of −ln of the model's probability of the token")));
    HEADROOM_TRY_VOID(writer_.add_dataset(number_dataset("sequences", "sink_rate", {"sequence", "epsilon", "map"},
                                                         ElementType::Float64, "1", "share of heads that are sinks",
                                                         "share of (layer, head) with a sink score above epsilon")));
    DatasetDef non_finite = number_dataset("sequences", "non_finite_layer", {"sequence"}, ElementType::Int32, "1",
                                           "first layer that is not finite",
                                           "the first layer whose output holds NaN or infinity; none: no value");
    non_finite.missing_values = true;
    HEADROOM_TRY_VOID(writer_.add_dataset(non_finite));
    for (const auto* datasets : {&layout_.floats(), &layout_.integers()})
      for (const CorpusDataset& dataset : *datasets) {
        if (!dataset.kept || dataset.quantity == nullptr) continue;
        DatasetDef def = dataset_of(*dataset.quantity, ElementType::Float32);
        def.group = "sequences";
        def.axes.insert(def.axes.begin(), "sequence");
        HEADROOM_TRY_VOID(writer_.add_dataset(def));
      }
    return {};
  }

  Result<void> define_bins() {
    for (const CorpusBins& bins : layout_.bins()) {
      if (bins.histogram != nullptr) {
        HEADROOM_TRY_VOID(define_quantity(writer_, *bins.histogram, ElementType::Float32));
        continue;
      }
      const SketchedQuantity& sketch = *bins.sketch;
      const std::string name(sketch.name);
      const std::string long_name(sketch.long_name), formula(sketch.formula);
      std::vector<std::string> axes = {"layer", "head"};
      if (sketch.by_component) axes.emplace_back("component");
      for (const char* end : {"_min", "_max"}) {
        DatasetDef extreme = number_dataset("sketch", name + end, axes, ElementType::Float64, "1", "", "");
        extreme.units = sketch.units;
        extreme.long_name = (end == std::string_view("_min") ? "smallest " : "largest ") + long_name;
        extreme.definition = formula + ", over the eligible rows of all sequences";
        HEADROOM_TRY_VOID(writer_.add_dataset(extreme));
      }
      DatasetDef quantile = number_dataset("pooled", name + "_quantile", axes, ElementType::Float64, "1", "", "");
      quantile.axes.emplace_back("quantile");
      quantile.units = sketch.units;
      quantile.long_name = "quantiles of " + long_name;
      quantile.definition = formula + " at rank ⌊p (N − 1)⌋ of the eligible rows of all sequences, within " +
                            (sketch.bins.logarithmic ? "0.5 %" : "half a bin") + "; exact for p = 0 and 1";
      HEADROOM_TRY_VOID(writer_.add_dataset(quantile));
      DatasetDef counts = number_dataset("sketch", name, axes, ElementType::Int64, "1", "", "");
      counts.axes.push_back(name + "_bin");
      counts.long_name = "rows by " + long_name;
      counts.definition = "number of eligible rows of all sequences with " + formula +
                          " in each bin; the outer bins hold what lies beyond them too";
      HEADROOM_TRY_VOID(writer_.add_dataset(counts));
    }
    return define_exact();
  }

  Result<void> define_exact() {
    bool defined = false;
    for (const CorpusDataset& dataset : layout_.floats()) {
      if (dataset.kept) continue;
      if (!std::exchange(defined, true)) {
        std::vector<double> words;
        for (std::size_t w = 0; w < ExactMoments::kWords; ++w) words.push_back(static_cast<double>(w));
        HEADROOM_TRY_VOID(writer_.add_axis(index_axis(
            kExactAxis, std::move(words), "words of a sum: 11 of Σx, 20 of Σx², then counts and extremes", "exact")));
      }
      std::vector<std::string> axes = dataset.axes;
      axes.emplace_back(kExactAxis);
      HEADROOM_TRY_VOID(writer_.add_dataset(number_dataset(
          "exact", dataset.name, std::move(axes), ElementType::Int64, "1", "exact sums, for `headroom merge`",
          "Σx in 2⁻¹⁴⁹ and Σx² in 2⁻²⁹⁸ as two's complement of 32-bit words, the least first; count, infinities, extremes")));
    }
    return {};
  }

  Result<void> define_fixed() {
    const auto of_group = [&](const Quantity& quantity) {
      const std::string_view name = quantity.name;
      return quantity.group == "program" || quantity.group == "weights" ||
             (quantity.group.empty() && (name == "attention_kind" || name == "kv_head" || name == "sink_null"));
    };
    for (const std::span<const Quantity> table : {other_quantities(), head_quantities()})
      for (const Quantity& quantity : table)
        if (of_group(quantity) && is_written(quantity, layout_.shape()))
          HEADROOM_TRY_VOID(define_quantity(writer_, quantity, layout_.shape().real));
    return {};
  }

  Result<void> define_shards() {
    const auto add = [&](const char* name, ElementType type, const char* units, const char* long_name) {
      return writer_.add_dataset(number_dataset("shards", name, {"shard"}, type, units, long_name, long_name));
    };
    HEADROOM_TRY_VOID(add("first", ElementType::Int64, "1", "first sequence"));
    HEADROOM_TRY_VOID(add("count", ElementType::Int64, "1", "number of sequences"));
    HEADROOM_TRY_VOID(add("file", ElementType::String, "1", "file that was merged"));
    HEADROOM_TRY_VOID(add("sha256", ElementType::String, "1", "SHA-256 of that file"));
    HEADROOM_TRY_VOID(add("host", ElementType::String, "1", "machine that ran the sequences"));
    HEADROOM_TRY_VOID(add("device", ElementType::String, "1", "its device"));
    HEADROOM_TRY_VOID(add("kernel_target", ElementType::String, "1", "the instructions that were used"));
    HEADROOM_TRY_VOID(add("threads", ElementType::Int32, "1", "number of threads"));
    HEADROOM_TRY_VOID(
        add("self_check", ElementType::String, "1", "what the self-check found wrong, a line each; empty: nothing"));
    return add("seconds", ElementType::Float64, "s", "time that the sequences took");
  }

  Result<void> write_attributes() {
    const std::pair<const char*, AttributeValue> attributes[] = {
        {"keep", content_.keep},
        {"settings", content_.settings},
        {"bootstrap_seed", std::to_string(content_.bootstrap_seed)},
        {"resamples", SequenceStatistics::kResamples},
        {"min_row", layout_.shape().min_row},
        {"lse_includes_sink", std::int64_t{1}},
        {"sequences_all",
         content_.plan->sequences_all > 0 ? content_.plan->sequences_all : std::ssize(content_.plan->sequences)},
    };
    for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer_.set_attribute("", name, value));
    if (content_.shard_count == 1) return {};
    HEADROOM_TRY_VOID(writer_.set_attribute("", "shard_index", content_.shard_index));
    return writer_.set_attribute("", "shard_count", content_.shard_count);
  }

  Result<void> write_fixed() {
    const double null_value[] = {content_.sink_null};
    HEADROOM_TRY_VOID(writer_.write("sink_null", {}, {}, null_value));
    for (const FixedRegion& region : content_.fixed) {
      if (!region.texts.empty()) {
        HEADROOM_TRY_VOID(writer_.write_strings(region.path, region.start, region.count, region.texts));
      } else {
        HEADROOM_TRY_VOID(writer_.write(region.path, region.start, region.count, region.numbers));
      }
    }
    return {};
  }

  // Sequences that go to the file at once.
  [[nodiscard]] std::int64_t at_once(std::size_t columns) const {
    const std::size_t fit = content_.memory_bytes / 4 / (sizeof(double) * std::max<std::size_t>(columns, 1));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(fit), 1, content_.range.count);
  }

  // Statistics of a dataset at once behind its values, which are then still at hand.
  Result<CorpusSummary> write_sequences() {
    const std::int64_t all = content_.range.count;
    const std::int64_t start[] = {0}, count[] = {all};
    HEADROOM_TRY_VOID(writer_.write("sequences/next_token_loss", start, count, content_.losses));
    const Extents rates = {all, std::ssize(layout_.epsilons()), 3};
    HEADROOM_TRY_VOID(writer_.write("sequences/sink_rate", origin(rates), rates, content_.rates));
    const std::vector<double> non_finite(content_.non_finite_layers.begin(), content_.non_finite_layers.end());
    HEADROOM_TRY_VOID(writer_.write("sequences/non_finite_layer", start, count, non_finite));
    const SequenceStatistics statistics(documents_, content_.bootstrap_seed);
    CorpusSummary summary;
    summary.documents = statistics.documents();
    summary.next_token_loss = statistics.compute(content_.losses, 1).front();
    summary.sink_rate = statistics.compute(content_.rates, layout_.rates());
    HEADROOM_TRY_VOID(write_results("next_token_loss", {}, std::span(&summary.next_token_loss, 1)));
    HEADROOM_TRY_VOID(write_results("sink_rate", {std::ssize(layout_.epsilons()), 3}, summary.sink_rate));
    for (const CorpusDataset& dataset : layout_.floats()) {
      if (dataset.kept && dataset.quantity != nullptr)
        HEADROOM_TRY_VOID(write_kept<float>(dataset, [&](std::int64_t sequence, std::span<float> out) {
          return content_.values->floats(sequence, dataset.first, out);
        }));
      std::vector<StatisticValues> results;
      if (dataset.kept) {
        HEADROOM_TRY(results, kept_statistics(statistics, dataset));
      } else {
        results = summed_statistics(dataset);
      }
      HEADROOM_TRY_VOID(
          write_results(dataset.curve != nullptr ? "curves/" + std::string(dataset.curve->name) : dataset.name,
                        dataset.extents, results));
    }
    for (const CorpusDataset& dataset : layout_.integers())
      if (dataset.kept)
        HEADROOM_TRY_VOID(write_kept<std::int32_t>(dataset, [&](std::int64_t sequence, std::span<std::int32_t> out) {
          return content_.values->integers(sequence, dataset.first, out);
        }));
    return summary;
  }

  template <typename T, typename Read>
  Result<void> write_kept(const CorpusDataset& dataset, const Read& read) {
    std::vector<T> row(dataset.size);
    const std::int64_t step = at_once(dataset.size);
    for (std::int64_t first = 0; first < content_.range.count; first += step) {
      HEADROOM_TRY_VOID(running());
      const std::int64_t some = std::min(step, content_.range.count - first);
      std::vector<double> values;
      values.reserve(static_cast<std::size_t>(some) * dataset.size);
      for (std::int64_t s = first; s < first + some; ++s) {
        HEADROOM_TRY_VOID(read(content_.range.first + s, std::span<T>(row)));
        values.insert(values.end(), row.begin(), row.end());
      }
      const Extents count = behind(some, dataset.extents);
      Extents start = origin(count);
      start[0] = first;
      HEADROOM_TRY_VOID(writer_.write("sequences/" + dataset.name, start, count, values));
    }
    return {};
  }

  // Results [columns] as [statistics, columns].
  Result<void> write_results(const std::string& path, const Extents& extents,
                             std::span<const StatisticValues> results) {
    const Extents count = behind(static_cast<std::int64_t>(kStatistics), extents);
    return writer_.write(path, origin(count), count, by_statistic(results));
  }

  // As many columns at once as fit into memory with all sequences.
  Result<std::vector<StatisticValues>> kept_statistics(const SequenceStatistics& statistics,
                                                       const CorpusDataset& dataset) {
    const auto all = static_cast<std::size_t>(content_.range.count);
    const std::size_t step =
        std::clamp<std::size_t>(content_.memory_bytes / 2 / (sizeof(double) * (all + 2000)), 1, dataset.size);
    std::vector<StatisticValues> results;
    results.reserve(dataset.size);
    std::vector<float> row;
    std::vector<double> values;
    for (std::size_t first = 0; first < dataset.size; first += step) {
      HEADROOM_TRY_VOID(running());
      row.resize(std::min(step, dataset.size - first));
      values.clear();
      for (std::size_t s = 0; s < all; ++s) {
        HEADROOM_TRY_VOID(
            content_.values->floats(content_.range.first + static_cast<std::int64_t>(s), dataset.first + first, row));
        values.insert(values.end(), row.begin(), row.end());
      }
      const std::vector<StatisticValues> some = statistics.compute(values, row.size());
      results.insert(results.end(), some.begin(), some.end());
    }
    return results;
  }

  [[nodiscard]] std::vector<StatisticValues> summed_statistics(const CorpusDataset& dataset) const {
    std::vector<StatisticValues> results(dataset.size);
    for (std::size_t c = 0; c < dataset.size; ++c) {
      const ExactMoments& moments = content_.totals->moments[dataset.first + c];
      StatisticValues& result = results[c];
      result.fill(kNaN);
      of(result, Statistic::Mean) = moments.mean();
      of(result, Statistic::Deviation) = moments.deviation();
      of(result, Statistic::Least) = moments.least();
      of(result, Statistic::Most) = moments.most();
      of(result, Statistic::Count) = static_cast<double>(moments.count());
      if (dataset.curve != nullptr)
        of(result, Statistic::StandardError) = moments.deviation() / std::sqrt(static_cast<double>(moments.count()));
    }
    return results;
  }

  Result<void> write_bins() {
    const auto layers = static_cast<std::int64_t>(layout_.shape().layers.size());
    const auto heads = static_cast<std::int64_t>(layout_.shape().heads.size());
    for (const CorpusBins& bins : layout_.bins()) {
      HEADROOM_TRY_VOID(running());
      const bool by_component = bins.sketch != nullptr ? bins.sketch->by_component : bins.histogram->axes.size() == 2;
      const std::int64_t components = by_component ? 2 : 1;
      const auto width = static_cast<std::int64_t>(bins.per_head) / components;
      Extents count = {1, heads};
      if (by_component) count.push_back(components);
      const Extents places = count;
      count.push_back(width);
      const std::string path =
          bins.sketch != nullptr ? "sketch/" + std::string(bins.sketch->name) : path_of(*bins.histogram);
      for (std::int64_t l = 0; l < layers; ++l) {
        const std::size_t size = bins.per_head * static_cast<std::size_t>(heads);
        const auto counts =
            std::span(content_.totals->counts).subspan(bins.first + static_cast<std::size_t>(l) * size, size);
        Extents start = origin(count);
        start[0] = l;
        HEADROOM_TRY_VOID(writer_.write(path, start, count, std::vector<double>(counts.begin(), counts.end())));
        if (bins.sketch != nullptr) HEADROOM_TRY_VOID(write_sketched(bins, l, places, counts));
      }
    }
    return write_exact();
  }

  // Extremes and quantiles of a layer.
  Result<void> write_sketched(const CorpusBins& bins, std::int64_t l, const Extents& places,
                              std::span<const std::int64_t> counts) {
    const SketchedQuantity& sketch = *bins.sketch;
    const auto width = static_cast<std::size_t>(sketch.bins.bins);
    const std::size_t components = sketch.by_component ? 2 : 1;
    const std::size_t here = layout_.shape().heads.size() * components;
    const double* const extremes =
        content_.totals->extremes.data() + 2 * (bins.first_extreme + static_cast<std::size_t>(l) * here);
    std::vector<double> least, most, quantile_values;
    for (std::size_t place = 0; place < here; ++place) {
      least.push_back(extremes[2 * place]), most.push_back(extremes[2 * place + 1]);
      for (const double p : quantile_points())
        quantile_values.push_back(
            sketch_quantile(sketch.bins, counts.subspan(place * width, width), least.back(), most.back(), p));
    }
    Extents start = origin(places);
    start[0] = l;
    const std::string name(sketch.name);
    HEADROOM_TRY_VOID(writer_.write("sketch/" + name + "_min", start, places, least));
    HEADROOM_TRY_VOID(writer_.write("sketch/" + name + "_max", start, places, most));
    Extents count = places;
    count.push_back(std::ssize(quantile_points()));
    start.push_back(0);
    return writer_.write("pooled/" + name + "_quantile", start, count, quantile_values);
  }

  Result<void> write_exact() {
    for (const CorpusDataset& dataset : layout_.floats()) {
      if (dataset.kept) continue;
      std::vector<double> words;
      words.reserve(dataset.size * ExactMoments::kWords);
      for (std::size_t c = dataset.first; c < dataset.first + dataset.size; ++c)
        for (const std::uint32_t word : content_.totals->moments[c].words()) words.push_back(static_cast<double>(word));
      Extents count = dataset.extents;
      count.push_back(static_cast<std::int64_t>(ExactMoments::kWords));
      HEADROOM_TRY_VOID(writer_.write("exact/" + dataset.name, origin(count), count, words));
    }
    return {};
  }

  Result<void> write_shards() {
    const std::int64_t start[] = {0}, count[] = {std::ssize(content_.shards)};
    const auto numbers = [&](const char* path, const auto& value) {
      std::vector<double> values;
      for (const ShardOrigin& shard : content_.shards) values.push_back(static_cast<double>(value(shard)));
      return writer_.write(path, start, count, values);
    };
    const auto texts = [&](const char* path, const auto& value) {
      std::vector<std::string> values;
      for (const ShardOrigin& shard : content_.shards) values.push_back(stored_text(value(shard)));
      return writer_.write_strings(path, start, count, values);
    };
    HEADROOM_TRY_VOID(numbers("shards/first", [](const ShardOrigin& s) { return s.first; }));
    HEADROOM_TRY_VOID(numbers("shards/count", [](const ShardOrigin& s) { return s.count; }));
    HEADROOM_TRY_VOID(texts("shards/file", [](const ShardOrigin& s) { return s.file; }));
    HEADROOM_TRY_VOID(texts("shards/sha256", [](const ShardOrigin& s) { return s.sha256; }));
    HEADROOM_TRY_VOID(texts("shards/host", [](const ShardOrigin& s) { return s.host; }));
    HEADROOM_TRY_VOID(texts("shards/device", [](const ShardOrigin& s) { return s.device; }));
    HEADROOM_TRY_VOID(texts("shards/kernel_target", [](const ShardOrigin& s) { return s.kernel_target; }));
    HEADROOM_TRY_VOID(numbers("shards/threads", [](const ShardOrigin& s) { return s.threads; }));
    HEADROOM_TRY_VOID(texts("shards/self_check", [](const ShardOrigin& s) { return stored_violations(s.violations); }));
    return numbers("shards/seconds", [](const ShardOrigin& s) { return s.seconds; });
  }

  RunFileWriter& writer_;
  const CorpusContent& content_;
  const CorpusLayout& layout_;
  const std::function<bool()>& stop_;
  std::vector<std::int64_t> documents_;  // of each sequence
};

}  // namespace

Result<CorpusSummary> write_corpus(RunFileWriter& writer, const CorpusContent& content,
                                   const std::function<bool()>& stop) {
  return CorpusWriter(writer, content, stop).write();
}

}  // namespace headroom
