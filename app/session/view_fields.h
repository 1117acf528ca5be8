// The fields of a view that are kept in a session file, each named once: what writes them and what reads them go
// through the same list. A field that is not named here is not kept. Pure functions; safe from any thread.
#pragma once

#include <array>

#include "app/session/state.h"

namespace headroom {

// The words of an enumeration in files and commands, in the order of its values.
template <typename Enum>
struct EnumWords;
template <>
struct EnumWords<MapKind> {
  static constexpr std::array<const char*, 5> words{"net", "first", "second", "scaled", "logits"};
};
template <>
struct EnumWords<HeadsView> {
  static constexpr std::array<const char*, 3> words{"atlas", "scatter", "table"};
};
template <>
struct EnumWords<CentreView> {
  static constexpr std::array<const char*, 4> words{"map", "what-if", "compare", "residual"};
};
template <>
struct EnumWords<ResidualCells> {
  static constexpr std::array<const char*, 3> words{"channel", "rms", "largest"};
};
template <>
struct EnumWords<CompareMode> {
  static constexpr std::array<const char*, 4> words{"side-by-side", "swipe", "flip", "difference"};
};
template <>
struct EnumWords<ComparedSort> {
  static constexpr std::array<const char*, 6> words{"distance", "sink_a", "sink_b", "sink", "rho", "entropy"};
};
template <>
struct EnumWords<ScaleKind> {
  static constexpr std::array<const char*, 3> words{"linear", "log10", "symlog"};
};
template <>
struct EnumWords<Pooling> {
  static constexpr std::array<const char*, 4> words{"max", "mean", "positive", "negative"};
};

// visit(group, name, field) for each of them; group: the object that holds it, "" for the view's own.
template <typename View, typename Visit>
void visit_fields(View& view, const Visit& visit) {
  visit("", "head", view.selection.head);
  visit("", "query", view.selection.query);
  visit("", "key", view.selection.key);
  visit("", "centre", view.centre);
  visit("", "head_rms", view.head.rms);
  visit("", "head_folded", view.head.folded);
  visit("", "across_model", view.head.across_model);
  visit("", "tokens_tint", view.tokens.tint);
  visit("", "tokens_experts", view.tokens.experts);

  visit("map", "kind", view.map.kind);
  visit("map", "scale", view.map.scale);
  visit("map", "pooling", view.map.pooling);
  visit("map", "range", view.map.range);
  visit("map", "exclude_sink", view.map.exclude_sink);
  visit("map", "window", view.map.window);
  visit("map", "swipe", view.map.swipe);
  visit("map", "divider", view.map.divider);

  visit("heads", "view", view.heads.view);
  visit("heads", "quantity", view.heads.quantity);
  visit("heads", "range_per_layer", view.heads.range_per_layer);
  visit("heads", "threshold", view.heads.threshold);
  visit("heads", "by_value", view.heads.by_value);
  visit("heads", "x", view.heads.x);
  visit("heads", "y", view.heads.y);
  visit("heads", "colour", view.heads.colour);
  visit("heads", "log_x", view.heads.log_x);
  visit("heads", "log_y", view.heads.log_y);
  visit("heads", "lasso", view.heads.lasso);
  visit("heads", "columns", view.heads.columns);
  visit("heads", "sort", view.heads.sort);
  visit("heads", "descending", view.heads.descending);
  visit("heads", "filter", view.heads.filter);

  visit("what_if", "scope", view.what_if.scope);
  visit("what_if", "changes", view.what_if.changes);

  visit("compare", "mode", view.compare.mode);
  visit("compare", "divider", view.compare.divider);
  visit("compare", "quantity", view.compare.quantity);
  visit("compare", "sort", view.compare.sort);
  visit("compare", "descending", view.compare.descending);

  visit("residual", "cells", view.residual.cells);
  visit("residual", "channel", view.residual.channel);
  visit("residual", "boundary", view.residual.boundary);
  visit("residual", "token", view.residual.token);
  visit("residual", "least", view.residual.least);
}

}  // namespace headroom
