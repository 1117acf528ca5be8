#include "core/sparse/block_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::pair<std::string_view, AlwaysChosen> kAlwaysWords[] = {
    {"own", AlwaysChosen::Own}, {"local", AlwaysChosen::Local}, {"none", AlwaysChosen::None}};

std::size_t root_of(std::vector<std::size_t>& parent, std::size_t head) {
  while (parent[head] != head) head = parent[head] = parent[parent[head]];
  return head;
}

// The mean over the keys of a block that a row sees, [head_dim]. Most blocks are seen whole, by most rows.
class PooledKeys {
 public:
  PooledKeys(const LayerProducts& products, std::int64_t size) : products_(products), size_(size) {
    const auto dim = static_cast<std::size_t>(products.head_dim);
    for (const std::vector<double>& keys : products.keys) {
      const auto rows = static_cast<std::int64_t>(dim == 0 ? 0 : keys.size() / dim);
      std::vector<double>& pooled = whole_.emplace_back();
      for (std::int64_t key = 0; key + size <= rows; key += size) {
        pooled.resize(pooled.size() + dim, 0.0);
        add(keys, {key, key + size}, std::span(pooled).last(dim));
        for (double& value : std::span(pooled).last(dim)) value /= static_cast<double>(size);
      }
    }
    own_.resize(dim);
  }

  // `ranges`: what the row sees, ascending.
  std::span<const double> of(std::int64_t key_block, std::int64_t block, std::span<const kernels::KeyRange> ranges) {
    const kernels::KeyRange all{block * size_, (block + 1) * size_};
    const auto dim = static_cast<std::size_t>(products_.head_dim);
    const std::vector<double>& whole = whole_[static_cast<std::size_t>(key_block)];
    for (const kernels::KeyRange& range : ranges)
      if (range.begin <= all.begin && range.end >= all.end &&
          (static_cast<std::size_t>(block) + 1) * dim <= whole.size())
        return std::span(whole).subspan(static_cast<std::size_t>(block) * dim, dim);
    std::ranges::fill(own_, 0.0);
    std::int64_t count = 0;
    for (const kernels::KeyRange& range : ranges) {
      const kernels::KeyRange part{std::max(range.begin, all.begin), std::min(range.end, all.end)};
      if (part.size() <= 0) continue;
      add(products_.keys[static_cast<std::size_t>(key_block)], part, own_);
      count += part.size();
    }
    for (double& value : own_) value /= static_cast<double>(count);
    return own_;
  }

 private:
  void add(const std::vector<double>& keys, kernels::KeyRange range, std::span<double> sum) const {
    for (std::int64_t key = range.begin; key < range.end; ++key) {
      const double* const values = keys.data() + key * products_.head_dim;
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += values[c];
    }
  }

  const LayerProducts& products_;
  std::int64_t size_;
  std::vector<std::vector<double>> whole_;  // by key block, [blocks that are whole, head_dim]
  std::vector<double> own_;
};

// Which order each map, head and group has, and of which maps the mean score makes it.
std::vector<std::vector<std::size_t>> choosers(const BlockGroups& groups, LayerChoices& choices) {
  std::vector<std::vector<std::size_t>> maps_of;
  std::map<std::vector<std::size_t>, std::size_t> known;
  const auto place = [&](const std::vector<std::size_t>& maps) {
    const auto [found, is_new] = known.emplace(maps, maps_of.size());
    if (is_new) maps_of.push_back(maps);
    return found->second;
  };
  for (std::size_t m = 0; m < groups.maps.size(); ++m) choices.alone.push_back(place({m}));
  std::vector<std::vector<std::size_t>> of_group(groups.groups);
  for (std::size_t h = 0; h < groups.map_of_head.size(); ++h) {
    std::vector<std::size_t> own;
    for (const std::int64_t m : groups.map_of_head[h])
      if (m >= 0) own.push_back(static_cast<std::size_t>(m));
    choices.pair.push_back(place(own));
    std::vector<std::size_t>& all = of_group[groups.group_of_head[h]];
    all.insert(all.end(), own.begin(), own.end());
  }
  for (const std::vector<std::size_t>& maps : of_group) choices.group.push_back(place(maps));
  return maps_of;
}

}  // namespace

