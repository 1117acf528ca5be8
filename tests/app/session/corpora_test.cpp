// Corpora in a session: what opens them, what their heads and sequences are shown by, from a sequence to the run that
// it was, and the session that keeps it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/session/corpora.h"
#include "app/session/shown_table.h"
#include "core/corpus/plan_file.h"
#include "core/corpus/progress_log.h"
#include "core/io/run_file.h"
#include "tests/app/session/made_corpus.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::string open_line_of(const std::filesystem::path& path) { return "open " + quote_word(path.string()); }

CATCH_TEST_CASE("corpus view: a file opens without its checkpoint, its numbers are the means", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "all.h5";
  make_corpus(bench, path);
  bench.run(open_line_of(path));
  const State& state = bench.state();
  CATCH_CHECK(state.errors.empty());
  CATCH_CHECK(state.models.empty());
  CATCH_REQUIRE(state.corpus() != nullptr);
  const CorpusEntry& corpus = *state.corpus();
  CATCH_CHECK(corpus.file->sequences() == 10);
  CATCH_CHECK(corpus.file->documents() == 5);
  CATCH_CHECK(state.shown()->prompt_title == "10 sequences of 5 documents");
  CATCH_CHECK(state.recent.front().detail.starts_with("corpus of diff_v2"));
  CATCH_REQUIRE(corpus.values != nullptr);
  CATCH_CHECK(corpus.values->quantity == "sink_score");
  // Mean, median and spread of every head from the numbers of its sequences.
  for (std::size_t place = 0; place < 8; ++place) {
    double sum = 0.0;
    std::vector<double> all;
    for (const float value : corpus.values->of_head(place)) {
      sum += static_cast<double>(value);
      all.push_back(static_cast<double>(value));
    }
    const HeadRef head = head_at(corpus.file->layers, corpus.file->heads, place);
    CATCH_CHECK(std::abs(state.data()->at("sink_score", head.layer, head.head) - sum / 10.0) < 1e-12);
    std::ranges::sort(all);
    const double median = 0.5 * (all[4] + all[5]);
    CATCH_CHECK(corpus.values->median[place] == median);
    for (double& value : all) value = std::abs(value - median);
    std::ranges::sort(all);
    CATCH_CHECK(std::abs(corpus.values->spread[place] - 1.4826 * 0.5 * (all[4] + all[5])) < 1e-12);
  }
  for (std::size_t s = 0; s < 10; ++s) {
    int off = 0;
    for (std::size_t place = 0; place < 8; ++place) off += std::abs(corpus.values->robust_z(place, s)) > 3.0 ? 1 : 0;
    CATCH_CHECK(std::abs(corpus.values->off[s] - off / 8.0) < 1e-12);
  }
}

