#include "core/model/model_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/checkpoint/adapter_folder.h"
#include "core/checkpoint/dequantize.h"
#include "core/model/adapter.h"
#include "core/model/capture.h"
#include "core/model/gguf_model.h"
#include "core/model/weight_packing.h"

namespace headroom {
namespace {

// Wrappers that training loops leave in front of every name.
constexpr std::string_view kWrappers[] = {"_orig_mod.", "module."};

// Without wrappers, and LayerNorm's parameters as they are called today (BERT's first files: gamma and beta).
std::string unwrapped(std::string_view name) {
  for (const std::string_view wrapper : kWrappers)
    if (name.starts_with(wrapper)) return unwrapped(name.substr(wrapper.size()));
  for (const auto& [old_end, end] : {std::pair("LayerNorm.gamma", "weight"), std::pair("LayerNorm.beta", "bias")})
    if (name.ends_with(old_end)) return std::string(name.substr(0, name.rfind('.') + 1)) + end;
  return std::string(name);
}

// Buffers that files carry and no forward pass needs.
bool is_buffer(std::string_view name) {
  return name.ends_with(".rotary_emb.inv_freq") || name.ends_with(".attn.bias") ||
         name.ends_with(".attn.masked_bias") || name.ends_with(".attention.bias") ||
         name.ends_with(".attention.masked_bias") || name.ends_with(".attn_rot_embd.weight") ||
         name.ends_with("embeddings.position_ids") || name == "rope_freqs.weight" ||
         name == "rope_factors_short.weight" || name == "rope_factors_long.weight";
}

}  // namespace

bool RowOrder::divides(std::int64_t rows) const {
  const std::int64_t parts = kind == Pairs ? 2 : kind == PartsOfGroups ? queries + 2 : 1;
  return kind == AsStored || (heads > 0 && rows % (parts * heads) == 0);
}

std::int64_t RowOrder::place_of(std::int64_t row, std::int64_t rows) const {
  if (kind == AsStored || kind == TurnedHeads) return row;
  const std::int64_t head_rows = rows / heads, head = row / head_rows, i = row % head_rows;
  if (kind == Pairs) {
    const std::int64_t half = head_rows / 2;
    return head * head_rows + (i < half ? 2 * i : 2 * (i - half) + 1);
  }
  const std::int64_t part = head_rows / (queries + 2), block = i / part;  // of q, then k and v
  if (block < queries) return (head * queries + block) * part + i % part;
  return (heads * block + head) * part + i % part;
}

Result<ModelSource> ModelSource::create(std::shared_ptr<const Checkpoint> checkpoint, std::int64_t sequence) {
  if (is_capture(*checkpoint)) {
    ModelSource source(std::move(checkpoint), nlohmann::json::object(), {}, {});
    source.sequence_ = sequence;
    return source;
  }
  if (sequence != 0) {
    Error error(ErrorCode::InvalidArgument, "a checkpoint has no sequences");
    return error.in_file(checkpoint->path().string()).wanted("a capture for ::S", "a checkpoint");
  }
  if (checkpoint->format() == ContainerFormat::Gguf && checkpoint->config().is_null()) {
    HEADROOM_TRY(GgufModel model, translate_gguf(*checkpoint));
    if (const Adapter* adapter = checkpoint->adapter())
      HEADROOM_TRY_VOID(apply_adapter(*adapter, model.tensors, model.notes));
    return ModelSource(std::move(checkpoint), std::move(model.config), std::move(model.tensors),
                       std::move(model.notes));
  }
  nlohmann::json config = checkpoint->config();
  if (!config.is_object()) {
    Error error(ErrorCode::Corrupt, "there is no config.json that says how to run these tensors");
    error.in_file(checkpoint->path().string());
    error.advise("put config.json beside the weights, or give one: --config FILE, in the window: open PATH FILE");
    return error;
  }
  SourceTensors tensors;
  for (const TensorInfo& tensor : checkpoint->tensors())
    tensors.emplace(unwrapped(tensor.name), SourceTensor::whole(tensor));
  ContainerNotes notes;
  if (auto joined = join_scales(config, tensors, notes); !joined)
    return joined.error().in_file(
        (joined.error().code == ErrorCode::Unsupported ? checkpoint->config_path() : checkpoint->path()).string());
  if (const Adapter* adapter = checkpoint->adapter()) HEADROOM_TRY_VOID(apply_adapter(*adapter, tensors, notes));
  return ModelSource(std::move(checkpoint), std::move(config), std::move(tensors), std::move(notes));
}

ModelSource ModelSource::design(nlohmann::json config) { return ModelSource(nullptr, std::move(config), {}); }

ModelSource ModelSource::with_config(nlohmann::json config) const {
  ModelSource changed = *this;
  changed.config_ = std::make_shared<const nlohmann::json>(std::move(config));
  return changed;
}

ModelSource::ModelSource(std::shared_ptr<const Checkpoint> checkpoint, nlohmann::json config, SourceTensors tensors,
                         ContainerNotes notes)
    : checkpoint_(std::move(checkpoint)),
      config_(std::make_shared<const nlohmann::json>(std::move(config))),
      tensors_(std::move(tensors)),
      notes_(std::move(notes)) {}

const SourceTensor* ModelSource::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Result<const SourceTensor*> ModelSource::locate(const WeightRef& weight) const {
  const SourceTensor* tensor = find(weight.tensor);
  if (!tensor) {
    Error error(ErrorCode::Corrupt, "the checkpoint lacks a tensor that the model needs");
    error.at_tensor(weight.tensor).in_file(checkpoint_->path().string());
    error.wanted(shape_text(weight.stored_shape), "nothing");
    return error;
  }
  if (tensor->shape != weight.stored_shape) {
    Error error(ErrorCode::Corrupt, "a tensor does not have the shape that the config asks for");
    error.at_tensor(weight.tensor).in_file(checkpoint_->path().string());
    error.wanted(shape_text(weight.stored_shape), shape_text(tensor->shape));
    return error;
  }
  return tensor;
}

template <typename Real>
Result<void> ModelSource::read_as(const WeightRef& weight, std::span<Real> out) const {
  HEADROOM_TRY(const SourceTensor* tensor, locate(weight));
  HEADROOM_TRY_VOID(read_stored(*tensor, weight, out));
  return tensor->low_rank.present() ? add_low_rank(*checkpoint_, tensor->low_rank, weight, 0, out) : Result<void>();
}

template <typename Real>
Result<void> ModelSource::read_stored(const SourceTensor& tensor, const WeightRef& weight, std::span<Real> out) const {
  const std::int64_t rows = weight.rows();
  const std::int64_t columns = weight.columns();
  const std::int64_t all_rows = weight.all_rows();
  HEADROOM_CHECK(static_cast<std::int64_t>(out.size()) == rows * columns, "size of a weight");
  HEADROOM_CHECK(rows == 0 || weight.place_of(rows - 1) < all_rows, "rows of a weight");
  const std::int64_t begin = tensor.first + std::max<std::int64_t>(weight.slice, 0) * weight.stored_elements();
  // Short pieces are picked from the whole instead.
  constexpr std::int64_t kFewestTogether = 256;
  const std::int64_t together = weight.row_group > 0 ? weight.row_group : rows;
  const bool in_pieces = together == rows || together * columns >= kFewestTogether;
  // Blocks of quantised values lie within rows; those of a vector are read whole.
  const std::int64_t block = std::max<std::int64_t>(block_layout(tensor.info->dtype).elements, 1);
  const bool in_blocks = columns % block == 0;
  if (!weight.transposed && in_pieces && !tensor.reordered() && in_blocks) {
    for (std::int64_t row = 0; row < rows; row += together) {
      const std::int64_t count = std::min(together, rows - row);
      HEADROOM_TRY_VOID(
          read_values(*checkpoint_, tensor, begin + weight.place_of(row) * columns,
                      out.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(count * columns))));
    }
    return {};
  }

