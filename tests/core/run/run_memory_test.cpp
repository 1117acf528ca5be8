// The estimate of a run's memory against what the process really took, for shapes of which each makes another part
// large; and what a budget leaves room for.
#include "core/run/run_memory.h"

#include <malloc.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/run/analysis_memory.h"
#include "tests/core/model/model_files.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/skip.h"

namespace headroom::test {
namespace {

struct Shape {
  const char* kind = "softmax";
  std::int64_t layers = 2, hidden = 64, heads = 8, kv_heads = 2, head_dim = 16, inner = 128, vocab = 256;
};

// All weights are 0: a file with a hole, which takes no room on the disk and as much memory as any other.
class HollowModel {
 public:
  explicit HollowModel(const Shape& s) {
    const bool differential = std::string_view(s.kind) == "diff_v2";
    nlohmann::json config = {
        {"model_type", "headroom"},       {"vocab_size", s.vocab},          {"hidden_size", s.hidden},
        {"num_hidden_layers", s.layers},  {"num_attention_heads", s.heads}, {"num_key_value_heads", s.kv_heads},
        {"head_dim", s.head_dim},         {"intermediate_size", s.inner},   {"max_position_embeddings", 1 << 20},
        {"attention", {{"kind", s.kind}}}};
    const std::string query = std::to_string(s.heads * s.head_dim * (differential ? 2 : 1)),
                      key = std::to_string(s.kv_heads * s.head_dim), hidden = std::to_string(s.hidden),
                      inner = std::to_string(s.inner), vocab = std::to_string(s.vocab),
                      context = std::to_string(s.heads * s.head_dim);
    std::string text = "model.embed_tokens.weight " + vocab + " " + hidden + "\nmodel.norm.weight " + hidden +
                       "\nlm_head.weight " + vocab + " " + hidden;
    const auto tensor = [&](const std::string& name, const std::string& extents) {
      text += "\nmodel.layers.#." + name + ".weight " + extents;
    };
    tensor("input_layernorm", hidden);
    tensor("self_attn.q_proj", query + " " + hidden);
    tensor("self_attn.k_proj", key + " " + hidden);
    tensor("self_attn.v_proj", key + " " + hidden);
    tensor("self_attn.o_proj", hidden + " " + context);
    if (differential) tensor("self_attn.lambda_proj", std::to_string(s.heads) + " " + hidden);
    tensor("post_attention_layernorm", hidden);
    tensor("mlp.gate_proj", inner + " " + hidden);
    tensor("mlp.up_proj", inner + " " + hidden);
    tensor("mlp.down_proj", hidden + " " + inner);
    write(config, text, static_cast<int>(s.layers));
  }
  // `text`: names and extents (tensor_lines).
  HollowModel(const nlohmann::json& config, const std::string& text, int layers) { write(config, text, layers); }
  [[nodiscard]] LiveModel open(std::size_t length) const { return LiveModel(folder_.path().string(), length); }

