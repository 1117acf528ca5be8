#include "core/run/head_filter.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

namespace {

std::vector<std::uint8_t> flags(const RunSnapshot& run, std::string_view text) {
  const Result<HeadFilter> filter = HeadFilter::parse(text);
  CATCH_CAPTURE(std::string(text), filter ? "" : filter.error().message);
  CATCH_REQUIRE(filter.has_value());
  return filter->evaluate(run);
}

// The same by hand: `expected(layer, head)` for every head.
template <typename Expected>
void agrees(const RunSnapshot& run, std::string_view text, const Expected& expected) {
  const std::vector<std::uint8_t> found = flags(run, text);
  CATCH_REQUIRE(found.size() == run.layers.size() * run.heads.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int64_t layer = run.layers[i / run.heads.size()], head = run.heads[i % run.heads.size()];
    CATCH_CAPTURE(std::string(text), layer, head);
    CATCH_CHECK((found[i] != 0) == static_cast<bool>(expected(layer, head)));
  }
}

Error error_of(std::string_view text) {
  const Result<HeadFilter> filter = HeadFilter::parse(text);
  CATCH_CAPTURE(std::string(text));
  CATCH_REQUIRE_FALSE(filter.has_value());
  return filter.error();
}

}  // namespace

CATCH_TEST_CASE("filters agree with the same conditions written by hand") {
  test::SnapshotOptions options;
  options.kind = "diff_v2";
  options.layers = 7, options.heads = 5, options.series = false;
  const auto run = test::make_snapshot(options);
  const auto sink = [&](std::int64_t l, std::int64_t h, std::size_t c = 0) { return run->at("sink_score", l, h, c); };
  agrees(*run, "", [](auto, auto) { return true; });
  agrees(*run, "sink_score > 0.3 and layer >= 4", [&](auto l, auto h) { return sink(l, h) > 0.3 && l >= 4; });
  agrees(*run, "sink_score[second] > 0.3", [&](auto l, auto h) { return sink(l, h, 1) > 0.3; });
  agrees(*run, "head == 1 or head == 3 and layer < 2", [&](auto l, auto h) { return h == 1 || (h == 3 && l < 2); });
  agrees(*run, "(head == 1 or head == 3) and layer < 2", [&](auto l, auto h) { return (h == 1 || h == 3) && l < 2; });
  agrees(*run, "not head == 1 and layer > 2", [&](auto l, auto h) { return h != 1 && l > 2; });
  agrees(*run, "not (head == 1 and layer > 2)", [&](auto l, auto h) { return !(h == 1 && l > 2); });
  agrees(*run, "layer - head * 2 + 1 > 1 - -1", [&](auto l, auto h) { return l - h * 2 + 1 > 2; });
  agrees(*run, "layer - head - 1 == 0", [&](auto l, auto h) { return l - h - 1 == 0; });
  agrees(*run, "layer / 2 / 2 < 1", [&](auto l, auto) { return static_cast<double>(l) / 4.0 < 1.0; });
  agrees(*run, "-sink_score < -0.5", [&](auto l, auto h) { return sink(l, h) > 0.5; });
  agrees(*run, "0.2 < sink_score <= 0.6", [&](auto l, auto h) { return sink(l, h) > 0.2 && sink(l, h) <= 0.6; });
  agrees(*run, "sink_score ≥ 0.3 && layer ≠ 2 || ! head ≤ 3",
         [&](auto l, auto h) { return (sink(l, h) >= 0.3 && l != 2) || h > 3; });
  agrees(*run, "kind == \"diff_v2\" and head != 0", [&](auto, auto h) { return h != 0; });
  agrees(*run, "kind != 'diff_v2'", [](auto, auto) { return false; });
  agrees(*run, "sink_score[first] > sink_score[second]", [&](auto l, auto h) { return sink(l, h) > sink(l, h, 1); });
  agrees(*run, "rows_inside_bound[softmax]*100 > 50e0",
         [&](auto l, auto h) { return run->at("rows_inside_bound", l, h, 0) > 0.5; });
  agrees(*run, "top_key_mass[second, 8] < .5", [&](auto l, auto h) { return run->at("top_key_mass", l, h, 8) < 0.5; });
}

