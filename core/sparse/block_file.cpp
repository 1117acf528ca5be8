#include "core/sparse/block_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/numbers.h"
#include "core/corpus/plan_file.h"
#include "core/run/run_layout.h"

namespace headroom {
namespace {

constexpr const char* kChoiceSource = "core/measure/QUANTITIES.md#choice-of-blocks";
constexpr const char* kChoiceRows = "that see more than k blocks";

// Numbers of every sequence, [sequences, columns], and what they are said to be.
struct Columns {
  std::vector<double> values;
  std::size_t columns = 0;
};

class BlockWriter {
 public:
  BlockWriter(RunFileWriter& writer, const BlockContent& content, BlockOutcome& outcome,
              const std::function<bool()>& stop)
      : writer_(writer),
        content_(content),
        layout_(*content.layout),
        plan_(*content.request->plan),
        outcome_(outcome),
        stop_(stop),
        statistics_(documents_of(plan_), content.request->bootstrap_seed) {}

  Result<void> write() {
    HEADROOM_TRY_VOID(define_axes_of_blocks());
    const ShardRange all{0, std::ssize(plan_.sequences)};
    HEADROOM_TRY_VOID(define_plan(writer_, plan_, all, content_.request->with_ids));
    HEADROOM_TRY_VOID(define());
    HEADROOM_TRY_VOID(write_plan_parts(writer_, plan_, all, content_.request->with_ids));
    HEADROOM_TRY_VOID(write_layers());
    outcome_.documents = statistics_.documents();
    for (std::size_t i = 0; i < block_datasets().size(); ++i)
      HEADROOM_TRY_VOID(write_dataset(static_cast<BlockNumber>(i)));
    return write_changes();
  }

 private:
  static std::vector<std::int64_t> documents_of(const CorpusPlan& plan) {
    std::vector<std::int64_t> documents;
    for (const PlannedSequence& sequence : plan.sequences) documents.push_back(sequence.document);
    return documents;
  }
  [[nodiscard]] Result<void> still_running() const {
    if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
    return {};
  }

