// Claims 7 and 8: what follows from configs alone, parameters and the costs of decoding.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
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

constexpr double kQuarterWithin = 0.03;  // of a saving that counts as a quarter
constexpr double kAsFast = 1.1;          // the time of "as fast as", at most

double total(const ModelSpec& model) {
  double sum = 0.0;
  for (const auto& [kind, count] : attention_parameters(model.blocks.front())) sum += static_cast<double>(count);
  return sum;
}

struct Decode {
  double flops = 0.0, cache_bytes = 0.0, read_bytes = 0.0;  // of one layer and one new token: the attention alone
  double weights = 0.0;                                     // of the projections around it
};

constexpr double kBytes = 2.0;  // of a bfloat16

// q·k and a·v of every map over n keys; the cache in bfloat16. V1's authors call a flash kernel that takes values no
// wider than keys, so that it reads the values once for each map.
Decode decode_costs(const AttentionSpec& attention, double weights, double n) {
  double maps = 0.0;
  for (const HeadProgram& head : attention.heads)
    maps += (head.has_first() ? 1.0 : 0.0) + (head.has_second() ? 1.0 : 0.0);
  const auto d = static_cast<double>(attention.head_dim), context = static_cast<double>(attention.context_dim());
  const double keys = static_cast<double>(attention.num_key_blocks) * d;
  const double values = static_cast<double>(attention.num_value_blocks) * static_cast<double>(attention.value_dim);
  Decode costs;
  costs.flops = 2.0 * n * maps * (d + context);
  costs.cache_bytes = kBytes * n * (keys + values);
  costs.weights = weights;
  costs.read_bytes = kBytes * n * (keys + (attention.kind == "diff_v1" ? 2.0 : 1.0) * values);
  return costs;
}

// Seconds at least, and whether memory is what takes them.
struct LeastTime {
  double seconds = 0.0, memory = 0.0;
};

LeastTime least_time(double flops, double bytes, const DecodeDevice& device) {
  const double memory = bytes / device.bytes_per_second;
  return {std::max(memory, flops / device.flops_per_second), memory};
}

// Of `batch` sequences of n tokens each, with the projections, whose weights are read once for all of them.
LeastTime block_time(const Decode& costs, double batch, const DecodeDevice& device) {
  return least_time(batch * (costs.flops + 2.0 * costs.weights), batch * costs.read_bytes + kBytes * costs.weights,
                    device);
}

std::string of_memory(const LeastTime& time) {
  return time.memory >= time.seconds ? "all" : format("%.0f %%", 100.0 * time.memory / time.seconds);
}

}  // namespace

Result<ClaimReport> examine_parameters(Study&, const ClaimOptions&) {
  ClaimReport report;
  report.number = 7;
  report.title = "Parameters of attention";
  report.claim =
      "V2 saves a quarter of the attention parameters against a Transformer of 2h heads under current GQA, because W_O is halved.";
  constexpr std::int64_t kHidden = 4096, kHeads = 32, kHeadDim = 128;
  ClaimTable table;
  table.caption = "Weights of one attention block, D = 4096, h = 32, d = 128, from the config alone";
  table.columns = {"key heads",     "V2, h heads",  "softmax, 2h heads",     "softmax, h heads",
                   "V2 / 2h heads", "V2 / h heads", "saved against 2h heads"};
  for (const std::int64_t kv_heads : {1, 4, 8, 16, 32}) {
    HEADROOM_TRY(const ModelSpec v2, attention_of("diff_v2", kHidden, kHeads, kv_heads, kHeadDim));
    HEADROOM_TRY(const ModelSpec twice, attention_of("softmax", kHidden, 2 * kHeads, kv_heads, kHeadDim));
    HEADROOM_TRY(const ModelSpec once, attention_of("softmax", kHidden, kHeads, kv_heads, kHeadDim));
    const double ratio = total(v2) / total(twice);
    table.rows.push_back({static_cast<double>(kv_heads), total(v2), total(twice), total(once), ratio,
                          total(v2) / total(once), 1.0 - ratio});
    report.sentences.push_back(
        exact(format("V2 saves a quarter of W_Q, W_K, W_V, W_O and W_λ together where there are %lld key heads for 32",
                     static_cast<long long>(kv_heads)),
              format("%.1f %%", 100.0 * (1.0 - ratio)), std::abs(1.0 - ratio - 0.25) <= kQuarterWithin));
  }
  report.tables.push_back(std::move(table));
  report.remarks = format(
      "The claim is made under current GQA, which is 4 or 8 key heads for 32 of queries. A saving counts as a quarter within %.0f "
      "percentage points: few key heads leave little but W_Q and W_O, of which V2 halves the latter.",
      100.0 * kQuarterWithin);
  return report;
}

