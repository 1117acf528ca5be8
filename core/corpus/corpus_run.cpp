#include "core/corpus/corpus_run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/corpus/kept_violations.h"
#include "core/corpus/progress_log.h"
#include "core/corpus/shard_origin.h"
#include "core/corpus/statistics.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/io/target_check.h"
#include "core/run/provenance.h"
#include "core/run/run_plan.h"

namespace headroom {
namespace {

class LogValues final : public SequenceValues {
 public:
  explicit LogValues(const ProgressLog& log) : log_(log) {}
  Result<void> floats(std::int64_t sequence, std::size_t first, std::span<float> out) const override {
    return log_.read_floats(sequence, first, out);
  }
  Result<void> integers(std::int64_t sequence, std::size_t first, std::span<std::int32_t> out) const override {
    return log_.read_integers(sequence, first, out);
  }

 private:
  const ProgressLog& log_;
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// What the numbers of a run follow from, the shard left out.
Result<std::string> settings_of(const CorpusRequest& request, const RunPlan& plan, const AttentionChoice& attention,
                                const kernels::StopRequested& stop) {
  HEADROOM_TRY(const std::string hashes, checkpoint_hashes(*request.run.model->checkpoint, stop));
  return nlohmann::json{{"plan_sha256", request.plan->plan_sha256},
                        {"checkpoint_sha256", stored_text(hashes)},
                        {"what_ifs", overrides_text(request.run.what_ifs)},
                        {"layers", plan.shape.layers},
                        {"heads", plan.shape.heads},
                        {"dtype", dtype_name(request.run.dtype)},
                        {"backend", attention.backend},
                        {"keep", request.keep},
                        {"epsilon", request.epsilons},
                        {"bootstrap_seed", request.bootstrap_seed},
                        {"ids", request.with_ids},
                        {"curves", request.curves},
                        {"program", request.run.program}}
      .dump();
}

// What the records of a log are of: the settings, and what may change last bits, or be another part of the same corpus.
std::string log_settings(const std::string& settings, const ShardRange& range, const std::string& device,
                         const std::string& kernel_target, int threads) {
  nlohmann::json all = nlohmann::json::parse(settings);
  all["first_sequence"] = range.first, all["sequences"] = range.count;
  all["device"] = device, all["kernel_target"] = kernel_target, all["threads"] = threads;
  return all.dump();
}

// What the self-check found wrong in the target, where that is the finished file of these settings.
std::optional<std::vector<std::string>> if_finished(const std::filesystem::path& target, const std::string& settings,
                                                    const ShardRange& range) {
  const auto file = RunFile::open(target);
  if (!file) return std::nullopt;
  const auto schema = (*file)->root_attribute("schema_name"), found = (*file)->root_attribute("settings");
  const auto first = (*file)->read_axis("sequences/sequence");
  const auto violations = read_violations(**file);
  if (schema && *schema == kCorpusSchemaName && found && *found == settings && first && !first->empty() &&
      first->front() == static_cast<double>(range.first) && std::ssize(*first) == range.count && violations)
    return *violations;
  return std::nullopt;
}

// The request of one sequence, as it would be given to analyze().
AnalysisRequest of_first_sequence(const CorpusRequest& request) {
  AnalysisRequest run = request.run;
  run.prompt = prompt_of_sequence(*request.plan, 0, run.model->spec);
  run.summary_only = run.hidden = run.exact_maps = false;
  run.pool_blocks = 0;
  return run;
}

Result<RunPlan> plan_of(const CorpusRequest& request) {
  const ModelSpec& model = request.run.model->spec;
  if (model.capture || model.encoder)
    return Error(ErrorCode::Unsupported, "a corpus is run through models that read one sequence")
        .wanted("a decoder, or an encoder alone", model.capture ? "a capture" : model.model_type);
  return plan_run(of_first_sequence(request));
}

std::size_t batch_size(const CorpusRequest& request) {
  return sequences_together(request.batch_tokens, request.run.device, request.plan->options.length);
}

// HDF5 is of one thread at a time.
template <typename Work>
auto using_files(Mutex* files, const Work& work) -> decltype(work()) {
  if (files == nullptr) return work();
  const MutexLock lock(*files);
  return work();
}

class CorpusRun {
 public:
  CorpusRun(ComputeBackend& backend, const CorpusRequest& request, RunPlan plan, CorpusLayout layout,
            const CorpusProgress& progress, const kernels::StopRequested& stop, const CorpusWatch& watch)
      : backend_(backend),
        request_(request),
        plan_(std::move(plan)),
        layout_(std::move(layout)),
        progress_(progress),
        stop_(stop),
        watch_(watch),
        growth_(watch),
        range_(shard_range(std::ssize(request.plan->sequences), request.shard_index, request.shard_count)) {}

