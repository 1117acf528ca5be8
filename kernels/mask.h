// Which keys a query sees: one answer for every backend, for statistics and for training. Plain data; safe from any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace headroom::kernels {

// Half-open range of positions; empty: begin == end.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  [[nodiscard]] bool holds(std::int64_t position) const { return position >= begin && position < end; }
};

// A mask that is given entry by entry, in whatever form its owner keeps it. `read` writes what is added to the logits
// of rows [row, row + rows) and keys [key, key + keys), [rows, keys] row-major: −∞ hides the entry, NaN leaves the row
// undefined. Safe from any thread; the source outlives every mask that names it.
struct DenseMask {
  void (*read)(const void* source, std::int64_t row, std::int64_t rows, std::int64_t key, std::int64_t keys,
               double* out) = nullptr;
  const void* source = nullptr;
  bool additive = false;  // some entry is neither 0 nor −∞

  [[nodiscard]] double at(std::int64_t row, std::int64_t key) const {
    double value = 0.0;
    read(source, row, 1, key, 1, &value);
    return value;
  }
  [[nodiscard]] static bool hides(double value) { return value < -std::numeric_limits<double>::max(); }
};

// Row i stands at position p = first_query + i among the keys and sees key j where −ahead ≤ p − j ≤ behind, unless one
// of them is padding, the key is hidden or the dense mask hides the entry. A window W leaves the keys with |p − j| < W,
// on both sides of the row where the mask is not causal: as the overlay of transformers' Gemma 3 (models/gemma3,
// _bidirectional_window_overlay). Its sliding_window_bidirectional_overlay, which ModernBERT takes with
// W = local_attention / 2, counts that distance in: there the window is W + 1. Chunks of C positions from first_key on
// hide every key that is not in the row's own: Llama 4's chunked_overlay. The first keys may stay visible to every row
// behind them, whatever its window or chunk: the "attention sinks" of StreamingLLM (Xiao et al. 2024, arXiv 2309.17453,
// §3.2). Rows and keys are as many as each other
// in self-attention; they are not in a decode step (few rows, first_query before the end of the keys) and in
// cross-attention (keys of another sequence).
struct Mask {
  std::int64_t length = 0;  // rows
  bool causal = true;
  std::int64_t window = 0;     // 0: none
  std::int64_t first_key = 0;  // keys before it are padding: invisible, and rows at a position before it see nothing
  // Ascending, each once; a row that would see nothing without them sees its own key, where there is one.
  std::vector<std::int64_t> hidden_keys;
  std::int64_t first_query = 0;  // not negative where the mask is not causal
  std::int64_t key_length = -1;  // −1: as many keys as rows
  const DenseMask* dense = nullptr;
  std::int64_t chunk = 0;           // 0: none
  std::int64_t always_visible = 0;  // keys from first_key on; of a mask that is not causal, to every row

  [[nodiscard]] std::int64_t keys() const { return key_length < 0 ? length : key_length; }
  [[nodiscard]] std::int64_t longer() const { return std::max(length, keys()); }
  // Rows and keys are the same positions.
  [[nodiscard]] bool square() const { return keys() == length && first_query == 0; }

  // The most keys before a row's position, and after it, that its window and its chunk leave; below extent().
  [[nodiscard]] std::int64_t near_behind() const {
    const std::int64_t reach = window > 0 ? std::min(window, extent()) : extent();
    return std::max<std::int64_t>(0, (chunk > 0 ? std::min(chunk, reach) : reach) - 1);
  }
  [[nodiscard]] std::int64_t near_ahead() const { return causal ? 0 : near_behind(); }
  // The largest distance of a key that a row sees, before its position and after it; below extent().
  [[nodiscard]] std::int64_t behind() const {
    return always_visible > 0 ? std::max<std::int64_t>(0, extent() - 1) : near_behind();
  }
  [[nodiscard]] std::int64_t ahead() const { return causal ? 0 : behind(); }
  // Every row sees every key before its position.
  [[nodiscard]] bool reaches_back() const { return near_behind() + 1 >= extent(); }
  // Every row sees every key, but for padding, hidden keys and the dense mask.
  [[nodiscard]] bool reaches_all() const { return !causal && reaches_back(); }

