#include "app/session/corpora.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "app/session/head_threshold.h"
#include "core/base/mutex.h"
#include "core/io/hdf5_error.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

// Reading under the lock of HDF5; what does not fit into memory is an error like others.
template <typename Read>
auto locked(Mutex& hdf5, const Read& read) -> decltype(read()) {
  const MutexLock lock(hdf5);
  prepare_hdf5();
  try {
    return read();
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, "what was to be read does not fit into memory");
  }
}

CorpusFill wanted_fill(const CorpusEntry& corpus, const ViewState& view) {
  CorpusFill fill{view.corpus.statistic, "", nullptr, 0.0};
  const auto ref = parse_quantity(view.heads.quantity);
  if (!view.corpus.share || !ref) return fill;
  fill.share_of = view.heads.quantity;
  if (const auto level = threshold_of(ref->info, view.heads))
    fill.values = values_of(corpus, *ref), fill.level = *level;
  return fill;
}

}  // namespace

Result<OpenedCorpusRun> open_corpus_run(const std::string& path) {
  OpenedCorpusRun opened;
  HEADROOM_TRY(opened.corpus.file, open_corpus(path));
  const OpenedCorpus& file = *opened.corpus.file;
  HEADROOM_TRY(opened.corpus.statistics, read_corpus_statistics(file, shown_step(file, {})));
  opened.run = corpus_snapshot(file, *opened.corpus.statistics, Statistic::Mean);
  return opened;
}

void Corpora::update() {
  RunEntry* run = state_.edit_run(state_.view.run);
  if (!run || !run->corpus) return stop_pairing();
  show_statistic(*run);
  if (run->corpus.growing()) {
    // What is looked at comes with the next sequences, or before.
    if (const auto ref = parse_quantity(state_.view.heads.quantity)) runs_.watch(quantity_text(*ref));
    return stop_pairing();
  }
  if (!run->corpus.reading) {
    const std::int64_t step = shown_step(*run->corpus.file, state_.view.corpus);
    if (run->corpus.statistics->step != step)
      read_step(*run, step);
    else
      read_values(*run);
    if (state_.view.corpus.side != CorpusSide::Sequences) read_rows(*run);
  }
  if (state_.view.centre == CentreView::Compare)
    pair(*run);
  else
    stop_pairing();
}

void Corpora::stop_pairing() {
  if (pairing_) *pairing_ = true;
  pairing_ = nullptr;
}

void Corpora::show_statistic(RunEntry& run) {
  CorpusEntry& corpus = run.corpus;
  CorpusFill fill = wanted_fill(corpus, state_.view);
  if (corpus.fill == fill) return;
  corpus.fill = std::move(fill);
  run.data = filled_snapshot(corpus, corpus.fill);
}

void Corpora::read_step(RunEntry& run, std::int64_t step) {
  run.corpus.reading = true;
  inbox_.ask(
      io_,
      [this, file = run.corpus.file, step] {
        return locked(hdf5_, [&] { return read_corpus_statistics(*file, step); });
      },
      [this, id = run.id](Result<std::shared_ptr<const CorpusStatistics>> read) {
        RunEntry* of = state_.edit_run(id);
        if (!of) return;
        of->corpus.reading = false;
        if (!read) {
          inbox_.message(MessageLevel::Error, of->name + ": " + describe(read.error()));
          if (state_.view.run == id)
            state_.view.corpus.step = of->corpus.file->steps[static_cast<std::size_t>(of->corpus.statistics->step)];
          return;
        }
        of->corpus.statistics = std::move(*read);
        of->corpus.fill = wanted_fill(of->corpus, state_.view);
        of->data = filled_snapshot(of->corpus, of->corpus.fill);
      });
}

// Each sequence's numbers of the quantity that is looked at, and, of a series, its curves.
void Corpora::read_values(RunEntry& run) {
  CorpusEntry& corpus = run.corpus;
  const auto ref = parse_quantity(state_.view.heads.quantity);
  if (!ref) return;
  const std::string quantity = quantity_text(*ref), wanted = quantity + " " + std::to_string(corpus.statistics->step);
  if (corpus.asked == wanted) return;
  corpus.asked = wanted;
  corpus.failed.clear();
  corpus.reading = true;
  const bool curves = !corpus.file->steps.empty() && (!corpus.curves || corpus.curves->quantity != quantity);
  struct Read {
    Result<std::shared_ptr<const CorpusValues>> values;
    std::shared_ptr<const CorpusCurves> curves;
  };
  inbox_.ask(
      io_,
      [this, file = corpus.file, ref = *ref, step = corpus.statistics->step, curves] {
        Read read{locked(hdf5_, [&] { return read_corpus_values(*file, ref, step); }), nullptr};
        if (curves)
          if (auto found = locked(hdf5_, [&] { return read_corpus_curves(*file, ref); }))
            read.curves = std::move(*found);
        return read;
      },
      [this, id = run.id, curves](Read read) {
        RunEntry* of = state_.edit_run(id);
        if (!of) return;
        of->corpus.reading = false;
        of->corpus.values = read.values ? std::move(*read.values) : nullptr;
        if (!read.values) of->corpus.failed = read.values.error().message;
        if (curves) of->corpus.curves = std::move(read.curves);
      });
}

