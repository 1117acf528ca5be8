// The column of keys beside a map that is shown alone.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/number_text.h"
#include "tests/app/panels/map_bench.h"

namespace headroom::test {

CATCH_TEST_CASE("map keys: a map alone has the keys that receive most beside it, of the pinned row or of all",
                "[map]") {
  for (const char* maximised : {"", "map"}) {
    MapBench bench;
    bench.session.edit().layout.maximised = maximised;
    bench.frame = {0, 69, 1440, 875};
    const bool alone = *maximised != '\0';
    for (const std::string& line : bench.settle().violations()) CATCH_CHECK(line == "");
    CATCH_CHECK(bench.painter->shows("Keys that receive most") == alone);
    if (!alone) continue;
    const std::int64_t query = bench.data().length / 2;
    bench.run("pin " + std::to_string(query) + " -");
    for (const std::string& line : bench.settle().violations()) CATCH_CHECK(line == "");
    CATCH_REQUIRE(bench.painter->shows("Keys of query " + grouped_text(query)));
    // The row itself, by magnitude: the first ten stand in this order below the title.
    const MapSource& source = *bench.data().data[0]->maps;
    std::vector<std::int64_t> keys;
    for (std::int64_t key = 0; key <= query; ++key) keys.push_back(key);
    std::ranges::stable_sort(keys, [&](std::int64_t a, std::int64_t b) {
      return std::abs(source.cell(0, query, a).net) > std::abs(source.cell(0, query, b).net);
    });
    float above = bench.painter->find("Keys of query").front()->baseline.y;
    for (std::size_t i = 0; i < 10; ++i) {
      const std::string value = readout_text(source.cell(0, query, keys[i]).net);
      float y = 0.0f;
      for (const RecordedText* text : bench.painter->find(value))
        if (text->text == value && text->baseline.x > 900.0f && text->baseline.y > above && y == 0.0f)
          y = text->baseline.y;
      CATCH_INFO(i << ": key " << keys[i] << ", " << value);
      CATCH_CHECK(y > above);
      above = y;
    }
  }
}

CATCH_TEST_CASE("map keys: a window without room for the column has none, nor a swipe", "[map]") {
  MapBench bench;
  bench.session.edit().layout.maximised = "map";
  bench.frame = {0, 69, 1024, 615};
  for (const std::string& line : bench.settle().violations()) CATCH_CHECK(line == "");
  CATCH_CHECK_FALSE(bench.painter->shows("Keys that receive most"));
}

}  // namespace headroom::test
