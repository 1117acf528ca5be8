#include "core/sparse/choice_layout.h"

#include <functional>
#include <numeric>

namespace headroom {

std::vector<std::string> labels_of_axis(std::string_view axis) {
  if (axis == "map") return {"first", "second", "net"};
  if (axis == "choice") return {"alone", "pair", "group", "oracle", "chance"};
  if (axis == "relation") return {"pair", "group", "other", "chance"};
  if (axis == "scope") return {"pair", "group"};
  return {};
}

std::span<const BlockDataset> block_datasets() {
  static const std::vector<BlockDataset> table = {
      {"recall",
       {"map", "choice"},
       "1",
       "share of the attention in the chosen blocks",
       "mean_i of Σ_{j ∈ C_i} |x_ij| / Σ_j |x_ij|, x = a¹, a² or w, C_i the keys of the k blocks that row i chooses"},
      {"net_mass", {"choice"}, "1", "net weight in the chosen blocks, with its sign", "mean_i of Σ_{j ∈ C_i} w_ij"},
      {"net_mass_all", {}, "1", "net weight of all keys, with its sign", "mean_i of Σ_j w_ij, over the same rows"},
      {"blocks_read",
       {"scope"},
       "1",
       "blocks that are read where each map chooses alone",
       "mean_i of how many different blocks the maps of the head, or of its group, choose; k where they choose together"},
      {"agreement",
       {"relation"},
       "1",
       "Jaccard index of what two maps choose alone",
       "mean_i of |A_i ∩ B_i| / |A_i ∪ B_i|, A and B chosen by a map of the head and by: the head's other map, the maps of "
       "other heads of its group, the maps of other groups of the layer (mean over all such pairs of maps), chance; "
       "without blocks that are always chosen"},
  };
  return table;
}

std::span<const BlockContrast> block_contrasts() {
  static constexpr BlockContrast kContrasts[] = {{"pair − other", BlockRelation::Pair, BlockRelation::Other},
                                                 {"group − other", BlockRelation::Group, BlockRelation::Other},
                                                 {"pair − group", BlockRelation::Pair, BlockRelation::Group},
                                                 {"other − chance", BlockRelation::Other, BlockRelation::Chance}};
  return kContrasts;
}

ChoiceLayout::ChoiceLayout(std::size_t layers, std::size_t heads, std::size_t tops)
    : layers_(layers), heads_(heads), tops_(tops) {
  for (std::size_t i = 0; i < block_datasets().size(); ++i) {
    const std::vector<std::int64_t> all = extents(static_cast<BlockNumber>(i));
    elements_.push_back(static_cast<std::size_t>(
        std::accumulate(all.begin(), all.end(), std::int64_t{1}, std::multiplies<std::int64_t>())));
    begins_.push_back(size_);
    size_ += layers_ * heads_ * elements_.back();
  }
}

std::vector<std::int64_t> ChoiceLayout::extents(BlockNumber number) const {
  std::vector<std::int64_t> all;
  for (const std::string_view axis : block_datasets()[static_cast<std::size_t>(number)].axes)
    all.push_back(std::ssize(labels_of_axis(axis)));
  all.push_back(static_cast<std::int64_t>(tops_));
  return all;
}

}  // namespace headroom
