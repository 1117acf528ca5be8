#include "kernels/cpu/part.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/part.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/second_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {

template <typename Input>
class PartRunner {
 public:
  HWY_NOINLINE PartRunner(Part<Input>& part, float* scratch)
      : part_(part), arena_{scratch}, strip_(part, arena_), first_(strip_, arena_), second_(strip_, first_, part, arena_) {
    const std::int64_t keys = part.keep_scores ? round_up(part.length - part.key_begin, kBlock) + kBlock : kBlock;
    for (int m = 0; m < 2; ++m)
      if (part.maps[m].present()) scores_[m] = arena_.take(keys * kWidth);
    query_ = arena_.take(part.head_dim);
    key_ = arena_.take(part.head_dim);
  }

  [[nodiscard]] HWY_INLINE std::int64_t floats() const { return arena_.used; }

  HWY_NOINLINE bool run() {
    for (std::int64_t row = part_.row_begin; row < part_.row_end; row += kWidth) {
      if (part_.stop && part_.stop(part_.stop_context)) return false;
      run_strip(row, smaller(kWidth, part_.row_end - row));
    }
    if (part_.second_pass) {
      second_.fold_columns();
      second_.fold_histograms();
    }
    return true;
  }

 private:
  HWY_NOINLINE void run_strip(std::int64_t row, std::int64_t rows) {
    strip_.start(row, rows);
    for (int m = 0; m < 2; ++m) {
      if (!part_.maps[m].present()) continue;
      if (part_.rows_wanted || part_.second_pass)
        first_.template run<true>(m, scores_[m], part_.keep_scores);
      else
        first_.template run<false>(m, scores_[m], part_.keep_scores);
    }
    write_context();
    if (part_.second_pass) {
      float* const kept[2] = {part_.keep_scores ? scores_[0] : nullptr, part_.keep_scores ? scores_[1] : nullptr};
      second_.run(kept);
    }
    for (std::int64_t lane = 0; lane < rows; ++lane) {
      for (int m = 0; m < 2; ++m)
        if (part_.maps[m].present()) write_map_row(m, lane);
      write_net_row(lane);
      if (part_.first_key_net || part_.rows[0].self_weight || part_.rows[1].self_weight) write_named_keys(lane);
    }
    for (int m = 0; m < 2; ++m) {
      if (!part_.maps[m].present()) continue;
      double& raw = part_.sums[m].logit_max_raw;
      const bool capped = part_.softcap > 0.0;
      for (std::int64_t lane = 0; lane < (capped ? 1 : rows); ++lane) {
        const double most = static_cast<double>(capped ? strip_.raw_max[m] : first_.maps[m].largest[lane]);
        if (most == static_cast<double>(kMasked)) continue;
        const double value = capped ? most : most * kLn2 * part_.temperature;
        if (value > raw) raw = value;
      }
    }
  }

  [[nodiscard]] HWY_INLINE double lambda(std::int64_t lane) const {
    return part_.lambda ? part_.lambda[strip_.row + lane] : 0.0;
  }

  // c_i = c¹_i − λ_i c²_i.
  HWY_NOINLINE void write_context() {
    const MapPass& one = first_.maps[0];
    const MapPass& two = first_.maps[1];
    const bool has_one = part_.maps[0].present(), has_two = part_.maps[1].present();
    for (std::int64_t lane = 0; lane < strip_.rows; ++lane) {
      float* out = part_.context + (strip_.row + lane) * part_.context_stride;
      const float first = has_one ? one.inverse[lane] : 0.0f;
      const float second = has_two ? static_cast<float>(-lambda(lane)) * two.inverse[lane] : 0.0f;
      for (std::int64_t c = 0; c < part_.value_dim; ++c) {
        float sum = 0.0f;
        if (has_one) sum += first * one.out[c * kWidth + lane];
        if (has_two) sum += second * two.out[c * kWidth + lane];
        out[c] = sum;
      }
    }
  }

