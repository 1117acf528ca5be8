#include "app/panels/what_if/what_if_subject.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/session/commands.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/model/what_if_title.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

const LayerSnapshot* layer_of(const RunEntry* run, HeadRef head) {
  const LayerSnapshot* layer = run && run->data ? run->data->layer(head.layer) : nullptr;
  return layer && layer->head_index(head.head) >= 0 ? layer : nullptr;
}

std::string name_of(std::string_view change) { return std::string(change.substr(0, change.find('='))); }

double value_of(const LayerSnapshot* layer, const QuantityInfo& info, std::int64_t head) {
  const std::span<const double> values = layer ? layer->values(info.name, head) : std::span<const double>();
  return info.default_index < values.size() ? values[info.default_index] : kNaN;
}

constexpr const char* kNumbers[] = {"sink_score",          "context_rms_relative_mean",
                                    "weight_l2_mean",      "entropy_normalized_mean",
                                    "effective_keys_mean", "coherence_mean",
                                    "mean_distance",       "previous_token_score",
                                    "induction_score",     "implicit_sink_mass",
                                    "lambda_mean",         "negative_mass_mean",
                                    "map_cosine_mean",     "output_cancellation_mean",
                                    "norm_gain_median",    "gate_mean",
                                    "rows_above_bound"};

}  // namespace

WhatIfSubject what_if_subject(const PanelContext& context, CompareCache& memory) {
  const State& state = context.state;
  WhatIfSubject subject;
  subject.base = state.shown();
  subject.blocked = context.commands.disabled_reason(state, "what-if.open");
  if (!subject.base || !state.view.selection.head) return subject;
  subject.head = *state.view.selection.head;
  subject.layer_before = layer_of(subject.base, subject.head);
  if (!subject.blocked.empty()) return subject;
  subject.status = WhatIfSubject::Status::NothingChosen;
  if (state.view.what_if.changes.empty()) return subject;
  subject.status = WhatIfSubject::Status::Computing;
  const RunEntry* other = state.other();
  if (other && other->base == subject.base->id) subject.run = other;
  std::optional<CompareCache::Quick>& last = memory.last_quick();
  if (const LayerSnapshot* layer = layer_of(subject.run, subject.head)) {
    subject.after = subject.run;
    subject.layer_after = layer;
    subject.status = WhatIfSubject::Status::Done;
    last = CompareCache::Quick{subject.base->id, subject.base->data, subject.head, *subject.run};
    return subject;
  }
  if (!subject.run) {
    subject.status = WhatIfSubject::Status::NothingChosen;
    return subject;
  }
  if (subject.run->status == RunStatus::Failed || subject.run->status == RunStatus::Cancelled) {
    subject.status =
        subject.run->status == RunStatus::Failed ? WhatIfSubject::Status::Failed : WhatIfSubject::Status::Cancelled;
    return subject;
  }
  const bool same =
      last && last->base == subject.base->id && last->base_data == subject.base->data && last->head == subject.head;
  if (same) {
    subject.after = &last->entry;
    subject.layer_after = layer_of(subject.after, subject.head);
    subject.stale = true;
  }
  return subject;
}

std::string changes_title(const WhatIfState& what_if) {
  std::string text;
  for (const std::string& change : what_if.changes) text += (text.empty() ? "" : ", ") + change_title(change);
  return text;
}

