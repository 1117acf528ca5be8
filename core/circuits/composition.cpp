#include "core/circuits/composition.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/base/all_threads.h"
#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/base/process_memory.h"
#include "core/circuits/spectra.h"
#include "kernels/cpu/product.h"

namespace headroom {
namespace {

// [D, heads · channels] in float32: the matrices of a layer's heads beside each other, each divided by the norm of its
// circuit, so that a composition is the norm of one product. `norms`: 0 for a head that has no such circuit.
struct Side {
  std::int64_t hidden = 0, channels = 0;
  std::vector<float> values;
  std::vector<bool> present;

  [[nodiscard]] bool any() const { return std::ranges::find(present, true) != present.end(); }
};

class SideMaker {
 public:
  SideMaker(std::size_t heads, std::int64_t hidden, std::int64_t channels) {
    side_.hidden = hidden;
    side_.channels = channels;
    side_.values.assign(heads * static_cast<std::size_t>(hidden * channels), 0.0F);
    side_.present.assign(heads, false);
  }

  // left rightᵀ is the circuit; what is kept is left R_rightᵀ, whose products have the same norms.
  void put(std::size_t head, const Thin& left, const Thin& right) {
    const Thin kept = times_turned(left, triangle(right));
    const double norm = frobenius(kept) > 0.0 ? frobenius(times_turned(triangle(left), triangle(right))) : 0.0;
    if (!(norm > 0.0) || !std::isfinite(norm)) return;
    const std::int64_t stride = side_.channels * static_cast<std::int64_t>(side_.present.size());
    for (std::int64_t r = 0; r < kept.rows; ++r)
      for (std::int64_t c = 0; c < kept.columns; ++c)
        side_.values[static_cast<std::size_t>(r * stride + static_cast<std::int64_t>(head) * side_.channels + c)] =
            static_cast<float>(kept.row(r)[c] / norm);
    side_.present[head] = true;
  }

  [[nodiscard]] Side take() { return std::move(side_); }