CATCH_TEST_CASE("corpus view: quantity, statistic, interval, order and filter by commands", "[corpus]") {
  SessionBench bench;
  CATCH_CHECK(bench.refusal("corpus.statistic std").find("open a corpus first") != std::string::npos);
  const TempFolder folder;
  make_corpus(bench, folder.path() / "all.h5", {.keep = "sink_score,lambda_mean"});
  bench.run(open_line_of(folder.path() / "all.h5"));
  const State& state = bench.state();
  const auto ref = [&](const char* name) { return *parse_quantity(name); };
  const auto column = [&](const char* name, Statistic which) {
    return corpus_column(*state.corpus()->file, *state.corpus()->statistics, ref(name), which);
  };
  bench.run("corpus.quantity lambda_mean");
  CATCH_REQUIRE(state.corpus()->values != nullptr);
  CATCH_CHECK(state.corpus()->values->quantity == "lambda_mean");
  bench.run("corpus.statistic ci_high");
  CATCH_CHECK(state.data()->at("lambda_mean", 1, 2) == column("lambda_mean", Statistic::CiHigh)[6]);
  bench.run("undo");
  CATCH_CHECK(state.data()->at("lambda_mean", 1, 2) == column("lambda_mean", Statistic::Mean)[6]);
  bench.run("corpus.quantity entropy_mean");  // not kept
  CATCH_CHECK(state.corpus()->values == nullptr);
  CATCH_CHECK(state.corpus()->failed.find("keeps no numbers") != std::string::npos);
  bench.run("corpus.quantity sink_score");

  const CorpusIntervals t = corpus_intervals(*state.corpus(), ref("sink_score"), false);
  const std::vector<double> low = column("sink_score", Statistic::CiLow);
  CATCH_CHECK(t.low == low);
  CATCH_CHECK(corpus_intervals(*state.corpus(), ref("sink_score"), true).low ==
              column("sink_score", Statistic::BootstrapLow));
  // Shares of sequences over the threshold, which move with it; not of what is not kept.
  bench.run("corpus.statistic share");
  for (const char* threshold : {"0.03", "0.05"}) {
    bench.run(std::string("heads.threshold ") + threshold);
    for (std::size_t place = 0; place < 8; ++place) {
      int over_it = 0;
      for (const float value : state.corpus()->values->of_head(place))
        over_it += static_cast<double>(value) > std::stod(threshold) ? 1 : 0;
      const double shown =
          state.data()->at("sink_score", static_cast<std::int64_t>(place / 4), static_cast<std::int64_t>(place % 4));
      CATCH_CHECK(std::abs(shown - over_it / 10.0) < 1e-12);
    }
  }
  bench.run("corpus.quantity lambda_mean");
  CATCH_CHECK(state.corpus()->fill.share_of == "lambda_mean");
  bench.run("corpus.quantity entropy_mean");
  CATCH_CHECK(std::isnan(state.data()->at("entropy_mean", 1, 2)));
  CATCH_CHECK(bench.refusal("corpus.statistic share").find("--keep entropy_mean") != std::string::npos);
  bench.run("corpus.quantity sink_score");
  bench.run("corpus.statistic mean");
  CATCH_CHECK(state.data()->at("sink_score", 1, 2) == column("sink_score", Statistic::Mean)[6]);

  // A level between: heads above it, below it, and those whose interval holds it are all heads.
  const IntervalCounts counts = count_intervals(t, low[3]);
  CATCH_CHECK(counts.above + counts.below + counts.cross == 8);
  CATCH_CHECK(counts.cross >= 1);
  std::size_t over = 0;
  for (const double value : low) over += value > 0.03 ? 1 : 0;
  bench.run("heads.filter \"sink_score.ci_low > 0.03\"");
  const HeadTable table = make_head_table(*state.data(), state.view.heads.filter, "sink_score", true);
  CATCH_CHECK_FALSE(table.error.has_value());
  CATCH_CHECK(table.rows.size() == over);
  CATCH_CHECK(HeadFilter::parse("sink_score.highest > 1").error().expected.find("ci_low") != std::string::npos);

  bench.run("select L1.H2");
  bench.run("corpus.sort value descending");
  const auto order = sorted_sequences(*state.corpus(), state.corpus()->values.get(), state.view.corpus, 6, {});
  for (std::size_t i = 1; i < order.size(); ++i)
    CATCH_CHECK(state.corpus()->values->of_head(6)[order[i - 1]] >= state.corpus()->values->of_head(6)[order[i]]);
  bench.run("corpus.sort value");
  CATCH_CHECK_FALSE(state.view.corpus.descending);
  bench.run("corpus.sequence S7");
  CATCH_CHECK(state.view.corpus.sequence == 7);
  CATCH_CHECK(bench.refusal("corpus.sequence S10").find("S0 to S9") != std::string::npos);
  CATCH_CHECK(bench.refusal("corpus.step next").find("one checkpoint") != std::string::npos);
  CATCH_CHECK(bench.refusal("heads maps").find("keeps no maps") != std::string::npos);
  CATCH_CHECK(bench.refusal("compare").find("second run") != std::string::npos);
  for (const char* line : {"importance", "circuit", "tokens.large on", "residual on", "what-if.open"})
    if (bench->commands().find(split_command_line(line)->front())) CATCH_CHECK_FALSE(bench->execute(line).has_value());
}

CATCH_TEST_CASE("corpus view: a sequence opens as the run that it was", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "all.h5";
  make_corpus(bench, path, {.what_if = "L1.H2:lambda=0.3"});
  bench.run(open_line_of(path));
  const std::shared_ptr<const CorpusValues> values = bench.state().corpus()->values;
  bench.run("corpus.open S7");
  const State& state = bench.state();
  CATCH_CHECK(state.errors.empty());
  CATCH_REQUIRE(state.corpus() == nullptr);
  CATCH_REQUIRE(state.data() != nullptr);
  CATCH_CHECK(state.shown()->what_ifs == std::vector<std::string>{"L1.H2:lambda=0.3"});
  const auto ids = read_planned_sequence(path, 7);
  CATCH_REQUIRE(ids.has_value());
  CATCH_CHECK(state.data()->prompt->ids == *ids);
  for (std::size_t place = 0; place < 8; ++place) {
    const auto layer = static_cast<std::int64_t>(place / 4), head = static_cast<std::int64_t>(place % 4);
    CATCH_CHECK(static_cast<float>(state.data()->at("sink_score", layer, head)) == values->of_head(place)[7]);
  }
  bench.run("corpus");
  CATCH_CHECK(state.corpus() != nullptr);
}