CATCH_TEST_CASE("a comparison with a missing value is false") {
  test::SnapshotOptions options;
  options.series = false, options.finished = 2;
  const auto run = test::make_snapshot(options);
  agrees(*run, "lambda_mean > 0 or lambda_mean <= 0", [](auto, auto) { return false; });
  agrees(*run, "lambda_mean != 0.5", [](auto, auto) { return false; });
  agrees(*run, "sink_score >= 0", [](auto l, auto) { return l < 2; });
  agrees(*run, "kind == 'softmax'", [](auto l, auto) { return l < 2; });
}

CATCH_TEST_CASE("errors name the place") {
  const auto column = [](std::string_view text) {
    return error_of(text).message.substr(0, error_of(text).message.find(':'));
  };
  CATCH_CHECK(column("sink_scor > 0.3") == "column 1");
  CATCH_CHECK(error_of("sink_scor > 0.3").hint == "did you mean sink_score?");
  CATCH_CHECK(error_of("layer > 2 and sink_scor > 0.3").offset == 14);
  CATCH_CHECK(column("layer > 2 and sink_scor > 0.3") == "column 15");
  CATCH_CHECK(column("layer ≥ 2 and bogus > 1") == "column 15");  // columns count characters
  CATCH_CHECK(error_of("layer ≥ 2 and bogus > 1").offset == 16);  // offsets count bytes
  CATCH_CHECK(error_of("layer = 2").hint == "write ==");
  CATCH_CHECK(column("layer = 2") == "column 7");
  CATCH_CHECK(column("sink_score") == "column 1");  // a value is no condition
  CATCH_CHECK(column("layer > 2 layer") == "column 11");
  CATCH_CHECK(column("layer >") == "column 8");
  CATCH_CHECK(column("(layer > 2") == "column 11");
  CATCH_CHECK(column("layer > 2)") == "column 10");
  CATCH_CHECK(column("kind > 'softmax'") == "column 6");
  CATCH_CHECK(column("kind == 3") == "column 6");
  CATCH_CHECK(column("kind == 'soft") == "column 9");
  CATCH_CHECK(column("sink_score[third] > 1") == "column 11");
  CATCH_CHECK(column("sink_score[first > 1") == "column 18");
  CATCH_CHECK(column("(layer > 2) + 1 > 2") == "column 13");
  CATCH_CHECK(column("(layer > 2) > 1") == "column 13");
  CATCH_CHECK(column("layer > 2 and head") == "column 15");
  CATCH_CHECK(column("layer and head > 2") == "column 1");
  CATCH_CHECK(column("not layer") == "column 5");
  CATCH_CHECK(column("3x > 2") == "column 2");
  CATCH_CHECK(column("layer > 1e999") == "column 9");
  CATCH_CHECK(column("layer @ 3") == "column 7");
  CATCH_CHECK(error_of(std::string(100000, '(') + "1").message.find("too deeply") != std::string::npos);
  CATCH_CHECK(error_of(std::string(100000, '-') + "1 > 0").message.find("too deeply") != std::string::npos);
  CATCH_CHECK(error_of(std::string("layer > 2 \xFF")).offset == 10);
}

CATCH_TEST_CASE("what a filter compares a quantity with") {
  const HeadFilter filter =
      HeadFilter::parse("sink_score > 0.3 and -0.5 < logit_min and sink_score + 1 < 3 and layer > 4").value();
  const auto ref = [](const char* name) { return parse_quantity(name).value(); };
  CATCH_CHECK(filter.bounds(ref("sink_score")) == std::vector<double>{0.3});
  CATCH_CHECK(filter.bounds(ref("logit_min")) == std::vector<double>{-0.5});
  CATCH_CHECK(filter.bounds(ref("sink_score[second]")).empty());
  CATCH_CHECK(filter.quantities().size() == 2);
}
