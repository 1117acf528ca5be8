// What scripts can ask of the session: facts of its state, not of what is drawn.
#include "app/panels/chrome/state_facts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/session/enum_words.h"
#include "app/session/facts.h"
#include "app/session/state.h"
#include "core/base/format.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

const char* status_name(RunStatus status) {
  switch (status) {
    case RunStatus::Waiting: return "waiting";
    case RunStatus::Running: return "running";
    case RunStatus::Done: return "done";
    case RunStatus::Cancelled: return "cancelled";
    case RunStatus::Failed: return "failed";
  }
  return "";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text.empty() ? "none" : text;
}

void set_flag(Facts& facts, const char* name, bool value) { facts.set(name, value ? 1.0 : 0.0); }

// As the commands that set it are called.
void describe_view(const ViewState& view, Facts& facts) {
  const HeadsState& heads = view.heads;
  facts.set("heads.view", std::string(word_of(heads.view)));
  facts.set("heads.x", heads.x);
  facts.set("heads.y", heads.y);
  facts.set("heads.colour", heads.colour);
  facts.set("heads.log", heads.log_x && heads.log_y ? "xy" : heads.log_x ? "x" : heads.log_y ? "y" : "none");
  facts.set("heads.range", heads.range_per_layer ? "layer" : "shared");
  facts.set("heads.order", heads.by_value ? "value" : "index");
  facts.set("heads.maps.order", heads.maps_by_value ? "value" : "index");
  facts.set("heads.maps.size", heads.maps_size > 0.0 ? std::to_string(std::lround(heads.maps_size)) : "fit");
  facts.set("heads.maps.number", heads.maps_number.empty() ? heads.quantity : heads.maps_number);
  facts.set("heads.maps.show", word_of(heads.maps_show));
  facts.set("heads.maps.card", heads.maps_card ? head_text(*heads.maps_card) : "none");
  facts.set("lasso.name", heads.lasso_name.empty() ? "none" : heads.lasso_name);
  set_flag(facts, "beside", heads.beside);
  facts.set("heads.columns", listed(heads.columns));
  facts.set("heads.filter", heads.filter);
  facts.set("heads.sort", heads.sort);
  set_flag(facts, "heads.descending", heads.descending);
  facts.set("heads.lasso", static_cast<double>(heads.lasso.size()));
  facts.set("sections.folded", listed(view.head.folded));
  set_flag(facts, "across_model", view.head.across_model);
  facts.set("map.pool", std::string(word_of(view.map.pooling)));
  set_flag(facts, "map.exclude_sink", view.map.exclude_sink);
  set_flag(facts, "map.swipe", view.map.swipe);
  facts.set("map.divider", view.map.divider);
  const bool large = view.centre == CentreView::Tokens;
  set_flag(facts, "tokens.large", large);
  facts.set("tokens.tint", large ? view.tokens.large_tint : view.tokens.tint);
  facts.set("tokens.attention",
            std::string(EnumWords<TokenAttention>::words[static_cast<std::size_t>(view.tokens.attention)]));
  set_flag(facts, "tokens.arcs_shown", view.tokens.arcs);
  facts.set("tokens.least_arc", view.tokens.least_arc);
  facts.set("tokens.top", static_cast<double>(view.tokens.top));
  facts.set("tokens.show", view.tokens.experts ? "experts" : "text");
  facts.set("what_if.scope", view.what_if.scope);
  facts.set("compare.divider", view.compare.divider);
  facts.set("residual.cells", EnumWords<ResidualCells>::words[static_cast<std::size_t>(view.residual.cells)]);
  facts.set("residual.token", static_cast<double>(view.residual.token));
  facts.set("residual.least", view.residual.least);
  const char* sorts[] = {"distance", "sink_a", "sink_b", "sink", "rho", "entropy"};
  facts.set("compare.sort", view.compare.sort ? sorts[static_cast<int>(*view.compare.sort)] : "none");
  set_flag(facts, "compare.descending", view.compare.descending);
}