  // Rows outside [begin, end) see nothing, whatever is hidden.
  [[nodiscard]] KeyRange seeing_rows() const {
    const std::int64_t begin = std::clamp<std::int64_t>(first_key - first_query, 0, length);
    if (first_key >= keys()) return {begin, begin};
    std::int64_t end = keys() + behind();
    if (chunk > 0 && always_visible == 0) end = std::min(end, chunk_of(keys() - 1).end);
    return {begin, std::clamp(end - first_query, begin, length)};
  }
  // Positions of the chunk that `position` is in, from first_key on; all of them where there are no chunks.
  [[nodiscard]] KeyRange chunk_of(std::int64_t position) const {
    if (chunk <= 0) return {0, std::numeric_limits<std::int64_t>::max()};
    const std::int64_t begin = position - (position - first_key) % chunk;
    return {begin, begin + chunk};
  }

  // The keys of a row's window and chunk, with the always visible ones among and right behind them, and the always
  // visible ones before them; before hidden keys and entries are taken out.
  [[nodiscard]] KeyRange near_keys_of(std::int64_t row) const {
    const std::int64_t position = row + first_query;
    const KeyRange own = chunk_of(position);
    const std::int64_t end = std::clamp<std::int64_t>(std::min(position + near_ahead() + 1, own.end), 0, keys());
    const std::int64_t begin = std::max({first_key, position - near_behind(), own.begin});
    if (row < 0 || row >= length || position < first_key || begin >= end) return {end, end};
    const std::int64_t always_end = std::min(first_key + always_visible, keys());
    return {begin, !causal && begin <= always_end ? std::max(end, always_end) : end};
  }
  [[nodiscard]] KeyRange always_keys_of(std::int64_t row) const {
    const std::int64_t position = row + first_query;
    if (always_visible == 0 || row < 0 || row >= length || position < first_key) return {first_key, first_key};
    std::int64_t end = std::min(first_key + always_visible, keys());
    if (causal) end = std::min(end, position + 1);
    if (const KeyRange near = near_keys_of(row); near.size() > 0) end = std::min(end, near.begin);
    return {first_key, std::max(end, first_key)};
  }
  // The least range that holds all keys that a row can see, and the rows that can see a key, before hidden keys and
  // entries are taken out.
  [[nodiscard]] KeyRange keys_of(std::int64_t row) const {
    const KeyRange near = near_keys_of(row);
    if (always_visible == 0) return near;
    const KeyRange always = always_keys_of(row);
    if (always.size() == 0) return near;
    return {always.begin, std::max(always.end, near.end)};
  }
  [[nodiscard]] KeyRange rows_of(std::int64_t key) const {
    const KeyRange own = is_always_visible(key) ? KeyRange{0, std::numeric_limits<std::int64_t>::max()} : chunk_of(key);
    const std::int64_t before = is_always_visible(key) ? behind() : near_behind();
    const std::int64_t after = is_always_visible(key) ? ahead() : near_ahead();
    const std::int64_t end = std::clamp<std::int64_t>(std::min(key + before + 1, own.end) - first_query, 0, length);
    const std::int64_t begin = std::max(std::max({first_key, key - after, own.begin}) - first_query, std::int64_t{0});
    return key < first_key || begin >= end ? KeyRange{end, end} : KeyRange{begin, end};
  }
  [[nodiscard]] bool is_always_visible(std::int64_t key) const {
    return key >= first_key && key < first_key + always_visible;
  }

  [[nodiscard]] bool hides(std::int64_t key) const {
    return std::binary_search(hidden_keys.begin(), hidden_keys.end(), key);
  }
  // All keys of the row are hidden: it sees its own, where it has one.
  [[nodiscard]] bool only_itself(std::int64_t row) const {
    return hides(row + first_query) && can_see(row, row + first_query) && sees_nothing_else(row);
  }
  [[nodiscard]] bool sees(std::int64_t row, std::int64_t key) const {
    if (row < 0 || row >= length || !can_see(row, key)) return false;
    if (dense && DenseMask::hides(dense->at(row, key))) return false;
    return !hides(key) || (key == row + first_query && only_itself(row));
  }
  // n_i: how many keys the row sees.
  [[nodiscard]] std::int64_t visible(std::int64_t row) const {
    if (dense) {
      std::vector<KeyRange> ranges;
      segments(row, ranges);
      std::int64_t seen = 0;
      for (const KeyRange& range : ranges) seen += range.size();
      return seen;
    }
    const KeyRange near = near_keys_of(row), always = always_keys_of(row);
    const std::int64_t seen = near.size() - hidden_in(near) + always.size() - hidden_in(always);
    return seen == 0 && can_see(row, row + first_query) ? 1 : seen;
  }