 private:
  void write(const nlohmann::json& config, const std::string& text, int layers) {
    nlohmann::ordered_json header;
    std::int64_t end = 0;
    for (const TensorLine& line : tensor_lines(text, layers)) {
      const std::int64_t begin = end;
      end += element_count(line) * 4;
      header[line.name] = {{"dtype", "F32"}, {"shape", line.shape}, {"data_offsets", {begin, end}}};
    }
    folder_.write("config.json", config.dump());
    const std::string head = safetensors(header.dump(), "");
    folder_.write("model.safetensors", head);
    std::filesystem::resize_file(folder_.path() / "model.safetensors", head.size() + static_cast<std::size_t>(end));
  }
  TempFolder folder_;
};

// 40 experts of 6 MB in float32 each: only those with tokens are read, and weights of 0 send all tokens to the same
// two.
nlohmann::json expert_config(const char* type) {
  return {{"model_type", type},         {"vocab_size", 256},
          {"hidden_size", 1024},        {"intermediate_size", 4096},
          {"num_hidden_layers", 2},     {"num_attention_heads", 8},
          {"num_key_value_heads", 2},   {"head_dim", 64},
          {"num_local_experts", 40},    {"num_experts_per_tok", 2},
          {"sliding_window", nullptr},  {"max_position_embeddings", 1 << 20},
          {"tie_word_embeddings", true}};
}
const char* const kExpertAttention = R"(model.embed_tokens.weight 256 1024
  model.norm.weight 1024
  model.layers.#.input_layernorm.weight 1024
  model.layers.#.post_attention_layernorm.weight 1024
  model.layers.#.self_attn.q_proj.weight 512 1024
  model.layers.#.self_attn.k_proj.weight 128 1024
  model.layers.#.self_attn.v_proj.weight 128 1024
  model.layers.#.self_attn.o_proj.weight 1024 512)";

// Each expert's matrices by themselves.
HollowModel mixtral() {
  std::string text = kExpertAttention;
  text += "\nmodel.layers.#.block_sparse_moe.gate.weight 40 1024";
  for (int e = 0; e < 40; ++e)
    for (const char* matrix : {".w1.weight 4096 1024", ".w2.weight 1024 4096", ".w3.weight 4096 1024"})
      text += "\nmodel.layers.#.block_sparse_moe.experts." + std::to_string(e) + matrix;
  return HollowModel(expert_config("mixtral"), text, 2);
}

// All of them in one tensor, turned, gate and up alternating.
HollowModel gpt_oss() {
  std::string text = kExpertAttention;
  for (const char* line :
       {"self_attn.sinks 8", "self_attn.q_proj.bias 512", "self_attn.k_proj.bias 128", "self_attn.v_proj.bias 128",
        "self_attn.o_proj.bias 1024", "mlp.router.weight 40 1024", "mlp.router.bias 40",
        "mlp.experts.gate_up_proj 40 1024 8192", "mlp.experts.gate_up_proj_bias 40 8192",
        "mlp.experts.down_proj 40 4096 1024", "mlp.experts.down_proj_bias 40 1024"})
    text += "\nmodel.layers.#." + std::string(line);
  return HollowModel(expert_config("gpt_oss"), text, 2);
}

double status_bytes(const std::string& wanted) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(wanted + ":")) return std::stod(line.substr(wanted.size() + 1)) * 1024.0;
  return -1.0;
}

// Forgets the largest resident size so far; false where the system does not let it.
bool forget_peak() {
  malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good() && status_bytes("VmHWM") < 1.05 * status_bytes("VmRSS") + 1e6;
}

struct Measured {
  double grown = 0.0;            // the most of the runs, bytes
  double estimated = 0.0;        // all of it
  double estimated_again = 0.0;  // without what only the first run of a process takes
  [[nodiscard]] double ratio() const { return estimated / grown; }
  [[nodiscard]] double excess() const { return estimated_again / grown; }
};

// The estimate by what is taken. A run that is written has records that wait for the disk, and a quick disk lets none.
constexpr double kMost = 2.2, kMostWritten = 2.6;

// By how much the process grows at the peak of a run. How much waits to be written, and whose freed blocks serve again,
// depends on who comes first: where one run took little, others are asked.
Measured measure(const std::vector<MemoryItem>& items, std::size_t estimated, double most,
                 const std::function<void()>& run) {
  Measured measured;
  measured.estimated = measured.estimated_again = static_cast<double>(estimated);
  for (const MemoryItem& item : items)
    if (item.what == "LibTorch's own") measured.estimated_again -= static_cast<double>(item.bytes);
  CATCH_CHECK(measured.estimated_again < measured.estimated);
  constexpr int kRuns = 5;
  for (int i = 0; i < kRuns && (i == 0 || measured.excess() >= most); ++i) {
    if (!forget_peak()) break;
    const double before = status_bytes("VmRSS");
    run();
    measured.grown = std::max(measured.grown, status_bytes("VmHWM") - before);
  }
  return measured;
}

void check(const char* name, const Measured& measured, double most) {
  const std::string text = format("%s: estimated %.0f MB, of which %.0f again; measured %.0f MB, ratios %.2f, %.2f",
                                  name, measured.estimated / 1e6, measured.estimated_again / 1e6, measured.grown / 1e6,
                                  measured.ratio(), measured.excess());
  std::puts(text.c_str());
  CATCH_INFO(text);
  CATCH_CHECK(measured.ratio() >= 1.0);
  CATCH_CHECK(measured.excess() < most);
}

