#include "kernels/cpu/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_statistics.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kFold = 4096;

// Runs Pass over [begin, end) in whole vectors, then one lane at a time, folding the accumulators into `result` at
// least every kFold keys.
template <template <class> class Pass, typename Real, typename Input, typename Result>
void sweep(std::int64_t begin, std::int64_t end, const Input& input, Result& result) {
  const hn::ScalableTag<Real> wide;
  const hn::CappedTag<Real, 1> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + kFold);
    if (stop - begin >= lanes) {
      Pass<decltype(wide)> pass(wide, input);
      for (; begin + lanes <= stop; begin += lanes) pass.step(begin);
      pass.fold(result);
    }
    if (begin < stop) {
      Pass<decltype(narrow)> pass(narrow, input);
      for (; begin < stop; ++begin) pass.step(begin);
      pass.fold(result);
    }
  }
}

template <class D, class V>
double total(D d, V v) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, v)));
}

template <class Real>
struct MapRowState {
  const MapRowInput<Real>& input;
  double largest = 0.0;
  double factor = 0.0;  // a = e · factor
};

struct ExtremaResult {
  double max = -std::numeric_limits<double>::infinity();
  double min = std::numeric_limits<double>::infinity();
  double raw_max = -std::numeric_limits<double>::infinity();
};

// q·k → z, with the extrema of both.
template <class D>
struct ScalePass {
  using Real = hn::TFromD<D>;
  using V = hn::Vec<D>;
  ScalePass(D tag, const MapRowState<Real>& state)
      : d(tag),
        scores(state.input.scores - state.input.first_key),
        scale(hn::Set(d, static_cast<Real>(state.input.scale))),
        cap(static_cast<Real>(state.input.softcap)),
        temperature(static_cast<Real>(state.input.temperature)),
        max(hn::Set(d, -std::numeric_limits<Real>::infinity())),
        min(hn::Set(d, std::numeric_limits<Real>::infinity())),
        raw_max(max) {}

  void step(std::int64_t key) {
    V z = hn::Mul(hn::LoadU(d, scores + key), scale);
    raw_max = hn::Max(raw_max, z);
    if (cap > Real(0)) z = hn::Mul(hn::Set(d, cap), hn::Tanh(d, hn::Div(z, hn::Set(d, cap))));
    if (temperature != Real(1)) z = hn::Div(z, hn::Set(d, temperature));
    max = hn::Max(max, z);
    min = hn::Min(min, z);
    hn::StoreU(z, d, scores + key);
  }
  void fold(ExtremaResult& result) const {
    result.max = std::max(result.max, static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, max))));
    result.min = std::min(result.min, static_cast<double>(hn::GetLane(hn::MinOfLanes(d, min))));
    result.raw_max = std::max(result.raw_max, static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, raw_max))));
  }

  const D d;
  Real* scores;
  const V scale;
  const Real cap, temperature;
  V max, min, raw_max;
};

struct ExponentialResult {
  double sum = 0.0, squares = 0.0, moment = 0.0, distance = 0.0, rounds_to_one = 0.0;
};

// z → e = exp(z − max) with Σe, Σe², Σe·(z − max), Σe·(i − j) and the count of e that round to 1 in bfloat16.
template <class D>
struct ExponentialPass {
  using Real = hn::TFromD<D>;
  using V = hn::Vec<D>;
  ExponentialPass(D tag, const MapRowState<Real>& state)
      : d(tag),
        scores(state.input.scores - state.input.first_key),
        weights(state.input.weights - state.input.first_key),
        row(state.input.row),
        largest(hn::Set(d, static_cast<Real>(state.largest))),
        near(hn::Set(d, static_cast<Real>(std::log1p(-std::exp2(-9.0))))),
        one(hn::Set(d, Real(1))),
        ramp(hn::Iota(d, Real(0))),
        sum(hn::Zero(d)), squares(sum), moment(sum), distance(sum), rounds(sum) {}

  void step(std::int64_t key) {
    const V t = hn::Sub(hn::LoadU(d, scores + key), largest);
    const V e = hn::Exp(d, t);
    hn::StoreU(e, d, weights + key);
    sum = hn::Add(sum, e);
    squares = hn::MulAdd(e, e, squares);
    // e = 0 at t = −∞: 0 · −∞ would be NaN.
    moment = hn::MulAdd(e, hn::Max(t, hn::Set(d, std::numeric_limits<Real>::lowest())), moment);
    distance = hn::MulAdd(e, hn::Sub(hn::Set(d, static_cast<Real>(row - key)), ramp), distance);
    rounds = hn::Add(rounds, hn::IfThenElseZero(hn::Ge(t, near), one));
  }
  void fold(ExponentialResult& result) const {
    result.sum += total(d, sum);
    result.squares += total(d, squares);
    result.moment += total(d, moment);
    result.distance += total(d, distance);
    result.rounds_to_one += total(d, rounds);
  }