  Result<CorpusOutcome> run() {
    const auto begin = std::chrono::steady_clock::now();
    outcome_.notes = plan_.notes;
    ForwardOptions& forward = plan_.forward;
    forward.last_layer = last_layer_to_run(plan_.model, plan_.request);
    HEADROOM_TRY(outcome_.attention, backend_.choose_attention(forward));
    HEADROOM_TRY(settings_, settings_of(request_, plan_, outcome_.attention, stop_));
    const std::filesystem::path& target = request_.run.output;
    const std::string of_log =
        log_settings(settings_, range_, request_.run.device, outcome_.attention.kernel_target, backend_.info().threads);
    std::optional<std::vector<std::string>> there;
    if (!request_.run.force) there = using_files(watch_.files, [&] { return if_finished(target, settings_, range_); });
    if (there) {
      // By a process that ended between its last two steps.
      ProgressLog::remove_left_over(target, of_log);
      outcome_.nothing_to_do = true;
      outcome_.violations = std::move(*there);
      outcome_.sequences = range_.count;
      return std::move(outcome_);
    }
    HEADROOM_TRY([[maybe_unused]] const std::filesystem::path checked,
                 check_target(target, request_.run.force, request_.run.inputs));
    HEADROOM_TRY(log_, ProgressLog::open(target, of_log, request_.run.force && !request_.go_on, layout_));
    if (watch_.begun) watch_.begun();
    HEADROOM_TRY_VOID(run_sequences());
    HEADROOM_TRY_VOID(using_files(watch_.files, [&] { return write(); }));
    outcome_.violations = log_->violations();
    log_->remove();
    std::error_code ignored;
    outcome_.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(target, ignored));
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(outcome_);
  }

 private:
  Result<void> run_sequences() {
    std::vector<std::int64_t> left;
    for (std::int64_t s = range_.first; s < range_.first + range_.count; ++s)
      if (!log_->has(s)) left.push_back(s);
    outcome_.resumed = range_.count - std::ssize(left);
    // What is the same for all may have been lost though every sequence is there.
    if (left.empty() && !log_->fixed()) left.push_back(range_.first);
    const std::size_t size = batch_size(request_);
    if (outcome_.resumed > 0) HEADROOM_TRY_VOID(growth_.batch_done(source(), /*last=*/false));
    for (std::size_t first = 0; first < left.size(); first += size) {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      const std::size_t count = std::min(size, left.size() - first);
      HEADROOM_TRY_VOID(run_batch(std::span(left).subspan(first, count)));
      HEADROOM_TRY_VOID(growth_.batch_done(source(), first + count == left.size()));
    }
    return {};
  }

