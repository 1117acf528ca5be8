// Pass 2: what needs final weights, for one strip and one Highway target: column sums, sums over the net map, N₁,
// histograms and pooled maps. a = p / Σp with the references of pass 1; the scores are those pass 1 kept, or the same
// bits computed again.
#if defined(HEADROOM_KERNELS_CPU_SECOND_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADROOM_KERNELS_CPU_SECOND_PASS_INL_H_
#undef HEADROOM_KERNELS_CPU_SECOND_PASS_INL_H_
#else
#define HEADROOM_KERNELS_CPU_SECOND_PASS_INL_H_
#endif

#include <cstdint>

#include "kernels/cpu/first_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {

constexpr std::int64_t kFoldStrips = 8;           // column sums stay in float for as many strips
constexpr std::uint64_t kMostPending = 1u << 31;  // counts that a joint histogram may hold

// Per lane, of the net map w = a¹ − λ a²: Σw, Σ|w|, Σw², ⟨a¹, a²⟩, Σw²r².
enum NetSum { kNetSum, kNetAbsolute, kNetSquares, kNetCross, kNetEnergy, kNetSums };
enum { kFirst, kSecond, kNet, kKinds };  // a¹, a², w

template <typename Input>
struct SecondPass {
  Part<Input>& part;
  bool pair, needs_net;
  double* map_sum[2] = {};      // [kWidth]: Σ a
  double* rounds[2] = {};       // [kWidth]: N₁
  double* net[kNetSums] = {};   // [kWidth]
  float* weights[kKinds] = {};  // one block each
  float* columns[kKinds] = {};  // [keys / kGroup][kLanes]: column sums; null: not wanted
  // [kWidth]: sum, largest, positive part and smallest weight since the last edge of a pooled cell.
  float* cells[kKinds][4] = {};
  float* lambda;                  // [kWidth], of the strip; NaN where it is not finite
  bool lambda_undefined = false;  // somewhere
  float* scores;                  // one block, where pass 1 keeps none
  float* bins;                    // one block of joint bin indices (int32)
  std::int64_t unfolded = 0;      // strips whose column sums are in `columns`
  std::uint64_t pending = 0;      // counts in the joint histograms

  HWY_INLINE SecondPass(Part<Input>& given, Arena& arena) : part(given) {
    pair = part.maps[0].present() && part.maps[1].present();
    needs_net = pair || part.maps[1].present();
    const std::int64_t keys = round_up(part.key_end - part.key_begin, kBlock);
    for (int kind = 0; kind < kKinds; ++kind) {
      if (kind == kNet ? !needs_net : !part.maps[kind].present()) continue;
      weights[kind] = arena.take(kBlockFloats);
      if (part.columns_wanted) columns[kind] = arena.take(keys / kGroup * kLanes);
      if (part.pool_blocks > 0)
        for (float*& lanes : cells[kind]) lanes = arena.take(kWidth);
      if (kind == kNet) continue;
      map_sum[kind] = arena.take_doubles(kWidth);
      rounds[kind] = arena.take_doubles(kWidth);
    }
    if (pair)
      for (double*& sum : net) sum = arena.take_doubles(kWidth);
    lambda = arena.take(kWidth);
    scores = arena.take(kBlockFloats);
    bins = arena.take(kBlockFloats);
    if (!arena.next) return;
    for (float* column : columns)
      for (std::int64_t at = 0; column && at < keys / kGroup * kLanes; ++at) column[at] = 0.0f;
  }

