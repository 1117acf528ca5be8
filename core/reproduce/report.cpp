#include "core/reproduce/report.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr double kMostWhole = 1e6;

// The sentences of a claim, by what they came to.
constexpr std::pair<Verdict, const char*> kHeadings[] = {{Verdict::Agrees, "May be claimed of these models:"},
                                                         {Verdict::Differs, "Contradicted by these models:"},
                                                         {Verdict::Undecided, "Not decided:"}};

// Whole where it is: a cell that is no mean over seeds.
std::string single_text(double value) {
  if (std::isnan(value)) return "–";
  if (value == std::floor(value) && std::abs(value) < kMostWhole) return format("%.0f", value);
  return Spread{{value}}.text();
}

std::string cell_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return single_text(*number);
  return std::get<Spread>(cell).text();
}

nlohmann::ordered_json number_json(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json cell_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return number_json(*number);
  const Spread& spread = std::get<Spread>(cell);
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const double value : spread.values) values.push_back(number_json(value));
  return {{"values", values},
          {"mean", number_json(spread.mean())},
          {"standard_deviation", number_json(spread.deviation())}};
}

// "98.3 %" of the level that misses with 0.017.
std::string confidence_text(double level) { return format("%.3g %%", 100.0 * (1.0 - level)); }

std::string interval_text(const Sentence& sentence) {
  const SeedTest::Interval interval = sentence.test->interval(sentence.level);
  if (std::isnan(interval.low)) return "–";
  return format("[%.3g, %.3g]", interval.low, interval.high);
}

// "10 pairs", "12 and 10", "10".
std::string seeds_text(const SeedTest& test) {
  const auto whole = [](std::int64_t count) { return std::to_string(count); };
  if (test.kind == SeedTestKind::Paired) return whole(test.count) + " pairs";
  if (test.kind == SeedTestKind::Welch) return whole(test.count) + " and " + whole(test.other_count);
  return whole(test.count);
}

std::string detectable_text(const Sentence& sentence) {
  const double effect = sentence.test->detectable(sentence.level);
  return std::isnan(effect) ? "–" : format("%.3g", effect);
}

// What a person must know beside the verdict.
std::string test_text(const Sentence& sentence) {
  const SeedTest& test = *sentence.test;
  std::string text = test.kind == SeedTestKind::Binomial ? "share "
                     : test.kind == SeedTestKind::Inside ? "mean "
                                                         : "difference ";
  const std::string interval = interval_text(sentence);
  text += format("%.3g, ", test.shown) +
          (interval == "–" ? "no spread to make an interval of"
                           : confidence_text(sentence.level) + " interval " + interval) +
          format(", p = %.2g, by Holm %.2g (%s)", test.p, sentence.adjusted_p, kind_text(test.kind));
  if (test.other)
    text += format("; %s: %.3g, p = %.2g", kind_text(test.other->kind), test.other->effect, test.other->p);
  return text;
}

std::string sentence_markdown(const ClaimReport& report, std::size_t index) {
  const Sentence& sentence = report.sentences[index];
  std::string text = "- **" + report.id(index) + "** " + sentence.text + ": " + sentence.found;
  if (sentence.test) text += "; " + test_text(sentence);
  return text + ".\n";
}

// The row of a sentence in the table at the top.
std::string verdict_row(const ClaimReport& report, std::size_t index) {
  const Sentence& sentence = report.sentences[index];
  std::string row = "| " + report.id(index) + " | " + sentence.text + " | " + verdict_text(sentence.verdict) + " | ";
  if (!sentence.test) return row + sentence.found + " | – | – | – | – |\n";
  const std::string interval = interval_text(sentence);
  row += format("%.3g", sentence.test->shown) + " | " + interval +
         (interval == "–" ? "" : " at " + confidence_text(sentence.level)) + " | " +
         format("%.2g", sentence.adjusted_p) + " | " + detectable_text(sentence) + " | " + seeds_text(*sentence.test) +
         " |\n";
  return row;
}

// How many sentences were judged together, and in which ways.
std::string family_text(const ClaimReport& report) {
  std::int64_t tested = 0, paired = 0, welch = 0, exact = 0;
  for (const Sentence& sentence : report.sentences) {
    if (!sentence.test) {
      ++exact;
      continue;
    }
    ++tested;
    paired += sentence.test->kind == SeedTestKind::Paired ? 1 : 0;
    welch += sentence.test->kind == SeedTestKind::Welch ? 1 : 0;
  }
  if (tested == 0) return "";
  std::string text = format("%lld sentences were tested together: the smallest p is held against %.2g.",
                            static_cast<long long>(tested), kFamilyError / static_cast<double>(tested));
  if (paired > 0)
    text += format(" %lld compare models whose seeds share data order and all initial weights (paired).",
                   static_cast<long long>(paired));
  if (welch > 0)
    text += format(" %lld compare models whose seeds share the data order at most, not all initial weights (Welch).",
                   static_cast<long long>(welch));
  if (exact > 0) text += format(" %lld leave nothing to chance, or too little to test.", static_cast<long long>(exact));
  return text + "\n\n";
}

