#include "app/panels/map/map_subject.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/panels/map/memory_state.h"
#include "app/plot/token_text.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

std::string title_of_layer(std::string name) {
  if (!name.empty() && name.starts_with("layer ")) name.front() = 'L';
  return name;
}

const std::string* text_at(const RunSnapshot* data, TokenAxis axis, std::int64_t i) {
  return data ? axis_text(*data, axis, i) : nullptr;
}

// A run file's pooled map, for kinds that it may hold.
void take_pooled(MapSubject& subject) {
  std::span<const float> cells;
  const std::size_t part = [&]() -> std::size_t { return subject.kind == MapKind::Second ? 1 : 0; }();
  if (subject.kind == MapKind::Net) {
    switch (subject.pooling) {
      case Pooling::MaxMagnitude:
        cells = subject.layer->row_values("maps/pooled_signed_extreme", subject.ref.head);
        if (cells.empty()) cells = subject.layer->row_values("maps/pooled_max_abs", subject.ref.head);  // older files
        break;
      case Pooling::Mean: cells = subject.layer->row_values("maps/pooled_mean", subject.ref.head); break;
      case Pooling::Positive: cells = subject.layer->row_values("maps/pooled_positive", subject.ref.head); break;
      case Pooling::Negative: cells = subject.layer->row_values("maps/pooled_negative", subject.ref.head); break;
    }
  } else if (subject.kind == MapKind::First || subject.kind == MapKind::Second) {
    const bool mean = subject.pooling == Pooling::Mean;
    cells = subject.layer->row_values(mean ? "maps/pooled_mean_components" : "maps/pooled_max_components",
                                      subject.ref.head);
    cells = cells.subspan(part * (cells.size() / 2), cells.size() / 2);
  }
  const auto blocks = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(cells.size()))));
  if (blocks < 1 || blocks * blocks != static_cast<std::int64_t>(cells.size())) return;
  subject.pooled.assign(cells.begin(), cells.end());
  subject.pooled_blocks = blocks;
}

}  // namespace

kernels::WindowMap window_map(MapKind kind) {
  switch (kind) {
    case MapKind::Net: return kernels::WindowMap::Net;
    case MapKind::First: return kernels::WindowMap::First;
    case MapKind::Second: return kernels::WindowMap::Second;
    case MapKind::ScaledSecond: return kernels::WindowMap::ScaledSecond;
    case MapKind::Logits: return kernels::WindowMap::FirstLogits;
  }
  return kernels::WindowMap::Net;
}

std::string value_symbol(MapKind kind, bool differential) {
  switch (kind) {
    case MapKind::Net: return differential ? "w" : "a";
    case MapKind::First: return differential ? "a¹" : "a";
    case MapKind::Second: return "a²";
    case MapKind::ScaledSecond: return "λ·a²";
    case MapKind::Logits: return differential ? "z¹" : "z";
  }
  return "";
}

std::string kind_title(MapKind kind, bool differential) {
  switch (kind) {
    case MapKind::Net: return differential ? "net" : "weights";
    case MapKind::First: return "first";
    case MapKind::Second: return "second";
    case MapKind::ScaledSecond: return "λ · second";
    case MapKind::Logits: return "logits";
  }
  return "";
}

std::string kind_disabled(const MapSubject& subject, MapKind kind) {
  if (!subject.program) return "no head is selected";
  const bool first = subject.program->has_first(), second = subject.program->has_second();
  if (subject.status == MapStatus::Pooled || subject.status == MapStatus::NotKept) {
    if (kind == MapKind::Net) return "";
    return "only pooled net maps are in the run file";
  }
  switch (kind) {
    case MapKind::Net: return "";
    case MapKind::First:
      if (!second) return "this head has one map: see weights";
      return first ? "" : "the first map is off in this run";
    case MapKind::Second:
    case MapKind::ScaledSecond: return second ? "" : "this head has no second map";
    case MapKind::Logits: return first ? "" : "the first map is off in this run";
  }
  return "";
}

MapSubject map_subject(const State& state) { return map_subject(state, state.shown()); }

