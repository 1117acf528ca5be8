#include "app/session/corpus_runs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/session/commands.h"
#include "app/session/corpora.h"
#include "app/session/run_names.h"
#include "app/session/what_ifs.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/corpus/corpus_budget.h"
#include "core/corpus/corpus_growth.h"
#include "core/corpus/corpus_run.h"
#include "core/corpus/merge.h"
#include "core/io/hdf5_error.h"
#include "core/io/run_file.h"
#include "core/io/target_check.h"

namespace headroom {
namespace {

using CorpusClock = std::chrono::steady_clock;

// Tokens of sequences that run together on the processor: fewer than the command's, so that the picture grows soon and
// little is lost when it stops. The numbers do not depend on it.
constexpr std::int64_t kShownBatchTokens = 1024;

double corpus_seconds(CorpusClock::time_point begin) {
  return std::chrono::duration<double>(CorpusClock::now() - begin).count();
}

std::string sequences_text(std::int64_t count) {
  return grouped_text(count) + (count == 1 ? " sequence" : " sequences");
}

// Of the command line, for the file.
std::string order_command(const CorpusTask& order, const std::string& model) {
  std::string line = "headroom corpus " + quote_word(model) + " --data " + quote_word(order.data) + " --length " +
                     std::to_string(order.length);
  if (order.sequences > 0) line += " --sequences " + std::to_string(order.sequences);
  if (order.split != "none") line += " --split " + order.split;
  if (order.curves) line += " --curves";
  for (const std::string& what_if : order.what_ifs) line += " --what-if " + quote_word(what_if);
  return line + " -o " + quote_word(order.output);
}

// Options of the command line mean nothing here.
Error without_options(Error error) {
  if (error.tensor.starts_with("--")) error.tensor.clear();
  if (const std::size_t at = error.expected.find("--memory"); at != std::string::npos)
    error.expected.replace(at, std::string_view("--memory").size(), "as set for runs");
  if (error.hint.find("--length") != std::string::npos) error.hint = "choose a smaller length, or longer documents";
  if (error.hint.find("--force") != std::string::npos) error.hint = "replace it, or choose another name";
  if (error.hint.find("--keep") != std::string::npos) error.hint = "fewer sequences keep less";
  if (error.hint.find("--") != std::string::npos) error.hint.clear();
  return error;
}

// What comes between an order and a run: which field is wrong, until all of them are right.
struct CorpusPreparing {
  CorpusField field = CorpusField::None;
  std::vector<std::filesystem::path> inputs;
};

Result<void> check_order_target(const CorpusTask& order, std::span<const std::filesystem::path> inputs) {
  std::error_code ignored;
  if (std::filesystem::exists(order.output, ignored) && !std::filesystem::is_directory(order.output, ignored)) {
    Error error(ErrorCode::InvalidArgument, "a file that is no corpus is not replaced");
    if (!is_hdf5_file(order.output)) return error.in_file(order.output);
  }
  // One that may be there: the run finds out whether it is finished already.
  HEADROOM_TRY([[maybe_unused]] const std::filesystem::path checked, check_target(order.output, true, inputs));
  return {};
}

Result<std::shared_ptr<const CorpusPlan>> plan_order(const CorpusTask& order, const OpenedModel& model,
                                                     const PlanProgress& progress, const std::function<bool()>& stop,
                                                     CorpusPreparing& preparing) {
  preparing.field = CorpusField::Output;
  for (const InputFile& file : model.checkpoint->files()) preparing.inputs.push_back(file.path());
  preparing.inputs.emplace_back(order.data);
  HEADROOM_TRY_VOID(check_order_target(order, preparing.inputs));
  PlanOptions options;
  options.length = order.length;
  options.sequences = order.sequences;
  preparing.field = CorpusField::Split;
  HEADROOM_TRY(options.documents.split, parse_text_split(order.split));
  preparing.field = CorpusField::Data;
  const std::vector<std::filesystem::path> data{order.data};
  Result<CorpusPlan> plan = plan_corpus(data, options, plan_model(model), progress, stop);
  if (!plan) {
    if (plan.error().tensor == "--length") preparing.field = CorpusField::Length;
    return plan.error();
  }
  for (const CorpusFile& file : plan->files) preparing.inputs.push_back(file.path);
  preparing.field = CorpusField::None;
  return std::make_shared<const CorpusPlan>(std::move(*plan));
}

}  // namespace

// The main thread's, but for what the compute thread is given by value.
struct CorpusRuns::Job {
  int id = -1, run = -1, follows = -1;
  CorpusTask order;
  bool by_panel = false;
  std::shared_ptr<const OpenedModel> model;
  AnalysisRequest request;                 // of one sequence, without a prompt
  std::shared_ptr<const CorpusPlan> plan;  // null before the documents are read
  std::vector<std::filesystem::path> inputs;
  double seconds = 0.0;  // of the parts before this one
  bool running = false;  // waits or runs
  bool begun = false;    // nothing was in its way: what is there is of this order
  ComputeThread::Stop stop, yields;
};

struct CorpusRuns::Watched {
  Mutex mutex;
  std::string quantity HEADROOM_GUARDED_BY(mutex);
};

CorpusRuns::~CorpusRuns() = default;

RunEntry* CorpusRuns::entry_of(const Job& job) { return job.run >= 0 ? state_.edit_run(job.run) : nullptr; }

Result<void> CorpusRuns::start(const CorpusTask& order) {
  const ModelEntry* model = state_.find_model(state_.model);
  if (!model || !model->model) return Error(ErrorCode::InvalidArgument, "no checkpoint is open");
  for (const auto& [id, other] : jobs_)
    if (other->running && other->order.output == order.output)
      return Error(ErrorCode::InvalidArgument, "a corpus is being run to this file").in_file(order.output);
  auto job = std::make_shared<Job>();
  HEADROOM_TRY(job->request.dtype, parse_dtype(state_.settings.dtype));
  HEADROOM_TRY(job->request.what_ifs, parsed_what_ifs(order.what_ifs));
  HEADROOM_TRY_VOID(apply_what_ifs(model->model->spec, job->request.what_ifs));
  job->request.device = state_.settings.device;
  job->request.backend = state_.settings.backend;
  job->request.output = order.output;
  job->request.force = order.replace;
  job->request.command_line = order_command(order, model->path);
  job->request.program = options_.program;
  job->request.git_commit = options_.git_commit;
  job->id = inbox_.next_id();
  job->order = order;
  job->model = model->model;
  job->by_panel = state_.overlay == Overlay::Corpus;
  CorpusWish& wish = state_.corpus_wish;
  wish.task = order;
  wish.planning = true;
  wish.doing = "waiting";
  wish.failed.clear();
  wish.field = CorpusField::None;
  // What an earlier order to this file left is gone on with.
  std::erase_if(jobs_, [&](const auto& other) { return other.second->order.output == order.output; });
  jobs_[job->id] = job;
  inbox_.begin();
  post(job);
  return {};
}

Result<void> CorpusRuns::go_on(int run_id) {
  for (const auto& [id, job] : jobs_) {
    if (job->run != run_id) continue;
    if (job->running) return Error(ErrorCode::InvalidArgument, "the corpus is being run");
    RunEntry* run = state_.edit_run(run_id);
    if (run) {
      run->status = RunStatus::Running;
      run->doing = "waiting";
      run->error.reset();
    }
    inbox_.begin();
    post(job);
    return {};
  }
  return Error(ErrorCode::InvalidArgument, "no corpus that was stopped is shown");
}

void CorpusRuns::post(const std::shared_ptr<Job>& job) {
  job->stop = compute_.begin(job->id);
  job->yields = std::make_shared<std::atomic<bool>>(false);
  job->running = true;
  if (!watched_) watched_ = std::make_shared<Watched>();
  if (const auto ref = parse_quantity(state_.view.heads.quantity)) watch(quantity_text(*ref));
  struct Given {
    AnalysisRequest request;
    CorpusTask order;
    std::shared_ptr<const OpenedModel> model;
    std::shared_ptr<const CorpusPlan> plan;
    bool go_on = false;
  };
  auto given = std::make_shared<Given>();
  given->request = job->request;
  given->request.inputs = job->inputs;
  given->order = job->order;
  given->model = job->model;
  given->plan = job->plan;
  given->go_on = job->begun;
  compute_.post([this, job, given, stop = job->stop, yields = job->yields, watched = watched_,
                 memory_gb = state_.settings.memory_gb] {
    const auto begin = CorpusClock::now();
    CorpusPreparing preparing;
    const std::function<bool()> stops = [&] { return stop->load() || yields->load(); };
    auto last_report = begin - std::chrono::seconds(1);
    // More often than a person reads costs frames.
    const auto due = [&] {
      if (corpus_seconds(last_report) < 0.05) return false;
      last_report = CorpusClock::now();
      return true;
    };
    const auto compute = [&]() -> Result<CorpusOutcome> {
      if (stops()) return Error(ErrorCode::Cancelled, "cancelled");
      std::shared_ptr<const CorpusPlan> plan = given->plan;
      if (!plan) {
        const PlanProgress reading = [&](std::int64_t documents, std::int64_t) {
          if (!due()) return;
          inbox_.post([this, documents] {
            state_.corpus_wish.doing = grouped_text(documents) + (documents == 1 ? " document" : " documents");
          });
        };
        HEADROOM_TRY(plan, plan_order(given->order, *given->model, reading, stops, preparing));
        given->request.inputs = preparing.inputs;
        inbox_.post([job, plan, inputs = preparing.inputs] { job->plan = plan, job->inputs = inputs; });
      }
      HEADROOM_TRY(ComputeBackend * backend, compute_.backend());
      CorpusRequest request;
      request.run = given->request;
      request.run.model = given->model.get();
      request.plan = plan.get();
      request.go_on = given->go_on;
      request.curves = given->order.curves;
      if (request.run.device == "cpu") request.batch_tokens = kShownBatchTokens;
      request.run.prompt = prompt_of_sequence(*plan, 0, given->model->spec);
      HEADROOM_TRY(const CorpusSize size, corpus_size(request));
      preparing.field = CorpusField::Sequences;
      HEADROOM_TRY_VOID(check_kept_bytes(request.keep, size.kept_bytes));
      preparing.field = CorpusField::Length;
      release_spare_heap();
      const std::int64_t threads = backend->info().threads;
      const AnalysisBudget budget = make_corpus_budget(request, size, threads, memory_gb, free_memory());
      if (!budget.fits()) return over_budget(request.run, threads, budget).advise("a smaller length takes less");
      preparing.field = CorpusField::Output;
      std::optional<double> first;
      const CorpusProgress progress = [&](double fraction, std::int64_t done, std::int64_t all) {
        if (!first) first = fraction;
        if (!due() && done < all) return;
        inbox_.post([this, job, fraction, done, all, from = *first, elapsed = corpus_seconds(begin)] {
          RunEntry* run = entry_of(*job);
          if (!run || run->status != RunStatus::Running) return;
          run->fraction = fraction;
          run->doing = grouped_text(done) + " of " + sequences_text(all);
          run->seconds = job->seconds + elapsed;
          run->seconds_left.reset();
          if (fraction > from + 0.02) run->seconds_left = elapsed * (1.0 - fraction) / (fraction - from);
        });
      };
      CorpusWatch watch;
      watch.files = &hdf5_;
      watch.begun = [&] {
        preparing.field = CorpusField::None;
        inbox_.post([this, job] { begun(job); });
      };
      watch.quantity = [watched] {
        const MutexLock lock(watched->mutex);
        return watched->quantity;
      };
      watch.grown = [&](const CorpusSoFar& so_far) {
        inbox_.post([this, job, so_far, means = corpus_snapshot(*so_far.corpus, *so_far.statistics, Statistic::Mean)] {
          grown(*job, so_far, means);
        });
      };
      return run_corpus(*backend, request, progress, stops, watch);
    };
    Result<CorpusOutcome> result = without_exceptions(compute);
    inbox_.post([this, job, result = std::move(result), field = preparing.field, seconds = corpus_seconds(begin)] {
      job->seconds += seconds;
      finished(job, result, field);
    });
  });
}

// All that was asked for is right: what runs from here on is a run like others.
void CorpusRuns::begun(const std::shared_ptr<Job>& job) {
  if (std::exchange(job->begun, true)) return;  // it goes on
  state_.corpus_wish.planning = false;
  if (job->by_panel && state_.overlay == Overlay::Corpus) state_.overlay = Overlay::None;
  for (const std::string& warning : job->plan->warnings) {
    const bool warns = warning.starts_with("warning: ");
    inbox_.message(warns ? MessageLevel::Warning : MessageLevel::Info,
                   opened_title(job->order.output) + ": " + (warns ? warning.substr(9) : warning));
  }
  RunEntry run;
  run.path = std::filesystem::absolute(job->order.output).lexically_normal().string();
  run.what_ifs = job->order.what_ifs;
  run.status = RunStatus::Running;
  run.doing = "the first of " + sequences_text(std::ssize(job->plan->sequences));
  run.device = job->request.device;
  run.dtype = dtype_name(job->request.dtype);
  run.backend = job->request.backend;
  run.prompt_title = sequences_text(std::ssize(job->plan->sequences));
  job->follows = state_.view.run;
  job->run = hooks_.add_run(std::move(run));
  state_.coming = job->run;
}

void CorpusRuns::show(RunEntry& run) {
  const int id = run.id;
  if (state_.coming == id) state_.coming = -1;
  state_.view.centre = CentreView::Map;
  state_.view.heads.view = HeadsView::Atlas;
  hooks_.show_run(id);
}

void CorpusRuns::grown(const Job& job, const CorpusSoFar& so_far, std::shared_ptr<const RunSnapshot> means) {
  RunEntry* run = entry_of(job);
  if (!run || (run->corpus && !run->corpus.growing())) return;
  const bool first = !run->data;
  run->corpus.file = so_far.corpus;
  run->corpus.statistics = so_far.statistics;
  run->corpus.fill = {};
  run->corpus.values = so_far.values;
  run->data = std::move(means);
  run->prompt_title = corpus_size_text(*so_far.corpus);
  if (!first) return;
  name_models_and_runs(state_);
  // In place of what was shown when it was asked for; whoever looks at something else by now goes on with that.
  if (state_.coming == run->id && state_.view.run == job.follows)
    show(*run);
  else if (state_.coming == run->id)
    state_.coming = -1;
}

void CorpusRuns::refused(const Job& job, const Error& error, CorpusField field) {
  CorpusWish& wish = state_.corpus_wish;
  wish.planning = false;
  const Error shown = without_options(error);
  if (job.by_panel && state_.overlay == Overlay::Corpus && error.code != ErrorCode::Cancelled) {
    wish.failed = describe(shown) + (shown.hint.empty() ? "" : "; " + shown.hint);
    wish.field = field;
    return;
  }
  if (error.code == ErrorCode::Cancelled)
    inbox_.message(MessageLevel::Info, "the corpus was not begun");
  else
    inbox_.card("The corpus cannot be run", shown);
}

void CorpusRuns::there_already(const Job& job) {
  state_.corpus_wish.planning = false;
  if (job.by_panel && state_.overlay == Overlay::Corpus) state_.overlay = Overlay::None;
  inbox_.message(MessageLevel::Info, job.order.output + " holds this corpus already: nothing to do");
  const std::string path = std::filesystem::absolute(job.order.output).lexically_normal().string();
  for (RunEntry& run : state_.runs)
    if (run.corpus && !run.corpus.growing() && std::filesystem::absolute(run.path).lexically_normal() == path)
      return show(run);
  hooks_.open(path);
}

void CorpusRuns::drop(int run_id) {
  if (state_.coming == run_id) state_.coming = -1;
  std::erase_if(state_.runs, [&](const RunEntry& run) { return run.id == run_id; });
  name_models_and_runs(state_);
}

void CorpusRuns::finished(const std::shared_ptr<Job>& job, const Result<CorpusOutcome>& result, CorpusField field) {
  compute_.end(job->id);
  job->running = false;
  const bool stopped = !result && result.error().code == ErrorCode::Cancelled;
  if (stopped && !*job->stop) {  // it gave way
    if (RunEntry* run = entry_of(*job)) {
      run->doing = "waiting";
      run->seconds_left.reset();
    }
    post(job);
    return;
  }
  inbox_.end();
  if (stopped) compute_.cancelled();
  if (!job->begun) {
    jobs_.erase(job->id);
    result ? there_already(*job) : refused(*job, result.error(), field);
    return;
  }
  RunEntry* run = entry_of(*job);
  if (!run) {  // it was closed meanwhile; what it has stays beside its target
    jobs_.erase(job->id);
    return;
  }
  run->seconds = job->seconds;
  run->seconds_left.reset();
  if (result) {
    done(*job, *result);
    jobs_.erase(job->id);
    return;
  }
  const std::int64_t have = run->corpus ? run->corpus.file->sequences() : 0;
  if (stopped) {
    run->status = RunStatus::Cancelled;
    inbox_.message(MessageLevel::Info, run->name + " stopped; kept beside its file: " + sequences_text(have) +
                                           "; the same corpus goes on with the rest");
  } else {
    run->status = RunStatus::Failed;
    run->error = without_options(result.error());
    inbox_.card("The corpus could not be run to its end", *run->error);
  }
  if (!run->data) {
    drop(run->id);
    jobs_.erase(job->id);
  }
}

// The file is there: it takes the place of what was shown of it while it grew.
void CorpusRuns::done(const Job& job, const CorpusOutcome& outcome) {
  RunEntry& run = *entry_of(job);
  const std::string path = run.path;
  run.fraction = 1.0;
  run.doing = "opening the file";
  inbox_.message(MessageLevel::Info, run.name + ": " + sequences_text(outcome.sequences) + " in " + path + ", " +
                                         size_text(static_cast<double>(outcome.size_bytes)));
  for (const std::string& note : outcome.notes) inbox_.message(MessageLevel::Info, run.name + ": " + note);
  for (const std::string& violation : outcome.violations)
    inbox_.message(MessageLevel::Error, run.name + ": self-check: " + violation);
  if (outcome.non_finite > 0)
    inbox_.message(MessageLevel::Warning, run.name + ": " + sequences_text(outcome.non_finite) +
                                              (outcome.non_finite == 1 ? " is" : " are") +
                                              " not finite from some layer on");
  inbox_.ask(
      io_,
      [this, path] {
        return without_exceptions([&]() -> Result<OpenedCorpusRun> {
          const MutexLock lock(hdf5_);
          prepare_hdf5();
          return open_corpus_run(path);
        });
      },
      [this, id = run.id, follows = job.follows, path](Result<OpenedCorpusRun> opened) {
        RunEntry* entry = state_.edit_run(id);
        if (!entry) return;
        entry->status = RunStatus::Done;
        if (!opened) {
          inbox_.card("Cannot open " + opened_title(path), opened.error(), "open " + quote_word(path));
          if (!entry->data) drop(id);
          return;
        }
        const bool first = !entry->data;
        entry->corpus = std::move(opened->corpus);
        entry->data = std::move(opened->run);
        entry->prompt_title = corpus_size_text(*entry->corpus.file);
        // What was open of an earlier file of this name is not what is there.
        const auto stale = [&](const RunEntry& other) { return other.id != id && other.path == path; };
        if (std::ranges::any_of(state_.runs, [&](const RunEntry& other) {
              return stale(other) && (other.id == state_.view.run || other.id == state_.view.other_run);
            })) {
          state_.view.other_run = -1;
          show(*entry);
        }
        std::erase_if(state_.runs, stale);
        entry = state_.edit_run(id);
        name_models_and_runs(state_);
        if (first && (state_.coming == id || state_.view.run == follows)) show(*entry);
        hooks_.opened(path);
      });
}

bool CorpusRuns::stop() {
  bool any = false;
  compute_.cancel_asked();
  for (const auto& [id, job] : jobs_) any = compute_.stop(id) || any;
  return any;
}

void CorpusRuns::watch(const std::string& quantity) {
  if (!watched_) watched_ = std::make_shared<Watched>();
  const MutexLock lock(watched_->mutex);
  watched_->quantity = quantity;
}

void CorpusRuns::give_way() {
  for (const auto& [id, job] : jobs_)
    if (job->running && job->yields && compute_.has(id)) *job->yields = true;
}

void CorpusRuns::forget(int run_id) {
  for (const auto& [id, job] : jobs_)
    if (job->run == run_id) compute_.stop(id);
  std::erase_if(jobs_, [&](const auto& job) { return job.second->run == run_id && !job.second->running; });
}

void CorpusRuns::merge(const std::vector<std::string>& parts, const std::string& output) {
  MergeRequest request;
  request.parts.assign(parts.begin(), parts.end());
  request.output = output;
  request.command_line = "headroom merge";
  for (const std::string& part : parts) request.command_line += " " + quote_word(part);
  request.command_line += " -o " + quote_word(output);
  request.program = options_.program;
  request.git_commit = options_.git_commit;
  inbox_.message(MessageLevel::Info, "merging " + std::to_string(parts.size()) + " parts to " + output);
  inbox_.ask(
      io_,
      [this, request] {
        return without_exceptions([&]() -> Result<MergeOutcome> {
          const MutexLock lock(hdf5_);
          prepare_hdf5();
          return merge_corpus(request, {});
        });
      },
      [this, output](const Result<MergeOutcome>& merged) {
        if (!merged) {
          inbox_.card("The parts cannot be merged", without_options(merged.error()));
          return;
        }
        for (const std::string& note : merged->notes)
          inbox_.message(note.starts_with("warning: ") ? MessageLevel::Warning : MessageLevel::Info,
                         note.starts_with("warning: ") ? note.substr(9) : note);
        inbox_.message(MessageLevel::Info, sequences_text(merged->sequences) + " of " + std::to_string(merged->parts) +
                                               " parts in " + output);
        hooks_.open(output);
      });
}

}  // namespace headroom