  Result<void> define_axes_of_blocks() {
    HEADROOM_TRY_VOID(
        writer_.add_axis(label_axis("statistic", statistic_names(), "what is said of a number over sequences")));
    const std::vector<double> layers(content_.layers.begin(), content_.layers.end());
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("layer", layers, "layer of the model, from 0")));
    std::vector<double> heads(layout_.heads());
    for (std::size_t h = 0; h < heads.size(); ++h) heads[h] = static_cast<double>(h);
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("head", std::move(heads), "output head, from 0")));
    std::vector<double> positions(static_cast<std::size_t>(plan_.options.length));
    std::iota(positions.begin(), positions.end(), 0.0);
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("position", std::move(positions), "token position, from 0")));
    const std::pair<const char*, const char*> labelled[] = {
        {"map", "what the attention is of: a map of the head, or what multiplies the values"},
        {"choice",
         "by whose score blocks are chosen: each map's alone, the mean of the head's maps, the mean of its "
         "group's; the best k; the mean of all choices by chance"},
        {"relation", "what the other map is of: the same head, its group, another group; or chance"},
        {"scope", "maps whose blocks are read: of the head, of its group"}};
    for (const auto& [name, what] : labelled)
      HEADROOM_TRY_VOID(writer_.add_axis(label_axis(name, labels_of_axis(name), what)));
    const std::vector<std::int64_t>& tops = content_.request->rules.tops;
    HEADROOM_TRY_VOID(writer_.add_axis(
        index_axis("top", std::vector<double>(tops.begin(), tops.end()), "k: how many blocks a row chooses")));
    std::vector<std::string> contrasts;
    for (const BlockContrast& contrast : block_contrasts()) contrasts.emplace_back(contrast.name);
    return writer_.add_axis(label_axis("contrast", std::move(contrasts), "what is subtracted from what", "change"));
  }

  DatasetDef number(const char* group, const BlockDataset& dataset, std::vector<std::string> leading) const {
    DatasetDef def;
    def.group = group;
    def.name = std::string(dataset.name);
    def.axes = std::move(leading);
    for (const std::string_view axis : dataset.axes) def.axes.emplace_back(axis);
    def.axes.emplace_back("top");
    def.type = ElementType::Float64;
    def.units = std::string(dataset.units);
    def.long_name = std::string(dataset.long_name);
    def.definition = std::string(dataset.definition);
    def.attributes = {{"source", kChoiceSource}, {"rows", "all"}, {"rows_where", kChoiceRows}};
    return def;
  }

  Result<void> define() {
    for (const BlockDataset& dataset : block_datasets()) {
      DatasetDef root = number("", dataset, {"statistic", "layer", "head"});
      root.attributes["over"] = "sequences, documents as clusters";
      HEADROOM_TRY_VOID(writer_.add_dataset(root));
      DatasetDef mean = number("mean", dataset, {"statistic"});
      mean.long_name += ", mean over heads";
      mean.attributes["over"] = "the mean over all heads that have the number, of each sequence; documents as clusters";
      HEADROOM_TRY_VOID(writer_.add_dataset(mean));
      DatasetDef own = number("sequences", dataset, {"sequence", "layer", "head"});
      own.type = ElementType::Float32;
      HEADROOM_TRY_VOID(writer_.add_dataset(own));
    }
    DatasetDef recall = number("change", block_datasets()[0], {"statistic"});
    recall.long_name = "what a choice changes against each map's own";
    recall.definition = "mean over heads of recall less recall[alone], of each sequence";
    recall.attributes["over"] = "sequences, documents as clusters";
    HEADROOM_TRY_VOID(writer_.add_dataset(recall));
    DatasetDef agreement = number("change", block_datasets()[static_cast<std::size_t>(BlockNumber::Agreement)], {});
    agreement.axes = {"statistic", "contrast", "top"};
    agreement.long_name = "how much more some maps agree on blocks than others";
    agreement.definition = "mean over the heads that have both of the difference of two agreements, of each sequence";
    agreement.attributes["over"] = "sequences, documents as clusters";
    HEADROOM_TRY_VOID(writer_.add_dataset(agreement));
    return define_layers();
  }

  Result<void> define_layers() {
    DatasetDef rows;
    rows.name = "rows";
    rows.axes = {"layer", "top"};
    rows.type = ElementType::Int64;
    rows.units = "1";
    rows.long_name = "rows of a sequence that have a choice";
    rows.definition = "number of rows that see a key of more than k blocks";
    HEADROOM_TRY_VOID(writer_.add_dataset(rows));
    DatasetDef group;
    group.name = "group";
    group.axes = {"layer", "head"};
    group.type = ElementType::Int32;
    group.units = "1";
    group.long_name = "group of a head in its layer";
    group.definition = "heads whose maps share a key block or a value block, also by way of others, from 0";
    group.missing_values = true;
    HEADROOM_TRY_VOID(writer_.add_dataset(group));
    DatasetDef kind;
    kind.name = "attention_kind";
    kind.axes = {"layer"};
    kind.type = ElementType::String;
    kind.units = "1";
    kind.long_name = "kind of attention";
    kind.definition = "core/model/ARCHITECTURES.md#head-programs";
    HEADROOM_TRY_VOID(writer_.add_dataset(kind));
    DatasetDef finite;
    finite.group = "sequences";
    finite.name = "non_finite_layer";
    finite.axes = {"sequence"};
    finite.type = ElementType::Int32;
    finite.units = "1";
    finite.long_name = "first layer that is not finite";
    finite.definition = "the first layer whose output holds NaN or infinity; none: no value";
    finite.missing_values = true;
    return writer_.add_dataset(finite);
  }

  Result<void> write_layers() {
    const auto layers = static_cast<std::int64_t>(layout_.layers()), heads = static_cast<std::int64_t>(layout_.heads()),
               tops = static_cast<std::int64_t>(layout_.tops());
    const std::int64_t start[] = {0, 0}, rows[] = {layers, tops}, all[] = {layers, heads};
    HEADROOM_TRY_VOID(writer_.write("rows", start, rows, content_.rows));
    HEADROOM_TRY_VOID(writer_.write("group", start, all, content_.groups));
    HEADROOM_TRY_VOID(
        writer_.write_strings("attention_kind", std::span(start).first(1), std::span(all).first(1), content_.kinds));
    const std::int64_t sequences[] = {std::ssize(content_.values)};
    return writer_.write("sequences/non_finite_layer", std::span(start).first(1), sequences,
                         content_.non_finite_layers);
  }

  // Columns [first, first + columns) of every sequence.
  [[nodiscard]] Columns columns_of(std::size_t first, std::size_t columns) const {
    Columns all;
    all.columns = columns;
    for (const std::vector<float>& sequence : content_.values)
      all.values.insert(all.values.end(), sequence.begin() + static_cast<std::ptrdiff_t>(first),
                        sequence.begin() + static_cast<std::ptrdiff_t>(first + columns));
    return all;
  }

  // The mean over heads of value(numbers of a head), of each sequence.
  template <typename Value>
  [[nodiscard]] Columns means(BlockNumber number, std::size_t columns, const Value& value) const {
    Columns all;
    all.columns = columns;
    const std::size_t elements = layout_.elements(number);
    for (const std::vector<float>& sequence : content_.values)
      for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0.0, count = 0.0;
        for (std::size_t h = 0; h < layout_.heads_of_all_layers(); ++h) {
          const double x = value(std::span(sequence).subspan(layout_.begin(number) + h * elements, elements), c);
          if (std::isfinite(x)) sum += x, count += 1.0;
        }
        all.values.push_back(count > 0.0 ? sum / count : kNaN);
      }
    return all;
  }

  // Statistics of the columns, written at `start`, whose extents behind the statistic are `rest`.
  Result<std::vector<StatisticValues>> say(const std::string& path, const Columns& columns,
                                           std::vector<std::int64_t> start, std::vector<std::int64_t> rest) {
    HEADROOM_TRY_VOID(still_running());
    std::vector<StatisticValues> said = statistics_.compute(columns.values, columns.columns);
    start.insert(start.begin(), 0);
    rest.insert(rest.begin(), static_cast<std::int64_t>(kStatistics));
    HEADROOM_TRY_VOID(writer_.write(path, start, rest, by_statistic(said)));
    return said;
  }

  // Layer by layer, so that no second copy of all is needed.
  Result<void> write_dataset(BlockNumber number) {
    const std::string name(block_datasets()[static_cast<std::size_t>(number)].name);
    const std::vector<std::int64_t> extents = layout_.extents(number);
    const auto sequences = std::ssize(content_.values), heads = static_cast<std::int64_t>(layout_.heads());
    const std::size_t of_layer = layout_.heads() * layout_.elements(number);
    for (std::size_t l = 0; l < layout_.layers(); ++l) {
      const Columns columns = columns_of(layout_.begin(number) + l * of_layer, of_layer);
      std::vector<std::int64_t> start(extents.size() + 2, 0), count = {1, heads};
      start[0] = static_cast<std::int64_t>(l);
      count.insert(count.end(), extents.begin(), extents.end());
      HEADROOM_TRY([[maybe_unused]] const std::vector<StatisticValues> said, say(name, columns, start, count));
      start.insert(start.begin(), 0);
      count.insert(count.begin(), sequences);
      HEADROOM_TRY_VOID(writer_.write("sequences/" + name, start, count, columns.values));
    }
    const Columns over_heads = means(number, layout_.elements(number),
                                     [](std::span<const float> head, std::size_t c) -> double { return head[c]; });
    HEADROOM_TRY(std::vector<StatisticValues> said,
                 say("mean/" + name, over_heads, std::vector<std::int64_t>(extents.size(), 0), extents));
    std::vector<StatisticValues>* const told = number == BlockNumber::Recall       ? &outcome_.recall
                                               : number == BlockNumber::Agreement  ? &outcome_.agreement
                                               : number == BlockNumber::BlocksRead ? &outcome_.blocks_read
                                                                                   : nullptr;
    if (told != nullptr) *told = std::move(said);
    return {};
  }

  Result<void> write_changes() {
    const std::size_t tops = layout_.tops(), of_map = kBlockChoices * tops;
    const Columns recall = means(BlockNumber::Recall, layout_.elements(BlockNumber::Recall),
                                 [&](std::span<const float> head, std::size_t c) -> double {
                                   return static_cast<double>(head[c]) - head[c / of_map * of_map + c % tops];
                                 });
    const std::vector<std::int64_t> extents = layout_.extents(BlockNumber::Recall);
    HEADROOM_TRY(outcome_.recall_change,
                 say("change/recall", recall, std::vector<std::int64_t>(extents.size(), 0), extents));
    const std::span<const BlockContrast> contrasts = block_contrasts();
    const Columns agreement = means(BlockNumber::Agreement, contrasts.size() * tops,
                                    [&](std::span<const float> head, std::size_t c) -> double {
                                      const BlockContrast& contrast = contrasts[c / tops];
                                      const auto at = [&](BlockRelation relation) -> double {
                                        return head[static_cast<std::size_t>(relation) * tops + c % tops];
                                      };
                                      return at(contrast.of) - at(contrast.against);
                                    });
    HEADROOM_TRY(outcome_.contrast,
                 say("change/agreement", agreement, {0, 0}, {std::ssize(contrasts), static_cast<std::int64_t>(tops)}));
    return {};
  }

  RunFileWriter& writer_;
  const BlockContent& content_;
  const ChoiceLayout& layout_;
  const CorpusPlan& plan_;
  BlockOutcome& outcome_;
  const std::function<bool()>& stop_;
  SequenceStatistics statistics_;
};

}  // namespace

Result<void> write_blocks(RunFileWriter& writer, const BlockContent& content, BlockOutcome& outcome,
                          const std::function<bool()>& stop) {
  return BlockWriter(writer, content, outcome, stop).write();
}

}  // namespace headroom