MapSubject map_subject(const State& state, const RunEntry* entry) {
  MapSubject subject;
  subject.run = entry;
  subject.data = entry ? entry->data.get() : nullptr;
  const MapView& view = state.view.map;
  if (const ModelEntry* opening = !subject.data ? state.opening_model() : nullptr; opening && !subject.run) {
    subject.headline = "Opening " + opening->name;
    subject.why = "Headers are read; the weights stay on the disk until a run needs them.";
    return subject;
  }
  if (subject.run && lacks_memory(*subject.run)) {
    subject.headline = memory_headline(*subject.run);
    return subject;
  }
  if (!subject.run || (subject.run->status == RunStatus::Waiting && !subject.data)) {
    subject.headline = state.nothing_open() ? "Nothing is open" : "Nothing has run yet";
    subject.why = state.nothing_open()
                      ? "Attention maps of the selected head appear here. Open a checkpoint, or drop one on the window."
                      : "Attention maps of the selected head appear here after a run.";
    subject.action = state.nothing_open() ? "Open…" : "Run";
    subject.command = state.nothing_open() ? "open.dialog" : "run";
    return subject;
  }
  const RunEntry& run = *subject.run;
  const bool going_on = run.status == RunStatus::Running;
  if (!state.view.selection.head) {
    subject.status = MapStatus::NoHead;
    subject.headline = going_on && !subject.data ? "The first layer is being computed" : "No head is selected";
    subject.why = going_on && !subject.data ? run.doing : "Click a head in the atlas, or use the arrow keys.";
    return subject;
  }
  subject.ref = *state.view.selection.head;
  subject.length = subject.data ? subject.data->length : 0;
  subject.layer = subject.data ? subject.data->layer(subject.ref.layer) : nullptr;
  const std::int64_t index = subject.layer ? subject.layer->head_index(subject.ref.head) : -1;
  if (index < 0) {
    subject.status = MapStatus::NotComputed;
    subject.headline = title_of_layer(state.layer_name(subject.ref.layer)) + " is not computed yet";
    if (going_on) {
      subject.why = run.doing.empty()        ? "It is computed in a moment."
                    : run.doing == "waiting" ? "The run has not begun yet."
                                             : "The run is at " + run.doing + ".";
    } else if (subject.layer) {
      subject.headline = head_text(subject.ref) + " was not measured";
      subject.why = "This run measured other heads of the layer.";
    } else {
      subject.headline = title_of_layer(state.layer_name(subject.ref.layer)) + " was not computed";
      subject.why = run.status == RunStatus::Cancelled ? "The run was cancelled before it."
                    : run.status == RunStatus::Failed  ? "The run failed before it."
                                                       : "This run does not hold the layer.";
      if (run.model >= 0) {
        subject.action = "Run again";
        subject.command = "run";
      }
    }
    return subject;
  }
  subject.program = &subject.layer->programs[static_cast<std::size_t>(index)];
  subject.differential = subject.program->has_second();
  subject.pooling = view.pooling;
  subject.source = subject.layer->maps;
  subject.head = subject.source ? subject.source->find(subject.ref.head) : nullptr;
  subject.status = subject.head ? MapStatus::Ready : MapStatus::NotKept;
  subject.kind = kind_disabled(subject, view.kind).empty() ? view.kind : MapKind::Net;
  subject.is_logits = subject.kind == MapKind::Logits;
  subject.is_signed =
      keeps_sign(subject.pooling) && (subject.is_logits || (subject.kind == MapKind::Net && subject.differential));
  if (subject.head) {
    subject.length = subject.source->length;
    subject.rows = subject.source->row_count();
    subject.keys = subject.source->key_count();
    // Of calls that begin at a later position the map itself says what is masked.
    const bool from_start = subject.source->first_query == 0;
    subject.causal = subject.source->causal && from_start;
    subject.sliding = from_start ? subject.source->window : 0;
    return subject;
  }
  take_pooled(subject);
  if (subject.pooled_blocks > 0) {
    subject.status = MapStatus::Pooled;
    return subject;
  }
  if (run.model < 0) {
    subject.headline = "The run file holds no maps";
    subject.why =
        "Numbers of the heads are there; maps come with analyze --maps, or when the checkpoint is opened and run.";
    subject.action = "Open its checkpoint and run";
    subject.command = "run.checkpoint";
  } else {
    subject.headline = "The maps of " + state.layer_name(subject.ref.layer) + " were not kept";
    subject.why = run.budget && !run.budget->maps
                      ? "This run was asked to keep no maps."
                      : "Queries and keys of all layers exceed the memory for runs; those measured first gave way.";
    if (run.budget && run.budget->maps && run.budget->fit.kept_layers < run.budget->memory.layers)
      subject.why += " There was room for " + std::to_string(run.budget->fit.kept_layers) + " of " +
                     std::to_string(run.budget->memory.layers) + " layers in " + budget_text(*run.budget) + ".";
    subject.action = "Compute " + state.layer_name(subject.ref.layer) + " again";
    subject.command = "layer.recompute " + std::to_string(subject.ref.layer);
  }
  return subject;
}

