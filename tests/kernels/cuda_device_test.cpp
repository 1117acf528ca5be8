// The CUDA kernels on a real device, on the table of cases: skipped, with the reason, where there is none.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/window.h"
#include "tests/kernels/cuda_answers.h"
#include "tests/kernels/dense_attention.h"
#include "tests/support/narrow_tensors.h"
#include "tests/support/skip.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;
using kernels::DeviceBuffer;
using kernels::Float16;
using kernels::HeadJob;
using kernels::HeadProblem;
using kernels::KernelStatus;
using kernels::StreamView;

const StreamView kDefaultStream(nullptr);

bool device_is_there() {
  const KernelStatus ready = kernels::cuda_ready();
  if (!ready.ok()) skip(std::string("no CUDA device can be used: ") + ready.text);
  return ready.ok();
}

void require_ok(const KernelStatus& status) {
  CATCH_INFO(status.call << ": " << status.text);
  CATCH_REQUIRE(status.ok());
}

// A problem whose tensors lie on the device. The channels of a row are copied with its stride, so that rows keep the
// distance they have on the host.
template <class Input>
class DeviceProblem {
 public:
  explicit DeviceProblem(HeadProblem<Input> problem) : problem_(std::move(problem)) {
    for (kernels::MapInput<Input>& map : problem_.maps) {
      if (!map.present()) continue;
      move(map.query, map.query_stride, problem_.head_dim);
      move(map.key, map.key_stride, problem_.head_dim);
      move(map.value, map.value_stride, problem_.value_dim);
    }
  }
  [[nodiscard]] const HeadProblem<Input>& get() const { return problem_; }

 private:
  // Maps that share a tensor on the host share it on the device.
  void move(const Input*& data, std::int64_t stride, std::int64_t channels) {
    for (const auto& [host, device] : moved_)
      if (host == data) {
        data = device;
        return;
      }
    const auto bytes = static_cast<std::size_t>((problem_.mask.length - 1) * stride + channels) * sizeof(Input);
    buffers_.push_back(std::make_unique<DeviceBuffer>(kDefaultStream));
    require_ok(buffers_.back()->allocate(bytes));
    require_ok(buffers_.back()->upload(data));
    moved_.emplace_back(data, static_cast<const Input*>(buffers_.back()->data()));
    data = moved_.back().second;
  }

  HeadProblem<Input> problem_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
  std::vector<std::pair<const Input*, const Input*>> moved_;
};

template <class Input>
void check_case(const AttentionCase& shape, std::int64_t length, std::uint64_t seed) {
  const Tensors<Input> tensors(random_attention<float>(shape, length, seed));
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    CATCH_INFO(shape.name << ", length " << length << ", head " << head << ", seed " << seed);
    const DeviceProblem<Input> problem(tensors.problem(head));
    std::vector<float> context(static_cast<std::size_t>(length * problem.get().value_dim));
    DeviceBuffer on_device(kDefaultStream);
    require_ok(on_device.allocate(context.size() * sizeof(float)));
    std::vector<HeadJob<Input, float>> jobs(1);
    jobs[0] = {problem.get(), full_request(), static_cast<float*>(on_device.data()), problem.get().value_dim, {}};
    require_ok(kernels::cuda_attention<Input>(jobs, kDefaultStream, {}));
    require_ok(on_device.download(context.data()));
    check_answer<Input>(tensors.wide(head), full_request(), jobs[0].statistics, context, kDeviceTolerance<Input>);
  }
}

template <class Input>
void check_table() {
  std::uint64_t seed = 2000;
  for (const auto& cases : {attention_cases(), padded_cases()})
    for (const AttentionCase& shape : cases)
      for (const std::int64_t length : {1, 2, 3, 17, 63, 64, 65, 191, 192, 193})
        check_case<Input>(shape, length, ++seed);
}

}  // namespace

CATCH_TEST_CASE("CUDA device: every case of the table, float32") {
  if (device_is_there()) check_table<float>();
}

CATCH_TEST_CASE("CUDA device: every case of the table, bfloat16") {
  if (device_is_there()) check_table<BFloat16>();
}

CATCH_TEST_CASE("CUDA device: every case of the table, half") {
  if (device_is_there()) check_table<Float16>();
}

CATCH_TEST_CASE("CUDA device: widths from 1 to 256, and a length of many tiles") {
  if (!device_is_there()) return;
  for (const auto& [head_dim, value_dim] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {16, 256}, {20, 130}, {33, 65}, {64, 64}, {80, 96}, {128, 128}, {136, 40}, {256, 256}})
    for (const Pairing pairing : {Pairing::Single, Pairing::V1, Pairing::V2}) {
      const AttentionCase shape{.name = "widths", .pairing = pairing, .head_dim = head_dim, .value_dim = value_dim};
      check_case<float>(shape, 1025, 7);
      check_case<BFloat16>(shape, 511, 8);
      check_case<Float16>(shape, 70, 9);
    }
}

// Small enough for compute-sanitizer.
CATCH_TEST_CASE("CUDA device: a small case of every kernel") {
  if (!device_is_there()) return;
  for (const Pairing pairing : {Pairing::Single, Pairing::V1, Pairing::V2})
    for (const std::int64_t width : {24, 128}) {
      const AttentionCase shape{.name = "small", .pairing = pairing, .head_dim = width, .value_dim = width};
      check_case<float>(shape, 130, 7);
      check_case<BFloat16>(shape, 130, 8);
    }
}

CATCH_TEST_CASE("CUDA device: a window of every map") {
  if (!device_is_there()) return;
  const Tensors<float> tensors(random_attention<float>({.name = "V2", .pairing = Pairing::V2}, 150, 4));
  const HeadProblem<double> wide = tensors.wide(0);
  const DenseHead dense = dense_head(wide);
  const DeviceProblem<float> problem(tensors.problem(0));
  std::vector<float> mean(150 * 150);
  const kernels::WindowCells cells{mean.data(), nullptr, nullptr, nullptr, 150};
  require_ok(kernels::cuda_window<float>(problem.get(), {dense.maps[0].lse.data(), dense.maps[1].lse.data()},
                                         {kernels::WindowMap::Net, 0, 150, 0, 150, 1}, cells, kDefaultStream, {}));
  for (std::int64_t i = 0; i < 150; ++i)
    for (std::int64_t j = 0; j < 150; ++j) {
      const double found = static_cast<double>(mean[static_cast<std::size_t>(i * 150 + j)]);
      CATCH_CHECK((j > i ? std::isnan(found) : std::abs(found - dense.net(i, j)) <= kTolerance));
    }
}

}  // namespace headroom::test