  // `kept`: the scores of each map from key_begin on, or null.
  HWY_NOINLINE void run(Strip<Input>& strip, const FirstPass<Input>& first, float* const kept[2]) {
    for (std::int64_t lane = 0; lane < kWidth; ++lane) {
      for (double* sum : {map_sum[0], map_sum[1], rounds[0], rounds[1]})
        if (sum) sum[lane] = 0.0;
      for (double* sum : net)
        if (sum) sum[lane] = 0.0;
      for (auto& kind : cells)
        for (float* cell : kind)
          if (cell) cell[lane] = 0.0f;
    }
    if (needs_net) load_lambda(strip);
    for (std::int64_t j = strip.key_begin; j < strip.key_end; j += kBlock) {
      const std::int64_t count = smaller(kBlock, strip.key_end - j);
      for (int m = 0; m < 2; ++m) {
        if (!part.maps[m].present()) continue;
        const float* z = kept[m] ? kept[m] + (j - strip.key_begin) * kWidth : scores;
        if (!kept[m]) strip.score(m, j, count, scores);
        final_weights(first.maps[m], m, count, z);
        if (HWY_UNLIKELY(first.maps[m].undefined)) keep_visible(strip, j, count, weights[m]);
        if (part.sums[m].histogram) count_bins(first.maps[m], m, count, z);
      }
      if (pair)
        net_weights(strip, j, count);
      else if (needs_net)
        negative_weights(count);
      if (HWY_UNLIKELY(lambda_undefined)) keep_visible(strip, j, count, weights[kNet]);
      for (int kind = 0; kind < kKinds; ++kind)
        if (columns[kind]) add_columns(j, count, weights[kind], columns[kind]);
      if (part.pool_blocks > 0) pool(strip, j, count);
    }
    if (++unfolded == kFoldStrips) fold_columns();
    for (int m = 0; m < 2; ++m)
      if (part.sums[m].histogram) pending += static_cast<std::uint64_t>(strip.key_end - strip.key_begin) * kWidth;
    if (pending > kMostPending) fold_histograms();
  }

  // What is still in float goes to the part's doubles; call after the last strip.
  HWY_NOINLINE void fold_columns() {
    double* const wanted[kKinds] = {part.sums[0].column_sum, part.sums[1].column_sum, part.column_sum};
    const std::int64_t keys = part.key_end - part.key_begin;
    for (int kind = 0; kind < kKinds; ++kind) {
      if (!columns[kind]) continue;
      for (std::int64_t k = 0; k < keys; ++k) {
        double sum = 0.0;
        for (std::int64_t block = 0; block < kLanes; block += kGroup) {
          float& cell = columns[kind][k / kGroup * kLanes + block + k % kGroup];
          sum += static_cast<double>(cell);
          cell = 0.0f;
        }
        wanted[kind][k] += sum;
      }
    }
    unfolded = 0;
  }

  HWY_NOINLINE void fold_histograms() {
    const std::int64_t rows = larger(part.logit_bins.bins, 1), columns_of = larger(part.weight_bins.bins, 1);
    for (PartMapSums& sums : part.sums) {
      if (!sums.histogram) continue;
      for (std::int64_t z = 0; z < rows; ++z) {
        std::uint32_t* HWY_RESTRICT counts = sums.histogram + z * columns_of;
        std::int64_t total = 0;
        for (std::int64_t a = 0; a < columns_of; ++a) total += counts[a];
        if (total == 0) continue;
        if (part.logit_bins.bins > 0) sums.logit_histogram[z] += total;
        if (part.weight_bins.bins > 0)
          for (std::int64_t a = 0; a < columns_of; ++a) sums.weight_histogram[a] += counts[a];
        for (std::int64_t a = 0; a < columns_of; ++a) counts[a] = 0;
      }
      sums.histogram[rows * columns_of] = 0;  // masked entries and undefined rows
    }
    pending = 0;
  }

