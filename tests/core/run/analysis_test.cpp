// A run around a backend that hands over true statistics without running a model: which layers and heads are measured
// and where they stand in the file, what is refused before any work, and that a stopped or failed run leaves nothing.
#include "core/run/analysis.h"
#include "core/training/training.h"

#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/io/run_file.h"
#include "tests/core/io/child.h"
#include "tests/core/measure/dense_head.h"
#include "tests/core/model/model_files.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kLength = 8, kLayers = 3, kHeads = 4;
// Of a token's queries, keys, values and contexts: 4 + 2 + 2 + 4 blocks of 4.
constexpr std::int64_t kHeadDim = 4, kChannels = 48;

// The query of head h of layer l is the golden query times 1 + l + h/10: every head has numbers of its own.
HeadRecord record_of(const LayerRecord& layer, std::int64_t head, const HeadProgram& program) {
  DenseHead dense = golden_head(false, kLength);
  for (double& q : dense.maps[0].query) q *= 1.0 + static_cast<double>(layer.layer) + static_cast<double>(head) / 10.0;
  HeadRecord record = dense_record(dense, layer, program);
  record.head = head;
  return record;
}

class FakeBackend final : public ComputeBackend {
 public:
  Result<TrainingOutcome> train(const TrainingRequest&, TrainingObserver&) override {
    return Error(ErrorCode::Unsupported, "this backend does not train");
  }
  ForwardOptions seen;
  bool called = false, fails = false, corrupt = false;
  std::function<void()> before_layers, after_layers;
  std::function<Result<void>(ForwardObserver& observer)> extra;  // after the layers
  std::int64_t layers_taken = 0;

  Result<ForwardSummary> run(const ModelSource&, const ModelSpec& model, const ForwardOptions& options,
                             ForwardObserver& observer) override {
    seen = options;
    called = true;
    if (before_layers) before_layers();
    for (const std::int64_t l : options.layers) {
      if (observer.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
      observer.on_progress(static_cast<double>(l) / kLayers, "layer");
      LayerRecord layer = dense_layer(golden_head(false, kLength));
      layer.layer = l;
      layer.key_norm = layer.value_norm = {std::vector<double>(kLength, 1.0), std::vector<double>(kLength, 2.0)};
      for (const std::int64_t head : options.heads) {
        const AttentionSpec& attention = model.blocks[static_cast<std::size_t>(l)].attention;
        layer.heads.push_back(record_of(layer, head, attention.heads[static_cast<std::size_t>(head)]));
        if (corrupt) layer.heads.back().statistics.weight_sum[3] = 0.5;
      }
      layer.output_alignment.assign(options.heads.size() * kHeads, 0.0);
      HEADROOM_TRY_VOID(observer.on_layer(std::move(layer)));
      ++layers_taken;
    }
    if (extra) HEADROOM_TRY_VOID(extra(observer));
    if (after_layers) after_layers();
    if (fails) return Error(ErrorCode::Device, "the device went away");
    ForwardSummary summary;
    summary.next_token_loss = 2.5;
    return summary;
  }
  Result<AttentionChoice> choose_attention(const ForwardOptions& options) override {
    if (options.backend == "none") return Error(ErrorCode::InvalidArgument, "unknown backend");
    return AttentionChoice{"blocked", "", "cpu", "float32", "test"};
  }
  Result<ForwardSummary> run_variants(const ModelSource&, const ModelSpec&, const ForwardOptions&, const VariantSweep&,
                                      VariantObserver&) override {
    return ForwardSummary();
  }
  Result<BenchmarkReport> benchmark(const BenchmarkRequest&, const std::function<void(double, const std::string&)>&,
                                    const kernels::StopRequested&) override {
    return BenchmarkReport();
  }

  BackendInfo info() override { return {}; }
};

struct Fixture {
  ModelFolder files{nlohmann::json::parse(R"({"model_type": "headroom", "vocab_size": 11, "hidden_size": 8,
      "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 0,
      "max_position_embeddings": 32, "attention": {"kind": "softmax"}})"),
                    tensor_lines(R"(model.embed_tokens.weight 11 8
      model.norm.weight 8
      lm_head.weight 11 8
      model.layers.#.input_layernorm.weight 8
      model.layers.#.self_attn.q_proj.weight 16 8
      model.layers.#.self_attn.k_proj.weight 8 8
      model.layers.#.self_attn.v_proj.weight 8 8
      model.layers.#.self_attn.o_proj.weight 8 16)",
                                 kLayers)};
  TempFolder folder;
  FakeBackend backend;
  OpenedModel model;
  AnalysisRequest request;

