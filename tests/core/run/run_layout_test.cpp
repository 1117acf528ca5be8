// The run file as it is laid out before anything is computed: the datasets of the contract, no more and no fewer, for
// every choice of what to write.
#include "core/run/run_layout.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/io/run_file.h"
#include "tests/core/measure/contract.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

RunShape small_shape() {
  RunShape shape;
  shape.length = 9;
  shape.layers = {0, 3};
  shape.heads = {1, 2, 5};
  shape.all_heads = 6;
  shape.query_blocks = 6;
  shape.kv_blocks = 2;
  shape.value_blocks = 3;
  shape.head_dim = 4;
  shape.value_dim = 5;
  shape.context_dim = 10;
  shape.value_slots = 2;
  shape.hidden_size = 4;
  shape.vocab_size = 7;
  shape.boundaries = 5;
  shape.min_row = 1;
  return shape;
}

std::unique_ptr<RunFile> laid_out(const TempFolder& folder, const RunShape& shape) {
  const std::filesystem::path path = folder.path() / "run.h5";
  auto writer = RunFileWriter::create(path, {});
  CATCH_REQUIRE(writer.has_value());
  const auto defined = define_run(**writer, shape);
  CATCH_INFO((defined ? "" : describe(defined.error())));
  CATCH_REQUIRE(defined.has_value());
  CATCH_REQUIRE((*writer)->commit().has_value());
  auto file = RunFile::open(path);
  CATCH_REQUIRE(file.has_value());
  return std::move(*file);
}

struct Layout {
  const char* name;
  void (*change)(RunShape& shape);
  std::vector<const char*> parts;
  ElementType real;
};

const std::vector<Layout> kLayouts = {
    {"default", [](RunShape&) {}, {kContractDefault, kContractLarge, kContractProgram}, ElementType::Float32},
    {"float64",
     [](RunShape& s) { s.real = ElementType::Float64; },
     {kContractDefault, kContractLarge, kContractProgram},
     ElementType::Float64},
    {"--only summary",
     [](RunShape& s) { s.summary_only = true; },
     {kContractDefault, kContractProgram},
     ElementType::Float32},
    {"--maps",
     [](RunShape& s) { s.pool_size = 3, s.pool_blocks = 3; },
     {kContractDefault, kContractLarge, kContractProgram, kContractMaps},
     ElementType::Float32},
    {"--maps --components",
     [](RunShape& s) { s.pool_size = 3, s.pool_blocks = 3, s.components = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractMaps, kContractComponents},
     ElementType::Float32},
    {"--components without maps",
     [](RunShape& s) { s.components = true; },
     {kContractDefault, kContractLarge, kContractProgram},
     ElementType::Float32},
    {"--rounding",
     [](RunShape& s) { s.rounding = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractRounding},
     ElementType::Float32},
    {"--premise",
     [](RunShape& s) { s.premise = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractPremiseSummary, kContractPremiseRows},
     ElementType::Float32},
    {"--premise --only summary",
     [](RunShape& s) { s.premise = s.summary_only = true; },
     {kContractDefault, kContractProgram, kContractPremiseSummary},
     ElementType::Float32},
    {"--exact-maps",
     [](RunShape& s) { s.exact = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractExact},
     ElementType::Float32},
    {"--hidden",
     [](RunShape& s) { s.hidden = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractHidden},
     ElementType::Float32},
    {"a model that predicts",
     [](RunShape& s) { s.predictions = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractPredictions},
     ElementType::Float32},
    {"a model that predicts, --only summary",
     [](RunShape& s) { s.predictions = s.summary_only = true; },
     {kContractDefault, kContractProgram},
     ElementType::Float32},
    {"biases by distance",
     [](RunShape& s) { s.alibi = true, s.bias_ahead = 8, s.bias_behind = 8; },
     {kContractDefault, kContractLarge, kContractProgram, kContractBiases},
     ElementType::Float32},
    {"experts",
     [](RunShape& s) { s.expert_layers = {1, 3}, s.experts = 6, s.chosen_experts = 3; },
     {kContractDefault, kContractLarge, kContractProgram, kContractRouter, kContractRouted},
     ElementType::Float32},
    {"experts, --only summary",
     [](RunShape& s) { s.expert_layers = {1, 3}, s.experts = 6, s.chosen_experts = 3, s.summary_only = true; },
     {kContractDefault, kContractProgram, kContractRouter},
     ElementType::Float32},
    {"a capture",
     [](RunShape& s) { s.calls = true; },
     {kContractDefault, kContractLarge, kContractProgram, kContractCalls},
     ElementType::Float32},
};

