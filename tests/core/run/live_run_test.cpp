// A run in memory against the run file of the same prompt, and against itself when it begins later or ends earlier.
#include "core/run/live_run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/run_file.h"
#include "core/run/run_memory.h"
#include "tests/core/model/every_row.h"
#include "tests/core/model/model_files.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

template <typename T>
bool same_number(T a, T b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// The first difference in words; empty where all values are the same bits (NaN equals NaN).
template <typename A, typename B>
std::string difference(const std::string& name, const A& a, const B& b) {
  if (a.size() != b.size())
    return name + " has " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " values";
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_number(a[i], b[i])) {
      std::ostringstream text;
      text.precision(17);
      text << name << "[" << i << "] is " << a[i] << " and " << b[i];
      return text.str();
    }
  return "";
}

std::string difference(const LayerSnapshot& a, const LayerSnapshot& b) {
  if (a.layer != b.layer || a.kind != b.kind || a.heads != b.heads || a.programs != b.programs ||
      a.kv_heads != b.kv_heads || a.visible != b.visible || a.length != b.length || a.context_dim != b.context_dim)
    return "the layers are described differently";
  if (a.summary.size() != b.summary.size() || a.series.size() != b.series.size()) return "not the same quantities";
  std::string found;
  const auto add = [&](const std::string& text) {
    if (found.empty()) found = text;
  };
  for (const auto& [name, values] : a.summary)
    add(b.summary.contains(name) ? difference(name, values, b.summary.find(name)->second) : name);
  for (const auto& [name, values] : a.series)
    add(b.series.contains(name) ? difference(name, values, b.series.find(name)->second) : name);
  add(difference("output_alignment", a.output_alignment, b.output_alignment));
  if (!a.maps != !b.maps) return "maps in one only";
  if (!a.maps) return found;
  add(difference("queries", a.maps->queries, b.maps->queries));
  add(difference("keys", a.maps->keys, b.maps->keys));
  return found;
}

// Layers from `first` on.
std::string difference(const RunSnapshot& a, const RunSnapshot& b, std::int64_t first = 0) {
  if (a.layers != b.layers) return "not the same layers";
  for (const std::int64_t layer : a.layers) {
    if (layer < first) continue;
    if (!a.layer(layer) || !b.layer(layer)) return "a layer is missing";
    if (const std::string text = difference(*a.layer(layer), *b.layer(layer)); !text.empty())
      return "layer " + std::to_string(layer) + ": " + text;
  }
  return same_number(a.next_token_loss.value_or(-1.0), b.next_token_loss.value_or(-1.0)) ? "" : "another loss";
}

// A checkpoint of the first row of the table of families whose name begins so, with random weights of RMS about ½.
void write_checkpoint(std::string_view begin, TempFolder& folder) {
  const auto row = std::ranges::find_if(
      every_row(), [&](const FamilyRow& each) { return std::string_view(each.name).starts_with(begin); });
  CATCH_REQUIRE(row != every_row().end());
  const nlohmann::json config = nlohmann::json::parse(row->config);
  nlohmann::ordered_json header;
  std::string data;
  std::uint32_t state = 11;
  for (const TensorLine& tensor : tensor_lines(row->tensors, config["num_hidden_layers"])) {
    if (tensor.name.starts_with('?')) continue;
    const std::size_t from = data.size();
    for (std::int64_t i = 0; i < element_count(tensor); ++i) {
      state = state * 1664525U + 1013904223U;
      append(data, static_cast<float>(state >> 8) / 16777216.0F * 1.6F - 0.8F);
    }
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {from, data.size()}}};
  }
  folder.write("config.json", row->config);
  folder.write("model.safetensors", safetensors(header.dump(), data));
}

}  // namespace

