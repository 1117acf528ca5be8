// GGUF as a model: metadata and tensor names under their Hugging Face names, and the rows of Q and K, which llama files
// hold interleaved per head, in their order again (core/model/ARCHITECTURES.md#gguf).
#include "core/model/gguf_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/model/gguf_tensors.h"
#include "tests/core/model/model_files.h"
#include "tests/core/model/spec_text.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

enum ValueType : std::uint32_t { kUint32 = 4, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9 };

std::string count(std::uint32_t value) { return little_endian(value); }

// What a file is made of; tests change single entries.
struct GgufParts {
  std::map<std::string, std::pair<ValueType, std::string>> metadata = {
      {"general.architecture", {kString, gguf_string("llama")}},
      {"llama.block_count", {kUint32, count(1)}},
      {"llama.embedding_length", {kUint32, count(6)}},
      {"llama.feed_forward_length", {kUint32, count(10)}},
      {"llama.attention.head_count", {kUint32, count(2)}},
      {"llama.attention.head_count_kv", {kUint32, count(1)}},
      {"llama.attention.key_length", {kUint32, count(4)}},
      {"llama.attention.layer_norm_rms_epsilon", {kFloat32, little_endian(0.00048828125F)}},
      {"llama.context_length", {kUint32, count(64)}},
      {"llama.rope.freq_base", {kFloat32, little_endian(20000.0F)}},
      {"tokenizer.ggml.bos_token_id", {kUint32, count(3)}},
  };
  // Torch shapes; the file has them reversed.
  std::vector<TensorLine> tensors = tensor_lines(R"(token_embd.weight 7 6
      output_norm.weight 6
      output.weight 7 6
      blk.0.attn_norm.weight 6
      blk.0.attn_q.weight 8 6
      blk.0.attn_k.weight 4 6
      blk.0.attn_v.weight 4 6
      blk.0.attn_output.weight 6 8
      blk.0.ffn_norm.weight 6
      blk.0.ffn_gate.weight 10 6
      blk.0.ffn_up.weight 10 6
      blk.0.ffn_down.weight 6 10)",
                                                 1);
};

std::string gguf_of(const GgufParts& parts) {
  std::string header = gguf_header(parts.tensors.size(), parts.metadata.size());
  for (const auto& [key, value] : parts.metadata) header += gguf_entry(key, value.first, value.second);
  std::string data;
  for (const TensorLine& tensor : parts.tensors) {
    header += gguf_string(tensor.name) + count(static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent)
      append(header, static_cast<std::uint64_t>(*extent));
    header += count(0) + little_endian(static_cast<std::uint64_t>(data.size()));
    data += counting_floats(element_count(tensor));
    data.resize((data.size() + 31) / 32 * 32);
  }
  return gguf_file(header, data);
}

struct OpenedGguf {
  TempFolder folder;
  std::filesystem::path path;
  Result<ModelSource> source = Error();
  Result<ModelSpec> model = Error();

  explicit OpenedGguf(const GgufParts& parts) : path(folder.write("model.gguf", gguf_of(parts))) {
    auto checkpoint = Checkpoint::open(path);
    if (!checkpoint) throw std::runtime_error(describe(checkpoint.error()));
    source = ModelSource::create(*checkpoint);
    if (source)
      model = describe_model(*source);
    else
      model = source.error();
  }
};

// The values of the first column, which number the rows of the file (6 or 1 values each).
std::vector<double> file_rows(const ModelSource& source, const WeightRef& weight) {
  std::vector<double> values(static_cast<std::size_t>(weight.rows() * weight.columns()));
  CATCH_REQUIRE(source.read(weight, std::span<double>(values)).has_value());
  std::vector<double> rows;
  const auto columns = static_cast<std::size_t>(weight.columns());
  for (std::size_t i = 0; i < values.size(); i += columns) {
    rows.push_back(values[i] / static_cast<double>(columns));
    for (std::size_t c = 0; c < columns; ++c) CATCH_REQUIRE(values[i + c] == values[i] + static_cast<double>(c));
  }
  return rows;
}

}  // namespace

