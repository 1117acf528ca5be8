#include "app/cli/bench_report.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "app/cli/progress.h"
#include "app/process/version.h"
#include "core/base/format.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// Bounds of t(2n)/t(n) from n = 4096 on.
constexpr double kLeastScaling = 3.6, kMostScaling = 4.4;
constexpr std::int64_t kScalingLength = 4096;

std::string time_text(double seconds) {
  return seconds < 1.0 ? format("%.2f ms", 1e3 * seconds) : format("%.3f s", seconds);
}

std::string benchmark_shape(const BenchmarkShape& shape) {
  return shape.kind + format(", %lld heads on %lld, d = %lld, n = %lld", static_cast<long long>(shape.heads),
                             static_cast<long long>(shape.kv_heads), static_cast<long long>(shape.head_dim),
                             static_cast<long long>(shape.length));
}

std::string machine_lines(const BenchFacts& facts) {
  const BenchmarkMachine& machine = facts.report.machine;
  std::string text = escape_for_terminal(machine.processor) +
                     format(", %lld threads, LibTorch %s (%s), kernels %s, %s, causal, inputs %s, headroom %s, %s\n",
                            static_cast<long long>(machine.threads), machine.torch_version.c_str(),
                            machine.torch_capability.c_str(), machine.kernel_target.c_str(), machine.dtype.c_str(),
                            facts.report.data.c_str(), kVersion, facts.date.c_str());
  text += machine.device == "cpu"
              ? format("Multiply-adds in registers: %.0f GFLOP/s on one thread, %.0f on all\n", machine.peak_gflops_one,
                       machine.peak_gflops_all)
              : format("LibTorch's product of two matrices of 8192²: %.0f GFLOP/s\n", machine.peak_gflops_all);
  for (const std::string& note : machine.notes) text += "note: " + note + "\n";
  return text;
}

std::string goal_text(double value, const std::optional<double>& goal) {
  return goal ? format("%s %.2f", value <= *goal ? "≤" : ">", *goal) : "";
}

std::string case_lines(const BenchmarkCase& measured) {
  std::string text = "\n" + benchmark_shape(measured.shape) +
                     format(", %lld rounds\n  sdpa: %s, %s\n", static_cast<long long>(measured.rounds),
                            measured.sdpa_backend.c_str(), measured.yardstick.c_str());
  text += "                           median          best   GFLOP/s    peak   ratio    best     cpu   goal\n";
  for (const BenchmarkVariant& variant : measured.variants) {
    text += format("  %-18s %13s %13s  %8.0f  %4.0f %%", variant.name.c_str(),
                   time_text(variant.time.median_seconds).c_str(), time_text(variant.time.best_seconds).c_str(),
                   variant.gflops, 100.0 * variant.peak_fraction);
    const std::string goal = goal_text(variant.ratio_median, variant.goal);
    text += format("  %6.3f  %6.3f  %6.3f%s%s\n", variant.ratio_median, variant.ratio_best, variant.ratio_cpu,
                   goal.empty() ? "" : "   ", goal.c_str());
  }
  return text;
}

std::string model_lines(const ModelBenchmark& model) {
  const StageSeconds& stages = model.stages;
  std::string text =
      "\n" + escape_for_terminal(model.model) +
      format(", %lld tokens, backend %s, best of %lld rounds: %s (median %s), %.0f tokens/s, run file %.1f MB\n",
             static_cast<long long>(model.tokens), model.backend.c_str(), static_cast<long long>(model.rounds),
             time_text(model.seconds).c_str(), time_text(model.median_seconds).c_str(),
             static_cast<double>(model.tokens) / model.seconds, static_cast<double>(model.file_bytes) / 1e6);
  const auto stage = [&](const char* name, double seconds) {
    text += format("  %-36s %13s  %5.1f %%\n", name, time_text(seconds).c_str(), 100.0 * seconds / model.seconds);
  };
  stage("embedding, norms, projections", stages.project);
  stage("attention and its statistics", stages.attention);
  stage("norms of keys, values and contexts", stages.record);
  if (stages.mix > 0.0) stage("mixers without maps", stages.mix);
  stage("mlp", stages.mlp);
  stage("logits", stages.logits);
  stage("waiting for weights", stages.wait_weights);
  stage("waiting for the run file", stages.wait_write);
  stage("reading the run file back", stages.verify);
  stage("beside it: reading weights", stages.read_weights);
  stage("beside it: quantities and writing", stages.write);
  stage("  of that the hash of the checkpoint", stages.hash);
  text += format("  the forward alone, contexts without statistics: %s (attention %s); the analysis is %.3f of it\n",
                 time_text(model.forward_seconds).c_str(), time_text(model.forward_attention_seconds).c_str(),
                 model.seconds / model.forward_seconds);
  if (model.sdpa_forward_seconds)
    text += format("  the same with sdpa's %s a layer in place of its attention: %s; the analysis is %.3f of it\n",
                   time_text(model.sdpa_layer_seconds).c_str(), time_text(*model.sdpa_forward_seconds).c_str(),
                   model.seconds / *model.sdpa_forward_seconds);
  return text;
}

