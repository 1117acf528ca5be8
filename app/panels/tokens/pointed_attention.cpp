#include "app/panels/tokens/pointed_attention.h"

#include <algorithm>
#include <any>
#include <chrono>
#include <cmath>
#include <functional>

namespace headroom {
namespace {

// Of a frame that a mean may take; what is left goes on in the next one.
constexpr std::chrono::microseconds kMeanTime{4000};
constexpr std::size_t kHeadsAtKey = 8;

using Instant = std::chrono::steady_clock::time_point;

bool of_the_text(const LayerSnapshot& layer) {
  return layer.axes.rows == TokenAxis::Tokens && layer.axes.keys == TokenAxis::Tokens && layer.first_query == 0;
}

// A head whose map can be asked.
struct MappedHead {
  const LayerSnapshot* layer = nullptr;
  std::int64_t head = 0;
};

// `only`: of that layer; −1: of all.
std::vector<MappedHead> mapped_heads(const RunSnapshot& run, std::int64_t only) {
  std::vector<MappedHead> heads;
  for (const auto& layer : run.data)
    if (layer && layer->maps && of_the_text(*layer) && (only < 0 || layer->layer == only))
      for (const std::int64_t head : layer->heads)
        if (layer->maps->find(head) != nullptr) heads.push_back({layer.get(), head});
  return heads;
}

bool has_signs(const LayerSnapshot& layer, std::int64_t head) {
  const std::int64_t at = layer.head_index(head);
  return at >= 0 && static_cast<std::size_t>(at) < layer.programs.size() &&
         layer.programs[static_cast<std::size_t>(at)].has_second();
}

struct RowMean {
  std::int64_t only = -2, query = -1;
  std::vector<MappedHead> heads;
  std::vector<double> sums;
  std::size_t done = 0;
  std::shared_ptr<const std::vector<float>> mean;
};

// One row of a head, on this thread.
bool add_row(const MappedHead& of, std::int64_t query, std::vector<float>& row, std::vector<double>& sums) {
  kernels::WindowRequest request;
  request.map = kernels::WindowMap::Net;
  request.row_begin = query;
  request.rows = 1;
  request.keys = of.layer->maps->length;
  row.resize(static_cast<std::size_t>(request.keys));
  kernels::WindowCells cells;
  cells.mean = row.data();
  cells.stride = request.keys;
  const auto alone = [](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
    for (std::int64_t task = 0; task < tasks; ++task) body(task);
  };
  if (!of.layer->maps->window_of(of.head, request, cells, alone, [] { return false; })) return false;
  for (std::size_t j = 0; j < sums.size() && j < row.size(); ++j) {
    if (std::isnan(row[j])) continue;
    sums[j] = (std::isnan(sums[j]) ? 0.0 : sums[j]) + static_cast<double>(row[j]);
  }
  return true;
}

void find_mean(PanelContext& context, RunCache& memory, std::int64_t only, std::int64_t query,
               PointedAttention& found) {
  std::any& piece = memory.piece("mean row");
  if (!piece.has_value()) piece = RowMean();
  RowMean& mean = *std::any_cast<RowMean>(&piece);
  const RunSnapshot& run = *memory.run();
  if (mean.only != only || mean.query != query) {
    mean = RowMean{only, query, mapped_heads(run, only), {}, 0, nullptr};
    mean.sums.assign(static_cast<std::size_t>(run.length), std::nan(""));
  }
  found.all = static_cast<std::int64_t>(mean.heads.size());
  if (mean.heads.empty()) {
    found.reason = "no maps are kept of these layers";
    return;
  }
  const Instant end = std::chrono::steady_clock::now() + kMeanTime;
  std::vector<float> row;
  const std::size_t before = mean.done;
  while (mean.done < mean.heads.size() && (mean.done == before || std::chrono::steady_clock::now() < end)) {
    if (!add_row(mean.heads[mean.done], query, row, mean.sums)) {
      found.reason = "a row could not be computed";
      return;
    }
    ++mean.done;
  }
  if (mean.done != before || !mean.mean) {
    auto values = std::make_shared<std::vector<float>>(mean.sums.size());
    for (std::size_t j = 0; j < values->size(); ++j)
      (*values)[j] = static_cast<float>(mean.sums[j] / static_cast<double>(mean.done));
    mean.mean = std::move(values);
  }
  if (mean.done < mean.heads.size()) context.ui.wake_in(0.0);
  found.weights = mean.mean;
  found.done = static_cast<std::int64_t>(mean.done);
  found.is_signed = std::ranges::any_of(mean.heads, [](const MappedHead& of) { return has_signs(*of.layer, of.head); });
}

void find_strongest(PointedAttention& found) {
  const std::vector<float>& weights = *found.weights;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (!std::isfinite(weights[j])) continue;
    ++found.visible;
    if (weights[j] == 0.0f) continue;
    const float size = std::abs(weights[j]);
    auto& list = found.strongest;
    const auto larger = [&](std::int64_t key) { return std::abs(found.weight(key)) >= size; };
    if (list.size() == PointedAttention::kMostKeys && larger(list.back())) continue;
    if (list.size() == PointedAttention::kMostKeys) list.pop_back();
    list.insert(std::ranges::find_if_not(list, larger), static_cast<std::int64_t>(j));
  }
}

}  // namespace