// What the file says of the rows of the selected head.
void Corpora::read_rows(RunEntry& run) {
  CorpusEntry& corpus = run.corpus;
  const auto& selected = state_.view.selection.head;
  const auto head = selected ? place_of(corpus.file->layers, corpus.file->heads, *selected) : std::nullopt;
  if (!head) return;
  const std::int64_t step = corpus.statistics->step;
  const std::string wanted = std::to_string(*head) + " " + std::to_string(step);
  if (corpus.rows_asked == wanted) return;
  corpus.rows_asked = wanted;
  corpus.rows_failed.clear();
  inbox_.ask(
      io_,
      [this, file = corpus.file, head = *head, step] {
        return locked(hdf5_, [&] { return read_corpus_rows(*file, head, step); });
      },
      [this, id = run.id, wanted](Result<std::shared_ptr<const CorpusRows>> read) {
        RunEntry* of = state_.edit_run(id);
        if (!of || of->corpus.rows_asked != wanted) return;  // another head is looked at by now
        of->corpus.rows = read ? std::move(*read) : nullptr;
        if (!read) of->corpus.rows_failed = read.error().message;
      });
}

void Corpora::pair(RunEntry& run) {
  const RunEntry* other = state_.other();
  if (!other || !other->corpus || run.corpus.paired_with == other->id) return;
  stop_pairing();
  run.corpus.paired_with = other->id;
  run.corpus.paired = nullptr;
  run.corpus.not_paired.clear();
  pairing_ = std::make_shared<std::atomic<bool>>(false);
  inbox_.ask(
      io_,
      [this, a = run.path, b = other->path, stop = pairing_] {
        return locked(hdf5_, [&]() -> Result<std::shared_ptr<const PairedCorpora>> {
          HEADROOM_TRY(const std::unique_ptr<RunFile> first, RunFile::open(a));
          HEADROOM_TRY(const std::unique_ptr<RunFile> second, RunFile::open(b));
          HEADROOM_TRY(PairedCorpora pairs, compare_corpora(*first, *second, [&] { return stop->load(); }));
          return std::make_shared<const PairedCorpora>(std::move(pairs));
        });
      },
      [this, id = run.id, with = other->id, stop = pairing_](Result<std::shared_ptr<const PairedCorpora>> made) {
        if (pairing_ == stop) pairing_ = nullptr;
        RunEntry* of = state_.edit_run(id);
        if (!of || of->corpus.paired_with != with) return;
        if (!made && made.error().code == ErrorCode::Cancelled)
          of->corpus.paired_with = -1;  // made when it is looked at again
        else if (made)
          of->corpus.paired = std::move(*made);
        else
          of->corpus.not_paired = describe(made.error());
      });
}

Result<std::string> copy_corpus(const State& state, std::string_view what, TableFormat format) {
  const CorpusEntry* corpus = state.corpus();
  if (!corpus) return Error(ErrorCode::InvalidArgument, "no corpus is shown");
  const auto ref = parse_quantity(state.view.heads.quantity);
  if (!ref) return ref.error();
  if (what == "heads") return statistics_table_text(*corpus, *ref, format);
  const auto values = values_of(*corpus, *ref);
  if (!values && corpus->file->keeps(ref->info->name) && corpus->failed.empty())
    return Error(ErrorCode::InvalidArgument, "the numbers of its sequences are being read");
  const auto& head = state.view.selection.head;
  const auto level = threshold_of(ref->info, state.view.heads);
  const auto place = head ? place_of(corpus->file->layers, corpus->file->heads, *head) : std::nullopt;
  const std::vector<std::int64_t> over = values && level ? heads_over(*values, *level) : std::vector<std::int64_t>();
  const auto order = sorted_sequences(*corpus, values.get(), state.view.corpus, place, over);
  return sequence_table_text(*corpus, values.get(), order, head, over, level, format);
}

std::string needs_corpus(const State& state) { return state.corpus() ? "" : "open a corpus first"; }

}  // namespace headroom