  Fixture() : model(opened()) {
    request.model = &model;
    request.prompt.ids = {1, 2, 3, 4, 5, 6, 7, 8};
    request.prompt.source = "1,2,3,4,5,6,7,8";
    request.output = folder.path() / "run.h5";
    request.program = "headroom test";
    request.git_commit = "0123";
    request.command_line = "headroom analyze x";
  }

  [[nodiscard]] OpenedModel opened() const {
    auto result = open_model(files.path(), {});
    if (!result) throw std::runtime_error(describe(result.error()));
    return std::move(*result);
  }
  [[nodiscard]] Result<AnalysisOutcome> run(const kernels::StopRequested& stop = {}) {
    return analyze(backend, request, {}, stop);
  }
  [[nodiscard]] bool folder_is_empty() const { return std::filesystem::is_empty(folder.path()); }
  void what_if(const char* text) { request.what_ifs.push_back(*parse_what_if(text)); }
};

std::unique_ptr<RunFile> opened_run(const Fixture& fixture) {
  auto file = RunFile::open(fixture.request.output);
  CATCH_REQUIRE(file.has_value());
  return std::move(*file);
}

}  // namespace

CATCH_TEST_CASE("analysis: all layers and heads, and the numbers that the outcome repeats") {
  Fixture fixture;
  const auto outcome = fixture.run();
  CATCH_INFO((outcome ? "" : describe(outcome.error())));
  CATCH_REQUIRE(outcome.has_value());
  CATCH_CHECK(fixture.backend.seen.layers == std::vector<std::int64_t>{0, 1, 2});
  CATCH_CHECK(fixture.backend.seen.heads == std::vector<std::int64_t>{0, 1, 2, 3});
  CATCH_CHECK(outcome->summary.layers == std::vector<std::int64_t>{0, 1, 2});
  CATCH_CHECK(outcome->min_row == 1);
  // H_8/8 = 761/280/8.
  CATCH_CHECK(std::abs(outcome->sink_null - 761.0 / 2240.0) < 1e-15);
  CATCH_CHECK(outcome->self_check.rows == kLayers * kHeads * kLength);
  CATCH_CHECK(outcome->self_check.violations.empty());
  CATCH_CHECK(outcome->size_bytes == std::filesystem::file_size(fixture.request.output));

  const std::unique_ptr<RunFile> file = opened_run(fixture);
  CATCH_CHECK(file->verify().has_value());
  CATCH_CHECK(*file->root_attribute("schema_name") == "headroom-run");
  CATCH_CHECK(*file->root_attribute("schema_version") == "1.0");
  CATCH_CHECK(std::stod(*file->root_attribute("next_token_loss")) == 2.5);
  CATCH_CHECK(*file->root_attribute("min_row") == "1");
  CATCH_CHECK(*file->root_attribute("command_line") == "headroom analyze x");
  // sha256sum of the prompt's bytes.
  CATCH_CHECK(*file->root_attribute("prompt_sha256") ==
              "7fb9e1d1172d3b25cd376c7ab2964ba1b78362c90507c303c049e4b3950c1ba0");
  CATCH_CHECK(*file->read("tokens/token_id") == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  CATCH_CHECK(*file->read_strings("attention_kind") == std::vector<std::string>{"softmax", "softmax", "softmax"});
}

CATCH_TEST_CASE("analysis: chosen layers and heads keep their own numbers") {
  Fixture fixture;
  fixture.request.layers = {0, 2};
  fixture.request.heads = {1, 3};
  const auto outcome = fixture.run();
  CATCH_REQUIRE(outcome.has_value());
  CATCH_CHECK(fixture.backend.seen.layers == std::vector<std::int64_t>{0, 2});
  CATCH_CHECK(fixture.backend.seen.heads == std::vector<std::int64_t>{1, 3});
  const std::unique_ptr<RunFile> file = opened_run(fixture);
  CATCH_CHECK(file->find("sink_score")->shape == std::vector<std::int64_t>{2, 2, 2});
  CATCH_CHECK(file->find("weights/output_alignment")->shape == std::vector<std::int64_t>{2, 2, 4});
  const std::vector<double> scores = *file->read("logit_max");
  const std::vector<double> blocks = *file->read("program/q1");
  for (std::size_t l = 0; l < 2; ++l)
    for (std::size_t h = 0; h < 2; ++h) {
      const std::int64_t layer_index = l == 0 ? 0 : 2, head_index = h == 0 ? 1 : 3;
      CATCH_INFO("L" << layer_index << ".H" << head_index);
      // The largest logit grows with the query: 1 + l + h/10 times the golden head's.
      const double factor = 1.0 + static_cast<double>(layer_index) + static_cast<double>(head_index) / 10.0;
      LayerRecord layer = dense_layer(golden_head(false, kLength));
      const HeadRecord golden = dense_record(golden_head(false, kLength), layer, {});
      const double largest =
          *std::max_element(golden.statistics.maps[0].logit_max.begin(), golden.statistics.maps[0].logit_max.end());
      CATCH_CHECK(std::abs(scores[(l * 2 + h) * 2] / (factor * largest) - 1.0) < 1e-6);
      CATCH_CHECK(std::isnan(scores[(l * 2 + h) * 2 + 1]));
      CATCH_CHECK(blocks[l * 2 + h] == static_cast<double>(head_index));
      CATCH_CHECK(std::abs(outcome->summary.at("logit_max", l, h) / (factor * largest) - 1.0) < 1e-12);
    }
  CATCH_CHECK(std::isnan(outcome->summary.at("no_such_quantity", 0, 0)));
}

CATCH_TEST_CASE("analysis: what-ifs reach the backend's model, the program and the provenance") {
  Fixture fixture;
  fixture.what_if("L1.H2:head=off");
  fixture.what_if("temperature=2");
  const auto outcome = fixture.run();
  CATCH_REQUIRE(outcome.has_value());
  CATCH_REQUIRE(outcome->notes.size() >= 2);
  CATCH_CHECK(outcome->notes[0] == "L1.H2:head=off: 1 of 1 heads");
  CATCH_CHECK(outcome->notes[1] == "temperature=2: 12 of 12 heads");
  const std::unique_ptr<RunFile> file = opened_run(fixture);
  const std::vector<double> enabled = *file->read("program/enabled");
  for (std::size_t i = 0; i < enabled.size(); ++i) CATCH_CHECK(enabled[i] == (i == 6 ? 0.0 : 1.0));
  CATCH_CHECK(*file->read("program/temperature") == std::vector<double>(12, 2.0));
}

CATCH_TEST_CASE("analysis: what cannot be run is refused before any work, and leaves no file") {
  struct Case {
    const char* name;
    void (*change)(Fixture& fixture);
    ErrorCode code;
    const char* message;
  };
  for (const Case& example : {
           Case{"no tokens", [](Fixture& f) { f.request.prompt.ids.clear(); }, ErrorCode::InvalidArgument, "no tokens"},
           Case{"a token beyond the vocabulary", [](Fixture& f) { f.request.prompt.ids[5] = 11; },
                ErrorCode::InvalidArgument, "token 5"},
           Case{"a negative token", [](Fixture& f) { f.request.prompt.ids[0] = -1; }, ErrorCode::InvalidArgument,
                "token 0"},
           Case{"a hidden key beyond the prompt", [](Fixture& f) { f.what_if("hide-key=0,8"); },
                ErrorCode::InvalidArgument, "beyond the prompt"},
           Case{"a what-if that fits nowhere", [](Fixture& f) { f.what_if("lambda=0.5"); }, ErrorCode::InvalidArgument,
                "no second map"},
           Case{"exact maps above their budget",
                [](Fixture& f) {
                  f.request.exact_maps = true;
                  f.request.exact_budget_bytes = 4.0 * 3 * (3 * 4 * 8 * 8 + kChannels * 8) - 1.0;
                },
                ErrorCode::OutOfMemory, "budget"},
           Case{"exact maps above their budget in float64",
                [](Fixture& f) {
                  f.request.exact_maps = true;
                  f.request.dtype = ComputeDtype::Float64;
                  f.request.exact_budget_bytes = 8.0 * 3 * (3 * 4 * 8 * 8 + kChannels * 8) - 1.0;
                },
                ErrorCode::OutOfMemory, "budget"},
           Case{"a folder that is not there", [](Fixture& f) { f.request.output = f.folder.path() / "no" / "run.h5"; },
                ErrorCode::Io, ""},
           Case{"the checkpoint as target",
                [](Fixture& f) {
                  f.request.output = f.files.path() / "model.safetensors";
                  f.request.inputs = {f.files.path() / "model.safetensors"};
                  f.request.force = true;
                },
                ErrorCode::InvalidArgument, ""},
       }) {
    CATCH_INFO(example.name);
    Fixture fixture;
    example.change(fixture);
    const auto outcome = fixture.run();
    CATCH_CHECK_FALSE(outcome.has_value());
    CATCH_CHECK_FALSE(fixture.backend.called);
    CATCH_CHECK(fixture.folder_is_empty());
    if (outcome) continue;
    CATCH_INFO(describe(outcome.error()));
    CATCH_CHECK(outcome.error().code == example.code);
    CATCH_CHECK(outcome.error().message.find(example.message) != std::string::npos);
  }
}

CATCH_TEST_CASE("analysis: exact maps within their budget are announced with their size") {
  Fixture fixture;
  fixture.request.layers = {1};
  fixture.request.heads = {0};
  fixture.request.exact_maps = true;
  // One head: the contexts of three less.
  fixture.request.exact_budget_bytes = 4.0 * (3 * 8 * 8 + (kChannels - 12) * 8);
  const auto outcome = fixture.run();
  CATCH_REQUIRE(outcome.has_value());
  CATCH_CHECK(fixture.backend.seen.exact_maps);
  CATCH_REQUIRE(outcome->notes.size() == 2);
  CATCH_CHECK(outcome->notes[0].find("1 layers × (3 maps × 1 heads × 8² + 36 channels × 8) × 4 bytes") !=
              std::string::npos);
}

CATCH_TEST_CASE("analysis: a run ends with the last measured layer, and says so, unless all layers are asked for") {
  struct Case {
    std::vector<std::int64_t> layers;
    bool hidden;
    std::int64_t last;
  };
  for (const Case& given : {Case{{}, false, -1}, Case{{0, 1}, false, 1}, Case{{0}, false, 0}, Case{{0, 2}, false, -1},
                            Case{{0}, true, -1}}) {
    Fixture fixture;
    fixture.request.layers = given.layers;
    fixture.request.hidden = given.hidden;
    const auto outcome = fixture.run();
    CATCH_REQUIRE(outcome.has_value());
    CATCH_CHECK(fixture.backend.seen.last_layer == given.last);
    const std::string said = "the run ends with layer " + std::to_string(given.last);
    CATCH_CHECK(std::ranges::count_if(outcome->notes, [&](const std::string& note) {
                  return note.starts_with(said);
                }) == (given.last < 0 ? 0 : 1));
  }
}

CATCH_TEST_CASE("analysis: an old file stays without --force, and as it was after a failure with it") {
  Fixture fixture;
  const auto old = fixture.folder.write("run.h5", "precious");
  const auto refused = fixture.run();
  CATCH_REQUIRE_FALSE(refused.has_value());
  CATCH_CHECK(refused.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK_FALSE(fixture.backend.called);
  fixture.request.force = true;
  fixture.backend.fails = true;
  const auto failed = fixture.run();
  CATCH_REQUIRE_FALSE(failed.has_value());
  CATCH_CHECK(failed.error().message == "the device went away");
  CATCH_CHECK(std::filesystem::file_size(old) == 8);
  CATCH_CHECK(std::distance(std::filesystem::directory_iterator(fixture.folder.path()), {}) == 1);
  fixture.backend.fails = false;
  CATCH_CHECK(fixture.run().has_value());
  CATCH_CHECK(std::filesystem::file_size(old) > 8);
}

CATCH_TEST_CASE("analysis: a cancelled run leaves no file") {
  // Stopped from the start, before the first layer, and when all layers are already written.
  for (const int moment : {0, 1, 2}) {
    CATCH_INFO(moment);
    Fixture fixture;
    bool stopped = moment == 0;
    (moment == 1 ? fixture.backend.before_layers : fixture.backend.after_layers) = [&] { stopped = true; };
    const auto outcome = fixture.run([&] { return stopped; });
    CATCH_REQUIRE_FALSE(outcome.has_value());
    CATCH_CHECK(outcome.error().code == ErrorCode::Cancelled);
    CATCH_CHECK(fixture.backend.called == (moment > 0));
    CATCH_CHECK(fixture.folder_is_empty());
  }
}

CATCH_TEST_CASE("analysis: what a backend hands over is its own again when the call returns") {
  Fixture fixture;
  fixture.request.hidden = true;
  fixture.request.exact_maps = true;
  fixture.request.layers = {1};
  fixture.request.heads = {2};
  constexpr std::size_t kHidden = 8, kVocabulary = 11;
  // The value at flat index i is i + offset; the buffer is spoiled after every call.
  const auto send = [](double offset, std::size_t size, const auto& call) -> Result<void> {
    std::vector<double> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<double>(i) + offset;
    const Result<void> result = call(std::span<const double>(values));
    values.assign(size, -1000.0);
    return result;
  };
  fixture.backend.extra = [&](ForwardObserver& observer) -> Result<void> {
    for (std::int64_t boundary = 0; boundary <= kLayers; ++boundary)
      for (std::int64_t row = 0; row < kLength; row += 4)
        HEADROOM_TRY_VOID(send(100.0 * static_cast<double>(boundary) + static_cast<double>(row), 4 * kHidden,
                               [&](auto values) { return observer.on_residual(boundary, row, 4, values); }));
    for (std::int64_t row = 0; row < kLength; ++row)
      HEADROOM_TRY_VOID(send(1000.0 * static_cast<double>(row), kVocabulary,
                             [&](auto values) { return observer.on_logits(row, 1, values); }));
    for (const int component : {0, -1})
      HEADROOM_TRY_VOID(send(component, kLength * kLength,
                             [&](auto values) { return observer.on_exact_rows(1, 2, component, 0, kLength, values); }));
    HEADROOM_TRY_VOID(send(1.0, kLength * kHeadDim, [&](auto values) {
      return observer.on_exact_block(1, ExactBlock::Query, 3, kLength, values);
    }));
    HEADROOM_TRY_VOID(send(2.0, kLength * kHeadDim, [&](auto values) {
      return observer.on_exact_block(1, ExactBlock::Key, 1, kLength, values);
    }));
    HEADROOM_TRY_VOID(send(3.0, kLength * kHeadDim, [&](auto values) {
      return observer.on_exact_block(1, ExactBlock::Value, 0, kLength, values);
    }));
    HEADROOM_TRY_VOID(send(4.0, kLength * kHeadDim, [&](auto values) {
      return observer.on_exact_block(1, ExactBlock::Context, 2, kLength, values);
    }));
    return {};
  };
  const auto outcome = fixture.run();
  CATCH_INFO((outcome ? "" : describe(outcome.error())));
  CATCH_REQUIRE(outcome.has_value());
  const std::unique_ptr<RunFile> file = opened_run(fixture);
  const auto first_of = [](const std::vector<double>& values, std::size_t at) { return values[at]; };
  const std::vector<double> residual = *file->read("hidden/residual"), logits = *file->read("hidden/logits"),
                            net = *file->read("exact/net_weights"), weights = *file->read("exact/weights"),
                            top = *file->read("hidden/residual_top");
  CATCH_REQUIRE(residual.size() == 4 * kLength * kHidden);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const std::size_t boundary = i / 64, in_part = i % 32, row = i % 64 / 32 * 4;
    wrong += residual[i] == static_cast<double>(100 * boundary + row + in_part) ? 0 : 1;
  }
  for (std::size_t i = 0; i < logits.size(); ++i)
    wrong += logits[i] == static_cast<double>(1000 * (i / kVocabulary) + i % kVocabulary) ? 0 : 1;
  for (std::size_t i = 0; i < net.size(); ++i) wrong += net[i] == static_cast<double>(i) - 1.0 ? 0 : 1;
  for (std::size_t i = 0; i < net.size(); ++i) wrong += weights[i] == static_cast<double>(i) ? 0 : 1;
  CATCH_CHECK(wrong == 0);
  // One layer and one head are measured; blocks are those of the projections, head 2 is at place 0.
  const std::size_t block = kLength * kHeadDim;
  for (const auto& [path, offset, blocks, at] : {std::tuple{"exact/queries", 1.0, 4, 3},
                                                 {"exact/keys", 2.0, 2, 1},
                                                 {"exact/values", 3.0, 2, 0},
                                                 {"exact/contexts", 4.0, 1, 0}}) {
    const std::vector<double> values = *file->read(path);
    CATCH_INFO(path);
    CATCH_REQUIRE(values.size() == block * static_cast<std::size_t>(blocks));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (i / block == static_cast<std::size_t>(at))
        wrong += values[i] == static_cast<double>(i % block) + offset ? 0 : 1;
      else
        wrong += std::isnan(values[i]) ? 0 : 1;
  }
  CATCH_CHECK(wrong == 0);
  // Of boundary 1: 135 is its largest value, at the last feature of the last row.
  CATCH_CHECK(first_of(top, 12) == 7.0);
  CATCH_CHECK(first_of(top, 13) == 7.0);
  CATCH_CHECK(first_of(top, 14) == 135.0);
}

CATCH_TEST_CASE("analysis: a file that cannot grow ends the run with an I/O error and leaves nothing, at any size") {
  Fixture whole;
  CATCH_REQUIRE(whole.run().has_value());
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(whole.request.output));
  int refused = 0;
  constexpr int kSteps = 24;
  for (int step = 0; step < kSteps; ++step) {
    Fixture fixture;
    const int code = run_child([&] {
      const rlim_t bytes = size * static_cast<rlim_t>(step) / kSteps;
      const rlimit limit{bytes, bytes};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 90;
      const auto outcome = fixture.run();
      if (outcome) return 0;
      return outcome.error().code == ErrorCode::Io &&
                     outcome.error().message.find("needs at least ") != std::string::npos
                 ? 10
                 : 11;
    });
    CATCH_INFO("step " << step);
    CATCH_CHECK(code == 10);
    CATCH_CHECK(fixture.folder_is_empty());
    refused += code == 10 ? 1 : 0;
  }
  CATCH_CHECK(refused == kSteps);
}

