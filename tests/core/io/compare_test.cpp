#include "core/io/compare.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/io/sample_file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
using Index = std::vector<std::int64_t>;

struct Content {
  std::vector<double> score{1, 2, 3, kNan, kInf, -6};  // layer × head = 2 × 3
  std::vector<std::string> kind{"softmax", "gated"};
  bool extra = false;
  std::int64_t heads = 3;
  ElementType type = ElementType::Float64;
};

std::unique_ptr<RunFile> make(const TempFolder& folder, const std::string& name, const Content& content) {
  const auto path = folder.path() / name;
  auto created = RunFileWriter::create(path, {});
  CATCH_REQUIRE(created);
  RunFileWriter& writer = **created;
  AxisDef layer;
  layer.name = "layer";
  layer.size = 2;
  AxisDef head;
  head.name = "head";
  head.size = content.heads;
  CATCH_REQUIRE(writer.add_axis(layer));
  CATCH_REQUIRE(writer.add_axis(head));
  DatasetDef score;
  score.name = "score";
  score.axes = {"layer", "head"};
  score.type = content.type;
  CATCH_REQUIRE(writer.add_dataset(score));
  CATCH_REQUIRE(writer.write("score", Index{0, 0}, Index{2, content.heads}, content.score));
  DatasetDef kind;
  kind.name = "kind";
  kind.axes = {"layer"};
  kind.type = ElementType::String;
  CATCH_REQUIRE(writer.add_dataset(kind));
  CATCH_REQUIRE(writer.write_strings("kind", Index{0}, Index{2}, content.kind));
  if (content.extra) {
    DatasetDef extra;
    extra.group = "rows";
    extra.name = "extra";
    CATCH_REQUIRE(writer.add_dataset(extra));
  }
  CATCH_REQUIRE(writer.commit());
  auto file = RunFile::open(path);
  CATCH_REQUIRE(file);
  return std::move(file).value();
}

FileComparison compare_with(const std::function<void(Content&)>& change, const CompareTolerance& tolerance = {}) {
  const TempFolder folder;
  Content changed;
  change(changed);
  const auto a = make(folder, "a.h5", {});
  const auto b = make(folder, "b.h5", changed);
  auto comparison = compare_run_files(*a, *b, tolerance);
  CATCH_REQUIRE(comparison);
  return std::move(comparison).value();
}

}  // namespace

CATCH_TEST_CASE("A file equals itself, NaN and infinity included") {
  const auto comparison = compare_with([](Content&) {});
  CATCH_CHECK(comparison.equal());
  CATCH_REQUIRE(comparison.quantities.size() == 2);
  CATCH_CHECK(comparison.quantities[0].elements == 6);
  CATCH_CHECK_FALSE(comparison.quantities[0].absolute.found);
  CATCH_CHECK(comparison_table(comparison) ==
              "2 quantities: 2 identical, 0 within the tolerance, 0 not equal (rtol 0, atol 0)\n");
}

CATCH_TEST_CASE("The largest differences are found with their places") {
  // |Δ|: 0.5 of 2 (relative 0.25 of the larger), 1 of −6 (1/7).
  const auto change = [](Content& content) { content.score = {1, 1.5, 3, kNan, kInf, -7}; };
  const auto comparison = compare_with(change);
  const QuantityComparison& score = comparison.quantities[0];
  CATCH_CHECK(score.status == QuantityStatus::Different);
  CATCH_CHECK(score.differing == 2);
  CATCH_CHECK(score.absolute.difference == 1.0);
  CATCH_CHECK(score.absolute.at == Index{1, 2});
  CATCH_CHECK(score.relative.difference == 0.25);
  CATCH_CHECK(score.relative.at == Index{0, 1});
  CATCH_CHECK(comparison_table(comparison) ==
              "quantity  status     max absolute  max relative  where: a, b\n"
              "score     different  1             0.25          layer 1, head 2: -6, -7 (2 of 6 differ)\n"
              "2 quantities: 1 identical, 0 within the tolerance, 1 not equal (rtol 0, atol 0)\n");
  const auto json = nlohmann::json::parse(comparison_json(comparison));
  CATCH_CHECK(json["equal"] == false);
  CATCH_CHECK(json["quantities"][0]["max_absolute"] == 1.0);
  CATCH_CHECK(json["quantities"][0]["max_absolute_at"]["at"]["head"] == 2);
  CATCH_CHECK(json["quantities"][0]["max_relative_at"]["at"]["layer"] == 0);

  CATCH_SECTION("tolerances decide, at the bound itself still equal") {
    CATCH_CHECK(compare_with(change, {0.0, 1.0}).equal());
    CATCH_CHECK(compare_with(change, {0.25, 0.0}).equal());
    CATCH_CHECK(compare_with(change, {0.125, 0.25}).equal());
    CATCH_CHECK_FALSE(compare_with(change, {0.0, 0.99}).equal());
    CATCH_CHECK_FALSE(compare_with(change, {0.24, 0.0}).equal());
    CATCH_CHECK(compare_with(change, {0.0, 0.75}).quantities[0].differing == 1);
  }
}

