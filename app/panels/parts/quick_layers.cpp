#include "app/panels/parts/quick_layers.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/model/what_if_title.h"

namespace headroom {

std::optional<QuickLayers> quick_layers(const RunEntry& run) {
  if (!run.quick || run.what_ifs.empty()) return {};
  QuickLayers layers;
  // The last change is the one that was tried; those before it may be of the run it changes.
  const std::string scope = split_scope(run.what_ifs.back()).scope;
  if (!scope.empty()) {
    layers.computed = std::strtoll(scope.c_str() + 1, nullptr, 10);
    layers.one_head = scope.find('.') != std::string::npos;
    return layers;
  }
  layers.before_same = false;
  if (!run.data) return {};
  for (const auto& layer : run.data->data)
    if (layer && layer->heads.size() < run.data->heads.size()) {
      layers.computed = layer->layer;
      return layers;
    }
  return {};
}

ComparedLayers::ComparedLayers(const RunEntry& a, const RunEntry& b) {
  for (const RunEntry* run : {&b, &a})
    if (!quick_) quick_ = quick_layers(*run), run_ = run;
  related_ = quick_ && run_->base == (run_ == &b ? a.id : b.id);
}

bool ComparedLayers::same(HeadRef head) const {
  if (!related_ || stale(head.layer)) return false;
  if (head.layer < quick_->computed) return true;
  const LayerSnapshot* layer = quick_->one_head && run_->data ? run_->data->layer(head.layer) : nullptr;
  return layer && layer->head_index(head.head) < 0;
}

std::optional<std::int64_t> stale_below(const State& state) {
  const RunEntry* shown = state.shown();
  const RunEntry* other = state.view.centre == CentreView::Map ? nullptr : state.other();
  for (const RunEntry* run : {other, shown})
    if (run)
      if (const auto layers = quick_layers(*run)) return layers->computed;
  return {};
}

}  // namespace headroom
