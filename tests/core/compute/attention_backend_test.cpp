// Backends by name: what is refused and in which words, what `auto` means, that the named backend is the one that runs,
// and that each gives the reference's numbers through the one door.
#include "core/compute/attention_backend.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "core/compute/device.h"
#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

ForwardOptions options_of(const char* backend, ComputeDtype dtype, const char* device, std::size_t tokens = 8) {
  ForwardOptions options;
  options.backend = backend;
  options.dtype = dtype;
  options.device = device;
  options.ids.assign(tokens, 1);
  return options;
}

bool cuda_here() {
  std::string note;
  return list_devices(note).size() > 1;
}

// Jobs of every head of `data`, contexts beside each other in [length, heads, context_dim], as a layer has them.
template <typename Input, typename Real>
struct Jobs {
  std::vector<kernels::HeadJob<Input, Real>> heads;
  std::vector<Real> context;

  Jobs(const AttentionData<Input>& data, const kernels::StatisticsRequest& request)
      : heads(static_cast<std::size_t>(data.shape.heads)),
        context(static_cast<std::size_t>(data.length * data.shape.heads * data.context_dim()), Real(-77)) {
    for (std::int64_t h = 0; h < data.shape.heads; ++h) {
      kernels::HeadJob<Input, Real>& job = heads[static_cast<std::size_t>(h)];
      job.problem = data.problem(h);
      job.request = request;
      job.context = context.data() + h * data.context_dim();
      job.context_stride = data.shape.heads * data.context_dim();
    }
  }
};

template <typename Real>
void check_backend(AttentionBackend backend, double tolerance, double count_share) {
  std::vector<AttentionCase> shapes = {
      {.name = "groups", .heads = 6, .kv_heads = 2},
      {.name = "V1, sink, window", .pairing = Pairing::V1, .heads = 2, .sink = 0.7, .window = 9, .lambda = 0.4},
      {.name = "V2, hidden keys, cap", .pairing = Pairing::V2, .softcap = 3.0, .hidden_keys = {0, 4}},
      {.name = "bias, groups, hidden keys", .heads = 6, .kv_heads = 2, .hidden_keys = {0, 4, 33}, .biased = true},
      {.name = "bias, decode, window", .window = 9, .more_keys = 33, .first_query = 33, .biased = true},
      {.name = "bias, V2, bidirectional, cap", .pairing = Pairing::V2, .softcap = 3.0, .causal = false, .biased = true},
  };
  if (backend == AttentionBackend::Reference || backend == AttentionBackend::Blocked)
    for (const AttentionCase& shape : softpick_cases())
      if (shape.data == Data::Normal && shape.deviation < 10.0) shapes.push_back(shape);
  for (const AttentionCase& shape : shapes) {
    const auto data = random_attention<Real>(shape, 70, 11);
    const AttentionData<double> exact = widened(data);
    const kernels::StatisticsRequest request = full_request();
    Jobs<Real, Real> jobs(data, request);
    CATCH_REQUIRE(run_attention_backend<Real, Real>(backend, jobs.heads, at::kCPU, nullptr).has_value());
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      CATCH_INFO(attention_backend_name(backend) << ", " << shape.name << ", head " << h);
      kernels::HeadStatistics expected;
      const std::int64_t channels = data.context_dim();
      std::vector<double> context(static_cast<std::size_t>(70 * channels)), found;
      kernels::reference_attention(exact.problem(h), request, expected, context);
      for (std::int64_t i = 0; i < 70; ++i)
        for (std::int64_t c = 0; c < channels; ++c)
          found.push_back(
              static_cast<double>(jobs.context[static_cast<std::size_t>((i * shape.heads + h) * channels + c)]));
      CATCH_CHECK(statistics_mismatch(jobs.heads[static_cast<std::size_t>(h)].statistics, expected, tolerance,
                                      count_share) == "");
      CATCH_CHECK(array_mismatch("context", found, context, tolerance) == "");
    }
  }
}

}  // namespace