std::int64_t extent_of(const std::string& axis, const RunShape& shape) {
  if (axis == "layer") return 2;
  if (axis == "head") return 3;
  if (axis == "component") return 2;
  if (axis == "position" || axis == "key") return 9;
  if (axis == "quantile") return 11;
  if (axis == "bound") return 3;
  if (axis == "centring" || axis == "tail" || axis == "end") return 2;
  if (axis == "top_k") return 5;
  if (axis == "rank") return 16;
  if (axis == "kv_head" || axis == "k_block") return 2;
  if (axis == "q_block") return 6;
  if (axis == "v_block") return 3;
  if (axis == "channel") return 4;
  if (axis == "value_channel") return 5;
  if (axis == "context_channel") return 10;
  if (axis == "head_other") return 6;
  if (axis == "kind") return 9;  // q, k, v, o, lambda, sink, gate, qk_norm, head_norm
  if (axis == "value_slot") return 2;
  if (axis == "query_block" || axis == "key_block") return shape.pool_blocks;
  if (axis == "distance") return 17;
  if (axis == "expert_layer") return 2;
  if (axis == "expert") return 6;
  if (axis == "choice") return 3;
  if (axis == "layer_boundary") return 5;
  if (axis == "feature") return 4;
  if (axis == "vocab") return 7;
  if (axis == "top") return 3;
  if (axis == "field") return 4;
  if (axis == "likely") return 8;
  if (axis == "context_rms_relative_bin") return log10_rho_bins().bins;
  if (axis == "lambda_bin") return lambda_bins().bins;
  if (axis == "logit_bin") return logit_bins().bins;
  if (axis == "attention_weight_bin") return log10_weight_bins().bins;
  return -1;
}

}  // namespace

CATCH_TEST_CASE("run layout: exactly the datasets that are promised, with axes, types, units, names and definitions") {
  for (const Layout& layout : kLayouts) {
    CATCH_INFO(layout.name);
    const TempFolder folder;
    RunShape shape = small_shape();
    layout.change(shape);
    const std::unique_ptr<RunFile> file = laid_out(folder, shape);
    std::set<std::string> wanted;
    for (const char* part : layout.parts) {
      for (const ContractEntry& entry : contract({part})) {
        CATCH_INFO(entry.path);
        wanted.insert(entry.path);
        const DatasetInfo* info = file->find(entry.path);
        CATCH_REQUIRE(info != nullptr);
        CATCH_CHECK(info->axes == entry.axes);
        CATCH_CHECK(info->type == (entry.type == ElementType::Float32 ? layout.real : entry.type));
        CATCH_CHECK((info->units == "1" || info->units == "nat" || info->units == "token"));
        CATCH_CHECK_FALSE(info->long_name.empty());
        CATCH_CHECK_FALSE(info->definition.empty());
        std::vector<std::int64_t> extents_wanted;
        for (const std::string& axis : entry.axes) extents_wanted.push_back(extent_of(axis, shape));
        CATCH_CHECK(info->shape == extents_wanted);
      }
    }
    for (const DatasetInfo& info : file->datasets()) {
      CATCH_INFO(info.path);
      CATCH_CHECK(wanted.contains(info.path));
    }
    CATCH_CHECK(file->datasets().size() == wanted.size());
  }
}

CATCH_TEST_CASE("run layout: entropies are in nats, everything that is a share or a logit in 1") {
  const TempFolder folder;
  const std::unique_ptr<RunFile> file = laid_out(folder, small_shape());
  for (const char* path : {"entropy_mean", "rows/entropy", "rows/lse"}) CATCH_CHECK(file->find(path)->units == "nat");
  for (const char* path : {"sink_score", "entropy_normalized_mean", "logit_max", "effective_keys_mean"})
    CATCH_CHECK(file->find(path)->units == "1");
}

