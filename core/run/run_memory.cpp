#include "core/run/run_memory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <string_view>
#include <variant>

#include "core/base/format.h"
#include "core/measure/head_view.h"
#include "core/measure/residual_record.h"
#include "core/model/mixer_spec.h"
#include "core/model/what_if.h"
#include "core/run/run_layout.h"
#include "core/run/run_pieces.h"
#include "kernels/cpu/attention.h"

namespace headroom {
namespace {

constexpr double kLibraryBytes = 16.0 * 1048576.0, kThreadBytes = 4.0 * 1048576.0;  // packed blocks, tables, stacks
// Freed blocks that are not given back, as a part of what is in use; and at least.
constexpr double kSpareShare = 0.2, kLeastSpareBytes = 32.0 * 1048576.0;
constexpr double kHeadNumbersBytes = 8.0 * 1024.0;  // root quantities of a head, at most

std::string grouped(double value) {
  std::string digits = format("%.0f", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), "\u2009");
  return digits;
}

struct Part {
  std::string what, formula;
  double bytes = 0.0;
};

struct Phase {
  std::vector<Part> parts;
  void add(std::string what, std::string formula, double bytes) {
    if (bytes > 0.0) parts.push_back({std::move(what), std::move(formula), bytes});
  }
  [[nodiscard]] double total() const {
    double sum = 0.0;
    for (const Part& part : parts) sum += part.bytes;
    return sum;
  }
};

double element_count(const WeightRef& weight) {
  return static_cast<double>(weight.rows()) * static_cast<double>(weight.columns());
}

// Channels of the keys and values that layers use of earlier ones.
std::int64_t shared_keys(const ModelSpec& model) {
  std::int64_t channels = 0;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    const AttentionSpec& a = model.blocks[layer].attention;
    if (model.keys_are_kept(static_cast<std::int64_t>(layer)))
      channels += a.num_key_blocks * a.head_dim + a.num_value_blocks * a.value_dim;
    if (model.memory_is_kept(static_cast<std::int64_t>(layer)))
      channels += std::get<MambaSpec>(model.blocks[layer].mixer->kind).channels();
  }
  return channels;
}

class Estimator {
 public:
  Estimator(const LiveRunRequest& request, const ModelSpec& model, std::int64_t length, std::int64_t threads)
      : request_(request),
        model_(model),
        n_(static_cast<double>(length)),
        hidden_(static_cast<double>(model.hidden_size)),
        real_(request.dtype == ComputeDtype::Float64 ? 8.0 : 4.0),
        element_(request.dtype == ComputeDtype::BFloat16 ? 2.0 : real_),
        threads_(static_cast<double>(std::max<std::int64_t>(threads, 1))),
        on_host_(request.device == "cpu") {
    reference_ = request.backend == "reference";
    blocked_ = request.backend == "blocked" || request.dtype == ComputeDtype::Float64 || !on_host_;
    first_ = std::max<std::int64_t>(request.first_layer, 0);
    last_ = request.last_layer >= 0 ? request.last_layer : static_cast<std::int64_t>(model.blocks.size()) - 1;
    with_head_ = request.last_layer < 0 && model.lm_head.weight.present();
  }

  [[nodiscard]] Phase largest() const {
    Phase best;
    for (std::int64_t layer = first_; layer <= last_; ++layer)
      if (Phase phase = everything(layer); phase.total() > best.total()) best = std::move(phase);
    add_everywhere(best);
    return best;
  }

 private:
  [[nodiscard]] const BlockSpec& block(std::int64_t layer) const {
    return model_.blocks[static_cast<std::size_t>(layer)];
  }
  [[nodiscard]] double heads_of(const AttentionSpec& attention) const {
    return static_cast<double>(attention.heads.size());
  }
  // Those with statistics: the same number in every layer.
  [[nodiscard]] double measured(const AttentionSpec& attention) const {
    return request_.heads.empty() || attention.heads.empty() ? heads_of(attention)
                                                             : static_cast<double>(request_.heads.size());
  }
  [[nodiscard]] static double maps_of(const AttentionSpec& attention) { return attention.differential() ? 2.0 : 1.0; }