  Result<void> run_batch(std::span<const std::int64_t> sequences) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t before = log_->sequences();
    const std::function<void(double)> report = [&](double fraction) {
      const auto all = static_cast<double>(range_.count);
      const auto done = static_cast<double>(before) + fraction * static_cast<double>(sequences.size());
      if (progress_) progress_(done / all, before, range_.count);
      // What nobody sees costs the run nothing: its error comes again after the batch.
      if (growth_.watched()) (void)growth_.look(source());
    };
    std::vector<std::unique_ptr<SequenceCollector>> collectors;
    std::vector<ForwardObserver*> observers;
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::int64_t s : sequences) {
      collectors.push_back(std::make_unique<SequenceCollector>(layout_, plan_.forward.request, report, stop_));
      collectors.back()->begin(s, collectors.size() == 1 && !log_->fixed());
      observers.push_back(collectors.back().get());
      ids.push_back(request_.plan->sequences[static_cast<std::size_t>(s)].ids);
    }
    HEADROOM_TRY(const std::vector<ForwardSummary> summaries,
                 backend_.run_batch(request_.run.model->source, plan_.model, plan_.forward, ids, observers));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (!log_->fixed()) HEADROOM_TRY_VOID(keep_fixed(*collectors.front()));
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      // Before the record: a sequence that is in the log does not run again.
      HEADROOM_TRY_VOID(log_->add_violations(of_sequence(sequences[i], collectors[i]->self_check().violations)));
      const SequenceRecord record = collectors[i]->finish(summaries[i]);
      if (!log_->has(sequences[i]))
        HEADROOM_TRY_VOID(log_->add(record, seconds.count() / static_cast<double>(sequences.size())));
    }
    HEADROOM_TRY_VOID(log_->sync());
    if (progress_)
      progress_(static_cast<double>(log_->sequences()) / static_cast<double>(range_.count), log_->sequences(),
                range_.count);
    return {};
  }

  [[nodiscard]] CorpusSource source() const {
    return {*request_.plan, plan_, outcome_.attention, layout_, *log_, request_.keep};
  }

  Result<void> keep_fixed(const SequenceCollector& collector) {
    std::vector<FixedRegion> regions = collector.fixed();
    const RegionSink sink = region_sink(regions);
    HEADROOM_TRY_VOID(model_parameters(plan_.model, layout_.shape(), sink));
    HEADROOM_TRY_VOID(model_program(plan_.model, layout_.shape(), sink));
    return log_->set_fixed(regions);
  }

  Result<void> write() {
    CorpusContent content;
    const LogValues values(*log_);
    CorpusTotals totals(layout_);
    const BackendInfo info = backend_.info();
    content.plan = request_.plan;
    content.layout = &layout_;
    content.values = &values;
    content.totals = &totals;
    content.range = range_;
    content.shard_index = request_.shard_index, content.shard_count = request_.shard_count;
    for (std::int64_t s = range_.first; s < range_.first + range_.count; ++s) {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      HEADROOM_TRY(const SequenceRecord record, log_->read(s));
      totals.add(record);
      content.losses.push_back(record.loss);
      content.rates.insert(content.rates.end(), record.rates.begin(), record.rates.end());
      content.non_finite_layers.push_back(record.non_finite_layer);
      if (record.non_finite_layer >= 0) ++outcome_.non_finite;
    }
    content.fixed = log_->fixed().value_or(std::vector<FixedRegion>());
    ShardOrigin shard;
    shard.first = range_.first, shard.count = range_.count;
    shard.host = host_name();
    shard.device = outcome_.attention.device;
    shard.kernel_target = outcome_.attention.kernel_target;
    shard.threads = info.threads;
    shard.seconds = log_->seconds();
    shard.violations = log_->violations();
    content.shards = {std::move(shard)};
    content.sink_null = plan_.sink_null;
    content.keep = request_.keep;
    content.settings = settings_;
    content.bootstrap_seed = request_.bootstrap_seed;
    content.with_ids = request_.with_ids;
    RunFileWriter::Options options;
    options.force = request_.run.force;
    options.inputs = request_.run.inputs;
    options.schema_name = kCorpusSchemaName;
    HEADROOM_TRY(const std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(request_.run.output, options));
    HEADROOM_TRY_VOID(
        write_provenance(*writer, plan_.request, "Statistics over a corpus of ", info, outcome_.attention, stop_));
    HEADROOM_TRY_VOID(writer->set_attribute("program", "overrides", overrides_text(request_.run.what_ifs)));
    HEADROOM_TRY(outcome_.summary, write_corpus(*writer, content, stop_));
    outcome_.sequences = range_.count;
    return writer->commit();
  }

  ComputeBackend& backend_;
  const CorpusRequest& request_;
  RunPlan plan_;
  CorpusLayout layout_;
  const CorpusProgress& progress_;
  const kernels::StopRequested& stop_;
  const CorpusWatch& watch_;
  CorpusGrowth growth_;
  ShardRange range_;
  std::string settings_;
  std::unique_ptr<ProgressLog> log_;
  CorpusOutcome outcome_;
};

}  // namespace

