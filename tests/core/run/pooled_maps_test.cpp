// The pooled maps that a run keeps of every head against those of a run file, and key 0's against the file's rows.
#include "core/run/pooled_maps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/io/run_file.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6 * std::abs(b); }

// How many of `kept` are not `written`; of another size: all.
std::size_t unlike(std::span<const float> kept, std::span<const double> written) {
  if (kept.size() != written.size()) return std::max(kept.size(), written.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) count += same(static_cast<double>(kept[i]), written[i]) ? 0 : 1;
  return count;
}

// The largest |value| of each block of rows; NaN where no row of a block sees key 0.
std::vector<double> largest_of_rows(const std::vector<double>& rows, const std::vector<bool>& sees, std::int64_t size) {
  std::vector<double> blocks;
  for (std::size_t begin = 0; begin < rows.size(); begin += static_cast<std::size_t>(size)) {
    double most = kNaN;
    for (std::size_t i = begin; i < std::min(rows.size(), begin + static_cast<std::size_t>(size)); ++i)
      if (sees[i] && !(most >= std::abs(rows[i]))) most = std::abs(rows[i]);
    blocks.push_back(most);
  }
  return blocks;
}

}  // namespace

CATCH_TEST_CASE("pooled maps: those of a run in memory are /maps of the run file") {
  for (const char* name : {"bytes/softmax", "bytes/diff_v2", "bytes/diff_v1", "backcopy/diff_v2"}) {
    for (const std::size_t length : {std::size_t{150}, std::size_t{40}}) {
      CATCH_INFO(name << " " << length);
      const LiveModel demo(name, length);
      const TempFolder folder;
      AnalysisRequest request = demo.analysis(folder.path() / "run.h5");
      request.pool_blocks = 64;
      request.components = true;
      const bool hides = demo.model->spec.num_heads > 1;
      if (hides) request.what_ifs = {required(parse_what_if("L0.H1:hide-key=0,3"))};
      (void)required(analyze(live_backend(), request, {}, {}));
      LiveRunRequest same_run = demo.request();
      same_run.what_ifs = request.what_ifs;
      const Snapshot run = live(same_run);
      const Snapshot stored = required(read_run(request.output));

      const auto file = required(RunFile::open(request.output));
      const std::vector<double> net = required(file->read("maps/pooled_max_abs")),
                                both = required(file->read("maps/pooled_max_components")),
                                first_key = required(file->read("rows/first_key_weight"));
      const std::vector<double> lambda =
          file->find("rows/lambda") ? required(file->read("rows/lambda")) : std::vector<double>();
      const std::size_t heads = run->heads.size();
      for (std::size_t l = 0; l < run->layers.size(); ++l) {
        const PooledMaps* maps = run->data[l]->pooled.get();
        CATCH_REQUIRE(maps != nullptr);
        const std::int64_t blocks = maps->blocks;
        const auto cells = static_cast<std::size_t>(blocks * blocks);
        CATCH_CHECK(maps->size == (static_cast<std::int64_t>(length) + 63) / 64);
        CATCH_CHECK(blocks * maps->size >= static_cast<std::int64_t>(length));
        CATCH_CHECK(maps->size_bytes() == pooled_bytes(blocks, heads, !maps->first.empty()));
        for (std::size_t h = 0; h < heads; ++h) {
          const auto index = static_cast<std::int64_t>(h);
          const std::size_t at = l * heads + h;
          const std::span<const double> written(net);
          CATCH_CHECK(unlike(maps->map(PooledKind::Net, index), written.subspan(at * cells, cells)) == 0);
          const bool second = run->data[l]->programs[h].has_second();
          if (second) {
            const std::span<const double> parts(both);
            CATCH_CHECK(unlike(maps->map(PooledKind::First, index), parts.subspan(2 * at * cells, cells)) == 0);
            CATCH_CHECK(unlike(maps->map(PooledKind::Second, index), parts.subspan((2 * at + 1) * cells, cells)) == 0);
          } else if (maps->first.empty()) {
            CATCH_CHECK(unlike(maps->map(PooledKind::First, index), written.subspan(at * cells, cells)) == 0);
            CATCH_CHECK(maps->map(PooledKind::Second, index).empty());
          }
          // Key 0: a of the rows, w = a¹ − λ a².
          std::vector<double> rows;
          for (std::size_t i = 0; i < length; ++i) {
            const double a = first_key[2 * at * length + i];
            rows.push_back(second ? a - lambda[at * length + i] * first_key[(2 * at + 1) * length + i] : a);
          }
          const bool hidden = hides && l == 0 && h == 1;
          std::vector<bool> sees(length, !hidden);
          if (hidden) sees[0] = true;  // a row that would see nothing else keeps itself
          const auto expected = largest_of_rows(rows, sees, maps->size);
          const auto kept = maps->key0(PooledKind::Net, index);
          CATCH_REQUIRE(kept.size() == expected.size());
          for (std::size_t block = 0; block < expected.size(); ++block) {
            CATCH_CAPTURE(l, h, block, kept[block], expected[block]);
            CATCH_CHECK((same(static_cast<double>(kept[block]), expected[block]) ||
                         std::abs(static_cast<double>(kept[block]) - expected[block]) < 1e-6));
          }
        }
        // What a file gives back is the same but for the type of its rows.
        const PooledMaps* again = stored->data[l]->pooled.get();
        CATCH_REQUIRE(again != nullptr);
        CATCH_CHECK(again->blocks == blocks);
        CATCH_CHECK(again->size == maps->size);
        CATCH_CHECK(unlike(again->net, std::vector<double>(maps->net.begin(), maps->net.end())) == 0);
        CATCH_CHECK(again->first.size() == maps->first.size());
        CATCH_CHECK(again->net_key.size() == maps->net_key.size());
      }
    }
  }
}

CATCH_TEST_CASE("pooled maps: none where none are asked for, and they stay where a budget drops maps and rows") {
  const LiveModel demo("bytes/diff_v2", 96);
  LiveRunRequest request = demo.request();
  request.pool_blocks = 0;
  const Snapshot without = live(request);
  for (const auto& layer : without->data) CATCH_CHECK(layer->pooled == nullptr);
  request.pool_blocks = -1;
  CATCH_CHECK(pool_blocks_of(request) == 64);
  request.keep_bytes = 1;
  const Snapshot run = live(request);
  CATCH_REQUIRE(run->layers.size() > 1);
  CATCH_CHECK(run->data.front()->maps == nullptr);
  CATCH_CHECK(run->data.front()->series.empty());
  for (const auto& layer : run->data) CATCH_CHECK(layer->pooled != nullptr);
  CATCH_CHECK(pooled_blocks(1024) == 64);
  CATCH_CHECK(pooled_blocks(16384) == 32);
  // 128 × 128 heads in 32² blocks are 64 MiB, and as much again for each map of differential heads.
  CATCH_CHECK(pooled_bytes(32, 16384, false) == std::size_t{16384} * (32 * 32 + 32) * 4);
}

}  // namespace headroom::test
