// Filter expressions over heads: `sink_score > 0.3 and layer >= 4`, `kind == "softmax" or not
// rows_inside_bound[softmax] < 0.9`. Parsed once, then evaluated over all heads of a run. Immutable after parsing; safe
// from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// Grammar, loosest first: or; and; not; a comparison (< <= > >= == !=, also chained: 0.1 < sink_score < 0.3); + −; * /;
// a sign; a number, a text in quotes, a name (quantities as in the run file, layer, head, kind), parentheses. && || ! ≤
// ≥ ≠ and − are understood. Shares are 0 … 1, as in the run file. Of a corpus a name may end in a statistic over its
// sequences (sink_score.ci_low, lambda_quantile[0.5].std), which other runs have not. A comparison with a missing value
// is false.
class HeadFilter {
 public:
  // An empty text lets every head pass. InvalidArgument names the place: `offset` counts bytes of the text, and the
  // message says its column.
  [[nodiscard]] static Result<HeadFilter> parse(std::string_view text);

  // One flag per head, [layers, heads] of the run.
  [[nodiscard]] std::vector<std::uint8_t> evaluate(const RunSnapshot& run) const;
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  // Quantities it names, each once.
  [[nodiscard]] const std::vector<QuantityRef>& quantities() const { return quantities_; }
  // Numbers that the quantity itself is compared with: lines in the histogram of its column.
  [[nodiscard]] std::vector<double> bounds(const QuantityRef& ref) const;

 private:
  friend class FilterParser;
  enum class Op : std::uint8_t {
    Number,
    Text,
    Quantity,
    Layer,
    Head,
    Kind,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Not,
    And,
    Or
  };
  struct Node {
    Op op = Op::Number;
    int left = -1, right = -1;  // positions in nodes_
    double number = 0.0;
    std::string text;
    QuantityRef quantity;
  };
  [[nodiscard]] std::vector<double> values(const RunSnapshot& run, int node) const;

  std::vector<Node> nodes_;  // the last one is the root
  std::vector<QuantityRef> quantities_;
};

}  // namespace headroom
