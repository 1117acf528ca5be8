// The library that runs models, seen through one interface, so that the program starts without LibTorch and opens it
// when it is first needed. The backend belongs to the compute thread; observers are called on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/measure/layer_record.h"
#include "core/measure/predictions.h"
#include "core/measure/router_record.h"
#include "core/model/model_source.h"
#include "core/model/non_finite.h"
#include "core/run/benchmark.h"
#include "core/run/stages.h"
#include "core/run/stream_state.h"

namespace headroom {

enum class ComputeDtype { Float32, Float64, BFloat16 };

[[nodiscard]] const char* dtype_name(ComputeDtype dtype);
[[nodiscard]] Result<ComputeDtype> parse_dtype(std::string_view name);

// What computes attention and its statistics; core/compute/attention_backend.h says which does what.
enum class AttentionBackend { Reference, Blocked, Cpu, Cuda };

struct ForwardOptions {
  std::vector<std::int32_t> ids;               // of an encoder-decoder the target's
  std::vector<std::int32_t> source_ids;        // of an encoder-decoder; empty elsewhere
  ComputeDtype dtype = ComputeDtype::Float32;  // statistics run in float32 where this is bfloat16
  std::string device = "cpu";                  // "cpu", "cuda", "cuda:1"
  std::string backend = "auto";                // "auto", "reference", "blocked", "cpu" or "cuda"
  bool softmax_only = true;                    // ModelSpec::softmax_only; the fused kernels have no other normalizer
  std::vector<std::int64_t> layers;            // measured layers, ascending; all of them run
  std::vector<std::int64_t> heads;             // measured heads, ascending
  kernels::StatisticsRequest request;
  std::int64_t widest_query = 0, widest_value = 0;  // channels of a head, of the layer that has most of them
  bool square_masks = true;                         // false: a call has other keys than its rows
  bool always_visible = false;                      // a layer keeps its first keys visible beside its window
  bool dense_masks = false;                         // a call of a capture has a mask that is given entry by entry
  bool exact_maps = false;
  bool hidden = false;            // residuals and logits go to the observer
  bool stream = false;            // the whole stream at each boundary goes to on_stream
  bool keep_projections = false;  // records hold queries and keys
  bool output_cosines = false;    // records hold output_cosine; not of the last layer of a run that ends early
  bool rounding = false;          // records hold HeadRecord::rounding; not where dtype is bfloat16
  bool premise = false;           // and HeadRecord::premise, of rows with at least min_row visible keys
  std::int64_t min_row = 1;
  // Above 0: of measured layers nothing is recorded, but on_exact_block hears of the values of each block, then
  // on_exact_rows of the weights of the last so many rows, which alone predict a next token. Causal models.
  std::int64_t last_rows = 0;
  bool keep_inputs = false;   // the stream before each layer but the first that runs goes to on_input
  bool context_sums = false;  // sums over the sequence of what heads bring into W_O go to on_context_sums
  // A run that begins later, with the stream before that layer, which outlives the run; not in float64.
  std::int64_t first_layer = 0;
  const StreamState* start = nullptr;
  // A run that ends with the measurements of a layer: of it only the measured heads run, and nothing after it. −1:
  // none.
  std::int64_t last_layer = -1;
};

// What exact maps are made of and make.
enum class ExactBlock : std::uint8_t { Query, Key, Value, Context };

struct ForwardSummary {
  std::optional<double> next_token_loss;            // mean over tokens 1 … n − 1, nats; none where it is not finite
  Predictions predictions;                          // not present where no next token is predicted
  std::int64_t non_finite_layer = -1;               // the first layer whose output holds NaN or infinity
  std::vector<NonFiniteWeight> non_finite_weights;  // by layer
  double attention_seconds = 0.0;
  StageSeconds stages;  // without the writing
  double seconds = 0.0;
};

// Receives what a forward yields; what is not overridden is dropped.
class ForwardObserver {
 public:
  virtual ~ForwardObserver() = default;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps it
  virtual Result<void> on_layer(LayerRecord /*record*/) { return {}; }
  // Of a layer with experts that runs to its end, after on_layer where the layer is measured.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): likewise
  virtual Result<void> on_router(RouterRecord /*record*/) { return {}; }
  // Rows [row, row + rows) of the residual stream at a boundary: 0 the input of block 0, k the output of block k − 1.
  // Of several streams the active one.
  virtual Result<void> on_residual(std::int64_t /*boundary*/, std::int64_t /*row*/, std::int64_t /*rows*/,
                                   std::span<const double> /*values*/) {
    return {};
  }
  // The same whole, [rows, channels] in float32, with ForwardOptions::stream; it is there during the call alone.
  virtual Result<void> on_stream(std::int64_t /*boundary*/, std::int64_t /*rows*/, std::int64_t /*channels*/,
                                 std::span<const float> /*values*/) {
    return {};
  }
  // The stream before a layer.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual Result<void> on_input(StreamState /*state*/) { return {}; }
  // Σ over the sequence of the input of W_O of a layer, [heads, channels].
  virtual Result<void> on_context_sums(std::int64_t /*layer*/, std::span<const double> /*sums*/) { return {}; }
  virtual Result<void> on_logits(std::int64_t /*row*/, std::int64_t /*rows*/, std::span<const double> /*values*/) {
    return {};
  }
  // Weights of one map (component 0 or 1) or the net map (−1) for rows [row, row + rows): [rows, keys].
  virtual Result<void> on_exact_rows(std::int64_t /*layer*/, std::int64_t /*head*/, int /*component*/,
                                     std::int64_t /*row*/, std::int64_t /*rows*/, std::span<const double> /*values*/) {
    return {};
  }
  // With exact maps, and of values with last_rows: a block of queries, keys (after norms and rotation) or values, or
  // the context of a head (before norm, gate and W_O): [rows, channels]. They come before the rows of the layer's maps.
  virtual Result<void> on_exact_block(std::int64_t /*layer*/, ExactBlock /*kind*/, std::int64_t /*block*/,
                                      std::int64_t /*rows*/, std::span<const double> /*values*/) {
    return {};
  }
  virtual void on_progress(double /*fraction*/, const std::string& /*what*/) {}
  [[nodiscard]] virtual bool stop_requested() const = 0;  // asked on every thread that works
};

// What heads bring into W_O, a mean over some tokens: by layer [heads, channels].
using HeadMeans = std::map<std::int64_t, std::vector<double>>;

// One of several runs of a model on the same tokens, in which the attention of some layers is another one with the same
// weights (core/model/what_if.h). Layers before the first of them are shared.
struct ModelVariant {
  std::vector<std::pair<std::int64_t, AttentionSpec>> layers;  // ascending; at least one
  // What averaged heads (HeadProgram::averaged) put out for every token; null: their mean over the sequence.
  std::shared_ptr<const HeadMeans> means{};
};

// A variant is made when its turn comes, since all of a large model do not fit into memory.
struct VariantSweep {
  std::vector<std::int64_t> first_layers;  // of each variant, the first layer that it changes
  std::function<Result<ModelVariant>(std::size_t)> make;
  std::size_t keep_bytes = 0;  // for streams before layers, beside the one before layer 0
  std::int64_t rows = 8192;    // of the stream that go through a block before its weights are given up, about
};

class VariantObserver : public ForwardObserver {
 public:
  // Losses of tokens 1 … n − 1, nats, of the model itself, before the first variant.
  virtual Result<void> on_base(std::vector<double> token_loss) = 0;
  // The same with this variant.
  virtual Result<void> on_variant(std::size_t variant, std::vector<double> token_loss) = 0;
};

// What a sequence's loss does with what heads put out: for each head of each layer g = Σ_i ⟨∂loss/∂z_i, z_i⟩, z_i what
// it brings into W_O at position i. −g is the loss change without the head, to first order (Michel et al. 2019, arXiv
// 1905.10650, eq. 2).
struct HeadGradients {
  double loss = 0.0;                          // mean over tokens 1 … n − 1, nats
  std::vector<std::vector<double>> by_layer;  // by head
};
using GradientReport = std::function<Result<void>(std::size_t sequence, HeadGradients gradients)>;

// The attention backend of a run.
struct AttentionChoice {
  std::string backend;        // "reference", "blocked", "cpu" or "cuda"
  std::string reason;         // why `auto` chose it; empty where it was named
  std::string device, dtype;  // where and in what the statistics are computed
  std::string kernel_target;  // the instructions it uses: "AVX3", "LibTorch AVX512", …
};

// An attention backend on this machine.
struct BackendState {
  std::string name;
  std::string unusable;  // why it cannot be used; empty where it can
};

struct BackendInfo {
  std::string torch_version;
  std::string cpu_capability;  // of LibTorch's kernels
  std::string kernel_target;   // of the cpu backend
  int threads = 0;
  std::vector<std::string> devices;  // "cpu", "cuda:0 NVIDIA H100 …"
  std::string cuda_note;             // why there is no CUDA device, where there is none
  std::vector<BackendState> backends;
};

struct TrainingRequest;
struct TrainingOutcome;
class TrainingObserver;

class ComputeBackend {
 public:
  virtual ~ComputeBackend() = default;
  // The attention backend that run() will use with these options; the error where they do not go together, or where
  // what they name is not there.
  virtual Result<AttentionChoice> choose_attention(const ForwardOptions& options) = 0;
  // Cancelled when the observer asked to stop; Device for a device that is not there; never another device silently.
  virtual Result<ForwardSummary> run(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                     ForwardObserver& observer) = 0;
  // Several sequences of one length, by default one after another; where the backend can, weights are read once for all
  // of them: summaries with the numbers that run()
  // gives for each alone, whose `ids` stand in for those of the options. observers[i] hears of sequence i, of a layer
  // of all of them before the next. The first error ends it. Without start and last_layer, of models with one sequence.
  virtual Result<std::vector<ForwardSummary>> run_batch(const ModelSource& source, const ModelSpec& model,
                                                        const ForwardOptions& options,
                                                        std::span<const std::vector<std::int32_t>> sequences,
                                                        std::span<ForwardObserver* const> observers);
  // The whole run, and then every variant, those of the last layers first, each with the numbers that run() gives for
  // it alone. Only the run of the model itself is measured and has a summary. What is finished when it is cancelled has
  // been handed over.
  virtual Result<ForwardSummary> run_variants(const ModelSource& source, const ModelSpec& model,
                                              const ForwardOptions& options, const VariantSweep& sweep,
                                              VariantObserver& observer) = 0;
  // Gradients of the loss of each sequence, all weights in memory, in float32 or float64. Unsupported, also without
  // sequences, for models with blocks that have no gradients here; Cancelled by `stop`, between sequences.
  virtual Result<void> run_gradients(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                     std::span<const std::vector<std::int32_t>> sequences, const GradientReport& report,
                                     const kernels::StopRequested& stop);
  // Times attention and its statistics beside LibTorch's own. InvalidArgument for shapes and targets that are not
  // there.
  virtual Result<BenchmarkReport> benchmark(
      const BenchmarkRequest& request, const std::function<void(double fraction, const std::string& what)>& progress,
      const kernels::StopRequested& stop) = 0;
  // Trains one model (core/training/training.h); unlike the others it may run on several threads at a time.
  virtual Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer) = 0;
  virtual BackendInfo info() = 0;
};

// Opens libheadroom_compute beside this library on the first call; Device with the loader's words where that fails.
[[nodiscard]] Result<ComputeBackend*> load_compute();

}  // namespace headroom
