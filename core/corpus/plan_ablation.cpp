#include "core/corpus/plan_ablation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/corpus/ablation_log.h"
#include "core/corpus/exact_sum.h"
#include "core/corpus/pass_observer.h"
#include "core/corpus/plan_ablation_file.h"
#include "core/corpus/record_log.h"
#include "core/io/run_file.h"
#include "core/io/target_check.h"
#include "core/run/analysis_memory.h"
#include "core/run/provenance.h"
#include "core/run/run_plan.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

using Done = AblationLog::Done;
using Doubles = std::vector<double>;

// A double as three float32 numbers, which add up to it.
void add_parts(ExactMoments& sum, double value) {
  for (int part = 0; part < 3; ++part) {
    const auto narrow = static_cast<float>(value);
    sum.add(narrow);
    value -= static_cast<double>(narrow);
  }
}

Error asked_too_many(const char* option, std::int64_t asked, std::size_t there) {
  Error error(ErrorCode::InvalidArgument, "more heads are asked for than there are");
  return error.at_tensor(option).wanted(format("at most %zu", there), format("%lld", static_cast<long long>(asked)));
}

std::string names_of(std::span<const HeadSet> sets) {
  std::string text;
  for (const HeadSet& set : sets) text += (text.empty() ? "" : ",") + set_name(set);
  return text;
}

AblationRequest request_of_sequence(const PlanAblationRequest& request, std::size_t sequence) {
  AblationRequest one = request.ablation;
  AnalysisRequest& run = one.run;
  run.prompt = prompt_of_sequence(*request.plan, sequence, run.model->spec);
  one.not_finite_too = true;
  return one;
}

// `alone`: heads that are taken away, or asked for gradients, one by one.
Result<std::string> settings_text(const PlanAblationRequest& request, const AblationOutcome& alone,
                                  const AttentionChoice& attention, const kernels::StopRequested& stop) {
  const AnalysisRequest& run = request.ablation.run;
  HEADROOM_TRY(const std::string hashes, checkpoint_hashes(*run.model->checkpoint, stop));
  std::vector<HeadSet> heads;
  for (std::size_t i = 0; i < alone.singles; ++i) heads.push_back(alone.results[i].heads);
  return nlohmann::json{{"plan_sha256", request.plan->plan_sha256},
                        {"checkpoint_sha256", stored_text(hashes)},
                        {"what_ifs", overrides_text(run.what_ifs)},
                        {"layers", alone.summary.layers},
                        {"heads", alone.summary.heads},
                        {"mode", request.gradient ? "gradient" : request.ablation.mode.name},
                        {"change", request.ablation.mode.change},
                        {"alone", names_of(heads)},
                        {"sets", names_of(request.ablation.sets)},
                        {"top", request.top},
                        {"cumulative", request.cumulative},
                        {"dtype", dtype_name(run.dtype)},
                        {"backend", attention.backend},
                        {"bootstrap_seed", request.bootstrap_seed},
                        {"program", run.program}}
      .dump();
}

// Whether the target is the finished file of these settings.
bool holds_ablation(const std::filesystem::path& target, const std::string& settings) {
  const auto file = RunFile::open(target);
  if (!file) return false;
  const auto schema = (*file)->root_attribute("schema_name"), found = (*file)->root_attribute("settings");
  return schema && *schema == kAblationSchemaName && found && *found == settings;
}

class PlanAblation {
 public:
  PlanAblation(ComputeBackend& backend, const PlanAblationRequest& request, const CorpusProgress& progress,
               const kernels::StopRequested& stop)
      : backend_(backend),
        request_(request),
        progress_(progress),
        stop_(stop),
        sequences_(request.plan->sequences.size()) {}