std::string scaling_lines(const BenchmarkReport& report) {
  if (report.scaling.empty()) return "";
  std::string text = "\nt(2n) / t(n), best times                                    sdpa  row_statistics  everything\n";
  for (const BenchmarkScaling& scaling : report.scaling) {
    const bool bound = scaling.shape.length >= kScalingLength;
    const bool met = scaling.everything >= kLeastScaling && scaling.everything <= kMostScaling;
    text += format("  %-54s  %6.2f          %6.2f      %6.2f%s\n", benchmark_shape(scaling.shape).c_str(), scaling.sdpa,
                   scaling.row_statistics, scaling.everything,
                   !bound ? ""
                   : met  ? "   in 3.6 … 4.4"
                          : "   not in 3.6 … 4.4");
  }
  return text;
}

Json shape_json(const BenchmarkShape& shape) {
  return {{"kind", shape.kind},
          {"heads", shape.heads},
          {"kv_heads", shape.kv_heads},
          {"head_dim", shape.head_dim},
          {"length", shape.length}};
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json case_json(const BenchmarkCase& measured) {
  Json json = shape_json(measured.shape);
  json["rounds"] = measured.rounds;
  json["yardstick"] = measured.yardstick;
  json["sdpa_backend"] = measured.sdpa_backend;
  json["variants"] = Json::array();
  for (const BenchmarkVariant& variant : measured.variants)
    json["variants"].push_back({{"name", variant.name},
                                {"median_seconds", variant.time.median_seconds},
                                {"best_seconds", variant.time.best_seconds},
                                {"cpu_seconds", variant.time.cpu_seconds},
                                {"ratio_median", variant.ratio_median},
                                {"ratio_best", variant.ratio_best},
                                {"ratio_cpu", variant.ratio_cpu},
                                {"gflops", variant.gflops},
                                {"peak_fraction", variant.peak_fraction},
                                {"goal", optional_json(variant.goal)},
                                {"met", variant.goal ? Json(variant.ratio_median <= *variant.goal) : Json(nullptr)}});
  return json;
}

Json window_json(const std::optional<BenchmarkWindow>& window) {
  if (!window) return nullptr;
  return {{"length", window->length},
          {"head_dim", window->head_dim},
          {"rows", window->rows},
          {"keys", window->keys},
          {"rounds", window->rounds},
          {"p50_seconds", window->p50_seconds},
          {"p95_seconds", window->p95_seconds},
          {"best_seconds", window->best_seconds},
          {"gflops", window->gflops},
          {"peak_fraction", window->peak_fraction},
          {"goal", window->goal_seconds},
          {"met", window->p95_seconds <= window->goal_seconds}};
}

Json model_json(const std::optional<ModelBenchmark>& model) {
  if (!model) return nullptr;
  const StageSeconds& stages = model->stages;
  Json json = {{"model", model->model},
               {"tokens", model->tokens},
               {"backend", model->backend},
               {"rounds", model->rounds},
               {"best_seconds", model->seconds},
               {"median_seconds", model->median_seconds},
               {"tokens_per_second", static_cast<double>(model->tokens) / model->seconds}};
  json["stages"] = {{"project", stages.project},
                    {"attention", stages.attention},
                    {"record", stages.record},
                    {"mix", stages.mix},
                    {"mlp", stages.mlp},
                    {"logits", stages.logits},
                    {"wait_weights", stages.wait_weights},
                    {"wait_write", stages.wait_write},
                    {"verify", stages.verify},
                    {"hash", stages.hash},
                    {"read_weights", stages.read_weights},
                    {"write", stages.write}};
  json["file_bytes"] = model->file_bytes;
  json["forward_seconds"] = model->forward_seconds;
  json["forward_attention_seconds"] = model->forward_attention_seconds;
  json["ratio_forward"] = model->seconds / model->forward_seconds;
  json["sdpa_forward_seconds"] = optional_json(model->sdpa_forward_seconds);
  json["ratio_sdpa_forward"] =
      model->sdpa_forward_seconds ? Json(model->seconds / *model->sdpa_forward_seconds) : Json(nullptr);
  return json;
}

}  // namespace