// A run that keeps everything.
void check_bound(const char* name, const LiveRunRequest& given, double most = kMost) {
  LiveRunRequest request = given;
  request.keep_bytes = std::size_t{1} << 40;
  const auto length = static_cast<std::int64_t>(request.prompt->ids.size());
  const auto again = [&] { request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 40); };
  again();
  const RunMemory memory = estimate_run_memory(request, length, live_backend().info().threads);
  check(name,
        measure(memory.items, memory.all_bytes(), most,
                [&] {
                  again();
                  (void)live(request);
                }),
        most);
}

// The same of a run that is written to a file.
void check_bound(const char* name, const AnalysisRequest& request, double most = kMostWritten) {
  const auto memory = estimate_analysis_memory(request, live_backend().info().threads);
  check(name,
        measure(memory.items, memory.working_bytes, most,
                [&] {
                  std::filesystem::remove(request.output);
                  (void)required(analyze(live_backend(), request, {}, {}));
                }),
        most);
}

// What the first run of a process takes once: LibTorch's and MKL's code and tables.
void warm_up() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // as the program does
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  (void)live(LiveModel("bytes/diff_v2").request());
}

}  // namespace

CATCH_TEST_CASE("run memory: the estimate bounds what a run takes, and by no more than about a factor of two") {
  warm_up();
  if (!forget_peak()) return skip("the peak of the resident size cannot be reset here");
  {
    const HollowModel model({.kind = "softmax"});
    check_bound("a long prompt", model.open(5000).request());
  }
  {
    const HollowModel model(
        {.layers = 3, .hidden = 1024, .heads = 16, .kv_heads = 16, .head_dim = 64, .inner = 4096, .vocab = 50000});
    const LiveModel opened = model.open(48);
    check_bound("large weights", opened.request());
    LiveRunRequest narrow = opened.request();
    narrow.dtype = ComputeDtype::BFloat16;
    check_bound("large weights, bfloat16", narrow);
  }
  {
    const HollowModel model({.kind = "diff_v2",
                             .layers = 4,
                             .hidden = 512,
                             .heads = 16,
                             .kv_heads = 8,
                             .head_dim = 32,
                             .inner = 2048,
                             .vocab = 4096});
    check_bound("DIFF V2, many heads", model.open(2000).request());
    LiveRunRequest wide = model.open(1000).request();
    wide.dtype = ComputeDtype::Float64;
    check_bound("DIFF V2, float64", wide);
  }
}

CATCH_TEST_CASE("run memory: of experts, those that are read are counted") {
  warm_up();
  if (!forget_peak()) return skip("the peak of the resident size cannot be reset here");
  const HollowModel apart = mixtral(), stacked = gpt_oss();
  for (const auto& [name, model] : {std::pair("mixtral", &apart), std::pair("gpt-oss", &stacked)}) {
    const LiveModel opened = model->open(600);
    check_bound(name, opened.request());
    LiveRunRequest narrow = opened.request();
    narrow.dtype = ComputeDtype::BFloat16;
    check_bound((std::string(name) + ", bfloat16").c_str(), narrow);
  }
}

CATCH_TEST_CASE("run memory: the estimate bounds what a run that is written to a file takes") {
  warm_up();
  if (!forget_peak()) return skip("the peak of the resident size cannot be reset here");
  const TempFolder folder;
  {
    const HollowModel model({.kind = "diff_v2", .heads = 16});
    const LiveModel opened = model.open(3000);
    AnalysisRequest request = opened.analysis(folder.path() / "long.h5");
    (void)required(analyze(live_backend(), opened.analysis(folder.path() / "first.h5"), {}, {}));  // HDF5's own
    check_bound("file: a long prompt", request);
    request.output = folder.path() / "layer.h5";
    request.layers = {0};
    check_bound("file: one layer of it", request);
  }
  {
    const HollowModel model(
        {.layers = 3, .hidden = 1024, .heads = 16, .kv_heads = 16, .head_dim = 64, .inner = 4096, .vocab = 50000});
    const LiveModel opened = model.open(700);
    AnalysisRequest request = opened.analysis(folder.path() / "weights.h5");
    check_bound("file: large weights", request);
    request.output = folder.path() / "one.h5";
    request.layers = {0};
    check_bound("file: large weights, one layer", request, 4.0);  // what is fixed counts more
    const auto one = estimate_analysis_memory(request, live_backend().info().threads);
    request.output = folder.path() / "all.h5";
    request.layers.clear();
    request.hidden = request.exact_maps = true;
    check_bound("file: large weights, residual stream and exact maps", request);
    const int threads = live_backend().info().threads;
    CATCH_CHECK(static_cast<double>(one.working_bytes) <
                0.6 * static_cast<double>(estimate_run_memory(opened.request(), 700, threads).all_bytes()));
  }
}