  [[nodiscard]] Phase everything(std::int64_t layer) const {
    Phase phase;
    const AttentionSpec& a = block(layer).attention;
    add_weights(phase, layer);
    add_residual(phase, 4.0);
    add_shared(phase, layer);
    if (block(layer).attends()) {
      add_tensors(phase, a);
      add_biases(phase, a);
      Phase most;
      for (Phase& place : attention_places(a))
        if (place.total() > most.total()) most = std::move(place);
      for (Part& part : most.parts) phase.parts.push_back(std::move(part));
    } else {
      add_mixer(phase, *block(layer).mixer);
    }
    add_mlp(phase, block(layer).mlp);
    add_experts(phase, block(layer).experts);
    if (layer == last_ && with_head_) add_loss(phase);
    return phase;
  }

  // Two layers, and with the last one the LM head: one computes while the next is read. On a device the tensor that is
  // read.
  void add_weights(Phase& phase, std::int64_t layer) const {
    double all = 0.0, largest = 0.0, reordered = 0.0;
    const WeightVisitor visit = [&](const WeightRef& weight, std::string_view account, std::int64_t) {
      if (account == "expert") return;
      const double count = element_count(weight);
      all += count * element_;
      largest = std::max(largest, count);
      const SourceTensor* stored = request_.model->source.find(weight.tensor);
      if (weight.transposed || (stored && stored->reordered())) reordered = std::max(reordered, count);
    };
    for_each_weight(block(layer), layer, visit);
    const std::int64_t other = layer < last_ ? layer + 1 : layer > first_ ? layer - 1 : -1;
    if (other >= 0) for_each_weight(block(other), other, visit);
    if (on_host_)
      phase.add(other >= 0 ? "weights of two layers" : "weights of the layer",
                grouped(all / element_) + format(" × %g bytes", element_), all);
    if (layer == last_ && with_head_) {
      all = 0.0;
      visit(model_.lm_head.weight, "lm_head", -1);
      if (on_host_) phase.add("LM head", grouped(all / element_) + format(" × %g bytes", element_), all);
    }
    const bool converts = element_ < real_;
    // Read in the type of the statistics, then converted; products in bfloat16 put a weight into another order first.
    const double copies =
        on_host_ ? (converts ? largest * (real_ + element_) : 0.0) + reordered * real_ : 2.0 * largest * real_;
    phase.add("a weight while it is read", grouped(copies / real_) + format(" × %g bytes", real_), copies);
  }

  void add_residual(Phase& phase, double copies) const {
    if (on_host_)
      phase.add("residual stream",
                format("%g × ", copies) + grouped(n_) + " × " + grouped(hidden_) + format(" × %g bytes", element_),
                copies * n_ * hidden_ * element_);
  }

  // What layers hand on beside the stream, and what tokens are told layer by layer.
  void add_shared(Phase& phase, std::int64_t layer) const {
    if (!on_host_) return;
    const auto channels = static_cast<double>(shared_keys(model_));
    phase.add("keys and values that later layers use",
              grouped(n_) + " × " + grouped(channels) + format(" × %g bytes", element_), n_ * channels * element_);
    const double told = static_cast<double>(model_.layer_embedding.width) * static_cast<double>(model_.blocks.size());
    phase.add("embeddings of the layers", "3 × " + grouped(n_) + " × " + grouped(told) + format(" × %g bytes", real_),
              3.0 * n_ * told * real_);
    const double streams = model_.streams.present() ? static_cast<double>(model_.streams.count()) : 0.0;
    if (block(layer).altup.present())
      phase.add("streams",
                format("%g × ", 5.0 * streams) + grouped(n_) + " × " + grouped(hidden_) + format(" × %g bytes", real_),
                5.0 * streams * n_ * hidden_ * real_);
  }

  // Of all heads by distance, and as their backend reads them: by every difference of a row and a key.
  void add_biases(Phase& phase, const AttentionSpec& a) const {
    if (!a.bias.present()) return;
    const double distances = a.causal ? n_ : 2.0 * n_, spread = reference_ ? 0.0 : blocked_ ? 2.0 * real_ : 2.0 * 4.0;
    phase.add("biases by distance",
              grouped(heads_of(a)) + " heads × " + grouped(distances) + " × 8 bytes and " + grouped(n_) +
                  format(" × %g bytes", spread),
              heads_of(a) * (distances * 8.0 + n_ * spread));
  }

