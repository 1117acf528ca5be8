// Which blocks of keys block-sparse attention would read, were they chosen by mean-pooled keys (MoBA, Lu et al. 2025,
// arXiv 2502.13189, §2.2; NSA, Yuan et al. 2025, arXiv 2502.11089, §3.3.2), and by whom: each map alone, the two maps
// of a differential head, or all maps that share keys or values. Definitions: core/measure/QUANTITIES.md. Pure
// functions; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "kernels/mask.h"

namespace headroom {

// Blocks that are chosen whatever their score, and count among the k: the one of the row itself (MoBA), this one, the
// first and the one before its own in that order (NSA), or none.
enum class AlwaysChosen : std::uint8_t { Own, Local, None };
[[nodiscard]] Result<AlwaysChosen> parse_always_chosen(std::string_view word);  // "own", "local", "none"
[[nodiscard]] std::string_view always_chosen_name(AlwaysChosen always);

struct BlockRules {
  std::int64_t size = 64;                         // keys of a block: block b holds keys [b·size, (b + 1)·size)
  std::vector<std::int64_t> tops = {1, 2, 4, 8};  // k, ascending
  AlwaysChosen always = AlwaysChosen::Own;
};

// The maps of a layer, and which heads read the same keys or values.
struct BlockGroups {
  struct Map {
    std::size_t head = 0;
    std::int64_t query_block = 0, key_block = 0;
    double scale = 1.0;  // of q·k: the logit's scale and the head's temperature
  };
  std::vector<Map> maps;                                 // by head, the first map before the second
  std::vector<std::array<std::int64_t, 2>> map_of_head;  // places in `maps`; −1: the head has no such map
  std::vector<std::size_t> group_of_head;                // from 0, by their first heads
  std::size_t groups = 0;
};
[[nodiscard]] BlockGroups block_groups(const AttentionSpec& attention);

// The blocks that a row sees a key of, and those of them that are always chosen, in their order.
struct RowBlocks {
  std::vector<std::int64_t> seen;  // ascending
  std::vector<std::int64_t> always;
};
[[nodiscard]] RowBlocks blocks_of_row(const kernels::Mask& mask, std::int64_t row, const BlockRules& rules);

// The first `most` blocks in the order in which they are chosen: those that always are, then by descending score, of
// equal ones the first. `scores` has one for each of row.seen; what is no number comes last.
[[nodiscard]] std::vector<std::int64_t> chosen_order(const RowBlocks& row, std::span<const double> scores,
                                                     std::size_t most);

// The mean of |A ∩ B|/|A ∪ B| over independent draws of `chosen` from `of`; NaN for none.
[[nodiscard]] double chance_jaccard(std::int64_t chosen, std::int64_t of);

// Queries and keys of a layer by block, [rows, head_dim] in double, after norms and rotation.
struct LayerProducts {
  std::vector<std::vector<double>> queries, keys;
  std::int64_t head_dim = 0;
};

// What rows of a layer choose.
struct LayerChoices {
  std::vector<std::int64_t> seen, always;         // by row: how many blocks
  std::size_t most = 0;                           // the largest k
  std::vector<std::size_t> alone, pair, group;    // by map, by head, by group: which of `orders`
  std::vector<std::vector<std::int32_t>> orders;  // each [rows, most]; −1 behind the last block

  [[nodiscard]] std::span<const std::int32_t> order(std::size_t which, std::int64_t row) const {
    return std::span(orders[which]).subspan(static_cast<std::size_t>(row) * most, most);
  }
};
// score(b) = scale · q_i · mean of the keys of b that row i sees; of several maps the mean of theirs. Cancelled by
// `stop`. Memory: rows × the largest k for each that chooses, and one row of scores.
[[nodiscard]] Result<LayerChoices> choose_blocks(const BlockGroups& groups, const LayerProducts& products,
                                                 const kernels::Mask& mask, const BlockRules& rules,
                                                 const std::function<bool()>& stop);

}  // namespace headroom