CATCH_TEST_CASE("gguf model: metadata and names make the same description as Hugging Face's folder") {
  const OpenedGguf opened{GgufParts{}};
  CATCH_INFO((opened.model ? "" : describe(opened.model.error())));
  CATCH_REQUIRE(opened.model.has_value());
  CATCH_CHECK(spec_text(*opened.model) == unindented(R"(
      llama: vocab 7, hidden 6, positions 64, heads 2, kv heads 1, final norm rms 0.000488281
      L0 norms rms 0.000488281 | rms 0.000488281; mlp gated silu 10
      softmax: d 4 4, blocks q 2 k 1 v 1, scale 0.5, rope half-split 4 theta 20000
      q0 k0 v0
      q1 k0 v0)"));
  CATCH_CHECK(opened.model->bos_token_id == 3);
  CATCH_CHECK(opened.model->warnings.empty());
  const std::pair<const char*, const char*> names[] = {
      {"model.embed_tokens.weight", "token_embd.weight"},
      {"model.norm.weight", "output_norm.weight"},
      {"lm_head.weight", "output.weight"},
      {"model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"},
      {"model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight"},
      {"model.layers.0.self_attn.k_proj.weight", "blk.0.attn_k.weight"},
      {"model.layers.0.self_attn.v_proj.weight", "blk.0.attn_v.weight"},
      {"model.layers.0.self_attn.o_proj.weight", "blk.0.attn_output.weight"},
      {"model.layers.0.post_attention_layernorm.weight", "blk.0.ffn_norm.weight"},
      {"model.layers.0.mlp.gate_proj.weight", "blk.0.ffn_gate.weight"},
      {"model.layers.0.mlp.up_proj.weight", "blk.0.ffn_up.weight"},
      {"model.layers.0.mlp.down_proj.weight", "blk.0.ffn_down.weight"},
  };
  CATCH_CHECK(opened.source->tensors().size() == std::size(names));
  for (const auto& [ours, stored] : names) {
    CATCH_INFO(ours);
    const SourceTensor* tensor = opened.source->find(ours);
    CATCH_REQUIRE(tensor != nullptr);
    CATCH_CHECK(tensor->info->name == stored);
  }
}

CATCH_TEST_CASE("gguf model: rows of Q and K are put back per head, V and O stay") {
  GgufParts parts;
  for (const char* part : {"q", "k", "v"})
    parts.tensors.push_back({std::string("blk.0.attn_") + part + ".bias", {part[0] == 'q' ? 8 : 4}});
  parts.tensors.push_back({"blk.0.attn_output.bias", {6}});
  const OpenedGguf opened(parts);
  CATCH_INFO((opened.model ? "" : describe(opened.model.error())));
  CATCH_REQUIRE(opened.model.has_value());
  const AttentionSpec& attention = opened.model->blocks.front().attention;
  // Per head of d = 4 the converter stores new[2i] = old[i], new[2i+1] = old[i+2]: old = new[0], new[2], new[1],
  // new[3].
  CATCH_CHECK(file_rows(*opened.source, attention.q.weight) == std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7});
  CATCH_CHECK(file_rows(*opened.source, attention.k.weight) == std::vector<double>{0, 2, 1, 3});
  CATCH_CHECK(file_rows(*opened.source, attention.v.weight) == std::vector<double>{0, 1, 2, 3});
  CATCH_CHECK(file_rows(*opened.source, attention.o.weight) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CATCH_CHECK(file_rows(*opened.source, attention.q.bias) == std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7});
  CATCH_CHECK(file_rows(*opened.source, attention.v.bias) == std::vector<double>{0, 1, 2, 3});
}

CATCH_TEST_CASE(
    "gguf model: without output.weight the embedding is the head, and without head_count_kv there are no groups") {
  GgufParts parts;
  std::erase_if(parts.tensors, [](const TensorLine& tensor) { return tensor.name == "output.weight"; });
  parts.metadata.erase("llama.attention.head_count_kv");
  for (TensorLine& tensor : parts.tensors)
    if (tensor.name == "blk.0.attn_k.weight" || tensor.name == "blk.0.attn_v.weight") tensor.shape[0] = 8;
  const OpenedGguf opened(parts);
  CATCH_REQUIRE(opened.model.has_value());
  CATCH_CHECK(opened.model->tied);
  CATCH_CHECK(opened.model->num_kv_heads == 2);
  CATCH_CHECK(file_rows(*opened.source, opened.model->blocks.front().attention.k.weight) ==
              std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7});
}