CATCH_TEST_CASE("analysis: an error of the writing ends the forward at its next call, not only at the end") {
  Fixture fixture;
  std::int64_t sent = 0;
  // A region beyond the dataset: the writer refuses it, as it would refuse to go on after a full disk.
  fixture.backend.extra = [&](ForwardObserver& observer) -> Result<void> {
    const std::vector<double> row(11, 0.0);
    for (; sent < 1000; ++sent) HEADROOM_TRY_VOID(observer.on_logits(100, 1, row));
    return {};
  };
  fixture.request.hidden = true;
  const auto outcome = fixture.run();
  CATCH_REQUIRE_FALSE(outcome.has_value());
  CATCH_CHECK(outcome.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(outcome.error().message == "a region leaves the dataset");
  // One runs, one waits, one is refused.
  CATCH_CHECK(sent <= 3);
  CATCH_CHECK(fixture.folder_is_empty());
}

CATCH_TEST_CASE("analysis: an exception of the writing is thrown where the run was called, and leaves no file") {
  Fixture fixture;
  fixture.backend.extra = [&](ForwardObserver& observer) -> Result<void> {
    LayerRecord wrong = dense_layer(golden_head(false, kLength));
    wrong.heads.resize(1);
    wrong.length = std::int64_t{1} << 60;  // no memory holds its rows
    return observer.on_layer(std::move(wrong));
  };
  CATCH_CHECK_THROWS(fixture.run());
  CATCH_CHECK(fixture.folder_is_empty());
}

CATCH_TEST_CASE("analysis: cancelling while layers wait to be written leaves no file") {
  for (const std::int64_t after : {1, 2, 3}) {
    CATCH_INFO(after);
    Fixture fixture;
    const auto outcome = fixture.run([&] { return fixture.backend.layers_taken >= after; });
    CATCH_REQUIRE_FALSE(outcome.has_value());
    CATCH_CHECK(outcome.error().code == ErrorCode::Cancelled);
    CATCH_CHECK(fixture.backend.layers_taken == after);
    CATCH_CHECK(fixture.folder_is_empty());
  }
}

CATCH_TEST_CASE("analysis: a wrong number of the backend is in the outcome, not passed over") {
  Fixture fixture;
  fixture.backend.corrupt = true;
  const auto outcome = fixture.run();
  CATCH_REQUIRE(outcome.has_value());
  CATCH_REQUIRE_FALSE(outcome->self_check.violations.empty());
  CATCH_CHECK(outcome->self_check.violations[0].find("L0.H0 row 3") == 0);
}

CATCH_TEST_CASE("analysis: only the summary asks for no histograms") {
  Fixture fixture;
  fixture.request.summary_only = true;
  CATCH_REQUIRE(fixture.run().has_value());
  CATCH_CHECK(fixture.backend.seen.request.logit_bins.bins == 0);
  const std::unique_ptr<RunFile> file = opened_run(fixture);
  CATCH_CHECK(file->find("rows/lse") == nullptr);
  CATCH_CHECK(file->find("keys/key_norm") == nullptr);
  CATCH_CHECK(file->find("hist/lambda") == nullptr);
  CATCH_CHECK(file->find("sink_score") != nullptr);
}

CATCH_TEST_CASE("analysis: more tokens than positions is a warning, and two runs give the same datasets") {
  Fixture fixture;
  fixture.model.spec.max_positions = 7;
  const auto outcome = fixture.run();
  CATCH_REQUIRE(outcome.has_value());
  CATCH_REQUIRE(outcome->notes.size() == 1);
  CATCH_CHECK(outcome->notes[0] == "warning: 8 tokens are more than the 7 positions that the config names");
  const std::unique_ptr<RunFile> first = opened_run(fixture);
  fixture.request.output = fixture.folder.path() / "again.h5";
  CATCH_REQUIRE(fixture.run().has_value());
  const std::unique_ptr<RunFile> second = opened_run(fixture);
  CATCH_REQUIRE(first->datasets().size() == second->datasets().size());
  for (const DatasetInfo& info : first->datasets()) {
    if (info.type == ElementType::String) continue;
    CATCH_INFO(info.path);
    const std::vector<double> a = *first->read(info.path), b = *second->read(info.path);
    CATCH_REQUIRE(a.size() == b.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      different += a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ? 0 : 1;
    CATCH_CHECK(different == 0);
  }
}

}  // namespace headroom::test
