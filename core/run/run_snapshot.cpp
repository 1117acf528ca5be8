#include "core/run/run_snapshot.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>

namespace headroom {
namespace {

// The part of `all`, [heads, …], that belongs to the head at `index`.
template <typename T>
std::span<const T> part_of(const std::map<std::string, std::vector<T>, std::less<>>& all, std::string_view name,
                           std::int64_t index, std::size_t heads) {
  const auto found = all.find(name);
  if (found == all.end() || index < 0 || heads == 0) return {};
  const std::size_t size = found->second.size() / heads;
  return std::span<const T>(found->second).subspan(static_cast<std::size_t>(index) * size, size);
}

}  // namespace

std::int64_t LayerSnapshot::head_index(std::int64_t head) const {
  const auto found = std::ranges::lower_bound(heads, head);
  return found != heads.end() && *found == head ? found - heads.begin() : -1;
}

std::span<const double> LayerSnapshot::values(std::string_view name, std::int64_t head) const {
  return part_of(summary, name, head_index(head), heads.size());
}

std::span<const float> LayerSnapshot::row_values(std::string_view name, std::int64_t head) const {
  return part_of(series, name, head_index(head), heads.size());
}

std::size_t LayerSnapshot::kept_bytes() const {
  std::size_t bytes = maps ? maps->size_bytes() : 0;
  for (const auto& [name, values] : series) bytes += values.capacity() * sizeof(float);
  for (const auto* norms : {&key_norms, &value_norms})
    for (const std::vector<float>& values : *norms) bytes += values.capacity() * sizeof(float);
  return bytes;
}

const LayerSnapshot* RunSnapshot::layer(std::int64_t layer) const {
  const auto found = std::ranges::lower_bound(layers, layer);
  if (found == layers.end() || *found != layer) return nullptr;
  const auto index = static_cast<std::size_t>(found - layers.begin());
  return index < data.size() ? data[index].get() : nullptr;
}

const ResidualBoundary* RunSnapshot::boundary(std::int64_t boundary) const {
  const auto index = static_cast<std::size_t>(boundary);
  return boundary >= 0 && index < residual.size() ? residual[index].get() : nullptr;
}

// A decoder's stream begins with a boundary of its own behind those of the encoder.
std::int64_t RunSnapshot::layer_reading(std::int64_t boundary) const {
  const auto last = static_cast<std::int64_t>(residual.size()) - 1;
  if (boundary >= last || boundary + 1 == encoder_boundaries) return -1;
  return encoder_boundaries > 0 && boundary >= encoder_boundaries ? boundary - 1 : boundary;
}

std::int64_t RunSnapshot::boundary_before(std::int64_t layer) const {
  return encoder_boundaries > 0 && layer + 1 >= encoder_boundaries ? layer + 1 : layer;
}

std::size_t RouterSnapshot::kept_bytes() const {
  return index.capacity() * sizeof(std::uint16_t) + weight.capacity() * sizeof(float) +
         tokens.capacity() * sizeof(std::int64_t);
}

std::shared_ptr<const RouterSnapshot> keep_router(const RouterRecord& record) {
  auto kept = std::make_shared<RouterSnapshot>();
  kept->layer = record.layer;
  kept->chosen = record.chosen;
  kept->index = record.index;
  kept->weight.assign(record.weight.begin(), record.weight.end());
  kept->tokens = record.tokens_per_expert();
  return kept;
}

const RouterSnapshot* RunSnapshot::router(std::int64_t layer) const {
  const auto found = std::ranges::lower_bound(routers, layer, {}, [](const auto& router) { return router->layer; });
  return found != routers.end() && (*found)->layer == layer ? found->get() : nullptr;
}

double RunSnapshot::at(std::string_view name, std::int64_t layer_index, std::int64_t head, std::size_t index) const {
  const LayerSnapshot* found = layer(layer_index);
  const std::span<const double> values = found ? found->values(name, head) : std::span<const double>();
  return index < values.size() ? values[index] : std::numeric_limits<double>::quiet_NaN();
}

const std::string* axis_text(const RunSnapshot& run, TokenAxis axis, std::int64_t i) {
  if (!run.prompt || axis == TokenAxis::None) return nullptr;
  const std::vector<std::string>& texts = axis == TokenAxis::Tokens ? run.prompt->texts : run.prompt->key_texts;
  return i >= 0 && i < static_cast<std::int64_t>(texts.size()) ? &texts[static_cast<std::size_t>(i)] : nullptr;
}

std::string layer_title(const RunSnapshot& run, std::int64_t layer) {
  const LayerSnapshot* found = run.layer(layer);
  return found && !found->call_name.empty() ? found->call_name : "Layer " + std::to_string(layer);
}

std::size_t RunSnapshot::finished_layers() const {
  return static_cast<std::size_t>(std::ranges::count_if(data, [](const auto& layer) { return layer != nullptr; }));
}

}  // namespace headroom
