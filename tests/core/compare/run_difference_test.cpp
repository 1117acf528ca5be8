// Row distances, difference texels and changed keys against sums over single cells in double; the jobs on their thread.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/compare/run_difference.h"
#include "tests/core/maps/live_maps.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

const kernels::ParallelFor kAlone = [](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
};
const kernels::StopRequested kGoOn = [] { return false; };

double weight(const MapSource& source, std::int64_t head, std::int64_t query, std::int64_t key) {
  const MapSource::Cell cell = source.cell(head, query, key);
  return cell.visible ? cell.net : 0.0;
}

double distance_of_row(const MapSource& a, const MapSource& b, std::int64_t head, std::int64_t query) {
  double sum = 0.0;
  for (std::int64_t key = 0; key < a.length; ++key)
    sum += std::abs(weight(b, head, query, key) - weight(a, head, query, key));
  return 0.5 * sum;
}

std::shared_ptr<MapSource> maps(MadeMaps made) { return std::const_pointer_cast<MapSource>(made_maps(made)); }

// The log-sum-exp again, after the program or the window of a head was changed.
void renormalise(MapSource& source) {
  for (MapSource::Head& head : source.heads)
    for (std::size_t m = 0; m < 2; ++m) {
      const HeadProgram::Map& map = m == 0 ? head.program.first : head.program.second;
      if (map.query_block < 0) continue;
      head.lse[m].clear();
      for (std::int64_t i = 0; i < source.length; ++i) {
        double sum = head.program.sink == SinkSource::None ? 0.0 : std::exp(head.sink);
        for (std::int64_t j = 0; j < source.length; ++j)
          if (sees(source, head, i, j)) sum += std::exp(logit_of(source, head, map, i, j));
        head.lse[m].push_back(std::log(sum));
      }
    }
}

Tile mean_tile(const MapSource& source, std::int64_t head, std::int32_t level, std::int64_t row, std::int64_t column) {
  const std::int64_t side = std::int64_t{kTileSize} << level;
  kernels::WindowRequest request;
  request.row_begin = row * side;
  request.key_begin = column * side;
  request.rows = std::min(source.length, request.row_begin + side) - request.row_begin;
  request.keys = std::min(source.length, request.key_begin + side) - request.key_begin;
  request.reduction = std::int64_t{1} << level;
  Tile tile;
  tile.key = {source.id, head, kernels::WindowMap::Net, Pooling::Mean, level, row, column};
  tile.rows = static_cast<std::int32_t>(request.cell_rows());
  tile.columns = static_cast<std::int32_t>(request.cell_columns());
  auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(tile.rows * tile.columns));
  kernels::WindowCells cells;
  cells.mean = values->data();
  cells.stride = tile.columns;
  CATCH_REQUIRE(source.window_of(head, request, cells, kAlone, kGoOn).has_value());
  tile.values = values;
  return tile;
}

void check_texels(const MapSource& a, const MapSource& b, std::int64_t head, std::int32_t level) {
  const std::int64_t side = std::int64_t{kTileSize} << level, texel = std::int64_t{1} << level, n = a.length;
  for (std::int64_t row = 0; row * side < n; ++row)
    for (std::int64_t column = 0; column * side < n; ++column) {
      const Tile tile = mean_tile(a, head, level, row, column);
      const std::vector<float> got = difference_texels(a, b, tile, mean_tile(b, head, level, row, column));
      CATCH_REQUIRE(got.size() == tile.values->size());
      for (std::int64_t r = 0; r < tile.rows; ++r)
        for (std::int64_t c = 0; c < tile.columns; ++c) {
          double sum = 0.0;
          std::int64_t seen = 0;
          for (std::int64_t i = row * side + r * texel; i < std::min(n, row * side + (r + 1) * texel); ++i)
            for (std::int64_t j = column * side + c * texel; j < std::min(n, column * side + (c + 1) * texel); ++j) {
              const MapSource::Cell in_a = a.cell(head, i, j), in_b = b.cell(head, i, j);
              seen += in_a.visible || in_b.visible ? 1 : 0;
              sum += (in_b.visible ? in_b.net : 0.0) - (in_a.visible ? in_a.net : 0.0);
            }
          const double value = static_cast<double>(got[static_cast<std::size_t>(r * tile.columns + c)]);
          CATCH_INFO("head " << head << ", level " << level << ", texel " << r << ", " << c << ": " << value);
          if (seen == 0) {
            CATCH_REQUIRE(std::isnan(value));
          } else {
            CATCH_REQUIRE(std::abs(value - sum / static_cast<double>(seen)) < 3e-6);
          }
        }
    }
}

std::shared_ptr<const RunSnapshot> run_of(const std::vector<std::shared_ptr<const MapSource>>& layers,
                                          std::int64_t length) {
  auto run = std::make_shared<RunSnapshot>();
  run->length = length;
  run->heads = {0, 2, 4};
  for (std::size_t l = 0; l < layers.size(); ++l) {
    auto layer = std::make_shared<LayerSnapshot>();
    layer->layer = static_cast<std::int64_t>(l);
    layer->length = length;
    layer->heads = {0, 2, 4};
    layer->maps = layers[l];
    run->layers.push_back(layer->layer);
    run->data.push_back(layer);
  }
  return run;
}

