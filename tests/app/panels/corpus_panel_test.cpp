// The panels of a corpus as they are drawn: texts within their panel and apart at many sizes and in every state, what
// they say of intervals that there are not, and what the pointer asks for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/status_bar.h"
#include "app/panels/chrome/tool_bar.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/corpus/sequence_thumbnails.h"
#include "app/panels/panel.h"
#include "core/base/number_text.h"
#include "tests/app/panels/bars_bench.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

void draw_corpus_slots(PanelContext& context) {
  const WindowLayout layout = window_layout(context.ui.input.window, context.state);
  draw_tool_bar(context, layout.tool_bar);
  for (const PanelSlot* slot : layout.slots())
    if (slot->drawn()) slot->panel->draw(context, slot->rect);
  draw_status_bar(context, layout.status);
}

struct MadeSequences {
  std::int64_t sequences = 32, documents = 8, layers = 30, heads = 9;
  bool kept = true, ids = true, hostile = false, lost = false, growing = false;
  std::vector<std::int64_t> steps = {};
};

// Rows of two maps and of the head, in every sketch and curve; λ in none.
std::shared_ptr<const CorpusRows> made_rows(std::size_t head, std::int64_t step) {
  auto rows = std::make_shared<CorpusRows>();
  rows->head = head, rows->step = step;
  for (const SketchedQuantity& sketched : sketched_quantities()) {
    RowCounts counts;
    counts.sketched = &sketched;
    for (int map = 0; map < (sketched.by_component ? 2 : 1); ++map) {
      RowCounts::OfMap of;
      of.counts.assign(static_cast<std::size_t>(sketched.bins.bins), 0);
      of.least = 0.4 + 0.1 * map, of.most = 1.5 + 0.1 * map;
      if (sketched.name == "lambda") of.least = of.most = std::nan("");
      for (double x = of.least; x <= of.most; x += 0.01)
        of.counts[static_cast<std::size_t>(sketched.bins.bin_of(x))] += static_cast<std::int64_t>(1e6 * x);
      counts.maps.push_back(std::move(of));
    }
    rows->counts.emplace(sketched.name, std::move(counts));
  }
  for (std::int64_t bin = 0; bin < curve_bins(128); ++bin) rows->visible.push_back(curve_bin_range(bin));
  for (const CurveQuantity& curve : curve_quantities()) {
    KeyCurve made;
    made.curve = &curve;
    for (int map = 0; map < (curve.by_component ? 2 : 1); ++map) {
      KeyCurve::OfMap of;
      for (std::size_t bin = 0; bin < rows->visible.size(); ++bin) {
        of.mean.push_back(curve.name == "lambda" ? std::nan("") : 1.0 / static_cast<double>(bin + 1));
        of.error.push_back(bin == 0 ? std::nan("") : 0.02);
      }
      made.maps.push_back(std::move(of));
    }
    rows->curves.emplace(curve.name, std::move(made));
  }
  return rows;
}