// The stream as it comes, normed, with attention and
// as it goes, projections before and after they are turned, contexts.
std::int64_t numbers_of_position(const ModelSpec& model) {
  constexpr std::int64_t kStreams = 5, kTurned = 2;
  std::int64_t most = 0;
  for (const BlockSpec& block : model.blocks) {
    const AttentionSpec& attention = block.attention;
    if (!block.attends()) continue;
    most = std::max(most, kTurned * ((attention.num_query_blocks + attention.num_key_blocks) * attention.head_dim +
                                     attention.num_value_blocks * attention.value_dim) +
                              std::ssize(attention.heads) * attention.context_dim());
  }
  return kStreams * model.hidden_size * model.streams.count() + most;
}

std::size_t sequences_together(std::int64_t batch_tokens, const std::string& device, std::int64_t length) {
  const std::int64_t tokens = batch_tokens > 0 ? batch_tokens : device.starts_with("cuda") ? 65536 : 4096;
  return static_cast<std::size_t>(std::max<std::int64_t>(1, tokens / length));
}

Result<CorpusSize> corpus_size(const CorpusRequest& request) {
  HEADROOM_TRY(const RunPlan plan, plan_of(request));
  HEADROOM_TRY(const CorpusLayout layout,
               CorpusLayout::create(plan.shape, request.keep, request.epsilons, request.curves));
  const ShardRange range = shard_range(std::ssize(request.plan->sequences), request.shard_index, request.shard_count);
  CorpusSize size;
  size.kept_bytes = static_cast<double>(layout.kept_bytes()) * static_cast<double>(range.count);
  const auto batch =
      static_cast<double>(std::min<std::int64_t>(static_cast<std::int64_t>(batch_size(request)), range.count));
  const double real = plan.shape.real == ElementType::Float64 ? sizeof(double) : sizeof(float);
  const double stream =
      static_cast<double>(plan.shape.length) * static_cast<double>(numbers_of_position(plan.model)) * real;
  // What the heads of a layer say of each row, of all sequences at once: two maps of fourteen numbers, and eight of
  // both.
  constexpr std::size_t kOfRow = 36;
  const double rows =
      static_cast<double>(plan.shape.length) * static_cast<double>(plan.forward.heads.size() * kOfRow * sizeof(double));
  const kernels::StatisticsRequest& asked = plan.forward.request;
  const double counts = 2.0 * static_cast<double>(plan.forward.heads.size()) *
                        static_cast<double>(asked.logit_bins.bins + asked.log10_weight_bins.bins) *
                        sizeof(std::int64_t);
  constexpr double kWritten = 96.0 * 1024 * 1024;
  size.working_bytes = batch * (stream + rows + counts + static_cast<double>(record_bytes(layout))) +
                       static_cast<double>(layout.count_bins()) * sizeof(std::int64_t) +
                       static_cast<double>(layout.float_columns() * sizeof(ExactMoments)) + kWritten;
  return size;
}

Result<CorpusLayout> corpus_layout(const CorpusRequest& request) {
  HEADROOM_TRY(const RunPlan plan, plan_of(request));
  return CorpusLayout::create(plan.shape, request.keep, request.epsilons);
}

Result<CorpusOutcome> run_corpus(ComputeBackend& backend, const CorpusRequest& request, const CorpusProgress& progress,
                                 const kernels::StopRequested& stop, const CorpusWatch& watch) {
  HEADROOM_TRY(RunPlan plan, plan_of(request));
  HEADROOM_TRY(CorpusLayout layout, CorpusLayout::create(plan.shape, request.keep, request.epsilons, request.curves));
  const ShardRange range = shard_range(std::ssize(request.plan->sequences), request.shard_index, request.shard_count);
  if (range.count == 0) {
    Error error(ErrorCode::InvalidArgument, "the shard has no sequences");
    return error.at_tensor("--shard").wanted(format("at most %zu shards", request.plan->sequences.size()),
                                             format("%lld", static_cast<long long>(request.shard_count)));
  }
  return CorpusRun(backend, request, std::move(plan), std::move(layout), progress, stop, watch).run();
}

}  // namespace headroom
