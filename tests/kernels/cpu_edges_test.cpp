// The CPU kernels at the edges of their input: not-a-number, infinities, strides, and the last byte of every tensor.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/kernels/cpu_runs.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;
using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::MapStatistics;

constexpr std::int64_t kRows = 130;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

bool row_is_nan(const std::vector<double>& context, std::int64_t row, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c)
    if (!std::isnan(context[static_cast<std::size_t>(row * channels + c)])) return false;
  return true;
}

// One head of 130 rows in which something is poisoned; says which rows of the context came out as NaN, and requires
// that every other row is bit for bit what it is without the poison.
struct Poisoned {
  std::vector<bool> rows;
  HeadStatistics statistics;
};

Poisoned run_poisoned(const AttentionCase& shape, const std::function<void(AttentionData<float>&)>& poison) {
  AttentionData<float> data = random_attention<float>(shape, kRows, 77);
  const CpuAnswer clean = run_cpu(heads_of(Tensors<float>(data)), full_request());
  poison(data);
  const CpuAnswer found = run_cpu(heads_of(Tensors<float>(data)), full_request());
  const std::int64_t channels = data.context_dim();
  const std::vector<double> before = clean.context_of(0, channels), after = found.context_of(0, channels);
  Poisoned result;
  for (std::int64_t i = 0; i < kRows; ++i) {
    result.rows.push_back(row_is_nan(after, i, channels));
    if (result.rows.back()) continue;
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(i * channels + c);
      if (before[at] != after[at]) CATCH_FAIL_CHECK("row " << i << " of " << shape.name << " changed");
    }
  }
  result.statistics = found.statistics[0];
  return result;
}

const std::vector<AttentionCase>& poisoned_cases() {
  static const std::vector<AttentionCase> cases = {
      {.name = "causal", .heads = 1},
      {.name = "bidirectional", .heads = 1, .causal = false},
      {.name = "window", .heads = 1, .sink = 0.0, .window = 10},
      {.name = "V2, hidden key", .pairing = Pairing::V2, .heads = 1, .hidden_keys = {50}},
      {.name = "soft cap", .heads = 1, .softcap = 3.0},
  };
  return cases;
}

// Which of 130 rows sees which key.
class Sight {
 public:
  explicit Sight(const AttentionCase& shape) {
    const AttentionData<float> data = random_attention<float>(shape, kRows, 77);
    std::vector<kernels::KeyRange> segments;
    for (std::int64_t i = 0; i < kRows; ++i) {
      data.problem(0).mask.segments(i, segments);
      for (const kernels::KeyRange& segment : segments)
        for (std::int64_t j = segment.begin; j < segment.end; ++j)
          seen_[static_cast<std::size_t>(i * kRows + j)] = true;
    }
  }
  bool operator()(std::int64_t i, std::int64_t j) const { return seen_[static_cast<std::size_t>(i * kRows + j)]; }

 private:
  std::vector<bool> seen_ = std::vector<bool>(static_cast<std::size_t>(kRows * kRows), false);
};

// Memory whose last element is followed by a page that must not be touched.
template <typename T>
class GuardedTensor {
 public:
  explicit GuardedTensor(const std::vector<T>& values) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t wanted = values.size() * sizeof(T);
    bytes_ = (wanted + page - 1) / page * page + page;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CATCH_REQUIRE(memory_ != MAP_FAILED);
    char* end = static_cast<char*>(memory_) + bytes_ - page;
    CATCH_REQUIRE(mprotect(end, page, PROT_NONE) == 0);
    data_ = reinterpret_cast<T*>(end - wanted);
    std::copy(values.begin(), values.end(), data_);
  }
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;
  ~GuardedTensor() { munmap(memory_, bytes_); }
  [[nodiscard]] T* data() const { return data_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  T* data_ = nullptr;
};

template <typename Input>
std::vector<Input> narrow_normals(Random& random, std::int64_t count) {
  std::vector<Input> values;
  for (const double value : random.normals(count)) values.push_back(narrowed<Input>(static_cast<float>(value)));
  return values;
}