CATCH_TEST_CASE("corpus view: what cannot be opened says why", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  make_corpus(bench, folder.path() / "all.h5", {.with_ids = false});
  bench.run(open_line_of(folder.path() / "all.h5"));
  CATCH_CHECK(bench.refusal("corpus.open S0").find("--no-ids") != std::string::npos);
  // Cut off in the middle.
  std::filesystem::copy_file(folder.path() / "all.h5", folder.path() / "cut.h5");
  std::filesystem::resize_file(folder.path() / "cut.h5", std::filesystem::file_size(folder.path() / "all.h5") / 2);
  bench.run(open_line_of(folder.path() / "cut.h5"));
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors.front().title == "Cannot open cut");
  CATCH_CHECK(bench.state().runs.size() == 1);
  bench.run("close");
  CATCH_CHECK(bench.state().nothing_open());
}

CATCH_TEST_CASE("corpus view: a session keeps it, and tables of it are saved", "[corpus]") {
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "all.h5", session = folder.path() / "kept.json";
  {
    SessionBench bench;
    make_corpus(bench, path);
    bench.run(open_line_of(path));
    bench.run("select L1.H3");
    bench.run("corpus.quantity lambda_mean");
    bench.run("corpus.statistic std");
    bench.run("corpus.interval bootstrap");
    bench.run("corpus.sequence S4");
    bench.run("corpus.sort z descending");
    bench.run("corpus.side rows");
    bench.run("corpus.list thumbnails");
    bench.run("session.save " + quote_word(session.string()));
    bench.run("corpus.save sequences " + quote_word((folder.path() / "sequences.csv").string()));
    bench.run("corpus.save heads " + quote_word((folder.path() / "heads.tsv").string()));
    CATCH_CHECK(bench.refusal("corpus.save heads " + quote_word((folder.path() / "heads.tex").string())).find(".csv") !=
                std::string::npos);
  }
  SessionBench bench;
  bench.run("session.open " + quote_word(session.string()));
  const State& state = bench.state();
  CATCH_CHECK(state.errors.empty());
  CATCH_REQUIRE(state.corpus() != nullptr);
  CATCH_CHECK(state.view.selection.head == HeadRef{1, 3});
  CATCH_CHECK(state.view.heads.quantity == "lambda_mean");
  CATCH_CHECK(state.view.corpus == CorpusState{Statistic::Deviation,
                                               false,
                                               true,
                                               CorpusSort::Robust,
                                               true,
                                               CorpusSide::Rows,
                                               CorpusList::Thumbnails,
                                               4,
                                               {}});
  CATCH_CHECK(state.corpus()->fill.statistic == Statistic::Deviation);
  const auto lines = [](const std::filesystem::path& of) {
    std::ifstream file(of);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  };
  const auto sequences = lines(folder.path() / "sequences.csv"), heads = lines(folder.path() / "heads.tsv");
  CATCH_REQUIRE(sequences.size() == 11);
  CATCH_CHECK(sequences.front() ==
              "sequence,document,piece,token_start,next_token_loss,heads_over,threshold,lambda_mean "
              "L1.H3,robust_z,outlier,heads_off");
  CATCH_REQUIRE(heads.size() == 9);
  CATCH_CHECK(heads.front().starts_with("layer\thead\tkind\tlambda_mean.mean\tlambda_mean.std\t"));
}

