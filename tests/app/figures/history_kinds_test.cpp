// Which histories of trainings are of one kind, what kinds are called and which colour they have.
#include "app/figures/history_kinds.h"

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

StoredHistory history(const std::string& kind, const std::string& recipe, const std::string& hash) {
  StoredHistory made;
  made.kind = kind, made.recipe = recipe, made.recipe_sha256 = hash;
  return made;
}

std::vector<HistoryKind> kinds_of(const std::vector<StoredHistory>& histories, std::size_t inks = kVariantInks) {
  std::vector<const StoredHistory*> all;
  for (const StoredHistory& one : histories) all.push_back(&one);
  return history_kinds(all, inks);
}

}  // namespace

CATCH_TEST_CASE("seeds of one recipe and variant are one kind, in the variant's colour whatever comes first") {
  const auto kinds =
      kinds_of({history("diff_v2", "copy", "aa"), history("softmax", "copy", "aa"), history("diff_v2", "copy", "aa")});
  CATCH_REQUIRE(kinds.size() == 2);
  CATCH_CHECK((kinds[0].name == "DIFF V2" && kinds[0].short_name == "V2" && kinds[0].ink == 1));
  CATCH_CHECK(kinds[0].members == std::vector<std::size_t>{0, 2});
  CATCH_CHECK((kinds[1].name == "softmax" && kinds[1].ink == 0));
  CATCH_CHECK(kinds_of({}).empty());
}

CATCH_TEST_CASE("two recipes of one name are two kinds, and are told apart by their hashes") {
  const auto kinds = kinds_of({history("softmax", "copy", "aabbccdd"), history("softmax", "copy", "11223344")});
  CATCH_REQUIRE(kinds.size() == 2);
  CATCH_CHECK((kinds[0].name == "softmax, copy aabbcc" && kinds[1].name == "softmax, copy 112233"));
  CATCH_CHECK((kinds[0].ink == 0 && kinds[1].ink == 1));  // its own is taken
  const auto others = kinds_of({history("softmax", "copy", "aa"), history("softmax", "trigger", "bb")});
  CATCH_CHECK((others[0].name == "softmax, copy" && others[1].name == "softmax, trigger"));
}

CATCH_TEST_CASE("where a history does not say its recipe's hash its name decides") {
  // A seed that still trains is read from its state, which has the name alone.
  CATCH_CHECK(kinds_of({history("softmax", "copy", "aa"), history("softmax", "copy", "")}).size() == 1);
  CATCH_CHECK(kinds_of({history("softmax", "copy", "aa"), history("softmax", "trigger", "")}).size() == 2);
  // Whatever was opened first: two recipes of one name stay two.
  const auto kinds =
      kinds_of({history("softmax", "copy", ""), history("softmax", "copy", "aa"), history("softmax", "copy", "bb")});
  CATCH_REQUIRE(kinds.size() == 2);
  CATCH_CHECK((kinds[0].members == std::vector<std::size_t>{1, 0} && kinds[1].members == std::vector<std::size_t>{2}));
  CATCH_CHECK(same_kind(history("gated", "copy", "aa"), history("gated", "renamed", "aa")));
  CATCH_CHECK_FALSE(same_kind(history("gated", "copy", "aa"), history("softmax", "copy", "aa")));
}

CATCH_TEST_CASE("a variant without a colour takes the first that is free, and kinds beyond the colours share some") {
  std::vector<StoredHistory> many{history("softmax_sink", "copy", "aa"), history("own", "copy", "aa")};
  auto kinds = kinds_of(many);
  CATCH_CHECK((kinds[0].ink == 5 && kinds[1].ink == 0 && kinds[1].name == "own"));
  for (int i = 0; i < 8; ++i) many.push_back(history("other " + std::to_string(i), "copy", "aa"));
  kinds = kinds_of(many, 8);
  CATCH_REQUIRE(kinds.size() == 10);
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t k = 0; k < i; ++k) CATCH_CHECK(kinds[i].ink != kinds[k].ink);
  CATCH_CHECK(kinds[9].ink == 1);
}

CATCH_TEST_CASE("a range of seeds ends where the first of them does") {
  const StepSeries first({0, 10, 20, 30}, {1.0f, 2.0f, 3.0f, 4.0f}), second({0, 10, 20}, {3.0f, 1.0f, 5.0f}), none;
  const std::vector<const StepSeries*> seeds{&first, nullptr, &second, &none};
  const auto [low, high] = seed_range(seeds);
  CATCH_REQUIRE((low.size() == 3 && high.size() == 3));
  CATCH_CHECK((low.values()[0] == 1.0f && low.values()[1] == 1.0f && low.values()[2] == 3.0f));
  CATCH_CHECK((high.values()[0] == 3.0f && high.values()[1] == 2.0f && high.values()[2] == 5.0f));
  CATCH_CHECK(high.last_step() == 20);
  CATCH_CHECK(seed_range({}).first.empty());
}

}  // namespace headroom::test
