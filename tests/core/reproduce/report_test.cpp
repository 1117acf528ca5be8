// What is written of a claim: the same numbers as Markdown and as JSON.
#include "core/reproduce/report.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/format.h"
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
  // Differences of 0.1 and 10, and ten of ten: p 0.9, 2e-4 and 0.002, of which the last two remain by Holm.
  const Spread zero{{-1.0, 0.0, 1.0}}, some{{-0.9, 0.1, 1.1, 0.1}}, far{{9.1, 9.8, 11.1, 10.0}};
  report.sentences = {smaller("One", {"A", zero}, {"B", some}, {true, false}), exact("Two", "1 of 1", true),
                      smaller("Three", {"B", far}, {"A", zero}, {true, false}),
                      of_most("Four", std::vector<bool>(10, true), "0.5"), of_most("Five", {true}, "0.25")};
  report.remarks = "A remark.";
  decide(report);
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
  CATCH_CHECK(text.find("## 3. A title\n\n> What the text says.\n\nA caption\n\n| heads |") == 0);
  CATCH_CHECK(text.find("\nA remark.\n") != std::string::npos);
  std::vector<std::size_t> places;
  for (const char* sentence :
       {"\n- **3b** Two: 1 of 1.\n", "\n- **3d** Four: 10 of 10 seeds, 0.5; share 1, ",
        "\n- **3c** Three is smaller in B than in A: 10.0 ± 0.8 and 0.00 ± 1.00; difference -10, ",
        "\n- **3a** One is smaller in A than in B: ",
        "\n- **3e** Five: 1 of 1 seeds, 0.25; one seed decides nothing.\n"}) {
    CATCH_INFO(sentence);
    CATCH_CHECK(count(text, sentence) == 1);
    places.push_back(text.find(sentence));
  }
  CATCH_CHECK(std::ranges::is_sorted(places));
  // What agrees, what does not and what is undecided stand under one heading each.
  CATCH_CHECK(count(text, "**\n\n- **3") == 3);
  CATCH_CHECK(text.find("3 sentences were tested together: the smallest p is held against 0.017.") !=
              std::string::npos);
  CATCH_CHECK(text.find(" 2 compare models whose seeds share the data order at most") != std::string::npos);
  CATCH_CHECK(text.find(" 2 leave nothing to chance, or too little to test.") != std::string::npos);
  CATCH_CHECK(text.find("(paired)") == std::string::npos);

  ClaimReport bare;
  bare.number = 1;
  bare.title = "T";
  bare.claim = "C.";
  bare.sentences = {exact("S", "1", true)};
  const std::string short_text = claim_markdown(bare);
  CATCH_CHECK(short_text.find("## 1. T\n") == 0);
  CATCH_CHECK(count(short_text, "**\n\n- ") == 1);
  CATCH_CHECK(short_text.find("tested together") == std::string::npos);
}

CATCH_TEST_CASE("report: a test's numbers, its interval, its correction and the other way stand with the sentence") {
  const ClaimReport report = example_report();
  const Sentence& third = report.sentences[2];
  CATCH_REQUIRE(third.test.has_value());
  const std::string text = claim_markdown(report);
  const SeedTest::Interval interval = third.test->interval(third.level);
  CATCH_CHECK(third.level == near(0.05 / 3.0, 1e-15));
  CATCH_CHECK(text.find(format(
                  "difference -10, 98.3 %% interval [%.3g, %.3g], p = %.2g, by Holm %.2g (Welch's t); paired t: -10, "
                  "p = %.2g.\n",
                  interval.low, interval.high, third.test->p, 3.0 * third.test->p, third.test->other->p)) !=
              std::string::npos);
}

CATCH_TEST_CASE("report: JSON has the numbers themselves, null where there is none") {
  const nlohmann::ordered_json json = claim_json(example_report());
  CATCH_CHECK(json.at("number") == 3);
  CATCH_CHECK(json.at("title") == "A title");
  CATCH_CHECK(json.at("claim") == "What the text says.");
  CATCH_CHECK(json.at("remarks") == "A remark.");
  CATCH_CHECK(json.count("verdict") == 0);
  const auto& sentences = json.at("sentences");
  CATCH_REQUIRE(sentences.size() == 5);
  CATCH_CHECK(sentences[1] ==
              nlohmann::ordered_json(
                  {{"id", "3b"}, {"sentence", "Two"}, {"verdict", "agrees"}, {"found", "1 of 1"}, {"test", nullptr}}));
  CATCH_CHECK(sentences[0].at("verdict") == "undecided");
  CATCH_CHECK(sentences[2].at("verdict") == "does not agree");
  const auto& test = sentences[2].at("test");
  const ClaimReport report = example_report();
  const SeedTest& known = *report.sentences[2].test;
  CATCH_CHECK(test.at("kind") == "Welch's t");
  CATCH_CHECK(test.at("count") == 4);
  CATCH_CHECK(test.at("other_count") == 3);
  CATCH_CHECK(test.at("effect").get<double>() == known.effect);
  CATCH_CHECK(test.at("p").get<double>() == known.p);
  CATCH_CHECK(test.at("p_holm").get<double>() == report.sentences[2].adjusted_p);
  CATCH_CHECK(test.at("interval")[0].get<double>() == known.interval(0.05 / 3.0).low);
  CATCH_CHECK(test.at("detectable").get<double>() == known.detectable(0.05 / 3.0));
  CATCH_CHECK(test.at("other_way").at("kind") == "paired t");
  CATCH_CHECK(test.at("other_way").at("p").get<double>() == known.other->p);
  CATCH_CHECK(sentences[3].at("test").at("kind") == "binomial");
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

CATCH_TEST_CASE(
    "report: the whole has every sentence's verdict at the top, every claim and every table of the models") {
  ClaimReport second = example_report();
  second.number = 7;
  second.title = "Another";
  second.sentences = {exact("It is so", "7 of 7", true)};
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
  CATCH_CHECK(
      text.find("\n| 3b | Two | agrees | 1 of 1 | – | – | – | – |\n| 3c | Three is smaller in B than in A | does not "
                "agree | -10 | [") != std::string::npos);
  CATCH_CHECK(text.find("\n| 7a | It is so | agrees | 7 of 7 | – | – | – | – |\n\n## 3. A title\n") !=
              std::string::npos);
  CATCH_CHECK(count(text, " | 4 and 3 |\n") == 1);
  CATCH_CHECK(count(text, " | 3 and 4 |\n") == 1);
  CATCH_CHECK(count(text, " | 10 |\n") == 1);
  for (const ClaimReport& report : reports) CATCH_CHECK(count(text, claim_markdown(report)) == 1);
  CATCH_CHECK(count(text, "## The models\n\n" + table_markdown(models)) == 1);
  CATCH_CHECK(count(report_markdown(facts, reports, {}), "## The models") == 0);
}

}  // namespace headroom::test