Result<AlwaysChosen> parse_always_chosen(std::string_view word) {
  for (const auto& [name, always] : kAlwaysWords)
    if (name == word) return always;
  return Error(ErrorCode::InvalidArgument, "these blocks are not known as always chosen")
      .at_tensor("--always")
      .wanted("own, local or none", std::string(word));
}

std::string_view always_chosen_name(AlwaysChosen always) {
  return std::ranges::find(kAlwaysWords, always, [](const auto& entry) { return entry.second; })->first;
}

BlockGroups block_groups(const AttentionSpec& attention) {
  BlockGroups groups;
  const std::size_t heads = attention.heads.size();
  std::vector<std::size_t> parent(heads);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  std::map<std::pair<bool, std::int64_t>, std::size_t> first_with;  // of keys, or of values
  const auto join = [&](std::size_t head, bool of_keys, std::int64_t block) {
    const auto [found, is_new] = first_with.emplace(std::pair(of_keys, block), head);
    if (is_new) return;
    const std::size_t a = root_of(parent, found->second), b = root_of(parent, head);
    parent[std::max(a, b)] = std::min(a, b);
  };
  for (std::size_t h = 0; h < heads; ++h) {
    const HeadProgram& program = attention.heads[h];
    groups.map_of_head.push_back({-1, -1});
    const HeadProgram::Map* const maps[] = {program.has_first() ? &program.first : nullptr,
                                            program.has_second() ? &program.second : nullptr};
    for (std::size_t m = 0; m < 2; ++m) {
      if (maps[m] == nullptr) continue;
      groups.map_of_head[h][m] = std::ssize(groups.maps);
      groups.maps.push_back({h, maps[m]->query_block, maps[m]->key_block, attention.scale / program.temperature});
      join(h, true, maps[m]->key_block);
      for (const std::int64_t value : maps[m]->value_blocks) join(h, false, value);
    }
  }
  std::map<std::size_t, std::size_t> number;
  for (std::size_t h = 0; h < heads; ++h)
    groups.group_of_head.push_back(number.emplace(root_of(parent, h), number.size()).first->second);
  groups.groups = number.size();
  return groups;
}

RowBlocks blocks_of_row(const kernels::Mask& mask, std::int64_t row, const BlockRules& rules) {
  RowBlocks blocks;
  std::vector<kernels::KeyRange> ranges;
  mask.segments(row, ranges);
  for (const kernels::KeyRange& range : ranges)
    for (std::int64_t b = range.begin / rules.size; b <= (range.end - 1) / rules.size; ++b)
      if (blocks.seen.empty() || blocks.seen.back() < b) blocks.seen.push_back(b);
  const std::int64_t own = (row + mask.first_query) / rules.size;
  std::vector<std::int64_t> wanted;
  if (rules.always == AlwaysChosen::Own) wanted = {own};
  if (rules.always == AlwaysChosen::Local) wanted = {own, 0, own - 1};
  for (const std::int64_t b : wanted)
    if (std::ranges::binary_search(blocks.seen, b) && std::ranges::find(blocks.always, b) == blocks.always.end())
      blocks.always.push_back(b);
  return blocks;
}

std::vector<std::int64_t> chosen_order(const RowBlocks& row, std::span<const double> scores, std::size_t most) {
  std::vector<std::int64_t> order = row.always;
  std::vector<std::pair<double, std::int64_t>> rest;  // falling scores are rising numbers here
  for (std::size_t i = 0; i < row.seen.size(); ++i)
    if (std::ranges::find(row.always, row.seen[i]) == row.always.end())
      rest.emplace_back(std::isnan(scores[i]) ? kInfinity : -scores[i], row.seen[i]);
  if (order.size() < most) {
    const std::size_t further = std::min(most - order.size(), rest.size());
    std::ranges::partial_sort(rest, rest.begin() + static_cast<std::ptrdiff_t>(further));
    for (std::size_t i = 0; i < further; ++i) order.push_back(rest[i].second);
  }
  order.resize(std::min(order.size(), most));
  return order;
}

