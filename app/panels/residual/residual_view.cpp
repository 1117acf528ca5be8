#include "app/panels/residual/residual_view.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "app/plot/quantiles.h"

namespace headroom {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kMostGroups = 8, kMostListed = 200;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

double median_of(const std::vector<double>& values) { return quantile(NumberView(values), 0.5); }

void add_numbers(ResidualView& view) {
  const auto add = [&](ResidualView::ByBoundary& numbers, const std::vector<float>* of_tokens,
                       const StreamSpread& spread) {
    numbers.token.push_back(of_tokens && index(view.token) < of_tokens->size()
                                ? static_cast<double>((*of_tokens)[index(view.token)])
                                : kNaN);
    numbers.low.push_back(spread.low);
    numbers.lower.push_back(spread.lower);
    numbers.median.push_back(spread.median);
    numbers.upper.push_back(spread.upper);
    numbers.high.push_back(spread.high);
  };
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const ResidualBoundary* at = view.at(b);
    view.places.push_back(static_cast<double>(b));
    view.median.push_back(at ? at->median : kNaN);
    add(view.rms, at ? &at->rms : nullptr, at ? at->rms_spread : StreamSpread());
    add(view.kurtosis, at ? &at->kurtosis : nullptr, at ? at->kurtosis_spread : StreamSpread());
    if (at) ++view.there;
  }
}

// What is listed, each (token, channel) once. One that is massive somewhere is in the first list, with the boundaries
// at which it is; the others are in the second, with those at which they reach the least ratio.
void list_activations(ResidualView& view) {
  std::map<std::pair<std::int64_t, std::int64_t>, ListedActivation> massive, below;
  const auto note = [](auto& list, const LargeActivation& one, const ResidualBoundary& at) {
    ListedActivation& entry = list[{one.position, one.channel}];
    const double value = static_cast<double>(one.value);
    if (entry.boundaries.empty() || std::abs(value) > std::abs(entry.value)) {
      entry.value = value;
      entry.ratio = std::abs(value) / at.median;
      entry.boundary = at.boundary;
    }
    entry.token = one.position;
    entry.channel = one.channel;
    entry.boundaries.push_back(at.boundary);
  };
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const ResidualBoundary* at = view.at(b);
    if (!at) continue;
    for (const LargeActivation& one : at->largest) {
      const double size = std::abs(static_cast<double>(one.value));
      if (is_massive(size, at->median)) note(massive, one, *at);
      if (size >= view.of.least * at->median) note(below, one, *at);
    }
    if (!at->largest.empty() &&
        (!view.largest || std::abs(at->largest.front().value) > std::abs(view.largest->value))) {
      view.largest = at->largest.front();
      view.largest_boundary = b;
      view.largest_ratio = std::abs(static_cast<double>(view.largest->value)) / at->median;
    }
  }
  for (const auto& [key, entry] : massive) below.erase(key);
  for (const auto& [from, to] : {std::pair(&massive, &view.massive), std::pair(&below, &view.below)}) {
    for (auto& [key, entry] : *from) to->push_back(std::move(entry));
    std::ranges::stable_sort(*to, std::ranges::greater(), [](const auto& one) { return std::abs(one.value); });
    if (to->size() > kMostListed) to->resize(kMostListed);
  }
}

void colour_tokens(ResidualView& view) {
  std::map<std::int64_t, float> peaks;
  for (std::int64_t b = 0; b < view.boundaries; ++b)
    if (const ResidualBoundary* at = view.at(b))
      for (std::size_t i = 0; i < std::min<std::size_t>(3, at->largest.size()); ++i) {
        float& peak = peaks[at->largest[i].position];
        peak = std::max(peak, std::abs(at->largest[i].value));
      }
  std::vector<std::pair<float, std::int64_t>> order;
  for (const auto& [token, peak] : peaks) order.emplace_back(-peak, token);
  std::ranges::sort(order);
  for (const auto& [peak, token] : order)
    if (view.coloured.size() < kTokenColours) view.coloured.push_back(token);
}

