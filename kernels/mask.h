// Which keys a query sees: one answer for every backend, for statistics and for training. Plain data; safe from any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::kernels {

// Half-open range of positions; empty: begin == end.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  [[nodiscard]] bool holds(std::int64_t position) const { return position >= begin && position < end; }
};

// Row i sees key j where −ahead ≤ i − j ≤ behind, unless one of them is padding or the key is hidden. A window W leaves
// the keys with |i − j| < W, on both sides of the row where the mask is not causal: as the overlay of transformers'
// Gemma 3 (models/gemma3, _bidirectional_window_overlay). Its sliding_window_bidirectional_overlay, which ModernBERT
// takes with W = local_attention / 2, counts that distance in: there the window is W + 1.
struct Mask {
  std::int64_t length = 0;
  bool causal = true;
  std::int64_t window = 0;                // 0: none
  std::int64_t first_key = 0;             // keys before it are padding: invisible, and rows before it see nothing
  std::vector<std::int64_t> hidden_keys;  // ascending, each once; a row that would see nothing keeps its own key

  // The most keys before a row, and after it, that it sees; below `length`.
  [[nodiscard]] std::int64_t behind() const {
    return std::max<std::int64_t>(0, (window > 0 ? std::min(window, length) : length) - 1);
  }
  [[nodiscard]] std::int64_t ahead() const { return causal ? 0 : behind(); }
  // Every row sees every key before it.
  [[nodiscard]] bool reaches_back() const { return behind() + 1 >= length; }

  // The keys that a row can see, and the rows that can see a key, before hidden keys are taken out.
  [[nodiscard]] KeyRange keys_of(std::int64_t row) const { return reach(row, behind(), ahead()); }
  [[nodiscard]] KeyRange rows_of(std::int64_t key) const { return reach(key, ahead(), behind()); }

  [[nodiscard]] bool hides(std::int64_t key) const {
    return std::binary_search(hidden_keys.begin(), hidden_keys.end(), key);
  }
  // All keys of the row are hidden: it sees its own.
  [[nodiscard]] bool only_itself(std::int64_t row) const {
    const KeyRange keys = keys_of(row);
    return keys.size() > 0 && hides(row) && hidden_in(keys) == keys.size();
  }
  [[nodiscard]] bool sees(std::int64_t row, std::int64_t key) const {
    if (row < 0 || row >= length || !keys_of(row).holds(key)) return false;
    return !hides(key) || (key == row && only_itself(row));
  }
  // n_i: how many keys the row sees.
  [[nodiscard]] std::int64_t visible(std::int64_t row) const {
    const KeyRange keys = keys_of(row);
    const std::int64_t seen = keys.size() - hidden_in(keys);
    return seen == 0 && keys.size() > 0 ? 1 : seen;
  }

  // The ranges a row really sees, ascending. Empty only for rows of padding.
  void segments(std::int64_t row, std::vector<KeyRange>& out) const {
    out.clear();
    KeyRange rest = keys_of(row);
    if (rest.size() == 0) return;
    for (auto key = std::lower_bound(hidden_keys.begin(), hidden_keys.end(), rest.begin);
         key != hidden_keys.end() && *key < rest.end; ++key) {
      if (*key > rest.begin) out.push_back({rest.begin, *key});
      rest.begin = *key + 1;
    }
    if (rest.size() > 0) out.push_back(rest);
    if (out.empty()) out.push_back({row, row + 1});
  }

 private:
  [[nodiscard]] KeyRange reach(std::int64_t position, std::int64_t before, std::int64_t after) const {
    const std::int64_t end = std::min(length, position + after + 1);
    if (position < first_key) return {end, end};
    return {std::max(first_key, position - before), end};
  }
  [[nodiscard]] std::int64_t hidden_in(KeyRange keys) const {
    return std::lower_bound(hidden_keys.begin(), hidden_keys.end(), keys.end) -
           std::lower_bound(hidden_keys.begin(), hidden_keys.end(), keys.begin);
  }
};

// What a kernel without vectors asks of a position.
inline constexpr std::uint8_t kHiddenKey = 1;   // no row sees this key, save its own row if
inline constexpr std::uint8_t kOnlyItself = 2;  // this row would see nothing

// [length]; empty where no key is hidden.
[[nodiscard]] inline std::vector<std::uint8_t> mask_flags(const Mask& mask) {
  std::vector<std::uint8_t> flags;
  if (mask.hidden_keys.empty()) return flags;
  flags.assign(static_cast<std::size_t>(mask.length), 0);
  for (const std::int64_t key : mask.hidden_keys)
    if (key >= 0 && key < mask.length)
      flags[static_cast<std::size_t>(key)] = mask.only_itself(key) ? kHiddenKey | kOnlyItself : kHiddenKey;
  return flags;
}

// The same in plain numbers, for code compiled for one target; `flags` lives elsewhere, null: no key is hidden.
struct PlainMask {
  std::int64_t length = 0, behind = 0, ahead = 0, first_key = 0;
  const std::uint8_t* flags = nullptr;

  [[nodiscard]] bool hides(std::int64_t key) const { return flags != nullptr && (flags[key] & kHiddenKey) != 0; }
  [[nodiscard]] bool only_itself(std::int64_t row) const { return flags != nullptr && (flags[row] & kOnlyItself) != 0; }
  [[nodiscard]] bool sees(std::int64_t row, std::int64_t key) const {
    if (row < first_key || key < first_key || key >= length || row - key > behind || key - row > ahead) return false;
    return !hides(key) || (key == row && only_itself(row));
  }
};
[[nodiscard]] inline PlainMask plain_mask(const Mask& mask, const std::vector<std::uint8_t>& flags) {
  return {mask.length, mask.behind(), mask.ahead(), mask.first_key, flags.empty() ? nullptr : flags.data()};
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
