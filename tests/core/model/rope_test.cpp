// Rotary frequencies of every scaling: goldens of the configs of Llama 3 and gpt-oss, computed in double from the
// formulas of core/model/ARCHITECTURES.md#scalings, and transformers' own numbers for configs in its own spelling, bit
// for bit in float32.
#include "core/model/rope.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/model/rope_config.h"
#include "tests/core/model/rope_table.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct Golden {
  std::size_t index;
  double inv_freq;
};

// The goldens are printed with 10 digits.
constexpr double kPrinted = 1e-9;

void check_goldens(const RopeSpec& rope, const std::vector<Golden>& goldens) {
  const RopeFrequencies<double> found = rope_frequencies(rope, 16);
  CATCH_REQUIRE(found.inv_freq.size() == static_cast<std::size_t>(rope.rotary_dim / 2));
  for (const Golden& golden : goldens) {
    CATCH_INFO("i = " << golden.index << ": " << found.inv_freq[golden.index] << ", expected " << golden.inv_freq);
    CATCH_CHECK(std::abs(found.inv_freq[golden.index] / golden.inv_freq - 1.0) < kPrinted);
  }
}

Result<RopeSpec> read(const nlohmann::json& json, std::int64_t rotary_dim, std::int64_t max_positions) {
  ConfigReader config(json);
  return read_rope(config, {}, rotary_dim, max_positions);
}

// The older spelling (rope_theta, rope_scaling) and that of transformers ≥ 5 (rope_parameters).
std::vector<nlohmann::json> spellings(double theta, const nlohmann::json& scaling) {
  nlohmann::json parameters = scaling.is_null() ? nlohmann::json{{"rope_type", "default"}} : scaling;
  parameters["rope_theta"] = theta;
  std::vector<nlohmann::json> result = {{{"rope_theta", theta}, {"rope_scaling", scaling}},
                                        {{"rope_parameters", parameters}}};
  if (scaling.contains("rope_type")) {
    nlohmann::json older = scaling;
    older["type"] = older["rope_type"];
    older.erase("rope_type");
    result.push_back({{"rope_theta", theta}, {"rope_scaling", older}});
  }
  return result;
}

}  // namespace

CATCH_TEST_CASE("rope: llama3 goldens of Llama-3.2-1B and Llama-3.1-8B") {
  const nlohmann::json scaling = {{"rope_type", "llama3"},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 8192}};
  nlohmann::json small = {{"rope_theta", 5e5}, {"rope_scaling", scaling}};
  small["rope_scaling"]["factor"] = 32.0;
  const auto of_1b = read(small, 64, 131072);
  CATCH_REQUIRE(of_1b.has_value());
  check_goldens(*of_1b, {{0, 1.0},
                         {1, 6.636012377e-01},
                         {8, 3.760603093e-02},
                         {13, 4.839421346e-03},
                         {14, 3.211445995e-03},
                         {15, 1.290547928e-03},
                         {16, 4.295567966e-04},
                         {17, 9.708287803e-05},
                         {18, 1.946163818e-05},
                         {19, 1.291476719e-05},
                         {31, 9.418306725e-08}});
  CATCH_CHECK(rope_frequencies(*of_1b, 16).attention_factor == 1.0);

  nlohmann::json large = small;
  large["rope_scaling"]["factor"] = 8.0;
  const auto of_8b = read(large, 128, 131072);
  CATCH_REQUIRE(of_8b.has_value());
  check_goldens(*of_8b, {{1, 8.146172339e-01},
                         {28, 3.211445995e-03},
                         {29, 2.166570764e-03},
                         {30, 1.371893568e-03},
                         {34, 1.785078128e-04},
                         {35, 9.556212354e-05},
                         {36, 7.784655274e-05},
                         {63, 3.068925989e-07}});
}