  // Queries, keys, values and contexts, and what a differential layer's λ is made of.
  void add_tensors(Phase& phase, const AttentionSpec& a) const {
    const double heads = heads_of(a), context = static_cast<double>(a.context_dim());
    const double channels = static_cast<double>(a.num_query_blocks * a.head_dim + a.num_key_blocks * a.head_dim +
                                                a.num_value_blocks * a.value_dim);
    const double input = reference_ ? 8.0 : real_;  // backends but the fused ones read floats or doubles
    const double copies = (element_ < real_ && blocked_) || reference_ ? input : 0.0;
    double bytes = on_host_ ? n_ * channels * (element_ + copies) + n_ * heads * context * input : 0.0;
    // Values that are no neighbours are put together for each head.
    std::set<std::vector<std::int64_t>> apart;
    for (const HeadProgram& head : a.heads)
      for (const HeadProgram::Map* map : {&head.first, &head.second})
        for (std::size_t b = 1; b < map->value_blocks.size(); ++b)
          if (map->value_blocks[b] != map->value_blocks[b - 1] + 1) apart.insert(map->value_blocks);
    if (on_host_) bytes += static_cast<double>(apart.size()) * n_ * context * input;
    if (on_host_ && a.rope.layout != RopeLayout::None)
      bytes += n_ * static_cast<double>(a.rope.rotary_dim) * (element_ + real_);
    if (a.differential()) bytes += n_ * heads * (element_ + 3.0 * 8.0);
    phase.add("queries, keys, values, contexts",
              grouped(n_) + " × " + grouped(channels + heads * context) + format(" × %g bytes", input), bytes);
  }

  void add_statistics(Phase& phase, const AttentionSpec& a, double more, const char* what) const {
    const double row = maps_of(a) * static_cast<double>(kernels::kMapRowBytes) + kernels::kNetRowBytes + more;
    phase.add(what, grouped(measured(a)) + " heads × " + grouped(n_) + " × " + grouped(row) + " bytes",
              measured(a) * n_ * row);
  }

  // What is there beside the tensors in one place or another of the attention.
  [[nodiscard]] std::vector<Phase> attention_places(const AttentionSpec& a) const {
    Phase projecting, running, measuring, aligning, recording, finishing;
    const double contexts = heads_of(a) * static_cast<double>(a.context_dim());
    if (on_host_) {
      const double q = static_cast<double>(a.num_query_blocks * a.head_dim),
                   k = static_cast<double>(a.num_key_blocks * a.head_dim);
      const double widest = std::max({5.0 * q, q + 5.0 * k, 4.0 * hidden_});
      projecting.add("projections", grouped(n_) + " × " + grouped(widest) + format(" × %g bytes", real_),
                     n_ * widest * real_);
      const double bytes = scratch(a);
      running.add("scratch of the attention", format("%g threads × ", threads_) + grouped(bytes / threads_) + " bytes",
                  bytes);
      finishing.add("contexts with norm and gate",
                    "4 × " + grouped(n_) + " × " + grouped(contexts) + format(" × %g bytes", real_),
                    4.0 * n_ * contexts * real_);
    }
    add_statistics(running, a, 8.0, "statistics of rows");
    // W_O in double is there before the layer's quantities are.
    const double norms = 2.0 * static_cast<double>(a.num_key_blocks + a.num_value_blocks) * 8.0 + 16.0;
    double record = HeadRecord::kRowBytes + norms / std::max(1.0, measured(a));
    const double quantity = 3.0 * 8.0;  // [2, n] in double, and once more sorted
    add_statistics(aligning, a, record, "statistics of rows");
    aligning.add("alignment of W_O", "3 × " + grouped(hidden_ * contexts) + " × 8 bytes",
                 3.0 * hidden_ * contexts * 8.0);
    if (request_.extra.premise) {
      const double draws = PremiseRecord::kDraws, sampled = std::min<double>(n_, PremiseRecord::kRows);
      const double strip = static_cast<double>(blocked_strip_rows(static_cast<std::int64_t>(n_))) * n_;
      measuring.add("signs of the keys", grouped(n_) + " × 999" + format(" × %g bytes, and once more", real_),
                    n_ * draws * (real_ + 4.0));
      measuring.add("strips of weights", format("%g", strip) + " × 32 bytes", strip * 32.0);
      measuring.add("weights of sampled rows, products of values", "sampled × n, and 3 blocks",
                    2.0 * sampled * n_ * real_ + 3.0 * 4194304.0 * real_);
      measuring.add("draws kept of each head", grouped(measured(a)) + " heads",
                    measured(a) * 8.0 * (sampled * PremiseRecord::kRowDraws + 2.0 * draws));
      record += PremiseRecord::kRowBytes;
      add_statistics(measuring, a, record, "statistics of rows");
    }
    add_statistics(recording, a, record + HeadView::kRowBytes + quantity,
                   "statistics of rows, and the quantities made of them");
    return {std::move(projecting), std::move(running),   std::move(measuring),
            std::move(aligning),   std::move(recording), std::move(finishing)};
  }