CATCH_TEST_CASE("live run: every number of the run file is in the snapshot") {
  for (const char* name : {"backcopy/diff_v2", "bytes/diff_v2", "bytes/softmax", "bytes/diff_v1", "bytes/gated",
                           "trigger_bos/softmax_sink"}) {
    CATCH_INFO(name);
    const LiveModel demo(name, 160);  // so that the first rows are not eligible
    const TempFolder folder;
    const auto outcome = required(analyze(live_backend(), demo.analysis(folder.path() / "run.h5"), {}, {}));
    const Snapshot run = live(demo.request());
    CATCH_CHECK(run->complete);
    CATCH_CHECK(run->min_row == 64);
    CATCH_CHECK(run->min_row == outcome.min_row);
    CATCH_CHECK(run->sink_null == outcome.sink_null);
    CATCH_CHECK(run->next_token_loss == outcome.forward.next_token_loss);

    const auto file = required(RunFile::open(folder.path() / "run.h5"));
    std::set<std::string> seen;
    for (const DatasetInfo& info : file->datasets()) {
      if (info.axes.size() < 2 || info.axes[0] != "layer" || info.axes[1] != "head" ||
          info.path.starts_with("program/"))
        continue;
      seen.insert(info.path);
      const std::vector<double> written = required(file->read(info.path));
      std::vector<double> kept;
      for (const auto& layer : run->data) {
        if (info.path == "weights/output_alignment") {
          kept.insert(kept.end(), layer->output_alignment.begin(), layer->output_alignment.end());
        } else if (const auto root = layer->summary.find(info.path); root != layer->summary.end()) {
          kept.insert(kept.end(), root->second.begin(), root->second.end());
        } else {
          CATCH_REQUIRE(layer->series.contains(info.path));
          const std::vector<float>& series = layer->series.find(info.path)->second;
          kept.insert(kept.end(), series.begin(), series.end());
        }
      }
      if (info.type == ElementType::Float32)
        for (double& value : kept) value = static_cast<double>(static_cast<float>(value));
      CATCH_CHECK(difference(info.path, written, kept) == "");
    }
    CATCH_CHECK(seen.size() > 70);
    for (const auto& layer : run->data) {
      CATCH_CHECK(layer->summary.size() + layer->series.size() + 1 == seen.size());
      const auto row_sums = required(file->read("tokens/visible_keys"));
      CATCH_REQUIRE(layer->visible.size() == 1);
      CATCH_CHECK(layer->visible[0][100] == static_cast<std::int64_t>(row_sums[100]));
    }
  }
}

CATCH_TEST_CASE("live run: a what-if from the layer it changes is the full run with it, bit for bit") {
  const LiveModel demo("bytes/diff_v2");
  const auto last = static_cast<std::int64_t>(demo.model->spec.blocks.size()) - 1;
  CATCH_REQUIRE(last >= 1);
  for (const ComputeDtype dtype : {ComputeDtype::Float32, ComputeDtype::BFloat16}) {
    LiveRunRequest request = demo.request();
    request.dtype = dtype;
    request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
    const Snapshot base = live(request);
    CATCH_REQUIRE(request.inputs->find(last));
    CATCH_CHECK(!request.inputs->find(0));

    LiveRunRequest changed = request;
    changed.inputs.reset();
    changed.what_ifs = {required(parse_what_if("L" + std::to_string(last) + ".H1:lambda=0"))};
    const Snapshot full = live(changed);
    CATCH_CHECK(difference(*base, *full) != "");

    changed.first_layer = last;
    changed.start = request.inputs->find(last);
    changed.base = base;
    const Snapshot continued = live(changed);
    CATCH_CHECK(continued->complete);
    CATCH_CHECK(difference(*full, *continued) == "");
    CATCH_CHECK(continued->layer(0) == base->layer(0));  // shared, not computed again
  }
}