bool wait_for(DifferenceJobs& jobs, const std::function<bool()>& there) {
  for (int i = 0; i < 5000; ++i) {
    (void)jobs.collect();
    if (there()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

CATCH_TEST_CASE("row distance: the mean of half the absolute differences, masked weights being 0", "[difference]") {
  for (const bool causal : {true, false}) {
    MadeMaps made;
    made.length = 150;
    made.causal = causal;
    const auto a = maps(made);
    made.seed = 11;
    const auto b = maps(made);
    b->heads[0].program.hidden_keys = {0, 17};
    renormalise(*b);
    for (const std::int64_t head : {0, 2, 4}) {
      double sum = 0.0;
      for (std::int64_t query = 0; query < made.length; ++query) sum += distance_of_row(*a, *b, head, query);
      const auto all = row_distance(*a, *b, head, 1000, kAlone, kGoOn);
      CATCH_REQUIRE(all.has_value());
      CATCH_CHECK(all->rows == made.length);
      CATCH_CHECK(std::abs(all->mean - sum / static_cast<double>(made.length)) < 1e-5);
      // Seven rows at even steps: 10, 32, 53, …
      double few = 0.0;
      for (std::int64_t k = 0; k < 7; ++k) few += distance_of_row(*a, *b, head, (2 * k + 1) * made.length / 14);
      const auto seven = row_distance(*a, *b, head, 7, kAlone, kGoOn);
      CATCH_REQUIRE(seven.has_value());
      CATCH_CHECK(seven->rows == 7);
      CATCH_CHECK(std::abs(seven->mean - few / 7.0) < 1e-5);
      CATCH_CHECK(row_distance(*a, *a, head, 1000, kAlone, kGoOn)->mean == 0.0);
    }
  }
}

CATCH_TEST_CASE("row distance: rows that are not finite do not count, and what cannot be compared is refused",
                "[difference]") {
  MadeMaps made;
  made.length = 60;
  const auto a = maps(made);
  made.seed = 5;
  const auto b = maps(made);
  double sum = 0.0;
  for (std::int64_t query = 0; query < 60; ++query)
    sum += query == 20 || query == 33 ? 0.0 : distance_of_row(*a, *b, 2, query);
  a->heads[1].lse[0][20] = NAN;
  b->heads[1].lambda[33] = INFINITY;
  const auto distance = row_distance(*a, *b, 2, 1000, kAlone, kGoOn);
  CATCH_REQUIRE(distance.has_value());
  CATCH_CHECK(distance->rows == 58);
  CATCH_CHECK(std::abs(distance->mean - sum / 58.0) < 1e-5);

  CATCH_CHECK(row_distance(*a, *b, 1, 1000, kAlone, kGoOn).error().code == ErrorCode::InvalidArgument);
  made.length = 61;
  CATCH_CHECK(row_distance(*a, *maps(made), 0, 1000, kAlone, kGoOn).error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(row_distance(*a, *b, 0, 1000, kAlone, [] { return true; }).error().code == ErrorCode::Cancelled);
}

CATCH_TEST_CASE("difference texels: the mean over what one of the two sees, at every level", "[difference]") {
  for (const std::int64_t window : {std::int64_t{0}, std::int64_t{9}}) {
    MadeMaps made;
    made.length = 270;
    made.head_dim = 4;
    made.window = window;
    const auto a = maps(made);
    made.seed = 8;
    const auto b = maps(made);
    a->heads[0].program.hidden_keys = {3, 100};
    b->heads[0].program.hidden_keys = {0, 1, 2, 3, 101, 269};
    renormalise(*a);
    renormalise(*b);
    for (const std::int32_t level : {0, 1, 3}) {
      for (const std::int64_t head : {0, 2, 4}) check_texels(*a, *b, head, level);
    }
  }
}

CATCH_TEST_CASE("difference texels: runs with different windows", "[difference]") {
  MadeMaps made;
  made.length = 90;
  const auto a = maps(made);
  made.window = 12;
  const auto b = maps(made);
  for (const std::int32_t level : {0, 2}) check_texels(*a, *b, 0, level);
  made.window = 0;
  made.causal = false;
  const auto c = maps(made);
  for (const std::int32_t level : {0, 2}) check_texels(*b, *c, 4, level);
  made.window = 12;
  made.causal = true;
  const auto d = maps(made);
  d->always_visible = 5;
  d->heads[0].program.hidden_keys = {1, 40};
  renormalise(*d);
  for (const std::int32_t level : {0, 2})
    for (const auto& other : {a, b, c})
      for (const std::int64_t head : {0, 4}) check_texels(*d, *other, head, level);
}

CATCH_TEST_CASE("changed keys: key 0 and those that change most, in order of position", "[difference]") {
  const std::vector<float> a = {0.50f, 0.10f, 0.20f, 0.05f, 0.30f, NAN, 0.00f, 0.10f};
  const std::vector<float> b = {0.51f, 0.45f, 0.19f, 0.05f, NAN, NAN, 0.90f, 0.60f};
  const auto three = most_changed_keys(a, b, 3, 7);
  CATCH_REQUIRE(three.size() == 3);
  CATCH_CHECK(three[0].key == 0);
  CATCH_CHECK(three[1].key == 1);
  CATCH_CHECK(three[2].key == 6);
  CATCH_CHECK(std::abs(three[1].change() - 0.35) < 1e-6);
  const auto all = most_changed_keys(a, b, 20, 8);
  CATCH_REQUIRE(all.size() == 7);  // key 5 has no number in either
  CATCH_CHECK(all[4].key == 4);
  CATCH_CHECK(std::abs(all[4].b) == 0.0);
  CATCH_CHECK(most_changed_keys(a, {}, 3, 8).empty());
  CATCH_CHECK(keys_seen_often(512, true) == 481);  // key 480 is seen by rows 480 … 511
  CATCH_CHECK(keys_seen_often(512, false) == 512);
  CATCH_CHECK(keys_seen_often(1, true) == 1);
}

CATCH_TEST_CASE(
    "difference jobs: every head that both runs have maps of, the asked one first, and equal layers at once",
    "[difference]") {
  MadeMaps made;
  made.length = 80;
  const auto a0 = maps(made), a1 = maps(made);
  made.seed = 21;
  const auto b1 = maps(made);
  const auto a = run_of({a0, a1, nullptr}, 80), b = run_of({a0, b1, b1}, 80);
  std::atomic<int> wakes = 0;
  DifferenceJobs jobs([&] { ++wakes; });
  CATCH_CHECK(jobs.results()->heads.empty());
  jobs.compare(a, b, std::pair<std::int64_t, std::int64_t>(1, 4));
  // A layer that the two share is known without computing.
  CATCH_REQUIRE(jobs.results()->find(0, 2));
  CATCH_CHECK(jobs.results()->find(0, 2)->distance.mean == 0.0);
  CATCH_CHECK(jobs.results()->heads.size() == 6);
  CATCH_CHECK(jobs.results()->without_maps == 3);
  CATCH_CHECK(jobs.results()->find(2, 0) == nullptr);
  CATCH_REQUIRE(wait_for(jobs, [&] { return jobs.results()->finished(); }));
  CATCH_CHECK(wakes > 0);
  for (const std::int64_t head : {0, 2, 4}) {
    double sum = 0.0;
    for (std::int64_t query = 0; query < 80; ++query) sum += distance_of_row(*a1, *b1, head, query);
    CATCH_CHECK(std::abs(jobs.results()->find(1, head)->distance.mean - sum / 80.0) < 1e-5);
  }
  // The other way round is another comparison of the same size; going back is known at once.
  jobs.compare(b, a, {});
  CATCH_REQUIRE(wait_for(jobs, [&] { return jobs.results()->finished(); }));
  jobs.compare(a, b, {});
  CATCH_CHECK(jobs.results()->finished());
  jobs.compare(nullptr, nullptr, {});
  CATCH_CHECK(jobs.results()->heads.empty());
}

CATCH_TEST_CASE("difference jobs: what is not compared any more is given up, and the end waits for nothing",
                "[difference]") {
  MadeMaps made;
  made.length = 1200;
  made.head_dim = 2;
  const auto big_a = maps(made);
  made.seed = 4;
  const auto big_b = maps(made);
  made.length = 30;
  const auto small_a = maps(made);
  made.seed = 9;
  const auto small_b = maps(made);
  std::vector<std::shared_ptr<const MapSource>> many_a, many_b;
  for (int l = 0; l < 400; ++l) {
    auto copy_a = std::make_shared<MapSource>(*big_a);
    copy_a->id = next_map_source_id();
    many_a.push_back(copy_a);
    many_b.push_back(big_b);
  }
  const auto seconds_of = [](const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  // A yardstick of this machine and build: ten layers, compared to their end.
  const double ten_layers = seconds_of([&] {
    DifferenceJobs jobs({});
    jobs.compare(run_of({many_a.begin(), many_a.begin() + 10}, 1200),
                 run_of({many_b.begin(), many_b.begin() + 10}, 1200), {});
    CATCH_REQUIRE(wait_for(jobs, [&] { return jobs.results()->finished(); }));
  });
  const double given_up = seconds_of([&] {
    DifferenceJobs jobs({});
    jobs.compare(run_of(many_a, 1200), run_of(many_b, 1200), {});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    jobs.compare(run_of({small_a}, 30), run_of({small_b}, 30), {});
    CATCH_REQUIRE(wait_for(jobs, [&] { return jobs.results()->finished(); }));
    CATCH_CHECK(jobs.results()->heads.size() == 3);
    jobs.compare(run_of(many_a, 1200), run_of(many_b, 1200), {});
  });
  CATCH_CHECK(given_up < 10.0 * ten_layers);  // all of it would be eighty times as much
}

}  // namespace headroom::test