  if (!tensor.order.divides(all_rows)) {
    Error error(ErrorCode::Corrupt, "the rows of a projection do not divide among its heads");
    error.at_tensor(weight.tensor).in_file(checkpoint_->path().string());
    return error.wanted("", format("%lld rows, %lld heads", static_cast<long long>(all_rows),
                                   static_cast<long long>(tensor.order.heads)));
  }
  const bool all = !in_blocks;
  std::vector<Real> stored(static_cast<std::size_t>(all ? tensor.info->element_count() : all_rows * columns));
  HEADROOM_TRY_VOID(read_values(*checkpoint_, tensor, all ? 0 : begin, std::span<Real>(stored)));
  if (all) stored.erase(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(begin));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t from = tensor.order.place_of(weight.place_of(row), all_rows);
    Real* target = out.data() + row * columns;
    if (weight.transposed) {
      for (std::int64_t column = 0; column < columns; ++column)
        target[column] = stored[static_cast<std::size_t>(column * all_rows + from)];
    } else if (tensor.order.kind == RowOrder::TurnedHeads) {
      const std::int64_t head_rows = all_rows / tensor.order.heads;
      const std::int64_t first = from / head_rows * columns * head_rows + from % head_rows;
      for (std::int64_t column = 0; column < columns; ++column)
        target[column] = stored[static_cast<std::size_t>(first + column * head_rows)];
    } else {
      std::copy_n(stored.data() + from * columns, columns, target);
    }
  }
  return {};
}

