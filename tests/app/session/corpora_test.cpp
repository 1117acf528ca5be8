// Corpora in a session: what opens them, what their heads and sequences are shown by, from a sequence to the run that
// it was, and the session that keeps it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/session/corpora.h"
#include "app/session/shown_table.h"
#include "core/corpus/plan_file.h"
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
  CATCH_CHECK(state.view.corpus == CorpusState{Statistic::Deviation, true, CorpusSort::Robust, true, 4, {}});
  CATCH_CHECK(state.corpus()->statistic == Statistic::Deviation);
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

}  // namespace
}  // namespace headroom::test
