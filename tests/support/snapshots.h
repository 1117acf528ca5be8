// Runs for tests: filled with values that follow from layer, head and row by simple rules, so that a test
// can say what must be on the screen. Header only; one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/measure/quantity.h"
#include "core/run/run_snapshot.h"

namespace headroom::test {

struct SnapshotOptions {
  std::string kind = "softmax";  // also diff_v2, diff_v1, gated, softmax_sink
  std::int64_t layers = 4, heads = 3, length = 160;
  std::int64_t finished = -1;  // layers that are there; −1: all
  bool series = true;          // rows, keys and histograms
  bool hostile = false;        // tokens of CJK, emoji, controls, broken UTF-8 and great length
  std::string nan_quantity;    // this root quantity has no value in head 0 of every layer
  std::int64_t window = 0;
  std::int64_t pool_blocks = 32;  // of the pooled maps; 0: none
};

// A number in (0, 1) that depends on all its arguments and looks random.
inline double noise(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b * 0xBF58476D1CE4E5B9ULL + c * 0x94D049BB133111EBULL + 0x1234567ULL;
  x ^= x >> 30, x *= 0xBF58476D1CE4E5B9ULL, x ^= x >> 27, x *= 0x94D049BB133111EBULL, x ^= x >> 31;
  return (static_cast<double>(x >> 11) + 0.5) / 9007199254740992.0;
}

inline std::size_t axis_size(std::string_view name, std::int64_t length) {
  if (name == axis::kComponent) return 2;
  if (name == axis::kCentring || name == axis::kTail || name == axis::kEnd) return 2;
  if (name == axis::kBound) return 3;
  if (name == axis::kQuantile) return quantile_points().size();
  if (name == axis::kTopK) return top_k_points().size();
  if (name == axis::kRank) return static_cast<std::size_t>(kRanks);
  if (name == axis::kPosition) return static_cast<std::size_t>(length);
  if (name == "context_rms_relative_bin") return static_cast<std::size_t>(log10_rho_bins().bins);
  if (name == "lambda_bin") return static_cast<std::size_t>(lambda_bins().bins);
  if (name == "logit_bin") return static_cast<std::size_t>(logit_bins().bins);
  return static_cast<std::size_t>(log10_weight_bins().bins);
}

inline std::shared_ptr<const Prompt> make_prompt(std::int64_t length, bool hostile = false) {
  static const std::vector<std::string> kPlain = {" the",
                                                  " License",
                                                  ",",
                                                  " Public",
                                                  "\n",
                                                  " of",
                                                  "copy",
                                                  "left",
                                                  " freedom",
                                                  " programs",
                                                  "                   ",
                                                  " a",
                                                  ".",
                                                  " distribute",
                                                  "\n\n"};
  static const std::vector<std::string> kHostile = {"\xE6\xB3\xA8\xE6\x84\x8F",
                                                    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
                                                    "\x1B[31m",
                                                    "\xE2\x80\xAEright",
                                                    "\xFF\xFE",
                                                    "\t\t",
                                                    std::string(300, 'w'),
                                                    "e\xCC\x81\xCC\x81\xCC\x81",
                                                    "\xE6",
                                                    "\x87\x82",
                                                    "\0x",
                                                    " ",
                                                    "\r\n",
                                                    "\xD8\xA7\xD9\x84"};
  auto prompt = std::make_shared<Prompt>();
  for (std::int64_t i = 0; i < length; ++i) {
    const std::vector<std::string>& words = hostile ? kHostile : kPlain;
    const std::size_t word =
        static_cast<std::size_t>(noise(7, static_cast<std::uint64_t>(i)) * static_cast<double>(words.size()));
    prompt->ids.push_back(static_cast<std::int32_t>(word));
    prompt->texts.push_back(words[word]);
    prompt->is_special.push_back(0);
  }
  return prompt;
}

// Causal maps in blocks; of differential heads first, second and net.
inline std::shared_ptr<const PooledMaps> make_pooled(std::int64_t index, const SnapshotOptions& options,
                                                     bool differential) {
  auto maps = std::make_shared<PooledMaps>();
  maps->size = (options.length + options.pool_blocks - 1) / options.pool_blocks;
  maps->blocks = (options.length + maps->size - 1) / maps->size;
  std::uint64_t number = 2000;
  const auto fill = [&](std::vector<float>& cells, std::vector<float>& keys) {
    ++number;
    for (std::int64_t h = 0; h < options.heads; ++h)
      for (std::int64_t row = 0; row < maps->blocks; ++row) {
        const auto head = static_cast<std::uint64_t>(index * 131 + h);
        for (std::int64_t key = 0; key < maps->blocks; ++key)
          cells.push_back(key > row ? std::numeric_limits<float>::quiet_NaN()
                                    : static_cast<float>(std::pow(
                                          noise(number, head, static_cast<std::uint64_t>(row * 1000 + key)), 3.0)));
        keys.push_back(cells[cells.size() - static_cast<std::size_t>(maps->blocks)]);
      }
  };
  fill(maps->net, maps->net_key);
  if (differential) fill(maps->first, maps->first_key), fill(maps->second, maps->second_key);
  return maps;
}

inline std::shared_ptr<const LayerSnapshot> make_layer(std::int64_t index, const SnapshotOptions& options) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  auto layer = std::make_shared<LayerSnapshot>();
  layer->layer = index;
  layer->kind = options.kind;
  layer->length = options.length;
  layer->context_dim = 64;
  const bool v1 = options.kind == "diff_v1", differential = v1 || options.kind == "diff_v2";
  layer->lambda_init = v1 ? 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(index)) : kNaN;
  for (std::int64_t h = 0; h < options.heads; ++h) {
    layer->heads.push_back(h);
    HeadProgram program;
    program.first = {h * 2, h / 2, {h / 2}};
    if (differential) program.second = {h * 2 + 1, h / 2, {h / 2}};
    program.lambda = v1 ? LambdaSource::LayerScalar : differential ? LambdaSource::Projection : LambdaSource::None;
    program.sink = options.kind == "softmax_sink" ? SinkSource::Learned : SinkSource::None;
    program.post_norm = v1;
    program.gated = options.kind == "gated";
    layer->programs.push_back(program);
    layer->kv_heads.push_back({h / 2, differential ? h / 2 : -1});
  }
  if (options.pool_blocks > 0) layer->pooled = make_pooled(index, options, differential);
  std::vector<std::int64_t> visible;
  for (std::int64_t i = 0; i < options.length; ++i)
    visible.push_back(options.window > 0 ? std::min(i + 1, options.window) : i + 1);
  layer->visible = {visible};

  const auto n = static_cast<std::size_t>(options.length);
  std::uint64_t number = 0;
  for (const Quantity& quantity : head_quantities()) {
    ++number;
    if (quantity.group == "maps" || quantity.option == "premise" || (!quantity.group.empty() && !options.series))
      continue;
    std::size_t size = 1;
    for (const std::string_view axis : quantity.axes) size *= axis_size(axis, options.length);
    const std::string name(quantity.name),
        key = quantity.group.empty() ? name : std::string(quantity.group) + "/" + name;
    const bool component = !quantity.axes.empty() && quantity.axes.front() == axis::kComponent;
    const bool pair_only =
        name.starts_with("lambda") || name.find("cancellation") != std::string::npos || name == "map_cosine_mean";
    const bool absent = (pair_only && !differential) || (name.starts_with("norm_gain") && !v1) ||
                        (name == "gate_mean" && options.kind != "gated") || name == "sink_logit";
    std::vector<double> values;
    for (std::int64_t h = 0; h < options.heads; ++h)
      for (std::size_t i = 0; i < size; ++i) {
        const auto head = static_cast<std::uint64_t>(index * 131 + h);
        double value = noise(number, head, i);
        if (name.starts_with("logit")) value = name.ends_with("min") ? -9.0 * value : 2.0 + 12.0 * value;
        if (name == "kv_head") value = static_cast<double>(h / 2);
        if (name.ends_with("_position")) value = std::floor(value * static_cast<double>(options.length));
        if (quantity.group == "hist") value = std::floor(value * 40.0);
        if (name == "effective_keys_mean") value = 1.0 + 20.0 * value;
        if (name.starts_with("norm_gain")) value = 1.0 + 30.0 * value;
        if (name == "mean_distance") value *= static_cast<double>(options.length);
        if (absent || (component && i >= size / 2 && !differential))
          value = quantity.type == ElementType::Int32 ? -1.0 : kNaN;
        if (name == options.nan_quantity && h == 0) value = kNaN;
        values.push_back(value);
      }
    if (quantity.group.empty())
      layer->summary[key] = std::move(values);
    else if (!absent)
      layer->series[key] = {values.begin(), values.end()};
  }
  if (options.series) {
    // The rows hold together as in a real run: ρ = RMS/r̄, κ = RMS²/q².
    for (std::int64_t h = 0; h < options.heads; ++h)
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = static_cast<std::size_t>(h) * n + i;
        const double keys = static_cast<double>(visible[i]);
        const double e = std::pow(keys, -0.5 * noise(1001, static_cast<std::uint64_t>(h), i)), r = 0.5 + noise(1002, i);
        const double mean_r = 0.8 + 0.1 * noise(1003, i), kappa = 0.5 + noise(1004, i, static_cast<std::uint64_t>(h));
        const double rms = e * r * std::sqrt(kappa);
        layer->series["rows/weight_l2"][at] = static_cast<float>(e);
        layer->series["rows/uncorrelated_rms"][at] = static_cast<float>(e * r);
        layer->series["rows/value_rms_mean"][at] = static_cast<float>(mean_r);
        layer->series["rows/context_rms"][at] = static_cast<float>(rms);
        layer->series["rows/context_rms_relative"][at] = static_cast<float>(rms / mean_r);
      }
  }
  return layer;
}

inline std::shared_ptr<const RunSnapshot> make_snapshot(const SnapshotOptions& options = {}) {
  auto run = std::make_shared<RunSnapshot>();
  run->prompt = make_prompt(options.length, options.hostile);
  run->length = options.length;
  run->min_row = options.length < 128 ? 1 : 64;
  for (std::int64_t i = 1; i <= options.length; ++i) run->sink_null += 1.0 / static_cast<double>(i);
  run->sink_null /= static_cast<double>(options.length);
  for (std::int64_t l = 0; l < options.layers; ++l) {
    run->layers.push_back(l);
    run->data.push_back(options.finished < 0 || l < options.finished ? make_layer(l, options) : nullptr);
  }
  for (std::int64_t h = 0; h < options.heads; ++h) run->heads.push_back(h);
  run->all_layers = options.layers;
  run->complete = options.finished < 0 || options.finished >= options.layers;
  run->model_name = "test-model";
  run->model_kind = options.kind;
  return run;
}

}  // namespace headroom::test