CATCH_TEST_CASE("rope: YaRN goldens of gpt-oss, with and without truncation") {
  nlohmann::json json = {{"rope_theta", 150000.0},
                         {"rope_scaling",
                          {{"rope_type", "yarn"},
                           {"factor", 32.0},
                           {"beta_fast", 32.0},
                           {"beta_slow", 1.0},
                           {"original_max_position_embeddings", 4096},
                           {"truncate", false}}}};
  const auto exact = read(json, 64, 131072);
  CATCH_REQUIRE(exact.has_value());
  check_goldens(*exact, {{0, 1.0},
                         {8, 5.081327482e-02},
                         {9, 3.170569618e-02},
                         {12, 6.794959490e-03},
                         {16, 4.564839192e-04},
                         {17, 1.293187012e-04},
                         {18, 3.830881237e-05},
                         {31, 3.023511428e-07}});
  CATCH_CHECK(std::abs(rope_frequencies(*exact, 16).attention_factor - 1.3465735903) < 5e-11);

  json["rope_scaling"].erase("truncate");
  const auto truncated = read(json, 64, 131072);
  CATCH_REQUIRE(truncated.has_value());
  check_goldens(*truncated, {{9, 3.162075228e-02}, {16, 5.809475019e-04}});
}

CATCH_TEST_CASE("rope: transformers' frequencies for every scaling, in every spelling of the config") {
  for (const RopeCase& example : kRopeCases) {
    for (const nlohmann::json& json : spellings(example.theta, nlohmann::json::parse(example.scaling))) {
      CATCH_INFO(example.name << ": " << json.dump());
      const auto rope = read(json, kRopeTableDim, example.max_positions);
      CATCH_REQUIRE(rope.has_value());
      CATCH_CHECK(rope->layout == RopeLayout::HalfSplit);
      CATCH_CHECK(rope->rotary_dim == kRopeTableDim);

      double theta = 0.0;
      const RopePowers<float> powers = [&](double wanted, std::int64_t) {
        theta = wanted;
        return std::vector<float>(example.powers.begin(), example.powers.end());
      };
      const RopeFrequencies<float> single = rope_frequencies<float>(*rope, example.length, powers);
      CATCH_CHECK(std::abs(theta / example.scaled_theta - 1.0) < 1e-14);
      CATCH_CHECK(single.inv_freq == std::vector<float>(example.inv_freq.begin(), example.inv_freq.end()));
      CATCH_CHECK(std::abs(single.attention_factor - example.attention_factor) < 1e-14);

      // In double only the rounding of float32's own steps lies between the two.
      const RopeFrequencies<double> exact = rope_frequencies(*rope, example.length);
      CATCH_CHECK(std::abs(exact.attention_factor - example.attention_factor) < 1e-14);
      for (std::size_t i = 0; i < example.inv_freq.size(); ++i)
        CATCH_CHECK(std::abs(exact.inv_freq[i] / static_cast<double>(example.inv_freq[i]) - 1.0) < 4e-6);
    }
  }
}

CATCH_TEST_CASE("rope: GGUF's table divides the frequencies") {
  const auto rope = read({{"rope_theta", 100.0}, {"rope_frequency_divisors", {1.0, 2.0, 8.0}}}, 6, 512);
  CATCH_REQUIRE(rope.has_value());
  const std::vector<double> found = rope_frequencies(*rope, 16).inv_freq;
  // 100^(−2i/6) by hand, divided.
  const double wanted[] = {1.0, 0.21544346900318834 / 2.0, 0.046415888336127774 / 8.0};
  for (std::size_t i = 0; i < 3; ++i) CATCH_CHECK(std::abs(found[i] - wanted[i]) < 1e-15);
}

CATCH_TEST_CASE("rope: rope_theta is 10000 where nobody names it, and the nested one counts") {
  CATCH_CHECK(read(nlohmann::json::object(), 4, 64)->theta == 10000.0);
  CATCH_CHECK(read({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}}, 4, 64)->theta == 5e5);
  // transformers: "Values in `rope_parameters` dict" stand above the config's own attributes.
  CATCH_CHECK(
      read({{"rope_theta", 1e4}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}}, 4, 64)->theta ==
      5e5);
}

