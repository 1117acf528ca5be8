// Heads and cells as they are written, and words that are none.
#include <vector>

#include "core/model/head_address.h"

#include "tests/support/catch.h"
#include "tests/support/required.h"

namespace headroom::test {
namespace {

CATCH_TEST_CASE("A head is written L17.H4, and a cell of its map L17.H4[37,5]") {
  CATCH_CHECK(parse_head("L17.H4") == HeadRef{17, 4});
  CATCH_CHECK(parse_head(head_text(HeadRef{0, 12})) == HeadRef{0, 12});
  for (const char* wrong :
       {"", "L", "L3", "L3.H", "L.H3", "L-1.H0", "L3.H1.H2", "l3.h1", " L3.H1", "L3.H1 ", "L3.H1[5,4]"})
    CATCH_CHECK_FALSE(parse_head(wrong).has_value());
  const auto cell = parse_place("L17.H4[37,5]");
  CATCH_REQUIRE(cell.has_value());
  CATCH_CHECK((cell->head == HeadRef{17, 4} && cell->query == 37 && cell->key == 5));
  CATCH_CHECK((parse_place("L17.H4") && !parse_place("L17.H4")->query && !parse_place("L17.H4")->key));
  for (const char* wrong : {"L3.H1[", "L3.H1[]", "L3.H1[5]", "L3.H1[5,4", "L3.H1[a,4]", "L3.H1[5,4]x", "[5,4]"})
    CATCH_CHECK_FALSE(parse_place(wrong).has_value());
}

CATCH_TEST_CASE("A list of heads names each, or the first text that is none") {
  CATCH_CHECK(required(parse_heads("L18.H8,L3.H20")) == std::vector<HeadRef>{{18, 8}, {3, 20}});
  CATCH_CHECK(required(parse_heads("L18.H8+L3.H20", '+')) == std::vector<HeadRef>{{18, 8}, {3, 20}});
  const auto wrong = parse_heads("L1.H1,,L2.H2", ',', "--heads");
  CATCH_REQUIRE_FALSE(wrong.has_value());
  CATCH_CHECK((wrong.error().tensor == "--heads" && wrong.error().found == "''"));
  for (const char* text : {"", ",", "L1.H1,", "L1.H1+L2.H2"}) CATCH_CHECK_FALSE(parse_heads(text).has_value());
}

}  // namespace
}  // namespace headroom::test