std::string bench_text(const BenchFacts& facts) {
  const BenchmarkReport& report = facts.report;
  std::string text = machine_lines(facts);
  for (const BenchmarkCase& measured : report.cases) text += case_lines(measured);
  text += scaling_lines(report);
  if (!report.accuracy.empty())
    text += "\nLargest relative error against the scalar reference in double        context   (sdpa's)   column sums\n";
  for (const BenchmarkAccuracy& accuracy : report.accuracy)
    text += format("  %-64s  %.1e    %.1e       %.1e\n", benchmark_shape(accuracy.shape).c_str(),
                   accuracy.context_error, accuracy.sdpa_context_error, accuracy.column_sum_error);
  if (report.window) {
    const BenchmarkWindow& window = *report.window;
    text += format(
        "\nWindow of %lld × %lld exact cells, n = %lld, d = %lld, one head: p50 %s, p95 %s (%s %s), %.0f GFLOP/s, %.0f %% of the peak\n",
        static_cast<long long>(window.rows), static_cast<long long>(window.keys), static_cast<long long>(window.length),
        static_cast<long long>(window.head_dim), time_text(window.p50_seconds).c_str(),
        time_text(window.p95_seconds).c_str(), window.p95_seconds <= window.goal_seconds ? "≤" : ">",
        time_text(window.goal_seconds).c_str(), window.gflops, 100.0 * window.peak_fraction);
  }
  if (facts.model) text += model_lines(*facts.model);
  if (!report.skipped.empty()) text += "\n";
  for (const BenchmarkSkip& skip : report.skipped)
    text += "skipped: " + benchmark_shape(skip.shape) + ": " + skip.reason + "\n";
  text += format("\n%s, peak memory %.2f GB\n", duration_text(report.seconds).c_str(),
                 static_cast<double>(facts.peak_rss_bytes) / 1e9);
  return text;
}

std::string bench_json(const BenchFacts& facts) {
  const BenchmarkReport& report = facts.report;
  const BenchmarkMachine& machine = report.machine;
  Json json;
  json["headroom"] = kVersion;
  json["git_commit"] = kGitCommit;
  json["date"] = facts.date;
  json["machine"] = {{"processor", machine.processor},
                     {"threads", machine.threads},
                     {"torch_version", machine.torch_version},
                     {"torch_capability", machine.torch_capability},
                     {"kernel_target", machine.kernel_target},
                     {"device", machine.device},
                     {"dtype", machine.dtype},
                     {"peak_gflops_one", machine.peak_gflops_one},
                     {"peak_gflops_all", machine.peak_gflops_all},
                     {"notes", machine.notes}};
  json["data"] = report.data;
  json["cases"] = Json::array();
  for (const BenchmarkCase& measured : report.cases) json["cases"].push_back(case_json(measured));
  json["scaling"] = Json::array();
  for (const BenchmarkScaling& scaling : report.scaling) {
    Json entry = shape_json(scaling.shape);
    entry["sdpa"] = scaling.sdpa;
    entry["row_statistics"] = scaling.row_statistics;
    entry["everything"] = scaling.everything;
    json["scaling"].push_back(std::move(entry));
  }
  json["accuracy"] = Json::array();
  for (const BenchmarkAccuracy& accuracy : report.accuracy) {
    Json entry = shape_json(accuracy.shape);
    entry["context_error"] = accuracy.context_error;
    entry["sdpa_context_error"] = accuracy.sdpa_context_error;
    entry["column_sum_error"] = accuracy.column_sum_error;
    json["accuracy"].push_back(std::move(entry));
  }
  json["window"] = window_json(report.window);
  json["model"] = model_json(facts.model);
  json["skipped"] = Json::array();
  for (const BenchmarkSkip& skip : report.skipped) {
    Json entry = shape_json(skip.shape);
    entry["reason"] = skip.reason;
    json["skipped"].push_back(std::move(entry));
  }
  json["seconds"] = report.seconds;
  json["peak_rss_bytes"] = facts.peak_rss_bytes;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace headroom