CATCH_TEST_CASE("run memory: what is over the budget says what would fit, and that fits") {
  const HollowModel model(
      {.layers = 5, .hidden = 512, .heads = 8, .kv_heads = 8, .head_dim = 64, .inner = 2048, .vocab = 20000});
  const LiveModel opened = model.open(3000);
  AnalysisRequest request = opened.analysis("run.h5");
  const auto bytes = [](const AnalysisRequest& of) { return estimate_analysis_memory(of, 2).working_bytes; };
  const AnalysisBudget all =
      make_analysis_budget(request, 2, 0.0, {static_cast<double>(bytes(request)), "free memory"});
  CATCH_CHECK(all.fits());
  CATCH_CHECK(estimate_text(all).find("(free memory): ") != std::string::npos);
  AnalysisRequest shorter = request;
  shorter.prompt.ids.resize(1234);
  const double gb = (static_cast<double>(bytes(shorter)) + 0.5) / 1e9;
  const AnalysisBudget budget = make_analysis_budget(request, 2, gb, {1e12, "free memory"});
  CATCH_REQUIRE_FALSE(budget.fits());
  CATCH_CHECK(budget.limit == "--memory");
  const std::string hint = over_budget(request, 2, budget).hint;
  CATCH_INFO(hint);
  CATCH_CHECK(hint.find("--max-tokens 1234 fits") != std::string::npos);
  // Nothing fits into nothing.
  const AnalysisBudget none = make_analysis_budget(request, 2, 1e-9, {1e12, "free memory"});
  CATCH_CHECK(over_budget(request, 2, none).hint == "--memory GB starts it all the same");
}

CATCH_TEST_CASE("run memory: a run keeps as many layers as were announced, and stays within the budget") {
  warm_up();
  const HollowModel model(
      {.layers = 12, .hidden = 128, .heads = 8, .kv_heads = 8, .head_dim = 32, .inner = 256, .vocab = 512});
  const LiveModel opened = model.open(1000);
  LiveRunRequest request = opened.request();
  request.inputs = std::make_shared<LayerInputs>(0);
  const RunMemory memory = estimate_run_memory(request, 1000, live_backend().info().threads);
  CATCH_REQUIRE(memory.layers == 12);
  CATCH_CHECK(memory.input_bytes == 1000 * 128 * 4);
  CATCH_CHECK(memory.inputs == 11);
  std::size_t sum = 0;
  for (const MemoryItem& item : memory.items) sum += item.bytes;
  CATCH_CHECK(sum == memory.working_bytes);
  CATCH_CHECK(std::ranges::is_sorted(memory.items, std::ranges::greater(), &MemoryItem::bytes));
  // All of it fits; a byte less does not.
  const RunFit all = fit_run(memory, memory.all_bytes(), 0.25);
  CATCH_CHECK(all.fits);
  CATCH_CHECK(all.kept_layers == 12);
  CATCH_CHECK(fit_run(memory, memory.all_bytes() - 1, 0.25).kept_layers < 12);
  CATCH_CHECK(fit_run(memory, memory.least_bytes(), 0.25).fits);
  const RunFit none = fit_run(memory, memory.least_bytes() - 1, 0.25);
  CATCH_CHECK_FALSE(none.fits);
  CATCH_CHECK(none.needed_bytes == memory.least_bytes());
  for (const std::size_t layers : {2u, 5u, 8u}) {
    const std::size_t budget = memory.working_bytes + layers * memory.layer_bytes + 2 * memory.input_bytes;
    const RunFit fit = fit_run(memory, budget, 0.25);
    CATCH_REQUIRE(fit.fits);
    CATCH_CHECK(fit.needed_bytes <= budget);
    request.keep_bytes = fit.keep_bytes;
    request.inputs = std::make_shared<LayerInputs>(fit.keep_bytes / 4);
    const bool measured = forget_peak();
    const double before = status_bytes("VmRSS");
    const Snapshot run = live(request);
    if (measured) CATCH_CHECK(status_bytes("VmHWM") - before <= static_cast<double>(budget));
    const auto kept = std::ranges::count_if(run->data, [](const auto& layer) { return layer->maps != nullptr; });
    CATCH_INFO(layers << " layers' worth: " << kept << " kept");
    CATCH_CHECK(kept == fit.kept_layers);
    CATCH_CHECK(kept >= 1);
    CATCH_CHECK(run->data.back()->maps);
  }
}