// Queries, keys, values and context end where the page ends; rows are dense.
template <typename Input>
void run_guarded(std::int64_t length, std::int64_t head_dim, std::int64_t value_dim, bool causal) {
  Random random(static_cast<std::uint64_t>(length * 1000 + head_dim));
  const std::vector<Input> query = narrow_normals<Input>(random, length * head_dim);
  const std::vector<Input> key = narrow_normals<Input>(random, length * head_dim);
  const std::vector<Input> value = narrow_normals<Input>(random, length * value_dim);
  const std::vector<double> lambda(static_cast<std::size_t>(length), 0.5);
  const GuardedTensor<Input> q(query), k(key), v(value);
  const GuardedTensor<double> l(lambda);
  const GuardedTensor<std::int64_t> induction(std::vector<std::int64_t>(static_cast<std::size_t>(length), length - 1));
  const GuardedTensor<float> context(std::vector<float>(static_cast<std::size_t>(length * value_dim), kUntouched));
  HeadProblem<Input> problem;
  problem.mask.length = length, problem.head_dim = head_dim, problem.value_dim = value_dim;
  problem.mask.causal = causal;
  problem.induction_key = induction.data();
  problem.scale = 0.25;
  problem.maps[0] = {q.data(), k.data(), v.data(), head_dim, head_dim, value_dim};
  problem.maps[1] = {q.data(), k.data(), v.data(), head_dim, head_dim, value_dim};
  problem.lambda = l.data();
  kernels::HeadJob<Input, float> job{problem, full_request(), context.data(), value_dim, {}};
  for (const std::int64_t kept : {kernels::kKeptBytes, std::int64_t{0}}) {
    CATCH_REQUIRE(kernels::cpu_attention<Input>(std::span(&job, 1), serial, nullptr, kept));
    // Two equal maps with λ = ½ leave half of one: the context is half a mean of values, the row sums to ½.
    for (std::int64_t i = 0; i < length; ++i)
      CATCH_CHECK(std::abs(job.statistics.weight_sum[static_cast<std::size_t>(i)] - 0.5) < 1e-5);
  }
}

}  // namespace

CATCH_TEST_CASE("cpu edges: a NaN in a query reaches its own row only") {
  for (const AttentionCase& shape : poisoned_cases()) {
    const Sight sees(shape);
    CATCH_INFO(shape.name);
    const Poisoned found = run_poisoned(shape, [&](AttentionData<float>& data) {
      data.query[static_cast<std::size_t>(60 * data.query_blocks() * shape.head_dim + 3)] = kNaN;
    });
    for (std::int64_t i = 0; i < 130; ++i) CATCH_CHECK(found.rows[static_cast<std::size_t>(i)] == (i == 60));
    const MapStatistics& map = found.statistics.maps[0];
    for (const auto* rows : {&map.lse, &map.entropy, &map.weight_l2_squared, &map.weight_sum, &map.mean_distance,
                             &map.context_energy, &map.weight_max, &found.statistics.weight_sum,
                             &found.statistics.weight_l1, &found.statistics.weight_l2_squared}) {
      CATCH_CHECK(std::isnan((*rows)[60]));
      CATCH_CHECK(std::isfinite((*rows)[59]));
      CATCH_CHECK(std::isfinite((*rows)[61]));
    }
    // Its column sums are those of the keys it sees.
    for (std::int64_t j = 0; j < 130; ++j)
      if (sees(60, j)) CATCH_CHECK(std::isnan(map.column_sum[static_cast<std::size_t>(j)]));
  }
}

CATCH_TEST_CASE("cpu edges: a NaN in a key reaches the rows that see it") {
  for (const AttentionCase& shape : poisoned_cases()) {
    const Sight sees(shape);
    for (const std::int64_t key : {0, 50, 63, 64, 129}) {
      CATCH_INFO(shape.name << ", key " << key);
      const Poisoned found = run_poisoned(shape, [&](AttentionData<float>& data) {
        data.key[static_cast<std::size_t>(key * data.key_blocks() * shape.head_dim)] = kNaN;
      });
      for (std::int64_t i = 0; i < 130; ++i) CATCH_CHECK(found.rows[static_cast<std::size_t>(i)] == sees(i, key));
    }
  }
}

