// What the panels about heads and tokens work out from a run once and keep while it is shown: columns of all heads, the
// sorted table, the rows of the selected head, the lines of the prompt. Owned by the application, one for the window;
// everything follows from what is passed in, so that an empty one gives the same pictures. Main thread only.
#pragma once

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/head_series.h"
#include "app/panels/parts/token_lines.h"
#include "app/session/state.h"
#include "core/compare/run_difference.h"
#include "core/run/head_table.h"

namespace headroom {

struct PanelContext;

// One quantity over all heads of the run.
struct HeadColumn {
  QuantityRef ref;
  std::vector<double> values;  // [layers, heads]; NaN where there is none
  std::vector<double> sample;  // the finite ones, sorted; at most 1024 at even steps, the extremes among them
  std::size_t finite = 0;
  double low = 0.0, high = 1.0;  // extremes of the finite ones; NaN where there are none
  double median = 0.0;
  std::uint64_t hash = 0;  // of the values
};

// What follows from the values is filled in.
[[nodiscard]] HeadColumn measured(HeadColumn column);

// What the token panel last brought into view.
struct SeenTokens {
  std::optional<std::int64_t> query, key, scroll_to;
  friend bool operator==(const SeenTokens&, const SeenTokens&) = default;
};

// A head whose card is to be shown beside its thumbnail: by the panel that draws it, for the window that draws the card
// above all panels.
struct HeadCardWish {
  HeadRef head;
  Rect beside;
  float below = 0.0f;  // of the panel's controls and labels, which it leaves free where it can
  bool kept = false;   // stays until it is put away
};

class RunCache {
 public:
  // Forgets what belonged to another run, or to fewer layers of this one.
  void show(std::shared_ptr<const RunSnapshot> run);
  [[nodiscard]] const RunSnapshot* run() const { return run_.get(); }

  // "layer" is a column of its own here. A name that does not exist gives an empty column.
  const HeadColumn& column(std::string_view name);
  // Row distances of A, the run shown, and B; made again where `differences` are others. NaN: not known (yet).
  const HeadColumn& distances(const std::shared_ptr<const HeadDifferences>& differences, const RunEntry& a,
                              const RunEntry& b);
  const HeadTable& table(const HeadsState& view);
  // Median of a column over the rows of the last table().
  double table_median(std::string_view name);
  // The selected head's rows; the layer belongs to the run.
  const HeadSeries& series(const LayerSnapshot& layer, std::int64_t head);
  // Of the prompt, or of another sequence of the run: each keeps its own.
  const TokenLines& lines(const std::shared_ptr<const Prompt>& prompt, float width, const TextMeasure& measure,
                          const TokenStyle& style = kSmallTokens);
  // A sequence that is no prompt of its own, made once: `name` says which.
  const std::shared_ptr<const Prompt>& sequence(const std::string& name,
                                                const std::function<std::shared_ptr<const Prompt>()>& make);
  // What a panel works out of this run and keeps under a name of its own.
  std::any& piece(std::string_view name) { return pieces_[std::string(name)]; }
  // The line that a lasso being drawn follows, in pixels; the first column of a table wider than its panel; what is
  // typed to find a quantity; the tokens and the row that the panels last scrolled to.
  std::vector<Vec2>& lasso_path() { return lasso_path_; }
  std::size_t& first_column() { return first_column_; }
  std::string& column_search() { return column_search_; }
  SeenTokens& seen_tokens(bool keys) { return seen_tokens_[keys ? 0 : 1]; }
  std::optional<std::size_t>& seen_row() { return seen_row_; }
  std::optional<HeadCardWish>& head_card() { return head_card_; }

 private:
  std::shared_ptr<const RunSnapshot> run_;
  std::map<std::string, HeadColumn, std::less<>> columns_;
  HeadColumn distances_;
  std::shared_ptr<const HeadDifferences> distances_of_;
  std::shared_ptr<const RunSnapshot> distances_to_;
  std::optional<HeadTable> table_;
  std::string table_filter_, table_sort_;
  bool table_descending_ = false;
  std::map<std::string, double, std::less<>> medians_;
  const LayerSnapshot* series_layer_ = nullptr;
  std::int64_t series_head_ = -1;
  HeadSeries series_;
  std::map<std::pair<const Prompt*, float>, TokenLines> lines_;  // by the size of the letters
  std::map<std::string, std::shared_ptr<const Prompt>> sequences_;
  std::map<std::string, std::any> pieces_;
  std::vector<Vec2> lasso_path_;
  std::size_t first_column_ = 0;
  std::string column_search_;
  std::array<SeenTokens, 2> seen_tokens_;
  std::optional<std::size_t> seen_row_;
  std::optional<HeadCardWish> head_card_;
};

// The memory of the context, or `own` where it has none; shows the context's run.
RunCache& run_cache(PanelContext& context, RunCache& own);

}  // namespace headroom