// Where the largest activation has grown to half of what it becomes.
std::int64_t first_grown(const ResidualView& view) {
  if (!view.largest) return 0;
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const ResidualBoundary* at = view.at(b);
    if (at &&
        std::abs(at->value(view.largest->position, view.largest->channel)) >= 0.5f * std::abs(view.largest->value))
      return b;
  }
  return view.largest_boundary;
}

float cell_of(const ResidualBoundary& at, std::int64_t token, const ResidualView& view) {
  switch (view.of.cells) {
    case ResidualCells::Rms: return at.rms[index(token)];
    case ResidualCells::Largest: return std::abs(at.peak[index(token)]);
    case ResidualCells::Channel: break;
  }
  return std::abs(at.value(token, view.channel));
}

void fill_cells(ResidualView& view) {
  view.cells.assign(index(view.tokens * view.boundaries), kMissing);
  view.kept_from = -1;
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const ResidualBoundary* at = view.at(b);
    // An encoder's tokens are not the decoder's.
    if (!at || view.axis_of(b) != view.axis()) continue;
    if (view.kept_from < 0 && at->has_channel(view.channel)) view.kept_from = b;
    for (std::int64_t t = 0; t < std::min(view.tokens, at->rows); ++t)
      view.cells[index(t * view.boundaries + b)] = cell_of(*at, t, view);
  }
}

// The attention that each key receives from one head; empty where none is kept.
std::span<const float> received_by(const LayerSnapshot& layer, std::size_t h, bool& net) {
  const std::int64_t head = layer.heads[h];
  net = h < layer.programs.size() && layer.programs[h].has_second();
  const auto length = index(layer.length);
  if (net) {
    const std::span<const float> values = layer.row_values("keys/attention_received_net", head);
    return values.size() == length ? values : std::span<const float>();
  }
  const std::span<const float> values = layer.row_values("keys/attention_received", head);
  return values.size() == 2 * length ? values.first(length) : std::span<const float>();
}

// The layer that reads a boundary, where its keys are the boundary's tokens.
const LayerSnapshot* reader_of(const ResidualView& view, std::int64_t boundary) {
  const std::int64_t layer = view.run->layer_reading(boundary);
  const LayerSnapshot* found = layer < 0 ? nullptr : view.run->layer(layer);
  return found && found->axes.keys == view.axis() ? found : nullptr;
}

void fill_received(ResidualView& view) {
  view.received.assign(index(view.tokens * view.boundaries), kMissing);
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const LayerSnapshot* layer = reader_of(view, b);
    if (!layer) continue;
    std::vector<double> sums(index(view.tokens), 0.0);
    std::int64_t heads = 0;
    for (std::size_t h = 0; h < layer->heads.size(); ++h) {
      bool net = false;
      const std::span<const float> values = received_by(*layer, h, net);
      if (values.empty()) continue;
      view.signed_received = view.signed_received || net;
      ++heads;
      for (std::size_t t = 0; t < std::min(sums.size(), values.size()); ++t) sums[t] += static_cast<double>(values[t]);
    }
    view.heads = std::max(view.heads, heads);
    if (heads == 0) continue;
    for (std::size_t t = 0; t < sums.size(); ++t)
      view.received[t * index(view.boundaries) + index(b)] = static_cast<float>(sums[t] / static_cast<double>(heads));
  }
}

// Places in one column of [tokens, boundaries], largest value first; the first of equal ones first.
std::vector<std::int64_t> largest_in(const std::vector<float>& values, std::int64_t columns, std::int64_t column,
                                     std::size_t count, std::int64_t most_rows) {
  std::vector<std::pair<float, std::int64_t>> order;
  for (std::size_t i = index(column), t = 0; i < values.size(); i += index(columns), ++t)
    if (std::isfinite(values[i]) && static_cast<std::int64_t>(t) < most_rows)
      order.emplace_back(-values[i], static_cast<std::int64_t>(t));
  const std::size_t kept = std::min(count, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < kept; ++i) places.push_back(order[i].second);
  return places;
}

// Tokens in the order of their largest value over all boundaries.
std::vector<std::int64_t> largest_of_all(const std::vector<float>& values, std::int64_t columns, std::size_t count,
                                         std::int64_t most_rows) {
  std::vector<float> most(values.size() / std::max<std::size_t>(1, index(columns)), kMissing);
  for (std::size_t i = 0; i < most.size() * index(columns); ++i) {
    float& peak = most[i / index(columns)];
    if (std::isfinite(values[i]) && !(values[i] <= peak)) peak = values[i];
  }
  return largest_in(most, 1, 0, count, most_rows);
}