CATCH_TEST_CASE("gguf model: rope scaling and the table of divisors") {
  GgufParts parts;
  parts.metadata["llama.rope.scaling.type"] = {kString, gguf_string("linear")};
  parts.metadata["llama.rope.scaling.factor"] = {kFloat32, little_endian(4.0F)};
  const OpenedGguf linear(parts);
  CATCH_REQUIRE(linear.model.has_value());
  const RopeSpec& rope = linear.model->blocks.front().attention.rope;
  CATCH_CHECK(rope.scaling.kind == RopeScalingKind::Linear);
  CATCH_CHECK(rope.scaling.factor == 4.0);

  parts.metadata["llama.rope.scaling.type"] = {kString, gguf_string("yarn")};
  parts.metadata["llama.rope.scaling.yarn_beta_fast"] = {kFloat32, little_endian(16.0F)};
  parts.metadata["llama.rope.scaling.yarn_beta_slow"] = {kFloat32, little_endian(2.0F)};
  parts.metadata["llama.rope.scaling.yarn_ext_factor"] = {kFloat32, little_endian(1.0F)};
  const OpenedGguf yarn(parts);
  CATCH_REQUIRE(yarn.model.has_value());
  CATCH_CHECK(yarn.model->blocks.front().attention.rope.scaling.beta_fast == 16.0);
  CATCH_CHECK(yarn.model->blocks.front().attention.rope.scaling.beta_slow == 2.0);
  for (const char* key : {"yarn_log_multiplier", "yarn_ext_factor"}) {
    GgufParts blended = parts;
    blended.metadata[std::string("llama.rope.scaling.") + key] = {kFloat32, little_endian(0.5F)};
    const OpenedGguf refused(blended);
    CATCH_REQUIRE_FALSE(refused.model.has_value());
    CATCH_CHECK(refused.model.error().code == ErrorCode::Unsupported);
    CATCH_CHECK(refused.model.error().tensor == std::string("rope_scaling.") + key);
  }

  GgufParts divided;
  divided.metadata["llama.rope.scaling.type"] = {kString, gguf_string("none")};
  divided.tensors.push_back({"rope_freqs.weight", {2}});  // holds 0 and 1
  const OpenedGguf table(divided);
  CATCH_REQUIRE(table.source.has_value());
  CATCH_CHECK(table.source->config().at("rope_frequency_divisors") == nlohmann::json({0.0, 1.0}));
  CATCH_REQUIRE_FALSE(table.model.has_value());
  CATCH_CHECK(table.model.error().message == "rope_freqs divides a frequency by a useless number");
  divided.tensors.back().shape = {3};
  const OpenedGguf wrong(divided);
  CATCH_REQUIRE_FALSE(wrong.model.has_value());
  CATCH_CHECK(wrong.model.error().tensor == "rope_freqs.weight");
}

