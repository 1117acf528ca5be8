#include "core/run/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/io/hdf5_error.h"
#include "core/measure/call_fields.h"
#include "core/measure/residual_record.h"
#include "core/run/capture_prompt.h"
#include "core/run/layer_program.h"
#include "core/run/measured_layer.h"
#include "core/run/run_plan.h"

namespace headroom {
namespace {

// Keeps the largest difference from the model's own contexts, and marks heads beyond kContextTolerance.
void note_context(const LayerRecord& record, AnalysisOutcome& outcome) {
  for (const HeadRecord& head : record.heads) {
    if (std::isnan(head.context_difference)) continue;
    const std::string where = record.name + format(", head %lld", static_cast<long long>(head.head));
    ContextCheck& check = outcome.contexts;
    if (check.heads++ == 0 || head.context_difference > check.worst) {
      check.worst = head.context_difference;
      check.where = where;
    }
    if (head.context_difference > kContextTolerance) outcome.notes.push_back(describe_context(record, head));
  }
}

}  // namespace

Recorder::Recorder(RunFileWriter& writer, const RunShape& shape, const kernels::StatisticsRequest& request,
                   AnalysisOutcome& outcome, const ProgressReport& progress, const kernels::StopRequested& stop)
    : writer_(writer),
      shape_(shape),
      request_(request),
      outcome_(outcome),
      progress_(progress),
      stop_(stop),
      queue_({.most_waiting = kWaiting}) {}

Result<void> Recorder::submit(Worker::Job job) {
  return queue_.submit(
      [this, job = std::move(job)](const std::stop_token& token) {
        const StageTimer writing(&write_seconds_);
        prepare_hdf5();  // its settings are per thread where the library is built thread-safe
        return job(token);
      },
      stop_);
}

Result<void> Recorder::on_start(Worker::Job write) { return submit(std::move(write)); }

Result<void> Recorder::finish() {
  {
    const StageTimer timer(&outcome_.stages.wait_write);
    HEADROOM_TRY_VOID(queue_.finish(stop_));
  }
  outcome_.stages.write += write_seconds_;
  return {};
}

std::int64_t Recorder::layer_index(std::int64_t layer) const {
  return std::lower_bound(shape_.layers.begin(), shape_.layers.end(), layer) - shape_.layers.begin();
}

std::int64_t Recorder::head_index(std::int64_t head) const {
  return std::lower_bound(shape_.heads.begin(), shape_.heads.end(), head) - shape_.heads.begin();
}

Result<void> Recorder::on_layer(LayerRecord record) {
  // Shared only because a job has to be copyable.
  auto kept = std::make_shared<const LayerRecord>(std::move(record));
  return submit([this, kept = std::move(kept)](const std::stop_token&) { return write_layer(*kept); });
}

Result<void> Recorder::write_layer(const LayerRecord& record) {
  const std::int64_t l = layer_index(record.layer);
  const MeasuredLayer measured(record, shape_, request_, outcome_.self_check);
  HEADROOM_TRY_VOID(write_quantities(record, measured, l));
  HEADROOM_TRY_VOID(write_layer_datasets(record, measured.heads(), l));
  HEADROOM_TRY_VOID(layer_program(record, shape_, l, region_sink(writer_)));
  if (shape_.calls) HEADROOM_TRY_VOID(write_call(record, l));
  // The layer's chunks are whole: compressed here, not at the end, when nothing is left to overlap with.
  return writer_.flush();
}

Result<void> Recorder::write_quantities(const LayerRecord& record, const MeasuredLayer& measured, std::int64_t l) {
  return measured.for_each_quantity([&](const Quantity& quantity, const std::vector<double>& values) -> Result<void> {
    std::vector<std::int64_t> count = {1, static_cast<std::int64_t>(record.heads.size())};
    const std::vector<std::int64_t> rest = extents(quantity, shape_);
    count.insert(count.end(), rest.begin(), rest.end());
    std::vector<std::int64_t> start(count.size(), 0);
    start[0] = l;
    HEADROOM_TRY_VOID(writer_.write(path_of(quantity), start, count, values));
    if (!quantity.group.empty()) return {};
    std::vector<double>& table = outcome_.summary.values[std::string(quantity.name)];
    // A call of a capture may have fewer heads than another.
    if (record.heads.empty()) return {};
    const std::size_t layer_size = values.size() / record.heads.size() * shape_.heads.size();
    table.resize(shape_.layers.size() * layer_size, kNaN);
    std::ranges::copy(values, table.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(l) * layer_size));
    return {};
  });
}