// Those that are listed first, then in turns by what the cells show and by attention received.
void choose_widened(ResidualView& view) {
  const auto add = [&](std::int64_t token) {
    if (view.widened.size() < std::min(kMostWidened, index(view.tokens)) &&
        std::ranges::find(view.widened, token) == view.widened.end())
      view.widened.push_back(token);
  };
  const auto listed = [&](const std::vector<ListedActivation>& list) {
    for (const ListedActivation& one : list)
      if (one.channel == view.channel && view.widened.size() < 6) add(one.token);
  };
  add(view.token);
  listed(view.massive);
  listed(view.below);
  const std::vector<std::int64_t> cells = largest_of_all(view.cells, view.boundaries, kMostWidened, view.tokens),
                                  received =
                                      largest_of_all(view.received, view.boundaries, kMostWidened, view.counted());
  for (std::size_t i = 0; i < kMostWidened; ++i) {
    if (i < received.size()) add(received[i]);
    if (i < cells.size()) add(cells[i]);
  }
  std::ranges::sort(view.widened);
}

// Whether the listed activations are there before each layer says which layers belong together.
void link_layers(ResidualView& view) {
  if (!view.largest) return;
  const std::int64_t channel = view.largest->channel, token = view.largest->position;
  std::vector<const ListedActivation*> listed;
  for (const auto* list : {&view.massive, &view.below})
    for (const ListedActivation& one : *list)
      if (one.channel == channel && listed.size() < 12) listed.push_back(&one);
  for (const ListedActivation* one : listed)
    if (one->token != token && view.companions.size() < 9) view.companions.push_back(one->token);
  std::ranges::sort(view.companions);
  std::pair<bool, bool> before;
  for (std::int64_t b = 0; b < view.boundaries; ++b) {
    const ResidualBoundary* at = view.at(b);
    if (!at || !reader_of(view, b)) continue;
    const std::int64_t layer = view.run->layer_reading(b);
    const auto reaches = [&](std::int64_t of) {
      return std::abs(static_cast<double>(at->value(of, channel))) >= view.of.least * at->median;
    };
    const std::pair now{reaches(token), std::ranges::any_of(view.companions, reaches)};
    if (!view.layers.empty() && now == before)
      view.layers.back().last = layer;
    else
      view.layers.push_back({layer, layer});
    before = now;
  }
  if (view.layers.size() > kMostGroups) view.layers.resize(kMostGroups);
  for (LinkedLayers& group_of : view.layers) {
    std::vector<double> sizes, received, others, drains;
    for (std::int64_t b = 0; b < view.boundaries; ++b) {
      const LayerSnapshot* layer = reader_of(view, b);
      if (!layer || !view.at(b) || layer->layer < group_of.first || layer->layer > group_of.last) continue;
      sizes.push_back(std::abs(static_cast<double>(view.at(b)->value(token, channel))));
      for (std::size_t h = 0; h < layer->heads.size(); ++h) {
        bool net = false;
        const std::span<const float> values = received_by(*layer, h, net);
        if (index(token) >= values.size()) continue;
        received.push_back(static_cast<double>(values[index(token)]));
        double sum = 0.0;
        for (const std::int64_t other : view.companions) sum += static_cast<double>(values[index(other)]);
        if (!view.companions.empty()) others.push_back(sum);
      }
      for (const std::vector<float>& norms : layer->value_norms) {
        double sum = 0.0, count = 0.0;
        for (const float norm : norms)
          if (std::isfinite(norm)) sum += static_cast<double>(norm), ++count;
        if (index(token) < norms.size() && sum > 0.0)
          drains.push_back(static_cast<double>(norms[index(token)]) * count / sum);
      }
    }
    group_of.value = median_of(sizes);
    group_of.received = median_of(received);
    group_of.others = median_of(others);
    group_of.drain = median_of(drains);
  }
}

}  // namespace

