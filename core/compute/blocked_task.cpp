#include "core/compute/blocked_task.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/numbers.h"
#include "core/run/run_pieces.h"

namespace headroom {
namespace {

using kernels::HeadStatistics;
using kernels::MapStatistics;
using kernels::UniformBins;

constexpr double kLn10 = 2.302585092994045684;
constexpr std::size_t kNet = 2;

at::TensorOptions options_of(at::ScalarType type, at::Device device) {
  return at::TensorOptions().dtype(type).device(device);
}

template <typename Value>
at::Tensor host_view(std::vector<Value>& values, std::int64_t begin, std::int64_t end) {
  return at::from_blob(values.data() + begin, {end - begin},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<Value>::value));
}

// Sums or maxima of `size` neighbours along one axis, whose first element has index `begin`: zeros complete the groups.
at::Tensor fold_axis(const at::Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t size, bool largest) {
  const std::int64_t end = begin + x.size(axis);
  const std::int64_t before = begin % size, after = (size - end % size) % size;
  at::Tensor padded = x;
  if (before > 0 || after > 0)
    padded = axis == 1 ? at::constant_pad_nd(x, {before, after}, 0) : at::constant_pad_nd(x, {0, 0, before, after}, 0);
  const at::Tensor groups = axis == 1 ? padded.view({x.size(0), -1, size}) : padded.view({-1, size, x.size(1)});
  return largest ? groups.amax(axis + 1) : groups.sum(axis + 1);
}

at::Tensor fold_blocks(const at::Tensor& x, const Strip& strip, std::int64_t size, bool largest) {
  const at::Tensor rows = fold_axis(x, 1, strip.keys.begin, size, largest).to(at::kDouble);
  return fold_axis(rows, 0, strip.row, size, largest);
}

// Counts of floor((value − low) / width), clamped to the bins. NaN and −∞, a masked logit among them, count in bin 0,
// from which they are taken out again.
void count_bins(const UniformBins& bins, at::Tensor& value, at::Tensor& counts) {
  value.sub_(bins.low).div_(bins.width).clamp_(0, bins.bins - 1);
  const at::Tensor bin = value.nan_to_num_(0.0).to(at::kInt).flatten();
  counts.index_add_(0, bin, at::ones({}, counts.options()).expand({bin.numel()}));
}

template <typename Value>
void add(std::vector<Value>& target, const at::Tensor& source) {
  if (!source.defined() || target.empty()) return;
  const at::Tensor host = source.to(at::kCPU).contiguous();
  const Value* values = host.const_data_ptr<Value>();
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += values[i];
}

void raise(std::vector<double>& target, const at::Tensor& source) {
  if (!source.defined() || target.empty()) return;
  const at::Tensor host = source.to(at::kCPU).contiguous();
  const double* values = host.const_data_ptr<double>();
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = kernels::larger_or_nan(target[i], values[i]);
}

// By the largest of −x.
void lower(std::vector<double>& target, const at::Tensor& source) {
  if (!source.defined() || target.empty()) return;
  const at::Tensor host = source.to(at::kCPU).contiguous();
  const double* values = host.const_data_ptr<double>();
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = kernels::smaller_or_nan(target[i], 0.0 - values[i]);
}

}  // namespace

std::int64_t rows_per_strip(std::int64_t keys, at::Device device) {
  if (device.is_cpu()) return blocked_strip_rows(keys);
  // Work for all of a device's cores at once.
  return std::clamp<std::int64_t>((std::int64_t{1} << 23) / std::max<std::int64_t>(keys, 1), 8, 2048);
}

template <typename Real>
BlockedTask<Real>::BlockedTask(kernels::HeadJob<Real>& job, const BlockedHead<Real>& head, std::int64_t begin,
                               std::int64_t end, at::Device device)
    : job_(job),
      problem_(job.problem),
      head_(head),
      begin_(begin),
      end_(end),
      device_(device),
      pair_(problem_.maps[0].present() && problem_.maps[1].present()) {
  context_ = at::from_blob(job.context, {problem_.mask.length, problem_.value_dim}, {job.context_stride, 1},
                           options_of(c10::CppTypeToScalarType<Real>::value, device));
  if (job.request.wanted != 0) make_sums();
}