TileKey MapSubject::like() const { return like(kind); }
TileKey MapSubject::like(MapKind other) const {
  TileKey key;
  key.source = source ? source->id : 0;
  key.head = ref.head;
  key.map = window_map(other);
  key.pooling = pooling;
  return key;
}

std::string MapSubject::token(std::int64_t i) const {
  const std::string* text = text_at(data, layer ? layer->axes.rows : TokenAxis::Tokens, i);
  return text ? visible_token(*text) : "";
}
std::string MapSubject::key_token(std::int64_t i) const {
  const std::string* text = text_at(data, layer ? layer->axes.keys : TokenAxis::Tokens, i);
  return text ? visible_token(*text) : "";
}
std::string MapSubject::label(std::int64_t i) const {
  const std::string* text = text_at(data, layer ? layer->axes.rows : TokenAxis::Tokens, i);
  return text ? token_label(*text) : grouped_text(i);
}
std::string MapSubject::key_label(std::int64_t i) const {
  const std::string* text = text_at(data, layer ? layer->axes.keys : TokenAxis::Tokens, i);
  return text ? token_label(*text) : grouped_text(i);
}

std::span<const float> MapSubject::received() const {
  if (!layer) return {};
  const std::size_t n = static_cast<std::size_t>(length);
  // A call of a capture may have fewer keys than the run has positions.
  if (differential && kind == MapKind::Net) {
    const auto net = layer->row_values("keys/attention_received_net", ref.head);
    if (net.size() >= n) return net.first(n);
  }
  const auto both = layer->row_values("keys/attention_received", ref.head);
  if (both.size() < 2 * n) return {};
  const bool second = kind == MapKind::Second || kind == MapKind::ScaledSecond || (program && !program->has_first());
  return both.subspan(second ? both.size() / 2 : 0, n);
}

double MapSubject::value(std::int64_t query, std::int64_t key) const { return value_of(kind, query, key); }
std::string MapSubject::value_text(std::int64_t query, std::int64_t key) const {
  const double exact = value(query, key);
  if (std::isfinite(exact)) return readout_text(exact);
  return head && source->cell(ref.head, query, key).visible ? "not finite" : "masked";
}
double MapSubject::value_of(MapKind other, std::int64_t query, std::int64_t key) const {
  if (!head || query < 0 || key < 0 || query >= length || key >= length) return kNaN;
  const MapSource::Cell cell = source->cell(ref.head, query, key);
  if (!cell.visible) return kNaN;
  switch (other) {
    case MapKind::Net: return cell.net;
    case MapKind::First: return cell.first;
    case MapKind::Second: return cell.second;
    case MapKind::ScaledSecond: return cell.lambda * cell.second;
    case MapKind::Logits: return cell.first_logit;
  }
  return kNaN;
}

RowNumbers row_numbers(std::span<const float> row, bool is_signed) {
  RowNumbers numbers;
  double squares = 0.0;
  for (const float value : row) {
    if (std::isnan(value)) continue;
    const double v = static_cast<double>(value);
    numbers.sum += v;
    squares += v * v;
    if (v > 0.0) numbers.entropy -= v * std::log(v);
  }
  numbers.l2 = std::sqrt(squares);
  if (is_signed) numbers.entropy = kNaN;
  return numbers;
}

}  // namespace headroom
