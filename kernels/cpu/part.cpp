#include "kernels/cpu/part.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/part.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/second_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {

// Strips that go through the keys together, so that keys and values come from afar once for all of them.
constexpr std::int64_t kStrips = 2;

template <typename Input>
struct Worker {
  Strip<Input> strip;
  FirstPass<Input> first;
  float* scores[2] = {};

  HWY_NOINLINE Worker(const Part<Input>& part, Arena& arena) : strip(part, arena), first(strip, arena) {
    const std::int64_t keys = round_up(part.kept_keys, kBlock) + kBlock;
    for (int m = 0; m < 2; ++m)
      if (part.maps[m].present()) scores[m] = arena.take(keys * kWidth);
  }
};

template <typename Input>
class PartRunner {
 public:
  HWY_NOINLINE PartRunner(Part<Input>& part, float* scratch)
      : part_(part), arena_{scratch}, workers_{{part, arena_}, {part, arena_}}, second_(part, arena_) {
    query_ = arena_.take(part.head_dim);
    key_ = arena_.take(part.head_dim);
  }

  [[nodiscard]] HWY_INLINE std::int64_t floats() const { return arena_.used; }

  HWY_NOINLINE bool run() {
    const bool narrow = part_.mask.behind + 1 < part_.mask.keys && part_.mask.widest() < 4 * kStripAlignment;
    const std::int64_t step = narrow ? kWidth : kStrips * kWidth;
    for (std::int64_t row = part_.row_begin; row < part_.row_end; row += step) {
      if (part_.stop && part_.stop(part_.stop_context)) return false;
      run_group(row, smaller(step, part_.row_end - row));
    }
    if (part_.second_pass) {
      second_.fold_columns();
      second_.fold_histograms();
    }
    return true;
  }

 private:
  HWY_NOINLINE void run_group(std::int64_t row, std::int64_t rows) {
    const std::int64_t strips = (rows + kWidth - 1) / kWidth;
    for (std::int64_t s = 0; s < strips; ++s)
      workers_[s].strip.start(row + s * kWidth, smaller(kWidth, rows - s * kWidth), row);
    for (int m = 0; m < 2; ++m)
      if (part_.maps[m].present()) run_map(m, strips);
    for (std::int64_t s = 0; s < strips; ++s) finish_strip(workers_[s]);
  }

  HWY_NOINLINE void run_map(int m, std::int64_t strips) {
    const std::int64_t key_begin = workers_[0].strip.key_begin;
    std::int64_t key_end = key_begin;  // the last strip may see nothing
    for (std::int64_t s = 0; s < strips; ++s) key_end = larger(key_end, workers_[s].strip.key_end);
    for (std::int64_t s = 0; s < strips; ++s) workers_[s].first.begin(m);
    for (std::int64_t j = key_begin; j < key_end; j += kBlock)
      for (std::int64_t s = 0; s < strips; ++s) {
        Worker<Input>& worker = workers_[s];
        const std::int64_t count = smaller(kBlock, worker.strip.key_end - j);
        if (count <= 0) continue;
        float* z = worker.scores[m] + (part_.keep_scores ? (j - key_begin) * kWidth : 0);
        if (part_.rows_wanted || part_.second_pass)
          worker.first.template add_block<true>(m, j, count, z);
        else
          worker.first.template add_block<false>(m, j, count, z);
      }
    for (std::int64_t s = 0; s < strips; ++s) workers_[s].first.finish(m);
  }