CATCH_TEST_CASE("gguf model: what has no translator or lacks a key is refused by name") {
  GgufParts other;
  other.metadata["general.architecture"] = {kString, gguf_string("mamba")};
  const OpenedGguf mamba(other);
  CATCH_REQUIRE_FALSE(mamba.model.has_value());
  CATCH_CHECK(mamba.model.error().code == ErrorCode::Unsupported);
  CATCH_CHECK(mamba.model.error().message == "no head view for GGUF architecture 'mamba'");
  CATCH_CHECK(mamba.model.error().file == mamba.path);
  CATCH_CHECK(mamba.model.error().hint == "headroom families lists them");
  other.metadata["general.architecture"] = {kString, gguf_string("lama")};
  const OpenedGguf misspelt(other);
  CATCH_REQUIRE_FALSE(misspelt.model.has_value());
  CATCH_CHECK(misspelt.model.error().expected.ends_with("such as llama"));

  for (const char* key :
       {"general.architecture", "llama.block_count", "llama.embedding_length", "llama.feed_forward_length",
        "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon", "llama.context_length"}) {
    CATCH_INFO(key);
    GgufParts parts;
    parts.metadata.erase(key);
    const OpenedGguf opened(parts);
    CATCH_CHECK_FALSE(opened.model.has_value());
    if (opened.model) continue;
    CATCH_CHECK(opened.model.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(opened.model.error().tensor == key);
    CATCH_CHECK(opened.model.error().file == opened.path);
  }
}

CATCH_TEST_CASE("gguf model: keys that change the mathematics are refused, and neutral values are not") {
  const std::string four = count(4), none = count(0);
  GgufParts neutral;
  neutral.metadata["llama.rope.dimension_count"] = {kUint32, four};
  neutral.metadata["llama.expert_count"] = {kUint32, none};
  neutral.metadata["llama.attention.value_length"] = {kUint32, four};
  const OpenedGguf plain(neutral);
  CATCH_INFO((plain.model ? "" : describe(plain.model.error())));
  CATCH_REQUIRE(plain.model.has_value());
  const std::pair<const char*, std::pair<ValueType, std::string>> changes[] = {
      {"llama.rope.dimension_count", {kUint32, count(2)}},
      {"llama.attention.sliding_window", {kUint32, count(16)}},
      {"llama.attention.scale", {kFloat32, little_endian(0.25F)}},
      {"llama.attn_logit_softcapping", {kFloat32, little_endian(50.0F)}},
      {"llama.final_logit_softcapping", {kFloat32, little_endian(30.0F)}},
      {"llama.embedding_scale", {kFloat32, little_endian(12.0F)}},
      {"llama.residual_scale", {kFloat32, little_endian(0.22F)}},
      {"llama.logit_scale", {kFloat32, little_endian(8.0F)}},
      {"llama.attention.clamp_kqv", {kFloat32, little_endian(8.0F)}},
      {"llama.attention.max_alibi_bias", {kFloat32, little_endian(8.0F)}},
      {"llama.attention.temperature_scale", {kFloat32, little_endian(0.1F)}},
      {"llama.attention.causal", {kBool, std::string(1, '\0')}},
      {"llama.use_parallel_residual", {kBool, std::string(1, '\1')}},
  };
  for (const auto& [key, value] : changes) {
    CATCH_INFO(key);
    GgufParts parts;
    parts.metadata[key] = value;
    const OpenedGguf opened(parts);
    CATCH_CHECK_FALSE(opened.model.has_value());
    if (!opened.model) CATCH_CHECK(opened.model.error().code == ErrorCode::Unsupported);
  }
}

// The same file under another architecture.
GgufParts as_architecture(const std::string& name) {
  GgufParts parts;
  parts.metadata.clear();
  for (const auto& [key, value] : GgufParts{}.metadata)
    parts.metadata[key.starts_with("llama.") ? name + key.substr(5) : key] = value;
  parts.metadata["general.architecture"] = {kString, gguf_string(name)};
  return parts;
}

CATCH_TEST_CASE("gguf model: experts are refused where the family has none") {
  GgufParts parts = as_architecture("olmo2");
  parts.metadata["olmo2.expert_count"] = {kUint32, count(8)};
  const OpenedGguf opened(parts);
  CATCH_REQUIRE_FALSE(opened.model.has_value());
  CATCH_CHECK(opened.model.error().code == ErrorCode::Unsupported);
  CATCH_CHECK(opened.model.error().tensor == "num_local_experts");
}

CATCH_TEST_CASE("gguf model: a key that no table knows is told") {
  GgufParts parts;
  parts.metadata["llama.attention.novelty"] = {kUint32, count(3)};
  const OpenedGguf opened(parts);
  CATCH_REQUIRE(opened.model.has_value());
  CATCH_REQUIRE(opened.model->warnings.size() == 1);
  CATCH_CHECK(opened.model->warnings[0] == "config key 'llama.attention.novelty' = 3 is unknown and was ignored");
}

CATCH_TEST_CASE("gguf model: one matrix of q, k and v is cut into three, with its bias") {
  GgufParts parts = as_architecture("chatglm");
  std::erase_if(parts.tensors, [](const TensorLine& tensor) {
    return tensor.name.find(".attn_q.") != std::string::npos || tensor.name.find(".attn_k.") != std::string::npos ||
           tensor.name.find(".attn_v.") != std::string::npos || tensor.name.find(".ffn_gate.") != std::string::npos;
  });
  for (TensorLine& tensor : parts.tensors)
    if (tensor.name == "blk.0.ffn_up.weight") tensor.shape = {20, 6};
  parts.tensors.push_back({"blk.0.attn_qkv.weight", {16, 6}});
  parts.tensors.push_back({"blk.0.attn_qkv.bias", {16}});
  const OpenedGguf opened(parts);
  CATCH_INFO((opened.model ? "" : describe(opened.model.error())));
  CATCH_REQUIRE(opened.model.has_value());
  CATCH_CHECK(opened.model->warnings.empty());
  const AttentionSpec& attention = opened.model->blocks.front().attention;
  for (const LinearSpec* linear : {&attention.q, &attention.k, &attention.v})
    for (const WeightRef* part : {&linear->weight, &linear->bias}) {
      const std::vector<double> rows = file_rows(*opened.source, *part);
      const double begin = linear == &attention.q ? 0.0 : linear == &attention.k ? 8.0 : 12.0;
      CATCH_REQUIRE(rows.size() == (linear == &attention.q ? 8 : 4));
      for (std::size_t i = 0; i < rows.size(); ++i) CATCH_CHECK(rows[i] == begin + static_cast<double>(i));
    }
  // Rows that are not those of the heads stay one tensor, and q_proj is missing.
  parts.tensors[parts.tensors.size() - 2].shape = {15, 6};
  const OpenedGguf damaged(parts);
  CATCH_REQUIRE_FALSE(damaged.model.has_value());
  CATCH_CHECK(damaged.model.error().tensor == "model.layers.0.self_attn.q_proj.weight");
}

CATCH_TEST_CASE("gguf model: norms that hold 1 + w are not added to again") {
  GgufParts parts = as_architecture("gemma");
  std::erase_if(parts.tensors, [](const TensorLine& tensor) { return tensor.name == "output.weight"; });
  const OpenedGguf opened(parts);
  CATCH_INFO((opened.model ? "" : describe(opened.model.error())));
  CATCH_REQUIRE(opened.model.has_value());
  CATCH_CHECK(opened.model->final_norm.weight_offset == 0.0);
  CATCH_CHECK(opened.model->blocks.front().mlp_branch.before.weight_offset == 0.0);
  CATCH_CHECK(opened.model->blocks.front().mlp.activation == Activation::GeluTanh);
}

CATCH_TEST_CASE("gguf tensors: stacked experts get a name each") {
  GgufParts parts;
  parts.tensors.push_back({"blk.0.ffn_up_exps.weight", {3, 10, 6}});
  parts.tensors.push_back({"blk.0.ffn_up_exps.bias", {3, 10}});
  const OpenedGguf opened(parts);
  const std::string architecture = "llama";
  const auto entry = std::to_array<GgufTensor>({{"blk.#.ffn_up_exps", "model.layers.#.mlp.experts.*.up_proj"}});
  const SourceTensors tensors =
      gguf_tensors({opened.source->checkpoint(), architecture}, {.architectures = {"llama"}, .tensors = entry});
  for (int e = 0; e < 3; ++e) {
    const std::string base = "model.layers.0.mlp.experts." + std::to_string(e) + ".up_proj";
    CATCH_REQUIRE(tensors.contains(base + ".weight"));
    CATCH_CHECK(tensors.at(base + ".weight").shape == std::vector<std::int64_t>{10, 6});
    CATCH_CHECK(tensors.at(base + ".weight").first == e * 60);
    CATCH_CHECK(tensors.at(base + ".bias").shape == std::vector<std::int64_t>{10});
    CATCH_CHECK(tensors.at(base + ".bias").first == e * 10);
  }
  CATCH_CHECK_FALSE(tensors.contains("blk.0.ffn_up_exps.weight"));
}

CATCH_TEST_CASE("gguf model: of families with one architecture a key tells which") {
  GgufParts parts = as_architecture("olmo2");
  const OpenedGguf second(parts);
  CATCH_REQUIRE(second.source.has_value());
  CATCH_CHECK(second.source->config().at("model_type") == "olmo2");
  parts.metadata["olmo2.attention.sliding_window"] = {kUint32, count(5)};
  const OpenedGguf third(parts);
  CATCH_REQUIRE(third.source.has_value());
  CATCH_CHECK(third.source->config().at("model_type") == "olmo3");
  CATCH_CHECK(third.source->config().at("sliding_window") == 5);
}

CATCH_TEST_CASE("gguf model: head counts that do not fit are refused before any row is moved") {
  for (const std::uint32_t heads : {0u, 3u, 100000u}) {
    CATCH_INFO(heads);
    GgufParts parts;
    parts.metadata["llama.attention.head_count"] = {kUint32, count(heads)};
    const OpenedGguf opened(parts);
    CATCH_CHECK_FALSE(opened.model.has_value());
  }
  GgufParts per_layer;
  per_layer.metadata["llama.attention.head_count_kv"] = {kArray,
                                                         count(kUint32) + little_endian<std::uint64_t>(1) + count(1)};
  const OpenedGguf opened(per_layer);
  CATCH_REQUIRE_FALSE(opened.model.has_value());
  CATCH_CHECK(opened.model.error().tensor == "num_key_value_heads");
}

}  // namespace headroom::test