CATCH_TEST_CASE("cpu edges: a NaN in a value reaches its channel of the rows that see it, and no other number") {
  for (const AttentionCase& shape : poisoned_cases()) {
    const Sight sees(shape);
    for (const std::int64_t key : {0, 50, 63, 64, 129}) {
      CATCH_INFO(shape.name << ", key " << key);
      AttentionData<float> data = random_attention<float>(shape, 130, 77);
      const CpuAnswer clean = run_cpu(heads_of(Tensors<float>(data)), full_request());
      data.value[static_cast<std::size_t>(key * data.key_blocks() * shape.value_dim + 2)] = kNaN;
      const CpuAnswer found = run_cpu(heads_of(Tensors<float>(data)), full_request());
      for (std::int64_t i = 0; i < 130; ++i)
        for (std::int64_t c = 0; c < shape.value_dim; ++c) {
          const auto at = static_cast<std::size_t>(i * shape.value_dim + c);
          const bool hit = c == 2 && sees(i, key), nan = std::isnan(found.context[at]);
          if (hit != nan || (!nan && found.context[at] != clean.context[at]))
            CATCH_FAIL_CHECK("row " << i << ", channel " << c << " is " << found.context[at] << ", without NaN "
                                    << clean.context[at]);
        }
      // Weights know nothing of values.
      CATCH_CHECK(same_bits(found.statistics[0].maps[0].lse, clean.statistics[0].maps[0].lse));
      CATCH_CHECK(same_bits(found.statistics[0].column_sum, clean.statistics[0].column_sum));
    }
  }
}

CATCH_TEST_CASE("cpu edges: rows with a logit of +∞ are not a number") {
  for (const AttentionCase& shape : poisoned_cases()) {
    if (shape.softcap > 0.0) continue;  // it makes +∞ an ordinary logit
    const Sight sees(shape);
    CATCH_INFO(shape.name);
    const auto positive = [&](AttentionData<float>& data) {
      for (std::size_t at = 0; at < data.query.size(); at += static_cast<std::size_t>(shape.head_dim))
        data.query[at] = std::abs(data.query[at]) + 0.125f;
    };
    AttentionData<float> data = random_attention<float>(shape, 130, 78);
    positive(data);
    const CpuAnswer clean = run_cpu(heads_of(Tensors<float>(data)), full_request());
    data.key[static_cast<std::size_t>(60 * data.key_blocks() * shape.head_dim)] = kInfinite;
    const CpuAnswer found = run_cpu(heads_of(Tensors<float>(data)), full_request());
    for (std::int64_t i = 0; i < 130; ++i) {
      CATCH_INFO("row " << i);
      const auto at = static_cast<std::size_t>(i * shape.value_dim);
      CATCH_CHECK(std::isnan(found.statistics[0].maps[0].lse[static_cast<std::size_t>(i)]) == sees(i, 60));
      CATCH_CHECK(std::isnan(found.context[at]) == sees(i, 60));
      if (!sees(i, 60)) CATCH_CHECK(found.context[at] == clean.context[at]);
    }
  }
}

CATCH_TEST_CASE("cpu edges: rows whose every logit is −∞ are not a number, unless a sink takes them") {
  for (const bool sink : {false, true}) {
    AttentionCase shape = {.name = "−∞", .heads = 1};
    if (sink) shape.sink = 1.0;
    AttentionData<float> data = random_attention<float>(shape, 130, 78);
    for (std::size_t i = 0; i < 130; ++i) {
      data.query[i * 8] = std::abs(data.query[i * 8]) + 0.125f;
      if (i < 70) data.key[i * 8] = -kInfinite;
    }
    const CpuAnswer found = run_cpu(heads_of(Tensors<float>(data)), full_request());
    const MapStatistics& map = found.statistics[0].maps[0];
    CATCH_INFO("sink " << sink);
    for (std::size_t i = 0; i < 130; ++i) {
      CATCH_INFO("row " << i);
      const bool defined = sink || i >= 70;
      for (const double value : {map.lse[i], map.entropy[i], map.weight_sum[i], map.weight_l2_squared[i],
                                 map.mean_distance[i], static_cast<double>(found.context[i * 6])})
        CATCH_CHECK(std::isnan(value) != defined);
      if (i >= 70 || !sink) continue;
      CATCH_CHECK(map.lse[i] == 1.0);
      CATCH_CHECK(map.weight_sum[i] == 0.0);
      CATCH_CHECK(map.weight_max[i] == 0.0);
      CATCH_CHECK(map.entropy[i] == 0.0);
      CATCH_CHECK(found.context[i * 6] == 0.0f);
    }
  }
}