CATCH_TEST_CASE("run memory: the longest prompt that fits, and a run that keeps no maps") {
  const LiveModel demo("bytes/diff_v1");
  LiveRunRequest request = demo.request();
  for (const std::int64_t length : {1, 90, 4321}) {
    const std::size_t budget = estimate_run_memory(request, length, 2).least_bytes();
    CATCH_CHECK(longest_fitting(request, budget, 100000, 2) == length);
    CATCH_CHECK(longest_fitting(request, budget - 1, 100000, 2) == length - 1);
    CATCH_CHECK(longest_fitting(request, budget, length / 2, 2) == length / 2);
  }
  const std::size_t with = kept_layer_bytes(request, 96);
  request.keep_maps = false;
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  // Queries and keys as floats, and λ and two log-sum-exps of every row as doubles.
  const AttentionSpec& attention = demo.model->spec.blocks[0].attention;
  const auto maps =
      static_cast<std::size_t>(96 * ((attention.num_query_blocks + attention.num_key_blocks) * attention.head_dim * 4 +
                                     demo.model->spec.num_heads * 24));
  CATCH_CHECK(with - kept_layer_bytes(request, 96) == maps);
  CATCH_CHECK(estimate_run_memory(request, 96, 2).inputs == 0);
  const Snapshot run = live(request);
  for (const auto& layer : run->data) {
    CATCH_CHECK_FALSE(layer->maps);
    CATCH_CHECK_FALSE(layer->series.empty());
    CATCH_CHECK(layer->kept_bytes() <= kept_layer_bytes(request, 96));
  }
  CATCH_CHECK(request.inputs->size_bytes() == 0);
  CATCH_CHECK(run->next_token_loss == live(demo.request())->next_token_loss);
}

CATCH_TEST_CASE(
    "run memory: what is kept of the residual stream is counted once for all layers, the whole stream too") {
  const LiveModel demo("bytes/diff_v2");
  LiveRunRequest request = demo.request();
  const auto length = static_cast<std::int64_t>(request.prompt->ids.size());
  const auto counted = [&] {
    for (const MemoryItem& item : estimate_run_memory(request, length, 2).items)
      if (item.what == "numbers of the residual stream") return item.bytes;
    return std::size_t{0};
  };
  std::size_t before = 0;
  for (const bool whole : {false, true}) {
    request.keep_residual = whole;
    const Snapshot run = live(request);
    CATCH_REQUIRE(run->residual.size() == demo.model->spec.blocks.size() + 1);
    std::size_t kept = 0;
    for (const auto& boundary : run->residual) {
      CATCH_CHECK((boundary->stream != nullptr) == whole);
      kept += boundary->kept_bytes();
    }
    CATCH_INFO(kept << " bytes are kept, " << counted() << " counted");
    CATCH_CHECK(kept <= counted());
    if (whole)
      CATCH_CHECK(counted() - before == run->residual.size() * static_cast<std::size_t>(length) *
                                            static_cast<std::size_t>(demo.model->spec.hidden_size) * sizeof(float));
    before = counted();
  }
}

CATCH_TEST_CASE("run memory: the estimate bounds what SmolLM2 takes") {
  const char* path = std::getenv("HEADROOM_DEMO_GGUF");
  if (!path || !*path) return skip("no demo model");
  warm_up();
  if (!forget_peak()) return skip("the peak of the resident size cannot be reset here");
  std::vector<std::size_t> lengths = {512, 2048};
  if (std::getenv("HEADROOM_LONG_PROMPT")) lengths.push_back(7639);
  for (const std::size_t length : lengths)
    check_bound(("SmolLM2, " + std::to_string(length) + " tokens").c_str(), LiveModel(path, length).request());
}

}  // namespace headroom::test
