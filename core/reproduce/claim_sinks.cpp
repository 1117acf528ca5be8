// Claim 4: attention sinks of softmax and of V2, with and without a BOS, by every definition of a sink.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/reproduce/claims.h"
#include "core/reproduce/measures.h"

namespace headroom {
namespace {

constexpr double kSink = 0.3;     // Gu et al.'s ε (arXiv 2410.10781)
constexpr double kSolved = 1e-3;  // mean square error of the trigger task
constexpr const char* kSinkKinds[] = {"softmax", "softmax_one",     "softmax_sink", "gated",
                                      "diff_v1", "diff_v1_no_norm", "diff_v2"};

using Spreads = std::map<std::string, Spread>;  // by kind

double share_above(const Evaluation& e, const char* name) {
  double above = 0.0;
  for (std::int64_t l = 0; l < e.layers; ++l)
    for (std::int64_t h = 0; h < e.heads; ++h) above += e.at(name, l, h) > kSink ? 1.0 : 0.0;
  return above / static_cast<double>(e.layers * e.heads);
}

// Attention to key 0 on one set of rows, by kind of head.
struct SinkScores {
  Spreads first, second, net, absolute;
};

// On all rows; `loss` receives the last validation losses.
Result<SinkScores> add_scores(Study& study, const char* recipe, const std::string& shown, ClaimReport& report,
                              Spreads& loss) {
  const std::int64_t length = study.recipe(recipe).task->length();
  double null_score = 0.0;
  for (std::int64_t k = 1; k <= length; ++k) null_score += 1.0 / static_cast<double>(k * length);
  ClaimTable table;
  table.caption =
      shown +
      format(
          ": attention to key 0 on all rows, mean over heads ± standard deviation over seeds; uniform attention gives "
          "%.3f",
          null_score);
  table.columns = {"heads",          "first map α₀",           "second map α₀", "net w̄₀",
                   "absolute share", "heads above 0.3: first", "net",           "absolute",
                   "‖v₀‖/mean ‖v‖",  "validation loss"};
  SinkScores scores;
  for (const char* kind : kSinkKinds) {
    if (!find_variant(study.recipe(recipe), kind)) continue;
    const auto number = [&](const char* name, std::size_t index) {
      return study.spread(recipe, kind, Moment::Trained,
                          [&](const Evaluation& e) { return e.over_heads(name, index); });
    };
    const auto share = [&](const char* name) {
      return study.spread(recipe, kind, Moment::Trained, [&](const Evaluation& e) { return share_above(e, name); });
    };
    HEADROOM_TRY(scores.first[kind], number("sink_score", 0));
    HEADROOM_TRY(scores.second[kind], number("sink_score", 1));
    HEADROOM_TRY(scores.net[kind], number("sink_score_net", 0));
    HEADROOM_TRY(scores.absolute[kind], number("sink_score_absolute", 0));
    HEADROOM_TRY(const Spread drain, number("value_drain", 0));
    HEADROOM_TRY(const Spread first_share, share("sink_score"));
    HEADROOM_TRY(const Spread net_share, share("sink_score_net"));
    HEADROOM_TRY(const Spread absolute_share, share("sink_score_absolute"));
    HEADROOM_TRY(loss[kind], measured(study, recipe, kind, validation_loss()));
    table.rows.push_back({std::string(kind), scores.first[kind], scores.second[kind], scores.net[kind],
                          scores.absolute[kind], first_share, net_share, absolute_share, drain, loss[kind]});
  }
  report.tables.push_back(std::move(table));
  return scores;
}

// What a head does on rows where the task asks something of attention, and where it has nothing to do.
struct RowMeans {
  double first_key = 0.0, second_key = 0.0, net_key = 0.0, absolute_key = 0.0, lambda = 0.0, rho = 0.0, weight_l2 = 0.0,
         cancellation = 0.0, rows = 0.0;
};

Result<RowMeans> row_means(Study& study, const StudiedModel& model, bool acting) {
  RowMeans means;
  EvaluationRequest request;
  request.source = &model.opened.source;
  request.model = &model.spec;
  request.sequences = evaluation_sequences(*model.recipe->task);
  request.visit = [&](const HeadView& head, std::size_t sequence) {
    const kernels::HeadStatistics& statistics = head.head.statistics;
    for (std::int64_t row = 1; row < head.length; ++row) {
      const auto i = static_cast<std::size_t>(row);
      if (model.recipe->task->asks(request.sequences[sequence], row) != acting) continue;
      const auto first_key = [&](std::size_t m) {
        return head.has[m] ? statistics.maps[m].first_key_weight[i] : std::nan("");
      };
      const double lambda = head.lambda(row), rms = head.head.context_rms[i];
      const auto energy = [&](std::size_t m) { return head.has[m] ? statistics.maps[m].context_energy[i] : 0.0; };
      const double apart = energy(0) + lambda * lambda * energy(1);
      means.first_key += first_key(0);
      means.second_key += first_key(1);
      means.net_key += first_key(0) - (head.has[1] ? lambda * first_key(1) : 0.0);
      means.absolute_key += statistics.first_key_absolute[i] / statistics.weight_l1[i];
      means.lambda += head.has[1] ? lambda : std::nan("");
      means.rho += head.rho[i];
      means.weight_l2 += std::sqrt(statistics.weight_l2_squared[i]);
      means.cancellation +=
          head.has[1] ? std::sqrt(rms * rms * static_cast<double>(head.layer.context_dim) / apart) : std::nan("");
      means.rows += 1.0;
    }
  };
  HEADROOM_TRY([[maybe_unused]] const Evaluation evaluated, evaluate(study.backend(), request, study.stop()));
  return means;
}

// The scores of the idle rows.
Result<SinkScores> add_rows(Study& study, const char* name, const std::string& shown, ClaimReport& report) {
  const Recipe& recipe = study.recipe(name);
  ClaimTable table;
  table.caption = shown + ": rows at a trigger, and idle rows, where attention has nothing to do (row 0 left out)";
  table.columns = {"heads", "rows", "to key 0: first",    "second", "net", "absolute share", "λ",
                   "ρ",     "‖w‖₂", "output cancellation"};
  SinkScores idle;
  for (const char* kind : kSinkKinds)
    for (const bool acting : {false, true}) {
      const Variant* variant = find_variant(recipe, kind);
      if (!variant) continue;
      Spread first, second, net, absolute, lambda, rho, norm, cancellation;
      for (const std::uint64_t seed : variant->seeds) {
        HEADROOM_TRY(const StudiedModel* model, study.model(recipe, *variant, seed, Moment::Trained));
        HEADROOM_TRY(const RowMeans means, row_means(study, *model, acting));
        const std::pair<Spread*, double> sums[] = {{&first, means.first_key}, {&second, means.second_key},
                                                   {&net, means.net_key},     {&absolute, means.absolute_key},
                                                   {&lambda, means.lambda},   {&rho, means.rho},
                                                   {&norm, means.weight_l2},  {&cancellation, means.cancellation}};
        for (const auto& [spread, sum] : sums) spread->values.push_back(sum / means.rows);
      }
      table.rows.push_back({std::string(kind), std::string(acting ? "trigger" : "idle"), first, second, net, absolute,
                            lambda, rho, norm, cancellation});
      if (!acting)
        idle.first[kind] = first, idle.second[kind] = second, idle.net[kind] = net, idle.absolute[kind] = absolute;
    }
  report.tables.push_back(std::move(table));
  return idle;
}

}  // namespace

Result<ClaimReport> examine_sinks(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 4;
  report.title = "Attention sinks";
  report.claim = "Softmax needs a sink in order to put out nothing; DIFF V2 does not, and has none.";
  struct Place {
    const char* recipe;
    const char* shown;
    bool triggers, bos;
  };
  for (const Place place : {Place{"trigger_bos", "Trigger task with BOS", true, true},
                            Place{"trigger_no_bos", "Trigger task without BOS", true, false},
                            Place{"backcopy", "Bigram-Backcopy", true, true},
                            Place{"backcopy_slow", "Bigram-Backcopy, a third of the learning rate", true, true},
                            Place{"bytes", "Bytes", false, true}}) {
    Spreads loss;
    HEADROOM_TRY(SinkScores scores, add_scores(study, place.recipe, place.shown, report, loss));
    if (place.triggers) {
      HEADROOM_TRY(scores, add_rows(study, place.recipe, place.shown, report));
    }
    const std::string where = std::string(place.shown) + ": ", rows = place.triggers ? " in idle rows" : "";
    const auto of_seeds = [&](const std::string& text, const Spread& numbers, bool above, double limit) {
      std::vector<bool> holds;
      for (const double value : numbers.values) holds.push_back(above ? value > limit : value < limit);
      report.sentences.push_back(of_most(where + text, holds, numbers.text()));
      return static_cast<std::size_t>(std::ranges::count(holds, true));
    };
    if (!place.bos) {
      const std::string error = format(" a mean square error of %g", kSolved);
      of_seeds("without a key to park on softmax stays above" + error, loss["softmax"], true, kSolved);
      of_seeds("without a key to park on V2 gets below" + error, loss["diff_v2"], false, kSolved);
      continue;
    }
    const std::size_t sinks =
        of_seeds("softmax puts more than 0.3 of its attention on key 0" + rows, scores.first["softmax"], true, kSink);
    if (sinks == 0) continue;  // nothing that V2 could lack
    of_seeds("V2's first map puts less than 0.3 on key 0" + rows, scores.first["diff_v2"], false, kSink);
    of_seeds("V2's second map puts less than 0.3 on key 0" + rows, scores.second["diff_v2"], false, kSink);
    of_seeds("V2's net weight of key 0 is below 0.3" + rows, scores.net["diff_v2"], false, kSink);
    of_seeds("key 0 has less than 0.3 of V2's absolute weight" + rows, scores.absolute["diff_v2"], false, kSink);
    const Recipe& recipe = study.recipe(place.recipe);
    report.sentences.push_back(smaller(
        where + "The net weight of key 0" + rows, {"V2", scores.net["diff_v2"]}, {"softmax", scores.net["softmax"]},
        common_start(*find_variant(recipe, "diff_v2"), *find_variant(recipe, "softmax"))));
  }
  report.remarks =
      "Whether V2 removes sinks depends on what is called one: attention of its maps, of their difference, or the share of the "
      "difference's absolute mass. Both kinds of heads are judged on the same rows: those where attention has nothing to do, which a "
      "sink is for (bytes have none: all rows); the tables have all rows, and the trigger's. Where softmax has no sink in any seed, there "
      "is none that V2 could lack.";
  return report;
}

}  // namespace headroom
