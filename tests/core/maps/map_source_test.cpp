// Windows and single cells of kept maps: against the definition, and against the exact maps of a run file.
#include "core/maps/map_source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/io/run_file.h"
#include "tests/core/maps/live_maps.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr kernels::WindowMap kMaps[] = {kernels::WindowMap::Net,         kernels::WindowMap::First,
                                        kernels::WindowMap::Second,      kernels::WindowMap::ScaledSecond,
                                        kernels::WindowMap::FirstLogits, kernels::WindowMap::SecondLogits};

void serial(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
}

// All entries of a map by a window of reduction 1.
std::vector<float> window(const MapSource& source, std::int64_t head, kernels::WindowMap map) {
  std::vector<float> values(static_cast<std::size_t>(source.length * source.length), -7.0F);
  kernels::WindowRequest request;
  request.map = map;
  request.rows = request.keys = source.length;
  kernels::WindowCells cells;
  cells.mean = values.data();
  cells.stride = source.length;
  required_void(source.window_of(head, request, cells, serial, {}));
  return values;
}

bool near(double a, double b, double bound) { return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= bound; }

}  // namespace

CATCH_TEST_CASE("map source: cells and windows are the definition, for every map, mask, cap, sink and temperature") {
  for (const MadeMaps& made :
       {MadeMaps{.length = 90}, MadeMaps{.length = 70, .softcap = 2.0, .window = 9},
        MadeMaps{.length = 60, .causal = false}, MadeMaps{.length = 1}, MadeMaps{.length = 90, .biased = true},
        MadeMaps{.length = 70, .softcap = 2.0, .causal = false, .window = 9, .biased = true}}) {
    const auto source = made_maps(made);
    for (const MapSource::Head& head : source->heads)
      for (const kernels::WindowMap map : kMaps) {
        const std::vector<float> values = window(*source, head.head, map);
        int wrong_cells = 0, wrong_entries = 0;
        for (std::int64_t i = 0; i < made.length; ++i)
          for (std::int64_t j = 0; j < made.length; ++j) {
            const auto row = static_cast<std::size_t>(i);
            double expected = NAN;
            const bool has_second = head.program.has_second();
            if (sees(*source, head, i, j)) {
              const double z1 = logit_of(*source, head, head.program.first, i, j), a1 = std::exp(z1 - head.lse[0][row]);
              const double z2 = has_second ? logit_of(*source, head, head.program.second, i, j) : NAN;
              const double a2 = has_second ? std::exp(z2 - head.lse[1][row]) : NAN;
              expected = map == kernels::WindowMap::Net            ? has_second ? a1 - head.lambda[row] * a2 : a1
                         : map == kernels::WindowMap::First        ? a1
                         : map == kernels::WindowMap::Second       ? a2
                         : map == kernels::WindowMap::ScaledSecond ? has_second ? head.lambda[row] * a2 : NAN
                         : map == kernels::WindowMap::FirstLogits  ? z1
                                                                   : z2;
            }
            const MapSource::Cell cell = source->cell(head.head, i, j);
            wrong_cells += cell.visible != sees(*source, head, i, j) || !near(shown(cell, map), expected, 1e-12);
            const auto at = static_cast<std::size_t>(i * made.length + j);
            wrong_entries += !near(static_cast<double>(values[at]), expected, 1e-5);
          }
        CATCH_INFO("length " << made.length << ", head " << head.head << ", map " << static_cast<int>(map));
        CATCH_CHECK(wrong_cells == 0);
        CATCH_CHECK(wrong_entries == 0);
      }
  }
}

