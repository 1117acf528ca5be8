// The numbers of a file of `headroom blocks`: what there is for each head, and where it lies among the numbers of a
// sequence. Definitions: core/measure/QUANTITIES.md. Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

// Along the axes of the file; their labels.
enum class BlockMap : std::uint8_t { First, Second, Net };
enum class BlockChoice : std::uint8_t { Alone, Pair, Group, Oracle, Chance };
enum class BlockRelation : std::uint8_t { Pair, Group, Other, Chance };
enum class BlockScope : std::uint8_t { Pair, Group };
inline constexpr std::size_t kBlockMaps = 3, kBlockChoices = 5, kBlockRelations = 4, kBlockScopes = 2;
[[nodiscard]] std::vector<std::string> labels_of_axis(std::string_view axis);  // "map", "choice", "relation", "scope"

struct BlockDataset {
  std::string_view name;
  std::vector<std::string_view> axes;  // after layer and head, before `top`
  std::string_view units, long_name, definition;
};
enum class BlockNumber : std::uint8_t { Recall, NetMass, NetMassAll, BlocksRead, Agreement };
[[nodiscard]] std::span<const BlockDataset> block_datasets();  // by BlockNumber

// The differences of two numbers of a head, whose means over heads the file has.
struct BlockContrast {
  std::string_view name;
  BlockRelation of, against;
};
[[nodiscard]] std::span<const BlockContrast> block_contrasts();

class ChoiceLayout {
 public:
  ChoiceLayout(std::size_t layers, std::size_t heads, std::size_t tops);

  // Of a head: the extents of a dataset's axes, `top` the last, and their product.
  [[nodiscard]] std::vector<std::int64_t> extents(BlockNumber number) const;
  [[nodiscard]] std::size_t elements(BlockNumber number) const { return elements_[static_cast<std::size_t>(number)]; }
  // Where the dataset of a sequence begins, [layers, heads, elements]; and how many numbers a sequence has.
  [[nodiscard]] std::size_t begin(BlockNumber number) const { return begins_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t heads_of_all_layers() const { return layers_ * heads_; }
  [[nodiscard]] std::size_t layers() const { return layers_; }
  [[nodiscard]] std::size_t heads() const { return heads_; }
  [[nodiscard]] std::size_t tops() const { return tops_; }

 private:
  std::size_t layers_, heads_, tops_, size_ = 0;
  std::vector<std::size_t> begins_, elements_;
};

}  // namespace headroom
