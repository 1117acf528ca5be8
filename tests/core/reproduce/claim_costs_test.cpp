// Claims 7 and 8 against the counts that the definitions give, written out here.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "core/reproduce/claims.h"
#include "tests/core/reproduce/empty_study.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

double number(const ClaimTable& table, std::size_t row, std::size_t column) {
  return std::get<double>(table.rows.at(row).at(column));
}
const std::string& text(const ClaimTable& table, std::size_t row, std::size_t column) {
  return std::get<std::string>(table.rows.at(row).at(column));
}

ClaimReport examined(ClaimFunction examine, const ClaimOptions& options = {}) {
  StudyFolder folder;
  const std::unique_ptr<Study> study = folder.created();
  auto report = examine(*study, options);
  if (!report) throw std::runtime_error(describe(report.error()));
  return std::move(*report);
}

void check_shape(const ClaimReport& report, std::size_t rows, std::size_t columns) {
  CATCH_REQUIRE(report.tables.size() == 1);
  CATCH_CHECK(report.tables[0].columns.size() == columns);
  CATCH_REQUIRE(report.tables[0].rows.size() == rows);
  for (const auto& row : report.tables[0].rows) CATCH_REQUIRE(row.size() == columns);
}

}  // namespace

CATCH_TEST_CASE("claim 7: parameters of V2 and of Transformers of h and 2h heads") {
  const ClaimReport report = examined(examine_parameters);
  CATCH_CHECK(report.number == 7);
  check_shape(report, 5, 6);
  // D = 4096 = 32 heads of 128. V2: W_Q of 2h heads, W_K and W_V of g, W_O of h heads, W_λ of h rows.
  constexpr double kD = 4096.0;
  const double groups[] = {1, 4, 8, 16, 32};
  for (std::size_t row = 0; row < 5; ++row) {
    const ClaimTable& table = report.tables[0];
    const double keys_values = 2.0 * groups[row] * 128.0 * kD;
    const double v2 = 2.0 * kD * kD + keys_values + kD * kD + 32.0 * kD;
    const double twice = 2.0 * kD * kD + keys_values + 2.0 * kD * kD;
    const double once = kD * kD + keys_values + kD * kD;
    CATCH_CHECK(number(table, row, 0) == groups[row]);
    CATCH_CHECK(number(table, row, 1) == v2);
    CATCH_CHECK(number(table, row, 2) == twice);
    CATCH_CHECK(number(table, row, 3) == once);
    CATCH_CHECK(number(table, row, 4) == near(v2 / twice, 1e-15));
    CATCH_CHECK(number(table, row, 5) == near(v2 / once, 1e-15));
  }
  // (12288 + 288)/16640 and 20512/24576 of the weights are left.
  CATCH_REQUIRE(report.findings.size() == 1);
  CATCH_CHECK(report.findings[0].sentence.find("saves 24.4 % with one key head and 16.5 % with 32") !=
              std::string::npos);
  CATCH_CHECK(report.verdict() == Verdict::Mixed);
}

CATCH_TEST_CASE("claim 8: caches, arithmetic and the least time of decoding") {
  struct Case {
    const char* name;
    DecodeDevice device;
    const char* v2_memory;  // of its least time
    Verdict v2;
    const char* times;
  };
  // V2's 8 FLOP a byte are more than 4.8: there its arithmetic takes 8/4.8 of the time of its reading.
  for (const Case& example :
       {Case{"the default", {}, "all", Verdict::Agrees, "is 1.00 times, its least decoding time 1.00 times"},
        Case{"little arithmetic",
             {"slow", 4.8e12, 1e12},
             "60 %",
             Verdict::Differs,
             "is 1.00 times, its least decoding time 1.67 times"}}) {
    CATCH_INFO(example.name);
    ClaimOptions options;
    options.device = example.device;
    const ClaimReport report = examined(examine_decoding, options);
    CATCH_CHECK(report.number == 8);
    check_shape(report, 9, 8);
    const ClaimTable& table = report.tables[0];
    CATCH_CHECK(table.caption.find(options.device.name) != std::string::npos);
    std::size_t row = 0;
    for (const double n : {1024.0, 8192.0, 131072.0})
      for (const std::string kind : {"softmax", "diff_v1", "diff_v2"}) {
        CATCH_INFO(kind << " " << n);
        // Eight blocks of 128 keys and as many values in bfloat16, in every kind; V1 reads its values for each map.
        const double keys = 8.0 * 128.0, values = 8.0 * 128.0;
        const double cache = 2.0 * n * (keys + values);
        const double read = kind == "diff_v1" ? 2.0 * n * (keys + 2.0 * values) : cache;
        // Multiplying and adding, for d channels of q·k and the channels of a context: V1 has 16 heads of 256.
        const double maps = kind == "diff_v2" ? 64.0 : 32.0;
        const double context = kind == "diff_v1" ? 256.0 : 128.0;
        const double flops = 2.0 * n * maps * (128.0 + context);
        const double seconds =
            std::max(read / options.device.bytes_per_second, flops / options.device.flops_per_second);
        CATCH_CHECK(text(table, row, 0) == kind);
        CATCH_CHECK(number(table, row, 1) == n);
        CATCH_CHECK(number(table, row, 2) == near(cache / 1e6, 1e-14));
        CATCH_CHECK(number(table, row, 3) == near(read / 1e6, 1e-14));
        CATCH_CHECK(number(table, row, 4) == near(flops / 1e6, 1e-14));
        CATCH_CHECK(number(table, row, 5) == near(flops / read, 1e-14));
        CATCH_CHECK(number(table, row, 6) == near(1e6 * seconds, 1e-14));
        CATCH_CHECK(text(table, row, 7) == (kind == "diff_v2" ? example.v2_memory : "all"));
        ++row;
      }
    CATCH_REQUIRE(report.findings.size() == 2);
    CATCH_CHECK(report.findings[0].verdict == example.v2);
    CATCH_CHECK(report.findings[0].sentence.find(example.times) != std::string::npos);
    CATCH_CHECK(report.findings[1].verdict == Verdict::Agrees);
    CATCH_CHECK(report.findings[1].sentence.find("at least 1.50 times") != std::string::npos);
  }
}

}  // namespace headroom::test