  HWY_NOINLINE void write_map_row(int m, std::int64_t lane) {
    const PartRows& rows = part_.rows[m];
    const MapPass& map = first_.maps[m];
    const std::int64_t i = strip_.row + lane;
    const bool sees = i >= part_.first_key;
    if (rows.rounds_to_one) rows.rounds_to_one[i] = sees ? static_cast<std::int32_t>(second_.rounds[m][lane]) : 0;
    if (!rows.lse) return;
    const double infinity = __builtin_inf(), inverse = static_cast<double>(map.inverse[lane]);
    const double sum = map.sums[kSum][lane];
    rows.lse[i] = map.log_sum[lane] * kLn2;
    rows.logit_max[i] = sees ? static_cast<double>(map.largest[lane]) * kLn2 : -infinity;
    rows.logit_min[i] = sees ? static_cast<double>(map.smallest[lane]) * kLn2 : infinity;
    if (!sees) {
      for (double* value : {rows.entropy, rows.weight_max, rows.weight_l2_squared, rows.weight_sum, rows.mean_distance,
                            rows.context_energy})
        value[i] = 0.0;
      return;
    }
    // −Σ a ln a = (1 − p)·LSE − Σ a z, both relative to the row's reference.
    const double reference = static_cast<double>(map.reference[lane]);
    const double entropy = map.keep[lane] * kLn2 * (map.log_sum[lane] - reference - map.sums[kMoment][lane] / sum);
    rows.entropy[i] = entropy < 0.0 ? 0.0 : entropy;
    rows.weight_max[i] = __builtin_exp2(static_cast<double>(map.largest[lane]) - map.log_sum[lane]);
    rows.weight_l2_squared[i] = map.sums[kSquares][lane] * inverse * inverse;
    rows.weight_sum[i] = part_.second_pass ? second_.map_sum[m][lane] : map.keep[lane];
    rows.mean_distance[i] = inverse * map.sums[kDistance][lane];
    double energy = 0.0;
    for (std::int64_t c = 0; c < part_.value_dim; ++c) {
      const double value = static_cast<double>(map.out[c * kWidth + lane]);
      energy += value * value;
    }
    rows.context_energy[i] = energy * inverse * inverse;
  }

  HWY_NOINLINE void write_net_row(std::int64_t lane) {
    if (!part_.weight_sum) return;
    const std::int64_t i = strip_.row + lane;
    const bool same_values = part_.maps[0].value == part_.maps[1].value;
    const auto map_energy = [&](int m) HWY_ATTR {
      const double inverse = static_cast<double>(first_.maps[m].inverse[lane]);
      return i < part_.first_key ? 0.0 : first_.maps[m].sums[kEnergy][lane] * inverse * inverse;
    };
    if (second_.pair) {
      part_.weight_sum[i] = second_.net[kNetSum][lane];
      part_.weight_l1[i] = second_.net[kNetAbsolute][lane];
      part_.weight_l2_squared[i] = second_.net[kNetSquares][lane];
      part_.cross[i] = second_.net[kNetCross][lane];
      const double l = lambda(lane);
      part_.uncorrelated_energy[i] = same_values ? second_.net[kNetEnergy][lane] : map_energy(0) + l * l * map_energy(1);
      return;
    }
    const int m = part_.maps[0].present() ? 0 : 1;
    const double factor = m == 0 ? 1.0 : -lambda(lane), size = factor < 0.0 ? -factor : factor;
    part_.weight_sum[i] = factor * part_.rows[m].weight_sum[i];
    part_.weight_l1[i] = size * part_.rows[m].weight_sum[i];
    part_.weight_l2_squared[i] = factor * factor * part_.rows[m].weight_l2_squared[i];
    part_.uncorrelated_energy[i] = factor * factor * map_energy(m);
  }

