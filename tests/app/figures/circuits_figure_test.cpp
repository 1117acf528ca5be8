// What is made of files of `headroom circuits`: the strongest compositions, how all are counted, and panels.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "app/figures/figure_data.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/figure_runs.h"
#include "app/figures/kinds/circuit_pairs.h"
#include "core/base/numbers.h"
#include "core/io/circuits_schema.h"
#include "tests/app/figures/made_file.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kLayers = 3, kHeads = 2, kPlaces = 4;

// Of a head with one of an earlier layer; Q and K of first maps, of second ones where `maps` is 2.
double made_composition(std::size_t way, std::int64_t layer, std::int64_t head, std::int64_t map, std::int64_t from,
                        std::int64_t from_head) {
  return 0.1 + 0.01 * static_cast<double>(way) + 0.02 * static_cast<double>(layer) + 0.003 * static_cast<double>(head) +
         0.0005 * static_cast<double>(map) + 0.004 * static_cast<double>(from) +
         0.0001 * static_cast<double>(from_head);
}

FigureRun circuit_file(const TempFolder& folder, const std::string& name, bool composed, std::int64_t maps = 1) {
  MadeFile file(folder.path() / name, kCircuitsSchemaName);
  file.axis("layer", kLayers), file.axis("head", kHeads), file.axis("component", 2), file.axis("spectrum", kPlaces);
  const std::vector<std::int64_t> heads{kLayers, kHeads};
  file.numbers("copying_score", {"layer", "head"}, heads, std::vector<double>{-0.5, 0.2, 0.95, kNaN, 0.1, 0.3});
  std::vector<double> ov, qk;
  for (std::int64_t h = 0; h < kLayers * kHeads; ++h)
    for (std::int64_t i = 0; i < kPlaces; ++i)
      ov.push_back(std::pow(10.0, -static_cast<double>(i)) * (1.0 + 0.1 * static_cast<double>(h)));
  for (std::int64_t h = 0; h < kLayers * kHeads; ++h)
    for (std::int64_t map = 0; map < 2; ++map)
      for (std::int64_t i = 0; i < kPlaces; ++i)
        qk.push_back(map < maps ? 1.0 / static_cast<double>(1 + i + map) : kNaN);
  file.numbers("ov_singular_value", {"layer", "head", "spectrum"}, std::vector{kLayers, kHeads, kPlaces}, ov);
  file.numbers("qk_singular_value", {"layer", "head", "component", "spectrum"},
               std::vector<std::int64_t>{kLayers, kHeads, 2, kPlaces}, qk);
  if (composed) {
    file.axis("from_layer", kLayers), file.axis("from_head", kHeads);
    file.numbers("composition_null", {}, {}, std::vector<double>{0.125});
    for (std::size_t way = 0; way < 3; ++way) {
      const std::int64_t components = way == 2 ? 1 : 2;
      std::vector<double> values;
      for (std::int64_t l = 0; l < kLayers; ++l)
        for (std::int64_t h = 0; h < kHeads; ++h)
          for (std::int64_t m = 0; m < components; ++m)
            for (std::int64_t fl = 0; fl < kLayers; ++fl)
              for (std::int64_t fh = 0; fh < kHeads; ++fh)
                values.push_back(fl < l && m < maps ? made_composition(way, l, h, m, fl, fh) : kNaN);
      std::vector<std::string> axes{"layer", "head", "component", "from_layer", "from_head"};
      std::vector<std::int64_t> shape{kLayers, kHeads, 2, kLayers, kHeads};
      if (way == 2) axes.erase(axes.begin() + 2), shape.erase(shape.begin() + 2);
      file.numbers(std::string(1, "qkv"[way]) + "_composition", axes, shape, values);
    }
  }
  file.attribute("model_id", std::string("m")), file.attribute("checkpoint_sha256", std::string("m 00"));
  return required(read_figure_run(file.commit()));
}

HeadPairsOfFile pairs_of(const FigureRun& run, const FigureChoice& choice, std::size_t most) {
  const auto file = required(RunFile::open(run.path));
  return required(composed_pairs(run, *file, required(drawn_heads(run, choice)), choice.heads, most));
}

}  // namespace

