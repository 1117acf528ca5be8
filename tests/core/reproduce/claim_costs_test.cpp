// Claims 7 and 8 against the counts that the definitions give, written out here.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "core/base/format.h"
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

void check_shape(const ClaimTable& table, std::size_t rows, std::size_t columns) {
  CATCH_CHECK(table.columns.size() == columns);
  CATCH_REQUIRE(table.rows.size() == rows);
  for (const auto& row : table.rows) CATCH_REQUIRE(row.size() == columns);
}

// Weights of W_Q, W_K, W_V, W_O and W_λ: V2 has W_Q of 2h heads, W_O of h, and h rows of W_λ. D = 4096 = 32 heads of
// 128.
double weights_of(const std::string& kind, double groups) {
  constexpr double kD = 4096.0;
  const double keys_values = 2.0 * groups * 128.0 * kD;
  if (kind == "diff_v2") return 2.0 * kD * kD + keys_values + kD * kD + 32.0 * kD;
  if (kind == "diff_v1") return 2.0 * kD * kD + keys_values + 4.0 * 128.0 + 256.0;  // four vectors of λ, a norm
  return kD * kD + keys_values + kD * kD;
}

}  // namespace

CATCH_TEST_CASE("claim 7: parameters of V2 and of Transformers of h and 2h heads") {
  const ClaimReport report = examined(examine_parameters);
  CATCH_CHECK(report.number == 7);
  CATCH_REQUIRE(report.tables.size() == 1);
  check_shape(report.tables[0], 5, 7);
  constexpr double kD = 4096.0;
  const double groups[] = {1, 4, 8, 16, 32};
  for (std::size_t row = 0; row < 5; ++row) {
    const ClaimTable& table = report.tables[0];
    const double v2 = weights_of("diff_v2", groups[row]), once = weights_of("softmax", groups[row]);
    const double twice = once + 2.0 * kD * kD;
    CATCH_CHECK(number(table, row, 0) == groups[row]);
    CATCH_CHECK(number(table, row, 1) == v2);
    CATCH_CHECK(number(table, row, 2) == twice);
    CATCH_CHECK(number(table, row, 3) == once);
    CATCH_CHECK(number(table, row, 4) == near(v2 / twice, 1e-15));
    CATCH_CHECK(number(table, row, 5) == near(v2 / once, 1e-15));
    CATCH_CHECK(number(table, row, 6) == near(1.0 - v2 / twice, 1e-14));
  }
  // A quarter under current GQA, 4 or 8 key heads; less where there are more.
  const char* saved[] = {"24.4 %", "23.3 %", "22.0 %", "19.8 %", "16.5 %"};
  CATCH_REQUIRE(report.sentences.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CATCH_CHECK(report.sentences[i].found == saved[i]);
    CATCH_CHECK(report.sentences[i].verdict == (i < 3 ? Verdict::Agrees : Verdict::Differs));
    CATCH_CHECK(report.sentences[i].text.find(format("%.0f key heads for 32", groups[i])) != std::string::npos);
  }
}

CATCH_TEST_CASE("claim 8: caches, arithmetic and the least time of decoding") {
  struct Case {
    const char* name;
    DecodeDevice device;
    const char* v2_memory;  // of its least time
    Verdict v2;
    const char* times;  // of the baseline's, in the sentence about the attention alone
  };
  // V2's 8 FLOP a byte are more than 4.8: there its arithmetic takes 8/4.8 of the time of its reading.
  for (const Case& example :
       {Case{"the default", {}, "all", Verdict::Agrees, "1.00 times at least"},
        Case{"little arithmetic", {"slow", 4.8e12, 1e12}, "60 %", Verdict::Differs, "1.67 times at least"}}) {
    CATCH_INFO(example.name);
    ClaimOptions options;
    options.device = example.device;
    const ClaimReport report = examined(examine_decoding, options);
    CATCH_CHECK(report.number == 8);
    CATCH_REQUIRE(report.tables.size() == 2);
    check_shape(report.tables[0], 9, 8);
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
    CATCH_CHECK(report.sentences[0].found == "1.00 times");
    CATCH_CHECK(report.sentences[0].verdict == Verdict::Agrees);
    CATCH_CHECK(report.sentences[1].found == example.times);
    CATCH_CHECK(report.sentences[1].verdict == example.v2);
    CATCH_CHECK(report.sentences.back().found == "1.50 times at least");
    CATCH_CHECK(report.sentences.back().verdict == Verdict::Agrees);
  }
}

CATCH_TEST_CASE("claim 8: with the projections around it V2's block takes longer where few keys are read") {
  const ClaimReport report = examined(examine_decoding);
  const ClaimTable& table = report.tables.at(1);
  check_shape(table, 9, 8);
  std::size_t row = 0;
  for (const double batch : {1.0, 16.0, 256.0})
    for (const double n : {1024.0, 8192.0, 131072.0}) {
      CATCH_INFO(batch << " sequences of " << n);
      const auto microseconds = [&](const std::string& kind) {
        // The weights in bfloat16 once, and of each sequence the cache; two FLOP of each weight and token beside the
        // maps'.
        const double caches = 2.0 * n * 8.0 * 128.0 * (kind == "diff_v1" ? 3.0 : 2.0);
        const double maps = kind == "diff_v2" ? 64.0 : 32.0, context = kind == "diff_v1" ? 256.0 : 128.0;
        const double weights = weights_of(kind, 8.0);
        const double bytes = 2.0 * weights + batch * caches;
        const double flops = batch * (2.0 * weights + 2.0 * n * maps * (128.0 + context));
        return 1e6 * std::max(bytes / 3.35e12, flops / 989e12);
      };
      CATCH_CHECK(number(table, row, 0) == batch);
      CATCH_CHECK(number(table, row, 1) == n);
      CATCH_CHECK(number(table, row, 2) == near(microseconds("softmax"), 1e-12));
      CATCH_CHECK(number(table, row, 3) == near(microseconds("diff_v1"), 1e-12));
      CATCH_CHECK(number(table, row, 4) == near(microseconds("diff_v2"), 1e-12));
      CATCH_CHECK(number(table, row, 6) == near(microseconds("diff_v2") / microseconds("softmax"), 1e-12));
      ++row;
    }
  const auto verdict_of = [&](const std::string& words, const std::string& found) {
    for (const Sentence& sentence : report.sentences)
      if (sentence.text.find(words) != std::string::npos) {
        CATCH_CHECK(sentence.found == found);
        return sentence.verdict;
      }
    throw std::runtime_error("no sentence about " + words);
  };
  CATCH_CHECK(verdict_of("block, batch 1, n = 1024,", "1.38 times at least") == Verdict::Differs);
  CATCH_CHECK(verdict_of("block, batch 1, n = 131072,", "1.05 times at least") == Verdict::Agrees);
}

}  // namespace headroom::test