  [[nodiscard]] double scratch(const AttentionSpec& a) const {
    const double maps = maps_of(a), heads = heads_of(a);
    if (reference_) return threads_ * n_ * (10.0 + static_cast<double>(a.context_dim())) * 8.0;
    if (blocked_) {
      const double strip = static_cast<double>(blocked_strip_rows(static_cast<std::int64_t>(n_))) * n_ * real_;
      return threads_ * static_cast<double>(kBlockedBuffers) * strip +
             heads * n_ * (2.0 * real_ + 16.0 + static_cast<double>(kBlockedParts) * (maps + 1.0) * 8.0);
    }
    return kernels::cpu_scratch_bytes(static_cast<std::int64_t>(n_), static_cast<std::int64_t>(maps),
                                      static_cast<std::int64_t>(threads_)) +
           static_cast<double>(a.num_value_blocks) * n_ * 4.0;
  }

  void add_mixer(Phase& phase, const MixerSpec& mixer) const {
    if (!on_host_) return;
    const MixerSpec::Numbers numbers = mixer.numbers();
    const double rows = std::min(n_, static_cast<double>(kMixerRows));
    phase.add(
        "mixer without maps, some rows at a time",
        grouped(rows) + " × " + grouped(numbers.row) + " + " + grouped(numbers.fixed) + format(" × %g bytes", real_),
        (rows * numbers.row + numbers.fixed) * real_);
  }

  void add_mlp(Phase& phase, const MlpSpec& mlp) const {
    if (mlp.kind == MlpKind::None || !on_host_ ||
        (request_.last_layer >= 0 && request_.last_layer == request_.first_layer))
      return;
    const double rows = std::min(n_, static_cast<double>(kMlpRows)), inner = static_cast<double>(mlp.up.weight.rows());
    phase.add("MLP, some rows at a time",
              "4 × " + grouped(rows) + " × " + grouped(inner + hidden_) + format(" × %g bytes", real_),
              4.0 * rows * (inner * element_ + hidden_ * real_));
  }

  // Two of them, the stream as they read it and what they give, and the rows of one.
  void add_experts(Phase& phase, const ExpertsSpec& experts) const {
    if (!experts.present() || !on_host_ || (request_.last_layer >= 0 && request_.last_layer == request_.first_layer))
      return;
    const MlpSpec& one = experts.experts.front();
    double weights = 0.0, copies = 0.0;
    for (const LinearSpec* linear : {&one.gate, &one.up, &one.down}) {
      const double count = element_count(linear->weight);
      const bool whole = linear->weight.transposed || linear->weight.row_group > 0;  // read before rows are picked
      weights += count;
      copies = std::max(copies, (element_ < real_ ? count : 0.0) +
                                    (whole ? static_cast<double>(linear->weight.stored_elements()) : 0.0));
    }
    // Products in bfloat16 put one's weights into another order first.
    const double held = element_ < real_ ? 3.0 : 2.0;
    phase.add("weights of two experts", format("%g × ", held) + grouped(weights) + format(" × %g bytes", element_),
              held * weights * element_);
    phase.add("an expert's weight while it is read", grouped(copies) + format(" × %g bytes", real_), copies * real_);
    phase.add("input and output of the experts",
              "3 × " + grouped(n_) + " × " + grouped(hidden_) + format(" × %g bytes", real_),
              3.0 * n_ * hidden_ * real_ + n_ * static_cast<double>(experts.experts.size()) * 3.0 * real_);
    add_mlp(phase, one);
  }

  void add_loss(Phase& phase) const {
    if (!on_host_) return;
    const double rows = std::min(n_, static_cast<double>(kLogitRows)),
                 columns = static_cast<double>(model_.lm_head.weight.rows());
    phase.add(
        "logits, some rows at a time", "4 × " + grouped(rows) + " × " + grouped(columns) + format(" × %g bytes", real_),
        rows * columns * (3.0 * real_ + std::min(element_, real_) + (model_.logit_softcap > 0.0 ? 2.0 * real_ : 0.0)));
  }

