#include "kernels/cpu/window_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/window_task.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {

constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
constexpr std::int64_t kSegmentRows = 256;  // rows whose cells are added up in float
constexpr float kLeast = -0x1.fffffep127f;  // of all finite floats: the dense mask hides what is below
static_assert(kWindowKeys % kWidth == 0);

// Per lane and cell row: Σ x, Σ max(x, 0), visible entries, the largest x and the smallest, 0 at least and at most.
enum CellSum { kCellSum, kCellPositive, kCellCount, kCellHighest, kCellLowest, kCellSums };
static_assert(kCellSums == kWindowCellSums);

HWY_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
HWY_INLINE std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

template <typename Input>
class WindowTiles {
 public:
  HWY_NOINLINE WindowTiles(const WindowTask<Input>& task, float* scratch) : task_(task) {
    const bool capped = task.softcap > 0.0;
    factor_ = static_cast<float>(capped ? task.scale : task.scale * kLog2E / task.temperature);
    cap_factor_ = static_cast<float>(task.softcap * kLog2E / task.temperature);
    logits_ = task.map == WindowMap::FirstLogits || task.map == WindowMap::SecondLogits;
    columns_ = (task.key_end - task.key_begin + task.reduction - 1) / task.reduction;
    rows_ = (task.row_end - task.row_begin + task.reduction - 1) / task.reduction;
    for (float*& packed : packed_) packed = take(scratch, task.head_dim * kWidth);
    for (float*& tile : tiles_) tile = take(scratch, kTileRows * kWidth);
    row_copy_ = take(scratch, kTileRows * task.head_dim);
    if (task.dense) {
      added_ = take(scratch, kSegmentRows * kWidth);
      read_ = reinterpret_cast<double*>(take(scratch, 2 * kSegmentRows * kWidth));
    }
    if (task.reduction == 1) return;
    lanes_ = take(scratch, rows_ * kCellSums * kWidth);
    totals_ = reinterpret_cast<double*>(take(scratch, 2 * rows_ * columns_ * kCellSums));
    for (std::int64_t at = 0; at < rows_ * columns_ * kCellSums; ++at) totals_[at] = 0.0;
  }

  HWY_NOINLINE bool run() {
    for (std::int64_t key = task_.key_begin; key < task_.key_end; key += kWidth) {
      key_ = key;
      keys_ = smaller(kWidth, task_.key_end - key);
      for (int m = 0; m < 2; ++m)
        if (task_.maps[m].present())
          pack_lanes(task_.maps[m].key + key * task_.maps[m].key_stride, task_.maps[m].key_stride, keys_,
                     task_.head_dim, factor_, packed_[m]);
      for (std::int64_t row = task_.row_begin; row < task_.row_end; row += kSegmentRows) {
        if (task_.stop && task_.stop(task_.stop_context)) return false;
        run_segment(row, smaller(task_.row_end, row + kSegmentRows));
      }
    }
    if (task_.reduction > 1) write_cells();
    return true;
  }

 private:
  static HWY_INLINE float* take(float*& scratch, std::int64_t floats) {
    float* piece = scratch;
    scratch += (floats + 15) / 16 * 16;
    return piece;
  }

  HWY_NOINLINE void run_segment(std::int64_t begin, std::int64_t end) {
    if (task_.reduction > 1)
      for (std::int64_t at = 0; at < rows_ * kCellSums * kWidth; ++at) lanes_[at] = 0.0f;
    if (task_.dense) read_dense(begin, end);
    for (std::int64_t row = begin; row < end; row += kTileRows) {
      const std::int64_t rows = smaller(kTileRows, end - row);
      const bool any = !none_visible(row, rows);
      if (!any && task_.reduction > 1) continue;
      for (int m = 0; m < 2; ++m) {
        if (!task_.maps[m].present() || !any) continue;
        const MapInput<Input>& map = task_.maps[m];
        const Input* query = map.query + row * map.query_stride;
        if constexpr (sizeof(Input) == sizeof(float)) {
          multiply_rows(packed_[m], query, map.query_stride, 1, task_.head_dim, rows, false, tiles_[m]);
        } else {
          copy_rows(query, map.query_stride, rows, rows, task_.head_dim, row_copy_);
          multiply_rows(packed_[m], row_copy_, task_.head_dim, 1, task_.head_dim, rows, false, tiles_[m]);
        }
      }
      if (HWY_UNLIKELY(task_.bias != nullptr) && any) add_bias(row, rows);
      const bool whole = all_visible(row, rows);
      for (std::int64_t r = 0; r < rows; ++r)
        add_row(row + r, r * kWidth, whole, added_ ? added_ + (row + r - begin) * kWidth : nullptr);
    }
    if (task_.reduction > 1) fold_lanes(begin, end);
  }