template <typename Real>
void BlockedTask<Real>::make_sums() {
  const auto doubles = options_of(at::kDouble, device_), counts = options_of(at::kLong, device_);
  const std::int64_t blocks = job_.statistics.pool_blocks;
  const auto cells = [&] { return blocks > 0 ? at::zeros({blocks, blocks}, doubles) : at::Tensor(); };
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem_.maps[m].present()) continue;
    Sums& sums = maps_[m];
    if (wants(kernels::kColumnSums)) sums.column_sum = at::zeros({problem_.mask.keys()}, doubles);
    if (const auto bins = job_.request.logit_bins.bins; bins > 0) sums.logit_histogram = at::zeros({bins}, counts);
    if (const auto bins = job_.request.log10_weight_bins.bins; bins > 0)
      sums.weight_histogram = at::zeros({bins}, counts);
    sums.logit_max_raw = at::full({}, -kInfinity, doubles);
    sums.pooled = {cells(), cells(), {}, {}, {}};
  }
  if (wants(kernels::kColumnSums)) net_.column_sum = at::zeros({problem_.mask.keys()}, doubles);
  net_.pooled = {cells(), cells(), cells(), cells(), cells()};
}

template <typename Real>
bool BlockedTask<Real>::run(const kernels::StopRequested& stop) {
  const std::int64_t step = rows_per_strip(problem_.mask.keys(), device_);
  std::int64_t largest = 0;
  for (std::int64_t row = begin_; row < end_; row += step) {
    const Strip strip = head_.strip(row, std::min(step, end_ - row));
    largest = std::max(largest, strip.rows * strip.count());
  }
  const bool statistics = job_.request.wanted != 0;
  const bool needed[] = {true,
                         statistics,
                         statistics,
                         problem_.maps[0].present(),
                         problem_.maps[1].present(),
                         statistics && problem_.maps[1].present()};
  for (std::size_t b = 0; b < buffers_.size(); ++b)
    if (needed[b]) buffers_[b] = at::empty({largest}, context_.options());
  for (std::int64_t row = begin_; row < end_; row += step) {
    if (stop && stop()) return false;
    run_strip(head_.strip(row, std::min(step, end_ - row)));
  }
  for (const auto& [array, rows] : rows_)
    if (rows.device.defined()) rows.host.copy_(rows.device);
  for (at::Tensor* tensor : {&z_, &shifted_, &scratch_}) tensor->reset();
  for (at::Tensor& tensor : weights_) tensor.reset();
  for (at::Tensor& buffer : buffers_) buffer.reset();
  rows_.clear();
  return true;
}

template <typename Real>
template <typename Value>
void BlockedTask<Real>::put(std::vector<Value>& array, const Strip& strip, const at::Tensor& values) {
  auto found = std::find_if(rows_.begin(), rows_.end(), [&](const auto& entry) { return entry.first == &array; });
  if (found == rows_.end()) {
    RowArray rows;
    rows.host = host_view(array, begin_, end_);
    if (!device_.is_cpu()) rows.device = rows.host.to(device_);
    found = rows_.insert(rows_.end(), {&array, rows});
  }
  const at::Tensor& target = found->second.device.defined() ? found->second.device : found->second.host;
  target.narrow(0, strip.row - begin_, strip.rows).copy_(values);
}