CATCH_TEST_CASE("circuits: the strongest compositions are found, and all are counted") {
  const TempFolder folder;
  const FigureRun run = circuit_file(folder, "c.h5", true, 2);
  const HeadPairsOfFile pairs = pairs_of(run, {}, 3);
  // Of layer 1 with layer 0, and layer 2 with layers 0 and 1: 3 · 2 · 2 pairs, two maps each of Q and K.
  CATCH_CHECK((pairs.pairs == std::array<std::int64_t, 3>{24, 24, 12} && pairs.candidates == 60));
  CATCH_CHECK(pairs.null_value == 0.125);
  CATCH_REQUIRE(pairs.strongest.size() == 3);
  const HeadPair& best = pairs.strongest.front();
  CATCH_CHECK((best.way == 2 && best.to == HeadRef{2, 1} && best.from == HeadRef{1, 1} && best.map == 0));
  CATCH_CHECK(best.composition == near(made_composition(2, 2, 1, 0, 1, 1), 1e-12));
  CATCH_CHECK((best.heads() == "L1.H1 → L2.H1" && best.way_name() == "V"));
  CATCH_CHECK(std::ranges::is_sorted(pairs.strongest, std::ranges::greater(), &HeadPair::composition));
  for (std::size_t way = 0; way < 3; ++way) {
    CATCH_CHECK(std::accumulate(pairs.counts[way].begin(), pairs.counts[way].end(), std::int64_t{0}) ==
                pairs.pairs[way]);
    CATCH_CHECK(pairs.counts[way].size() + 1 == pairs.edges.size());
  }
  std::int64_t above = 0;
  for (std::int64_t l = 1; l < kLayers; ++l)
    for (std::int64_t h = 0; h < kHeads; ++h)
      for (std::int64_t fl = 0; fl < l; ++fl)
        for (std::int64_t fh = 0; fh < kHeads; ++fh) above += made_composition(2, l, h, 0, fl, fh) > 0.125 ? 1 : 0;
  CATCH_CHECK(pairs.above[2] == above);
}

CATCH_TEST_CASE(
    "circuits: heads that are asked for are those that pairs begin or end at, and what is not drawn has none") {
  const TempFolder folder;
  const FigureRun run = circuit_file(folder, "c.h5", true);
  FigureChoice choice;
  choice.heads = {{1, 0}};
  const HeadPairsOfFile touching = pairs_of(run, choice, 100);
  CATCH_CHECK((touching.all() == 36 && touching.candidates == 12 && touching.strongest.size() == 12));
  CATCH_CHECK(std::ranges::all_of(
      touching.strongest, [](const HeadPair& pair) { return pair.from == HeadRef{1, 0} || pair.to == HeadRef{1, 0}; }));
  FigureChoice less;
  less.layers = {0, 2}, less.only_heads = {1};
  CATCH_CHECK((pairs_of(run, less, 100).all() == 3));
  less.layers = {1};
  CATCH_CHECK((pairs_of(run, less, 100).all() == 0 && pairs_of(run, less, 100).edges.empty()));
}

CATCH_TEST_CASE("circuits: the panels are of what the file has") {
  const TempFolder folder;
  const FigureRun without = circuit_file(folder, "plain.h5", false);
  const Figure plain = required(make_circuits(std::vector{without}, FigureChoice{}));
  CATCH_REQUIRE(plain.panels.size() == 3);
  CATCH_CHECK((plain.panels[0]->name == "layers" && plain.panels[1]->name == "ov" && plain.panels[2]->name == "qk"));
  CATCH_REQUIRE(plain.notes.size() == 2);
  CATCH_CHECK(plain.notes[0].find("spectra of L1.H0") != std::string::npos);  // the largest copying score
  CATCH_CHECK(plain.notes[1].find("has no compositions") != std::string::npos);
  CATCH_CHECK(plain.panels[0]->caption().find("Not drawn: 1 head ") != std::string::npos);

  FigureChoice choice;
  choice.top = 5, choice.heads = {{2, 1}, {0, 0}};
  Figure figure = required(make_circuits(std::vector{circuit_file(folder, "c.h5", true, 2)}, choice));
  set_letters(figure, "a");
  CATCH_REQUIRE(figure.panels.size() == 6);
  FigureData data;
  for (const auto& panel : figure.panels) panel->add_data(data);
  std::size_t listed = 0, second = 0;
  std::int64_t counted = 0;
  for (const FigureMark& mark : data.marks()) {
    listed += mark.panel == "b" ? 1 : 0;
    counted += mark.panel == "c" ? static_cast<std::int64_t>(mark.y) : 0;
    second += mark.panel == "f" && mark.component == 1 ? 1 : 0;
  }
  CATCH_CHECK((listed == 5 && counted == 60 && second == 2 * kPlaces));
}

CATCH_TEST_CASE("circuits: what is no quantity of circuits, and too many heads, are refused") {
  const TempFolder folder;
  const FigureRun run = circuit_file(folder, "c.h5", false);
  FigureChoice choice;
  choice.quantities = {required(parse_quantity("sink_score"))};
  CATCH_CHECK(check_circuits(run, choice).error().message == "circuits: sink_score is of a run");
  choice.quantities = {required(parse_quantity("query_alignment"))};
  CATCH_CHECK(check_circuits(run, choice).error().message.find("no head of c.h5 has a value") != std::string::npos);
  choice.quantities.clear(), choice.heads.assign(4, HeadRef{0, 0});
  CATCH_CHECK(check_circuits(run, choice).error().message.find("at most three heads") != std::string::npos);
  CATCH_CHECK(file_sort(run) == "a file of headroom circuits");
}

}  // namespace headroom::test
