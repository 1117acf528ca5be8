#include "core/training/head_array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "core/io/run_file.h"
#include "core/training/state_file.h"

namespace headroom {
namespace {

constexpr const char* kSinkScore = "sink_score";
constexpr const char* kSinkScoreNet = "sink_score_net";
constexpr const char* kLogitMax = "logit_max";
constexpr std::int64_t kBlockValues = std::int64_t{1} << 21;  // that are in memory at once
constexpr std::int64_t kEndSteps = 500;                       // "at the end": that many last steps
constexpr float kNoValue = std::numeric_limits<float>::quiet_NaN();

// What counts of a head's components: of the sink score the first map's, of the logit the larger one's.
enum class Of : std::uint8_t { First, Largest };

float value_of(std::span<const double> components, Of of) {
  if (of == Of::First || components.size() == 1) return static_cast<float>(components[0]);
  double largest = components[0];
  for (const double value : components)
    if (std::isnan(largest) || value > largest) largest = value;
  return static_cast<float>(largest);
}

// Median, smallest, largest of the finite ones.
std::array<float, 3> quantiles_of(std::vector<float>& values) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) return {kNoValue, kNoValue, kNoValue};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  float median = *middle;
  if (values.size() % 2 == 0) median = 0.5f * (median + *std::max_element(values.begin(), middle));
  const auto [low, high] = std::ranges::minmax_element(values);
  return {median, *low, *high};
}

// Called with the values of each step, [layers · heads].
using PerStep = std::function<void(std::size_t step, std::span<const float> values, std::span<const double> all)>;

Result<void> for_each_step(const HeadArrays& arrays, const std::string& name, Of of, const PerStep& body) {
  const std::int64_t components = arrays.components(name), heads = arrays.layers * arrays.heads;
  const auto steps = static_cast<std::int64_t>(arrays.steps.size());
  const std::int64_t block = std::max<std::int64_t>(1, kBlockValues / std::max<std::int64_t>(1, heads * components));
  std::vector<float> values(static_cast<std::size_t>(heads));
  for (std::int64_t begin = 0; begin < steps; begin += block) {
    const std::int64_t count = std::min(block, steps - begin);
    HEADROOM_TRY(const std::vector<double> rows, arrays.rows(name, begin, count));
    const auto c = static_cast<std::size_t>(components);
    for (std::int64_t s = 0; s < count; ++s) {
      const auto all = std::span(rows).subspan(static_cast<std::size_t>(s) * values.size() * c, values.size() * c);
      for (std::size_t h = 0; h < values.size(); ++h) values[h] = value_of(all.subspan(h * c, c), of);
      body(static_cast<std::size_t>(begin + s), values, all);
    }
  }
  return {};
}

Result<HeadBand> band_of(const HeadArrays& arrays, const std::string& name, Of of, const PerStep& also = {}) {
  if (arrays.components(name) == 0) return HeadBand{};
  std::vector<float> median, low, high, sorted;
  HEADROOM_TRY_VOID(for_each_step(arrays, name, of,
                                  [&](std::size_t step, std::span<const float> values, std::span<const double> all) {
                                    if (also) also(step, values, all);
                                    sorted.assign(values.begin(), values.end());
                                    const auto at = quantiles_of(sorted);
                                    median.push_back(at[0]);
                                    low.push_back(at[1]);
                                    high.push_back(at[2]);
                                  }));
  return HeadBand{StepSeries(arrays.steps, std::move(median)), StepSeries(arrays.steps, std::move(low)),
                  StepSeries(arrays.steps, std::move(high))};
}

Result<StepSeries> curve_of(const HeadArrays& arrays, const std::string& name, HeadAddress head, Of of) {
  const std::int64_t components = arrays.components(name);
  if (components == 0) return StepSeries();
  HEADROOM_TRY(const std::vector<double> all, arrays.one(name, head));
  const auto c = static_cast<std::size_t>(components);
  std::vector<float> values;
  for (std::size_t i = 0; i + c <= all.size(); i += c) values.push_back(value_of(std::span(all).subspan(i, c), of));
  return StepSeries(arrays.steps, std::move(values));
}

std::vector<std::int64_t> whole(const std::vector<double>& values) {
  std::vector<std::int64_t> result;
  for (const double value : values) result.push_back(static_cast<std::int64_t>(value));
  return result;
}

}  // namespace

Result<HeadArrays> head_arrays_of(const std::shared_ptr<RunFile>& file) {
  HeadArrays arrays;
  const auto components = [file](const std::string& name) -> std::int64_t {
    const DatasetInfo* info = file->find(name);
    if (!info || info->shape.size() < 3 || info->axes.front() != "statistics_step") return 0;
    return info->shape.size() == 3 ? 1 : info->shape[3];
  };
  arrays.components = components;
  const DatasetInfo* like = file->find(kSinkScore);
  if (!like || components(kSinkScore) == 0) return arrays;
  arrays.layers = like->shape[1];
  arrays.heads = like->shape[2];
  HEADROOM_TRY(const std::vector<double> steps, file->read_axis("statistics_step"));
  arrays.steps = whole(steps);
  arrays.rows = [file](const std::string& name, std::int64_t begin, std::int64_t count) {
    std::vector<std::int64_t> start(file->find(name)->shape.size(), 0), extent = file->find(name)->shape;
    start[0] = begin;
    extent[0] = count;
    return file->read_part(name, start, extent);
  };
  arrays.one = [file](const std::string& name, HeadAddress head) {
    std::vector<std::int64_t> start(file->find(name)->shape.size(), 0), extent = file->find(name)->shape;
    start[1] = head.first;
    start[2] = head.second;
    extent[1] = extent[2] = 1;
    return file->read_part(name, start, extent);
  };
  return arrays;
}