Result<void> Recorder::write_layer_datasets(const LayerRecord& record, const std::vector<HeadView>& views,
                                            std::int64_t l) {
  const std::int64_t n = record.length;
  // The widest view of the layer: keys hidden from one head only do not count as hidden from the layer.
  std::vector<double> visible(static_cast<std::size_t>(n), 0.0);
  for (const HeadView& view : views)
    for (std::size_t i = 0; i < visible.size(); ++i)
      visible[i] = std::max(visible[i], static_cast<double>(view.visible[i]));
  const std::int64_t row_start[] = {l, 0}, row_count[] = {1, n};
  HEADROOM_TRY_VOID(writer_.write("tokens/visible_keys", row_start, row_count, visible));

  if (shape_.summary_only) return {};
  const auto write_norms = [&](const char* path, const std::vector<std::vector<double>>& norms) -> Result<void> {
    for (std::size_t block = 0; block < norms.size(); ++block) {
      const std::int64_t start[] = {l, static_cast<std::int64_t>(block), 0},
                         count[] = {1, 1, static_cast<std::int64_t>(norms[block].size())};
      HEADROOM_TRY_VOID(writer_.write(path, start, count, norms[block]));
    }
    return {};
  };
  HEADROOM_TRY_VOID(write_norms("keys/key_norm", record.key_norm));
  return write_norms("keys/value_norm", record.value_norm);
}

// What a call has beside a layer of a model with one sequence.
Result<void> Recorder::write_call(const LayerRecord& record, std::int64_t l) {
  const std::int64_t start[] = {l}, count[] = {1};
  const std::string name[] = {record.name};
  HEADROOM_TRY_VOID(writer_.write_strings("calls/name", start, count, name));
  for (const CallField& field : call_fields()) {
    const double value[] = {static_cast<double>(field.get(record))};
    HEADROOM_TRY_VOID(writer_.write(path_of(field.quantity), start, count, value));
  }
  std::vector<double> differences;
  for (const HeadRecord& head : record.heads) differences.push_back(head.context_difference);
  const std::int64_t head_start[] = {l, 0}, head_count[] = {1, static_cast<std::int64_t>(differences.size())};
  HEADROOM_TRY_VOID(writer_.write("calls/context_difference", head_start, head_count, differences));
  note_context(record, outcome_);
  return {};
}

Result<void> Recorder::on_router(RouterRecord record) {
  auto kept = std::make_shared<const RouterRecord>(std::move(record));
  return submit([this, kept = std::move(kept)](const std::stop_token&) { return write_router(*kept); });
}

Result<void> Recorder::write_router(const RouterRecord& record) {
  const std::int64_t at = std::ranges::lower_bound(shape_.expert_layers, record.layer) - shape_.expert_layers.begin();
  const std::int64_t start[] = {at, 0, 0}, count[] = {1, record.length(), record.chosen};
  if (!shape_.summary_only) {
    HEADROOM_TRY_VOID(writer_.write("router/chosen_expert", start, count,
                                    std::vector<double>(record.index.begin(), record.index.end())));
    HEADROOM_TRY_VOID(writer_.write("router/chosen_weight", start, count, record.weight));
  }
  const std::vector<std::int64_t> tokens = record.tokens_per_expert();
  const std::int64_t expert_start[] = {at, 0}, expert_count[] = {1, record.experts};
  return writer_.write("router/tokens_per_expert", expert_start, expert_count,
                       std::vector<double>(tokens.begin(), tokens.end()));
}

Result<void> Recorder::on_residual(std::int64_t boundary, std::int64_t row, std::int64_t rows,
                                   std::span<const double> values) {
  return submit([this, boundary, row, rows, kept = std::vector<double>(values.begin(), values.end())](
                    const std::stop_token&) { return add_residual(boundary, row, rows, kept); });
}

