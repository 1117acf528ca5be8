#include "app/panels/parts/compare_cache.h"

#include <cstddef>
#include <string_view>

#include "app/panels/parts/data_range.h"
#include "app/session/commands.h"

namespace headroom {
namespace {

constexpr std::size_t kDifferenceBytes = std::size_t{64} << 20;

}  // namespace

CompareCache::CompareCache(std::function<void()> wake, std::function<void()> start_thread)
    : wake_(std::move(wake)), start_thread_(std::move(start_thread)) {}
CompareCache::~CompareCache() = default;

DifferenceJobs* CompareCache::jobs() {
  if (!jobs_ && wake_) jobs_ = std::make_unique<DifferenceJobs>(wake_, start_thread_);
  return jobs_.get();
}

std::shared_ptr<const HeadDifferences> CompareCache::distances(const State& state) {
  const RunEntry *a = state.shown(), *b = state.other();
  if (!a || !b || !a->data || !b->data || a->data->length != b->data->length || !jobs()) return nullptr;
  const std::optional<HeadRef>& head = state.view.selection.head;
  jobs_->compare(a->data, b->data, head ? std::optional(std::pair(head->layer, head->head)) : std::nullopt);
  (void)jobs_->collect();
  return jobs_->results();
}

const MapImage& CompareCache::difference(const MapSource& a, const MapSource& b, const Tile& tile_a,
                                         const Tile& tile_b) {
  const std::pair key(tile_a.serial, tile_b.serial);
  if (const auto found = differences_.find(key); found != differences_.end()) {
    uses_.splice(uses_.end(), uses_, found->second.use);
    return found->second.image;
  }
  auto values = std::make_shared<std::vector<float>>(difference_texels(a, b, tile_a, tile_b));
  difference_bytes_ += values->size() * sizeof(float);
  MapImage image{next_image_id(), 1, tile_a.columns, tile_a.rows, std::move(values)};
  while (difference_bytes_ > kDifferenceBytes && !uses_.empty()) {
    const auto oldest = differences_.find(uses_.front());
    difference_bytes_ -= oldest->second.image.values->size() * sizeof(float);
    differences_.erase(oldest);
    uses_.pop_front();
  }
  return differences_.emplace(key, Difference{std::move(image), uses_.insert(uses_.end(), key)}).first->second.image;
}

const HeadSeries& CompareCache::series(std::size_t which, const std::shared_ptr<const RunSnapshot>& run,
                                       const LayerSnapshot& layer, std::int64_t head) {
  Series& kept = series_[which];
  if (kept.run != run || kept.layer != &layer || kept.head != head)
    kept = {run, &layer, head, make_head_series(*run, layer, head)};
  return kept.series;
}

DataRange CompareCache::kept_range(std::string_view name, std::uint64_t key, const std::function<DataRange()>& make) {
  const auto found = ranges_.find(name);
  if (found != ranges_.end() && found->second.key == key) return found->second.range;
  Kept& kept = ranges_[std::string(name)];
  kept = {key, make()};
  return kept.range;
}

double CompareCache::run_bytes(const std::shared_ptr<const OpenedModel>& model,
                               const std::shared_ptr<const Prompt>& prompt, std::int64_t layers) {
  if (bytes_.model != model || bytes_.prompt != prompt) {
    LiveRunRequest request;
    request.model = model;
    request.prompt = prompt;
    bytes_ = {model, prompt, static_cast<double>(estimate_live_run(request).layer_bytes)};
  }
  return bytes_.of_a_layer * static_cast<double>(layers);
}

const std::string& CompareCache::reason(const CommandTable& commands, const State& state, const std::string& line) {
  std::string of = state.view.selection.head ? head_text(*state.view.selection.head) : "";
  const RunEntry* shown = state.shown();
  of += " " + std::to_string(shown ? shown->id : -1) + " " + std::to_string(shown ? shown->model : -1);
  of += state.selected_layer() ? " there" : "";
  of += " in " + state.view.what_if.scope;
  if (of != reasons_of_) {
    reasons_of_ = of;
    reasons_.clear();
  }
  const auto found = reasons_.find(line);
  if (found != reasons_.end()) return found->second;
  if (reasons_.size() > 400) reasons_.clear();
  return reasons_.emplace(line, commands.disabled_reason(state, line)).first->second;
}

}  // namespace headroom