CATCH_TEST_CASE("cpu edges: rows of tensors may lie anywhere, in any order, and between other data") {
  std::uint64_t seed = 40;
  for (const Pairing pairing : {Pairing::Single, Pairing::V2}) {
    const AttentionCase shape = {.name = "strides", .pairing = pairing, .heads = 1, .head_dim = 20, .value_dim = 13};
    const Tensors<float> dense(random_attention<float>(shape, 150, ++seed));
    const HeadProblem<float> problem = dense.problem(0);
    const CpuAnswer expected = run_cpu(std::vector{problem}, full_request());
    for (const std::int64_t stride : {-37, 21, 64}) {
      // NaN between the rows shows what is read and should not be.
      std::array<std::vector<float>, 6> tensors;
      HeadProblem<float> strided = problem;
      std::size_t next = 0;
      const auto move = [&](const float* from, std::int64_t from_stride, std::int64_t channels, const float*& to,
                            std::int64_t& to_stride) {
        std::vector<float>& tensor = tensors[next++];
        tensor.assign(static_cast<std::size_t>(150 * 64), kNaN);
        float* first = tensor.data() + (stride < 0 ? -stride * 149 : 0);
        for (std::int64_t i = 0; i < 150; ++i) std::copy_n(from + i * from_stride, channels, first + i * stride);
        to = first;
        to_stride = stride;
      };
      for (kernels::MapInput<float>& map : strided.maps) {
        if (!map.present()) continue;
        const kernels::MapInput<float> from = map;
        move(from.query, from.query_stride, 20, map.query, map.query_stride);
        move(from.key, from.key_stride, 20, map.key, map.key_stride);
        move(from.value, from.value_stride, 13, map.value, map.value_stride);
      }
      if (pairing == Pairing::V2) {
        strided.maps[1].value = strided.maps[0].value;
        strided.maps[1].value_stride = strided.maps[0].value_stride;
      }
      CATCH_INFO("stride " << stride);
      const CpuAnswer found = run_cpu(std::vector{strided}, full_request());
      CATCH_CHECK(different_bits(found, expected) == "");
    }
    // One query for all rows.
    HeadProblem<float> repeated = problem;
    repeated.maps[0].query_stride = 0;
    repeated.maps[1] = {};
    const CpuAnswer same = run_cpu(std::vector{repeated}, full_request());
    CATCH_CHECK(same.statistics[0].maps[0].logit_max[149] >= same.statistics[0].maps[0].logit_max[10]);
    CATCH_CHECK(same.statistics[0].maps[0].logit_min[149] <= same.statistics[0].maps[0].logit_min[10]);
  }
}

CATCH_TEST_CASE("cpu edges: nothing is written between the rows of a context") {
  const Tensors<float> tensors(random_attention<float>({.name = "", .heads = 1, .value_dim = 5}, 67, 3));
  std::vector<float> context(67 * 9, kUntouched);
  kernels::HeadJob<float, float> job{tensors.problem(0), full_request(), context.data(), 9, {}};
  CATCH_REQUIRE(kernels::cpu_attention<float>(std::span(&job, 1), serial, nullptr));
  for (std::size_t at = 0; at < context.size(); ++at) CATCH_CHECK((context[at] == kUntouched) == (at % 9 >= 5));
}

CATCH_TEST_CASE("cpu edges: nothing is read or written past the last row of any tensor") {
  for (const bool causal : {true, false})
    for (const std::int64_t length : {1, 7, 47, 48, 49, 64, 65, 130})
      for (const auto& [head_dim, value_dim] :
           std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {7, 3}, {16, 16}, {33, 130}, {64, 6}}) {
        CATCH_INFO("length " << length << ", d " << head_dim << ", values " << value_dim);
        run_guarded<float>(length, head_dim, value_dim, causal);
        run_guarded<BFloat16>(length, head_dim, value_dim, causal);
      }
}

}  // namespace headroom::test
