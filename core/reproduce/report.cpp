#include "core/reproduce/report.h"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr double kMostWhole = 1e6;

// The sentences of a claim, by what they came to.
constexpr std::pair<Verdict, const char*> kHeadings[] = {{Verdict::Agrees, "May be claimed of these models:"},
                                                         {Verdict::Differs, "Contradicted by these models:"},
                                                         {Verdict::Mixed, "True of some of them only:"},
                                                         {Verdict::Undecided, "Not decided by these seeds:"}};

std::string number_text(double value) {
  if (std::isnan(value)) return "–";
  if (value == std::floor(value) && std::abs(value) < kMostWhole) return format("%.0f", value);
  return Spread{{value}}.text();
}

std::string cell_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number);
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
  std::string text = format("## %d. %s: %s\n\n", report.number, report.title.c_str(), verdict_text(report.verdict()));
  text += "> " + report.claim + "\n\n";
  for (const ClaimTable& table : report.tables) text += table_markdown(table);
  for (const auto& [verdict, heading] : kHeadings) {
    std::string sentences;
    for (const Finding& finding : report.findings)
      if (finding.verdict == verdict) sentences += "- " + finding.sentence + "\n";
    if (!sentences.empty()) text += "**" + std::string(heading) + "**\n\n" + sentences + "\n";
  }
  if (!report.remarks.empty()) text += report.remarks + "\n\n";
  return text;
}

nlohmann::ordered_json claim_json(const ClaimReport& report) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array(), findings = nlohmann::ordered_json::array();
  for (const ClaimTable& table : report.tables) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
      nlohmann::ordered_json cells = nlohmann::ordered_json::array();
      for (const Cell& cell : row) cells.push_back(cell_json(cell));
      rows.push_back(cells);
    }
    tables.push_back({{"caption", table.caption}, {"columns", table.columns}, {"rows", rows}});
  }
  for (const Finding& finding : report.findings)
    findings.push_back({{"verdict", verdict_text(finding.verdict)}, {"sentence", finding.sentence}});
  return {{"number", report.number},  {"title", report.title},
          {"claim", report.claim},    {"verdict", verdict_text(report.verdict())},
          {"findings", findings},     {"tables", tables},
          {"remarks", report.remarks}};
}

std::string report_markdown(const ReportFacts& facts, const std::vector<ClaimReport>& claims,
                            const std::vector<ClaimTable>& models) {
  std::string text = "# What these models show of the claims about differential attention\n\n";
  text += facts.program + " (" + facts.git_commit + "), " + facts.created_utc + ", " + facts.machine + "; `" +
          facts.command_line + "`\n\n";
  text +=
      "Every number is measured by this program; verdicts follow from the numbers. That one number is smaller than another is "
      "claimed where the 95 % interval of the seeds' differences (Student's t) lies on one side of 0; that a bound holds, where it holds for "
      "every seed. A claim agrees, does not agree or is undecided where all its sentences are; otherwise it is mixed. The models are tiny, and what they show "
      "is said of them alone.\n\n";
  text += "| claim | verdict |\n|---|---|\n";
  for (const ClaimReport& claim : claims)
    text += format("| %d. %s | %s |\n", claim.number, claim.title.c_str(), verdict_text(claim.verdict()));
  text += "\n";
  for (const ClaimReport& claim : claims) text += claim_markdown(claim);
  if (!models.empty()) text += "## The models\n\n";
  for (const ClaimTable& table : models) text += table_markdown(table);
  return text;
}

}  // namespace headroom