  const D d;
  const Real* scores;
  Real* weights;
  const std::int64_t row;
  const V largest, near, one, ramp;
  V sum, squares, moment, distance, rounds;
};

struct WeightResult {
  double sum = 0.0, energy = 0.0;
};

// e → a, with the column sums, Σ a and Σ a² r².
template <class D>
struct WeightPass {
  using Real = hn::TFromD<D>;
  using V = hn::Vec<D>;
  WeightPass(D tag, const MapRowState<Real>& state)
      : d(tag),
        weights(state.input.weights - state.input.first_key),
        column_sum(state.input.column_sum),
        mean_square(state.input.value_mean_square),
        factor(hn::Set(d, static_cast<Real>(state.factor))),
        sum(hn::Zero(d)),
        energy(sum) {}

  void step(std::int64_t key) {
    const V a = hn::Mul(hn::LoadU(d, weights + key), factor);
    hn::StoreU(a, d, weights + key);
    if (!column_sum) return;
    hn::StoreU(hn::Add(hn::LoadU(d, column_sum + key), a), d, column_sum + key);
    sum = hn::Add(sum, a);
    energy = hn::MulAdd(hn::Mul(a, a), hn::LoadU(d, mean_square + key), energy);
  }
  void fold(WeightResult& result) const {
    result.sum += total(d, sum);
    result.energy += total(d, energy);
  }

  const D d;
  Real* weights;
  Real* column_sum;
  const Real* mean_square;
  const V factor;
  V sum, energy;
};

// Bin indices of offset + slope · z, clamped, written as Real to a buffer.
template <class D, class Real>
void bin_positions(D d, const Real* z, std::int64_t count, double slope, double offset, double last, Real* positions) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  const auto top = hn::Set(d, static_cast<Real>(last));
  const auto a = hn::Set(d, static_cast<Real>(slope));
  const auto b = hn::Set(d, static_cast<Real>(offset));
  for (std::int64_t t = 0; t + lanes <= count; t += lanes)
    hn::StoreU(hn::Min(hn::Max(hn::MulAdd(hn::LoadU(d, z + t), a, b), zero), top), d, positions + t);
}

template <typename Real>
void histogram(const Real* z, std::int64_t count, double slope, double offset, std::int64_t bins, std::int64_t* counts) {
  constexpr std::int64_t kChunk = 1024;
  HWY_ALIGN Real positions[kChunk];
  const hn::ScalableTag<Real> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double last = static_cast<double>(bins - 1);
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t size = std::min(kChunk, count - begin);
    const std::int64_t whole = size / lanes * lanes;
    bin_positions(d, z + begin, whole, slope, offset, last, positions);
    bin_positions(hn::CappedTag<Real, 1>(), z + begin + whole, size - whole, slope, offset, last, positions + whole);
    for (std::int64_t t = 0; t < size; ++t) ++counts[static_cast<std::int64_t>(positions[t])];
  }
}

template <typename Real>
void histograms(const MapRowInput<Real>& input, double lse) {
  const Real* scores = input.scores - input.first_key;
  for (const KeyRange& segment : input.segments) {
    const std::int64_t count = segment.end - segment.begin;
    const UniformBins& logits = input.logit_bins;
    if (logits.bins > 0)
      histogram(scores + segment.begin, count, 1.0 / logits.width, -logits.low / logits.width, logits.bins,
                input.logit_histogram);
    const UniformBins& weights = input.log10_weight_bins;
    if (weights.bins > 0) {
      const double slope = 1.0 / (std::log(10.0) * weights.width);
      histogram(scores + segment.begin, count, slope, -lse * slope - weights.low / weights.width, weights.bins,
                input.weight_histogram);
    }
  }
}