 private:
  Side side_;
};

// What a layer's heads read, and what they write.
struct LayerSides {
  Side query[2], key[2], value, output;
};

Result<LayerSides> read_sides(const ModelSource& source, const ModelSpec& model, std::int64_t layer,
                              const std::vector<std::int64_t>& heads) {
  LayerSides sides;
  HEADROOM_TRY(const LayerFactors factors, read_factors(source, model, layer));
  const AttentionSpec& attention = model.blocks[static_cast<std::size_t>(layer)].attention;
  const std::size_t count = heads.size();
  const auto program = [&](std::size_t i) -> const HeadProgram* {
    return heads[i] < static_cast<std::int64_t>(attention.heads.size())
               ? &attention.heads[static_cast<std::size_t>(heads[i])]
               : nullptr;
  };
  if (factors.qk_refused.empty() && !factors.query.empty()) {
    for (int m = 0; m < 2; ++m) {
      SideMaker query(count, model.hidden_size, attention.head_dim), key(count, model.hidden_size, attention.head_dim);
      for (std::size_t i = 0; i < count; ++i) {
        const HeadProgram* head = program(i);
        if (!head) continue;
        const HeadProgram::Map& map = m == 0 ? head->first : head->second;
        if (map.query_block < 0) continue;
        const Thin& q = factors.query[static_cast<std::size_t>(map.query_block)];
        const Thin& k = factors.key[static_cast<std::size_t>(map.key_block)];
        query.put(i, q, k);  // ‖W_QKᵀ X‖ = ‖K Qᵀ X‖ = ‖R_K Qᵀ X‖
        key.put(i, k, q);
      }
      sides.query[m] = query.take();
      sides.key[m] = key.take();
    }
  }
  if (factors.ov_refused.empty() && !factors.output.empty()) {
    SideMaker value(count, model.hidden_size, attention.context_dim()),
        output(count, model.hidden_size, attention.context_dim());
    for (std::size_t i = 0; i < count; ++i) {
      const HeadProgram* head = program(i);
      if (!head) continue;
      const Thin values = factors.values_of(*head);
      const Thin& written = factors.output[static_cast<std::size_t>(heads[i])];
      value.put(i, values, written);
      output.put(i, written, values);
    }
    sides.value = value.take();
    sides.output = output.take();
  }
  return sides;
}

// ‖readerᵀ writer‖_F for each pair of heads.
std::vector<double> norms_of_products(const Side& reader, const Side& writer) {
  if (!reader.any() || !writer.any()) return {};
  const auto readers = static_cast<std::int64_t>(reader.present.size()),
             writers = static_cast<std::int64_t>(writer.present.size());
  const std::int64_t columns = writers * writer.channels, stride = readers * reader.channels;
  std::vector<double> result(static_cast<std::size_t>(readers * writers), kNaN);
  on_all_threads(readers, [&](std::int64_t r) {
    if (!reader.present[static_cast<std::size_t>(r)]) return;
    std::vector<float> products(static_cast<std::size_t>(reader.channels * columns), 0.0F);
    kernels::add_product(reader.values.data() + r * reader.channels, stride, writer.values.data(), columns,
                         reader.hidden, reader.channels, columns, products.data(), columns);
    for (std::int64_t w = 0; w < writers; ++w) {
      if (!writer.present[static_cast<std::size_t>(w)]) continue;
      double sum = 0.0;
      for (std::int64_t i = 0; i < reader.channels; ++i)
        for (std::int64_t j = 0; j < writer.channels; ++j) {
          const double value = products[static_cast<std::size_t>(i * columns + w * writer.channels + j)];
          sum += value * value;
        }
      result[static_cast<std::size_t>(r * writers + w)] = std::sqrt(sum);
    }
  });
  return result;
}

}  // namespace

double composition_null(std::int64_t hidden) { return 1.0 / std::sqrt(static_cast<double>(hidden)); }

double composition_bytes(const ModelSpec& model, const CompositionRequest& request) {
  double numbers = 0.0;
  for (const std::int64_t layer : request.layers)
    numbers += static_cast<double>(request.heads.size()) * static_cast<double>(model.hidden_size) *
               static_cast<double>(model.blocks[static_cast<std::size_t>(layer)].attention.context_dim());
  return 4.0 * numbers;
}

Result<void> measure_composition(const ModelSource& source, const ModelSpec& model, const CompositionRequest& request,
                                 const std::function<Result<void>(const Composition&)>& take,
                                 const CircuitProgress& progress, const CircuitStop& stop) {
  const FreeMemory memory = free_memory();
  const double bytes = composition_bytes(model, request);
  if (bytes > memory.bytes) {
    Error error(ErrorCode::OutOfMemory, "what all heads write does not fit into memory");
    error.wanted(format("%.1f GB", bytes / 1e9), format("%.1f GB, %s", memory.bytes / 1e9, memory.limit.c_str()));
    return error.advise("fewer layers or heads: --layers, --heads");
  }
  std::vector<std::pair<std::int64_t, Side>> earlier;
  const double pairs = static_cast<double>(request.layers.size() * (request.layers.size() - 1)) / 2.0;
  double done = 0.0;
  for (const std::int64_t layer : request.layers) {
    HEADROOM_TRY(LayerSides sides, read_sides(source, model, layer, request.heads));
    for (const auto& [from, output] : earlier) {
      if (stop && stop()) return Error(ErrorCode::Cancelled, "stopped while compositions were computed");
      Composition composition;
      composition.layer = layer;
      composition.from_layer = from;
      for (int m = 0; m < 2; ++m) {
        composition.q[m] = norms_of_products(sides.query[m], output);
        composition.k[m] = norms_of_products(sides.key[m], output);
      }
      composition.v = norms_of_products(sides.value, output);
      HEADROOM_TRY_VOID(take(composition));
      done += 1.0;
      if (progress) progress(done / pairs);
    }
    earlier.emplace_back(layer, std::move(sides.output));
  }
  return {};
}

}  // namespace headroom