Result<void> Recorder::add_residual(std::int64_t boundary, std::int64_t row, std::int64_t rows,
                                    std::span<const double> values) {
  const std::int64_t start[] = {boundary, row, 0}, count[] = {1, rows, shape_.hidden_size};
  HEADROOM_TRY_VOID(writer_.write("hidden/residual", start, count, values));
  std::vector<double> rms, kurtosis;
  const auto channels = static_cast<std::size_t>(shape_.hidden_size);
  for (std::size_t begin = 0; begin < values.size(); begin += channels) {
    const ChannelMoments moments = channel_moments(values.subspan(begin, channels));
    rms.push_back(moments.rms);
    kurtosis.push_back(moments.kurtosis);
  }
  HEADROOM_TRY_VOID(writer_.write("hidden/residual_rms", std::span(start).first(2), std::span(count).first(2), rms));
  HEADROOM_TRY_VOID(
      writer_.write("hidden/residual_kurtosis", std::span(start).first(2), std::span(count).first(2), kurtosis));
  if (row == 0) residual_magnitudes_.clear(), residual_largest_.clear();
  for (std::size_t i = 0; i < values.size(); ++i) {
    residual_magnitudes_.push_back(static_cast<float>(std::abs(values[i])));
    if (!std::isfinite(values[i])) continue;
    if (residual_largest_.size() == 3 && !(std::abs(values[i]) > std::abs(residual_largest_.back().first))) continue;
    residual_largest_.emplace_back(values[i], row * shape_.hidden_size + static_cast<std::int64_t>(i));
    std::ranges::stable_sort(residual_largest_,
                             [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
    if (residual_largest_.size() > 3) residual_largest_.pop_back();
  }
  return row + rows == shape_.rows_at(boundary) ? finish_residual_top(boundary) : Result<void>();
}

Result<void> Recorder::finish_residual_top(std::int64_t boundary) {
  const std::int64_t start[] = {boundary, 0, 0}, count[] = {1, 3, 4};
  // What is not finite has no order.
  if (!std::ranges::all_of(residual_magnitudes_, [](float value) { return std::isfinite(value); }))
    return writer_.write("hidden/residual_top", start, count, std::vector<double>(12, kNaN));
  const auto middle = residual_magnitudes_.begin() + static_cast<std::ptrdiff_t>(residual_magnitudes_.size() / 2);
  std::nth_element(residual_magnitudes_.begin(), middle, residual_magnitudes_.end());
  const double median = static_cast<double>(*middle);
  std::vector<double> fields(12, kNaN);
  for (std::size_t r = 0; r < residual_largest_.size(); ++r) {
    const auto [value, flat] = residual_largest_[r];
    const std::int64_t row = flat / shape_.hidden_size;
    fields[4 * r] = static_cast<double>(row);
    fields[4 * r + 1] = static_cast<double>(flat % shape_.hidden_size);
    fields[4 * r + 2] = value;
    fields[4 * r + 3] = std::abs(value) / median;
  }
  return writer_.write("hidden/residual_top", start, count, fields);
}

Result<void> Recorder::on_logits(std::int64_t row, std::int64_t rows, std::span<const double> values) {
  return submit([this, row, rows, kept = std::vector<double>(values.begin(), values.end())](const std::stop_token&) {
    const std::int64_t start[] = {row, 0}, count[] = {rows, shape_.vocab_size};
    return writer_.write("hidden/logits", start, count, kept);
  });
}

Result<void> Recorder::on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row,
                                     std::int64_t rows, std::span<const double> values) {
  const std::int64_t l = layer_index(layer);
  const std::int64_t h = head_index(head);
  const auto keys = static_cast<std::int64_t>(values.size()) / std::max<std::int64_t>(rows, 1);
  return submit([this, l, h, component, row, rows, keys,
                 kept = std::vector<double>(values.begin(), values.end())](const std::stop_token&) {
    if (component < 0) {
      const std::int64_t start[] = {l, h, row, 0}, count[] = {1, 1, rows, keys};
      return writer_.write("exact/net_weights", start, count, kept);
    }
    const std::int64_t start[] = {l, h, component, row, 0}, count[] = {1, 1, 1, rows, keys};
    return writer_.write("exact/weights", start, count, kept);
  });
}

Result<void> Recorder::on_exact_block(std::int64_t layer, ExactBlock kind, std::int64_t block, std::int64_t rows,
                                      std::span<const double> values) {
  const std::int64_t l = layer_index(layer);
  const char* path = kind == ExactBlock::Query   ? "exact/queries"
                     : kind == ExactBlock::Key   ? "exact/keys"
                     : kind == ExactBlock::Value ? "exact/values"
                                                 : "exact/contexts";
  const std::int64_t place = kind == ExactBlock::Context ? head_index(block) : block;
  return submit(
      [this, l, path, place, rows, kept = std::vector<double>(values.begin(), values.end())](const std::stop_token&) {
        const std::int64_t channels = static_cast<std::int64_t>(kept.size()) / rows;
        const std::int64_t start[] = {l, place, 0, 0}, count[] = {1, 1, rows, channels};
        return writer_.write(path, start, count, kept);
      });
}

void Recorder::on_progress(double fraction, const std::string& what) {
  if (progress_) progress_(fraction, what);
}

bool Recorder::stop_requested() const { return stop_ && stop_(); }

}  // namespace headroom