CATCH_TEST_CASE("live run: a layer that uses another's keys goes on from its input with them, bit for bit") {
  TempFolder folder;
  write_checkpoint("gemma3n_text: streams", folder);
  const LiveModel model(folder.path().string(), 40);
  LiveRunRequest request = model.request();
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  const Snapshot base = live(request);
  CATCH_CHECK(std::isfinite(base->next_token_loss.value_or(NAN)));
  const auto input = request.inputs->find(1);
  CATCH_REQUIRE(input);
  CATCH_CHECK(input->residual.size() == std::size_t{2 * 40 * 16});  // two streams
  CATCH_REQUIRE(input->find(0, KeptTensor::Kind::Keys));
  CATCH_CHECK(input->find(0, KeptTensor::Kind::Keys)->shape == std::vector<std::int64_t>{40, 1, 8});
  CATCH_CHECK(input->find(0, KeptTensor::Kind::Values));
  CATCH_CHECK(request.inputs->size_bytes() == (2 * 40 * 16 + 2 * 40 * 8) * sizeof(float));
  CATCH_CHECK(estimate_run_memory(request, 40, 1).shared_bytes == 2 * 40 * 8 * sizeof(float));

  LiveRunRequest changed = model.request();
  changed.what_ifs = {required(parse_what_if("L1.H1:temperature=2"))};
  const Snapshot full = live(changed);
  CATCH_CHECK(difference(*base, *full) != "");
  changed.first_layer = 1;
  changed.start = input;
  changed.base = base;
  const Snapshot continued = live(changed);
  CATCH_CHECK(difference(*full, *continued) == "");
  CATCH_CHECK(continued->next_token_loss == full->next_token_loss);

  auto alone = std::make_shared<StreamState>(*input);
  alone->kept.clear();
  changed.start = alone;
  const auto refused = run_live(live_backend(), changed, {}, {}, {});
  CATCH_REQUIRE(!refused.has_value());
  CATCH_CHECK(refused.error().message.find("keys and values") != std::string::npos);
}

CATCH_TEST_CASE("live run: a layer behind a scan whose memory later ones read goes on with it, bit for bit") {
  constexpr std::int64_t kLength = 20;
  TempFolder folder;
  write_checkpoint("phi4flash", folder);
  const LiveModel model(folder.path().string(), kLength);
  LiveRunRequest request = model.request();
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  const Snapshot base = live(request);
  CATCH_CHECK(std::isfinite(base->next_token_loss.value_or(NAN)));
  const auto input = request.inputs->find(5);  // the memory of layer 4 is made, the keys of this one are not
  CATCH_REQUIRE(input);
  CATCH_REQUIRE(input->find(4, KeptTensor::Kind::Memory));
  CATCH_CHECK(input->find(4, KeptTensor::Kind::Memory)->shape == std::vector<std::int64_t>{kLength, 16});
  CATCH_CHECK_FALSE(input->find(5, KeptTensor::Kind::Keys));

  // Its output reaches layer 6, the gated memory, and layer 7, which reads its keys.
  LiveRunRequest changed = model.request();
  changed.what_ifs = {required(parse_what_if("L5:temperature=2"))};
  const Snapshot full = live(changed);
  CATCH_CHECK(difference(*base, *full) != "");
  changed.first_layer = 5;
  changed.start = input;
  changed.base = base;
  const Snapshot continued = live(changed);
  CATCH_CHECK(difference(*full, *continued) == "");
  CATCH_CHECK(continued->next_token_loss == full->next_token_loss);

  // Other memory gives other numbers; without any the run is refused.
  auto other = std::make_shared<StreamState>(*input);
  for (auto& kept : other->kept) {
    if (kept->kind != KeptTensor::Kind::Memory) continue;
    auto turned = std::make_shared<KeptTensor>(*kept);
    for (float& value : turned->values) value = -value;
    kept = std::move(turned);
  }
  changed.start = other;
  CATCH_CHECK(live(changed)->next_token_loss != full->next_token_loss);
  other->kept.clear();
  const auto refused = run_live(live_backend(), changed, {}, {}, {});
  CATCH_REQUIRE(!refused.has_value());
  CATCH_CHECK(refused.error().message.find("without the memory") != std::string::npos);
}

CATCH_TEST_CASE("live run: one layer measured again from its input is the same") {
  const LiveModel demo("bytes/diff_v1");
  LiveRunRequest request = demo.request();
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  const Snapshot base = live(request);
  for (const std::int64_t layer : base->layers) {
    LiveRunRequest again = demo.request();
    again.first_layer = again.last_layer = layer;
    again.start = request.inputs->find(layer);
    again.base = base;
    const Snapshot run = live(again);
    CATCH_CHECK(run->complete);
    CATCH_CHECK(run->layer(layer) != base->layer(layer));
    CATCH_CHECK(difference(*base, *run) == "");
    CATCH_CHECK(run->layer(layer)->maps->id != base->layer(layer)->maps->id);
  }
}

