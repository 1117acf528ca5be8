#include "core/compute/disentangled.h"

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/maps/disentangled_masks.h"

namespace headroom {
namespace {

// scale · x_h (table_h)ᵀ for the block of each head: [heads, length, rows of the table].
template <typename Real>
std::vector<Real> products(const AttentionSpec& attention, const at::Tensor& x, const at::Tensor& table, bool of_keys) {
  std::vector<Real> values;
  if (!table.defined()) return values;
  const at::ScalarType real = c10::CppTypeToScalarType<Real>::value;
  const at::Tensor rows = table.to(x.device(), real).unflatten(1, {-1, attention.head_dim});
  const std::int64_t size = x.size(0) * rows.size(0);
  values.resize(attention.heads.size() * static_cast<std::size_t>(size));
  for (std::size_t h = 0; h < attention.heads.size(); ++h) {
    const HeadProgram::Map& map = attention.heads[h].first;
    // A head's own block of the table stands where its block of the other side does.
    const at::Tensor product = at::mm(x.select(1, of_keys ? map.key_block : map.query_block).to(real),
                                      rows.select(1, of_keys ? map.query_block : map.key_block).t())
                                   .mul_(attention.scale);
    at::from_blob(values.data() + static_cast<std::int64_t>(h) * size, product.sizes(), real).copy_(product);
  }
  return values;
}

}  // namespace

Result<DisentangledWeights> load_disentangled(const WeightProvider& loader, const DisentangledSpec& spec) {
  DisentangledWeights weights;
  if (!spec.present()) return weights;
  HEADROOM_TRY(const at::Tensor table, loader.load(spec.embedding));
  HEADROOM_TRY(const Norm norm, loader.load(spec.norm));
  const at::Tensor rows = norm(table);
  HEADROOM_TRY(const Linear key, loader.load(spec.key));
  HEADROOM_TRY(const Linear query, loader.load(spec.query));
  if (key.weight.defined()) weights.keys = key(rows);
  if (query.weight.defined()) weights.queries = query(rows);
  return weights;
}

template <typename Real>
std::shared_ptr<const HeadMasks> disentangled_masks(const AttentionSpec& attention, const DisentangledWeights& weights,
                                                    const at::Tensor& queries, const at::Tensor& keys) {
  if (!attention.disentangled.present()) return nullptr;
  typename DisentangledMasks<Real>::Tables tables;
  tables.heads = static_cast<std::int64_t>(attention.heads.size());
  tables.length = queries.size(0);
  tables.columns = 2 * attention.disentangled.span;
  tables.places = disentangled_rows<Real>(attention.disentangled, tables.length);
  tables.by_row = products<Real>(attention, queries, weights.keys, false);
  tables.by_key = products<Real>(attention, keys, weights.queries, true);
  return std::make_shared<const DisentangledMasks<Real>>(std::move(tables));
}

template std::shared_ptr<const HeadMasks> disentangled_masks<float>(const AttentionSpec&, const DisentangledWeights&,
                                                                    const at::Tensor&, const at::Tensor&);
template std::shared_ptr<const HeadMasks> disentangled_masks<double>(const AttentionSpec&, const DisentangledWeights&,
                                                                     const at::Tensor&, const at::Tensor&);

}  // namespace headroom
