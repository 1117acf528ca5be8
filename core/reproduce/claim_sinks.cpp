// Claim 4: attention sinks of softmax and of V2, with and without a BOS, by every definition of M1.
#include <cmath>

#include "core/base/format.h"
#include "core/reproduce/claims.h"

namespace headroom {
namespace {

constexpr double kSink = 0.3;  // Gu et al.'s ε

}  // namespace

Result<ClaimReport> examine_sinks(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 4;
  report.title = "Attention sinks";
  report.claim = "DIFF V2 removes attention sinks, which softmax needs in order to put out nothing.";
  struct Place {
    const char* recipe;
    const char* shown;
  };
  for (const Place place : {Place{"trigger_bos", "trigger, with BOS"}, Place{"trigger_no_bos", "trigger, without BOS"},
                            Place{"backcopy", "bigram-backcopy"}, Place{"bytes", "bytes"}}) {
    ClaimTable table;
    const Recipe& recipe = study.recipe(place.recipe);
    table.caption = std::string(place.shown) + ": attention to key 0, mean over heads ± standard deviation over seeds";
    table.columns = {"heads", "first map α₀", "second map α₀", "net w̄₀", "absolute share", "heads above 0.3 (first, net, absolute)",
                     "‖v₀‖/mean ‖v‖", "validation loss"};
    std::map<std::string, Spread> first, net, absolute, loss;
    for (const char* kind : {"softmax", "softmax_one", "softmax_sink", "gated", "diff_v1", "diff_v1_no_norm", "diff_v2"}) {
      const auto number = [&](const char* name, std::size_t index) {
        return study.spread(place.recipe, kind, Moment::Trained, [&](const Evaluation& e) { return e.over_heads(name, index); });
      };
      const auto share = [&](const char* name) -> Result<Spread> {
        return study.spread(place.recipe, kind, Moment::Trained, [&](const Evaluation& e) {
          double above = 0.0;
          for (std::int64_t l = 0; l < e.layers; ++l)
            for (std::int64_t h = 0; h < e.heads; ++h) above += e.at(name, l, h) > kSink ? 1.0 : 0.0;
          return above / static_cast<double>(e.layers * e.heads);
        });
      };
      HEADROOM_TRY(first[kind], number("sink_score", 0));
      HEADROOM_TRY(const Spread second, number("sink_score", 1));
      HEADROOM_TRY(net[kind], number("sink_score_net", 0));
      HEADROOM_TRY(absolute[kind], number("sink_score_absolute", 0));
      HEADROOM_TRY(const Spread drain, number("value_drain", 0));
      HEADROOM_TRY(const Spread a, share("sink_score"));
      HEADROOM_TRY(const Spread b, share("sink_score_net"));
      HEADROOM_TRY(const Spread c, share("sink_score_absolute"));
      HEADROOM_TRY(loss[kind], study.history_spread(place.recipe, kind, "validation_loss",
                                                    [](const std::vector<double>& values) { return values.back(); }));
      table.rows.push_back({std::string(kind), first[kind], second, net[kind], absolute[kind],
                            format("%.2f, %.2f, %.2f", a.mean(), b.mean(), c.mean()), drain, loss[kind]});
    }
    double harmonic = 0.0;
    for (std::int64_t k = 1; k <= recipe.task->length(); ++k) harmonic += 1.0 / static_cast<double>(k);
    const double null_value = harmonic / static_cast<double>(recipe.task->length());
    table.caption += format("; uniform attention gives %.3f", null_value);
    report.tables.push_back(std::move(table));

    const std::string where = std::string(place.shown) + ": ";
    if (first["softmax"].least() <= kSink) {
      report.findings.push_back({where + "softmax grows a sink (α₀ above 0.3): " + first["softmax"].text() + ".",
                                 first["softmax"].most() > kSink ? Verdict::Mixed : Verdict::Differs});
      if (place.recipe == std::string("trigger_no_bos"))
        report.findings.push_back({where + "without a key to park on softmax fails where V2 succeeds: mean square error " +
                                       loss["softmax"].text() + " against " + loss["diff_v2"].text() + ".",
                                   loss["softmax"].least() > 1e-3 && loss["diff_v2"].most() < 1e-3 ? Verdict::Agrees : Verdict::Differs});
      continue;
    }
    const auto below = [](const Spread& spread) {
      std::vector<bool> holds;
      for (const double value : spread.values) holds.push_back(value < kSink);
      return verdict_of(holds);
    };
    report.findings.push_back({where + "V2's first map has no sink: α₀ " + first["diff_v2"].text() + ", softmax's " + first["softmax"].text() + ".",
                               below(first["diff_v2"])});
    report.findings.push_back({where + "V2's net map has no sink: w̄₀ " + net["diff_v2"].text() + ", softmax's " + net["softmax"].text() + ".",
                               below(net["diff_v2"])});
    report.findings.push_back({where + "V2's net map has no sink as a share of its absolute mass: " + absolute["diff_v2"].text() + ", softmax's " +
                                   absolute["softmax"].text() + ".",
                               below(absolute["diff_v2"])});
  }
  report.remarks = "Whether a sink is removed depends on the definition: component maps, net map, or share of the net map's absolute mass (M1d).";
  return report;
}

}  // namespace headroom