CATCH_TEST_CASE("live run: a quick what-if measures one head of one layer and leaves the others") {
  const LiveModel demo("bytes/diff_v2");
  LiveRunRequest request = demo.request();
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  const Snapshot base = live(request);
  LiveRunRequest quick = demo.request();
  quick.first_layer = quick.last_layer = 1;
  quick.start = request.inputs->find(1);
  quick.base = base;
  quick.heads = {2};
  CATCH_CHECK(live(quick)->layer(1)->heads == std::vector<std::int64_t>{2});
  const Snapshot same = live(quick);
  for (const auto& [name, values] : same->layer(1)->summary) {
    const auto whole = base->layer(1)->values(name, 2);
    CATCH_CHECK(difference(name, values, whole) == "");
  }
  CATCH_CHECK(std::isnan(same->at("sink_score", 1, 0)));
  CATCH_CHECK(same->heads == base->heads);
  CATCH_CHECK(same->next_token_loss == base->next_token_loss);

  quick.what_ifs = {required(parse_what_if("L1.H2:lambda=0.25"))};
  const Snapshot changed = live(quick);
  CATCH_CHECK(changed->at("lambda_mean", 1, 2) == 0.25);
  CATCH_CHECK(changed->layer(0) == base->layer(0));
}

CATCH_TEST_CASE("live run: finished layers are published while the run goes on") {
  const LiveModel demo("bytes/softmax");
  std::vector<Snapshot> published;
  std::vector<double> fractions;
  const auto progress = [&](double fraction, const std::string&) { fractions.push_back(fraction); };
  const Snapshot last = required(run_live(live_backend(), demo.request(),
                                          [&](Snapshot run) { published.push_back(std::move(run)); }, progress, {}));
  CATCH_REQUIRE(published.size() == demo.model->spec.blocks.size());
  for (std::size_t i = 0; i < published.size(); ++i) {
    CATCH_CHECK(published[i]->finished_layers() == i + 1);
    CATCH_CHECK(published[i]->complete == (i + 1 == published.size()));
    CATCH_CHECK(published[i]->data[0] == last->data[0]);
  }
  CATCH_CHECK(std::ranges::is_sorted(fractions));
  CATCH_CHECK(fractions.back() == 1.0);
}

CATCH_TEST_CASE("live run: beyond the budget the layers measured first lose maps and series, never the summary") {
  const LiveModel demo("bytes/softmax");
  const Snapshot all = live(demo.request());
  const std::size_t layers = all->layers.size(), one = all->data[0]->kept_bytes();
  CATCH_REQUIRE(layers >= 2);
  LiveRunRequest request = demo.request();
  request.keep_bytes = one + one / 2;
  std::vector<Snapshot> published;
  const Snapshot run =
      required(run_live(live_backend(), request, [&](Snapshot s) { published.push_back(std::move(s)); }, {}, {}));
  CATCH_CHECK(published.front()->data[0]->maps);
  for (std::size_t i = 0; i < layers; ++i) {
    CATCH_CHECK(static_cast<bool>(run->data[i]->maps) == (i + 1 == layers));
    CATCH_CHECK(run->data[i]->series.empty() == (i + 1 != layers));
    CATCH_CHECK(run->data[i]->key_norms.empty() == (i + 1 != layers));
    CATCH_CHECK(run->data[i]->summary.size() == all->data[i]->summary.size());
    CATCH_CHECK(
        difference("sink_score", run->data[i]->summary.at("sink_score"), all->data[i]->summary.at("sink_score")) == "");
  }
  // A single layer measured again takes the place of another.
  LiveRunRequest again = request;
  again.last_layer = 0;
  again.base = run;
  const Snapshot second = live(again);
  CATCH_CHECK(second->data[0]->maps);
  CATCH_CHECK(!second->data[layers - 1]->maps);

  const LiveRunEstimate estimate = estimate_live_run(request);
  CATCH_CHECK(estimate.kept_layers == 1);
  CATCH_CHECK(estimate.total_bytes == layers * estimate.layer_bytes);
  CATCH_CHECK(std::abs(static_cast<double>(estimate.layer_bytes) / static_cast<double>(one) - 1.0) < 0.01);
}

