#include "core/sparse/block_measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/numbers.h"

namespace headroom {
namespace {

using Bits = std::vector<std::uint64_t>;

void set_bit(std::span<std::uint64_t> bits, std::int32_t block) {
  bits[static_cast<std::size_t>(block) / 64] |= std::uint64_t{1} << (block % 64);
}

std::int64_t count_bits(std::span<const std::uint64_t> bits) {
  std::int64_t count = 0;
  for (const std::uint64_t word : bits) count += std::popcount(word);
  return count;
}

}  // namespace

std::vector<std::int64_t> rows_with_choice(const kernels::Mask& mask, const BlockRules& rules) {
  std::vector<std::int64_t> rows(rules.tops.size(), 0);
  for (std::int64_t row = 0; row < mask.length; ++row) {
    const std::int64_t seen = std::ssize(blocks_of_row(mask, row, rules).seen);
    for (std::size_t t = 0; t < rows.size(); ++t) rows[t] += seen > rules.tops[t] ? 1 : 0;
  }
  return rows;
}

kernels::Mask block_mask(const AttentionSpec& attention, std::int64_t length) {
  kernels::Mask mask;
  mask.length = length;
  mask.causal = attention.causal;
  mask.window = attention.window;
  mask.chunk = attention.chunk;
  mask.always_visible = attention.always_visible;
  return mask;
}

double LayerBlocks::Shares::mean() const { return count > 0.0 ? sum / count : kNaN; }

LayerBlocks::LayerBlocks(const BlockGroups& groups, const BlockRules& rules, LayerChoices choices)
    : groups_(groups), rules_(rules), choices_(std::move(choices)) {
  const std::size_t tops = rules.tops.size();
  heads_.resize(groups.map_of_head.size());
  for (HeadSums& head : heads_) {
    head.recall.resize(kBlockMaps * kBlockChoices * tops);
    head.net.resize(kBlockChoices * tops);
    head.net_all.resize(tops);
  }
  jaccard_.resize(groups.maps.size() * groups.maps.size() * tops);
  chance_.resize(tops);
  read_[0].resize(heads_.size() * tops);
  read_[1].resize(groups.groups * tops);
  count_agreement();
}

void LayerBlocks::count_agreement() {
  const std::size_t maps = groups_.maps.size(), tops = rules_.tops.size();
  std::int32_t last = 0;
  for (const std::vector<std::int32_t>& order : choices_.orders)
    for (const std::int32_t block : order) last = std::max(last, block);
  const std::size_t words = static_cast<std::size_t>(last) / 64 + 1;
  Bits bits(maps * words), together(words);
  const auto of_map = [&](std::size_t m) { return std::span(bits).subspan(m * words, words); };
  std::map<std::pair<std::int64_t, std::int64_t>, double> chances;
  for (std::int64_t row = 0; row < std::ssize(choices_.seen); ++row) {
    std::ranges::fill(bits, 0);
    const std::int64_t seen = choices_.seen[static_cast<std::size_t>(row)],
                       always = choices_.always[static_cast<std::size_t>(row)];
    std::int64_t from = always;  // what always is chosen says nothing of agreement
    for (std::size_t t = 0; t < tops && seen > rules_.tops[t]; ++t) {
      const std::int64_t k = rules_.tops[t], fixed = std::min(k, always);
      for (std::size_t m = 0; m < maps; ++m) {
        const std::span<const std::int32_t> order = choices_.order(choices_.alone[m], row);
        for (std::int64_t i = from; i < k; ++i) set_bit(of_map(m), order[static_cast<std::size_t>(i)]);
      }
      from = std::max(from, k);
      const auto unite = [&](Shares& read, const auto& belongs) {
        std::ranges::fill(together, 0);
        for (std::size_t m = 0; m < maps; ++m)
          if (belongs(groups_.maps[m]))
            for (std::size_t w = 0; w < words; ++w) together[w] |= of_map(m)[w];
        read.add(static_cast<double>(fixed + count_bits(together)));
      };
      for (std::size_t h = 0; h < heads_.size(); ++h)
        unite(read_[0][h * tops + t], [&](const BlockGroups::Map& map) { return map.head == h; });
      for (std::size_t g = 0; g < groups_.groups; ++g)
        unite(read_[1][g * tops + t],
              [&](const BlockGroups::Map& map) { return groups_.group_of_head[map.head] == g; });
      const std::int64_t chosen = k - fixed;
      if (chosen == 0) continue;
      const auto [chance, is_new] = chances.emplace(std::pair(chosen, seen - fixed), 0.0);
      if (is_new) chance->second = chance_jaccard(chosen, seen - fixed);
      chance_[t].add(chance->second);
      for (std::size_t a = 0; a < maps; ++a)
        for (std::size_t b = a + 1; b < maps; ++b) {
          std::int64_t common = 0;
          for (std::size_t w = 0; w < words; ++w) common += std::popcount(of_map(a)[w] & of_map(b)[w]);
          jaccard_[(a * maps + b) * tops + t].add(static_cast<double>(common) /
                                                  static_cast<double>(2 * chosen - common));
        }
    }
  }
}

void LayerBlocks::add_rows(std::int64_t head, BlockMap map, std::int64_t row, std::int64_t rows,
                           std::span<const double> weights) {
  const auto keys = static_cast<std::int64_t>(weights.size()) / rows;
  const auto blocks = static_cast<std::size_t>((keys + rules_.size - 1) / rules_.size);
  for (std::int64_t r = 0; r < rows; ++r) {
    mass_.assign(blocks, 0.0);
    signed_mass_.assign(blocks, 0.0);
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto begin = static_cast<std::int64_t>(b) * rules_.size;
      const double* const values = weights.data() + r * keys;
      for (std::int64_t j = begin; j < std::min(begin + rules_.size, keys); ++j)
        mass_[b] += std::abs(values[j]), signed_mass_[b] += values[j];
    }
    add_row(heads_[static_cast<std::size_t>(head)], static_cast<std::size_t>(head), map, row + r);
  }
}

