#include "app/cli/bench_model.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <vector>

#include "core/base/format.h"
#include "core/run/run_plan.h"

namespace headroom {
namespace {

class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> create(std::filesystem::path parent) {
    std::error_code ignored;
    if (parent.empty()) {
      const std::filesystem::path memory = "/dev/shm";
      const bool usable = std::filesystem::is_directory(memory, ignored) && access(memory.c_str(), W_OK) == 0;
      parent = usable ? memory : std::filesystem::temp_directory_path(ignored);
    }
    std::string name = (parent / "headroom-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) {
      Error error(ErrorCode::Io, "no folder can be made for the run file");
      return error.in_file(parent.string()).advise("--folder names another place");
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(name));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path path_;
};

// Takes nothing: with no layer to measure there is nothing to take.
class NoObserver final : public ForwardObserver {
 public:
  explicit NoObserver(const kernels::StopRequested& stop) : stop_(stop) {}
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

 private:
  const kernels::StopRequested& stop_;
};

}  // namespace

std::optional<BenchmarkShape> benchmark_shape(const ModelSpec& model, std::int64_t length) {
  const AttentionSpec& first = model.first_attention();
  for (const BlockSpec& block : model.blocks) {
    const AttentionSpec& attention = block.attention;
    const bool plain = attention.kind == "softmax" && attention.causal && attention.window == 0 &&
                       attention.softcap == 0.0 && !attention.bias.present();
    const bool same = attention.heads.size() == first.heads.size() &&
                      attention.num_key_blocks == first.num_key_blocks && attention.head_dim == first.head_dim &&
                      attention.value_dim == attention.head_dim;
    if (!plain || !same) return std::nullopt;
  }
  return BenchmarkShape{"softmax", static_cast<std::int64_t>(first.heads.size()), first.num_key_blocks, first.head_dim,
                        length};
}

Result<ModelBenchmark> benchmark_model(ComputeBackend& backend, AnalysisRequest request, std::int64_t rounds,
                                       const std::filesystem::path& folder, const ProgressReport& progress,
                                       const kernels::StopRequested& stop) {
  HEADROOM_TRY(const std::unique_ptr<TemporaryFolder> temporary, TemporaryFolder::create(folder));
  request.output = temporary->path() / "run.h5";
  request.force = true;
  HEADROOM_TRY(const RunPlan plan, plan_run(request));
  ForwardOptions forward = plan.forward;
  forward.layers.clear();  // nothing is measured
  ModelBenchmark result;
  result.model = request.model->checkpoint->name();
  result.tokens = static_cast<std::int64_t>(request.prompt.ids.size());
  result.rounds = rounds;
  std::vector<double> seconds;
  // The first round reads the checkpoint from the disk and fills the caches; it is not counted.
  for (std::int64_t round = 0; round <= rounds; ++round) {
    const auto show = [&](double fraction, const std::string& what) {
      progress(
          (static_cast<double>(round) + 0.5 * fraction) / static_cast<double>(rounds + 1),
          format("round %lld of %lld, ", static_cast<long long>(round) + 1, static_cast<long long>(rounds) + 1) + what);
    };
    HEADROOM_TRY(const AnalysisOutcome outcome, analyze(backend, request, show, stop));
    NoObserver nobody(stop);
    HEADROOM_TRY(const ForwardSummary plain, backend.run(request.model->source, plan.model, forward, nobody));
    if (round == 0) continue;
    seconds.push_back(outcome.seconds);
    if (result.seconds == 0.0 || outcome.seconds < result.seconds) {
      result.seconds = outcome.seconds;
      result.stages = outcome.stages;
    }
    if (result.forward_seconds == 0.0 || plain.seconds < result.forward_seconds) {
      result.forward_seconds = plain.seconds;
      result.forward_attention_seconds = plain.stages.attention;
    }
    result.backend = outcome.attention.backend;
    result.file_bytes = outcome.size_bytes;
  }
  std::ranges::sort(seconds);
  result.median_seconds = seconds[seconds.size() / 2];
  return result;
}

}  // namespace headroom