  HWY_NOINLINE void write_named_keys(std::int64_t lane) {
    const std::int64_t i = strip_.row + lane;
    double net = 0.0;
    for (int m = 0; m < 2; ++m) {
      const PartRows& rows = part_.rows[m];
      if (!rows.self_weight) continue;
      rows.first_key_weight[i] = weight_at(m, lane, 0);
      rows.self_weight[i] = weight_at(m, lane, i);
      rows.previous_weight[i] = weight_at(m, lane, i - 1);
      const std::int64_t induction = part_.induction_key ? part_.induction_key[i] : -1;
      rows.induction_weight[i] = weight_at(m, lane, induction);
      net += (m == 0 ? 1.0 : -lambda(lane)) * rows.first_key_weight[i];
    }
    part_.first_key_net[i] = net;
    part_.first_key_absolute[i] = net < 0.0 ? -net : net;
  }

  // a_ij of one named key; 0 where there is no such key or the row cannot see it.
  HWY_INLINE double weight_at(int m, std::int64_t lane, std::int64_t j) {
    if (j < strip_.key_begin || j >= strip_.key_end) return 0.0;
    const std::int64_t i = strip_.row + lane;
    const bool hidden = part_.hidden && part_.hidden[j];
    if (i < part_.first_key || j < part_.first_key || (hidden && !(j == i && part_.keeps_own[i]))) return 0.0;
    if (part_.causal && (j > i || (part_.window > 0 && j <= i - part_.window))) return 0.0;
    const MapPass& map = first_.maps[m];
    float score;
    if (part_.keep_scores) {
      score = scores_[m][(j - strip_.key_begin) * kWidth + lane];
    } else {
      score = score_of(m, i, j);
    }
    return __builtin_exp2(static_cast<double>(score) - static_cast<double>(map.reference[lane])) *
           static_cast<double>(map.inverse[lane]);
  }

  HWY_NOINLINE float score_of(int m, std::int64_t i, std::int64_t j) {
    const hn::CappedTag<float, 4> d;
    const MapInput<Input>& map = part_.maps[m];
    copy_rows(map.query + i * map.query_stride, 0, 1, 1, part_.head_dim, query_);
    copy_rows(map.key + j * map.key_stride, 0, 1, 1, part_.head_dim, key_);
    auto sum = hn::Zero(d);
    std::int64_t c = 0;
    for (; c + 4 <= part_.head_dim; c += 4) sum = hn::MulAdd(hn::Load(d, query_ + c), hn::Load(d, key_ + c), sum);
    float dot = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; c < part_.head_dim; ++c) dot += query_[c] * key_[c];
    dot *= strip_.factor;
    if (part_.softcap <= 0.0) return dot;
    return strip_.cap_factor * static_cast<float>(__builtin_tanh(static_cast<double>(dot) / part_.softcap));
  }

  Part<Input>& part_;
  Arena arena_;
  Strip<Input> strip_;
  FirstPass<Input> first_;
  SecondPass<Input> second_;
  float* scores_[2] = {};
  float *query_, *key_;
};

std::int64_t scratch_f32(const Part<float>& part) {
  return PartRunner<float>(const_cast<Part<float>&>(part), nullptr).floats();
}
std::int64_t scratch_bf16(const Part<BFloat16>& part) {
  return PartRunner<BFloat16>(const_cast<Part<BFloat16>&>(part), nullptr).floats();
}
bool run_f32(Part<float>& part, float* scratch) { return PartRunner<float>(part, scratch).run(); }
bool run_bf16(Part<BFloat16>& part, float* scratch) { return PartRunner<BFloat16>(part, scratch).run(); }
const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {

HWY_EXPORT(scratch_f32);
HWY_EXPORT(scratch_bf16);
HWY_EXPORT(run_f32);
HWY_EXPORT(run_bf16);
HWY_EXPORT(target);

template <>
std::int64_t part_scratch_floats(const Part<float>& part) {
  return HWY_DYNAMIC_DISPATCH(scratch_f32)(part);
}
template <>
std::int64_t part_scratch_floats(const Part<BFloat16>& part) {
  return HWY_DYNAMIC_DISPATCH(scratch_bf16)(part);
}
template <>
bool run_part(Part<float>& part, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(run_f32)(part, scratch);
}
template <>
bool run_part(Part<BFloat16>& part, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(run_bf16)(part, scratch);
}
const char* part_target() { return HWY_DYNAMIC_DISPATCH(target)(); }

}  // namespace headroom::kernels
#endif
