// Corpora: what their heads are shown by, the order of sequences, and from a sequence to its run.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/corpora.h"
#include "app/session/enum_words.h"
#include "app/session/head_threshold.h"
#include "app/session/what_ifs.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

template <typename Change>
std::function<Result<void>(Session&, const Arguments&)> corpus_change(const char* kind, Change change) {
  return [kind, change](Session& s, const Arguments& a) -> Result<void> {
    CorpusState view = s.state().view.corpus;
    HEADROOM_TRY_VOID(result_of(change, s.state(), view, a));
    if (view == s.state().view.corpus) return {};
    s.remember_view(kind);
    s.edit().view.corpus = view;
    return {};
  };
}

// S17, of the corpus that is shown.
Result<std::int64_t> sequence_argument(const State& state, const Arguments& a) {
  const OpenedCorpus& file = *state.corpus()->file;
  const auto number = parse_sequence_name(a[0]);
  if (number && file.find(*number)) return *number;
  return a.wrong("a sequence of the corpus, " + sequence_name(file, 0) + " to " +
                 sequence_name(file, file.number.size() - 1));
}

std::string needs_series(const State& state) {
  if (std::string reason = needs_corpus(state); !reason.empty()) return reason;
  return state.corpus()->file->steps.empty()
             ? "the corpus is of one checkpoint: headroom series makes a file of several"
             : "";
}

std::string cannot_open(const State& state) {
  if (std::string reason = needs_corpus(state); !reason.empty()) return reason;
  const OpenedCorpus& file = *state.corpus()->file;
  if (state.corpus()->growing()) return "the corpus is being run: its sequences open once it is a file";
  if (!file.ids) return "the file holds no tokens: it was made with --no-ids";
  return file.steps.empty() ? "" : "a series is of several checkpoints: open the file of one in its .parts folder";
}

// Shares of sequences over the threshold.
Result<void> can_count_over(const State& state) {
  HEADROOM_TRY(const QuantityRef ref, parse_quantity(state.view.heads.quantity));
  if (!threshold_of(ref.info, state.view.heads))
    return Error(ErrorCode::InvalidArgument, "corpus.statistic share: " + ref.info->name + " has no threshold");
  if (state.corpus()->file->keeps(ref.info->name)) return {};
  return Error(ErrorCode::InvalidArgument, "corpus.statistic share: the file keeps no numbers of single sequences of " +
                                               ref.info->name + ": --keep " + ref.info->name);
}

Result<void> show_step(const State& state, CorpusState& view, const Arguments& a) {
  const std::vector<std::int64_t>& steps = state.corpus()->file->steps;
  const auto at = shown_step(*state.corpus()->file, view);
  const std::int64_t last = std::ssize(steps) - 1;
  std::int64_t to = last;
  if (a.is(0, "first")) to = 0;
  if (a.is(0, "next")) to = std::min(at + 1, last);
  if (a.is(0, "previous")) to = std::max<std::int64_t>(at - 1, 0);
  if (const auto step = a.maybe_index(0)) {
    const auto found = std::ranges::find(steps, *step);
    if (found == steps.end()) {
      std::string known = "a step of the series:";
      for (const std::int64_t one : steps) known += (known.back() == ':' ? " " : ", ") + std::to_string(one);
      return a.wrong(known);
    }
    to = found - steps.begin();
  }
  view.step = steps[static_cast<std::size_t>(to)];
  return {};
}

std::string cannot_run_corpus(const State& state) {
  if (!state.device.failed.empty()) return "LibTorch could not be loaded";
  const ModelEntry* model = state.find_model(state.model);
  if (!model) return state.nothing_open() ? "open a checkpoint first" : "a run file has no weights";
  if (model->opening || !model->model) return "the checkpoint is still opening";
  if (model->model->spec.capture) return "a capture has the tokens that its model ran on";
  return model->model->spec.encoder ? "its model reads two sequences, and a corpus has one" : "";
}

