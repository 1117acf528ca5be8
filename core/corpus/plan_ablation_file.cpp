#include "core/corpus/plan_ablation_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/corpus/plan_file.h"
#include "core/io/run_file_writer.h"
#include "core/measure/quantity.h"
#include "core/measure/quantity_sources.h"
#include "core/run/provenance.h"
#include "core/run/run_layout.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

constexpr std::string_view kOfSets = "set", kOfRemoved = "removed";
constexpr Reference kSixteenHeads = {"Michel et al. 2019", "Are Sixteen Heads Really Better than One?",
                                     "arXiv 1905.10650"};

// A number of a sequence: in /sequences as it is, in the root its statistics.
struct OfSequence {
  std::string name;
  const SequenceColumns* columns;
  std::vector<std::string> axes;
  std::vector<std::int64_t> extents;
  std::string units, long_name, definition, reference;
  bool in_root = true, in_sequences = true;
};

std::vector<std::string> head_names(std::span<const HeadRef> heads) {
  std::vector<std::string> names;
  for (const HeadRef& head : heads) names.push_back(head_text(head));
  return names;
}

std::vector<double> numbers_of(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

class PlanAblationWriter {
 public:
  PlanAblationWriter(RunFileWriter& writer, const PlanAblationRequest& request, const PlanAblationOutcome& outcome)
      : writer_(writer), request_(request), outcome_(outcome) {
    split_changes();
    list_numbers();
  }

  Result<void> write() {
    HEADROOM_TRY_VOID(define_plan_axes());
    const ShardRange all{0, outcome_.sequences};
    HEADROOM_TRY_VOID(define_plan(writer_, *request_.plan, all, true));
    for (const OfSequence& number : numbers_) HEADROOM_TRY_VOID(define(number));
    HEADROOM_TRY_VOID(write_attributes());
    HEADROOM_TRY_VOID(write_plan_parts(writer_, *request_.plan, all, true));
    for (const OfSequence& number : numbers_) HEADROOM_TRY_VOID(write(number));
    return {};
  }

 private:
  // Changes of single heads by layer and head, those of sets beside them.
  void split_changes() {
    const std::size_t singles = outcome_.singles.size(), sets = outcome_.sets.size(), all = singles + sets;
    const std::size_t table = outcome_.layers.size() * outcome_.heads.size();
    StatisticValues none;
    none.fill(kNaN);
    of(none, Statistic::Count) = 0.0;
    single_.statistics.assign(table, none);
    const auto sequences = static_cast<std::size_t>(outcome_.sequences);
    single_.values.assign(sequences * table, kNaN);
    for (std::size_t i = 0; i < singles; ++i) {
      const std::size_t place = place_of(outcome_.layers, outcome_.heads, outcome_.singles[i]).value_or(0);
      single_.statistics[place] = outcome_.change.statistics[i];
      for (std::size_t s = 0; s < sequences; ++s)
        single_.values[s * table + place] = outcome_.change.values[s * all + i];
    }
    for (std::size_t i = singles; i < all; ++i) set_.statistics.push_back(outcome_.change.statistics[i]);
    for (std::size_t s = 0; s < sequences && sets > 0; ++s)
      for (std::size_t i = singles; i < all; ++i) set_.values.push_back(outcome_.change.values[s * all + i]);
  }

  void list_numbers() {
    const std::vector<std::string> by_head = {"layer", "head"};
    const std::vector<std::int64_t> table = {std::ssize(outcome_.layers), std::ssize(outcome_.heads)};
    const std::string michel = cited(kSixteenHeads);
    numbers_.push_back({"next_token_loss",
                        &outcome_.loss,
                        {},
                        {},
                        "nat",
                        "next-token loss",
                        "mean over tokens 1 … L − 1 of −ln of the model's probability of the token, of a sequence",
                        ""});
    numbers_.push_back({"delta_loss", &single_, by_head, table, "nat", "change of the next-token loss",
                        "next_token_loss of a sequence with the head changed − next_token_loss; NaN: not computed",
                        michel});
    const Quantity& sink = *find_quantity("", "sink_score");
    std::vector<std::int64_t> maps = table;
    maps.push_back(2);
    numbers_.push_back({"sink_score",
                        &outcome_.sink,
                        {"layer", "head", "component"},
                        maps,
                        std::string(sink.units),
                        std::string(sink.long_name),
                        std::string(sink.formula),
                        ""});
    if (!outcome_.sets.empty())
      numbers_.push_back({"set_delta_loss",
                          &set_,
                          {std::string(kOfSets)},
                          {std::ssize(outcome_.sets)},
                          "nat",
                          "change of the next-token loss",
                          "delta_loss with all heads of the set changed",
                          michel});
    if (!outcome_.removed.empty())
      numbers_.push_back({"cumulative_delta_loss",
                          &outcome_.change_together,
                          {std::string(kOfRemoved)},
                          {std::ssize(outcome_.removed)},
                          "nat",
                          "change of the next-token loss",
                          "delta_loss with this head changed and those before it on the axis",
                          michel});
    if (outcome_.gradient.values.empty()) return;
    OfSequence gradient{"gradient",
                        &outcome_.gradient,
                        by_head,
                        table,
                        "nat",
                        "gradient of the loss along the head",
                        "g = Σ_i ⟨∂L/∂z_i, z_i⟩, z_i what the head brings into W_O at position i",
                        michel};
    gradient.in_root = false;
    numbers_.push_back(std::move(gradient));
    OfSequence importance{"importance",
                          &outcome_.importance,
                          by_head,
                          table,
                          "nat",
                          "importance by gradients",
                          "abs(g), g the gradient of the loss of a sequence along the head (sequences/gradient)",
                          michel};
    importance.in_sequences = false;
    numbers_.push_back(std::move(importance));
    OfSequence order{"first_order",
                     &outcome_.first_order,
                     by_head,
                     table,
                     "nat",
                     "change of the next-token loss without the head, to first order",
                     "−g (sequences/gradient)",
                     michel};
    order.in_sequences = false;
    numbers_.push_back(std::move(order));
  }

  Result<void> define_plan_axes() {
    HEADROOM_TRY_VOID(
        writer_.add_axis(label_axis("statistic", statistic_names(), "what is said of a number over sequences")));
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("layer", numbers_of(outcome_.layers), "layer of the model, from 0")));
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("head", numbers_of(outcome_.heads), "output head, from 0")));
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("component", {0, 1}, "0: first map, 1: second map")));
    std::vector<double> positions(static_cast<std::size_t>(request_.plan->options.length));
    std::iota(positions.begin(), positions.end(), 0.0);
    HEADROOM_TRY_VOID(writer_.add_axis(index_axis("position", std::move(positions), "token position, from 0")));
    std::vector<std::string> sets;
    for (const HeadSet& set : outcome_.sets) sets.push_back(set_name(set));
    if (!sets.empty())
      HEADROOM_TRY_VOID(
          writer_.add_axis(label_axis(std::string(kOfSets), std::move(sets), "heads that are changed together")));
    if (!outcome_.removed.empty())
      HEADROOM_TRY_VOID(writer_.add_axis(label_axis(std::string(kOfRemoved), head_names(outcome_.removed),
                                                    "heads that are changed, one after another")));
    return {};
  }

  Result<void> define(const OfSequence& number) {
    DatasetDef def;
    def.name = number.name;
    def.type = ElementType::Float64;
    def.units = number.units;
    def.long_name = number.long_name;
    def.definition = number.definition;
    if (!number.reference.empty()) def.attributes["source"] = number.reference;
    if (number.in_root) {
      DatasetDef root = def;
      root.axes = number.axes;
      root.axes.insert(root.axes.begin(), "statistic");
      root.attributes["over"] = "sequences, documents as clusters";
      HEADROOM_TRY_VOID(writer_.add_dataset(root));
    }
    if (!number.in_sequences) return {};
    def.group = "sequences";
    def.axes = number.axes;
    def.axes.insert(def.axes.begin(), "sequence");
    return writer_.add_dataset(def);
  }

  Result<void> write(const OfSequence& number) {
    std::vector<std::int64_t> count = number.extents;
    count.insert(count.begin(), static_cast<std::int64_t>(kStatistics));
    const std::vector<std::int64_t> start(count.size(), 0);
    if (number.in_root)
      HEADROOM_TRY_VOID(writer_.write(number.name, start, count, by_statistic(number.columns->statistics)));
    if (!number.in_sequences) return {};
    count.front() = outcome_.sequences;
    return writer_.write("sequences/" + number.name, start, count, number.columns->values);
  }

  Result<void> write_attributes() {
    const auto results =
        static_cast<std::int64_t>(outcome_.singles.size() + outcome_.sets.size() + outcome_.removed.size());
    const std::pair<const char*, AttributeValue> attributes[] = {
        {"comment", "changes of single heads do not add up"},
        {"overrides", overrides_text(request_.ablation.run.what_ifs)},
        {"mode", request_.gradient ? "gradient" : request_.ablation.mode.name},
        {"change", request_.ablation.mode.change},
        {"next_token_loss", of(outcome_.loss.statistics.front(), Statistic::Mean)},
        {"results_asked", results},
        {"results_done", results},
        {"complete", std::int64_t{1}},
        {"settings", outcome_.settings},
        {kSelfCheckAttribute, stored_violations(outcome_.violations)},
        {"bootstrap_seed", std::to_string(request_.bootstrap_seed)},
        {"resamples", SequenceStatistics::kResamples},
        {"seconds", outcome_.seconds},
    };
    for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer_.set_attribute("", name, value));
    return {};
  }

  RunFileWriter& writer_;
  const PlanAblationRequest& request_;
  const PlanAblationOutcome& outcome_;
  SequenceColumns single_, set_;
  std::vector<OfSequence> numbers_;
};

}  // namespace

Result<void> write_plan_ablation(const PlanAblationRequest& request, const PlanAblationOutcome& outcome,
                                 const BackendInfo& library, const kernels::StopRequested& stop) {
  AnalysisRequest run = request.ablation.run;
  run.prompt = prompt_of_sequence(*request.plan, 0, run.model->spec);
  RunFileWriter::Options options;
  options.force = run.force;
  options.inputs = run.inputs;
  options.schema_name = kAblationSchemaName;
  HEADROOM_TRY(const std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(run.output, options));
  HEADROOM_TRY_VOID(write_provenance(*writer, run, "Loss changes by heads of ", library, outcome.attention, stop));
  HEADROOM_TRY_VOID(PlanAblationWriter(*writer, request, outcome).write());
  return writer->commit();
}

}  // namespace headroom