 private:
  HWY_NOINLINE void final_weights(const MapPass& map, int m, std::int64_t count, const float* HWY_RESTRICT z) {
    const Tag d;
    // N₁: max − z ≤ −ln(1 − 2⁻⁹).
    const Vector near = hn::Set(d, static_cast<float>(__builtin_log2(1.0 - 1.0 / 512.0)));
    const std::int64_t padded = round_up(count, 4);
    for (int v = 0; v < kVectors; ++v) {
      const Vector reference = hn::Load(d, map.reference + v * kLanes);
      const Vector inverse = hn::Load(d, map.inverse + v * kLanes);
      const Vector least = hn::Add(hn::Load(d, map.largest + v * kLanes), near);
      Vector sum = hn::Zero(d), ones = sum;
      for (std::int64_t k = 0; k < count; ++k) {
        const Vector score = hn::Load(d, z + k * kWidth + v * kLanes);
        const Vector a = hn::Mul(power_of_two(hn::Sub(score, reference)), inverse);
        hn::Store(a, d, weights[m] + k * kWidth + v * kLanes);
        sum = hn::Add(sum, a);
        ones = hn::Add(ones, hn::IfThenElseZero(hn::Ge(score, least), hn::Set(d, 1.0f)));
      }
      for (std::int64_t k = count; k < padded; ++k) hn::Store(hn::Zero(d), d, weights[m] + k * kWidth + v * kLanes);
      add_lanes(sum, map_sum[m] + v * kLanes);
      if (part.rows[m].rounds_to_one) add_lanes(ones, rounds[m] + v * kLanes);
    }
  }