Result<CorpusTask> corpus_order(const State& state, const Arguments& a) {
  CorpusTask order;
  order.data = a[0];
  order.length = a.index(1);
  order.output = a[2];
  order.sequences = a.maybe_index(3).value_or(0);
  for (std::size_t i = 4; i < a.size(); ++i)
    if (a.is(i, "replace"))
      order.replace = true;
    else if (a.is(i, "curves"))
      order.curves = true;
    else if (a.is(i, "what-ifs"))
      order.what_ifs = shown_what_ifs(state);
    else
      order.split = a[i];
  for (std::size_t i = 4; i < a.size(); ++i)
    if (a.is(i, "what-ifs") && order.what_ifs.empty())
      return Error(ErrorCode::InvalidArgument, "corpus.run: what is shown of this checkpoint has no what-ifs");
  if (order.length < 1) return a.wrong("a length of 1 or more");
  if (a.size() > 3 && !a.is(3, "all") && order.sequences < 1) return a.wrong("1 or more sequences, or all");
  return order;
}

std::string no_corpus_runs(const State& state) {
  const bool any = std::ranges::any_of(state.runs, [](const RunEntry& run) {
    return run.status == RunStatus::Running && (run.corpus || (run.model < 0 && !run.data));
  });
  return any || state.corpus_wish.planning ? "" : "no corpus is being run";
}

void add_run_of_corpora(CommandTable& table) {
  table.add({"corpus.run",
             "[PATH LENGTH PATH] or PATH LENGTH PATH COUNT|all [none|lines|blank] [curves] [what-ifs] [replace]",
             "Corpus: run many texts, to a file", "Run", cannot_run_corpus,
             [](Session& s, const Arguments& a) -> Result<void> {
               if (a.empty()) {
                 State& state = s.edit();
                 state.overlay = Overlay::Corpus;
                 state.corpus_wish.failed.clear();
                 state.corpus_wish.field = CorpusField::None;
                 return {};
               }
               HEADROOM_TRY(const CorpusTask order, corpus_order(s.state(), a));
               return s.runner().corpora().start(order);
             }});
  table.add_entry({"corpus.run", "Run a corpus of texts…", "Run", ""});
  table.add({"corpus.stop", "", "Corpus: stop what is being run; what is done stays", "Run", no_corpus_runs,
             [](Session& s) { s.runner().corpora().stop(); }});
  table.add_entry({"corpus.stop", "Corpus: stop what is being run", "Run", ""});
  table.add({"corpus.go-on", "", "Corpus: go on with the one that was stopped", "Run",
             [](const State& state) -> std::string {
               const CorpusEntry* corpus = state.corpus();
               if (!corpus || !corpus->growing()) return "no corpus that was stopped is shown";
               return state.shown()->status == RunStatus::Running ? "the corpus is being run" : "";
             },
             [](Session& s) { return s.runner().corpora().go_on(s.state().view.run); }});
  table.add_entry({"corpus.go-on", "Corpus: go on with the one that was stopped", "Run", ""});
  table.add({"corpus.data", "PATH", "Corpus: the texts that are to be run", "Run", cannot_run_corpus,
             [](Session& s, const Arguments& a) {
               State& state = s.edit();
               state.overlay = Overlay::Corpus;
               state.corpus_wish.task.data = a[0];
               ++state.corpus_wish.serial;
               state.corpus_wish.failed.clear();
               state.corpus_wish.field = CorpusField::None;
             }});
  table.add(
      {"corpus.browse", "", "Corpus: choose the texts that are to be run…", "Run", cannot_run_corpus, [](Session& s) {
         s.edit().overlay = Overlay::CorpusFile;
         s.edit().overlay_text.clear();
       }});
  table.add({"corpus.merge",
             "PATH PATH…",
             "Corpus: parts as one file, which is named last",
             "File",
             {},
             [](Session& s, const Arguments& a) {
               std::vector<std::string> parts;
               for (std::size_t i = 0; i + 1 < a.size(); ++i) parts.push_back(a[i]);
               s.runner().corpora().merge(parts, a[a.size() - 1]);
             }});
  table.add_entry({"corpus.merge", "Corpus: merge parts of one run…", "File", "", true});
}

}  // namespace

