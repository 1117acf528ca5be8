// A checkpoint as the families see it: a config in Hugging Face's spelling and tensors under their Hugging Face names,
// whatever the container calls them. GGUF's own names and its order of rows end here.
// Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/low_rank.h"
#include "core/model/model_spec.h"

namespace headroom {

// Where row `row` of the matrix in Hugging Face's order stands in the file.
struct RowOrder {
  enum Kind {
    AsStored,
    Pairs,          // interleaved per head: new[2i] = old[i], new[2i + 1] = old[i + d/2]
    PartsOfGroups,  // all of q, then k, then v, where Hugging Face has q, k and v of one group, then of the next
    TurnedHeads,    // the matrix of each head is stored [in, out], so that no row stands together
  };
  Kind kind = AsStored;
  std::int64_t heads = 0;    // of Pairs; key heads of PartsOfGroups
  std::int64_t queries = 1;  // of a group

  [[nodiscard]] bool divides(std::int64_t rows) const;
  [[nodiscard]] std::int64_t place_of(std::int64_t row, std::int64_t rows) const;
};

// Values in few bits with scales beside them (core/model/weight_packing.h).
struct WeightPacking {
  enum Kind { Plain, Scaled, Mxfp4 };
  Kind kind = Plain;
  const TensorInfo* scales = nullptr;
  std::int64_t block_rows = 1, block_columns = 1;  // Scaled: what one scale is of
};

// A tensor of the file, or a part of one.
struct SourceTensor {
  const TensorInfo* info = nullptr;
  std::vector<std::int64_t> shape;
  std::int64_t first = 0;  // the element of the file's tensor where it begins
  RowOrder order = {};
  WeightPacking packing = {};
  LowRank low_rank = {};    // what an adapter adds to it
  bool of_adapter = false;  // it stands in place of the base's

  [[nodiscard]] static SourceTensor whole(const TensorInfo& info) { return {&info, info.shape}; }
  [[nodiscard]] bool reordered() const {
    return order.kind != RowOrder::AsStored || packing.kind == WeightPacking::Mxfp4;
  }
};
using SourceTensors = std::map<std::string, SourceTensor, std::less<>>;

// What a container does to every model, and what it does not tell.
struct ContainerNotes {
  double norm_offset = 0.0;  // is in the stored weights of norms already
  std::vector<std::string> warnings;
};

class ModelSource {
 public:
  // Corrupt where there is no config to read (hint: --config); Unsupported for a GGUF architecture that no
  // family has. A capture has no config; `sequence` is the one of its batch.
  [[nodiscard]] static Result<ModelSource> create(std::shared_ptr<const Checkpoint> checkpoint,
                                                  std::int64_t sequence = 0);

  // A config alone, of a model that has no weights yet: no tensor is found, and there is no checkpoint.
  [[nodiscard]] static ModelSource design(nlohmann::json config);

  // The same tensors under another config.
  [[nodiscard]] ModelSource with_config(nlohmann::json config) const;

  [[nodiscard]] bool has_weights() const { return checkpoint_ != nullptr; }
  [[nodiscard]] const Checkpoint& checkpoint() const { return *checkpoint_; }
  [[nodiscard]] const std::shared_ptr<const Checkpoint>& shared_checkpoint() const { return checkpoint_; }
  [[nodiscard]] std::int64_t sequence() const { return sequence_; }
  [[nodiscard]] const nlohmann::json& config() const { return *config_; }
  [[nodiscard]] const ContainerNotes& notes() const { return notes_; }
  [[nodiscard]] const SourceTensor* find(std::string_view name) const;
  [[nodiscard]] const SourceTensors& tensors() const { return tensors_; }

  // The used rows of a weight as [rows, columns], row-major, out.size() == rows · columns: transposed, cut and put into
  // order as the reference says. NotFound or Corrupt (shape) name the tensor.
  [[nodiscard]] Result<void> read(const WeightRef& weight, std::span<float> out) const;
  [[nodiscard]] Result<void> read(const WeightRef& weight, std::span<double> out) const;
  // Row `row` alone, columns() values (an embedding is never read whole).
  [[nodiscard]] Result<void> read_row(const WeightRef& weight, std::int64_t row, std::span<float> out) const;
  [[nodiscard]] Result<void> read_row(const WeightRef& weight, std::int64_t row, std::span<double> out) const;

  // Every weight of the model is there with the shape the model wants: Corrupt with the first ones expected and found.
  // Appends a warning for tensors that no part of the model uses.
  [[nodiscard]] Result<void> check_weights(const ModelSpec& model, std::vector<std::string>& warnings) const;

 private:
  ModelSource(std::shared_ptr<const Checkpoint> checkpoint, nlohmann::json config, SourceTensors tensors,
              ContainerNotes notes = {});
  template <typename Real>
  Result<void> read_as(const WeightRef& weight, std::span<Real> out) const;
  // Without what an adapter adds.
  template <typename Real>
  Result<void> read_stored(const SourceTensor& tensor, const WeightRef& weight, std::span<Real> out) const;
  template <typename Real>
  Result<void> read_row_as(const WeightRef& weight, std::int64_t row, std::span<Real> out) const;
  Result<const SourceTensor*> locate(const WeightRef& weight) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  std::shared_ptr<const nlohmann::json> config_;  // never null
  SourceTensors tensors_;
  ContainerNotes notes_;
  std::int64_t sequence_ = 0;
};

}  // namespace headroom