  HWY_NOINLINE void net_weights(const Strip<Input>& strip, std::int64_t j, std::int64_t count) {
    const Tag d;
    const float* squares_of_values = part.value_mean_square[0];
    for (int v = 0; v < kVectors; ++v) {
      const Vector factor = hn::Load(d, lambda + v * kLanes);
      Vector sum = hn::Zero(d), absolute = sum, squares = sum, cross = sum, energy = sum;
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t at = k * kWidth + v * kLanes;
        const Vector a = hn::Load(d, weights[kFirst] + at), b = hn::Load(d, weights[kSecond] + at);
        const Vector w = hn::NegMulAdd(factor, b, a);
        hn::Store(w, d, weights[kNet] + at);
        const Vector square = hn::Mul(w, w);
        sum = hn::Add(sum, w);
        absolute = hn::Add(absolute, hn::Abs(w));
        squares = hn::Add(squares, square);
        cross = hn::MulAdd(a, b, cross);
        energy = hn::MulAdd(square, hn::Set(d, squares_of_values[j + k]), energy);
      }
      for (std::int64_t k = count; k < round_up(count, 4); ++k)
        hn::Store(hn::Zero(d), d, weights[kNet] + k * kWidth + v * kLanes);
      add_lanes(sum, net[kNetSum] + v * kLanes);
      add_lanes(absolute, net[kNetAbsolute] + v * kLanes);
      add_lanes(squares, net[kNetSquares] + v * kLanes);
      add_lanes(cross, net[kNetCross] + v * kLanes);
      add_lanes(energy, net[kNetEnergy] + v * kLanes);
    }
    strip.mark_odd_energy(0, j, count, net[kNetEnergy]);
  }

  // What a lane does not see weighs 0, also where 0 was multiplied by NaN.
  HWY_NOINLINE void keep_visible(const Strip<Input>& strip, std::int64_t j, std::int64_t count,
                                 float* HWY_RESTRICT block) const {
    const Tag d;
    for (std::int64_t k = 0; k < count; ++k)
      for (int v = 0; v < kVectors; ++v) {
        float* at = block + k * kWidth + v * kLanes;
        hn::Store(hn::IfThenElseZero(strip.visible(j + k, v), hn::Load(d, at)), d, at);
      }
  }

  // w = −λ a².
  HWY_NOINLINE void negative_weights(std::int64_t count) {
    const Tag d;
    for (std::int64_t at = 0; at < round_up(count, 4) * kWidth; at += kLanes)
      hn::Store(hn::Neg(hn::Mul(hn::Load(d, lambda + at % kWidth), hn::Load(d, weights[kSecond] + at))), d,
                weights[kNet] + at);
  }

  HWY_NOINLINE void load_lambda(const Strip<Input>& strip) {
    lambda_undefined = false;
    for (std::int64_t lane = 0; lane < kWidth; ++lane) {
      const std::int64_t i = strip.row + lane;
      const bool sees = lane < strip.rows && part.mask.row_sees(i);
      lambda[lane] = sees ? static_cast<float>(finite_or_nan(part.lambda[i])) : 0.0f;
      lambda_undefined = lambda_undefined || lambda[lane] != lambda[lane];
    }
  }

  HWY_NOINLINE void add_columns(std::int64_t j, std::int64_t count, const float* HWY_RESTRICT block,
                                float* HWY_RESTRICT column) const {
    const Tag d;
    const auto key_sum = [&](std::int64_t k) HWY_ATTR {
      Vector sum = hn::Load(d, block + k * kWidth);
      for (int v = 1; v < kVectors; ++v) sum = hn::Add(sum, hn::Load(d, block + k * kWidth + v * kLanes));
      return sum;
    };
    for (std::int64_t k = 0; k < count; k += kGroup) {
      float* to = column + (j + k - part.key_begin) / kGroup * kLanes;
#if HWY_TARGET == HWY_SCALAR
      const Vector sums = key_sum(k);
#else
      const Vector sums = sum_by_four(key_sum(k), key_sum(k + 1), key_sum(k + 2), key_sum(k + 3));
#endif
      hn::Store(hn::Add(hn::Load(d, to), sums), d, to);
    }
  }

  HWY_NOINLINE void pool(const Strip<Input>& strip, std::int64_t j, std::int64_t count) {
    std::int64_t k = 0;
    while (k < count) {
      const std::int64_t edge = ((j + k) / part.pool_size + 1) * part.pool_size;
      const std::int64_t end = smaller(count, edge - j);
      for (int kind = 0; kind < kKinds; ++kind)
        if (weights[kind]) pool_keys(kind, k, end);
      if (j + end == edge || j + end == strip.key_end) flush_cells(strip, (j + k) / part.pool_size);
      k = end;
    }
  }

  HWY_INLINE void pool_keys(int kind, std::int64_t begin, std::int64_t end) {
    const Tag d;
    for (int v = 0; v < kVectors; ++v) {
      Vector sum = hn::Load(d, cells[kind][0] + v * kLanes);
      Vector largest = hn::Load(d, cells[kind][1] + v * kLanes);
      Vector positive = hn::Load(d, cells[kind][2] + v * kLanes);
      Vector smallest = hn::Load(d, cells[kind][3] + v * kLanes);
      for (std::int64_t k = begin; k < end; ++k) {
        const Vector w = hn::Load(d, weights[kind] + k * kWidth + v * kLanes);
        sum = hn::Add(sum, w);
        largest = hn::Max(largest, w);
        if (kind == kNet) {
          smallest = hn::Min(smallest, w);
          positive = hn::Add(positive, hn::Max(w, hn::Zero(d)));
        }
      }
      hn::Store(sum, d, cells[kind][0] + v * kLanes);
      hn::Store(largest, d, cells[kind][1] + v * kLanes);
      hn::Store(positive, d, cells[kind][2] + v * kLanes);
      hn::Store(smallest, d, cells[kind][3] + v * kLanes);
    }
  }

  // The lanes of one pooled key block go to the pooled rows that their queries belong to.
  HWY_NOINLINE void flush_cells(const Strip<Input>& strip, std::int64_t key_block) {
    for (int kind = 0; kind < kKinds; ++kind) {
      if (!weights[kind]) continue;
      double sum = 0.0, positive = 0.0;
      float largest = 0.0f, smallest = 0.0f;
      for (std::int64_t lane = 0; lane < strip.rows; ++lane) {
        sum += static_cast<double>(cells[kind][0][lane]);
        if (cells[kind][1][lane] > largest) largest = cells[kind][1][lane];
        positive += static_cast<double>(cells[kind][2][lane]);
        if (cells[kind][3][lane] < smallest) smallest = cells[kind][3][lane];
        const std::int64_t row = strip.row + lane;
        if (lane + 1 < strip.rows && (row + 1) % part.pool_size != 0) continue;
        const std::int64_t cell = (row / part.pool_size - part.pool_row) * part.pool_blocks + key_block;
        // Comparisons may have dropped a NaN that the sum has kept.
        if (sum != sum) positive = sum, largest = smallest = static_cast<float>(sum);
        if (kind == kNet) {
          add_cell(part.pooled_sum, part.pooled_highest, cell, sum, largest);
          part.pooled_lowest[cell] = smaller_or_nan(part.pooled_lowest[cell], static_cast<double>(smallest));
          part.pooled_positive[cell] += positive;
          part.pooled_negative[cell] += positive - sum;
        } else {
          add_cell(part.sums[kind].pooled_sum, part.sums[kind].pooled_max, cell, sum, largest);
        }
        sum = positive = 0.0;
        largest = smallest = 0.0f;
      }
      for (float* lanes : cells[kind])
        for (std::int64_t lane = 0; lane < kWidth; ++lane) lanes[lane] = 0.0f;
    }
  }

  static HWY_INLINE void add_cell(double* sums, double* most, std::int64_t cell, double sum, float largest) {
    sums[cell] += sum;
    const double value = static_cast<double>(largest);
    most[cell] = larger_or_nan(most[cell], value);
  }

  // Both histograms at once: one count per entry in a table of (bin of z, bin of log₁₀ a).
  HWY_NOINLINE void count_bins(const MapPass& map, int m, std::int64_t count, const float* HWY_RESTRICT z) {
    const Tag d;
    const hn::RebindToSigned<Tag> di;
    const UniformBins& logits = part.logit_bins;
    const UniformBins& log_weights = part.weight_bins;
    const bool has_logits = logits.bins > 0, has_weights = log_weights.bins > 0;
    const double z_slope = has_logits ? kLn2 / logits.width : 0.0;
    const double z_offset = has_logits ? -logits.low / logits.width : 0.0;
    const double a_slope = has_weights ? kLn2 / __builtin_log(10.0) / log_weights.width : 0.0;
    const auto top = [](std::int64_t count_of) HWY_ATTR { return static_cast<float>(larger(count_of, 1) - 1); };
    const Vector zero = hn::Zero(d), z_top = hn::Set(d, top(logits.bins)), a_top = hn::Set(d, top(log_weights.bins));
    const Vector stride = hn::Set(d, static_cast<float>(larger(log_weights.bins, 1)));
    const Vector masked_bin = hn::Set(d, static_cast<float>(larger(logits.bins, 1) * larger(log_weights.bins, 1)));
    std::int32_t* index = reinterpret_cast<std::int32_t*>(bins);
    for (int v = 0; v < kVectors; ++v) {
      // The bin of log₁₀ a is linear in z − reference; its offset is a row's own.
      HWY_ALIGN float offsets[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::int64_t at = v * kLanes + lane;
        const double log_sum = map.log_sum[at], shift = static_cast<double>(map.reference[at]) - log_sum;
        offsets[lane] = log_sum != log_sum ? __builtin_nanf("")
                        : log_sum - log_sum == 0.0 && has_weights
                            ? static_cast<float>(shift * a_slope - log_weights.low / log_weights.width)
                            : 0.0f;
      }
      const Vector offset = hn::Load(d, offsets), reference = hn::Load(d, map.reference + v * kLanes);
      const auto undefined = hn::Not(hn::Eq(offset, offset));
      for (std::int64_t k = 0; k < count; ++k) {
        const Vector score = hn::Load(d, z + k * kWidth + v * kLanes);
        const Vector z_at =
            hn::MulAdd(score, hn::Set(d, static_cast<float>(z_slope)), hn::Set(d, static_cast<float>(z_offset)));
        const Vector a_at = hn::MulAdd(hn::Sub(score, reference), hn::Set(d, static_cast<float>(a_slope)), offset);
        const Vector z_bin = hn::Floor(hn::Min(hn::Max(z_at, zero), z_top));
        const Vector a_bin = hn::Floor(hn::Min(hn::Max(a_at, zero), a_top));
        const Vector bin = hn::MulAdd(z_bin, stride, a_bin);
        hn::Store(
            hn::ConvertTo(di, hn::IfThenElse(hn::Or(undefined, hn::Eq(score, hn::Set(d, kMasked))), masked_bin, bin)),
            di, index + k * kWidth + v * kLanes);
      }
    }
    std::uint32_t* HWY_RESTRICT counts = part.sums[m].histogram;
    for (std::int64_t at = 0; at < count * kWidth; ++at) ++counts[index[at]];
  }
};

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