// "PATH: what differs" of the datasets of two files, what says where a corpus was run left out; empty: nothing.
std::string different_datasets(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto first = RunFile::open(a), second = RunFile::open(b);
  CATCH_REQUIRE((first.has_value() && second.has_value()));
  std::string text;
  std::size_t compared = 0;
  for (const DatasetInfo& info : (*first)->datasets()) {
    if (info.path.starts_with("shards/")) continue;
    ++compared;
    const DatasetInfo* const other = (*second)->find(info.path);
    if (other == nullptr || other->shape != info.shape) {
      text += info.path + ": another shape\n";
      continue;
    }
    const auto numbers = (*first)->read(info.path), others = (*second)->read(info.path);
    if (numbers && others) {
      const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
      if (!std::ranges::equal(*numbers, *others, same)) text += info.path + ": other numbers\n";
      continue;
    }
    const auto words = (*first)->read_strings(info.path), other_words = (*second)->read_strings(info.path);
    if (!words || !other_words || *words != *other_words) text += info.path + ": other texts\n";
  }
  CATCH_CHECK(compared > 100);
  CATCH_CHECK((*first)->datasets().size() == (*second)->datasets().size());
  return text;
}

std::string run_line(const std::filesystem::path& to, const std::string& more, std::int64_t length = 32) {
  return "corpus.run " + quote_word(kjv_path().string()) + " " + std::to_string(length) + " " +
         quote_word(to.string()) + " " + more;
}