nlohmann::ordered_json test_json(const Sentence& sentence) {
  if (!sentence.test) return {};
  const SeedTest& test = *sentence.test;
  const SeedTest::Interval interval = test.interval(sentence.level);
  nlohmann::ordered_json json = {{"kind", kind_text(test.kind)},
                                 {"count", test.count},
                                 {"other_count", test.other_count},
                                 {"effect", number_json(test.shown)},
                                 {"level", sentence.level},
                                 {"interval", {number_json(interval.low), number_json(interval.high)}},
                                 {"p", number_json(test.p)},
                                 {"p_holm", number_json(sentence.adjusted_p)},
                                 {"detectable", number_json(test.detectable(sentence.level))}};
  if (test.other)
    json["other_way"] = {{"kind", kind_text(test.other->kind)},
                         {"effect", number_json(test.other->effect)},
                         {"p", number_json(test.other->p)}};
  return json;
}

}  // namespace

std::string table_markdown(const ClaimTable& table) {
  std::string text = table.caption + "\n\n|";
  for (const std::string& column : table.columns) text += " " + column + " |";
  text += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += i == 0 ? "---|" : "---:|";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      text += " " + (i < row.size() ? cell_text(row[i]) : "") + " |";
    text += "\n";
  }
  return text + "\n";
}

std::string claim_markdown(const ClaimReport& report) {
  std::string text = format("## %d. %s\n\n", report.number, report.title.c_str());
  text += "> " + report.claim + "\n\n";
  for (const ClaimTable& table : report.tables) text += table_markdown(table);
  for (const auto& [verdict, heading] : kHeadings) {
    std::string sentences;
    for (std::size_t i = 0; i < report.sentences.size(); ++i)
      if (report.sentences[i].verdict == verdict) sentences += sentence_markdown(report, i);
    if (!sentences.empty()) text += "**" + std::string(heading) + "**\n\n" + sentences + "\n";
  }
  text += family_text(report);
  if (!report.remarks.empty()) text += report.remarks + "\n\n";
  return text;
}

nlohmann::ordered_json claim_json(const ClaimReport& report) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array(), sentences = nlohmann::ordered_json::array();
  for (const ClaimTable& table : report.tables) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
      nlohmann::ordered_json cells = nlohmann::ordered_json::array();
      for (const Cell& cell : row) cells.push_back(cell_json(cell));
      rows.push_back(cells);
    }
    tables.push_back({{"caption", table.caption}, {"columns", table.columns}, {"rows", rows}});
  }
  for (std::size_t i = 0; i < report.sentences.size(); ++i) {
    const Sentence& sentence = report.sentences[i];
    sentences.push_back({{"id", report.id(i)},
                         {"sentence", sentence.text},
                         {"verdict", verdict_text(sentence.verdict)},
                         {"found", sentence.found},
                         {"test", test_json(sentence)}});
  }
  return {{"number", report.number}, {"title", report.title}, {"claim", report.claim},
          {"sentences", sentences},  {"tables", tables},      {"remarks", report.remarks}};
}

std::string report_markdown(const ReportFacts& facts, const std::vector<ClaimReport>& claims,
                            const std::vector<ClaimTable>& models) {
  std::string text = "# What these models show of the claims about differential attention\n\n";
  text += facts.program + " (" + facts.git_commit + "), " + facts.created_utc + ", " + facts.machine + "; `" +
          facts.command_line + "`\n\n";
  text +=
      "Every number is measured by this program, and verdicts follow from the numbers, sentence by sentence. The models are tiny, and what "
      "they show is said of them alone.\n\n"
      "How it is decided. A sentence about seeds is tested, two-sided, and all tested sentences of a claim together err with a "
      "probability of 5 % at most (Holm). Models whose seeds share the order of the data and every initial weight are compared in pairs "
      "(Student's t on the differences: DIFF V2 and its ablations, which have the same tensors); others by Welch's t (softmax, V1 and V2 "
      "share the data of a seed, but not all weights). Both ways are computed, and where they do not agree a sentence is undecided. "
      "Whether something is so of most seeds is an exact binomial test. The interval is of the effect over seeds, at the level that Holm "
      "held the sentence against: it leaves out no effect (0, or one half of the seeds) exactly where the way of comparing it decides. "
      "*80 % sees* is the least effect that a test at that level, with the errors that were found, would have seen with a probability of "
      "80 %: what is undecided may well be smaller than this. One seed decides nothing. Sentences without a test are about numbers in "
      "which there is no chance.\n\n";
  text +=
      "| | sentence | verdict | effect | interval | p (Holm) | 80 % sees | seeds |\n|---|---|---|---:|---:|---:|---:|---:|\n";
  for (const ClaimReport& claim : claims)
    for (std::size_t i = 0; i < claim.sentences.size(); ++i) text += verdict_row(claim, i);
  text += "\n";
  for (const ClaimReport& claim : claims) text += claim_markdown(claim);
  if (!models.empty()) text += "## The models\n\n";
  for (const ClaimTable& table : models) text += table_markdown(table);
  return text;
}

}  // namespace headroom