namespace {

struct Refusal {
  const char* config;
  std::int64_t rotary_dim;
  ErrorCode code;
  const char* field;
  const char* found;
};

const Refusal kRefusals[] = {
    {R"({})", 5, ErrorCode::Corrupt, "head_dim", "5"},
    {R"({"rope_theta": 1.0})", 4, ErrorCode::Corrupt, "rope_theta", "1"},
    {R"({"rope_theta": -10000})", 4, ErrorCode::Corrupt, "rope_theta", "-10000"},
    {R"({"rope_theta": "big"})", 4, ErrorCode::Corrupt, "rope_theta", "\"big\""},
    {R"({"rope_scaling": [2.0]})", 4, ErrorCode::Corrupt, "rope_scaling", "array"},
    {R"({"rope_scaling": {"rope_type": "ntk2"}})", 4, ErrorCode::Unsupported, "rope_scaling.rope_type", "ntk2"},
    {R"({"rope_scaling": {"type": "linear"}})", 4, ErrorCode::Corrupt, "rope_scaling.factor", "nothing"},
    {R"({"rope_scaling": {"type": "linear", "factor": 0}})", 4, ErrorCode::Corrupt, "rope_scaling.factor", "0"},
    {R"({"rope_parameters": {"rope_type": "linear", "factor": -2}})", 4, ErrorCode::Corrupt, "rope_parameters.factor",
     "-2"},
    {R"({"rope_scaling": {"type": "yarn", "factor": 2, "original_max_position_embeddings": 0}})", 4, ErrorCode::Corrupt,
     "rope_scaling.original_max_position_embeddings", "0"},
    {R"({"rope_scaling": {"type": "longrope", "short_factor": [1, 1], "long_factor": [1]}})", 4, ErrorCode::Corrupt,
     "rope_scaling.short_factor, long_factor", "1"},
    {R"({"rope_scaling": {"type": "longrope", "short_factor": [1, "x"], "long_factor": [1, 1]}})", 4,
     ErrorCode::Corrupt, "rope_scaling.short_factor", "[1,\"x\"]"},
    {R"({"rope_scaling": {"type": "linear", "factor": 2, "power": 3}})", 4, ErrorCode::Unsupported,
     "rope_scaling.power", "3"},
    {R"({"rope_scaling": {"type": "linear", "factor": 2, "partial_rotary_factor": 0.5}})", 4, ErrorCode::Unsupported,
     "rope_scaling.partial_rotary_factor", "0.5"},
    {R"({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}})", 4,
     ErrorCode::Unsupported, "rope_parameters.partial_rotary_factor", "0.5"},
    {R"({"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8}}})", 4, ErrorCode::Unsupported,
     "rope_parameters.full_attention", "{\"factor\":8,\"rope_type\":\"linear\"}"},
    {R"({"rope_frequency_divisors": [1, 2, 3]})", 4, ErrorCode::Corrupt, "rope_freqs.weight", "3"},
};

}  // namespace

CATCH_TEST_CASE("rope: settings that cannot be run are refused by name") {
  for (const Refusal& refusal : kRefusals) {
    CATCH_INFO(refusal.config);
    const auto rope = read(nlohmann::json::parse(refusal.config), refusal.rotary_dim, 128);
    CATCH_CHECK_FALSE(rope.has_value());
    if (rope.has_value()) continue;
    CATCH_CHECK(rope.error().code == refusal.code);
    CATCH_CHECK(rope.error().tensor == refusal.field);
    CATCH_CHECK(rope.error().found == refusal.found);
    CATCH_CHECK_FALSE(rope.error().expected.empty());
  }
}

}  // namespace headroom::test