  HWY_NOINLINE void finish_strip(Worker<Input>& worker) {
    worker_ = &worker;
    const std::int64_t rows = worker.strip.rows;
    for (int m = 0; m < 2; ++m) {
      nan_logits_[m] = 0;
      if (part_.maps[m].present() && worker.first.maps[m].undefined && (part_.rows_wanted || part_.second_pass))
        find_nan_logits(m);
    }
    write_context();
    if (part_.second_pass) {
      float* const kept[2] = {part_.keep_scores ? worker.scores[0] : nullptr,
                              part_.keep_scores ? worker.scores[1] : nullptr};
      second_.run(worker.strip, worker.first, kept);
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
        const double most =
            static_cast<double>(capped ? worker_->strip.raw_max[m] : worker_->first.maps[m].largest[lane]);
        if (most == static_cast<double>(kMasked)) continue;
        raw = larger_or_nan(raw, capped ? most : most * kLn2 * part_.temperature);
      }
      if (nan_logits_[m] != 0) raw = __builtin_nan("");
    }
  }

  // 0 in rows that see nothing.
  [[nodiscard]] HWY_INLINE double lambda(std::int64_t lane) const {
    const std::int64_t i = worker_->strip.row + lane;
    return part_.lambda && part_.mask.row_sees(i) ? finite_or_nan(part_.lambda[i]) : 0.0;
  }

  // Comparisons drop a NaN: undefined rows are looked at once more, since one of +∞ has extrema.
  HWY_NOINLINE void find_nan_logits(int m) {
    Strip<Input>& strip = worker_->strip;
    for (std::int64_t j = strip.key_begin; j < strip.key_end; j += kBlock) {
      const std::int64_t count = smaller(kBlock, strip.key_end - j);
      strip.score(m, j, count, second_.scores);
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t lane = 0; lane < strip.rows; ++lane) {
          const float z = second_.scores[k * kWidth + lane];
          if (z != z) nan_logits_[m] |= std::uint64_t{1} << lane;
        }
    }
  }

  // c_i = c¹_i − λ_i c²_i, and the energies of c¹ and c².
  HWY_NOINLINE void write_context() {
    const Tag d;
    const Strip<Input>& strip = worker_->strip;
    HWY_ALIGN float factors[2][kWidth];
    for (int m = 0; m < 2; ++m)
      for (std::int64_t lane = 0; lane < kWidth; ++lane) {
        const bool used = part_.maps[m].present() && lane < strip.rows;
        factors[m][lane] = used ? worker_->first.maps[m].inverse[lane] : 0.0f;
        energies_[m][lane] = 0.0;
      }
    HWY_ALIGN float lambdas[kWidth];
    for (std::int64_t lane = 0; lane < kWidth; ++lane)
      lambdas[lane] = lane < strip.rows ? static_cast<float>(lambda(lane)) : 0.0f;
    constexpr std::int64_t kChannels = 16;
    HWY_ALIGN float block[kChannels * kWidth];
    for (std::int64_t begin = 0; begin < part_.value_dim; begin += kChannels) {
      const std::int64_t channels = smaller(kChannels, part_.value_dim - begin);
      for (int v = 0; v < kVectors; ++v) {
        const Vector l = hn::Load(d, lambdas + v * kLanes);
        Vector energy[2] = {hn::Zero(d), hn::Zero(d)};
        for (std::int64_t c = 0; c < channels; ++c) {
          Vector part_of[2] = {hn::Zero(d), hn::Zero(d)};
          for (int m = 0; m < 2; ++m) {
            if (!part_.maps[m].present()) continue;
            part_of[m] = hn::Mul(hn::Load(d, worker_->first.maps[m].out + (begin + c) * kWidth + v * kLanes),
                                 hn::Load(d, factors[m] + v * kLanes));
            energy[m] = hn::MulAdd(part_of[m], part_of[m], energy[m]);
          }
          hn::Store(hn::NegMulAdd(l, part_of[1], part_of[0]), d, block + c * kWidth + v * kLanes);
        }
        for (int m = 0; m < 2; ++m) add_lanes(energy[m], energies_[m] + v * kLanes);
      }
      transpose(block, kWidth, channels, strip.rows, 1.0f, part_.context + strip.row * part_.context_stride + begin,
                part_.context_stride);
    }
  }

  HWY_NOINLINE void write_map_row(int m, std::int64_t lane) {
    const PartRows& rows = part_.rows[m];
    const MapPass& map = worker_->first.maps[m];
    const std::int64_t i = worker_->strip.row + lane;
    const bool sees = part_.mask.row_sees(i);
    const bool finite = map.largest[lane] != kMasked;  // not every logit is −∞
    const bool defined = map.log_sum[lane] == map.log_sum[lane];
    if (rows.rounds_to_one)
      rows.rounds_to_one[i] = sees && finite && defined ? static_cast<std::int32_t>(second_.rounds[m][lane]) : 0;
    if (!rows.lse) return;
    const double infinity = __builtin_inf(), inverse = static_cast<double>(map.inverse[lane]);
    const double sum = map.sums[kSum][lane];
    rows.lse[i] = map.log_sum[lane] * kLn2;
    rows.logit_max[i] = sees && finite ? static_cast<double>(map.largest[lane]) * kLn2 : -infinity;
    rows.logit_min[i] = sees ? static_cast<double>(map.smallest[lane]) * kLn2 : infinity;
    if (nan_logits_[m] >> lane & 1) rows.logit_max[i] = rows.logit_min[i] = __builtin_nan("");
    if (!sees) {
      for (double* value : {rows.entropy, rows.weight_max, rows.weight_l2_squared, rows.weight_sum, rows.mean_distance,
                            rows.context_energy})
        value[i] = 0.0;
      return;
    }
    // −Σ a ln a = (1 − p)·LSE − Σ a z, both relative to the row's reference.
    const double reference = static_cast<double>(map.reference[lane]);
    const double entropy = map.keep[lane] * kLn2 * (map.log_sum[lane] - reference - map.sums[kMoment][lane] / sum);
    rows.entropy[i] = entropy < 0.0 || map.keep[lane] == 0.0 ? 0.0 : entropy;
    rows.weight_max[i] = __builtin_exp2(static_cast<double>(map.largest[lane]) - map.log_sum[lane]);
    rows.weight_l2_squared[i] = map.sums[kSquares][lane] * inverse * inverse;
    rows.weight_sum[i] = part_.second_pass ? second_.map_sum[m][lane] : map.keep[lane];
    rows.mean_distance[i] = inverse * map.sums[kDistance][lane];
    rows.context_energy[i] = energies_[m][lane];
  }

  HWY_NOINLINE void write_net_row(std::int64_t lane) {
    if (!part_.weight_sum) return;
    const std::int64_t i = worker_->strip.row + lane;
    const bool same_values = part_.maps[0].value == part_.maps[1].value;
    const auto map_energy = [&](int m) HWY_ATTR {
      const double inverse = static_cast<double>(worker_->first.maps[m].inverse[lane]);
      return !part_.mask.row_sees(i) ? 0.0 : worker_->first.maps[m].sums[kEnergy][lane] * inverse * inverse;
    };
    if (second_.pair) {
      part_.weight_sum[i] = second_.net[kNetSum][lane];
      part_.weight_l1[i] = second_.net[kNetAbsolute][lane];
      part_.weight_l2_squared[i] = second_.net[kNetSquares][lane];
      part_.cross[i] = second_.net[kNetCross][lane];
      const double l = lambda(lane);
      part_.uncorrelated_energy[i] =
          same_values ? second_.net[kNetEnergy][lane] : map_energy(0) + l * l * map_energy(1);
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
    const std::int64_t i = worker_->strip.row + lane;
    double net = 0.0;
    for (int m = 0; m < 2; ++m) {
      const PartRows& rows = part_.rows[m];
      if (!rows.self_weight) continue;
      rows.first_key_weight[i] = weight_at(m, lane, 0);
      const std::int64_t position = i + part_.mask.first_query;
      rows.self_weight[i] = weight_at(m, lane, position);
      rows.previous_weight[i] = weight_at(m, lane, position - 1);
      const std::int64_t induction = part_.induction_key ? part_.induction_key[i] : -1;
      rows.induction_weight[i] = weight_at(m, lane, induction);
      if (part_.mask.sees(i, 0)) net += (m == 0 ? 1.0 : -lambda(lane)) * rows.first_key_weight[i];
    }
    part_.first_key_net[i] = net;
    part_.first_key_absolute[i] = net < 0.0 ? -net : net;
  }

  // a_ij of one named key; 0 where there is no such key or the row cannot see it.
  HWY_INLINE double weight_at(int m, std::int64_t lane, std::int64_t j) {
    if (j < worker_->strip.key_begin || j >= worker_->strip.key_end) return 0.0;
    const std::int64_t i = worker_->strip.row + lane;
    if (!part_.mask.sees(i, j)) return 0.0;
    const MapPass& map = worker_->first.maps[m];
    float score;
    if (part_.keep_scores) {
      score = worker_->scores[m][(j - worker_->strip.key_begin) * kWidth + lane];
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
    constexpr auto kStep = static_cast<std::int64_t>(hn::MaxLanes(hn::CappedTag<float, 4>()));
    for (; c + kStep <= part_.head_dim; c += kStep)
      sum = hn::MulAdd(hn::Load(d, query_ + c), hn::Load(d, key_ + c), sum);
    float dot = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; c < part_.head_dim; ++c) dot += query_[c] * key_[c];
    dot *= worker_->strip.factor;
    if (part_.bias) dot += part_.bias[i + part_.mask.first_query - j - part_.bias_lowest];
    if (part_.softcap <= 0.0) return dot;
    return worker_->strip.cap_factor * static_cast<float>(__builtin_tanh(static_cast<double>(dot) / part_.softcap));
  }

  Part<Input>& part_;
  Arena arena_;
  Worker<Input> workers_[kStrips];
  SecondPass<Input> second_;
  Worker<Input>* worker_ = nullptr;   // whose rows are written
  double energies_[2][kWidth];        // per lane: ‖c¹‖², ‖c²‖²
  std::uint64_t nan_logits_[2] = {};  // a bit per lane: one of its logits is NaN
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
