#include "core/circuits/circuits.h"

#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/all_threads.h"
#include "core/circuits/spectra.h"

namespace headroom {
namespace {

// What is the same for all heads of the layer.
struct LayerParts {
  LayerFactors factors;
  std::vector<Thin> query_triangles, key_triangles, value_triangles;  // by block
  std::vector<double> final_gain;                                     // where a path is measured
};

std::vector<Thin> triangles(const std::vector<Thin>& blocks) {
  std::vector<Thin> result;
  for (const Thin& block : blocks) result.push_back(triangle(block));
  return result;
}

double norm_of(const std::vector<double>& singular) {
  double sum = 0.0;
  for (const double value : singular) sum += value * value;
  return std::sqrt(sum);
}

void measure_qk(const LayerParts& parts, const HeadProgram& head, HeadCircuits& circuits) {
  const auto of_map = [&](const HeadProgram::Map& map) {
    return singular_values(parts.query_triangles[static_cast<std::size_t>(map.query_block)],
                           parts.key_triangles[static_cast<std::size_t>(map.key_block)]);
  };
  if (head.first.query_block >= 0) circuits.qk[0] = of_map(head.first);
  if (!head.has_second()) return;
  circuits.qk[1] = of_map(head.second);
  if (head.first.query_block < 0) return;
  const std::vector<Thin>&q = parts.factors.query, &k = parts.factors.key;
  const auto at = [](std::int64_t block) { return static_cast<std::size_t>(block); };
  // A rotation inside the head turns queries with their keys: without common keys the blocks cannot be compared.
  if (head.first.key_block == head.second.key_block)
    circuits.query_alignment = cosine(q[at(head.first.query_block)], q[at(head.second.query_block)]);
  circuits.qk_alignment =
      product_cosine(q[at(head.first.query_block)], k[at(head.first.key_block)], norm_of(circuits.qk[0]),
                     q[at(head.second.query_block)], k[at(head.second.key_block)], norm_of(circuits.qk[1]));
}

Thin block_columns(const Thin& from, std::int64_t first, std::int64_t count) {
  Thin part(from.rows, count);
  for (std::int64_t r = 0; r < from.rows; ++r)
    for (std::int64_t c = 0; c < count; ++c) part.row(r)[c] = from.row(r)[first + c];
  return part;
}

// W_V Eᵀ U G W_O of a head, [d, d]: its eigenvalues are those of U G W_O W_V Eᵀ, [V, V], that are not 0.
Thin through_vocabulary(const Thin& values, const Thin& vocabulary, const Thin& output) {
  return product(product(vocabulary, values), output);
}

void measure_ov(const LayerParts& parts, const Thin* vocabulary, const NormSpec& final_norm, const HeadProgram& head,
                std::size_t index, std::int64_t value_dim, HeadCircuits& circuits) {
  const Thin values = parts.factors.values_of(head);
  const Thin& output = parts.factors.output[index];
  circuits.ov = singular_values(triangle(output), triangle(values));
  const std::size_t blocks = head.first.value_blocks.size();
  for (std::size_t b = 0; blocks > 1 && b < blocks; ++b)
    circuits.block_ov.push_back(
        singular_values(triangle(block_columns(output, static_cast<std::int64_t>(b) * value_dim, value_dim)),
                        parts.value_triangles[static_cast<std::size_t>(head.first.value_blocks[b])]));
  if (!vocabulary) return;
  Thin written = output;
  fold_into_writer(final_norm, parts.final_gain, written);
  const Thin whole = through_vocabulary(values, *vocabulary, written);
  circuits.eigenvalues = eigenvalues(whole);
  circuits.copying = real_share(circuits.eigenvalues);
  for (std::size_t b = 0; blocks > 1 && b < blocks; ++b) {
    Thin square(value_dim, value_dim);
    const std::int64_t first = static_cast<std::int64_t>(b) * value_dim;
    for (std::int64_t r = 0; r < value_dim; ++r)
      for (std::int64_t c = 0; c < value_dim; ++c) square.row(r)[c] = whole.row(first + r)[first + c];
    circuits.block_copying.push_back(real_share(eigenvalues(square)));
  }
}

void align(const LayerFactors& factors, LayerCircuits& layer) {
  const std::size_t heads = layer.programs.size();
  layer.output_alignment.assign(heads * heads, kNaN);
  layer.ov_alignment.assign(heads * heads, kNaN);
  std::vector<Thin> values;
  for (const HeadProgram& head : layer.programs) values.push_back(factors.values_of(head));
  on_all_threads(static_cast<std::int64_t>(heads), [&](std::int64_t row) {
    const auto a = static_cast<std::size_t>(row);
    for (std::size_t b = a; b < heads; ++b) {
      if (layer.programs[a].first.value_blocks == layer.programs[b].first.value_blocks)
        layer.output_alignment[a * heads + b] = layer.output_alignment[b * heads + a] =
            cosine(factors.output[a], factors.output[b]);
      layer.ov_alignment[a * heads + b] = layer.ov_alignment[b * heads + a] =
          product_cosine(factors.output[a], values[a], norm_of(layer.heads[a].ov), factors.output[b], values[b],
                         norm_of(layer.heads[b].ov));
    }
  });
}

}  // namespace

std::vector<std::size_t> LayerCircuits::group_of(std::size_t head) const {
  std::vector<std::size_t> group;
  for (std::size_t other = 0; other < programs.size(); ++other)
    if (programs[other].first.value_blocks == programs[head].first.value_blocks) group.push_back(other);
  return group;
}

double LayerCircuits::mean_alignment(std::size_t head) const {
  if (output_alignment.empty()) return kNaN;
  double sum = 0.0;
  const std::vector<std::size_t> group = group_of(head);
  for (const std::size_t other : group)
    if (other != head) sum += output_alignment[head * programs.size() + other];
  return group.size() > 1 ? sum / static_cast<double>(group.size() - 1) : kNaN;
}

Result<LayerCircuits> measure_layer_circuits(const ModelSource& source, const ModelSpec& model, std::int64_t layer,
                                             const Thin* vocabulary, const CircuitStop& stop) {
  const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
  const AttentionSpec& attention = block.attention;
  LayerCircuits result;
  result.layer = layer;
  result.name = model.layer_name(layer);
  result.kind = block.kind();
  result.path_refused = path_refusal(model, layer);
  result.context_dim = attention.context_dim();
  result.head_dim = attention.head_dim;
  result.hidden = model.hidden_size;
  result.programs = attention.heads;
  result.heads.resize(attention.heads.size());
  LayerParts parts;
  HEADROOM_TRY(parts.factors, read_factors(source, model, layer));
  result.qk_refused = parts.factors.qk_refused;
  result.ov_refused = parts.factors.ov_refused;
  const bool qk = result.qk_refused.empty() && block.attends(), ov = result.ov_refused.empty() && block.attends();
  const Thin* path = ov && result.path_refused.empty() ? vocabulary : nullptr;
  if (path) {
    HEADROOM_TRY(parts.final_gain, read_gain(source, model.final_norm, model.hidden_size));
  }
  parts.query_triangles = triangles(parts.factors.query);
  parts.key_triangles = triangles(parts.factors.key);
  parts.value_triangles = triangles(parts.factors.value);
  std::atomic<bool> ended{false};
  on_all_threads(static_cast<std::int64_t>(result.heads.size()), [&](std::int64_t index) {
    if (ended || (stop && stop())) {
      ended = true;
      return;
    }
    const auto h = static_cast<std::size_t>(index);
    if (qk) measure_qk(parts, result.programs[h], result.heads[h]);
    if (ov) measure_ov(parts, path, model.final_norm, result.programs[h], h, attention.value_dim, result.heads[h]);
  });
  if (ended) return Error(ErrorCode::Cancelled, "stopped at the circuits of " + result.name);
  if (ov) {
    align(parts.factors, result);
    result.output_alignment_null =
        1.0 / std::sqrt(static_cast<double>(result.hidden) * static_cast<double>(result.context_dim));
    result.ov_alignment_null = 1.0 / static_cast<double>(result.hidden);
  }
  return result;
}

}  // namespace headroom
