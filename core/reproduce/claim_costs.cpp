// Claims 7 and 8: what follows from configs alone, parameters and the costs of decoding.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/model/family.h"
#include "core/reproduce/claims.h"
#include "core/run/run_layout.h"

namespace headroom {
namespace {

Result<ModelSpec> attention_of(const char* kind, std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
                               std::int64_t head_dim) {
  return design_model({{"model_type", "headroom"},
                       {"vocab_size", 2},
                       {"hidden_size", hidden},
                       {"num_hidden_layers", 1},
                       {"intermediate_size", 0},
                       {"num_attention_heads", heads},
                       {"num_key_value_heads", kv_heads},
                       {"head_dim", head_dim},
                       {"max_position_embeddings", 8192},
                       {"attention", {{"kind", kind}}}});
}

double total(const ModelSpec& model) {
  double sum = 0.0;
  for (const auto& [kind, count] : attention_parameters(model.blocks.front())) sum += static_cast<double>(count);
  return sum;
}

struct Decode {
  double flops = 0.0, cache_bytes = 0.0, read_bytes = 0.0;  // of one layer and one new token
};

// q·k and a·v of every map over n keys; the cache in bfloat16. V1's authors call a flash kernel that takes values no
// wider than keys, so that it reads the values once for each map.
Decode decode_costs(const AttentionSpec& attention, double n) {
  constexpr double kBytes = 2.0;
  double maps = 0.0;
  for (const HeadProgram& head : attention.heads)
    maps += (head.has_first() ? 1.0 : 0.0) + (head.has_second() ? 1.0 : 0.0);
  const auto d = static_cast<double>(attention.head_dim), context = static_cast<double>(attention.context_dim());
  const double keys = static_cast<double>(attention.num_key_blocks) * d;
  const double values = static_cast<double>(attention.num_value_blocks) * static_cast<double>(attention.value_dim);
  Decode costs;
  costs.flops = 2.0 * n * maps * (d + context);
  costs.cache_bytes = kBytes * n * (keys + values);
  costs.read_bytes = kBytes * n * (keys + (attention.kind == "diff_v1" ? 2.0 : 1.0) * values);
  return costs;
}

}  // namespace

Result<ClaimReport> examine_parameters(Study&, const ClaimOptions&) {
  ClaimReport report;
  report.number = 7;
  report.title = "Parameters of attention";
  report.claim =
      "V2 saves a quarter of the attention parameters against a Transformer of 2h heads, because W_O is halved.";
  constexpr std::int64_t kHidden = 4096, kHeads = 32, kHeadDim = 128;
  ClaimTable table;
  table.caption = "Weights of one attention block, D = 4096, h = 32, d = 128, from the config alone";
  table.columns = {"key heads",        "V2, h heads",   "softmax, 2h heads",
                   "softmax, h heads", "V2 / 2h heads", "V2 / h heads"};
  double few = 0.0, many = 0.0;
  for (const std::int64_t kv_heads : {1, 4, 8, 16, 32}) {
    HEADROOM_TRY(const ModelSpec v2, attention_of("diff_v2", kHidden, kHeads, kv_heads, kHeadDim));
    HEADROOM_TRY(const ModelSpec twice, attention_of("softmax", kHidden, 2 * kHeads, kv_heads, kHeadDim));
    HEADROOM_TRY(const ModelSpec once, attention_of("softmax", kHidden, kHeads, kv_heads, kHeadDim));
    const double ratio = total(v2) / total(twice);
    table.rows.push_back(
        {static_cast<double>(kv_heads), total(v2), total(twice), total(once), ratio, total(v2) / total(once)});
    if (kv_heads == 1) few = ratio;
    if (kv_heads == 32) many = ratio;
  }
  report.tables.push_back(std::move(table));
  report.findings.push_back(
      {format(
           "Of W_Q, W_K, W_V, W_O and W_λ together V2 saves %.1f %% with one key head and %.1f %% with 32: a quarter where keys and "
           "values are few, less where they are many.",
           100.0 * (1.0 - few), 100.0 * (1.0 - many)),
       std::abs(few - 0.75) < 0.02 ? std::abs(many - 0.75) < 0.02 ? Verdict::Agrees : Verdict::Mixed
                                   : Verdict::Differs});
  return report;
}

Result<ClaimReport> examine_decoding(Study&, const ClaimOptions& options) {
  ClaimReport report;
  report.number = 8;
  report.title = "Decoding";
  report.claim =
      "V2 decodes as fast as the baseline: the KV cache is the same, and twice the query heads raise the arithmetic intensity only.";
  constexpr std::int64_t kHidden = 4096, kHeads = 32, kKvHeads = 8, kHeadDim = 128;
  const double ridge = options.device.flops_per_second / options.device.bytes_per_second;
  ClaimTable table;
  table.caption = format(
      "One layer, one new token, bfloat16, D = 4096, h = 32 on 8 key heads, d = 128; V1 has half as many heads of twice the width; %s: "
      "%.0f TFLOP/s, %.2f TB/s, ridge %.0f FLOP/byte",
      options.device.name.c_str(), options.device.flops_per_second / 1e12, options.device.bytes_per_second / 1e12,
      ridge);
  table.columns = {"heads", "n", "KV cache, MB", "read, MB", "MFLOP", "FLOP/byte", "least time, µs", "of it memory"};
  double baseline_time = 0.0, v2_time = 0.0, v1_time = 0.0, v2_cache = 0.0, cache = 0.0;
  for (const double n : {1024.0, 8192.0, 131072.0})
    for (const char* kind : {"softmax", "diff_v1", "diff_v2"}) {
      const bool v1 = std::string_view(kind) == "diff_v1";
      HEADROOM_TRY(const ModelSpec model,
                   attention_of(kind, kHidden, v1 ? kHeads / 2 : kHeads, v1 ? kKvHeads / 2 : kKvHeads, kHeadDim));
      const Decode costs = decode_costs(model.blocks.front().attention, n);
      const double memory = costs.read_bytes / options.device.bytes_per_second,
                   compute = costs.flops / options.device.flops_per_second;
      const double time = std::max(memory, compute);
      table.rows.push_back({std::string(kind), n, costs.cache_bytes / 1e6, costs.read_bytes / 1e6, costs.flops / 1e6,
                            costs.flops / costs.read_bytes, 1e6 * time,
                            memory >= compute ? std::string("all") : format("%.0f %%", 100.0 * memory / compute)});
      if (v1) v1_time = time;
      if (std::string_view(kind) == "softmax") baseline_time = time, cache = costs.cache_bytes;
      if (std::string_view(kind) == "diff_v2") v2_time = time, v2_cache = costs.cache_bytes;
    }
  report.tables.push_back(std::move(table));
  report.findings.push_back(
      {format("V2's KV cache is %.2f times, its least decoding time %.2f times the baseline's.", v2_cache / cache,
              v2_time / baseline_time),
       v2_cache == cache && v2_time <= 1.001 * baseline_time ? Verdict::Agrees : Verdict::Differs});
  report.findings.push_back(
      {format("V1, whose flash form reads its values once for each map, needs at least %.2f times the baseline's time.",
              v1_time / baseline_time),
       v1_time > baseline_time ? Verdict::Agrees : Verdict::Differs});
  report.remarks =
      "Lower bounds of the attention alone, by bandwidth and peak; projections are left out. Batches do not change the ratio: every sequence has its own cache.";
  return report;
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = {
      {1, {"bytes", "bytes_ablations"}, true, examine_context_rms},
      {2, {"bytes"}, true, examine_norm_gain},
      {3, {"bytes", "bytes_ablations"}, false, examine_pairing},
      {4, {"trigger_bos", "trigger_no_bos", "backcopy", "backcopy_slow", "bytes"}, false, examine_sinks},
      {5, {"backcopy", "bytes"}, false, examine_logits},
      {6, {"bytes"}, false, examine_output_alignment},
      {7, {}, false, examine_parameters},
      {8, {}, false, examine_decoding},
  };
  return all;
}

}  // namespace headroom
