// The fields of a view that are kept in a session file, each named once: what writes them and what reads them go
// through the same list. A field that is not named here is not kept. Pure functions; safe from any thread.
#pragma once

namespace headroom {

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
  visit("", "tokens_large_tint", view.tokens.large_tint);
  visit("", "tokens_attention", view.tokens.attention);
  visit("", "tokens_arcs", view.tokens.arcs);
  visit("", "tokens_least_arc", view.tokens.least_arc);
  visit("", "tokens_top", view.tokens.top);

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
  visit("heads", "lasso_name", view.heads.lasso_name);
  visit("heads", "beside", view.heads.beside);
  visit("heads", "maps_by_value", view.heads.maps_by_value);
  visit("heads", "maps_size", view.heads.maps_size);
  visit("heads", "maps_number", view.heads.maps_number);
  visit("heads", "maps_show", view.heads.maps_show);
  visit("heads", "maps_card", view.heads.maps_card);

  visit("what_if", "scope", view.what_if.scope);
  visit("what_if", "changes", view.what_if.changes);

  visit("importance", "colour", view.importance.colour);
  visit("importance", "against", view.importance.against);

  visit("circuit", "quantity", view.circuit.quantity);
  visit("circuit", "token", view.circuit.token);

  visit("compare", "mode", view.compare.mode);
  visit("compare", "divider", view.compare.divider);
  visit("compare", "quantity", view.compare.quantity);
  visit("compare", "sort", view.compare.sort);
  visit("compare", "descending", view.compare.descending);

  visit("training", "step", view.training.step);
  visit("training", "range", view.training.range);
  visit("training", "log_steps", view.training.log_steps);
  visit("training", "smooth", view.training.smooth);
  visit("training", "seed_range", view.training.seed_range);
  visit("training", "head", view.training.head);
  visit("training", "all_heads", view.training.all_heads);

  visit("corpus", "statistic", view.corpus.statistic);
  visit("corpus", "share", view.corpus.share);
  visit("corpus", "bootstrap", view.corpus.bootstrap);
  visit("corpus", "sort", view.corpus.sort);
  visit("corpus", "descending", view.corpus.descending);
  visit("corpus", "side", view.corpus.side);
  visit("corpus", "list", view.corpus.list);
  visit("corpus", "sequence", view.corpus.sequence);
  visit("corpus", "step", view.corpus.step);

  visit("residual", "cells", view.residual.cells);
  visit("residual", "channel", view.residual.channel);
  visit("residual", "boundary", view.residual.boundary);
  visit("residual", "token", view.residual.token);
  visit("residual", "least", view.residual.least);
}

}  // namespace headroom