CATCH_TEST_CASE("live run: the budget counts every layer once and drops in the order of measurement") {
  const ModelFolder files(nlohmann::json::parse(R"({"model_type": "headroom", "vocab_size": 11, "hidden_size": 8,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 0,
      "max_position_embeddings": 64, "attention": {"kind": "softmax"}})"),
                          tensor_lines(R"(model.embed_tokens.weight 11 8
      model.norm.weight 8
      lm_head.weight 11 8
      model.layers.#.input_layernorm.weight 8
      model.layers.#.self_attn.q_proj.weight 16 8
      model.layers.#.self_attn.k_proj.weight 8 8
      model.layers.#.self_attn.v_proj.weight 8 8
      model.layers.#.self_attn.o_proj.weight 8 16)",
                                       4));
  const LiveModel made(files.path().string(), 40);
  const auto kept = [](const Snapshot& run) {
    std::vector<bool> layers;
    for (const auto& layer : run->data) layers.push_back(layer->maps != nullptr);
    return layers;
  };
  LiveRunRequest request = made.request();
  const Snapshot all = live(request);
  const std::size_t one = all->data[0]->kept_bytes();
  const auto inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  request.inputs = inputs;
  Snapshot run = live(request);
  CATCH_REQUIRE(kept(run) == std::vector<bool>{true, true, true, true});
  request.inputs.reset();
  const auto again = [&](std::int64_t layer, std::size_t layers) {
    request.first_layer = request.last_layer = layer;
    request.start = inputs->find(layer);
    request.base = run;
    request.keep_bytes = layers * one + one / 2;
    run = live(request);
  };
  again(1, 4);  // takes its own place
  CATCH_CHECK(kept(run) == std::vector<bool>{true, true, true, true});
  again(2, 3);  // 0 is now the oldest
  CATCH_CHECK(kept(run) == std::vector<bool>{false, true, true, true});
  again(0, 3);  // then 3, which was measured before 1 and 2 again
  CATCH_CHECK(kept(run) == std::vector<bool>{true, true, true, false});
  again(3, 2);
  CATCH_CHECK(kept(run) == std::vector<bool>{true, false, false, true});
}

CATCH_TEST_CASE("live run: a stopped run keeps what it published") {
  const LiveModel demo("bytes/softmax");
  Snapshot kept;
  std::atomic<bool> stop{false};
  const auto result = run_live(
      live_backend(), demo.request(),
      [&](Snapshot run) {
        kept = std::move(run);
        stop = true;
      },
      {}, [&] { return stop.load(); });
  CATCH_REQUIRE(!result.has_value());
  CATCH_CHECK(result.error().code == ErrorCode::Cancelled);
  CATCH_REQUIRE(kept);
  CATCH_CHECK(kept->finished_layers() == 1);
  CATCH_CHECK(!kept->complete);
  CATCH_CHECK(kept->layer(0)->maps);
}

CATCH_TEST_CASE("live run: a long layer reports often, and stops before it has reported twice more") {
  const LiveModel demo("bytes/softmax", 6000);
  std::vector<double> fractions;
  std::atomic<bool> stop{false};
  const auto progress = [&](double fraction, const std::string&) {
    fractions.push_back(fraction);
    if (fractions.size() == 3) stop = true;
  };
  const auto result = run_live(live_backend(), demo.request(), {}, progress, [&] { return stop.load(); });
  CATCH_REQUIRE(!result.has_value());
  CATCH_CHECK(result.error().code == ErrorCode::Cancelled);
  CATCH_CHECK(fractions.size() <= 4);  // it reports a few times a second
  CATCH_CHECK(fractions[1] > 0.0);     // inside the first layer
  CATCH_CHECK(fractions[1] < 1.0 / static_cast<double>(demo.model->spec.blocks.size()));
}

