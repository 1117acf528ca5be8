// What is written of a claim: the same numbers as Markdown and as JSON.
#include "core/reproduce/report.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ClaimReport example_report() {
  ClaimReport report;
  report.number = 3;
  report.title = "A title";
  report.claim = "What the text says.";
  ClaimTable table;
  table.caption = "A caption";
  table.columns = {"heads", "loss", "count", "none"};
  table.rows = {{std::string("softmax"), Spread{{1.0, 2.0, 3.0}}, 12.0, kNaN},
                {std::string("diff_v2"), Spread{{0.5, kNaN}}, 0.25},
                {std::string("none"), Spread{{kNaN}}, -1234567.0, Spread{}}};
  report.tables = {table};
  report.findings = {{"Sentence one.", Verdict::Undecided},
                     {"Sentence two.", Verdict::Agrees},
                     {"Sentence three.", Verdict::Differs},
                     {"Sentence four.", Verdict::Agrees},
                     {"Sentence five.", Verdict::Mixed}};
  report.remarks = "A remark.";
  return report;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

CATCH_TEST_CASE("report: a table has every cell of every row, and as many as it has columns") {
  CATCH_CHECK(table_markdown(example_report().tables[0]) ==
              "A caption\n"
              "\n"
              "| heads | loss | count | none |\n"
              "|---|---:|---:|---:|\n"
              "| softmax | 2.00 ± 1.00 | 12 | – |\n"
              "| diff_v2 | 0.500 | 0.250 |  |\n"
              "| none | – | -1.23e+06 | – |\n"
              "\n");
}

CATCH_TEST_CASE("report: a claim is its title, its words, its tables and its sentences, sorted by what they came to") {
  const std::string text = claim_markdown(example_report());
  CATCH_CHECK(text.find("## 3. A title: mixed\n\n> What the text says.\n\nA caption\n\n| heads |") == 0);
  CATCH_CHECK(text.find("\nA remark.\n") != std::string::npos);
  std::vector<std::size_t> places;
  for (const char* sentence : {"\n- Sentence two.\n", "\n- Sentence four.\n", "\n- Sentence three.\n",
                               "\n- Sentence five.\n", "\n- Sentence one.\n"}) {
    CATCH_INFO(sentence);
    CATCH_CHECK(count(text, sentence) == 1);
    places.push_back(text.find(sentence));
  }
  CATCH_CHECK(std::ranges::is_sorted(places));
  // The sentences that agree stand under one heading, the others under one each.
  CATCH_CHECK(count(text, "**\n\n- Sentence") == 4);

  ClaimReport bare;
  bare.number = 1;
  bare.title = "T";
  bare.claim = "C.";
  bare.findings = {{"S.", Verdict::Agrees}};
  const std::string short_text = claim_markdown(bare);
  CATCH_CHECK(short_text.find("## 1. T: agrees\n") == 0);
  CATCH_CHECK(count(short_text, "**\n\n- ") == 1);
}

CATCH_TEST_CASE("report: JSON has the numbers themselves, null where there is none") {
  const nlohmann::ordered_json json = claim_json(example_report());
  CATCH_CHECK(json.at("number") == 3);
  CATCH_CHECK(json.at("title") == "A title");
  CATCH_CHECK(json.at("claim") == "What the text says.");
  CATCH_CHECK(json.at("verdict") == "mixed");
  CATCH_CHECK(json.at("remarks") == "A remark.");
  CATCH_CHECK(json.at("findings").size() == 5);
  CATCH_CHECK(json.at("findings")[0] ==
              nlohmann::ordered_json({{"verdict", "undecided"}, {"sentence", "Sentence one."}}));
  CATCH_CHECK(json.at("findings")[2] ==
              nlohmann::ordered_json({{"verdict", "does not agree"}, {"sentence", "Sentence three."}}));
  const auto& table = json.at("tables").at(0);
  CATCH_CHECK(table.at("caption") == "A caption");
  CATCH_CHECK(table.at("columns") == nlohmann::json({"heads", "loss", "count", "none"}));
  // nlohmann writes NaN as null in text only: the value itself must be null.
  const auto expected = nlohmann::ordered_json::parse(R"([
    ["softmax", {"values": [1.0, 2.0, 3.0], "mean": 2.0, "standard_deviation": 1.0}, 12.0, null],
    ["diff_v2", {"values": [0.5, null], "mean": 0.5, "standard_deviation": null}, 0.25],
    ["none", {"values": [null], "mean": null, "standard_deviation": null}, -1234567.0,
     {"values": [], "mean": null, "standard_deviation": null}]])");
  CATCH_CHECK(table.at("rows") == expected);
  CATCH_CHECK(nlohmann::json::parse(json.dump()).at("tables")[0].at("rows") == nlohmann::json(expected));

  ClaimReport infinite;
  infinite.tables = {{"", {"x"}, {{std::numeric_limits<double>::infinity()}}}};
  CATCH_CHECK(claim_json(infinite).at("tables")[0].at("rows")[0][0].is_null());
}

CATCH_TEST_CASE("report: the whole has every claim's verdict, every claim and every table of the models") {
  ClaimReport second = example_report();
  second.number = 7;
  second.title = "Another";
  second.findings = {{"It is so.", Verdict::Agrees}};
  ReportFacts facts{"headroom 9", "abcdef", "headroom reproduce -o out", "2026-01-02T03:04:05Z", "a machine"};
  ClaimTable models;
  models.caption = "models of a recipe";
  models.columns = {"heads"};
  models.rows = {{std::string("softmax")}};
  const std::vector<ClaimReport> reports = {example_report(), second};
  const std::string text = report_markdown(facts, reports, {models});
  for (const std::string& fact :
       {facts.program, facts.git_commit, facts.command_line, facts.created_utc, facts.machine})
    CATCH_CHECK(count(text, fact) == 1);
  CATCH_CHECK(text.find("| claim | verdict |\n|---|---|\n| 3. A title | mixed |\n| 7. Another | agrees |\n") !=
              std::string::npos);
  for (const ClaimReport& report : reports) CATCH_CHECK(count(text, claim_markdown(report)) == 1);
  CATCH_CHECK(count(text, "## The models\n\n" + table_markdown(models)) == 1);
  CATCH_CHECK(count(report_markdown(facts, reports, {}), "## The models") == 0);
}

}  // namespace headroom::test