double chance_jaccard(std::int64_t chosen, std::int64_t of) {
  if (chosen <= 0 || chosen > of) return kNaN;
  const auto log_choose = [](std::int64_t n, std::int64_t k) {
    const auto real = [](std::int64_t x) { return static_cast<double>(x); };
    return std::lgamma(real(n) + 1.0) - std::lgamma(real(k) + 1.0) - std::lgamma(real(n - k) + 1.0);
  };
  double mean = 0.0;
  for (std::int64_t common = std::max<std::int64_t>(0, 2 * chosen - of); common <= chosen; ++common)
    mean += std::exp(log_choose(chosen, common) + log_choose(of - chosen, chosen - common) - log_choose(of, chosen)) *
            static_cast<double>(common) / static_cast<double>(2 * chosen - common);
  return mean;
}

Result<LayerChoices> choose_blocks(const BlockGroups& groups, const LayerProducts& products, const kernels::Mask& mask,
                                   const BlockRules& rules, const std::function<bool()>& stop) {
  LayerChoices choices;
  // A row chooses among the blocks that there are.
  choices.most = static_cast<std::size_t>(std::min(rules.tops.back(), (mask.keys() + rules.size - 1) / rules.size));
  const std::vector<std::vector<std::size_t>> maps_of = choosers(groups, choices);
  const std::int64_t rows = mask.length;
  choices.orders.assign(maps_of.size(),
                        std::vector<std::int32_t>(static_cast<std::size_t>(rows) * choices.most, std::int32_t{-1}));
  PooledKeys pooled(products, rules.size);
  std::vector<kernels::KeyRange> ranges;
  const auto dim = static_cast<std::size_t>(products.head_dim);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (row % 64 == 0 && stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
    const RowBlocks blocks = blocks_of_row(mask, row, rules);
    mask.segments(row, ranges);
    choices.seen.push_back(std::ssize(blocks.seen));
    choices.always.push_back(std::ssize(blocks.always));
    const std::size_t count = blocks.seen.size();
    std::vector<double> scores(groups.maps.size() * count), mean(count);
    for (std::int64_t key_block = 0; key_block < std::ssize(products.keys); ++key_block) {
      if (std::ranges::none_of(groups.maps, [&](const BlockGroups::Map& map) { return map.key_block == key_block; }))
        continue;
      for (std::size_t b = 0; b < count; ++b) {
        const std::span<const double> key = pooled.of(key_block, blocks.seen[b], ranges);
        for (std::size_t m = 0; m < groups.maps.size(); ++m) {
          if (groups.maps[m].key_block != key_block) continue;
          const double* const query =
              products.queries[static_cast<std::size_t>(groups.maps[m].query_block)].data() + row * products.head_dim;
          double sum = 0.0;
          for (std::size_t c = 0; c < dim; ++c) sum += query[c] * key[c];
          scores[m * count + b] = groups.maps[m].scale * sum;
        }
      }
    }
    for (std::size_t which = 0; which < maps_of.size(); ++which) {
      std::ranges::fill(mean, 0.0);
      for (const std::size_t m : maps_of[which])
        for (std::size_t b = 0; b < count; ++b)
          mean[b] += scores[m * count + b] / static_cast<double>(maps_of[which].size());
      const std::vector<std::int64_t> order = chosen_order(blocks, mean, choices.most);
      std::ranges::transform(order, choices.orders[which].begin() + row * static_cast<std::int64_t>(choices.most),
                             [](std::int64_t b) { return static_cast<std::int32_t>(b); });
    }
  }
  return choices;
}

}  // namespace headroom