  Result<PlanAblationOutcome> run() {
    HEADROOM_TRY_VOID(prepare());
    const AnalysisRequest& run = request_.ablation.run;
    const std::string of_log = log_settings();
    if (!run.force && holds_ablation(run.output, outcome_.settings)) {
      // By a process that ended between its last two steps.
      RecordLog::remove_left_over(run.output, of_log);
      HEADROOM_TRY(const auto file, RunFile::open(run.output));
      outcome_.violations = root_violations(*file);
      outcome_.nothing_to_do = true;
      return std::move(outcome_);
    }
    HEADROOM_TRY([[maybe_unused]] const std::filesystem::path checked, check_target(run.output, run.force, run.inputs));
    HEADROOM_TRY(log_, AblationLog::open(run.output, of_log, run.force));
    outcome_.resumed = std::max(log_->count(Done::Changes), log_->count(Done::Gradients));
    if (request_.needs_gradients()) {
      auto run_all = run_gradients();
      // What no run can go on with is not kept.
      if (!run_all && run_all.error().code == ErrorCode::Unsupported) log_->remove();
      HEADROOM_TRY_VOID(std::move(run_all));
    }
    choose_singles();
    if (asks_changes()) {
      if (by_means()) HEADROOM_TRY_VOID(run_means());
      HEADROOM_TRY_VOID(run_changes());
    }
    if (request_.cumulative > 0) HEADROOM_TRY_VOID(run_together());
    collect();
    HEADROOM_TRY_VOID(write_plan_ablation(request_, outcome_, backend_.info(), stop_));
    log_->remove();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool by_means() const { return request_.ablation.mode.change == "head=mean"; }
  // Whether heads are taken away, not only asked for gradients.
  [[nodiscard]] bool asks_changes() const {
    return !request_.gradient || request_.top > 0 || !request_.ablation.sets.empty();
  }
  [[nodiscard]] Result<void> running() const {
    if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
    return {};
  }

  // Everything that can be refused before anything runs.
  Result<void> prepare() {
    HEADROOM_TRY(planned_, planned_ablation(request_of_sequence(request_, 0)));
    candidates_ = planned_;
    if (request_.needs_gradients() && planned_.singles == 0) {
      AblationRequest all = request_of_sequence(request_, 0);
      all.sets.clear();
      HEADROOM_TRY(candidates_, planned_ablation(all));
    }
    AnalysisRequest measured = request_of_sequence(request_, 0).run;
    measured.layers = candidates_.summary.layers, measured.heads = candidates_.summary.heads;
    measured.summary_only = true;
    HEADROOM_TRY(plan_, plan_run(measured));
    outcome_.layers = candidates_.summary.layers, outcome_.heads = candidates_.summary.heads;
    outcome_.notes = planned_.notes;
    outcome_.sequences = static_cast<std::int64_t>(sequences_);
    HEADROOM_TRY(outcome_.attention, backend_.choose_attention(plan_.forward));
    if (request_.needs_gradients())
      HEADROOM_TRY_VOID(backend_.run_gradients(source(), plan_.model, plan_.forward, {}, {}, {}));
    if (std::cmp_greater(request_.top, candidates_.singles))
      return asked_too_many("--top", request_.top, candidates_.singles);
    const std::size_t alone = request_.top > 0    ? static_cast<std::size_t>(request_.top)
                              : request_.gradient ? candidates_.singles
                                                  : planned_.singles;
    if (std::cmp_greater(request_.cumulative, alone)) return asked_too_many("--cumulative", request_.cumulative, alone);
    // Its mean over the sequence and that over the plan would be told from each other by nobody.
    const auto averaged = [](const BlockSpec& block) {
      return std::ranges::any_of(block.attention.heads, &HeadProgram::averaged);
    };
    if (by_means() && std::ranges::any_of(plan_.model.blocks, averaged))
      return Error(ErrorCode::InvalidArgument, "a head puts out its mean already: none over the plan takes its place")
          .at_tensor("--what-if")
          .wanted("no head=mean beside --mode mean", "head=mean");
    HEADROOM_TRY(outcome_.settings, settings_text(request_, request_.needs_gradients() ? candidates_ : planned_,
                                                  outcome_.attention, stop_));
    return {};
  }

  // What the records of a log are of: the settings, and what may change last bits.
  [[nodiscard]] std::string log_settings() {
    nlohmann::json all = nlohmann::json::parse(outcome_.settings);
    all["device"] = request_.ablation.run.device;
    all["kernel_target"] = outcome_.attention.kernel_target, all["threads"] = backend_.info().threads;
    return all.dump();
  }
  [[nodiscard]] const ModelSource& source() const { return request_.ablation.run.model->source; }
  [[nodiscard]] std::size_t table_size() const { return outcome_.layers.size() * outcome_.heads.size(); }

  // Sequences without a record of this kind.
  [[nodiscard]] std::vector<std::size_t> left_of(Done kind) const {
    std::vector<std::size_t> left;
    for (std::size_t s = 0; s < sequences_; ++s)
      if (log_->find(kind, static_cast<std::int64_t>(s)) == nullptr) left.push_back(s);
    return left;
  }

  // Passes over the plan are counted in runs of the model.
  void report(double runs_done, double runs_all, std::size_t done) const {
    const double before = passed_, all = std::max(all_runs(), 1.0);
    if (progress_)
      progress_(std::min(1.0, (before + runs_done / std::max(runs_all, 1.0) * pass_) / all),
                static_cast<std::int64_t>(done), static_cast<std::int64_t>(sequences_));
  }
  [[nodiscard]] double all_runs() const {
    const auto changed =
        static_cast<double>(request_.top > 0 ? static_cast<std::size_t>(request_.top) + request_.ablation.sets.size()
                                             : planned_.results.size());
    return (request_.needs_gradients() ? kGradientRuns : 0.0) + (by_means() && asks_changes() ? 1.0 : 0.0) +
           (asks_changes() ? 1.0 + kRunsOfChange * changed : 0.0) +
           (request_.cumulative > 0 ? 1.0 + kRunsOfChange * static_cast<double>(request_.cumulative) : 0.0);
  }
  void begin_pass(double runs) {
    passed_ += pass_;
    pass_ = runs;
  }

  // A pass of sequences that run together; what it leaves of each goes to `take`.
  Result<void> run_unchanged(
      std::span<const std::size_t> left, const ForwardOptions& forward,
      const std::function<Result<void>(std::span<const std::size_t>, std::span<const std::unique_ptr<PassObserver>>,
                                       std::span<const ForwardSummary>)>& take) {
    const std::size_t size =
        sequences_together(request_.batch_tokens, request_.ablation.run.device, request_.plan->options.length);
    for (std::size_t first = 0; first < left.size(); first += size) {
      HEADROOM_TRY_VOID(running());
      const auto some = left.subspan(first, std::min(size, left.size() - first));
      const std::size_t done = sequences_ - left.size() + first;
      const std::function<void(double)> heard = [&](double fraction) {
        report(static_cast<double>(done) + fraction * static_cast<double>(some.size()), static_cast<double>(sequences_),
               done);
      };
      std::vector<std::unique_ptr<PassObserver>> observers;
      std::vector<ForwardObserver*> pointers;
      std::vector<std::vector<std::int32_t>> ids;
      for (const std::size_t s : some) {
        observers.push_back(std::make_unique<PassObserver>(plan_, heard, stop_));
        pointers.push_back(observers.back().get());
        ids.push_back(request_.plan->sequences[s].ids);
      }
      HEADROOM_TRY(const std::vector<ForwardSummary> summaries,
                   backend_.run_batch(source(), plan_.model, forward, ids, pointers));
      // Before the records: a sequence that is in the log does not run again.
      for (std::size_t i = 0; i < some.size(); ++i)
        HEADROOM_TRY_VOID(keep_violations(some[i], observers[i]->violations()));
      HEADROOM_TRY_VOID(take(some, observers, summaries));
    }
    return {};
  }

  Result<void> keep_violations(std::size_t sequence, const std::vector<std::string>& violations) {
    return log_->add_violations(of_sequence(static_cast<std::int64_t>(sequence), violations));
  }

  // Loss, g and sink scores of every sequence.
  Result<void> run_gradients() {
    begin_pass(kGradientRuns);
    const std::vector<std::size_t> left = left_of(Done::Gradients);
    auto begin = std::chrono::steady_clock::now();  // the first of a batch bears the pass before its gradients
    return run_unchanged(
        left, plan_.forward,
        [&](std::span<const std::size_t> some, std::span<const std::unique_ptr<PassObserver>> observers,
            std::span<const ForwardSummary> summaries) -> Result<void> {
          std::vector<std::vector<std::int32_t>> ids;
          for (const std::size_t s : some) ids.push_back(request_.plan->sequences[s].ids);
          const auto take = [&](std::size_t i, const HeadGradients& gradients) -> Result<void> {
            const double loss = summaries[i].next_token_loss.value_or(kNaN);
            HEADROOM_TRY_VOID(check_loss(gradients.loss, loss));
            Doubles record = {loss};
            for (const HeadRef& head : all_heads()) record.push_back(gradient_at(gradients, head));
            add_sinks(observers[i]->table, record);
            const auto now = std::chrono::steady_clock::now();
            const double seconds = std::chrono::duration<double>(now - std::exchange(begin, now)).count();
            return log_->add(Done::Gradients, static_cast<std::int64_t>(some[i]), seconds, record);
          };
          return backend_.run_gradients(source(), plan_.model, plan_.forward, ids, take, stop_);
        });
  }

  // Two ways to one loss: that gradients are of the model that is analysed.
  static Result<void> check_loss(double with_gradients, double analysed) {
    constexpr double kShare = 1e-3;
    if (!(std::abs(with_gradients - analysed) > kShare * std::max(1.0, std::abs(analysed)))) return {};
    return Error(ErrorCode::Unsupported, "the pass with gradients does not give the loss of the model")
        .wanted(format("%.9g", analysed), format("%.9g", with_gradients));
  }

  // Heads that the table has room for, also where a layer has fewer.
  [[nodiscard]] std::vector<HeadRef> all_heads() const {
    std::vector<HeadRef> heads;
    for (std::size_t place = 0; place < table_size(); ++place)
      heads.push_back(head_at(outcome_.layers, outcome_.heads, place));
    return heads;
  }
  [[nodiscard]] double gradient_at(const HeadGradients& gradients, const HeadRef& head) const {
    if (candidates_.find(head) == nullptr) return kNaN;
    return gradients.by_layer[static_cast<std::size_t>(head.layer)][static_cast<std::size_t>(head.head)];
  }

  // In the order of the axes.
  void add_sinks(const SummaryTable& table, Doubles& record) const {
    for (std::size_t l = 0; l < outcome_.layers.size(); ++l)
      for (std::size_t h = 0; h < outcome_.heads.size(); ++h)
        for (std::size_t component = 0; component < 2; ++component)
          record.push_back(table.at("sink_score", l, h, component));
  }

  void choose_singles() {
    for (std::size_t i = 0; i < planned_.singles; ++i) outcome_.singles.push_back(planned_.results[i].heads.front());
    if (request_.needs_gradients()) {
      outcome_.singles.clear();
      std::vector<HeadRef> order = by_gradient();
      order.resize(static_cast<std::size_t>(request_.top));
      std::ranges::sort(order);
      outcome_.singles = std::move(order);
    }
    for (std::size_t i = planned_.singles; i < planned_.results.size(); ++i)
      outcome_.sets.push_back(planned_.results[i].heads);
  }

  // By falling mean over sequences, as the file has it; those without a number last. `of_sequence`: value of a record.
  template <typename OfSequence>
  [[nodiscard]] std::vector<HeadRef> by_mean(Done kind, const std::vector<HeadRef>& heads,
                                             const OfSequence& of_sequence) const {
    std::vector<std::pair<double, HeadRef>> order;
    for (std::size_t place = 0; place < heads.size(); ++place) {
      double sum = 0.0, count = 0.0;
      for (std::size_t s = 0; s < sequences_; ++s) {
        const double value = of_sequence((*log_->find(kind, static_cast<std::int64_t>(s)))[1 + place]);
        if (!std::isnan(value)) sum += value, count += 1.0;
      }
      const double mean = sum / count;
      order.emplace_back(std::isnan(mean) ? -kInfinity : mean, heads[place]);
    }
    std::ranges::stable_sort(order, std::ranges::greater(), &std::pair<double, HeadRef>::first);
    std::vector<HeadRef> ordered;
    for (const auto& [mean, head] : order) ordered.push_back(head);
    return ordered;
  }

  // All that gradients were asked of, the most important one first.
  [[nodiscard]] std::vector<HeadRef> by_gradient() const {
    std::vector<HeadRef> order = by_mean(Done::Gradients, all_heads(), [](double g) { return std::abs(g); });
    std::erase_if(order, [&](const HeadRef& head) { return candidates_.find(head) == nullptr; });
    return order;
  }

  // z̄ over all positions of all sequences; one that is not finite throughout counts for nothing.
  Result<void> run_means() {
    begin_pass(1.0);
    if (log_->find(Done::Means, 0) == nullptr) {
      ForwardOptions forward = plan_.forward;
      forward.layers.clear();
      forward.context_sums = true;
      std::map<std::int64_t, std::vector<ExactMoments>> sums;
      std::int64_t positions = 0;
      std::vector<std::size_t> all(sequences_);
      std::iota(all.begin(), all.end(), std::size_t{0});
      const auto begin = std::chrono::steady_clock::now();
      HEADROOM_TRY_VOID(
          run_unchanged(all, forward,
                        [&](std::span<const std::size_t> some, std::span<const std::unique_ptr<PassObserver>> observers,
                            std::span<const ForwardSummary>) -> Result<void> {
                          for (std::size_t i = 0; i < some.size(); ++i) {
                            const auto finite = [](const auto& layer) {
                              return std::ranges::all_of(layer.second, [](double sum) { return std::isfinite(sum); });
                            };
                            if (!std::ranges::all_of(observers[i]->sums, finite)) continue;
                            positions += request_.plan->options.length;
                            for (const auto& [layer, values] : observers[i]->sums) {
                              std::vector<ExactMoments>& total = sums[layer];
                              total.resize(values.size());
                              for (std::size_t c = 0; c < values.size(); ++c) add_parts(total[c], values[c]);
                            }
                          }
                          return {};
                        }));
      // Layer, how many numbers, the numbers.
      Doubles record;
      for (const auto& [layer, total] : sums) {
        record.push_back(static_cast<double>(layer)), record.push_back(static_cast<double>(total.size()));
        for (const ExactMoments& sum : total) record.push_back(sum.sum() / static_cast<double>(positions));
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      HEADROOM_TRY_VOID(log_->add(Done::Means, 0, seconds.count(), record));
    }
    const Doubles& record = *log_->find(Done::Means, 0);
    auto means = std::make_shared<HeadMeans>();
    for (std::size_t at = 0; at + 2 <= record.size();) {
      const auto size = static_cast<std::ptrdiff_t>(record[at + 1]);
      const auto from = record.begin() + static_cast<std::ptrdiff_t>(at) + 2;
      (*means)[static_cast<std::int64_t>(record[at])].assign(from, from + size);
      at += 2 + static_cast<std::size_t>(size);
    }
    means_ = std::move(means);
    return {};
  }

  // Changes of the loss of every sequence without these heads or sets; `keep` makes the record of what came of it.
  Result<void> run_sweeps(Done kind, const std::vector<HeadRef>& singles, const std::vector<HeadSet>& sets,
                          const std::function<Doubles(const AblationOutcome&)>& keep) {
    const std::vector<std::size_t> left = left_of(kind);
    for (std::size_t i = 0; i < left.size(); ++i) {
      HEADROOM_TRY_VOID(running());
      const std::size_t done = sequences_ - left.size() + i;
      AblationRequest one = request_of_sequence(request_, left[i]);
      one.run.layers = outcome_.layers, one.run.heads = outcome_.heads;
      one.heads = singles, one.sets = sets, one.means = means_;
      const auto heard = [&](double fraction, const std::string&) {
        report(static_cast<double>(done) + fraction, static_cast<double>(sequences_), done);
      };
      HEADROOM_TRY(const AblationOutcome outcome, ablate(backend_, one, {}, heard, stop_));
      if (outcome.cancelled) return Error(ErrorCode::Cancelled, "cancelled");
      HEADROOM_TRY_VOID(keep_violations(left[i], outcome.violations));
      HEADROOM_TRY_VOID(log_->add(kind, static_cast<std::int64_t>(left[i]), outcome.seconds, keep(outcome)));
    }
    return {};
  }

  Result<void> run_changes() {
    begin_pass(1.0 + kRunsOfChange * static_cast<double>(outcome_.singles.size() + outcome_.sets.size()));
    return run_sweeps(Done::Changes, outcome_.singles, outcome_.sets, [&](const AblationOutcome& outcome) {
      Doubles record = {outcome.loss};
      for (const AblatedSet& result : outcome.results) record.push_back(result.delta_loss);
      add_sinks(outcome.summary, record);
      return record;
    });
  }

  Result<void> run_together() {
    begin_pass(1.0 + kRunsOfChange * static_cast<double>(request_.cumulative));
    outcome_.removed = outcome_.singles.empty() ? by_gradient() : by_mean_change();
    outcome_.removed.resize(static_cast<std::size_t>(request_.cumulative));
    std::vector<HeadSet> sets;
    for (std::size_t k = 1; k <= outcome_.removed.size(); ++k)
      sets.emplace_back(outcome_.removed.begin(), outcome_.removed.begin() + static_cast<std::ptrdiff_t>(k));
    return run_sweeps(Done::Together, {}, sets, [](const AblationOutcome& outcome) {
      Doubles record;
      for (const AblatedSet& result : outcome.results) record.push_back(result.delta_loss);
      return record;
    });
  }

  // Those that were taken away one by one, the one whose loss change is largest first.
  [[nodiscard]] std::vector<HeadRef> by_mean_change() const {
    return by_mean(Done::Changes, outcome_.singles, [](double change) { return change; });
  }

  // Columns [first, first + count) of the records of all sequences.
  [[nodiscard]] Doubles columns(Done kind, std::size_t first, std::size_t count) const {
    Doubles values;
    values.reserve(sequences_ * count);
    for (std::size_t s = 0; s < sequences_; ++s) {
      const Doubles& record = *log_->find(kind, static_cast<std::int64_t>(s));
      const auto from = record.begin() + static_cast<std::ptrdiff_t>(first);
      values.insert(values.end(), from, from + static_cast<std::ptrdiff_t>(count));
    }
    return values;
  }

  void collect() {
    std::vector<std::int64_t> documents;
    for (const PlannedSequence& sequence : request_.plan->sequences) documents.push_back(sequence.document);
    const SequenceStatistics statistics(documents, request_.bootstrap_seed);
    const auto take = [&](SequenceColumns& to, Doubles values, std::size_t columns) {
      to.values = std::move(values);
      if (columns > 0) to.statistics = statistics.compute(to.values, columns);
    };
    const std::size_t results = outcome_.singles.size() + outcome_.sets.size(), table = table_size();
    const Done base = asks_changes() ? Done::Changes : Done::Gradients;
    take(outcome_.loss, columns(base, 0, 1), 1);
    take(outcome_.sink, columns(base, 1 + (asks_changes() ? results : table), 2 * table), 2 * table);
    if (asks_changes()) take(outcome_.change, columns(Done::Changes, 1, results), results);
    if (request_.cumulative > 0)
      take(outcome_.change_together, columns(Done::Together, 0, outcome_.removed.size()), outcome_.removed.size());
    if (request_.needs_gradients()) {
      take(outcome_.gradient, columns(Done::Gradients, 1, table), 0);
      Doubles size, order = outcome_.gradient.values;
      for (double& g : order) size.push_back(std::abs(g)), g = -g;
      take(outcome_.importance, std::move(size), table);
      take(outcome_.first_order, std::move(order), table);
    }
    std::set<std::int64_t> with_loss;  // an interval rests on these
    for (std::size_t s = 0; s < sequences_; ++s)
      if (std::isfinite(outcome_.loss.values[s])) with_loss.insert(documents[s]);
    outcome_.documents = std::ssize(with_loss);
    outcome_.non_finite = std::ranges::count_if(outcome_.loss.values, [](double loss) { return !std::isfinite(loss); });
    outcome_.seconds = log_->seconds();
    outcome_.violations = log_->violations();
  }

  static constexpr double kGradientRuns = 3.0, kRunsOfChange = 0.6;

  ComputeBackend& backend_;
  const PlanAblationRequest& request_;
  const CorpusProgress& progress_;
  const kernels::StopRequested& stop_;
  const std::size_t sequences_;
  AblationOutcome planned_;     // of what was asked for: heads and sets without numbers
  AblationOutcome candidates_;  // of heads whose gradients count
  RunPlan plan_;
  std::unique_ptr<AblationLog> log_;
  std::shared_ptr<const HeadMeans> means_;
  PlanAblationOutcome outcome_;
  double passed_ = 0.0, pass_ = 0.0;
};

}  // namespace

RunMemory estimate_plan_ablation_memory(const PlanAblationRequest& request, std::int64_t threads) {
  const AblationRequest one = request_of_sequence(request, 0);
  RunMemory memory = estimate_ablation_memory(one, threads);
  const ModelSpec& model = one.run.model->spec;
  const double real = one.run.dtype == ComputeDtype::Float64 ? 8.0 : 4.0;
  const auto length = static_cast<double>(request.plan->options.length);
  const auto add = [&](const char* what, const std::string& formula, double bytes) {
    memory.items.push_back({what, formula, static_cast<std::size_t>(bytes)});
    memory.working_bytes += memory.items.back().bytes;
  };
  const double together = std::min(
      static_cast<double>(request.plan->sequences.size()),
      static_cast<double>(sequences_together(request.batch_tokens, one.run.device, request.plan->options.length)));
  {
    // A record of each sequence, and the columns that statistics are of.
    std::size_t heads = 0;
    for (const BlockSpec& block : model.blocks) heads = std::max(heads, block.attention.heads.size());
    const auto some = [](const std::vector<std::int64_t>& chosen, std::size_t all) {
      return static_cast<double>(chosen.empty() ? all : chosen.size());
    };
    const double table = some(one.run.layers, model.blocks.size()) * some(one.run.heads, heads);
    const double changes = request.gradient && request.top == 0 && one.sets.empty() ? 0.0
                           : request.top > 0                                        ? static_cast<double>(request.top)
                           : one.heads.empty() ? table
                                               : static_cast<double>(one.heads.size());
    const double numbers = 1.0 + 2.0 * table + changes + static_cast<double>(one.sets.size()) +
                           static_cast<double>(request.cumulative) + (request.needs_gradients() ? 5.0 * table : 0.0);
    const auto sequences = static_cast<double>(request.plan->sequences.size());
    add("numbers of all sequences", format("2 × %g × %g × 8 bytes", sequences, numbers), 16.0 * sequences * numbers);
  }
  if (request.needs_gradients() || one.mode.change == "head=mean") {
    const double position = static_cast<double>(numbers_of_position(model)) * real;
    add("sequences together", format("%g × %g × %g bytes", together, length, position), together * length * position);
  }
  if (request.needs_gradients()) {
    double weights = 0.0, inner = 0.0, maps = 0.0;
    for_each_weight(model, [&](const WeightRef& weight, std::string_view, std::int64_t) {
      weights += static_cast<double>(weight.rows() * weight.columns()) * real;
    });
    if (model.tied) weights += static_cast<double>(model.embedding.rows() * model.embedding.columns()) * real;
    for (const BlockSpec& block : model.blocks) {
      inner += static_cast<double>(5 * block.mlp.up.weight.rows());
      maps += static_cast<double>(block.attention.heads.size()) * (block.attention.differential() ? 2.0 : 1.0);
    }
    constexpr double kKeptOfBlock = 3.0, kKeptOfLogit = 4.0, kKeptOfEntry = 4.0;
    const double position =
        kKeptOfBlock * static_cast<double>(numbers_of_position(model)) * static_cast<double>(model.blocks.size()) +
        inner + kKeptOfLogit * static_cast<double>(model.vocab_size);
    add("all weights", format("%g bytes", weights), weights);
    add("what gradients come back by",
        format("%g × %g × %g bytes", length, position + kKeptOfEntry * maps * length, real),
        length * (position + kKeptOfEntry * maps * length) * real);
  }
  std::ranges::stable_sort(memory.items, std::ranges::greater(), &MemoryItem::bytes);
  return memory;
}

Result<PlanAblationOutcome> ablate_plan(ComputeBackend& backend, const PlanAblationRequest& request,
                                        const CorpusProgress& progress, const kernels::StopRequested& stop) {
  return PlanAblation(backend, request, progress, stop).run();
}

}  // namespace headroom