template <typename Real>
void BlockedTask<Real>::run_strip(const Strip& strip) {
  if (strip.count() == 0) return fill_padding(strip);
  const auto place = [&](std::size_t b) {
    if (!buffers_[b].defined()) return at::Tensor();
    return buffers_[b].narrow(0, 0, strip.rows * strip.count()).view({strip.rows, strip.count()});
  };
  z_ = place(0);
  shifted_ = place(1);
  scratch_ = place(2);
  for (std::size_t w = 0; w < weights_.size(); ++w) weights_[w] = place(3 + w);
  const MaskTensor::Tile mask = head_.mask(strip);
  const at::Tensor& hidden = mask.hidden;
  const bool statistics = job_.request.wanted != 0;
  at::Tensor context;
  std::array<MapRows, 2> rows;
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem_.maps[m].present()) continue;
    const RowNorms norms = head_.weigh(m, strip, mask, z_, statistics ? shifted_ : z_, weights_[m]);
    const at::Tensor part = head_.with_odd_values(
        m, strip, hidden, at::mm(weights_[m], head_.map(m).value.narrow(0, strip.keys.begin, strip.count())));
    const at::Tensor signed_part = m == 0 ? part : part * head_.lambda().narrow(0, strip.row, strip.rows).neg();
    context = context.defined() ? context + signed_part : signed_part;
    if (!statistics) continue;
    if (wants(kernels::kRowStatistics))
      put(job_.statistics.maps[m].context_energy, strip, part.to(at::kDouble).square().sum(1));
    if (hidden.defined() && wants(kernels::kRowStatistics)) scratch_.copy_(z_).masked_fill_(hidden, kInfinity);
    if (wants(kernels::kRowStatistics))
      put(job_.statistics.maps[m].logit_min, strip, (hidden.defined() ? scratch_ : z_).amin(1));
    rows[m] = map_statistics(m, strip, hidden, norms);
  }
  context_.narrow(0, strip.row, strip.rows).copy_(context);
  if (statistics) net_statistics(strip, hidden, rows);
}

template <typename Real>
void BlockedTask<Real>::fill_padding(const Strip& strip) {
  context_.narrow(0, strip.row, strip.rows).zero_();
  if (!wants(kernels::kRowStatistics)) return;
  const auto rows = [&](double value) { return at::full({strip.rows}, value, options_of(at::kDouble, device_)); };
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem_.maps[m].present()) continue;
    MapStatistics& map = job_.statistics.maps[m];
    put(map.lse, strip, rows(problem_.has_sink ? kernels::finite_or_nan(problem_.sink) : -kInfinity));
    put(map.logit_max, strip, rows(-kInfinity));
    put(map.logit_min, strip, rows(kInfinity));
  }
}

template <typename Real>
typename BlockedTask<Real>::MapRows BlockedTask<Real>::map_statistics(std::size_t m, const Strip& strip,
                                                                      const at::Tensor& hidden, const RowNorms& norms) {
  MapStatistics& map = job_.statistics.maps[m];
  Sums& sums = maps_[m];
  const at::Tensor& a = weights_[m];
  MapRows rows;
  sums.logit_max_raw = at::maximum(sums.logit_max_raw, norms.raw_max.amax().to(at::kDouble));
  if (wants(kernels::kRoundsToOne)) {
    // Hidden keys lie far below; a row without keys has none within reach of 0 either.
    const double delta = -std::log1p(-std::exp2(-9.0));
    at::Tensor ones = at::ge(shifted_, -delta).sum(1).masked_fill_(norms.dead, 0);
    if (norms.undefined.defined()) ones.masked_fill_(norms.undefined, 0);
    put(map.rounds_to_one, strip, ones);
  }
  if (wants(kernels::kRowStatistics)) {
    put(map.lse, strip, norms.lse);
    put(map.logit_max, strip, norms.max);
    put(map.weight_max, strip, norms.top);
    put(map.weight_sum, strip, norms.total);
    rows.sum = a.sum(1).to(at::kDouble);
    if (problem_.softpick) {
      put(map.entropy, strip, at::xlogy_out(scratch_, a, a).sum(1).to(at::kDouble).neg_().clamp_min_(0.0));
    } else {  // −Σ a ln a with ln a = (z − max) + (max − lse)
      const at::Tensor moment = at::mul_out(scratch_, a, shifted_).sum(1).to(at::kDouble);
      put(map.entropy, strip, (moment + norms.log_top * rows.sum).neg_().clamp_min_(0.0));
    }
    at::mul_out(scratch_, a, a);
    rows.l2_squared = scratch_.sum(1).to(at::kDouble);
    const at::Tensor squares = head_.map(m).mean_square.narrow(0, strip.keys.begin, strip.count());
    rows.value_energy = head_.with_odd_squares(m, strip, hidden, at::mv(scratch_, squares)).to(at::kDouble);
    put(map.weight_l2_squared, strip, rows.l2_squared);
    head_.distances(strip, scratch_);
    put(map.mean_distance, strip, scratch_.mul_(a).sum(1));
  }
  if (wants(kernels::kNamedKeys)) named_keys(m, strip);
  if (wants(kernels::kColumnSums)) sums.column_sum.narrow(0, strip.keys.begin, strip.count()).add_(a.sum(0));
  histograms(m, strip, hidden, norms);
  pool(strip, a, sums.pooled, false);
  return rows;
}

