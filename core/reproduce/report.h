// What `headroom reproduce` writes: the report for a person (Markdown) and the same numbers as JSON. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/reproduce/claim.h"

namespace headroom {

[[nodiscard]] std::string table_markdown(const ClaimTable& table);
[[nodiscard]] std::string claim_markdown(const ClaimReport& report);
// NaN is null; a spread is {"values", "mean", "standard_deviation"}.
[[nodiscard]] nlohmann::ordered_json claim_json(const ClaimReport& report);

struct ReportFacts {
  std::string program, git_commit, command_line, created_utc, machine;
};
[[nodiscard]] std::string report_markdown(const ReportFacts& facts, const std::vector<ClaimReport>& claims,
                                          const std::vector<ClaimTable>& models);

}  // namespace headroom