CATCH_TEST_CASE("map source: outside of the map, of a head that was not kept, and a stopped window") {
  const auto source = made_maps({.length = 40});
  CATCH_CHECK(!source->cell(0, -1, 0).visible);
  CATCH_CHECK(!source->cell(0, 3, 40).visible);
  CATCH_CHECK(!source->cell(1, 3, 3).visible);
  CATCH_CHECK(std::isnan(source->cell(1, 3, 3).net));
  CATCH_CHECK(source->cell(2, 3, 9).lambda == source->heads[1].lambda[3]);  // of the row, masked or not
  CATCH_CHECK(source->find(4) == &source->heads[2]);
  CATCH_CHECK(!source->find(3));
  CATCH_CHECK(source->size_bytes() >= (source->queries.size() + source->keys.size()) * sizeof(float));
  kernels::WindowRequest request;
  request.rows = request.keys = 40;
  std::vector<float> values(1600);
  kernels::WindowCells cells;
  cells.mean = values.data();
  cells.stride = 40;
  const auto stopped = source->window_of(0, request, cells, serial, [] { return true; });
  CATCH_REQUIRE(!stopped.has_value());
  CATCH_CHECK(stopped.error().code == ErrorCode::Cancelled);
}

CATCH_TEST_CASE("map source: what a run kept gives its exact maps") {
  for (const char* name : {"bytes/diff_v2", "bytes/softmax_sink", "bytes/diff_v1"}) {
    CATCH_INFO(name);
    const LiveModel demo(name, 70);
    const TempFolder folder;
    AnalysisRequest request = demo.analysis(folder.path() / "run.h5");
    request.exact_maps = true;
    (void)required(analyze(live_backend(), request, {}, {}));
    const auto file = required(RunFile::open(request.output));
    const auto net = required(file->read("exact/net_weights"));
    const auto weights = required(file->read("exact/weights"));
    const Snapshot run = live(demo.request());
    const std::int64_t n = run->length, heads = static_cast<std::int64_t>(run->heads.size());
    double worst_cell = 0.0, worst_window = 0.0;
    for (std::size_t l = 0; l < run->layers.size(); ++l)
      for (std::int64_t h = 0; h < heads; ++h) {
        const MapSource& maps = *run->data[l]->maps;
        const std::vector<float> values = window(maps, h, kernels::WindowMap::Net);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const std::int64_t head_at = static_cast<std::int64_t>(l) * heads + h;
            const double exact = net[static_cast<std::size_t>((head_at * n + i) * n + j)];
            const MapSource::Cell cell = maps.cell(h, i, j);
            CATCH_REQUIRE(cell.visible == (j <= i));
            if (!cell.visible) continue;
            worst_cell = std::max(worst_cell, std::abs(cell.net - exact));
            worst_window = std::max(worst_window,
                                    std::abs(static_cast<double>(values[static_cast<std::size_t>(i * n + j)]) - exact));
            for (std::int64_t m = 0; m < 2; ++m) {
              const double a = weights[static_cast<std::size_t>(((head_at * 2 + m) * n + i) * n + j)];
              const double found = m == 0 ? cell.first : cell.second;
              CATCH_REQUIRE(std::isnan(a) == std::isnan(found));
              if (!std::isnan(a)) worst_cell = std::max(worst_cell, std::abs(found - a));
            }
          }
      }
    CATCH_CHECK(worst_cell < 2e-6);
    CATCH_CHECK(worst_window < 2e-6);
  }
}

CATCH_TEST_CASE("map source: bfloat16 runs keep queries and keys as they are multiplied") {
  const LiveModel demo("bytes/softmax", 64);
  LiveRunRequest request = demo.request();
  request.dtype = ComputeDtype::BFloat16;
  const Snapshot run = live(request);
  for (const auto& layer : run->data) {
    for (const float value : layer->maps->queries) CATCH_REQUIRE((std::bit_cast<std::uint32_t>(value) & 0xFFFFU) == 0);
    // The row sums say that the log-sum-exp belongs to these products.
    for (const std::int64_t head : layer->heads)
      for (const std::int64_t i : {0, 17, 63}) {
        double sum = 0.0;
        for (std::int64_t j = 0; j <= i; ++j) sum += layer->maps->cell(head, i, j).first;
        CATCH_CHECK(std::abs(sum - 1.0) < 1e-5);
      }
  }
}

}  // namespace headroom::test