// A run of a corpus with sink scores alone, whose statistics are those of its numbers.
RunEntry corpus_run(int id, const MadeSequences& made) {
  std::mt19937 random(static_cast<unsigned>(id));
  std::normal_distribution<double> noise(0.0, 1.0);
  auto file = std::make_shared<OpenedCorpus>();
  file->path = "/runs/all.h5";
  file->attributes = {{"model_id", "SmolLM2"}, {"backend", "cpu"}, {"checkpoint_sha256", "model.gguf 00"}};
  for (std::int64_t l = 0; l < made.layers; ++l) file->layers.push_back(l), file->kinds.emplace_back("attention");
  for (std::int64_t h = 0; h < made.heads; ++h) file->heads.push_back(h);
  file->length = 128;
  file->sink_null = 0.05;
  file->ids = made.ids;
  file->growing = made.growing;
  file->steps = made.steps;
  file->checkpoints.resize(made.steps.size(), "step");
  if (made.kept) file->kept = {"sink_score"};
  const std::vector<std::string> names = hostile_names();
  for (std::int64_t d = 0; d < made.documents; ++d)
    file->document_names.push_back(made.hostile ? names[static_cast<std::size_t>(d) % names.size()]
                                                : "licences_ids.jsonl:" + std::to_string(d));
  for (std::int64_t s = 0; s < made.sequences; ++s) {
    file->number.push_back(s);
    file->document.push_back(s % made.documents);
    file->piece.push_back(s / made.documents);
    file->token_start.push_back(128 * (s / made.documents));
  }
  const auto places = static_cast<std::size_t>(made.layers * made.heads);
  const auto sequences = static_cast<std::size_t>(made.sequences);
  auto values = std::make_shared<CorpusValues>();
  values->quantity = "sink_score";
  values->step = made.steps.empty() ? -1 : std::ssize(made.steps) - 1;
  values->sequences = sequences;
  auto statistics = std::make_shared<CorpusStatistics>();
  statistics->step = values->step;
  std::vector<double>& all = statistics->quantities["sink_score"];
  all.assign(kStatistics * places * 2, std::nan(""));
  const SequenceStatistics compute(file->document, 0);
  for (std::size_t place = 0; place < places; ++place) {
    std::vector<double> own;
    for (std::size_t s = 0; s < sequences; ++s) {
      const double mean = static_cast<double>(place) / static_cast<double>(places);
      own.push_back(std::clamp(mean + 0.04 * noise(random) - (s == 3 ? 0.5 : 0.0), 0.0, 1.0));
      values->values.push_back(static_cast<float>(own.back()));
    }
    const StatisticValues found = compute.compute(own, 1).front();
    for (std::size_t i = 0; i < kStatistics; ++i) all[(i * places + place) * 2] = found[i];
    std::vector<double> sorted = own;
    std::ranges::sort(sorted);
    values->median.push_back(sorted[sorted.size() / 2]);
    values->spread.push_back(made.sequences > 1 ? 0.05 : 0.0);
  }
  values->off.assign(sequences, 0.125);
  for (std::size_t s = 0; s < sequences; ++s) {
    statistics->losses.push_back(3.0 + 0.1 * noise(random));
    statistics->non_finite_layers.push_back(made.lost && s == 1 ? 4 : -1);
  }
  statistics->next_token_loss = compute.compute(statistics->losses, 1).front();
  RunEntry run;
  run.id = id;
  run.name = "all";
  run.path = "/runs/all.h5";
  run.status = RunStatus::Done;
  run.data = corpus_snapshot(*file, *statistics, Statistic::Mean);
  if (!made.steps.empty()) {
    auto curves = std::make_shared<CorpusCurves>();
    curves->quantity = "sink_score";
    for (std::size_t step = 0; step < made.steps.size(); ++step)
      for (std::size_t place = 0; place < places; ++place) {
        curves->mean.push_back(all[place * 2] * static_cast<double>(step + 1) / static_cast<double>(made.steps.size()));
        curves->low.push_back(curves->mean.back() - 0.05);
        curves->high.push_back(curves->mean.back() + 0.05);
      }
    run.corpus.curves = curves;
  }
  run.corpus.file = file;
  run.corpus.statistics = statistics;
  if (!made.growing)
    run.corpus.rows =
        made_rows(static_cast<std::size_t>(made.layers / 2 * made.heads + made.heads / 2), statistics->step);
  if (made.growing) run.status = RunStatus::Running, run.fraction = 0.25, run.doing = "32 of 128 sequences";
  if (made.kept) run.corpus.values = values;
  return run;
}