CATCH_TEST_CASE("live run: requests that do not fit are refused before anything is computed") {
  const LiveModel demo("bytes/softmax");
  const auto refused = [&](const auto& change) {
    LiveRunRequest request = demo.request();
    change(request);
    bool published = false;
    const auto result = run_live(live_backend(), request, [&](Snapshot) { published = true; }, {}, {});
    return !result.has_value() && result.error().code == ErrorCode::InvalidArgument && !published;
  };
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.layers = {9}; }));
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.heads = {1, 1}; }));
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.first_layer = 1; }));
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.first_layer = 1, r.last_layer = 0; }));
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.prompt = std::make_shared<Prompt>(); }));
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.what_ifs = {required(parse_what_if("hide-key=5000"))}; }));
  CATCH_CHECK(refused([](LiveRunRequest& r) { r.what_ifs = {required(parse_what_if("lambda=0"))}; }));
  CATCH_CHECK(refused([](LiveRunRequest& r) {
    auto prompt = std::make_shared<Prompt>();
    prompt->ids = {0, 1 << 20};
    r.prompt = prompt;
  }));
}

CATCH_TEST_CASE("live run: float64 runs keep no inputs and begin at layer 0, since float32 would not hold the stream") {
  const LiveModel demo("bytes/softmax", 40);
  LiveRunRequest request = demo.request();
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  (void)live(request);
  const auto input = request.inputs->find(1);
  CATCH_REQUIRE(input);
  CATCH_CHECK(input->residual.size() == 40 * static_cast<std::size_t>(demo.model->spec.hidden_size));
  request.dtype = ComputeDtype::Float64;
  request.inputs = std::make_shared<LayerInputs>(std::size_t{1} << 30);
  CATCH_CHECK(live(request)->complete);
  CATCH_CHECK(request.inputs->size_bytes() == 0);
  request.first_layer = 1;
  request.start = input;
  const auto refused = run_live(live_backend(), request, {}, {}, {});
  CATCH_REQUIRE(!refused.has_value());
  CATCH_CHECK(refused.error().code == ErrorCode::InvalidArgument);
  request.dtype = ComputeDtype::Float32;
  auto shorter = std::make_shared<StreamState>(*input);
  shorter->residual.resize(10);
  request.start = shorter;
  CATCH_CHECK(!run_live(live_backend(), request, {}, {}, {}).has_value());
}

CATCH_TEST_CASE("live run: chosen layers and heads, without a base and up to a layer") {
  const LiveModel demo("bytes/diff_v2", 50);
  const Snapshot all = live(demo.request());
  LiveRunRequest request = demo.request();
  request.layers = {1};
  request.heads = {1, 3};
  const Snapshot some = live(request);
  CATCH_CHECK(some->layers == std::vector<std::int64_t>{1});
  CATCH_CHECK(some->heads == std::vector<std::int64_t>{1, 3});
  CATCH_CHECK(some->complete);
  CATCH_CHECK(some->all_layers == 2);
  CATCH_CHECK(some->next_token_loss == all->next_token_loss);
  for (const std::int64_t head : some->heads) {
    const auto a = some->layer(1)->row_values("rows/lse", head), b = all->layer(1)->row_values("rows/lse", head);
    CATCH_CHECK(difference("rows/lse", a, b) == "");
    CATCH_CHECK(a.size() == 100);
  }
  request = demo.request();
  request.last_layer = 0;
  const Snapshot first = live(request);
  CATCH_CHECK(first->layers == std::vector<std::int64_t>{0});
  CATCH_CHECK(!first->next_token_loss);
  CATCH_CHECK(difference(*first->layer(0), *all->layer(0)) == "");
}

CATCH_TEST_CASE("live run: inputs beyond their budget go where the fewest layers have to run again") {
  LayerInputs inputs(4 * 100 * sizeof(float));
  const auto add = [&](std::int64_t layer) {
    auto input = std::make_shared<StreamState>();
    input->layer = layer;
    input->residual = std::vector<float>(100);
    inputs.add(std::move(input));
  };
  for (std::int64_t layer = 1; layer <= 8; ++layer) add(layer);
  CATCH_CHECK(inputs.size_bytes() == 4 * 100 * sizeof(float));
  CATCH_REQUIRE(inputs.find(8));  // the newest
  CATCH_CHECK(!inputs.nearest(0));
  for (std::int64_t layer = 1; layer <= 8; ++layer) {
    const auto nearest = inputs.nearest(layer);
    CATCH_CHECK(layer - (nearest ? nearest->layer : 0) <= 3);
  }
  add(8);  // replaces
  CATCH_CHECK(inputs.size_bytes() == 4 * 100 * sizeof(float));
}

}  // namespace headroom::test