template <typename Real>
void map_row_target(const MapRowInput<Real>& input, MapRowResult& result) {
  result = {};
  MapRowState<Real> state{input, 0.0, 0.0};
  ExtremaResult extrema;
  for (const KeyRange& s : input.segments) sweep<ScalePass, Real>(s.begin, s.end, state, extrema);
  state.largest = extrema.max;
  ExponentialResult sums;
  for (const KeyRange& s : input.segments) sweep<ExponentialPass, Real>(s.begin, s.end, state, sums);
  const double own_lse = extrema.max + std::log(sums.sum);
  double lse = own_lse;
  double keep = 1.0;  // what the sink leaves: σ(LSE − sink)
  if (input.has_sink) {
    lse = std::max(own_lse, input.sink) + std::log1p(std::exp(-std::abs(own_lse - input.sink)));
    keep = std::exp(own_lse - lse);
  }
  state.factor = keep / sums.sum;
  WeightResult weights;
  for (const KeyRange& s : input.segments) sweep<WeightPass, Real>(s.begin, s.end, state, weights);

  result.lse = lse;
  result.logit_max = extrema.max;
  result.logit_min = extrema.min;
  result.logit_max_raw = extrema.raw_max;
  // −Σ a ln a = (1 − p)·LSE − Σ a z, with z = max + t.
  result.entropy = std::max(keep * (lse - extrema.max - sums.moment / sums.sum), 0.0);
  result.weight_max = state.factor;
  result.weight_l2_squared = sums.squares * state.factor * state.factor;
  result.weight_sum = keep;
  result.mean_distance = sums.distance * state.factor;
  result.value_energy = weights.energy;
  result.weight_total = weights.sum;
  result.rounds_to_one = static_cast<std::int32_t>(sums.rounds_to_one);
  if (input.statistics && std::isfinite(lse)) histograms(input, lse);
}

// w = a¹ − λ a², with its sums, the cross product and the column sums.
template <class D>
struct NetPass {
  using Real = hn::TFromD<D>;
  using V = hn::Vec<D>;
  NetPass(D tag, const NetRowInput<Real>& source)
      : d(tag), input(source), lambda(hn::Set(d, static_cast<Real>(source.lambda))),
        sum(hn::Zero(d)), l1(sum), squares(sum), cross(sum), energy(sum) {}

  void step(std::int64_t t) {
    const V first = hn::LoadU(d, input.first + t);
    const V second = hn::LoadU(d, input.second + t);
    const V w = hn::NegMulAdd(lambda, second, first);
    hn::StoreU(w, d, input.net + t);
    hn::StoreU(hn::Add(hn::LoadU(d, input.column_sum + t), w), d, input.column_sum + t);
    const V square = hn::Mul(w, w);
    sum = hn::Add(sum, w);
    l1 = hn::Add(l1, hn::Abs(w));
    squares = hn::Add(squares, square);
    cross = hn::MulAdd(first, second, cross);
    energy = hn::MulAdd(square, hn::LoadU(d, input.value_mean_square + t), energy);
  }
  void fold(NetRowResult& result) const {
    result.weight_sum += total(d, sum);
    result.weight_l1 += total(d, l1);
    result.weight_l2_squared += total(d, squares);
    result.cross += total(d, cross);
    result.value_energy += total(d, energy);
  }

  const D d;
  const NetRowInput<Real>& input;
  const V lambda;
  V sum, l1, squares, cross, energy;
};

template <typename Real>
void net_row_target(const NetRowInput<Real>& input, NetRowResult& result) {
  result = {};
  sweep<NetPass, Real>(0, input.count, input, result);
}

void map_row_f32(const MapRowInput<float>& input, MapRowResult& result) { map_row_target(input, result); }
void map_row_f64(const MapRowInput<double>& input, MapRowResult& result) { map_row_target(input, result); }
void net_row_f32(const NetRowInput<float>& input, NetRowResult& result) { net_row_target(input, result); }
void net_row_f64(const NetRowInput<double>& input, NetRowResult& result) { net_row_target(input, result); }
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {

HWY_EXPORT(map_row_f32);
HWY_EXPORT(map_row_f64);
HWY_EXPORT(net_row_f32);
HWY_EXPORT(net_row_f64);
HWY_EXPORT(target_name);

void map_row(const MapRowInput<float>& input, MapRowResult& result) { HWY_DYNAMIC_DISPATCH(map_row_f32)(input, result); }
void map_row(const MapRowInput<double>& input, MapRowResult& result) {
  HWY_DYNAMIC_DISPATCH(map_row_f64)(input, result);
}
void net_row(const NetRowInput<float>& input, NetRowResult& result) { HWY_DYNAMIC_DISPATCH(net_row_f32)(input, result); }
void net_row(const NetRowInput<double>& input, NetRowResult& result) {
  HWY_DYNAMIC_DISPATCH(net_row_f64)(input, result);
}
const char* row_kernel_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace headroom::kernels
#endif