  // The ranges a row really sees, ascending.
  void segments(std::int64_t row, std::vector<KeyRange>& out) const {
    out.clear();
    KeyRange near = near_keys_of(row), always = always_keys_of(row);
    if (always.size() > 0 && always.end == near.begin && near.size() > 0)
      near.begin = std::exchange(always.begin, always.end);
    for (KeyRange rest : {always, near}) {
      for (auto key = std::lower_bound(hidden_keys.begin(), hidden_keys.end(), rest.begin);
           key != hidden_keys.end() && *key < rest.end; ++key) {
        if (*key > rest.begin) out.push_back({rest.begin, *key});
        rest.begin = *key + 1;
      }
      if (rest.size() > 0) out.push_back(rest);
    }
    if (dense && !out.empty()) take_out_dense(row, out);
    if (!out.empty() || !can_see(row, row + first_query)) return;
    if (dense && DenseMask::hides(dense->at(row, row + first_query))) return;
    out.push_back({row + first_query, row + first_query + 1});
  }

 private:
  // No distance between a row's position and a key reaches it.
  [[nodiscard]] std::int64_t extent() const { return std::max({keys(), first_query + length, keys() - first_query}); }
  [[nodiscard]] std::int64_t hidden_in(KeyRange keys) const {
    return std::lower_bound(hidden_keys.begin(), hidden_keys.end(), keys.end) -
           std::lower_bound(hidden_keys.begin(), hidden_keys.end(), keys.begin);
  }
  // Before hidden keys and entries are taken out.
  [[nodiscard]] bool can_see(std::int64_t row, std::int64_t key) const {
    return near_keys_of(row).holds(key) || (always_visible > 0 && always_keys_of(row).holds(key));
  }
  [[nodiscard]] bool sees_nothing_else(std::int64_t row) const {
    for (const KeyRange keys : {near_keys_of(row), always_keys_of(row)}) {
      if (hidden_in(keys) == keys.size()) continue;
      if (!dense) return false;
      std::vector<double> values(static_cast<std::size_t>(keys.size()));
      dense->read(dense->source, row, 1, keys.begin, keys.size(), values.data());
      for (std::int64_t j = keys.begin; j < keys.end; ++j)
        if (!DenseMask::hides(values[static_cast<std::size_t>(j - keys.begin)]) && !hides(j)) return false;
    }
    return true;
  }
  void take_out_dense(std::int64_t row, std::vector<KeyRange>& ranges) const {
    const KeyRange keys{ranges.front().begin, ranges.back().end};
    std::vector<double> values(static_cast<std::size_t>(keys.size()));
    dense->read(dense->source, row, 1, keys.begin, keys.size(), values.data());
    std::vector<KeyRange> left;
    for (const KeyRange& range : ranges)
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        if (DenseMask::hides(values[static_cast<std::size_t>(j - keys.begin)])) continue;
        if (!left.empty() && left.back().end == j)
          ++left.back().end;
        else
          left.push_back({j, j + 1});
      }
    ranges = std::move(left);
  }
};

// What a kernel without vectors asks of a position.
inline constexpr std::uint8_t kHiddenKey = 1;   // no row sees this key, save the row at its position if
inline constexpr std::uint8_t kOnlyItself = 2;  // that row would see nothing

// Per key; empty where no key is hidden. Without the dense mask.
[[nodiscard]] inline std::vector<std::uint8_t> mask_flags(const Mask& mask) {
  std::vector<std::uint8_t> flags;
  if (mask.hidden_keys.empty()) return flags;
  flags.assign(static_cast<std::size_t>(mask.keys()), 0);
  for (const std::int64_t key : mask.hidden_keys) {
    if (key < 0 || key >= mask.keys()) continue;
    const std::int64_t row = key - mask.first_query;
    const bool alone = row >= 0 && row < mask.length && mask.only_itself(row);
    flags[static_cast<std::size_t>(key)] = alone ? kHiddenKey | kOnlyItself : kHiddenKey;
  }
  return flags;
}

// Rows whose every key is hidden and that have no key of their own, 1 each; empty where there is none. Without the
// dense mask.
[[nodiscard]] inline std::vector<std::uint8_t> blind_rows(const Mask& mask) {
  std::vector<std::uint8_t> rows;
  if (mask.hidden_keys.empty() || mask.square()) return rows;
  for (std::int64_t row = 0; row < mask.length; ++row) {
    if (mask.keys_of(row).size() == 0 || mask.visible(row) > 0) continue;
    rows.resize(static_cast<std::size_t>(mask.length), 0);
    rows[static_cast<std::size_t>(row)] = 1;
  }
  return rows;
}

