// Patterns of modules, and a weight of low rank read whole, in parts and row by row. Whole models over their bases:
// tests/oracle/test_adapters.py.
#include "core/model/adapter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/model/decoder_parts.h"
#include "tests/core/model/model_files.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

bool means(const std::string& key, const std::string& module) {
  const auto found = pattern_means(key, module);
  return found.has_value() && *found;
}

// W [6, 4] = 0, 1, 2 … with A [2, 4], B [6, 2] and α = 3; an embedding [5, 3] with A [2, 5], B [3, 2].
Result<ModelSource> open_adapter(const TempFolder& folder) {
  const std::filesystem::path base = folder.path() / "base", adapter = folder.path() / "adapter";
  std::filesystem::create_directories(base);
  std::filesystem::create_directories(adapter);
  folder.write("base/config.json", R"({"model_type": "llama"})");
  folder.write("base/model.safetensors", safetensors_of({{"x.weight", {6, 4}}, {"e.weight", {5, 3}}}));
  folder.write("adapter/adapter_config.json",
               R"({"peft_type": "LORA", "base_model_name_or_path": "../base", "r": 2, "lora_alpha": 3})");
  folder.write("adapter/adapter_model.safetensors", safetensors_of({{"base_model.model.x.lora_A.weight", {2, 4}},
                                                                    {"base_model.model.x.lora_B.weight", {6, 2}},
                                                                    {"base_model.model.e.lora_embedding_A", {2, 5}},
                                                                    {"base_model.model.e.lora_embedding_B", {3, 2}}}));
  HEADROOM_TRY(std::shared_ptr<const Checkpoint> checkpoint, Checkpoint::open(adapter));
  return ModelSource::create(std::move(checkpoint));
}

// Factors hold 0, 1, 2 … as well.
double changed(std::int64_t row, std::int64_t column) {
  double sum = 0.0;
  for (int k = 0; k < 2; ++k) sum += static_cast<double>((2 * row + k) * (4 * k + column));
  return static_cast<double>(4 * row + column) + 1.5 * sum;
}

double embedded(std::int64_t token, std::int64_t channel) {
  double sum = 0.0;
  for (int k = 0; k < 2; ++k) sum += static_cast<double>((5 * k + token) * (2 * channel + k));
  return static_cast<double>(3 * token + channel) + 1.5 * sum;
}

}  // namespace

CATCH_TEST_CASE("adapters: a pattern means the modules whose names end with it") {
  const std::string module = "model.layers.12.self_attn.q_proj";
  for (const char* key :
       {"q_proj", "self_attn.q_proj", "model.layers.12.self_attn.q_proj", R"(layers\.12\.self_attn\.q_proj)",
        "^model.layers.12.self_attn.q_proj$", ".*q_proj", R"(layers.\d+.self_attn.q_proj)", "q_pro."})
    CATCH_CHECK(means(key, module));
  for (const char* key : {"proj", "k_proj", "self_attn", "^self_attn.q_proj", "layers.1.self_attn.q_proj",
                          R"(layers\.\d\.self_attn\.q_proj)"})
    CATCH_CHECK_FALSE(means(key, module));
  for (const char* key : {"(q|k)_proj", "*q_proj", "q_proj**", "q_proj\\", "q{2}", "[q]_proj", "q?_proj", R"(\w+)"})
    CATCH_CHECK(pattern_means(key, module).error().code == ErrorCode::Unsupported);
  // No pattern takes longer than its length times that of the name.
  std::string stars;
  for (int i = 0; i < 2000; ++i) stars += "a*";
  CATCH_CHECK_FALSE(means(stars + "b", std::string(2000, 'a')));
}

CATCH_TEST_CASE("adapters: W + s B A is read as a matrix is, whole, in groups of rows, turned and row by row") {
  const TempFolder folder;
  const auto source = open_adapter(folder);
  CATCH_REQUIRE(source.has_value());
  WeightRef whole = matrix("x.weight", 6, 4);
  std::vector<double> values(24);
  CATCH_REQUIRE(source->read(whole, std::span<double>(values)).has_value());
  for (std::int64_t i = 0; i < 24; ++i) CATCH_CHECK(values[static_cast<std::size_t>(i)] == changed(i / 4, i % 4));

  WeightRef groups = whole;  // rows 1, 2, 4, 5
  groups.row_begin = 1, groups.row_count = 4, groups.row_group = 2, groups.row_stride = 3;
  std::vector<float> some(16);
  CATCH_REQUIRE(source->read(groups, std::span<float>(some)).has_value());
  const std::array<std::int64_t, 4> rows = {1, 2, 4, 5};
  for (std::size_t i = 0; i < 16; ++i)
    CATCH_CHECK(static_cast<double>(some[i]) == changed(rows[i / 4], static_cast<std::int64_t>(i % 4)));
  std::vector<float> row(4);
  CATCH_REQUIRE(source->read_row(groups, 2, std::span<float>(row)).has_value());
  for (std::size_t i = 0; i < 4; ++i)
    CATCH_CHECK(static_cast<double>(row[i]) == changed(4, static_cast<std::int64_t>(i)));
}

CATCH_TEST_CASE("adapters: an embedding gets the transpose, token by token and whole") {
  const TempFolder folder;
  const auto source = open_adapter(folder);
  CATCH_REQUIRE(source.has_value());
  const WeightRef embedding = matrix("e.weight", 5, 3);
  std::vector<double> values(15), row(3);
  CATCH_REQUIRE(source->read(embedding, std::span<double>(values)).has_value());
  for (std::int64_t token = 0; token < 5; ++token) {
    CATCH_REQUIRE(source->read_row(embedding, token, std::span<double>(row)).has_value());
    for (std::int64_t channel = 0; channel < 3; ++channel) {
      CATCH_CHECK(values[static_cast<std::size_t>(3 * token + channel)] == embedded(token, channel));
      CATCH_CHECK(row[static_cast<std::size_t>(channel)] == embedded(token, channel));
    }
  }
}

}  // namespace headroom::test