template <typename Real>
Result<void> ModelSource::read_row_as(const WeightRef& weight, std::int64_t row, std::span<Real> out) const {
  HEADROOM_TRY(const SourceTensor* tensor, locate(weight));
  HEADROOM_CHECK(!weight.transposed && weight.slice < 0 && !tensor->reordered(),
                 "single rows come from plain matrices");
  HEADROOM_TRY_VOID(read_values(*checkpoint_, *tensor, tensor->first + weight.place_of(row) * weight.columns(), out));
  return tensor->low_rank.present() ? add_low_rank(*checkpoint_, tensor->low_rank, weight, row, out) : Result<void>();
}

Result<void> ModelSource::read(const WeightRef& weight, std::span<float> out) const { return read_as(weight, out); }
Result<void> ModelSource::read(const WeightRef& weight, std::span<double> out) const { return read_as(weight, out); }
Result<void> ModelSource::read_row(const WeightRef& weight, std::int64_t row, std::span<float> out) const {
  return read_row_as(weight, row, out);
}
Result<void> ModelSource::read_row(const WeightRef& weight, std::int64_t row, std::span<double> out) const {
  return read_row_as(weight, row, out);
}

Result<void> ModelSource::check_weights(const ModelSpec& model, std::vector<std::string>& warnings) const {
  std::set<std::string, std::less<>> used;
  std::set<std::pair<const TensorInfo*, std::int64_t>> places;  // a tensor of GGUF may have two names
  std::vector<Error> errors;
  for_each_weight(model, [&](const WeightRef& weight, std::string_view, std::int64_t) {
    used.insert(weight.tensor);
    auto located = locate(weight);
    if (!located) return errors.push_back(std::move(located.error()));
    places.emplace((*located)->info, (*located)->first);
  });
  if (!errors.empty()) {
    Error error = errors.front();
    if (errors.size() > 1) {
      std::string others;
      for (std::size_t i = 1; i < std::min<std::size_t>(errors.size(), 4); ++i)
        others += (i > 1 ? ", " : "") + errors[i].tensor + " " + errors[i].expected + " ≠ " + errors[i].found;
      error.advise(format("%zu tensors do not fit the config; also: ", errors.size()) + others);
    }
    return error;
  }
  if (const Adapter* adapter = checkpoint_->adapter())
    if (auto fits = check_adapter(tensors_, model); !fits) return fits.error().in_file(adapter->config_path.string());
  std::vector<std::string_view> unused;
  const auto is_set_aside = [&](std::string_view name) {
    return std::ranges::any_of(model.set_aside, [&](const std::string& begin) { return name.starts_with(begin); });
  };
  for (const auto& [name, tensor] : tensors_)
    if (!is_set_aside(name) && !used.contains(name) && !places.contains({tensor.info, tensor.first}) &&
        !is_buffer(name) && !(model.tied && name.ends_with("lm_head.weight")))
      unused.push_back(name);
  if (!unused.empty())
    warnings.push_back(format("%zu tensors are not used by the model, the first is ", unused.size()) +
                       std::string(unused.front()));
  return {};
}

}  // namespace headroom
