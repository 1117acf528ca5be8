// What the blocks that the maps of a layer choose hold of their attention: rows of maps as they come, each looked at
// once and given up. Definitions: core/measure/QUANTITIES.md. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/measure/row_check.h"
#include "core/model/model_spec.h"
#include "core/run/compute.h"
#include "core/sparse/block_choice.h"
#include "core/sparse/choice_layout.h"

namespace headroom {

// Rows that see more than k blocks, by k: the others have no choice.
[[nodiscard]] std::vector<std::int64_t> rows_with_choice(const kernels::Mask& mask, const BlockRules& rules);
// The mask that all heads of a layer have.
[[nodiscard]] kernels::Mask block_mask(const AttentionSpec& attention, std::int64_t length);

class LayerBlocks {
 public:
  // Both outlive it.
  LayerBlocks(const BlockGroups& groups, const BlockRules& rules, LayerChoices choices);

  // Rows [row, row + rows) of a map, [rows, keys].
  void add_rows(std::int64_t head, BlockMap map, std::int64_t row, std::int64_t rows, std::span<const double> weights);
  // The numbers of the layer at place `layer` of the layout go to those of the sequence.
  void finish(std::size_t layer, const ChoiceLayout& layout, std::span<float> sequence) const;

 private:
  struct Shares {
    double sum = 0.0, count = 0.0;
    void add(double value) { sum += value, count += 1.0; }
    [[nodiscard]] double mean() const;
  };
  struct HeadSums {
    std::vector<Shares> recall;        // [maps, choices, tops]
    std::vector<Shares> net, net_all;  // [choices, tops], [tops]
  };
  void count_agreement();
  void add_row(HeadSums& sums, std::size_t head, BlockMap map, std::int64_t row);
  [[nodiscard]] double kept(std::span<const double> by_block, std::span<const std::int32_t> order, std::size_t k) const;
  [[nodiscard]] double mean_agreement(std::size_t head, BlockRelation relation, std::size_t top) const;

  const BlockGroups& groups_;
  const BlockRules& rules_;
  bool finite_ = true;  // every row
  LayerChoices choices_;
  std::vector<HeadSums> heads_;
  std::vector<Shares> jaccard_;                         // [maps, maps, tops], of a < b
  std::vector<Shares> chance_;                          // [tops]
  std::array<std::vector<Shares>, kBlockScopes> read_;  // by head, by group: [·, tops]
  std::vector<double> mass_, signed_mass_;              // of the row at hand, by block
  std::vector<std::int32_t> best_;                      // its blocks by falling mass
};

// Of one sequence at a time, layer by layer.
class BlockObserver final : public ForwardObserver {
 public:
  // All of them outlive it; `tolerance` is that of the self-check.
  BlockObserver(const ModelSpec& model, std::span<const std::int64_t> layers, const BlockRules& rules,
                const ChoiceLayout& layout, double tolerance, const std::function<void(double fraction)>& report,
                const std::function<bool()>& stop)
      : model_(model),
        layers_(layers),
        rules_(rules),
        layout_(layout),
        tolerance_(tolerance),
        report_(report),
        stop_(stop),
        check_(tolerance) {}

  void begin() {
    values_.assign(layout_.size(), std::numeric_limits<float>::quiet_NaN());
    check_ = RowCheck(tolerance_);
  }
  [[nodiscard]] std::vector<float> finish() { return std::move(values_); }
  [[nodiscard]] const SelfCheck& self_check() const { return check_.found(); }  // since begin()

  Result<void> on_exact_block(std::int64_t layer, ExactBlock kind, std::int64_t block, std::int64_t rows,
                              std::span<const double> values) override;
  Result<void> on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row, std::int64_t rows,
                             std::span<const double> values) override;
  Result<void> on_layer(LayerRecord record) override;
  void on_progress(double fraction, const std::string& /*what*/) override {
    if (report_) report_(fraction);
  }
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

 private:
  const ModelSpec& model_;
  std::span<const std::int64_t> layers_;
  const BlockRules& rules_;
  const ChoiceLayout& layout_;
  double tolerance_;
  const std::function<void(double)>& report_;
  const std::function<bool()>& stop_;
  RowCheck check_;
  LayerProducts products_;
  std::int64_t length_ = 0;
  BlockGroups groups_;
  std::optional<LayerBlocks> layer_;
  std::vector<float> values_;
};

}  // namespace headroom