  void add_everywhere(Phase& phase) const {
    double numbers = 0.0;
    for (const BlockSpec& each : model_.blocks) {
      const bool hides =
          std::ranges::any_of(each.attention.heads, [](const HeadProgram& head) { return !head.hidden_keys.empty(); });
      numbers += measured(each.attention) * (kHeadNumbersBytes + (hides ? n_ * 8.0 : 0.0)) + n_ * 8.0;
    }
    phase.add("numbers of the heads", "", numbers);
    phase.add("pooled maps of the heads", "", pooled_maps());
    phase.add("numbers of the residual stream", "", boundaries());
    phase.add("LibTorch's own", "", kLibraryBytes + threads_ * kThreadBytes);
    phase.add("freed blocks that are kept", "", std::max(kLeastSpareBytes, kSpareShare * phase.total()));
  }

  // Kept of the stream before each layer and behind the last, of an encoder's too.
  [[nodiscard]] double boundaries() const {
    const double one = static_cast<double>(residual_bytes(static_cast<std::int64_t>(n_))) +
                       (request_.keep_residual ? n_ * hidden_ * 4.0 : 0.0);
    return one * static_cast<double>(model_.blocks.size() + (model_.encoder ? 2 : 1));
  }

  // Of all layers, and in double of the one that runs.
  [[nodiscard]] double pooled_maps() const {
    const std::int64_t blocks = std::min(pool_blocks_of(request_), static_cast<std::int64_t>(n_));
    const double cells = static_cast<double>(blocks) * static_cast<double>(blocks);
    double kept = 0.0, running = 0.0;
    for (const BlockSpec& each : model_.blocks) {
      const AttentionSpec& a = each.attention;
      kept += measured(a) * static_cast<double>(pooled_bytes(blocks, 1, a.differential()));
      running = std::max(running, measured(a) * (4.0 + 2.0 * maps_of(a)) * cells * 8.0);
    }
    return kept + running;
  }

  const LiveRunRequest& request_;
  const ModelSpec& model_;
  const double n_, hidden_, real_, element_, threads_;
  const bool on_host_;
  bool reference_ = false, blocked_ = false, with_head_ = false;
  std::int64_t first_ = 0, last_ = 0;
};

std::int64_t measured_layers(const LiveRunRequest& request) {
  return static_cast<std::int64_t>(request.layers.empty() ? request.model->spec.attention_layers().size()
                                                          : request.layers.size());
}

}  // namespace

std::size_t input_bytes(const ModelSpec& model, std::int64_t length) {
  return static_cast<std::size_t>(length * model.hidden_size * model.streams.count()) * sizeof(float);
}

std::size_t kept_layer_bytes(const LiveRunRequest& request, std::int64_t length) {
  const ModelSpec& model = request.model->spec;
  AnalysisRequest analysis;
  analysis.model = request.model.get();
  analysis.layers = request.layers;
  analysis.heads = request.heads;
  analysis.dtype = request.dtype;
  RunShape shape = make_shape(model, analysis);
  shape.length = length;
  const auto n = static_cast<std::size_t>(length);
  const auto heads = request.heads.empty() ? static_cast<std::size_t>(model.num_heads) : request.heads.size();
  std::size_t series = 0;
  for (const Quantity& quantity : head_quantities()) {
    if (quantity.group.empty() || quantity.axes.empty() || !is_written(quantity, shape)) continue;
    std::size_t size = sizeof(float) * heads;
    for (const std::int64_t extent : extents(quantity, shape)) size *= static_cast<std::size_t>(extent);
    series += size;
  }
  std::size_t largest = 0;
  for (const BlockSpec& block : model.blocks) {
    const AttentionSpec& attention = block.attention;
    const auto blocks = static_cast<std::size_t>(attention.num_query_blocks + attention.num_key_blocks);
    const std::size_t maps =
        blocks * n * static_cast<std::size_t>(attention.head_dim) * sizeof(float) +
        heads * n * sizeof(double) * (attention.differential() ? 3 : 1) +
        (attention.bias.present() ? attention.heads.size() : 0) * (attention.causal ? n : 2 * n) * sizeof(double);
    const auto norms = static_cast<std::size_t>(attention.num_key_blocks + attention.num_value_blocks);
    const std::size_t routed = block.experts.present() ? n * static_cast<std::size_t>(block.experts.router.chosen) *
                                                             (sizeof(std::uint16_t) + sizeof(float))
                                                       : 0;
    largest = std::max(largest, (request.keep_maps ? maps : 0) + series + norms * n * sizeof(float) + routed);
  }
  return largest;
}