// Changes from one made corpus to another by their means, with intervals; heads take turns in being sure of theirs: the
// first of three is so at the very level.
std::shared_ptr<const PairedCorpora> made_pairs(const RunEntry& a, const RunEntry& b) {
  auto pairs = std::make_shared<PairedCorpora>();
  pairs->sequences = pairs->sequences_a = pairs->sequences_b = a.corpus.file->sequences();
  pairs->documents = a.corpus.file->documents();
  pairs->layers = a.corpus.file->layers, pairs->heads = a.corpus.file->heads;
  const auto change = [&](double from, double to, double q) {
    PairedChange made;
    made.change.fill(std::nan(""));
    of(made.change, Statistic::Mean) = to - from;
    of(made.change, Statistic::Count) = static_cast<double>(pairs->sequences);
    made.mean_a = from, made.mean_b = to;
    if (pairs->documents < 2) return made;
    of(made.change, Statistic::StandardError) = 0.01;
    of(made.change, Statistic::CiLow) = to - from - 0.02;
    of(made.change, Statistic::CiHigh) = to - from + 0.02;
    made.p = 0.5 * q, made.q = q;
    return made;
  };
  pairs->quantities.push_back({"next_token_loss", {}, {}, {change(3.25, 3.5, 0.001)}, {}});
  if (!a.corpus.values || !b.corpus.values) return pairs;
  PairedQuantity sinks;
  sinks.name = "sink_score";
  sinks.axes = {"layer", "head", "component"};
  sinks.shape = {std::ssize(pairs->layers), std::ssize(pairs->heads), 2};
  const std::size_t places = pairs->layers.size() * pairs->heads.size();
  for (std::size_t place = 0; place < places; ++place) {
    const auto mean = [&](const RunEntry& run) {
      return run.corpus.statistics->quantities.at("sink_score")[2 * place];
    };
    const double q = place % 3 == 0 ? PairedChange::kLevel : place % 3 == 1 ? 0.8 : 1e-7;
    sinks.changes.push_back(change(mean(a), mean(b), q));
    sinks.changes.push_back(change(std::nan(""), std::nan(""), std::nan("")));
  }
  sinks.over_heads = {change(0.5, 0.52, 0.01), change(std::nan(""), std::nan(""), std::nan(""))};
  pairs->quantities.push_back(std::move(sinks));
  return pairs;
}

// Two corpora beside each other, as they are once they are compared.
void put_beside(State& state, const MadeSequences& made) {
  state.runs.push_back(corpus_run(1, made));
  state.runs.push_back(corpus_run(2, made));
  state.runs[0].corpus.paired = made_pairs(state.runs[0], state.runs[1]);
  state.runs[0].corpus.paired_with = 2;
  state.view.run = 1, state.view.other_run = 2;
  state.view.centre = CentreView::Compare;
  state.view.compare.quantity = "sink_score";
  state.view.selection.head = HeadRef{made.layers / 2, made.heads / 2};
}

struct CorpusWindow {
  float width, height, scale;
};
constexpr CorpusWindow kCorpusWindows[] = {{800, 500, 1.0f},  {1024, 640, 1.0f},  {1024, 768, 2.0f}, {1440, 900, 1.0f},
                                           {1440, 900, 1.5f}, {2400, 1400, 1.0f}, {2400, 1400, 2.0f}};

std::vector<std::pair<const char*, MadeSequences>> made_states() {
  return {
      {"usual", {}},
      {"one sequence", {.sequences = 1, .documents = 1}},
      {"two documents", {.sequences = 2, .documents = 2}},
      {"one document", {.sequences = 9, .documents = 1}},
      {"nothing kept", {.kept = false, .ids = false}},
      {"one head", {.layers = 1, .heads = 1}},
      {"many heads", {.sequences = 4, .documents = 4, .layers = 64, .heads = 64}},
      {"many sequences", {.sequences = 2500, .documents = 300, .layers = 2, .heads = 2}},
      {"hostile names", {.hostile = true, .lost = true}},
      {"growing", {.growing = true}},
      {"series", {.sequences = 12, .documents = 4, .layers = 6, .heads = 6, .steps = {0, 100, 1000, 30000}}},
  };
}