void add_corpus_commands(CommandTable& table) {
  add_run_of_corpora(table);
  table.add({"corpus", "", "Corpus: its heads with their intervals, and its sequences", "Window",
             [](const State& state) -> std::string {
               for (const RunEntry& run : state.runs)
                 if (run.corpus) return "";
               return needs_corpus(state);
             },
             [](Session& s) {
               State& state = s.edit();
               s.remember_view("corpus");
               if (!state.corpus())
                 for (const RunEntry& run : state.runs)
                   if (run.corpus) s.runner().show_run(run.id);
               state.view.centre = CentreView::Map;
               state.view.heads.view = HeadsView::Atlas;
             }});
  table.add_entry({"corpus", "Corpus: its heads and sequences", "Window", "K"});
  table.add({"corpus.quantity", "QUANTITY", "Corpus: what its heads are shown by", "Heads", needs_corpus,
             [](Session& s, const Arguments& a) { look_at_quantity(s, a[0]); }});
  table.add_entry({"corpus.quantity", "Corpus: a quantity", "Heads", "", true});
  table.add(
      {"corpus.statistic", all_words<Statistic>() + "|share", "Corpus: the statistic that heads are coloured by",
       "Heads", needs_corpus,
       corpus_change("corpus.statistic", [](const State& state, CorpusState& view, const Arguments& a) -> Result<void> {
         view.share = a.is(0, "share");
         if (!view.share) {
           view.statistic = a.choice<Statistic>(0);
           return {};
         }
         view.statistic = Statistic::Mean;
         return can_count_over(state);
       })});
  table.add_entry(
      {"corpus.statistic share", "Corpus: heads by the share of sequences over the threshold", "Heads", ""});
  for (const char* word : EnumWords<Statistic>::words)
    table.add_entry(
        {std::string("corpus.statistic ") + word, std::string("Corpus: heads by their ") + word, "Heads", ""});
  table.add({"corpus.interval", "t|bootstrap", "Corpus: which 95 % intervals", "Heads", needs_corpus,
             corpus_change("corpus.interval", [](const State&, CorpusState& view, const Arguments& a) {
               view.bootstrap = a.is(0, "bootstrap");
             })});
  table.add_entry({"corpus.interval t", "Corpus: intervals by Student's t", "Heads", ""});
  table.add_entry({"corpus.interval bootstrap", "Corpus: intervals by bootstrap", "Heads", ""});
  table.add({"corpus.sort", all_words<CorpusSort>() + " [ascending|descending]", "Corpus: the order of its sequences",
             "Heads", needs_corpus,
             corpus_change("corpus.sort", [](const State&, CorpusState& view, const Arguments& a) {
               const auto sort = a.choice<CorpusSort>(0);
               // Asked for again it turns round.
               view.descending = a.size() == 2 ? a.is(1, "descending") : view.sort == sort && !view.descending;
               view.sort = sort;
             })});
  for (const auto& [word, title] : {std::pair{"sequence", "in the order of the plan"},
                                    {"document", "by document"},
                                    {"loss", "by loss"},
                                    {"over", "by heads over the threshold"},
                                    {"value", "by the head's number"},
                                    {"z", "by the distance from the median"},
                                    {"off", "by heads that are far off"}})
    table.add_entry({std::string("corpus.sort ") + word, std::string("Corpus: sequences ") + title, "Heads", ""});
  table.add({"corpus.side", all_words<CorpusSide>(), "Corpus: what the head's plots are of", "Heads", needs_corpus,
             corpus_change("corpus.side", [](const State&, CorpusState& view, const Arguments& a) {
               view.side = a.choice<CorpusSide>(0);
             })});
  for (const auto& [word, title] : {std::pair{"sequences", "its sequences"},
                                    {"rows", "rows of all sequences"},
                                    {"keys", "rows by the keys that they see"}})
    table.add_entry({std::string("corpus.side ") + word, std::string("Corpus: the head by ") + title, "Heads", ""});
  table.add({"corpus.list", all_words<CorpusList>(), "Corpus: its sequences as a table, or as thumbnails of all heads",
             "Heads", needs_corpus,
             corpus_change("corpus.list", [](const State&, CorpusState& view, const Arguments& a) {
               view.list = a.choice<CorpusList>(0);
             })});
  table.add_entry({"corpus.list table", "Corpus: sequences as a table", "Heads", ""});
  table.add_entry({"corpus.list thumbnails", "Corpus: sequences as thumbnails of all heads", "Heads", ""});
  table.add(
      {"corpus.sequence", "SEQUENCE|none", "Corpus: choose a sequence", "Heads", needs_corpus,
       corpus_change("corpus.sequence", [](const State& state, CorpusState& view, const Arguments& a) -> Result<void> {
         if (a.is(0, "none")) {
           view.sequence.reset();
           return {};
         }
         HEADROOM_TRY(view.sequence, sequence_argument(state, a));
         return {};
       })});
  table.add_entry({"corpus.sequence", "Corpus: choose a sequence", "Heads", "", true});
  table.add({"corpus.open", "[SEQUENCE] [PATH]", "Corpus: run a sequence, with its maps", "File", cannot_open,
             [](Session& s, const Arguments& a) -> Result<void> {
               std::optional<std::int64_t> number = s.state().view.corpus.sequence;
               if (!a.empty()) {
                 HEADROOM_TRY(number, sequence_argument(s.state(), a));
               }
               if (!number) return Error(ErrorCode::InvalidArgument, "corpus.open: choose a sequence, as S0");
               s.remember_view("corpus.open");
               s.edit().view.corpus.sequence = number;
               return s.documents().open_checkpoint(a.size() == 2 ? a[1] : "");
             }});
  table.add_entry({"corpus.open", "Corpus: run the chosen sequence, with its maps", "File", ""});
  table.add({"corpus.step", "STEP|first|last|next|previous", "Corpus: the checkpoint of a series", "Window",
             needs_series, corpus_change("corpus.step", show_step)});
  table.add_entry({"corpus.step next", "Corpus: the next checkpoint of the series", "Window", ""});
  table.add_entry({"corpus.step previous", "Corpus: the previous checkpoint of the series", "Window", ""});
  table.add({"corpus.copy", "sequences|heads csv|tsv",
             "Corpus: copy the table of sequences, or every statistic of heads", "Export", needs_corpus,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(std::string text,
                            copy_corpus(s.state(), a[0], parse_table_format(a[1]).value_or(TableFormat::Csv)));
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
               return {};
             }});
  table.add({"corpus.save", "sequences|heads [PATH]",
             "Corpus: save the table of sequences, or every statistic of heads", "Export", needs_corpus,
             [](Session& s, const Arguments& a) -> Result<void> {
               if (a.size() == 2)
                 return s.saver().save(SaveKind::Table, a.is(0, "heads") ? "statistics" : a[0], a[1], false);
               s.saver().ask(SaveKind::Table, a.is(0, "heads") ? "statistics" : a[0]);
               return {};
             }});
  // The menu of exports is full at its least height: these are in the palette, and in what Save… offers.
  for (const char* what : {"sequences", "heads"})
    table.add_entry(
        {std::string("corpus.save ") + what, std::string("Corpus: save its ") + what + " as a table…", "Heads", ""});
  for (const char* what : {"sequences", "heads"})
    for (const char* form : {"csv", "tsv"})
      table.add_entry({std::string("corpus.copy ") + what + " " + form,
                       std::string("Corpus: copy its ") + what + " as " + form, "Heads", ""});
}

}  // namespace headroom