CATCH_TEST_CASE("run layout: the shape that follows from model and request") {
  ModelSpec model;
  model.num_heads = 4;
  model.hidden_size = 8;
  model.vocab_size = 11;
  for (const std::int64_t key_blocks : {2, 6}) {
    model.blocks.emplace_back();
    model.blocks.back().attention.num_query_blocks = 8;
    model.blocks.back().attention.num_key_blocks = key_blocks;
    model.blocks.back().attention.num_value_blocks = 12 / key_blocks;
    model.blocks.back().attention.head_dim = 5;
    model.blocks.back().attention.value_dim = key_blocks;
    model.blocks.back().attention.heads.resize(1);
    model.blocks.back().attention.heads[0].first.value_blocks = {0, 1};
    model.blocks.back().attention.heads.resize(4);
    model.blocks.back().attention.heads[1].first.value_blocks = {0, 1};
  }
  AnalysisRequest request;
  request.layers = {1};
  request.heads = {0, 3};
  struct Length {
    std::size_t tokens;
    std::int64_t pool_blocks, min_row, pool_size, blocks;
  };
  // min_row: 64, and 1 for n < 128. Pools: B = ⌈n/P⌉, ⌈n/B⌉ of them.
  for (const Length& length :
       {Length{1, 0, 1, 0, 0}, Length{127, 0, 1, 0, 0}, Length{128, 0, 64, 0, 0}, Length{100, 8, 1, 13, 8},
        Length{10, 64, 1, 1, 10}, Length{10, 4, 1, 3, 4}, Length{9, 5, 1, 2, 5}, Length{9, 4, 1, 3, 3}}) {
    CATCH_INFO(length.tokens << " tokens in " << length.pool_blocks << " blocks");
    request.prompt.ids.assign(length.tokens, 0);
    request.pool_blocks = length.pool_blocks;
    const RunShape shape = make_shape(model, request);
    CATCH_CHECK(shape.length == static_cast<std::int64_t>(length.tokens));
    CATCH_CHECK(shape.min_row == length.min_row);
    CATCH_CHECK(shape.pool_size == length.pool_size);
    CATCH_CHECK(shape.pool_blocks == length.blocks);
    CATCH_CHECK(shape.layers == std::vector<std::int64_t>{1});
    CATCH_CHECK(shape.heads == std::vector<std::int64_t>{0, 3});
    CATCH_CHECK(shape.all_heads == 4);
    CATCH_CHECK(shape.query_blocks == 8);
    CATCH_CHECK(shape.kv_blocks == 6);
    CATCH_CHECK(shape.value_blocks == 6);
    CATCH_CHECK(shape.head_dim == 5);
    CATCH_CHECK(shape.value_dim == 6);
    CATCH_CHECK(shape.context_dim == 12);
    CATCH_CHECK(shape.value_slots == 2);
    CATCH_CHECK(shape.boundaries == 3);
    CATCH_CHECK(shape.real == ElementType::Float32);
  }
  CATCH_CHECK(make_shape(model, request).expert_layers.empty());
  for (BlockSpec& block : model.blocks) block.experts.experts.resize(5), block.experts.router.chosen = 2;
  model.blocks[0].experts.experts.resize(7);
  CATCH_CHECK(make_shape(model, request).expert_layers == std::vector<std::int64_t>{0, 1});
  CATCH_CHECK(make_shape(model, request).experts == 7);
  CATCH_CHECK(make_shape(model, request).chosen_experts == 2);
  // The run ends with layer 0's attention.
  request.layers = {0};
  CATCH_CHECK(make_shape(model, request).expert_layers.empty());
  // Next tokens are of runs that reach the logits of a causal model that has any.
  model.lm_head.weight.tensor = "lm_head.weight";
  model.lm_head.weight.stored_shape = {11, 8};
  CATCH_CHECK_FALSE(make_shape(model, request).predictions);
  request.layers = {1};
  CATCH_CHECK(make_shape(model, request).predictions);
  model.lm_head = {};
  CATCH_CHECK_FALSE(make_shape(model, request).predictions);
  request.dtype = ComputeDtype::Float64;
  CATCH_CHECK(make_shape(model, request).real == ElementType::Float64);
  request.dtype = ComputeDtype::BFloat16;
  CATCH_CHECK(make_shape(model, request).real == ElementType::Float32);
}

CATCH_TEST_CASE("run layout: the account of parameters") {
  BlockSpec block;
  const auto weight = [](const char* name, std::vector<std::int64_t> shape) {
    WeightRef ref;
    ref.tensor = name;
    ref.stored_shape = std::move(shape);
    return ref;
  };
  block.attention_branch.before.weight = weight("n", {8});
  block.mlp.up.weight = weight("u", {12, 8});
  AttentionSpec& attention = block.attention;
  attention.q = {weight("q", {16, 8}), weight("qb", {16})};
  // A fused weight counts by the rows that are used.
  attention.k.weight = weight("kv", {8, 8});
  attention.k.weight.row_count = 4;
  attention.v.weight = weight("v", {8, 24});
  attention.v.weight.transposed = true;
  attention.v.weight.row_begin = 16;
  attention.v.weight.row_count = 8;
  attention.o.weight = weight("o", {8, 16});
  attention.lambda_q1 = attention.lambda_k1 = attention.lambda_q2 = attention.lambda_k2 = weight("l", {4});
  attention.sink_logits = weight("s", {3});
  attention.gate_projection.weight = weight("g", {4, 8});
  attention.q_norm.weight = attention.k_norm.weight = weight("qn", {4});
  attention.head_norm.weight = weight("hn", {6});
  const auto counts = attention_parameters(block);
  const std::map<std::string, std::int64_t, std::less<>> wanted = {{"q", 144},   {"k", 32},      {"v", 64},
                                                                   {"o", 128},   {"lambda", 16}, {"sink", 3},
                                                                   {"gate", 32}, {"qk_norm", 8}, {"head_norm", 6}};
  CATCH_CHECK(counts == wanted);
  CATCH_CHECK(std::set<std::string>(parameter_kinds().begin(), parameter_kinds().end()).size() == wanted.size());
  for (const std::string& kind : parameter_kinds()) CATCH_CHECK(wanted.contains(kind));
}

}  // namespace headroom::test
