#include "core/io/netcdf_name.h"

#include <cstddef>
#include <set>
#include <string>

#include "tests/support/catch.h"

namespace headroom::test {

CATCH_TEST_CASE("Names that netCDF takes stay as they are") {
  for (const std::string name : {"sink_score", "rows", "_x", "9lives", "λ_init", "a b", "a.b-c@d+e", "x "}) {
    if (name.back() != ' ') CATCH_CHECK(to_netcdf_name(name) == name);
    CATCH_CHECK(from_netcdf_name(to_netcdf_name(name)) == name);
  }
}

CATCH_TEST_CASE("Other names are escaped, each to its own") {
  CATCH_CHECK(to_netcdf_name("a/b") == "a%2Fb");
  CATCH_CHECK(to_netcdf_name("a ") == "a%20");
  CATCH_CHECK(to_netcdf_name("50%") == "50%25");
  CATCH_CHECK(to_netcdf_name(".x") == "_%2Ex");
  CATCH_CHECK(to_netcdf_name("a\xFF\n") == "a%FF%0A");
  std::set<std::string> seen;
  const std::string alphabet("_%/ aF25\x01\xFF", 10);
  int names = 0;
  for (const char first : alphabet) {
    for (const char second : alphabet) {
      for (const char third : alphabet) {
        for (std::size_t length = 1; length <= 3; ++length) {
          const std::string name = std::string({first, second, third}).substr(0, length);
          const std::string escaped = to_netcdf_name(name);
          CATCH_REQUIRE(from_netcdf_name(escaped) == name);
          CATCH_REQUIRE((escaped[0] == '_' || isalnum(static_cast<unsigned char>(escaped[0])) != 0));
          CATCH_REQUIRE(escaped.back() != ' ');
          seen.insert(escaped);
          ++names;
        }
      }
    }
  }
  CATCH_CHECK(names == 3000);
  CATCH_CHECK(seen.size() == 10 + 100 + 1000);
}

}  // namespace headroom::test
