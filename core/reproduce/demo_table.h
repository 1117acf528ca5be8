// The numbers of every shipped model: the table of assets/README.md, and statistics.json, which says what each model
// gave when it was made. One thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/reproduce/claim.h"
#include "core/reproduce/study.h"

namespace headroom {

// What is kept of a model, by name, over its heads and the evaluation sequences.
struct DemoNumber {
  const char* name;   // in statistics.json
  const char* shown;  // column of a table; nullptr: only in statistics.json
  int table;          // 0: losses, sinks, logits; 1: context RMS and differences
  double (*value)(const Evaluation& evaluation);
};
[[nodiscard]] std::span<const DemoNumber> demo_numbers();

// {RECIPE/VARIANT_seedN: {name: number}} for every model of the recipes.
[[nodiscard]] Result<nlohmann::ordered_json> demo_statistics(Study& study, const std::vector<std::string>& recipes);

// Two tables for each recipe: a row for each variant, mean ± standard deviation over seeds.
[[nodiscard]] Result<std::vector<ClaimTable>> demo_tables(Study& study, const std::vector<std::string>& recipes);

}  // namespace headroom