template <typename Real>
void BlockedTask<Real>::histograms(std::size_t m, const Strip& strip, const at::Tensor& hidden, const RowNorms& norms) {
  Sums& sums = maps_[m];
  const std::int64_t uncounted = strip.rows * strip.count() - head_.visible(strip, hidden, norms.undefined);
  if (sums.logit_histogram.defined()) {
    scratch_.copy_(z_);
    if (norms.undefined.defined()) scratch_.masked_fill_(norms.undefined.unsqueeze(1), kNaN);
    count_bins(job_.request.logit_bins, scratch_, sums.logit_histogram);
    sums.logit_histogram.select(0, 0).sub_(uncounted);
  }
  if (sums.weight_histogram.defined()) {
    // Not z − lse, which loses what large logits have in common.
    if (problem_.softpick)
      at::log10_out(scratch_, weights_[m]);
    else
      at::add_out(scratch_, shifted_, norms.log_top.to(z_.scalar_type()).unsqueeze(1)).div_(kLn10);
    count_bins(job_.request.log10_weight_bins, scratch_, sums.weight_histogram);
    sums.weight_histogram.select(0, 0).sub_(uncounted);
  }
}

// The weights of the keys that have a name, gathered at once; 0 where the strip has no such key.
template <typename Real>
void BlockedTask<Real>::named_keys(std::size_t m, const Strip& strip) {
  MapStatistics& map = job_.statistics.maps[m];
  const std::int64_t first = strip.row + problem_.mask.first_query;
  const at::Tensor own = at::arange(first, first + strip.rows, options_of(at::kLong, device_));
  const at::Tensor induction =
      head_.induction_key().defined() ? head_.induction_key().narrow(0, strip.row, strip.rows) : at::full_like(own, -1);
  at::Tensor keys = at::stack({at::zeros_like(own), own, own - 1, induction}, 1) - strip.keys.begin;
  const at::Tensor outside = at::lt(keys, 0).logical_or_(at::ge(keys, strip.count()));
  keys.clamp_(0, strip.count() - 1);
  const at::Tensor weights = weights_[m].gather(1, keys).masked_fill_(outside, 0.0);
  std::vector<double>* const arrays[] = {&map.first_key_weight, &map.self_weight, &map.previous_weight,
                                         &map.induction_weight};
  for (std::int64_t k = 0; k < 4; ++k) put(*arrays[k], strip, weights.select(1, k));
}