struct CorpusBench : PanelBench {
  explicit CorpusBench(const MadeSequences& made = {}, Vec2 size = {1440.0f, 900.0f}, float scale = 1.0f)
      : PanelBench(draw_corpus_slots, size, scale) {
    state.runs.push_back(corpus_run(1, made));
    state.view.run = 1;
    state.view.selection.head = HeadRef{made.layers / 2, made.heads / 2};
  }
};

CATCH_TEST_CASE("corpus panels: no text leaves its panel or lies on another, at any size and in every state",
                "[corpus]") {
  for (const auto& [name, made] : made_states()) {
    const RunEntry run = corpus_run(1, made);
    for (const CorpusWindow& size : kCorpusWindows) {
      PanelBench bench(draw_corpus_slots, {size.width, size.height}, size.scale);
      bench.state.runs.push_back(run);
      bench.state.view.run = 1;
      bench.state.view.selection.head = HeadRef{made.layers / 2, made.heads / 2};
      bench.state.view.corpus.sequence = 0;
      bench.state.settings.dark = size.scale == 1.0f;
      bench.state.view.corpus.bootstrap = made.sequences == 32;
      CATCH_INFO(name << ", " << size.width << " × " << size.height << " at " << size.scale);
      bench.frame();
      bench.frame();
      CATCH_CHECK(bench.wrong() == "");
      bench.state.view.corpus.list = CorpusList::Thumbnails;
      bench.state.view.corpus.sort = CorpusSort::Robust;
      bench.frame();
      bench.frame();
      CATCH_CHECK(bench.wrong() == "");
      for (const CorpusSide side : {CorpusSide::Rows, CorpusSide::Keys})
        for (const char* quantity : {"sink_score", "context_rms_relative_mean", "entropy_mean", "lambda_mean"}) {
          CATCH_INFO(quantity << ", side " << static_cast<int>(side));
          bench.state.view.corpus.side = side;
          bench.state.view.heads.quantity = quantity;
          bench.frame();
          CATCH_CHECK(bench.wrong() == "");
        }
    }
  }
}

CATCH_TEST_CASE("corpus panels: every number says what it rests on", "[corpus]") {
  CorpusBench usual;
  usual.frame();
  for (const char* text : {"All heads, sorted", "32 sequences of 8 documents", "95 % t interval", "mean ± s.e.",
                           "Share of sequences, %", "By document", "holds ε", "uniform attention", "mean ± 95 %"})
    CATCH_CHECK(usual.shows(text));
  CorpusBench one({.sequences = 1, .documents = 1});
  one.frame();
  CATCH_CHECK(one.shows("one sequence: no interval"));
  CATCH_CHECK(one.shows("no standard error"));
  CATCH_CHECK_FALSE(one.shows("95 % t interval"));
  CorpusBench document({.sequences = 9, .documents = 1});
  document.frame();
  CATCH_CHECK(document.shows("one document: no interval"));
  CorpusBench two({.sequences = 2, .documents = 2});
  two.frame();
  CATCH_CHECK(two.shows("Two documents"));
  CorpusBench none({.kept = false, .ids = false});
  none.frame();
  CATCH_CHECK(none.shows("--keep sink_score"));
  CATCH_CHECK(none.shows("--no-ids"));
  CorpusBench series({.sequences = 12, .documents = 4, .layers = 6, .heads = 6, .steps = {0, 100, 1000, 30000}});
  series.frame();
  CATCH_CHECK(series.shows("checkpoint 4 of 4"));
  CATCH_CHECK(series.shows("by step"));
}