CATCH_TEST_CASE("backend: what does not go together is a usage error that says what would") {
  struct Refused {
    const char* backend;
    ComputeDtype dtype;
    const char* device;
    std::size_t tokens;
    const char* expected;
    const char* found;
  };
  constexpr auto f32 = ComputeDtype::Float32, f64 = ComputeDtype::Float64, bf16 = ComputeDtype::BFloat16;
  const Refused table[] = {
      {"fast", f32, "cpu", 8, "auto, reference, blocked, cpu or cuda", "fast"},
      {"", f32, "cpu", 8, "auto, reference, blocked, cpu or cuda", ""},
      {"CPU", f32, "cpu", 8, "auto, reference, blocked, cpu or cuda", "CPU"},
      {"cpu", f64, "cpu", 8, "--dtype float32 or bfloat16", "--dtype float64"},
      {"cpu", f32, "cuda", 8, "--device cpu", "--device cuda"},
      {"cpu", bf16, "cuda:1", 8, "--device cpu", "--device cuda:1"},
      {"reference", f64, "cuda", 8, "--device cpu", "--device cuda"},
      {"reference", f32, "cpu", 4097, "at most 4096 tokens", "4097 tokens"},
      {"cuda", f32, "cpu", 8, "--device cuda", "--device cpu"},
      {"cuda", f64, "cuda", 8, "--dtype float32 or bfloat16", "--dtype float64"},
  };
  for (const Refused& row : table) {
    const auto choice = choose_attention(options_of(row.backend, row.dtype, row.device, row.tokens));
    CATCH_INFO("backend '" << row.backend << "', " << dtype_name(row.dtype) << ", " << row.device);
    CATCH_REQUIRE(!choice.has_value());
    CATCH_CHECK(choice.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(choice.error().tensor == "--backend");
    CATCH_CHECK(choice.error().expected == row.expected);
    CATCH_CHECK(choice.error().found == row.found);
  }
}

CATCH_TEST_CASE("backend: softpick runs in the reference and blocked, and auto takes no fused kernel for it") {
  ForwardOptions options = options_of("auto", ComputeDtype::Float32, "cpu");
  options.softmax_only = false;
  const auto automatic = choose_attention(options);
  CATCH_REQUIRE(automatic.has_value());
  CATCH_CHECK(automatic->backend == "blocked");
  CATCH_CHECK(automatic->reason == "the backend cpu has no other normalizer than softmax");
  for (const char* backend : {"reference", "blocked"}) {
    options.backend = backend;
    CATCH_CHECK(choose_attention(options).has_value());
  }
  options.backend = "cpu";
  const auto refused = choose_attention(options);
  CATCH_REQUIRE(!refused.has_value());
  CATCH_CHECK(refused.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(refused.error().expected == "--backend blocked or reference");
  CATCH_CHECK(refused.error().found == "a head with softpick");
}

CATCH_TEST_CASE("backend: a mask that a backend does not know is refused by name, whatever the machine") {
  struct Refused {
    const char* backend;
    const char* device;
    void (*mask)(ForwardOptions&);
    const char* expected;
    const char* found;
  };
  const auto dense = [](ForwardOptions& options) { options.dense_masks = true; };
  const auto cross = [](ForwardOptions& options) { options.square_masks = false; };
  const auto first_keys = [](ForwardOptions& options) { options.always_visible = true; };
  const Refused table[] = {
      {"cpu", "cpu", dense, "calls without .mask", "a call with one"},
      {"cuda", "cuda", dense, "calls without .mask", "a call with one"},
      {"cuda", "cuda", cross, "calls of self-attention", "a call with other keys"},
      {"cuda", "cuda", first_keys, "a window alone", "a layer whose first keys stay visible"},
  };
  for (const Refused& row : table) {
    ForwardOptions options = options_of(row.backend, ComputeDtype::Float32, row.device);
    row.mask(options);
    const auto choice = choose_attention(options);
    CATCH_INFO(row.backend << ", " << row.found);
    CATCH_REQUIRE(!choice.has_value());
    CATCH_CHECK(choice.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(choice.error().expected == row.expected);
    CATCH_CHECK(choice.error().found == row.found);
    options.backend = "blocked";
    options.device = "cpu";
    CATCH_CHECK(choose_attention(options).has_value());
  }
}

CATCH_TEST_CASE("backend: cuda without a device or without CUDA in the build says so and nothing else runs") {
  if (cuda_here()) {
    skip("this machine has a CUDA device");
    return;
  }
  const auto choice = choose_attention(options_of("cuda", ComputeDtype::Float32, "cuda"));
  CATCH_REQUIRE(!choice.has_value());
  CATCH_CHECK(choice.error().code == ErrorCode::Device);
  const auto automatic = choose_attention(options_of("auto", ComputeDtype::Float32, "cuda"));
  CATCH_REQUIRE(!automatic.has_value());
  CATCH_CHECK(automatic.error().code == ErrorCode::Device);
}

CATCH_TEST_CASE("backend: auto on a GPU takes its fused kernels, and says why where they cannot") {
  const kernels::KernelStatus ready, missing{kernels::StatusCode::Unsupported, "this build has no CUDA"};
  ForwardOptions options = options_of("auto", ComputeDtype::Float32, "cuda:1");
  options.widest_query = 256, options.widest_value = 512;
  CATCH_CHECK(automatic_backend(options, ready).backend == AttentionBackend::Cuda);
  CATCH_CHECK(automatic_backend(options, ready).reason == "fused kernels, CUDA");
  CATCH_CHECK(automatic_backend(options, missing).backend == AttentionBackend::Blocked);
  CATCH_CHECK(automatic_backend(options, missing).reason == "the backend cuda cannot run: this build has no CUDA");
  struct Case {
    void (*asked)(ForwardOptions&);
    const char* reason;
  };
  const Case cases[] = {
      {[](ForwardOptions& o) { o.dtype = ComputeDtype::Float64; }, "computes in float32"},
      {[](ForwardOptions& o) { o.dense_masks = true; }, "reads no mask that is given entry by entry"},
      {[](ForwardOptions& o) { o.square_masks = false; }, "takes as many keys as queries"},
      {[](ForwardOptions& o) { o.always_visible = true; }, "knows no keys that stay visible beside a window"},
      {[](ForwardOptions& o) { o.softmax_only = false; }, "has no other normalizer than softmax"},
      {[](ForwardOptions& o) { o.widest_query = 257; }, "takes at most 256 channels of a query"},
      {[](ForwardOptions& o) { o.widest_value = 4097; }, "takes at most 4096 channels of a value"},
      {[](ForwardOptions& o) { o.request.pool_blocks = 8193; }, "takes at most 8192 blocks of a pooled map"},
  };
  for (const Case& one : cases) {
    ForwardOptions asked = options;
    one.asked(asked);
    CATCH_INFO(one.reason);
    CATCH_CHECK(automatic_backend(asked, ready).backend == AttentionBackend::Blocked);
    CATCH_CHECK(automatic_backend(asked, ready).reason == std::string("the backend cuda ") + one.reason);
  }
}

CATCH_TEST_CASE("backend: auto takes the fused kernels where they can, and says what it took and why") {
  struct Chosen {
    const char* backend;
    ComputeDtype dtype;
    const char* name;
    const char* statistics;
    bool reason;
  };
  const Chosen table[] = {
      {"auto", ComputeDtype::Float32, "cpu", "float32", true},
      {"auto", ComputeDtype::BFloat16, "cpu", "float32", true},
      {"auto", ComputeDtype::Float64, "blocked", "float64", true},
      {"blocked", ComputeDtype::Float32, "blocked", "float32", false},
      {"blocked", ComputeDtype::BFloat16, "blocked", "float32", false},
      {"cpu", ComputeDtype::Float32, "cpu", "float32", false},
      {"reference", ComputeDtype::Float32, "reference", "float64", false},
      {"reference", ComputeDtype::Float64, "reference", "float64", false},
  };
  for (const Chosen& row : table) {
    const auto choice = choose_attention(options_of(row.backend, row.dtype, "cpu", 4096));
    CATCH_INFO(row.backend << ", " << dtype_name(row.dtype));
    CATCH_REQUIRE(choice.has_value());
    CATCH_CHECK(choice->backend == row.name);
    CATCH_CHECK(choice->dtype == row.statistics);
    CATCH_CHECK(choice->device == "cpu");
    CATCH_CHECK(choice->reason.empty() != row.reason);
    CATCH_CHECK(!choice->kernel_target.empty());
  }
  // Short prompts or long: auto never means the reference.
  CATCH_CHECK(choose_attention(options_of("auto", ComputeDtype::Float32, "cpu", 1))->backend == "cpu");
}

CATCH_TEST_CASE("backend: the list names all four and gives a reason for what cannot be used") {
  std::string note;
  const bool cuda = list_devices(note).size() > 1;
  const std::vector<BackendState> states = list_attention_backends(note);
  CATCH_REQUIRE(states.size() == 4);
  const char* const names[] = {"reference", "blocked", "cpu", "cuda"};
  for (std::size_t i = 0; i < 4; ++i) CATCH_CHECK(states[i].name == names[i]);
  for (std::size_t i = 0; i < 3; ++i) CATCH_CHECK(states[i].unusable.empty());
  // Not the driver's own words where there is no driver.
  const bool built = states[3].unusable.find("built without CUDA") == std::string::npos;
  if (!cuda && built) CATCH_CHECK(states[3].unusable == note);
  if (!cuda) CATCH_CHECK(!states[3].unusable.empty());
}

CATCH_TEST_CASE("backend: each gives the reference's statistics and contexts") {
  check_backend<double>(AttentionBackend::Reference, 0.0, 0.0);
  check_backend<double>(AttentionBackend::Blocked, 1e-9, 0.0);
  check_backend<float>(AttentionBackend::Blocked, 2e-4, 1e-3);
  check_backend<float>(AttentionBackend::Cpu, 2e-4, 1e-3);
}

CATCH_TEST_CASE("backend: each ends early when it is asked to") {
  const AttentionCase shape{.name = "stop", .heads = 4, .kv_heads = 4};
  const auto single = random_attention<float>(shape, 300, 3);
  const auto wide = widened(single);
  for (const AttentionBackend backend :
       {AttentionBackend::Reference, AttentionBackend::Blocked, AttentionBackend::Cpu}) {
    CATCH_INFO(attention_backend_name(backend));
    std::atomic<int> asked{0};
    const auto stop = [&] { return ++asked > 0; };
    if (backend == AttentionBackend::Cpu) {
      Jobs<float, float> jobs(single, full_request());
      const auto stopped = run_attention_backend<float, float>(backend, jobs.heads, at::kCPU, stop);
      CATCH_REQUIRE(!stopped.has_value());
      CATCH_CHECK(stopped.error().code == ErrorCode::Cancelled);
      CATCH_CHECK(asked > 0);
      continue;
    }
    Jobs<double, double> jobs(wide, full_request());
    const auto stopped = run_attention_backend<double, double>(backend, jobs.heads, at::kCPU, stop);
    CATCH_REQUIRE(!stopped.has_value());
    CATCH_CHECK(stopped.error().code == ErrorCode::Cancelled);
    CATCH_CHECK(asked > 0);
  }
}

}  // namespace headroom::test