CATCH_TEST_CASE("NaN and infinity against numbers differ under every tolerance") {
  const CompareTolerance wide{1e300, 1e300};
  const auto nan = compare_with([](Content& content) { content.score[0] = kNan; }, wide);
  CATCH_CHECK_FALSE(nan.equal());
  CATCH_CHECK(nan.quantities[0].non_finite_mismatches == 1);
  CATCH_CHECK(nan.quantities[0].first_at == Index{0, 0});
  CATCH_CHECK(nan.quantities[0].first_b == "nan");
  CATCH_CHECK_FALSE(compare_with([](Content& content) { content.score[3] = 0; }, wide).equal());
  CATCH_CHECK_FALSE(compare_with([](Content& content) { content.score[4] = -kInf; }, wide).equal());
  CATCH_CHECK_FALSE(nlohmann::json::parse(comparison_json(nan))["quantities"][0]["first_mismatch"].is_null());
}

CATCH_TEST_CASE("Missing quantities, other shapes, other text") {
  const auto extra = compare_with([](Content& content) { content.extra = true; });
  CATCH_REQUIRE(extra.quantities.size() == 3);
  CATCH_CHECK(extra.quantities[2].name == "rows/extra");
  CATCH_CHECK(extra.quantities[2].status == QuantityStatus::OnlyInB);
  CATCH_CHECK_FALSE(extra.equal());

  const auto shape = compare_with([](Content& content) {
    content.heads = 1;
    content.score = {1, 2};
  });
  CATCH_CHECK(shape.quantities[0].status == QuantityStatus::AxesDiffer);
  CATCH_CHECK(shape.quantities[0].found_a == "layer 2 × head 3");
  CATCH_CHECK(shape.quantities[0].found_b == "layer 2 × head 1");

  const auto text = compare_with([](Content& content) { content.kind[1] = "diff_v2"; });
  CATCH_CHECK(text.quantities[1].status == QuantityStatus::Different);
  CATCH_CHECK(text.quantities[1].differing == 1);
  CATCH_CHECK(text.quantities[1].first_at == Index{1});
  CATCH_CHECK(text.quantities[1].first_a == "\"gated\"");

  // float32 rounds 1/3, so that the types are compared by value.
  const auto third = [](Content& content) { content.type = ElementType::Float32; };
  CATCH_CHECK(compare_with(third).equal());
}

CATCH_TEST_CASE("Blocks meet without gap: a difference in the last element of a large array") {
  const TempFolder folder;
  CATCH_REQUIRE(write_sample(folder.path() / "a.h5") == "");
  auto writer = RunFileWriter::create(folder.path() / "b.h5", {});
  CATCH_REQUIRE(writer);
  std::string failure;
  CATCH_REQUIRE(fill_sample(**writer, failure));
  const std::vector<double> value{sample_lse(2, 4, kPositions - 1) + 0.25};
  CATCH_REQUIRE((*writer)->write("rows/lse", Index{2, 4, kPositions - 1}, Index{1, 1, 1}, value));
  CATCH_REQUIRE((*writer)->commit());
  const auto a = RunFile::open(folder.path() / "a.h5");
  const auto b = RunFile::open(folder.path() / "b.h5");
  CATCH_REQUIRE(a);
  CATCH_REQUIRE(b);
  const auto comparison = compare_run_files(**a, **b, {});
  CATCH_REQUIRE(comparison);
  std::vector<std::string> unequal;
  for (const auto& quantity : comparison->quantities) {
    if (quantity.status == QuantityStatus::Equal) continue;
    unequal.push_back(quantity.name);
    CATCH_CHECK(quantity.absolute.at == Index{2, 4, kPositions - 1});
    CATCH_CHECK(quantity.absolute.difference == 0.25);
  }
  CATCH_CHECK(unequal == std::vector<std::string>{"rows/lse"});
}

CATCH_TEST_CASE("A tolerance that is no number is refused") {
  const TempFolder folder;
  const auto a = make(folder, "a.h5", {});
  CATCH_CHECK(compare_run_files(*a, *a, {kNan, 0.0}).error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(compare_run_files(*a, *a, {0.0, -1.0}).error().code == ErrorCode::InvalidArgument);
}

}  // namespace headroom::test
