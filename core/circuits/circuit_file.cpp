#include "core/circuits/circuit_file.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/format.h"
#include "core/base/utc.h"
#include "core/circuits/spectra.h"
#include "core/io/circuits_schema.h"
#include "core/measure/circuit_quantities.h"
#include "core/run/provenance.h"
#include "core/run/run_layout.h"

namespace headroom {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Nothing of it can be measured: why.
Result<void> check_something_left(const CircuitRequest& request, const CircuitOutcome& outcome) {
  const ModelSpec& model = request.model->spec;
  const auto open = [&](std::int64_t layer) {
    return qk_refusal(model, layer).empty() || ov_refusal(model, layer).empty();
  };
  if (std::ranges::any_of(outcome.layers, open)) return {};
  std::string reason = "it has no layer with attention";
  if (!outcome.layers.empty()) reason = qk_refusal(model, outcome.layers.front());
  Error error(ErrorCode::Unsupported, "no circuit can be made of these weights: " + reason);
  return error.in_file(request.model->checkpoint->path().string());
}

struct Shape {
  std::int64_t spectrum = 0, slots = 1, all_heads = 0;
};

Shape shape_of(const CircuitRequest& request, const CircuitOutcome& outcome) {
  Shape shape;
  shape.all_heads = request.model->spec.num_heads;
  for (const LayerCircuits& layer : outcome.data) {
    shape.spectrum = std::max({shape.spectrum, layer.context_dim, layer.head_dim});
    for (const HeadProgram& head : layer.programs)
      shape.slots = std::max(shape.slots, static_cast<std::int64_t>(head.first.value_blocks.size()));
    shape.all_heads = std::max(shape.all_heads, static_cast<std::int64_t>(layer.programs.size()));
  }
  return shape;
}

std::int64_t extent(std::string_view axis, const CircuitOutcome& outcome, const Shape& shape) {
  if (axis == axis::kComponent) return 2;
  if (axis == axis::kValueSlot) return shape.slots;
  if (axis == "spectrum") return shape.spectrum;
  if (axis == "head_other") return shape.all_heads;
  if (axis == "from_layer") return static_cast<std::int64_t>(outcome.layers.size());
  return static_cast<std::int64_t>(outcome.heads.size());
}

std::vector<double> counted(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

bool is_composition(const Quantity& quantity) { return quantity.name.find("composition") != std::string_view::npos; }

Result<void> define(RunFileWriter& writer, const CircuitRequest& request, const CircuitOutcome& outcome,
                    const Shape& shape) {
  const std::vector<double> layers(outcome.layers.begin(), outcome.layers.end()),
      heads(outcome.heads.begin(), outcome.heads.end());
  const std::pair<const char*, std::pair<std::vector<double>, const char*>> axes[] = {
      {"layer", {layers, "layer of the model, from 0"}},
      {"head", {heads, "output head, from 0"}},
      {"component", {{0, 1}, "0: first map, 1: second map"}},
      {"value_slot", {counted(shape.slots), "value block of a head, from 0"}},
      {"spectrum", {counted(shape.spectrum), "place among singular values or eigenvalues by descending size, from 0"}},
      {"head_other", {counted(shape.all_heads), "output head of the same layer, from 0"}},
      {"from_layer", {layers, "earlier layer, whose head writes"}},
      {"from_head", {heads, "head of the earlier layer"}},
  };
  for (const auto& [name, axis] : axes) {
    if (!request.composition && std::string_view(name).starts_with("from_")) continue;
    HEADROOM_TRY_VOID(writer.add_axis(index_axis(name, axis.first, axis.second)));
  }
  for (const Quantity& quantity : circuit_quantities())
    if (request.composition || !is_composition(quantity))
      HEADROOM_TRY_VOID(define_quantity(writer, quantity, ElementType::Float64));
  return {};
}

Result<void> write_heads(RunFileWriter& writer, const CircuitOutcome& outcome, const Shape& shape) {
  for (const Quantity& quantity : circuit_quantities()) {
    if (quantity.per != Per::Head || is_composition(quantity)) continue;
    std::int64_t elements = 1;
    std::vector<std::int64_t> start = {0, 0}, count = {static_cast<std::int64_t>(outcome.layers.size()),
                                                       static_cast<std::int64_t>(outcome.heads.size())};
    for (const std::string_view axis : quantity.axes) {
      start.push_back(0);
      count.push_back(extent(axis, outcome, shape));
      elements *= count.back();
    }
    std::vector<double> values;
    for (const LayerCircuits& layer : outcome.data)
      for (const std::int64_t head : outcome.heads)
        for (std::int64_t e = 0; e < elements; ++e) {
          // An element of two axes: its place along the last one, and along the one before it.
          const std::int64_t last = quantity.axes.empty() ? 1 : count.back();
          const auto inner = static_cast<std::size_t>(e % last), outer = static_cast<std::size_t>(e / last);
          values.push_back(circuit_element(layer, static_cast<std::size_t>(head), quantity.name, outer, inner));
        }
    HEADROOM_TRY_VOID(writer.write(std::string(quantity.name), start, count, values));
  }
  return {};
}

Result<void> write_layers(RunFileWriter& writer, const CircuitOutcome& outcome) {
  const std::int64_t start[] = {0}, count[] = {static_cast<std::int64_t>(outcome.layers.size())};
  std::vector<double> output, ov;
  std::vector<std::string> kinds, qk_refused, ov_refused, path_refused;
  for (const LayerCircuits& layer : outcome.data) {
    output.push_back(layer.output_alignment_null);
    ov.push_back(layer.ov_alignment_null);
    kinds.push_back(layer.kind);
    qk_refused.push_back(layer.qk_refused);
    ov_refused.push_back(layer.ov_refused);
    path_refused.push_back(layer.path_refused);
  }
  HEADROOM_TRY_VOID(writer.write("output_alignment_null", start, count, output));
  HEADROOM_TRY_VOID(writer.write("ov_alignment_null", start, count, ov));
  const std::pair<const char*, const std::vector<std::string>*> texts[] = {
      {"kind", &kinds}, {"qk_refused", &qk_refused}, {"ov_refused", &ov_refused}, {"path_refused", &path_refused}};
  for (const auto& [name, values] : texts) HEADROOM_TRY_VOID(writer.write_strings(name, start, count, *values));
  return {};
}

Result<void> write_compositions(RunFileWriter& writer, const CircuitOutcome& outcome, std::int64_t hidden) {
  HEADROOM_TRY_VOID(writer.write("composition_null", {}, {}, std::vector<double>{composition_null(hidden)}));
  const auto heads = static_cast<std::int64_t>(outcome.heads.size());
  const auto place = [&](std::int64_t layer) {
    return static_cast<std::int64_t>(std::ranges::lower_bound(outcome.layers, layer) - outcome.layers.begin());
  };
  for (const Composition& pair : outcome.compositions) {
    const std::int64_t to = place(pair.layer), from = place(pair.from_layer);
    for (std::int64_t m = 0; m < 2; ++m) {
      const std::int64_t start[] = {to, 0, m, from, 0}, count[] = {1, heads, 1, 1, heads};
      if (!pair.q[m].empty()) HEADROOM_TRY_VOID(writer.write("q_composition", start, count, pair.q[m]));
      if (!pair.k[m].empty()) HEADROOM_TRY_VOID(writer.write("k_composition", start, count, pair.k[m]));
    }
    const std::int64_t start[] = {to, 0, from, 0}, count[] = {1, heads, 1, heads};
    if (!pair.v.empty()) HEADROOM_TRY_VOID(writer.write("v_composition", start, count, pair.v));
  }
  return {};
}

double at(std::span<const double> values, std::size_t index) { return index < values.size() ? values[index] : kNaN; }

}  // namespace

double circuit_element(const LayerCircuits& layer, std::size_t head, std::string_view name, std::size_t outer,
                       std::size_t inner) {
  if (head >= layer.heads.size()) return kNaN;
  const HeadCircuits& h = layer.heads[head];
  const std::size_t heads = layer.heads.size();
  static const std::vector<double> none;
  const std::vector<double>& block = outer < h.block_ov.size() ? h.block_ov[outer] : none;
  const std::vector<double>& inner_block = inner < h.block_ov.size() ? h.block_ov[inner] : none;
  if (name == "copying_score") return h.copying;
  if (name == "ov_effective_rank") return effective_rank(h.ov);
  if (name == "ov_largest_singular_value") return at(h.ov, 0);
  if (name == "qk_effective_rank") return inner < 2 ? effective_rank(h.qk[inner]) : kNaN;
  if (name == "qk_largest_singular_value") return inner < 2 ? at(h.qk[inner], 0) : kNaN;
  if (name == "output_alignment_mean") return layer.mean_alignment(head);
  if (name == "query_alignment") return h.query_alignment;
  if (name == "qk_alignment") return h.qk_alignment;
  if (name == "block_copying_score") return at(h.block_copying, inner);
  if (name == "block_effective_rank") return effective_rank(inner_block);
  if (name == "ov_singular_value") return at(h.ov, inner);
  if (name == "qk_singular_value") return outer < 2 ? at(h.qk[outer], inner) : kNaN;
  if (name == "block_singular_value") return at(block, inner);
  if (name == "eigenvalue_real") return inner < h.eigenvalues.size() ? h.eigenvalues[inner].real() : kNaN;
  if (name == "eigenvalue_imaginary") return inner < h.eigenvalues.size() ? h.eigenvalues[inner].imag() : kNaN;
  if (name == "output_alignment") return inner < heads ? at(layer.output_alignment, head * heads + inner) : kNaN;
  if (name == "ov_alignment") return inner < heads ? at(layer.ov_alignment, head * heads + inner) : kNaN;
  return kNaN;
}

const HeadCircuits* CircuitOutcome::find(std::int64_t layer, std::int64_t head) const {
  for (const LayerCircuits& circuits : data)
    if (circuits.layer == layer && head < static_cast<std::int64_t>(circuits.heads.size()))
      return &circuits.heads[static_cast<std::size_t>(head)];
  return nullptr;
}

Result<CircuitOutcome> measure_circuits(const CircuitRequest& request, const ProgressReport& progress,
                                        const CircuitStop& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const ModelSpec& model = request.model->spec;
  const ModelSource& source = request.model->source;
  CircuitOutcome outcome;
  outcome.layers = request.layers.empty() && !model.capture ? model.attention_layers() : request.layers;
  outcome.heads = request.heads;
  if (outcome.heads.empty())
    for (std::int64_t head = 0; head < model.num_heads; ++head) outcome.heads.push_back(head);
  if (!model.capture) HEADROOM_TRY_VOID(model.check_attends(outcome.layers));
  HEADROOM_TRY_VOID(check_something_left(request, outcome));
  const auto share = [&](double from, double to, const std::string& what) {
    return [&progress, from, to, what](double fraction) {
      if (progress) progress(from + (to - from) * fraction, what);
    };
  };
  std::optional<Thin> vocabulary;
  if (std::ranges::any_of(outcome.layers, [&](std::int64_t layer) { return path_refusal(model, layer).empty(); })) {
    HEADROOM_TRY(vocabulary, embedding_times_unembedding(source, model, share(0.0, 0.4, "vocabulary"), stop));
    outcome.vocabulary = path_vocabulary(model);
  }
  outcome.vocabulary_seconds = seconds_since(begin);
  const double layers_end = request.composition ? 0.6 : 1.0;
  for (const std::int64_t layer : outcome.layers) {
    const double done = static_cast<double>(outcome.data.size()) / static_cast<double>(outcome.layers.size());
    share(0.4, layers_end,
          model.layer_name(layer).empty() ? format("layer %lld", static_cast<long long>(layer))
                                          : model.layer_name(layer))(done);
    HEADROOM_TRY(LayerCircuits circuits,
                 measure_layer_circuits(source, model, layer, vocabulary ? &*vocabulary : nullptr, stop));
    outcome.data.push_back(std::move(circuits));
  }
  outcome.layer_seconds = seconds_since(begin) - outcome.vocabulary_seconds;
  if (request.composition) {
    HEADROOM_TRY_VOID(measure_composition(
        source, model, {outcome.layers, outcome.heads},
        [&](const Composition& pair) -> Result<void> {
          outcome.compositions.push_back(pair);
          return {};
        },
        share(0.6, 1.0, "compositions"), stop));
  }
  outcome.seconds = seconds_since(begin);
  outcome.composition_seconds = outcome.seconds - outcome.vocabulary_seconds - outcome.layer_seconds;
  return outcome;
}

Result<std::unique_ptr<RunFileWriter>> create_circuit_file(const CircuitRequest& request) {
  RunFileWriter::Options options;
  options.force = request.force;
  options.inputs = request.inputs;
  options.schema_name = kCircuitsSchemaName;
  return RunFileWriter::create(request.output, options);
}

Result<void> write_circuits(RunFileWriter& writer, const CircuitRequest& request, const CircuitOutcome& outcome,
                            const CircuitStop& stop) {
  const Checkpoint& checkpoint = *request.model->checkpoint;
  const Shape shape = shape_of(request, outcome);
  HEADROOM_TRY_VOID(define(writer, request, outcome, shape));
  HEADROOM_TRY(const std::string hashes, checkpoint_hashes(checkpoint, stop));
  const std::string now = utc_now();
  const std::vector<std::pair<const char*, AttributeValue>> attributes = {
      {"Conventions", "CF-1.10, ACDD-1.3"},
      {"title", "Circuits of " + checkpoint.name()},
      {"institution", "not given"},
      {"source", request.program},
      {"history", now + " " + request.command_line},
      {"references",
       "every dataset has its definition, range and source as attributes; the symbols they speak of: "
       "core/measure/CIRCUITS.md of the program, which `headroom quantities --circuits` prints"},
      {"comment",
       "from weights alone: other layers, the scale of the residual stream, biases, gates, λ and RoPE are "
       "left out, so it says what a head can do, not what it does on a text"},
      {"license", "the numbers follow the licence of the checkpoint"},
      {"created_utc", now},
      {"command_line", request.command_line},
      {"program_git_commit", request.git_commit},
      {"model_id", checkpoint.name()},
      {"model_type", request.model->spec.model_type},
      {"container", std::string(checkpoint.format_name())},
      {"checkpoint_sha256", hashes},
      {"vocabulary", outcome.vocabulary},
      {"hidden_size", request.model->spec.hidden_size},
      {"seconds", outcome.seconds},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer.set_attribute("", name, value));
  HEADROOM_TRY_VOID(write_heads(writer, outcome, shape));
  HEADROOM_TRY_VOID(write_layers(writer, outcome));
  if (request.composition) HEADROOM_TRY_VOID(write_compositions(writer, outcome, request.model->spec.hidden_size));
  return writer.commit();
}

}  // namespace headroom