RunMemory estimate_run_memory(const LiveRunRequest& request, std::int64_t length, std::int64_t threads) {
  RunMemory memory;
  memory.length = length;
  if (!request.model || request.model->spec.blocks.empty()) return memory;
  const auto changed = apply_what_ifs(request.model->spec, request.what_ifs);
  const ModelSpec& model = changed ? changed->model : request.model->spec;
  const auto blocks = static_cast<std::int64_t>(model.blocks.size());
  const auto n = static_cast<std::size_t>(length);
  memory.layers = measured_layers(request);
  memory.layer_bytes = kept_layer_bytes(request, length);
  if (request.inputs && request.keep_maps && request.dtype != ComputeDtype::Float64 && !model.encoder) {
    const std::int64_t end = request.last_layer >= 0 ? request.last_layer + 1 : blocks;
    memory.inputs = std::max<std::int64_t>(end - request.first_layer - 1, 0);
    memory.input_bytes = input_bytes(model, length);
    if (memory.inputs > 0) memory.shared_bytes = static_cast<std::size_t>(shared_keys(model)) * n * sizeof(float);
  }
  for (Part& part : Estimator(request, model, length, threads).largest().parts) {
    memory.items.push_back(
        {std::move(part.what), std::move(part.formula), static_cast<std::size_t>(std::ceil(part.bytes))});
    memory.working_bytes += memory.items.back().bytes;
    if (memory.items.back().what.starts_with("freed blocks")) memory.spare_bytes = memory.items.back().bytes;
  }
  std::ranges::stable_sort(memory.items, std::ranges::greater(), &MemoryItem::bytes);
  return memory;
}

std::size_t RunMemory::all_bytes() const {
  return working_bytes + static_cast<std::size_t>(layers) * layer_bytes +
         static_cast<std::size_t>(inputs) * input_bytes + shared_bytes;
}

std::size_t RunMemory::least_bytes() const {
  return working_bytes + static_cast<std::size_t>(std::min<std::int64_t>(layers, 2)) * layer_bytes +
         static_cast<std::size_t>(std::min<std::int64_t>(inputs, 1)) * input_bytes + shared_bytes;
}

RunFit fit_run(const RunMemory& memory, std::size_t budget_bytes, double inputs_share) {
  RunFit fit;
  if (memory.all_bytes() <= budget_bytes) {
    fit.fits = true;
    fit.kept_layers = memory.layers;
    fit.keep_bytes = budget_bytes - memory.working_bytes;
    fit.needed_bytes = memory.all_bytes();
    return fit;
  }
  fit.needed_bytes = memory.least_bytes();
  if (fit.needed_bytes > budget_bytes) return fit;
  fit.fits = true;
  // A layer is there in full before an earlier one is dropped for it.
  fit.keep_bytes = budget_bytes - memory.working_bytes - memory.layer_bytes;
  std::size_t inputs = 0;
  if (memory.inputs > 0) {
    const auto share = static_cast<std::size_t>(inputs_share * static_cast<double>(fit.keep_bytes));
    const auto kept = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(share / std::max<std::size_t>(memory.input_bytes, 1)), 1, memory.inputs);
    inputs = static_cast<std::size_t>(kept) * memory.input_bytes + memory.shared_bytes;
  }
  const std::size_t room = fit.keep_bytes > inputs ? fit.keep_bytes - inputs : 0;
  fit.kept_layers = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(room / std::max<std::size_t>(memory.layer_bytes, 1)), 1, memory.layers);
  fit.needed_bytes = memory.working_bytes + memory.layer_bytes + inputs +
                     static_cast<std::size_t>(fit.kept_layers) * memory.layer_bytes;
  return fit;
}

std::int64_t longest_fitting(const LiveRunRequest& request, std::size_t budget_bytes, std::int64_t most,
                             std::int64_t threads) {
  std::int64_t fits = 0, beyond = most + 1;
  while (beyond - fits > 1) {
    const std::int64_t middle = fits + (beyond - fits) / 2;
    (estimate_run_memory(request, middle, threads).least_bytes() <= budget_bytes ? fits : beyond) = middle;
  }
  return fits;
}

}  // namespace headroom