std::vector<OfferedChange> offered_changes(const PanelContext& context, CompareCache& memory,
                                           const HeadProgram& program, std::int64_t head, double lambda) {
  const State& state = context.state;
  const std::vector<std::string>& active = state.view.what_if.changes;
  std::vector<OfferedChange> offers;
  const auto add = [&](std::string title, std::string change, std::string note) -> OfferedChange& {
    OfferedChange offer{std::move(title), std::move(note), std::move(change), false, {}, ""};
    offer.active = std::ranges::find(active, offer.change) != active.end();
    offers.push_back(std::move(offer));
    return offers.back();
  };
  // A number that is chosen already stays where it is.
  const auto add_slider = [&](std::string title, const std::string& name, double low, double high, double value) {
    bool chosen = false;
    for (const std::string& change : active) {
      if (name_of(change) != name) continue;
      const std::string text = change.substr(change.find('=') + 1);
      char* end = nullptr;
      const double number = std::strtod(text.c_str(), &end);
      if (end == text.c_str() || *end != 0) continue;  // lambda=none
      value = number;
      chosen = true;
    }
    OfferedChange& offer = add(std::move(title), name + "=" + format("%.3g", value), "");
    offer.slider = {std::min(low, value), std::max(high, value), value};
    offer.active = chosen;
  };
  if (program.normalizer == Normalizer::Softpick)
    add("softpick → softmax", "normalizer=softmax", "every row sums to 1");
  else if (!program.has_second() && program.sink == SinkSource::None)
    add("softmax → softpick", "normalizer=softpick", "logits below 0 weigh nothing");
  switch (program.sink) {
    case SinkSource::None: add("softmax → off-by-one", "normalizer=softmax_one", "a row may sum to less than 1"); break;
    case SinkSource::Zero: add("off-by-one → softmax", "normalizer=softmax", "every row sums to 1"); break;
    default: add("sink logit → off-by-one", "normalizer=softmax_one", "the sink's logit is 0"); break;
  }
  add("sink off", "sink=off", "the implicit key removed");
  add("key 0 hidden", "hide-key=0", "rows renormalise");
  const std::optional<std::int64_t>& key = state.view.selection.key;
  std::string pinned;
  for (const std::string& change : active)
    if (name_of(change) == "hide-key" && change != "hide-key=0") pinned = change;
  if (pinned.empty() && key && *key != 0) pinned = "hide-key=" + std::to_string(*key);
  if (pinned.empty()) {
    add("pinned key hidden", "", "").reason = "pin a key in the map";
  } else {
    add(change_title(pinned), pinned, "rows renormalise");
  }
  // About a quarter of the prompt, or what is chosen already.
  std::int64_t window = 4;
  while (state.shown() && state.shown()->data && window * 8 <= state.shown()->data->length) window *= 2;
  std::string keys = std::to_string(window);
  for (const std::string& change : active)
    if (name_of(change) == "window") keys = change.substr(0, change.find('+')).substr(change.find('=') + 1);
  add(change_title("window=" + keys), "window=" + keys, "earlier keys hidden");
  add("… and the first 4 keys", "window=" + keys + "+4", "attention sinks stay, as in StreamingLLM");
  add_slider("temperature", "temperature", 0.25, 4.0, 1.0);
  add_slider("λ constant", "lambda", 0.0, 2.0, std::isfinite(lambda) ? lambda : 0.8);
  add("no λ", "lambda=none", "a¹ − a²");
  add("λ without sigmoid", "lambda=raw", "the projection as it is");
  add("second map off", "second-map=off", "w = a¹");
  add("first map off", "first-map=off", "w = −λ·a²");
  const bool neighbours = program.first.query_block == 2 * head;
  add(neighbours ? "pairs by halves" : "pairs of neighbours", neighbours ? "pairing=halves" : "pairing=adjacent",
      "other query heads form the pair");
  add("norm off", "norm=off", "without the head's norm");
  add("gate off", "gate=off", "g = 1");
  add("head off", "head=off", "its output is 0");
  for (OfferedChange& offer : offers)
    if (!offer.change.empty()) offer.reason = memory.reason(context.commands, state, "what-if " + offer.change);
  // What does not fit comes last, in the same order.
  std::ranges::stable_partition(offers, [](const OfferedChange& offer) { return offer.reason.empty(); });
  return offers;
}

std::vector<ChangedNumber> changed_numbers(const WhatIfSubject& subject) {
  std::vector<ChangedNumber> numbers;
  for (const char* name : kNumbers) {
    const QuantityInfo* info = find_quantity_info(name);
    if (!info) continue;
    const double before = value_of(subject.layer_before, *info, subject.head.head),
                 after = value_of(subject.layer_after, *info, subject.head.head);
    if (std::isnan(before) && std::isnan(after)) continue;
    // Zero without exception: the head has no such thing.
    const bool absent = std::abs(before) < 1e-6 && !(std::abs(after) >= 1e-6);
    if (absent && (info->name == "implicit_sink_mass" || info->name == "negative_mass_mean")) continue;
    ChangedNumber number{name,
                         info->title + (info->percent ? ", %" : ""),
                         number_text(*info, before),
                         number_text(*info, after),
                         "–",
                         before,
                         after};
    if (!std::isnan(before) && !std::isnan(after))
      number.delta = signed_text(shown_value(*info, after) - shown_value(*info, before), info->decimals);
    numbers.push_back(std::move(number));
  }
  return numbers;
}

}  // namespace headroom