// Of the shown way.
void describe_importance(const State& state, Facts& facts) {
  const ImportanceState& view = state.view.importance;
  facts.set("importance.way", std::string(word_of(view.colour)));
  facts.set("importance.against", view.against);
  const RunEntry* run = state.shown();
  const std::optional<LossSweep> none, &sweep = run ? sweep_of(run->sweeps, view.colour) : none;
  const char* statuses[] = {"running", "done", "stopped", "failed"};
  facts.set("importance.status", sweep ? std::string(statuses[static_cast<std::size_t>(sweep->status)]) : "none");
  const LossTable* table = sweep ? sweep->table.get() : nullptr;
  facts.set("importance.done", table ? static_cast<double>(table->done) : 0.0);
  facts.set("importance.asked", table ? static_cast<double>(table->asked) : 0.0);
  facts.set("importance.loss", table ? table->loss : std::nan(""));
  facts.set("importance.differing", table ? static_cast<double>(table->count_differing()) : 0.0);
  facts.set("importance.seconds", sweep ? sweep->seconds : 0.0);
  const std::optional<HeadRef>& head = state.view.selection.head;
  const auto place = table && head ? table->place({head->layer, head->head}) : std::nullopt;
  facts.set("importance.change", place ? table->delta[*place] : std::nan(""));
  facts.set("importance.interval", place ? table->interval(*place) : std::nan(""));
}

// Of the corpus that is shown: what its numbers are, every digit.
void describe_corpus(const State& state, Facts& facts) {
  const CorpusState& view = state.view.corpus;
  facts.set("corpus.statistic", std::string(view.share ? "share" : word_of(view.statistic)));
  facts.set("corpus.side", std::string(word_of(view.side)));
  facts.set("corpus.list", std::string(word_of(view.list)));
  facts.set("corpus.sort", std::string(word_of(view.sort)) + (view.descending ? " descending" : ""));
  facts.set("corpus.sequence", view.sequence ? "S" + std::to_string(*view.sequence) : "none");
  const CorpusEntry* corpus = state.corpus();
  facts.set("corpus.run", state.corpus_wish.planning                    ? "planning"
                          : corpus == nullptr || !corpus->growing()     ? "none"
                          : state.shown()->status == RunStatus::Running ? "running"
                                                                        : "stopped");
  facts.set("corpus.wish", state.corpus_wish.failed);
  facts.set("corpus", corpus ? (corpus->file->steps.empty() ? "corpus" : "series") : "none");
  if (!corpus || !corpus->statistics) return;
  facts.set("corpus.loss", of(corpus->statistics->next_token_loss, Statistic::Mean));
  facts.set("corpus.loss_error", of(corpus->statistics->next_token_loss, Statistic::StandardError));
  facts.set("corpus.values", corpus->values ? corpus->values->quantity : "none");
}

void describe_window(const State& state, Facts& facts) {
  facts.set("prompt.title", state.prompt.title);
  facts.set("prompt.shown", prompt_text(state));
  set_flag(facts, "residual.keep", state.keep_residual);
  set_flag(facts, "rounding", state.extra.rounding);
  set_flag(facts, "premise", state.extra.premise);
  facts.set("prompt.first", static_cast<double>(state.prompt.max_tokens));
  const Settings& settings = state.settings;
  facts.set("settings.device", settings.device);
  facts.set("settings.dtype", settings.dtype);
  facts.set("settings.backend", settings.backend);
  facts.set("settings.memory", settings.memory_gb);
  facts.set("settings.tile_memory", settings.tile_mb);
  facts.set("settings.colours", std::string(word_of(settings.colours)));
  facts.set("settings.signed_colours", std::string(word_of(settings.signed_colours)));
  facts.set("settings.scale", settings.scale);
  facts.set("settings.keys", static_cast<double>(settings.keys.size()));
  const Layout& layout = state.layout;
  std::vector<std::string> folded;
  for (const auto& [name, is] :
       {std::pair{"heads", layout.heads_folded}, {"head", layout.head_folded}, {"tokens", layout.tokens_folded}})
    if (is) folded.emplace_back(name);
  facts.set("folded", listed(folded));
  facts.set("panels", listed(state.panels_shown));
  facts.set("head_width", static_cast<double>(layout.head_width));
  set_flag(facts, "developer", state.developer);
}

}  // namespace