  HWY_NOINLINE void add_bias(std::int64_t row, std::int64_t rows) const {
    const Tag d;
    for (int m = 0; m < 2; ++m) {
      if (!task_.maps[m].present()) continue;
      for (std::int64_t r = 0; r < rows; ++r) {
        const float* bias = task_.bias + (key_ - row - r - task_.mask.first_query - task_.bias_lowest);
        for (int v = 0; v < kVectors; ++v) {
          float* at = tiles_[m] + r * kWidth + v * kLanes;
          hn::Store(hn::Add(hn::Load(d, at), hn::LoadU(d, bias + v * kLanes)), d, at);
        }
      }
    }
  }

  HWY_INLINE bool all_visible(std::int64_t row, std::int64_t rows) const {
    const PlainMask& mask = task_.mask;
    if (keys_ < kWidth || row < mask.first_row || row + rows > mask.end_row) return false;
    if (mask.flags || task_.dense) return false;
    const std::int64_t position = row + mask.first_query;
    return key_ + kWidth <= mask.near_end_of(position) && key_ >= mask.near_begin_of(position + rows - 1);
  }

  HWY_INLINE bool none_visible(std::int64_t row, std::int64_t rows) const {
    const PlainMask& mask = task_.mask;
    const std::int64_t position = row + mask.first_query;
    return key_ >= mask.end_of(position + rows - 1) || key_ + keys_ <= mask.begin_of(position) ||
           row + rows <= mask.first_row || row >= mask.end_row;
  }