Result<ClaimReport> examine_decoding(Study&, const ClaimOptions& options) {
  ClaimReport report;
  report.number = 8;
  report.title = "Decoding";
  report.claim =
      "V2 decodes as fast as the baseline: the KV cache is the same, and twice the query heads raise the arithmetic intensity only.";
  constexpr std::int64_t kHidden = 4096, kHeads = 32, kKvHeads = 8, kHeadDim = 128;
  const DecodeDevice& device = options.device;
  const auto costs_of = [&](const std::string& kind, double n) -> Result<Decode> {
    const bool v1 = kind == "diff_v1";
    HEADROOM_TRY(const ModelSpec model,
                 attention_of(kind.c_str(), kHidden, v1 ? kHeads / 2 : kHeads, v1 ? kKvHeads / 2 : kKvHeads, kHeadDim));
    return decode_costs(model.blocks.front().attention, total(model), n);
  };
  ClaimTable table;
  table.caption = format(
      "The attention alone: one layer, one new token, bfloat16, D = 4096, h = 32 on 8 key heads, d = 128; V1 has half as many heads of "
      "twice the width; %s: %.0f TFLOP/s, %.2f TB/s, ridge %.0f FLOP/byte",
      device.name.c_str(), device.flops_per_second / 1e12, device.bytes_per_second / 1e12,
      device.flops_per_second / device.bytes_per_second);
  table.columns = {"heads", "n", "KV cache, MB", "read, MB", "MFLOP", "FLOP/byte", "least time, µs", "of it memory"};
  double longest_ratio = 0.0, v1_ratio = 0.0, cache_ratio = 0.0;
  for (const double n : {1024.0, 8192.0, 131072.0}) {
    HEADROOM_TRY(const Decode baseline, costs_of("softmax", n));
    for (const std::string kind : {"softmax", "diff_v1", "diff_v2"}) {
      HEADROOM_TRY(const Decode costs, costs_of(kind, n));
      const LeastTime time = least_time(costs.flops, costs.read_bytes, device);
      table.rows.push_back({kind, n, costs.cache_bytes / 1e6, costs.read_bytes / 1e6, costs.flops / 1e6,
                            costs.flops / costs.read_bytes, 1e6 * time.seconds, of_memory(time)});
      const double ratio = time.seconds / least_time(baseline.flops, baseline.read_bytes, device).seconds;
      if (kind == "diff_v1") v1_ratio = ratio;
      if (kind == "diff_v2") longest_ratio = ratio, cache_ratio = costs.cache_bytes / baseline.cache_bytes;
    }
  }
  report.tables.push_back(std::move(table));
  report.sentences.push_back(
      exact("V2's KV cache is the baseline's", format("%.2f times", cache_ratio), cache_ratio == 1.0));
  report.sentences.push_back(exact("V2's attention alone takes the baseline's time",
                                   format("%.2f times at least", longest_ratio), longest_ratio <= kAsFast));

  ClaimTable blocks;
  blocks.caption = format(
      "With the projections around it, W_Q, W_K, W_V, W_O and W_λ, whose weights are read once for all sequences of a batch: least time, "
      "µs, of the whole attention block; as fast: at most %g times the baseline's",
      kAsFast);
  blocks.columns = {
      "batch", "n", "softmax", "diff_v1", "diff_v2", "V1 / softmax", "V2 / softmax", "of V2's time memory"};
  for (const double batch : {1.0, 16.0, 256.0})
    for (const double n : {1024.0, 8192.0, 131072.0}) {
      HEADROOM_TRY(const Decode softmax, costs_of("softmax", n));
      HEADROOM_TRY(const Decode v1, costs_of("diff_v1", n));
      HEADROOM_TRY(const Decode v2, costs_of("diff_v2", n));
      const LeastTime a = block_time(softmax, batch, device), b = block_time(v1, batch, device),
                      c = block_time(v2, batch, device);
      const double ratio = c.seconds / a.seconds;
      blocks.rows.push_back(
          {batch, n, 1e6 * a.seconds, 1e6 * b.seconds, 1e6 * c.seconds, b.seconds / a.seconds, ratio, of_memory(c)});
      if (batch > 1.0 && n != 8192.0) continue;
      report.sentences.push_back(
          exact(format("V2's attention block, batch %.0f, n = %.0f, is as fast as the baseline's", batch, n),
                format("%.2f times at least", ratio), ratio <= kAsFast));
    }
  report.tables.push_back(std::move(blocks));
  report.sentences.push_back(
      exact("V1, whose flash form reads its values once for each map, needs more time than the baseline",
            format("%.2f times at least", v1_ratio), v1_ratio > kAsFast));
  report.remarks =
      "Lower bounds by bandwidth and peak, without MLP and norms. In the attention alone batches change no ratio, since every sequence "
      "has its own cache; with projections they do, since weights are shared.";
  return report;
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = {
      {1, {"bytes", "bytes_ablations"}, true, examine_context_rms},
      {2, {"bytes"}, true, examine_norm_gain},
      {3, {"bytes", "bytes_ablations", "bytes_sweep"}, false, examine_pairing},
      {4, {"trigger_bos", "trigger_no_bos", "backcopy", "backcopy_slow", "bytes"}, false, examine_sinks},
      {5, {"backcopy", "bytes"}, false, examine_logits},
      {6, {"bytes"}, false, examine_output_alignment},
      {7, {}, false, examine_parameters},
      {8, {}, false, examine_decoding},
      {9, {"bytes", "backcopy", "bytes_sweep"}, false, examine_headline},
  };
  return all;
}

}  // namespace headroom