// The same in plain numbers, for code compiled for one target, without the dense mask; flags and blind rows live
// elsewhere, null: no key is hidden, no row is blind.
struct PlainMask {
  std::int64_t length = 0;
  std::int64_t behind = 0, ahead = 0;  // Mask::near_behind and near_ahead
  std::int64_t first_key = 0;
  const std::uint8_t* flags = nullptr;  // by key
  std::int64_t keys = 0, first_query = 0;
  std::int64_t first_row = 0, end_row = 0;  // Mask::seeing_rows
  const std::uint8_t* blind = nullptr;      // by row
  std::int64_t chunk = 0;                   // 0: none
  std::int64_t always_end = 0;              // keys from first_key up to it are always visible
  bool causal = true;

  // The range of keys of the window and the chunk of a row at this position, of a position from first_key on; before it
  // no row sees any.
  [[nodiscard]] std::int64_t near_begin_of(std::int64_t position) const {
    std::int64_t begin = std::max(first_key, position - behind);
    if (chunk > 0) begin = std::max(begin, position - (position - first_key) % chunk);
    return begin;
  }
  [[nodiscard]] std::int64_t near_end_of(std::int64_t position) const {
    std::int64_t end = std::min(keys, position + ahead + 1);
    if (chunk > 0) end = std::min(end, position - (position - first_key) % chunk + chunk);
    return end;
  }
  // The keys before that are always visible end here.
  [[nodiscard]] std::int64_t always_end_of(std::int64_t position) const {
    return causal ? std::min(always_end, position + 1) : always_end;
  }
  // The least range that holds both.
  [[nodiscard]] std::int64_t begin_of(std::int64_t position) const {
    return always_end > first_key ? first_key : near_begin_of(position);
  }
  [[nodiscard]] std::int64_t end_of(std::int64_t position) const {
    return std::max(near_end_of(position), always_end_of(position));
  }
  // The most keys of a row's range, from its first to its last.
  [[nodiscard]] std::int64_t widest() const { return always_end > first_key ? keys : behind + ahead + 1; }
  [[nodiscard]] bool hides(std::int64_t key) const { return flags != nullptr && (flags[key] & kHiddenKey) != 0; }
  [[nodiscard]] bool only_itself(std::int64_t row) const {
    const std::int64_t key = row + first_query;
    return flags != nullptr && key >= 0 && key < keys && (flags[key] & kOnlyItself) != 0;
  }
  // The row sees some key.
  [[nodiscard]] bool row_sees(std::int64_t row) const {
    return row >= first_row && row < end_row && (blind == nullptr || blind[row] == 0);
  }
  [[nodiscard]] bool sees(std::int64_t row, std::int64_t key) const {
    const std::int64_t position = row + first_query;
    if (position < first_key || key < first_key) return false;
    const bool near = key >= near_begin_of(position) && key < near_end_of(position);
    if (!near && key >= always_end_of(position)) return false;
    return !hides(key) || (key == position && only_itself(row));
  }
};
[[nodiscard]] inline PlainMask plain_mask(const Mask& mask, const std::vector<std::uint8_t>& flags,
                                          const std::vector<std::uint8_t>& blind = {}) {
  const KeyRange rows = mask.seeing_rows();
  PlainMask plain{
      mask.length, mask.near_behind(), mask.near_ahead(), mask.first_key, flags.empty() ? nullptr : flags.data(),
      mask.keys(), mask.first_query,   rows.begin,        rows.end,       blind.empty() ? nullptr : blind.data(),
      mask.chunk};
  plain.always_end = mask.always_visible > 0 ? std::min(mask.first_key + mask.always_visible, mask.keys()) : 0;
  plain.causal = mask.causal;
  return plain;
}

// Visible entries of each pooled cell, [blocks, blocks].
[[nodiscard]] inline std::vector<std::int64_t> pooled_counts(const Mask& mask, std::int64_t pool_size,
                                                             std::int64_t blocks) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(blocks * blocks));
  std::vector<KeyRange> segments;
  for (std::int64_t row = 0; row < mask.length; ++row) {
    mask.segments(row, segments);
    for (KeyRange segment : segments)
      while (segment.begin < segment.end) {
        const std::int64_t block = segment.begin / pool_size;
        const std::int64_t end = std::min(segment.end, (block + 1) * pool_size);
        counts[static_cast<std::size_t>(row / pool_size * blocks + block)] += end - segment.begin;
        segment.begin = end;
      }
  }
  return counts;
}

}  // namespace headroom::kernels