double PointedAttention::sum() const {
  double total = 0.0;
  for (const float value : *weights) total += std::isfinite(value) ? static_cast<double>(value) : 0.0;
  return total;
}

double PointedAttention::entropy() const {
  double total = 0.0;
  for (const float value : *weights)
    if (value > 0.0f) total -= static_cast<double>(value) * std::log(static_cast<double>(value));
  return total;
}

std::optional<std::int64_t> pointed_token(const State& state) {
  const RunSnapshot* run = state.data();
  if (run == nullptr || run->length == 0) return {};
  const std::optional<std::int64_t> asked = state.hover.query ? state.hover.query : state.view.selection.query;
  // Behind the end of the shorter one of two sequences there is none.
  std::int64_t last = run->length - 1;
  while (last > 0 && run->prompt && run->prompt->ids[static_cast<std::size_t>(last)] < 0) --last;
  return std::clamp<std::int64_t>(asked.value_or(last), 0, last);
}

PointedAttention pointed_attention(PanelContext& context, RunCache& memory, std::int64_t token) {
  PointedAttention found;
  const State& state = context.state;
  const std::optional<HeadRef> head = state.view.selection.head;
  const LayerSnapshot* layer = state.selected_layer();
  const TokenAttention whose = state.view.tokens.attention;
  if (whose == TokenAttention::Mean) {
    const std::size_t heads = memory.run()->finished_layers() * memory.run()->heads.size();
    found.name = "mean of " + std::to_string(heads);
    find_mean(context, memory, -1, token, found);
    if (found.all > 0 && found.all < static_cast<std::int64_t>(heads))
      found.name = "mean of " + std::to_string(found.all) + " of " + std::to_string(heads);
  } else if (!head || layer == nullptr || layer->head_index(head->head) < 0) {
    found.reason = head ? "the layer is not computed yet" : "select a head";
  } else if (!of_the_text(*layer)) {
    found.reason = "rows and keys of this layer are not both of this text";
  } else if (layer->maps == nullptr || layer->maps->find(head->head) == nullptr) {
    found.reason = "no maps are kept of this layer";
  } else if (whose == TokenAttention::Layer) {
    found.name = state.layer_name(head->layer);
    find_mean(context, memory, head->layer, token, found);
  } else {
    found.name = head_text(*head);
    found.is_signed = has_signs(*layer, head->head);
    found.weights = context.tiles.row(layer->maps, head->head, kernels::WindowMap::Net, token);
    if (!found.weights) found.reason = "being computed";
  }
  if (found.weights) find_strongest(found);
  return found;
}

KeyHeads heads_at(PanelContext& context, RunCache& memory, std::int64_t query, std::int64_t key) {
  struct Search {
    std::int64_t query = -1, key = -1;
    std::vector<MappedHead> heads;
    std::size_t done = 0;
    KeyHeads found;
  };
  std::any& piece = memory.piece("heads at a key");
  if (!piece.has_value()) piece = Search();
  Search& search = *std::any_cast<Search>(&piece);
  if (search.query != query || search.key != key) search = {query, key, mapped_heads(*memory.run(), -1), 0, {}};
  const Instant end = std::chrono::steady_clock::now() + kMeanTime;
  auto& list = search.found.heads;
  for (; search.done < search.heads.size() && std::chrono::steady_clock::now() < end; ++search.done) {
    const MappedHead& of = search.heads[search.done];
    const MapSource::Cell cell = of.layer->maps->cell(of.head, query, key);
    if (!cell.visible || !std::isfinite(cell.net)) continue;
    const auto larger = [&](const auto& entry) { return std::abs(entry.second) >= std::abs(cell.net); };
    list.insert(std::ranges::find_if_not(list, larger), {HeadRef{of.layer->layer, of.head}, cell.net});
    if (list.size() > kHeadsAtKey) list.pop_back();
  }
  search.found.complete = search.done == search.heads.size();
  if (!search.found.complete) context.ui.wake_in(0.0);
  return search.found;
}

}  // namespace headroom