std::string ranges_text(const std::vector<std::int64_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i;
    while (end + 1 < indices.size() && indices[end + 1] == indices[end] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(indices[i]);
    if (end > i) text += "-" + std::to_string(indices[end]);
    i = end + 1;
  }
  return text;
}

TokenAxis ResidualView::axis_of(std::int64_t of_boundary) const {
  return of_boundary < run->encoder_boundaries ? TokenAxis::KeyTokens : TokenAxis::Tokens;
}

// The mean over one row of the last key says nothing; where rows see all keys, all count.
std::int64_t ResidualView::counted() const {
  for (const auto& layer : run->data)
    if (layer && !layer->visible.empty() && !layer->visible.front().empty() && layer->visible.front().front() > 1)
      return tokens;
  return tokens >= 4 * kFewestRows ? tokens - kFewestRows + 1 : tokens;
}

std::optional<ResidualView::Link> ResidualView::link(std::int64_t of_boundary) const {
  const std::vector<std::int64_t> largest_ones = largest_in(cells, boundaries, of_boundary, kLinked, counted()),
                                  attended = largest_in(received, boundaries, of_boundary, kLinked, counted());
  if (largest_ones.empty() || attended.empty()) return {};
  Link result;
  result.count = std::min(largest_ones.size(), attended.size());
  result.largest = largest_ones.front();
  result.attended = attended.front();
  for (const std::int64_t token_of : largest_ones)
    if (std::ranges::find(attended, token_of) != attended.end()) ++result.linked;
  return result;
}

std::shared_ptr<const ResidualView> make_residual_view(const std::shared_ptr<const RunSnapshot>& run,
                                                       const ResidualState& state, const ResidualView* before) {
  if (!run) return nullptr;
  const auto first = std::ranges::find_if(run->residual, [](const auto& at) { return at != nullptr; });
  if (first == run->residual.end()) return nullptr;
  auto view = std::make_shared<ResidualView>();
  view->run = run;
  view->of = state;
  view->boundaries = static_cast<std::int64_t>(run->residual.size());
  view->channels = (*first)->channels;
  view->token = std::clamp<std::int64_t>(state.token, 0, run->length - 1);
  list_activations(*view);
  view->channel = state.channel.value_or(view->largest ? view->largest->channel : 0);
  view->boundary = state.boundary.value_or(first_grown(*view));
  if (view->boundary >= view->boundaries) view->boundary = view->boundaries - 1;
  const ResidualBoundary* shown = view->at(view->boundary);
  view->tokens = shown ? shown->rows : (*first)->rows;
  add_numbers(*view);
  colour_tokens(*view);
  const bool same = before && before->run == run && before->axis() == view->axis() && before->tokens == view->tokens;
  if (same && before->of.cells == state.cells && before->channel == view->channel)
    view->cells = before->cells, view->kept_from = before->kept_from;
  else
    fill_cells(*view);
  if (same)
    view->received = before->received, view->signed_received = before->signed_received, view->heads = before->heads;
  else
    fill_received(*view);
  choose_widened(*view);
  link_layers(*view);
  return view;
}

std::string boundary_name(const RunSnapshot& run, std::int64_t boundary) {
  if (boundary == 0) return run.encoder_boundaries > 0 ? "input of the encoder" : "input of layer 0";
  if (boundary == run.encoder_boundaries) return "input of the decoder";
  const std::int64_t layer =
      run.encoder_boundaries > 0 && boundary > run.encoder_boundaries ? boundary - 2 : boundary - 1;
  const LayerSnapshot* found = run.layer(layer);
  return "output of " + (found && !found->call_name.empty() ? found->call_name : "layer " + std::to_string(layer));
}

std::vector<float> pooled_rows(const std::vector<float>& values, std::size_t columns, std::size_t height) {
  const std::size_t rows = columns > 0 ? values.size() / columns : 0;
  if (rows <= height) return values;
  std::vector<float> pooled(height * columns, kMissing);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < columns; ++c) {
      const float value = values[row * columns + c];
      float& most = pooled[row * height / rows * columns + c];
      if (!std::isnan(value) && !(std::abs(value) <= std::abs(most))) most = value;
    }
  return pooled;
}

}  // namespace headroom
