#include <cstddef>
#include <vector>

#include "app/ui/fuzzy.h"

#include "tests/support/catch.h"

namespace headroom {
namespace {

double score(const char* query, const char* text) {
  const auto match = fuzzy_match(query, text);
  return match ? match->score : -1.0;
}

CATCH_TEST_CASE("fuzzy: words in any order, letters by the beginnings of words") {
  CATCH_CHECK(fuzzy_match("", "anything"));
  CATCH_CHECK(fuzzy_match("logits map", "Map: show logits"));
  CATCH_CHECK(fuzzy_match("msl", "Map: show logits"));
  CATCH_CHECK_FALSE(fuzzy_match("mzl", "Map: show logits"));
  CATCH_CHECK_FALSE(fuzzy_match("map sink", "Map: show logits"));
  CATCH_CHECK_FALSE(fuzzy_match("p", "no"));
}

CATCH_TEST_CASE("fuzzy: the positions are those of the matched letters") {
  const auto match = fuzzy_match("MAP lo", "Export the map, log");
  CATCH_REQUIRE(match);
  CATCH_CHECK(match->positions == std::vector<std::size_t>{11, 12, 13, 16, 17});
}

CATCH_TEST_CASE("fuzzy: beginnings come before middles, runs before initials") {
  CATCH_CHECK(score("map", "Map: logits") > score("map", "Export the map"));
  CATCH_CHECK(score("map", "Export the map") > score("map", "Heatmaps"));
  CATCH_CHECK(score("run", "Run, or run again") > score("run", "Prune"));
  CATCH_CHECK(score("ml", "Html") > score("ml", "Map: logits"));
}

}  // namespace
}  // namespace headroom