  // Lanes whose key row i sees.
  HWY_INLINE hn::Mask<Tag> visible(std::int64_t i, int v) const {
    const Tag d;
    const std::int64_t first = key_ + v * kLanes;
    // Lanes from `begin` to `end` are in the window and in the task; both are small or far beyond the lanes.
    const PlainMask& mask = task_.mask;
    const std::int64_t position = i + mask.first_query;
    const bool row_sees = mask.row_sees(i);
    const std::int64_t begin = mask.near_begin_of(position) - first, most = keys_ - v * kLanes;
    const std::int64_t end = !row_sees ? begin : smaller(most, mask.near_end_of(position) - first);
    // So are those before `always`, from the mask's first key on.
    const std::int64_t always = !row_sees ? 0 : smaller(most, mask.always_end_of(position) - first);
    const std::int64_t padding = mask.first_key - first;
    HWY_ALIGN float seen[kLanes];
    if (mask.flags) {
      for (int lane = 0; lane < kLanes; ++lane) {
        bool sees = (lane >= begin && lane < end) || (lane >= padding && lane < always);
        if (sees && mask.hides(first + lane)) sees = first + lane == position && mask.only_itself(i);
        seen[lane] = sees ? 1.0f : 0.0f;
      }
      return hn::Gt(hn::Load(d, seen), hn::Zero(d));
    }
    const Vector lane = hn::Iota(d, 0.0f);
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return hn::And(hn::Ge(lane, hn::Set(d, static_cast<float>(low))),
                     hn::Lt(lane, hn::Set(d, static_cast<float>(high))));
    };
    return always > 0 ? hn::Or(between(begin, end), between(padding, always)) : between(begin, end);
  }

  // What the dense mask adds to the logits of rows [begin, end), in log2, [rows][kWidth]. The exponentials of lanes
  // that it hides are not used.
  HWY_NOINLINE void read_dense(std::int64_t begin, std::int64_t end) {
    task_.dense->read(task_.dense->source, begin, end - begin, key_, keys_, read_);
    for (std::int64_t row = 0; row < end - begin; ++row)
      for (std::int64_t lane = 0; lane < kWidth; ++lane)
        added_[row * kWidth + lane] =
            lane < keys_ ? static_cast<float>(read_[row * keys_ + lane] * kLog2E / task_.temperature) : 0.0f;
  }

  // z of one map, in log2; `added`: of the row, or null.
  HWY_INLINE Vector score(int m, std::int64_t at, const float* added) const {
    const Tag d;
    Vector z = hn::Load(d, tiles_[m] + at);
    if (task_.softcap > 0.0) {
      const Vector inverse = hn::Set(d, static_cast<float>(1.0 / task_.softcap));
      z = hn::Mul(hn::Set(d, cap_factor_), hn::Tanh(d, hn::Mul(z, inverse)));
    }
    return added ? hn::Add(z, hn::Load(d, added)) : z;
  }

  // The log-sum-exp in two floats, so that a large one costs no digits of the small difference.
  struct RowLse {
    float high, low;
    float one;  // softpick: e^{−lse}
  };
  HWY_INLINE RowLse row_lse(int m, std::int64_t i) const {
    const double value = task_.lse[m][i] * kLog2E;
    if (task_.softpick && value < -1e300) return {__builtin_inff(), 0.0f, 0.0f};  // weighs nothing
    const float high = static_cast<float>(value);
    // A row that sees nothing has −∞ and is masked.
    return {high, value - value == 0.0 ? static_cast<float>(value - static_cast<double>(high)) : 0.0f,
            task_.softpick ? static_cast<float>(__builtin_exp2(-value)) : 0.0f};
  }

  HWY_INLINE Vector shown(const RowLse lse[2], float lambda, std::int64_t at, const float* added) const {
    const Tag d;
    const int first = task_.maps[0].present() ? 0 : 1;
    if (logits_) return hn::Mul(score(first, at, added), hn::Set(d, static_cast<float>(kLn2)));
    const auto weight = [&](int m) HWY_ATTR {
      const Vector e =
          power_of_two(hn::Sub(hn::Sub(score(m, at, added), hn::Set(d, lse[m].high)), hn::Set(d, lse[m].low)));
      if (!task_.softpick) return e;
      const Vector above = hn::Sub(e, hn::Set(d, lse[m].one));
      return hn::IfThenElse(hn::Lt(above, hn::Zero(d)), hn::Zero(d), above);
    };
    switch (task_.map) {
      case WindowMap::First:
      case WindowMap::Second: return weight(first);
      case WindowMap::ScaledSecond: return hn::Mul(hn::Set(d, lambda), weight(1));
      default: break;
    }
    if (!task_.maps[1].present()) return weight(0);
    const Vector one = task_.maps[0].present() ? weight(0) : hn::Zero(d);
    return hn::NegMulAdd(hn::Set(d, lambda), weight(1), one);
  }

  HWY_INLINE void add_row(std::int64_t i, std::int64_t tile, bool whole, const float* added) {
    const Tag d;
    RowLse lse[2] = {};
    for (int m = 0; m < 2; ++m)
      if (task_.maps[m].present() && !logits_) lse[m] = row_lse(m, i);
    const float lambda = task_.lambda ? static_cast<float>(finite_or_nan(task_.lambda[i])) : 0.0f;
    const Vector zero = hn::Zero(d), nan = hn::Set(d, __builtin_nanf("")), one = hn::Set(d, 1.0f);
    const std::int64_t cell_row = (i - task_.row_begin) / task_.reduction;
    for (int v = 0; v < kVectors; ++v) {
      const float* added_here = added ? added + v * kLanes : nullptr;
      const Vector x = shown(lse, lambda, tile + v * kLanes, added_here);
      hn::Mask<Tag> seen = whole ? hn::Eq(zero, zero) : visible(i, v);
      if (added) seen = hn::And(seen, hn::Not(hn::Lt(hn::Load(d, added_here), hn::Set(d, kLeast))));
      if (task_.reduction == 1) {
        const std::int64_t at = cell_row * task_.cells.stride + key_ - task_.key_begin + v * kLanes;
        const std::int64_t count = smaller(kLanes, keys_ - v * kLanes);
        if (count <= 0) break;
        write(task_.cells.mean, at, count, hn::IfThenElse(seen, x, nan));
        write(task_.cells.max_magnitude, at, count, hn::IfThenElse(seen, x, nan));
        // x − x is NaN where x is not finite, and 0 else.
        write(task_.cells.positive, at, count, hn::IfThenElse(seen, hn::Add(hn::Max(x, zero), hn::Sub(x, x)), nan));
        write(task_.cells.negative, at, count,
              hn::IfThenElse(seen, hn::Add(hn::Max(hn::Neg(x), zero), hn::Sub(x, x)), nan));
        continue;
      }
      float* lanes = lanes_ + cell_row * kCellSums * kWidth + v * kLanes;
      const Vector y = hn::IfThenElseZero(seen, x);
      hn::Store(hn::Add(hn::Load(d, lanes + kCellSum * kWidth), y), d, lanes + kCellSum * kWidth);
      hn::Store(hn::Add(hn::Load(d, lanes + kCellPositive * kWidth), hn::Max(y, zero)), d,
                lanes + kCellPositive * kWidth);
      hn::Store(hn::Add(hn::Load(d, lanes + kCellCount * kWidth), hn::IfThenElseZero(seen, one)), d,
                lanes + kCellCount * kWidth);
      hn::Store(hn::Max(hn::Load(d, lanes + kCellHighest * kWidth), y), d, lanes + kCellHighest * kWidth);
      hn::Store(hn::Min(hn::Load(d, lanes + kCellLowest * kWidth), y), d, lanes + kCellLowest * kWidth);
    }
  }

  static HWY_INLINE void write(float* cells, std::int64_t at, std::int64_t count, Vector values) {
    if (!cells) return;
    const Tag d;
    if (count == kLanes) {
      hn::StoreU(values, d, cells + at);
      return;
    }
    HWY_ALIGN float lanes[kLanes];
    hn::Store(values, d, lanes);
    for (std::int64_t lane = 0; lane < count; ++lane) cells[at + lane] = lanes[lane];
  }

  HWY_NOINLINE void fold_lanes(std::int64_t begin, std::int64_t end) {
    const std::int64_t first = (begin - task_.row_begin) / task_.reduction;
    const std::int64_t last = (end - 1 - task_.row_begin) / task_.reduction;
    const std::int64_t offset = key_ - task_.key_begin;
    for (std::int64_t row = first; row <= last; ++row) {
      const float* lanes = lanes_ + row * kCellSums * kWidth;
      std::int64_t column = offset / task_.reduction;
      for (std::int64_t lane = 0; lane < keys_; ++column) {
        const std::int64_t end_lane = smaller(keys_, (column + 1) * task_.reduction - offset);
        float sum = 0.0f, positive = 0.0f, count = 0.0f, highest = 0.0f, lowest = 0.0f;
        for (; lane < end_lane; ++lane) {
          sum += lanes[kCellSum * kWidth + lane];
          positive += lanes[kCellPositive * kWidth + lane];
          count += lanes[kCellCount * kWidth + lane];
          const float high = lanes[kCellHighest * kWidth + lane], low = lanes[kCellLowest * kWidth + lane];
          if (high > highest) highest = high;
          if (low < lowest) lowest = low;
        }
        double* cell = totals_ + (row * columns_ + column) * kCellSums;
        cell[kCellSum] += static_cast<double>(sum);
        cell[kCellPositive] += static_cast<double>(positive);
        cell[kCellCount] += static_cast<double>(count);
        if (static_cast<double>(highest) > cell[kCellHighest]) cell[kCellHighest] = static_cast<double>(highest);
        if (static_cast<double>(lowest) < cell[kCellLowest]) cell[kCellLowest] = static_cast<double>(lowest);
      }
    }
  }

  HWY_NOINLINE void write_cells() const {
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = 0; column < columns_; ++column) {
        const double* cell = totals_ + (row * columns_ + column) * kCellSums;
        const double count = cell[kCellCount] > 0.0 ? cell[kCellCount] : __builtin_nan("");
        const std::int64_t at = row * task_.cells.stride + column;
        if (task_.cells.mean) task_.cells.mean[at] = static_cast<float>(cell[kCellSum] / count);
        // Comparisons drop a NaN that the sum keeps.
        const double sum = cell[kCellSum], odd = sum - sum;
        const double largest = odd != 0.0                                 ? sum
                               : cell[kCellHighest] >= -cell[kCellLowest] ? cell[kCellHighest]
                                                                          : cell[kCellLowest];
        if (task_.cells.max_magnitude)
          task_.cells.max_magnitude[at] = static_cast<float>(cell[kCellCount] > 0.0 ? largest : count);
        if (task_.cells.positive) task_.cells.positive[at] = static_cast<float>(cell[kCellPositive] / count + odd);
        if (task_.cells.negative)
          task_.cells.negative[at] = static_cast<float>((cell[kCellPositive] - sum) / count + odd);
      }
  }

  const WindowTask<Input>& task_;
  float factor_, cap_factor_;
  bool logits_;
  std::int64_t rows_, columns_;  // cells
  std::int64_t key_ = 0, keys_ = 0;
  float *packed_[2], *tiles_[2], *row_copy_, *lanes_ = nullptr, *added_ = nullptr;
  double* read_ = nullptr;    // a segment of the dense mask
  double* totals_ = nullptr;  // [rows][columns][kCellSums]
};

bool window_f32(const WindowTask<float>& task, float* scratch) { return WindowTiles<float>(task, scratch).run(); }
bool window_bf16(const WindowTask<BFloat16>& task, float* scratch) {
  return WindowTiles<BFloat16>(task, scratch).run();
}

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {

HWY_EXPORT(window_f32);
HWY_EXPORT(window_bf16);

std::int64_t window_scratch_floats(std::int64_t head_dim, std::int64_t cell_rows, std::int64_t cell_columns,
                                   bool dense) {
  // Packed keys and score tiles of two maps, copied rows, lane and cell sums; 16 floats of padding each.
  return (2 * kWindowKeys + 16) * head_dim + 4 * 16 * kWindowKeys + kWindowCellSums * cell_rows * kWindowKeys +
         2 * kWindowCellSums * cell_rows * cell_columns + 8 * 16 + (dense ? 3 * 256 * kWindowKeys + 2 * 16 : 0);
}

template <>
bool run_window_task(const WindowTask<float>& task, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(window_f32)(task, scratch);
}
template <>
bool run_window_task(const WindowTask<BFloat16>& task, float* scratch) {
  return HWY_DYNAMIC_DISPATCH(window_bf16)(task, scratch);
}

}  // namespace headroom::kernels
#endif