// Frames until `there`, or until nothing runs.
template <typename There>
bool frames_until(SessionBench& bench, const There& there) {
  const double end = seconds_now() + 120.0;
  while (seconds_now() < end) {
    bench->update(seconds_now());
    if (there()) return true;
    if (!bench->busy()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

CATCH_TEST_CASE("corpus run: in the window it is the command's file bit for bit, and grows until then", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path command = folder.path() / "command.h5", window = folder.path() / "window.h5";
  make_corpus(bench, command, {.sequences = 96, .pieces = 0, .order = CorpusOrder::Spread});
  bench.demo("bytes/diff_v2");
  const State& state = bench.state();
  CATCH_REQUIRE(bench->execute(run_line(window, "96 blank")).has_value());
  const auto width = [](const CorpusEntry& corpus) {
    const CorpusIntervals intervals = corpus_intervals(corpus, *parse_quantity("sink_score"), false);
    double sum = 0.0;
    for (std::size_t place = 0; place < 8; ++place) sum += intervals.half(place);
    return sum;
  };
  std::vector<std::int64_t> counts;
  double first_width = 0.0;
  frames_until(bench, [&] {
    const CorpusEntry* corpus = state.corpus();
    if (corpus == nullptr || !corpus->growing()) return false;
    if (!counts.empty() && counts.back() == corpus->file->sequences()) return false;
    counts.push_back(corpus->file->sequences());
    if (counts.size() == 1) first_width = width(*corpus);
    CATCH_CHECK(state.shown()->status == RunStatus::Running);
    CATCH_REQUIRE(corpus->values != nullptr);
    CATCH_CHECK(corpus->values->sequences == static_cast<std::size_t>(counts.back()));
    CATCH_CHECK(bench->commands().disabled_reason(state, "corpus.open S0").find("being run") != std::string::npos);
    return false;
  });
  bench.wait();
  CATCH_CHECK(state.errors.empty());
  CATCH_REQUIRE(!counts.empty());
  CATCH_CHECK(std::ranges::is_sorted(counts));
  CATCH_CHECK(counts.front() < 96);
  CATCH_CHECK(different_datasets(command, window) == "");
  CATCH_REQUIRE(state.corpus() != nullptr);
  CATCH_CHECK_FALSE(state.corpus()->growing());
  CATCH_CHECK(width(*state.corpus()) < first_width);  // more documents, narrower intervals
  CATCH_CHECK(state.shown()->status == RunStatus::Done);
  CATCH_CHECK(state.recent.front().path == window.string());
  CATCH_CHECK(state.corpus()->file->ids);
  // Once more: there is nothing to do, and it is shown.
  bench.run("corpus.run " + quote_word(kjv_path().string()) + " 32 " + quote_word(window.string()) + " 96 blank");
  CATCH_CHECK(state.errors.empty());
  CATCH_CHECK(std::ranges::any_of(
      state.messages, [](const Message& message) { return message.text.find("nothing to do") != std::string::npos; }));
}

CATCH_TEST_CASE("corpus run: what it has grown to is what the file says, the bootstrap aside", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  std::vector<CorpusSoFar> grown;
  CorpusWatch watch;
  watch.quantity = [&] { return grown.size() < 2 ? "sink_score" : "top_key_position[first,1]"; };
  watch.grown = [&](const CorpusSoFar& so_far) { grown.push_back(so_far); };
  make_corpus(bench, folder.path() / "all.h5", {.batch_tokens = 96, .watch = &watch});
  CATCH_REQUIRE(grown.size() >= 2);
  CATCH_CHECK(grown.front().corpus->sequences() == 3);
  CATCH_CHECK(grown.front().corpus->documents() == 2);
  CATCH_CHECK(grown.front().values->quantity == "sink_score");
  const CorpusSoFar& last = grown.back();
  const auto file = open_corpus(folder.path() / "all.h5");
  CATCH_REQUIRE(file.has_value());
  const OpenedCorpus &so_far = *last.corpus, &opened = **file;
  CATCH_CHECK(so_far.growing);
  CATCH_CHECK((so_far.number == opened.number && so_far.document == opened.document && so_far.piece == opened.piece));
  CATCH_CHECK((so_far.token_start == opened.token_start && so_far.document_names == opened.document_names));
  CATCH_CHECK((so_far.kinds == opened.kinds && so_far.kv_head == opened.kv_head && so_far.layers == opened.layers));
  CATCH_CHECK((so_far.length == opened.length && so_far.min_row == opened.min_row));
  CATCH_CHECK(std::abs(so_far.sink_null - opened.sink_null) < 1e-7);  // of the file in float32
  for (const std::string& name : opened.kept) CATCH_CHECK(so_far.keeps(name));
  const auto statistics = read_corpus_statistics(opened, -1);
  CATCH_REQUIRE(statistics.has_value());
  CATCH_CHECK(last.statistics->losses == (*statistics)->losses);
  CATCH_REQUIRE(last.statistics->quantities.size() == (*statistics)->quantities.size());
  for (const auto& [name, all] : (*statistics)->quantities) {
    const std::vector<double>& now = last.statistics->quantities.at(name);
    CATCH_REQUIRE(now.size() == all.size());
    std::size_t differ = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto which = static_cast<Statistic>(i / (all.size() / kStatistics));
      if (which == Statistic::BootstrapLow || which == Statistic::BootstrapHigh) continue;
      differ += all[i] == now[i] || (std::isnan(all[i]) && std::isnan(now[i])) ? 0 : 1;
    }
    CATCH_INFO(name);
    CATCH_CHECK(differ == 0);
  }
  for (const CorpusSoFar* one : {static_cast<const CorpusSoFar*>(&grown.front()), &last}) {
    CATCH_REQUIRE(one->values != nullptr);
    const auto ref = parse_quantity(one->values->quantity);
    CATCH_REQUIRE(ref.has_value());
    const auto values = read_corpus_values(opened, *ref, -1);
    CATCH_REQUIRE(values.has_value());
    const std::size_t done = one->values->sequences;
    const auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    for (std::size_t place = 0; place < 8; ++place)
      CATCH_CHECK(std::ranges::equal(one->values->of_head(place), (*values)->of_head(place).first(done), same));
    if (done == (*values)->sequences) CATCH_CHECK(one->values->off == (*values)->off);
  }
}

CATCH_TEST_CASE("corpus run: it stops, goes on, and gives way to what is asked for meanwhile", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path command = folder.path() / "command.h5", window = folder.path() / "window.h5";
  make_corpus(bench, command, {.sequences = 128, .pieces = 0, .order = CorpusOrder::Spread});
  bench.demo("bytes/diff_v2");
  const State& state = bench.state();
  CATCH_REQUIRE(bench->execute(run_line(window, "128 blank")).has_value());
  CATCH_REQUIRE(frames_until(bench, [&] { return state.corpus() != nullptr; }));
  const int id = state.view.run;
  bench.run("corpus.stop");
  const RunEntry& stopped = *state.run(id);
  CATCH_CHECK(stopped.status == RunStatus::Cancelled);
  CATCH_CHECK(stopped.corpus.growing());
  const std::int64_t had = stopped.corpus.file->sequences();
  CATCH_CHECK((had > 0 && had < 128));
  CATCH_CHECK_FALSE(std::filesystem::exists(window));
  CATCH_CHECK(std::filesystem::exists(ProgressLog::path_of(window)));
  CATCH_CHECK(bench.refusal("corpus.stop").find("no corpus is being run") != std::string::npos);
  // A run of the prompt is done before the corpus, which goes on behind it.
  CATCH_REQUIRE(bench->execute("corpus.go-on").has_value());
  CATCH_REQUIRE(bench->execute("run").has_value());
  CATCH_REQUIRE(frames_until(bench, [&] {
    return std::ranges::any_of(state.runs,
                               [](const RunEntry& run) { return run.model >= 0 && run.status == RunStatus::Done; });
  }));
  CATCH_CHECK(state.run(id)->status == RunStatus::Running);
  bench.wait();
  CATCH_CHECK(state.errors.empty());
  CATCH_CHECK(state.run(id)->status == RunStatus::Done);
  CATCH_CHECK_FALSE(std::filesystem::exists(ProgressLog::path_of(window)));
  CATCH_CHECK(different_datasets(command, window) == "");
}

CATCH_TEST_CASE("corpus run: what is wrong is said before anything runs, and nothing is lost", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path out = folder.path() / "out.h5";
  CATCH_CHECK(bench.refusal(run_line(out, "4 blank")).find("open a checkpoint first") != std::string::npos);
  bench.demo("bytes/diff_v2");
  const State& state = bench.state();
  CATCH_CHECK(bench.refusal(run_line(out, "4 blank", 0)).find("1 or more") != std::string::npos);
  CATCH_CHECK(bench.refusal(run_line(out, "4 blank what-ifs")).find("no what-ifs") != std::string::npos);
  const auto refused = [&](const std::string& line, const char* words) {
    CATCH_INFO(line);
    const std::size_t before = state.errors.size(), runs = state.runs.size();
    bench.run(line);
    CATCH_REQUIRE(state.errors.size() == before + 1);
    const Error& error = state.errors.back().error;
    CATCH_INFO(describe(error) << "; " << error.hint);
    CATCH_CHECK((describe(error) + error.hint).find(words) != std::string::npos);
    CATCH_CHECK((describe(error) + error.hint).find("--") == std::string::npos);
    CATCH_CHECK(state.runs.size() == runs);
    CATCH_CHECK(state.coming == -1);
  };
  refused("corpus.run " + quote_word((folder.path() / "none.txt").string()) + " 32 " + quote_word(out.string()),
          "none.txt");
  refused(run_line(out, "4 blank", 1000000), "no document is as long as a sequence");
  CATCH_CHECK_FALSE(std::filesystem::exists(out));
  // Beside the field, where the panel is open.
  bench.run("corpus.run");
  CATCH_CHECK(state.overlay == Overlay::Corpus);
  bench.run(run_line(out, "4 blank", 1000000));
  CATCH_CHECK(state.corpus_wish.field == CorpusField::Length);
  CATCH_CHECK(state.corpus_wish.failed.find("no document is as long") != std::string::npos);
  CATCH_CHECK(state.overlay == Overlay::Corpus);
  // A file that is there: another corpus takes its place only where that is asked for.
  bench.run(run_line(out, "4 blank"));
  CATCH_CHECK(state.overlay == Overlay::None);
  CATCH_REQUIRE(std::filesystem::exists(out));
  refused(run_line(out, "5 blank"), "out.h5");
  bench.run(run_line(out, "5 blank replace"));
  CATCH_REQUIRE(state.corpus() != nullptr);
  CATCH_CHECK(state.corpus()->file->sequences() == 5);
  std::ofstream(folder.path() / "notes.h5") << "not a corpus";
  refused(run_line(folder.path() / "notes.h5", "5 blank replace"), "notes.h5");
  bench.run("memory 0.001");
  refused(run_line(folder.path() / "large.h5", "4 blank"), "memory");
}

CATCH_TEST_CASE("corpus merge: parts become one file, which opens, and a part that is missing is named", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const auto part = [&](int i) { return folder.path() / ("part" + std::to_string(i) + ".h5"); };
  for (int i = 0; i < 3; ++i) make_corpus(bench, part(i), {.shard = i, .shards = 3});
  make_corpus(bench, folder.path() / "all.h5");
  const auto line = [&](std::vector<int> parts, const char* to) {
    std::string text = "corpus.merge";
    for (const int i : parts) text += " " + quote_word(part(i).string());
    return text + " " + quote_word((folder.path() / to).string());
  };
  bench.run(line({2, 0}, "partial.h5"));
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "partial.h5"));
  bench.run(line({2, 0, 1}, "merged.h5"));
  CATCH_REQUIRE(bench.state().corpus() != nullptr);
  CATCH_CHECK(bench.state().corpus()->file->sequences() == 10);
  CATCH_CHECK(different_datasets(folder.path() / "all.h5", folder.path() / "merged.h5") == "");
}

}  // namespace
}  // namespace headroom::test