double LayerBlocks::kept(std::span<const double> by_block, std::span<const std::int32_t> order, std::size_t k) const {
  double sum = 0.0;
  for (const std::int32_t block : order.first(k))
    if (block >= 0) sum += by_block[static_cast<std::size_t>(block)];
  return sum;
}

void LayerBlocks::add_row(HeadSums& sums, std::size_t head, BlockMap map, std::int64_t row) {
  const double total = std::accumulate(mass_.begin(), mass_.end(), 0.0);
  finite_ = finite_ && std::isfinite(total);
  if (!std::isfinite(total) || total <= 0.0) return;
  const double signed_total = std::accumulate(signed_mass_.begin(), signed_mass_.end(), 0.0);
  const std::size_t tops = rules_.tops.size(), most = choices_.most;
  const std::int64_t seen = choices_.seen[static_cast<std::size_t>(row)];
  best_.resize(mass_.size());
  std::iota(best_.begin(), best_.end(), 0);
  std::ranges::partial_sort(best_, best_.begin() + static_cast<std::ptrdiff_t>(std::min(most, best_.size())),
                            [&](std::int32_t a, std::int32_t b) {
                              const double x = mass_[static_cast<std::size_t>(a)],
                                           y = mass_[static_cast<std::size_t>(b)];
                              return x > y || (x == y && a < b);
                            });
  const auto& own = groups_.map_of_head[head];
  const std::span<const std::int32_t> pair = choices_.order(choices_.pair[head], row),
                                      group = choices_.order(choices_.group[groups_.group_of_head[head]], row);
  for (std::size_t t = 0; t < tops && seen > rules_.tops[t]; ++t) {
    const auto k = static_cast<std::size_t>(rules_.tops[t]);
    const auto share = [&](std::span<const double> by_block, double all, BlockChoice choice) {
      if (choice == BlockChoice::Pair) return kept(by_block, pair, k);
      if (choice == BlockChoice::Group) return kept(by_block, group, k);
      if (choice == BlockChoice::Oracle) return kept(by_block, best_, k);
      if (choice == BlockChoice::Chance) {
        const std::int64_t fixed = std::min(rules_.tops[t], choices_.always[static_cast<std::size_t>(row)]);
        const double certain = kept(by_block, pair, static_cast<std::size_t>(fixed));
        return certain +
               (all - certain) * static_cast<double>(rules_.tops[t] - fixed) / static_cast<double>(seen - fixed);
      }
      // The net weight of a key is there where both maps have read it.
      const std::int64_t only = map == BlockMap::First    ? own[0]
                                : map == BlockMap::Second ? own[1]
                                : own[0] < 0              ? own[1]
                                : own[1] < 0              ? own[0]
                                                          : -1;
      if (only >= 0) return kept(by_block, choices_.order(choices_.alone[static_cast<std::size_t>(only)], row), k);
      const auto first = choices_.order(choices_.alone[static_cast<std::size_t>(own[0])], row).first(k),
                 second = choices_.order(choices_.alone[static_cast<std::size_t>(own[1])], row).first(k);
      double sum = 0.0;
      for (const std::int32_t block : first)
        if (std::ranges::find(second, block) != second.end()) sum += by_block[static_cast<std::size_t>(block)];
      return sum;
    };
    for (std::size_t c = 0; c < kBlockChoices; ++c) {
      const auto choice = static_cast<BlockChoice>(c);
      sums.recall[(static_cast<std::size_t>(map) * kBlockChoices + c) * tops + t].add(share(mass_, total, choice) /
                                                                                      total);
      if (map == BlockMap::Net) sums.net[c * tops + t].add(share(signed_mass_, signed_total, choice));
    }
    if (map == BlockMap::Net) sums.net_all[t].add(signed_total);
  }
}

