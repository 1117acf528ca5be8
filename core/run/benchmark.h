// What `headroom bench` asks of the library that runs models, and what it gets back: attention and its statistics
// beside LibTorch's own attention, in one process, on the same threads, every round all of them in turn. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct BenchmarkShape {
  std::string kind = "softmax";  // or "diff_v2", "diff_v1": two maps a head
  std::int64_t heads = 8;        // output heads
  std::int64_t kv_heads = 8;     // value heads; diff_v1 has two keys for each, and values twice as wide
  std::int64_t head_dim = 64;    // channels of a query or key
  std::int64_t length = 0;       // 0: those of BenchmarkRequest::lengths
};

struct BenchmarkRequest {
  std::vector<BenchmarkShape> shapes;  // empty: the table of shapes
  std::vector<std::int64_t> lengths = {1024, 2048, 4096, 8192};
  std::int64_t rounds = 15;       // at most; after one that is not counted
  double budget_seconds = 120.0;  // what does not fit is skipped, and said to be
  std::int64_t threads = 0;       // 0: LibTorch's default
  std::string device = "cpu";     // or a CUDA device: its fused kernels beside LibTorch's there
  std::string dtype = "float32";  // of queries, keys and values; or "bfloat16"
  std::string target;             // instructions of the cpu backend; empty: the best
  bool window = true;
  bool outliers = false;  // queries and keys from the mixture of FlashAttention-3, not N(0, 1)
};

struct BenchmarkTime {
  double median_seconds = 0.0, best_seconds = 0.0;
  double cpu_seconds = 0.0;  // of all threads, median: what other programs on the machine hardly change
};

struct BenchmarkVariant {
  std::string
      name;  // "sdpa", "sdpa_cudnn", "context", "row_statistics", "everything", "rounds_to_one", "histograms", …
  BenchmarkTime time;
  double ratio_median = 0.0, ratio_best = 0.0, ratio_cpu = 0.0;  // to "sdpa"
  double gflops = 0.0;         // best; counted as the attention alone, half of it masked
  double peak_fraction = 0.0;  // of the peak on all threads
  std::optional<double> goal;  // for the ratio
};

struct BenchmarkCase {
  BenchmarkShape shape;
  std::int64_t rounds = 0;
  std::string yardstick;                   // what "sdpa" is here
  std::string sdpa_backend;                // "flash", "efficient", "cudnn" or "math"
  std::vector<BenchmarkVariant> variants;  // the first is "sdpa"
};

// Against the scalar reference in double, one head.
struct BenchmarkAccuracy {
  BenchmarkShape shape;
  double context_error = 0.0;       // largest |Δc| over the largest |c| of its row, worst row
  double sdpa_context_error = 0.0;  // the same of LibTorch's attention
  double column_sum_error = 0.0;    // largest |Δs|/s
};

struct BenchmarkScaling {
  BenchmarkShape shape;                                       // n; compared with the case of 2n
  double sdpa = 0.0, row_statistics = 0.0, everything = 0.0;  // best t(2n) / best t(n)
};

struct BenchmarkWindow {
  std::int64_t length = 0, head_dim = 0, rows = 0, keys = 0, rounds = 0;
  double p50_seconds = 0.0, p95_seconds = 0.0, best_seconds = 0.0;
  double gflops = 0.0, peak_fraction = 0.0;
  double goal_seconds = 0.0;  // for the 95th percentile
};

struct BenchmarkSkip {
  BenchmarkShape shape;
  std::string reason;
};

struct BenchmarkMachine {
  std::string processor, torch_version, torch_capability, kernel_target;
  std::vector<std::string> notes;
  std::int64_t threads = 0;
  std::string device, dtype;
  // Measured at start. On the CPU float multiply-adds in registers; on a CUDA device products of matrices of 8192² by
  // LibTorch in the table's type, and 0 for one thread.
  double peak_gflops_one = 0.0, peak_gflops_all = 0.0;
};

struct BenchmarkReport {
  BenchmarkMachine machine;
  std::string data;  // "normal" or "outliers"
  std::vector<BenchmarkCase> cases;
  std::vector<BenchmarkAccuracy> accuracy;
  std::vector<BenchmarkScaling> scaling;
  std::optional<BenchmarkWindow> window;
  std::vector<BenchmarkSkip> skipped;
  double seconds = 0.0;
};

}  // namespace headroom