template <typename Real>
void BlockedTask<Real>::net_statistics(const Strip& strip, const at::Tensor& hidden,
                                       const std::array<MapRows, 2>& maps) {
  HeadStatistics& statistics = job_.statistics;
  const bool alone = !problem_.maps[1].present();  // then the net map is the first
  const at::Tensor& w = weights_[alone ? 0 : kNet];
  at::Tensor lambda;
  if (!alone) {
    lambda = head_.lambda().narrow(0, strip.row, strip.rows);
    at::mul_out(weights_[kNet], weights_[1], lambda).neg_();
    if (pair_) weights_[kNet].add_(weights_[0]);
    // NaN times the weight 0 of a hidden key.
    if (hidden.defined() && !head_.lambda_is_finite()) weights_[kNet].masked_fill_(hidden, 0.0);
  }
  if (wants(kernels::kRowStatistics)) {
    if (alone) {
      put(statistics.weight_sum, strip, maps[0].sum);
      put(statistics.weight_l1, strip, maps[0].sum);
      put(statistics.weight_l2_squared, strip, maps[0].l2_squared);
      put(statistics.uncorrelated_energy, strip, maps[0].value_energy);
    } else {
      put(statistics.weight_sum, strip, w.sum(1));
      put(statistics.weight_l1, strip, at::abs_out(scratch_, w).sum(1));
      put(statistics.weight_l2_squared, strip, at::mul_out(scratch_, w, w).sum(1));
      const bool same_values = problem_.maps[0].value == problem_.maps[1].value;
      const at::Tensor& squares = head_.map(1).mean_square;
      at::Tensor energy = head_.with_odd_squares(1, strip, hidden,
                                                 at::mv(scratch_, squares.narrow(0, strip.keys.begin, strip.count())));
      if (pair_ && !same_values)
        energy = maps[0].value_energy + lambda.select(1, 0).to(at::kDouble).square() * maps[1].value_energy;
      put(statistics.uncorrelated_energy, strip, energy);
    }
    if (pair_) put(statistics.cross, strip, at::mul_out(scratch_, weights_[0], weights_[1]).sum(1));
  }
  if (wants(kernels::kNamedKeys) && strip.keys.begin == 0) {
    put(statistics.first_key_net, strip, w.select(1, 0));
    put(statistics.first_key_absolute, strip, w.select(1, 0).abs());
  }
  if (wants(kernels::kColumnSums)) net_.column_sum.narrow(0, strip.keys.begin, strip.count()).add_(w.sum(0));
  pool(strip, w, net_.pooled, true);
}

template <typename Real>
void BlockedTask<Real>::pool(const Strip& strip, const at::Tensor& weights, Pooled& pooled, bool is_net) {
  if (!pooled.sum.defined()) return;
  const std::int64_t size = job_.statistics.pool_size;
  const auto cells = [&](at::Tensor& all, const at::Tensor& part) {
    return all.narrow(0, strip.row / size, part.size(0)).narrow(1, strip.keys.begin / size, part.size(1));
  };
  const auto add_sums = [&](at::Tensor& all, const at::Tensor& values) {
    const at::Tensor part = fold_blocks(values, strip, size, false);
    cells(all, part).add_(part);
  };
  add_sums(pooled.sum, weights);
  const auto raise_cells = [&](at::Tensor& all, const at::Tensor& values) {
    const at::Tensor part = fold_blocks(values, strip, size, true);
    at::Tensor largest = cells(all, part);
    largest.copy_(at::maximum(largest, part));
  };
  raise_cells(pooled.largest, weights);
  if (!is_net) return;
  raise_cells(pooled.least, at::neg_out(scratch_, weights));
  add_sums(pooled.positive, at::clamp_min_out(scratch_, weights, 0.0));
  add_sums(pooled.negative, at::clamp_max_out(scratch_, weights, 0.0).neg_());
}

template <typename Real>
void BlockedTask<Real>::fold_into(HeadStatistics& statistics) const {
  if (job_.request.wanted == 0) return;
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem_.maps[m].present()) continue;
    MapStatistics& map = statistics.maps[m];
    add(map.column_sum, maps_[m].column_sum);
    add(map.logit_histogram, maps_[m].logit_histogram);
    add(map.weight_histogram, maps_[m].weight_histogram);
    add(map.pooled_sum, maps_[m].pooled.sum);
    raise(map.pooled_max, maps_[m].pooled.largest);
    map.logit_max_raw = kernels::larger_or_nan(map.logit_max_raw, maps_[m].logit_max_raw.template item<double>());
  }
  add(statistics.column_sum, net_.column_sum);
  add(statistics.pooled_sum, net_.pooled.sum);
  raise(statistics.pooled_highest, net_.pooled.largest);
  lower(statistics.pooled_lowest, net_.pooled.least);
  add(statistics.pooled_positive, net_.pooled.positive);
  add(statistics.pooled_negative, net_.pooled.negative);
}

template class BlockedTask<float>;
template class BlockedTask<double>;

}  // namespace headroom