void describe_state(const State& state, Facts& facts) {
  const RunEntry* run = state.shown();
  facts.set("runs", static_cast<double>(state.runs.size()));
  facts.set("models", static_cast<double>(state.models.size()));
  facts.set("errors", static_cast<double>(state.errors.size()));
  facts.set("warnings", static_cast<double>(state.unseen_warnings));
  facts.set("unseen_errors", static_cast<double>(state.unseen_errors));
  facts.set("run.status", run ? std::string(status_name(run->status)) : "none");
  facts.set("run.name", run ? run->name : "");
  facts.set("run.id", run ? run->id : -1);
  const RunSnapshot* data = state.data();
  facts.set("run.tokens", data ? static_cast<double>(data->length) : 0.0);
  facts.set("run.layers", data ? static_cast<double>(data->finished_layers()) : 0.0);
  facts.set("run.loss", data && data->next_token_loss ? *data->next_token_loss : std::nan(""));
  const RunEntry* other = state.other();
  const RunBudget* budget = run && run->budget ? run->budget.get() : state.estimate.get();
  facts.set("run.refused", run && run->refused ? 1.0 : 0.0);
  facts.set("run.estimate_bytes", budget ? static_cast<double>(budget->fit.needed_bytes) : 0.0);
  facts.set("run.budget_bytes", budget ? static_cast<double>(budget->budget_bytes) : 0.0);
  facts.set("run.kept_layers", budget ? static_cast<double>(budget->fit.kept_layers) : 0.0);
  facts.set("estimate.tokens", state.estimate ? static_cast<double>(state.estimate->memory.length) : 0.0);
  facts.set("estimate.bytes", state.estimate ? static_cast<double>(state.estimate->fit.needed_bytes) : 0.0);
  facts.set("estimate.budget_bytes", state.estimate ? static_cast<double>(state.estimate->budget_bytes) : 0.0);
  facts.set("estimate.kept_layers", state.estimate ? static_cast<double>(state.estimate->fit.kept_layers) : 0.0);
  facts.set("other.name", other ? other->name : "");
  facts.set("other.status", other ? std::string(status_name(other->status)) : "none");
  facts.set("other.loss",
            other && other->data && other->data->next_token_loss ? *other->data->next_token_loss : std::nan(""));
  const Selection& selection = state.view.selection;
  facts.set("select.head", selection.head ? head_text(*selection.head) : "none");
  facts.set("select.query", selection.query ? static_cast<double>(*selection.query) : -1.0);
  facts.set("select.key", selection.key ? static_cast<double>(*selection.key) : -1.0);
  // Only what the run measures: a fact that is NaN is a number that is not defined for this head.
  if (const LayerSnapshot* layer = data && selection.head ? data->layer(selection.head->layer) : nullptr)
    for (const Quantity& quantity : head_quantities())
      if (const auto values = layer->values(quantity.name, selection.head->head);
          quantity.group.empty() && !values.empty())
        facts.set("head." + std::string(quantity.name), values.front());
  facts.set("centre", std::string(EnumWords<CentreView>::words[static_cast<std::size_t>(state.view.centre)]));
  facts.set("circuit.token", static_cast<double>(state.circuit_token().value_or(-1)));
  describe_importance(state, facts);
  facts.set("overlay", static_cast<double>(static_cast<int>(state.overlay)));
  facts.set("theme", std::string(state.settings.dark ? "dark" : "light"));
  facts.set("can_undo", state.can_undo ? 1.0 : 0.0);
  const TrainingView& training = state.view.training;
  facts.set("training.x", training.log_steps ? "log" : "linear");
  facts.set("training.seeds", training.seed_range ? "range" : "each");
  facts.set("training.smooth", static_cast<double>(training.smooth));
  facts.set("training.heads", training.all_heads ? "all" : "one");
  facts.set("training.zoom",
            training.range ? format("%.0f %.0f", training.range->first, training.range->second) : "all");
  describe_view(state.view, facts);
  describe_corpus(state, facts);
  describe_window(state, facts);
}

}  // namespace headroom
