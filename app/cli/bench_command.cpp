#include "app/cli/bench_command.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/cli/bench_report.h"
#include "app/cli/peak_memory.h"
#include "app/cli/progress.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "app/process/version.h"
#include "core/base/format.h"
#include "core/base/utc.h"

namespace headroom {
namespace {

constexpr double kBudgetSeconds = 120.0, kQuickSeconds = 20.0;
constexpr std::int64_t kRounds = 15, kQuickRounds = 5, kModelRounds = 3;
constexpr const char* kQuickShapes = "8x8x64,8x2x64,8x8x128,diff_v2:8x8x64";

// LibTorch and its libraries take their instructions from the environment when they are first used.
void hold_torch(const std::string& target) {
  if (target.empty() || target.starts_with("AVX3")) return;
  const bool avx2 = target == "AVX2";
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread yet
  setenv("ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "default", /*overwrite=*/0);
  setenv("MKL_ENABLE_INSTRUCTIONS", avx2 ? "AVX2" : "SSE4_2", /*overwrite=*/0);
  setenv("ONEDNN_MAX_CPU_ISA", avx2 ? "AVX2" : "SSE41", /*overwrite=*/0);
  // NOLINTEND(concurrency-mt-unsafe)
}

bool parse_number(std::string_view text, std::int64_t& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && value > 0;
}

// [KIND:]HEADSxKV_HEADSxHEAD_DIM[@LENGTH]
bool parse_shape(std::string_view text, BenchmarkShape& shape) {
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    shape.kind = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    if (!parse_number(text.substr(at + 1), shape.length)) return false;
    text = text.substr(0, at);
  }
  const std::size_t first = text.find('x'),
                    second = text.find('x', first == std::string_view::npos ? first : first + 1);
  return second != std::string_view::npos && parse_number(text.substr(0, first), shape.heads) &&
         parse_number(text.substr(first + 1, second - first - 1), shape.kv_heads) &&
         parse_number(text.substr(second + 1), shape.head_dim);
}

Result<std::vector<BenchmarkShape>> parse_shapes(const std::string& list) {
  std::vector<BenchmarkShape> shapes;
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    if (!parse_shape(word, shapes.emplace_back())) {
      Error error(ErrorCode::InvalidArgument, "this is no shape");
      error.at_tensor("--shapes")
          .wanted("[KIND:]HEADSxKV_HEADSxHEAD_DIM[@LENGTH], e.g. diff_v2:8x8x64@2048", std::string(word));
      return error;
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return shapes;
}

Result<BenchmarkRequest> kernel_request(const BenchArguments& arguments) {
  BenchmarkRequest request;
  const bool quick_table = arguments.quick && arguments.shapes.empty();
  HEADROOM_TRY(request.shapes, parse_shapes(quick_table ? kQuickShapes : arguments.shapes));
  if (quick_table) request.lengths = {1024, 2048, 4096};
  request.rounds = arguments.repeats > 0 ? arguments.repeats : arguments.quick ? kQuickRounds : kRounds;
  request.budget_seconds = arguments.budget_seconds > 0.0 ? arguments.budget_seconds
                           : arguments.quick              ? kQuickSeconds
                                                          : kBudgetSeconds;
  request.threads = arguments.threads;
  request.target = arguments.target;
  request.device = arguments.device;
  request.dtype = arguments.dtype;
  if (request.device != "cpu" && !quick_table) request.lengths = {2048, 8192, 32768, 131072};
  request.window = !arguments.no_window;
  request.outliers = arguments.outliers;
  return request;
}

Result<AnalysisRequest> model_request(const BenchArguments& arguments, const OpenedModel& model) {
  AnalysisRequest request;
  request.model = &model;
  TokenizerUse tokenizer;
  HEADROOM_TRY(request.prompt, read_prompt(arguments.prompt, model, tokenizer));
  request.tokenizer = std::move(tokenizer.tokenizer);
  request.command_line = arguments.command_line;
  request.program = std::string("headroom ") + kVersion;
  request.git_commit = kGitCommit;
  return request;
}

// An analysis of the model, and LibTorch's attention on heads of its shape for the forward it is compared with.
Result<BenchFacts> bench_model(const BenchArguments& arguments, ComputeBackend& backend, const ProgressReport& progress,
                               const kernels::StopRequested& stop) {
  HEADROOM_TRY(const OpenedModel model, open_model(arguments.model, arguments.options));
  HEADROOM_TRY(const AnalysisRequest analysis, model_request(arguments, model));
  HEADROOM_TRY(BenchmarkRequest request, kernel_request(arguments));
  request.rounds = std::min(request.rounds, kQuickRounds);
  BenchFacts facts;
  const std::int64_t length = static_cast<std::int64_t>(analysis.prompt.ids.size());
  const std::optional<BenchmarkShape> shape = length > 0 ? benchmark_shape(model.spec, length) : std::nullopt;
  request.window = false;
  // No shape and no length: only the machine is described.
  request.shapes.clear();
  request.lengths.clear();
  if (shape) request.shapes = {*shape};
  HEADROOM_TRY(facts.report, backend.benchmark(request, progress, stop));
  const std::int64_t rounds = arguments.repeats > 0 ? arguments.repeats : kModelRounds;
  HEADROOM_TRY(facts.model, benchmark_model(backend, analysis, rounds, arguments.folder, progress, stop));
  if (!facts.report.cases.empty()) {
    ModelBenchmark& result = *facts.model;
    result.sdpa_layer_seconds = facts.report.cases.front().variants.front().time.best_seconds;
    result.sdpa_forward_seconds = result.forward_seconds - result.forward_attention_seconds +
                                  static_cast<double>(model.spec.blocks.size()) * result.sdpa_layer_seconds;
  }
  return facts;
}

Result<BenchFacts> bench(const BenchArguments& arguments, ComputeBackend& backend, const ProgressReport& progress,
                         const kernels::StopRequested& stop) {
  if (!arguments.model.empty()) return bench_model(arguments, backend, progress, stop);
  BenchFacts facts;
  HEADROOM_TRY(const BenchmarkRequest request, kernel_request(arguments));
  HEADROOM_TRY(facts.report, backend.benchmark(request, progress, stop));
  return facts;
}

}  // namespace

int run_bench(const BenchArguments& arguments) {
  hold_torch(arguments.target);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), arguments.json);
  const auto begin = std::chrono::steady_clock::now();
  ProgressLine progress;
  const auto show = [&](double fraction, const std::string& what) { progress.show(fraction, what); };
  auto facts = [&] {
    const GracefulStop stop;
    return bench(arguments, **backend, show, [] { return signal_received(); });
  }();
  progress.clear();
  if (!facts) {
    const int code = report_error(facts.error(), arguments.json);
    return facts.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  facts->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  facts->date = utc_now();
  facts->peak_rss_bytes = peak_rss_bytes();
  std::fputs(arguments.json ? bench_json(*facts).c_str() : bench_text(*facts).c_str(), stdout);
  return 0;
}

}  // namespace headroom