CATCH_TEST_CASE("corpus panels: a row chooses its sequence and runs it, a title sorts", "[corpus]") {
  CorpusBench bench;
  bench.frame();
  // The last one drawn: the table stands below what else names the sequence.
  const auto exact = [&](const std::string& words) {
    Vec2 at{-1.0f, -1.0f};
    for (const auto* text : bench.painter->find(words))
      if (text->text == words) at = {text->baseline.x + 4.0f, text->baseline.y - 4.0f};
    return at;
  };
  bench.click(exact("S3"));  // the lowest, so the first row
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.sequence S3"});
  bench.state.view.corpus.sequence = 3;
  bench.click(exact("S3"), 2);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.open S3"});
  bench.click(bench.place("heads off"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.sort off"});
  bench.click(exact("bootstrap"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.interval bootstrap"});
  bench.state.view.corpus.sequence = 5;
  bench.key(Key::Enter);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.open"});
  // The pointer is on the row: no button that would be gone before the pointer is there.
  bench.state.view.corpus.sequence.reset();
  bench.state.hover.sequence = 5;
  bench.frame();
  CATCH_CHECK(bench.shows("a click chooses it"));
  CATCH_CHECK_FALSE(bench.shows("Open as a run"));
  bench.state.view.corpus.sequence = 5;
  bench.frame();
  CATCH_CHECK(bench.shows("Open as a run"));
}

CATCH_TEST_CASE("corpus panels: a thumbnail is its sequence, and is chosen and opened", "[corpus]") {
  CorpusBench bench({.sequences = 40, .documents = 8, .layers = 6, .heads = 4}, {1440.0f, 900.0f});
  bench.state.view.corpus.list = CorpusList::Thumbnails;
  bench.state.view.corpus.sort = CorpusSort::Loss;
  bench.frame();
  bench.frame();
  const CorpusEntry& corpus = *bench.state.corpus();
  const auto order = sorted_sequences(corpus, corpus.values.get(), bench.state.view.corpus, {}, {});
  std::vector<const RecordedMap*> thumbnails;
  for (const RecordedMap& map : bench.painter->maps())
    if (map.source.width() == 4.0f && map.source.height() == 6.0f && map.image.width > 4) thumbnails.push_back(&map);
  CATCH_REQUIRE(thumbnails.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const RecordedMap& map = *thumbnails[i];
    const auto left = static_cast<std::size_t>(map.source.x0), top = static_cast<std::size_t>(map.source.y0);
    bool equal = true;
    for (std::size_t place = 0; place < 24; ++place) {
      const std::size_t at = (top + place / 4) * static_cast<std::size_t>(map.image.width) + left + place % 4;
      equal = equal && (*map.image.values)[at] == corpus.values->of_head(place)[order[i]];
    }
    CATCH_INFO("thumbnail " << i);
    CATCH_CHECK(equal);
  }
  const Rect third = thumbnails[2]->target;
  const std::string name = "S" + std::to_string(order[2]);
  bench.click({third.centre_x(), third.centre_y()});
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.sequence " + name});
  bench.state.view.corpus.sequence = static_cast<std::int64_t>(order[2]);
  bench.click({third.centre_x(), third.centre_y()}, 2);
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.open " + name});
}

CATCH_TEST_CASE("corpus panels: thumbnails are as large as leaves all in view", "[corpus]") {
  for (const std::size_t sequences : {std::size_t{1}, std::size_t{12}, std::size_t{32}, std::size_t{400}})
    for (const auto& [layers, heads] : {std::pair<std::size_t, std::size_t>{30, 9}, {1, 1}, {4, 4}, {128, 128}})
      for (const Rect body : {Rect{0, 0, 700, 330}, Rect{0, 0, 300, 120}, Rect{0, 0, 2400, 1300}}) {
        const SequenceTiles tiles = lay_out_sequences(body, layers, heads, sequences);
        CATCH_REQUIRE(tiles.columns * tiles.rows > 0);
        CATCH_CHECK(static_cast<float>(tiles.columns - 1) * tiles.across + tiles.width <= body.width());
        CATCH_CHECK(static_cast<float>(tiles.rows - 1) * tiles.down + tiles.height < body.height());
        CATCH_CHECK(tiles.cell <= 20.0f);
        if (tiles.columns * tiles.rows < sequences) CATCH_CHECK(std::max(tiles.width, tiles.height) <= 128.0f);
      }
  CATCH_CHECK(lay_out_sequences({0, 0, 1400, 700}, 30, 9, 32).cell >
              lay_out_sequences({0, 0, 700, 330}, 30, 9, 32).cell);
  CATCH_CHECK(lay_out_sequences({0, 0, 700, 40}, 30, 9, 32).columns == 0);
}

CATCH_TEST_CASE("paired panels: no text leaves its panel or lies on another, at any size and in every state",
                "[corpus]") {
  for (const auto& [name, made] : made_states()) {
    State made_state;
    put_beside(made_state, made);
    for (const CorpusWindow& size : kCorpusWindows) {
      PanelBench bench(draw_corpus_slots, {size.width, size.height}, size.scale);
      const Settings settings = bench.state.settings;
      bench.state = made_state;
      bench.state.settings = settings;
      bench.state.settings.dark = size.scale == 1.0f;
      CATCH_INFO(name << ", " << size.width << " × " << size.height << " at " << size.scale);
      bench.frame();
      bench.frame();
      CATCH_CHECK(bench.wrong() == "");
      CATCH_CHECK(bench.shows("Paired changes"));
    }
  }
}

CATCH_TEST_CASE("paired panels: a head changes where q is the level or less, as compare counts it", "[corpus]") {
  PanelBench bench(draw_corpus_slots);
  put_beside(bench.state, {});
  bench.frame();
  std::size_t up = 0, down = 0;
  for (std::size_t place = 0; place < 270; ++place) {
    const auto mean = [&](std::size_t run) {
      return bench.state.runs[run].corpus.statistics->quantities.at("sink_score")[2 * place];
    };
    if (place % 3 != 1) ++(mean(1) > mean(0) ? up : down);
  }
  CATCH_CHECK(up + down == 180);
  CATCH_CHECK(*bench.facts.find("corpus.up") == std::to_string(up));
  CATCH_CHECK(*bench.facts.find("corpus.down") == std::to_string(down));
  CATCH_CHECK(bench.shows("heads, q ≤ 0.05"));
  CATCH_CHECK(bench.shows("90 undecided"));
  CATCH_CHECK(bench.shows("coloured: q ≤ 0.05"));
  // While one of them is being run there is nothing to compare.
  bench.state.runs[1] = corpus_run(2, {.growing = true});
  bench.frame();
  CATCH_CHECK(bench.shows("still being run"));
}

CATCH_TEST_CASE("corpus panels: many sequences of a document are drawn as their range, not as a disc each",
                "[corpus]") {
  const auto discs = [](std::int64_t sequences) {
    CorpusBench bench({.sequences = sequences, .documents = 4, .layers = 2, .heads = 2});
    bench.frame();
    CATCH_CHECK(bench.wrong() == "");
    return std::ranges::count(bench.painter->shapes(), RecordedShape::Kind::Disc, &RecordedShape::kind);
  };
  CATCH_CHECK(discs(1200) >= 2400);  // in the curve and by document
  CATCH_CHECK(discs(9000) < 100);
  CorpusBench many({.sequences = 9000, .documents = 4, .layers = 2, .heads = 2});
  many.frame();
  CATCH_CHECK(many.shows("means; range, middle half"));
  CATCH_CHECK(many.shows(grouped_text(2250) + " sequences"));
}

CATCH_TEST_CASE("corpus panels: one that grows says so far, and can be stopped and gone on with", "[corpus]") {
  CorpusBench bench({.growing = true});
  bench.frame();
  CATCH_CHECK(bench.shows("Cancel"));
  CATCH_CHECK(bench.shows("32 of 128 sequences"));
  CATCH_CHECK(bench.shows("so far"));
  bench.state.runs[0].status = RunStatus::Cancelled;
  bench.frame();
  CATCH_CHECK(bench.shows("stopped"));
  bench.click(bench.place("Go on"));
  CATCH_CHECK(bench.taken() == std::vector<std::string>{"corpus.go-on"});
}

}  // namespace
}  // namespace headroom::test