double LayerBlocks::mean_agreement(std::size_t head, BlockRelation relation, std::size_t top) const {
  const std::size_t tops = rules_.tops.size(), maps = groups_.maps.size();
  if (relation == BlockRelation::Chance) return chance_[top].mean();
  Shares mean;
  for (std::size_t a = 0; a < maps; ++a)
    for (std::size_t b = 0; b < maps; ++b) {
      if (a == b || groups_.maps[a].head != head) continue;
      const std::size_t other = groups_.maps[b].head;
      const bool same_group = groups_.group_of_head[other] == groups_.group_of_head[head];
      const BlockRelation found = other == head ? BlockRelation::Pair
                                  : same_group  ? BlockRelation::Group
                                                : BlockRelation::Other;
      if (found != relation) continue;
      const double value = jaccard_[(std::min(a, b) * maps + std::max(a, b)) * tops + top].mean();
      if (std::isfinite(value)) mean.add(value);
    }
  return mean.mean();
}

void LayerBlocks::finish(std::size_t layer, const ChoiceLayout& layout, std::span<float> sequence) const {
  if (!finite_) return;  // of some rows it has numbers, which are not those of the sequence
  const std::size_t tops = rules_.tops.size();
  const auto put = [&](BlockNumber number, std::size_t head, std::size_t element, double value) {
    sequence[layout.begin(number) + (layer * layout.heads() + head) * layout.elements(number) + element] =
        static_cast<float>(value);
  };
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const HeadSums& sums = heads_[h];
    for (std::size_t e = 0; e < sums.recall.size(); ++e) put(BlockNumber::Recall, h, e, sums.recall[e].mean());
    for (std::size_t e = 0; e < sums.net.size(); ++e) put(BlockNumber::NetMass, h, e, sums.net[e].mean());
    for (std::size_t t = 0; t < tops; ++t) {
      put(BlockNumber::NetMassAll, h, t, sums.net_all[t].mean());
      put(BlockNumber::BlocksRead, h, t, read_[0][h * tops + t].mean());
      put(BlockNumber::BlocksRead, h, tops + t, read_[1][groups_.group_of_head[h] * tops + t].mean());
      for (std::size_t r = 0; r < kBlockRelations; ++r)
        put(BlockNumber::Agreement, h, r * tops + t, mean_agreement(h, static_cast<BlockRelation>(r), t));
    }
  }
}

Result<void> BlockObserver::on_exact_block(std::int64_t /*layer*/, ExactBlock kind, std::int64_t block,
                                           std::int64_t rows, std::span<const double> values) {
  if (kind != ExactBlock::Query && kind != ExactBlock::Key) return {};
  std::vector<std::vector<double>>& blocks = kind == ExactBlock::Query ? products_.queries : products_.keys;
  if (static_cast<std::int64_t>(blocks.size()) <= block) blocks.resize(static_cast<std::size_t>(block) + 1);
  blocks[static_cast<std::size_t>(block)].assign(values.begin(), values.end());
  products_.head_dim = static_cast<std::int64_t>(values.size()) / rows;
  length_ = rows;
  return {};
}

Result<void> BlockObserver::on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row,
                                          std::int64_t rows, std::span<const double> values) {
  const AttentionSpec& attention = model_.blocks[static_cast<std::size_t>(layer)].attention;
  if (!layer_) {
    groups_ = block_groups(attention);
    HEADROOM_TRY(LayerChoices choices,
                 choose_blocks(groups_, products_, block_mask(attention, length_), rules_, stop_));
    products_ = {};
    layer_.emplace(groups_, rules_, std::move(choices));
  }
  check_.add(attention.heads[static_cast<std::size_t>(head)], layer, head, component, row, rows, values);
  layer_->add_rows(head, component < 0 ? BlockMap::Net : static_cast<BlockMap>(component), row, rows, values);
  return {};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as it is declared
Result<void> BlockObserver::on_layer(LayerRecord record) {
  const auto place = static_cast<std::size_t>(std::ranges::find(layers_, record.layer) - layers_.begin());
  if (layer_) layer_->finish(place, layout_, values_);
  layer_.reset();
  return {};
}

}  // namespace headroom
