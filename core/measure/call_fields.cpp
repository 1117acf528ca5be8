#include "core/measure/call_fields.h"

#include <string_view>
#include <vector>

namespace headroom {
namespace {

Quantity count_of_call(std::string_view name, std::string_view long_name, std::string_view formula,
                       std::string_view remark, std::string_view range) {
  return {.group = "calls",
          .name = name,
          .per = Per::Layer,
          .type = ElementType::Int32,
          .long_name = long_name,
          .formula = formula,
          .remark = remark,
          .range = range,
          .sources = {source::kCaptures},
          .may_be_absent = false};
}

}  // namespace

std::span<const CallField> call_fields() {
  static const std::vector<CallField> table = {
      {count_of_call("queries", "rows of the call", "n", "rows beyond it have no values", "[1, ∞)"),
       [](const LayerRecord& record) { return record.length; }},
      {count_of_call("keys", "keys of the call", "m", "keys beyond it have no values", "[1, ∞)"),
       [](const LayerRecord& record) { return record.key_length; }},
      {count_of_call("first_query", "position of row 0 among the keys", "p_0", "row i stands at position p_0 + i",
                     "(−∞, ∞)"),
       [](const LayerRecord& record) { return record.first_query; }},
      {count_of_call("dense_mask", "mask given entry by entry", "1 where the call has one, else 0", "", "[0, 1]"),
       [](const LayerRecord& record) -> std::int64_t { return record.dense ? 1 : 0; }},
      {count_of_call("heads", "measured heads of the call", "number of heads", "heads beyond it have no values",
                     "[0, ∞)"),
       [](const LayerRecord& record) { return static_cast<std::int64_t>(record.heads.size()); }},
  };
  return table;
}

}  // namespace headroom
