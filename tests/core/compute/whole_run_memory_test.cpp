// No backend but the reference ever holds n × n values: during a whole analysis no single allocation has n²/4 bytes, a
// sixteenth of one float32 map.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/ThreadLocalDebugInfo.h>

#include <nlohmann/json.hpp>

#include "core/run/analysis.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/core/compute/counted_memory.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// Long enough that what grows with n alone, such as the scores of two strips of a pair that the cpu backend keeps
// (768 bytes a key), stays below n²/4 = 6.25 MB.
constexpr std::int64_t kLength = 5000;

// One DIFF V2 layer of one head without MLP, random weights.
void write_model(const TempFolder& folder) {
  folder.write("config.json", R"({"model_type": "headroom", "vocab_size": 16, "hidden_size": 32, "num_hidden_layers": 1,
      "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 0,
      "max_position_embeddings": 8192, "attention": {"kind": "diff_v2"}})");
  const std::pair<std::string, std::vector<std::int64_t>> tensors[] = {
      {"model.embed_tokens.weight", {16, 32}},
      {"model.norm.weight", {32}},
      {"lm_head.weight", {16, 32}},
      {"model.layers.0.input_layernorm.weight", {32}},
      {"model.layers.0.self_attn.q_proj.weight", {32, 32}},
      {"model.layers.0.self_attn.k_proj.weight", {16, 32}},
      {"model.layers.0.self_attn.v_proj.weight", {16, 32}},
      {"model.layers.0.self_attn.o_proj.weight", {32, 16}},
      {"model.layers.0.self_attn.lambda_proj.weight", {1, 32}},
  };
  Random random(5);
  nlohmann::ordered_json header;
  std::string data;
  for (const auto& [name, shape] : tensors) {
    const std::size_t begin = data.size();
    const std::int64_t count = shape.front() * (shape.size() > 1 ? shape.back() : 1);
    for (const double value : random.normals(count, 0.3)) append(data, static_cast<float>(value));
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  folder.write("model.safetensors", safetensors(header.dump(), data));
}

}  // namespace

CATCH_TEST_CASE("whole run: no allocation as large as a part of an n × n map, whatever the backend") {
  const TempFolder folder;
  write_model(folder);
  const auto model = open_model(folder.path(), {});
  CATCH_REQUIRE(model.has_value());
  auto library = load_compute();
  CATCH_REQUIRE(library.has_value());
  AnalysisRequest request;
  request.model = &*model;
  for (std::int64_t i = 0; i < kLength; ++i) request.prompt.ids.push_back(static_cast<std::int32_t>(i * i % 15));
  request.output = folder.path() / "run.h5";
  request.force = true;
  request.pool_blocks = 32;
  request.components = true;
  struct Way {
    const char* backend;
    ComputeDtype dtype;
  };
  for (const Way way : {Way{"cpu", ComputeDtype::Float32}, Way{"cpu", ComputeDtype::BFloat16},
                        Way{"blocked", ComputeDtype::Float32}, Way{"blocked", ComputeDtype::Float64}}) {
    request.backend = way.backend;
    request.dtype = way.dtype;
    const Threads one(1);
    const c10::DebugInfoGuard tensors(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<TensorBytes>());
    counted_memory().largest = 0;
    const auto outcome = analyze(**library, request, [](double, const std::string&) {}, nullptr);
    const std::int64_t largest = counted_memory().largest;
    CATCH_INFO(way.backend << " in " << dtype_name(way.dtype) << ": at most " << largest << " bytes at once");
    CATCH_REQUIRE(outcome.has_value());
    CATCH_CHECK(outcome->attention.backend == way.backend);
    CATCH_CHECK(largest < kLength * kLength / 4);
    // The residual stream alone: the count sees tensors.
    CATCH_CHECK(largest >= kLength * 32 * 2);
  }
}

}  // namespace headroom::test