Result<std::vector<double>> state_array(const StateFile& file, const std::string& name) {
  const std::string whole_name = "history/" + name;
  const std::vector<std::int64_t>* shape = file.shape(whole_name);
  if (!shape || shape->size() != 1) {
    Error error(ErrorCode::Corrupt, "the state of the training lacks a part of its history");
    return error.at_tensor(whole_name);
  }
  std::vector<double> values(static_cast<std::size_t>(shape->front()));
  HEADROOM_TRY_VOID(file.read(whole_name, std::span<double>(values)));
  return values;
}

Result<HeadArrays> head_arrays_of(const std::shared_ptr<const StateFile>& file, std::int64_t layers,
                                  std::int64_t heads) {
  HeadArrays arrays;
  arrays.components = [](const std::string&) { return std::int64_t{0}; };
  if (layers <= 0 || heads <= 0) return arrays;
  HEADROOM_TRY(const std::vector<double> steps, state_array(*file, "statistics_step"));
  const std::int64_t per_component = static_cast<std::int64_t>(steps.size()) * layers * heads;
  arrays.layers = layers;
  arrays.heads = heads;
  arrays.steps = whole(steps);
  const auto components = [file, per_component](const std::string& name) -> std::int64_t {
    const std::vector<std::int64_t>* shape = file->shape("history/heads/" + name);
    if (!shape || shape->size() != 1 || per_component == 0 || shape->front() % per_component != 0) return 0;
    return shape->front() / per_component;
  };
  arrays.components = components;
  // A state's arrays are read whole: they lie in memory while it trains, too.
  const auto cache = std::make_shared<std::map<std::string, std::vector<double>>>();
  const auto all = [file, cache](const std::string& name) -> Result<const std::vector<double>*> {
    const auto [at, fresh] = cache->try_emplace(name);
    if (fresh) {
      HEADROOM_TRY(at->second, state_array(*file, "heads/" + name));
    }
    return &at->second;
  };
  arrays.rows = [all, components, layers, heads](const std::string& name, std::int64_t begin,
                                                 std::int64_t count) -> Result<std::vector<double>> {
    HEADROOM_TRY(const std::vector<double>* values, all(name));
    const std::int64_t row = layers * heads * components(name);
    return std::vector<double>(values->begin() + begin * row, values->begin() + (begin + count) * row);
  };
  arrays.one = [all, components, layers, heads](const std::string& name,
                                                HeadAddress head) -> Result<std::vector<double>> {
    HEADROOM_TRY(const std::vector<double>* values, all(name));
    const auto c = static_cast<std::size_t>(components(name));
    const std::size_t row = static_cast<std::size_t>(layers * heads) * c;
    std::vector<double> result;
    for (std::size_t at = static_cast<std::size_t>(head.first * heads + head.second) * c; at + c <= values->size();
         at += row)
      result.insert(result.end(), values->begin() + static_cast<std::ptrdiff_t>(at),
                    values->begin() + static_cast<std::ptrdiff_t>(at + c));
    return result;
  };
  return arrays;
}

Result<void> read_heads(const HeadArrays& arrays, StoredHistory& history, std::optional<HeadAddress> head) {
  history.layers = arrays.layers;
  history.heads = arrays.heads;
  if (arrays.components(kSinkScore) == 0 || arrays.steps.empty()) return {};
  const std::int64_t end = arrays.steps.back() - kEndSteps;
  std::vector<double> sums(static_cast<std::size_t>(arrays.layers * arrays.heads), 0.0);
  const auto c = static_cast<std::size_t>(arrays.components(kSinkScore));
  HEADROOM_TRY(history.sink_score,
               band_of(arrays, kSinkScore, Of::First,
                       [&](std::size_t step, std::span<const float> values, std::span<const double> all) {
                         for (std::size_t h = 0; c > 1 && h < values.size(); ++h)
                           history.second_maps = history.second_maps || std::isfinite(all[h * c + 1]);
                         for (std::size_t h = 0; arrays.steps[step] > end && h < values.size(); ++h)
                           sums[h] += static_cast<double>(values[h]);
                       }));
  HEADROOM_TRY(history.sink_score_net, band_of(arrays, kSinkScoreNet, Of::First));
  HEADROOM_TRY(history.logit_max, band_of(arrays, kLogitMax, Of::Largest));
  std::size_t largest = 0;
  for (std::size_t h = 0; h < sums.size(); ++h)
    if (std::isnan(sums[largest]) || sums[h] > sums[largest]) largest = h;
  history.sink_head =
      HeadAddress{static_cast<std::int64_t>(largest) / arrays.heads, static_cast<std::int64_t>(largest) % arrays.heads};
  const HeadAddress wanted = head.value_or(*history.sink_head);
  if (wanted.first >= arrays.layers || wanted.second >= arrays.heads) return {};
  HEADROOM_TRY(history.curves[wanted], curves_of(arrays, wanted));
  return {};
}

Result<HeadCurves> curves_of(const HeadArrays& arrays, HeadAddress head) {
  HeadCurves curves;
  HEADROOM_TRY(curves.sink_score, curve_of(arrays, kSinkScore, head, Of::First));
  HEADROOM_TRY(curves.sink_score_net, curve_of(arrays, kSinkScoreNet, head, Of::First));
  HEADROOM_TRY(curves.logit_max, curve_of(arrays, kLogitMax, head, Of::Largest));
  return curves;
}

}  // namespace headroom
