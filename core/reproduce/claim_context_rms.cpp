// Claim 1: where the context RMS of each kind of head lies, before and after training.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/measure/quantity_tools.h"
#include "core/reproduce/claims.h"

namespace headroom {
namespace {

struct Kind {
  const char* recipe;
  const char* variant;
  const char* shown;
};

constexpr Kind kRmsKinds[] = {{"bytes", "softmax", "softmax"},
                              {"bytes", "softmax_one", "softmax_one"},
                              {"bytes", "softmax_sink", "softmax_sink"},
                              {"bytes", "gated", "gated (before its gate)"},
                              {"bytes", "diff_v1", "DIFF V1, before its norm"},
                              {"bytes", "diff_v1_no_norm", "DIFF V1 without norm"},
                              {"bytes", "diff_v2", "DIFF V2"},
                              {"bytes_ablations", "no_lambda", "V2 without λ"},
                              {"bytes_ablations", "raw_lambda", "V2, λ without sigmoid"},
                              {"bytes_ablations", "wrong_pairing", "V2, wrong pairing"}};

// Places of .05, .5, .95 and 1 among quantile_points().
constexpr std::size_t kFive = 2, kHalf = 5, kNinetyFive = 8, kLargest = 10;
constexpr std::size_t kSoftmaxBound = 0, kV2Bound = 1;
constexpr double kClose = 1e-3;  // of an RMS that V1's ε leaves below 1

// RMS(c_i)·gain_i of V1's norm, mean over rows, heads and sequences.
Result<Spread> after_norm(Study& study, Moment moment) {
  const Recipe& recipe = study.recipe("bytes");
  Spread result;
  const Variant& v1 = *find_variant(recipe, "diff_v1");
  for (const std::uint64_t seed : v1.seeds) {
    HEADROOM_TRY(const StudiedModel* model, study.model(recipe, v1, seed, moment));
    double sum = 0.0, count = 0.0;
    EvaluationRequest request;
    request.source = &model->opened.source;
    request.model = &model->spec;
    request.sequences = evaluation_sequences(*recipe.task, 8);
    request.visit = [&](const HeadView& head, std::size_t) {
      for (const double rms : head.head.context_rms)
        sum += rms / std::sqrt(rms * rms + head.head.norm_epsilon), count += 1.0;
    };
    HEADROOM_TRY([[maybe_unused]] const Evaluation evaluated, evaluate(study.backend(), request, study.stop()));
    result.values.push_back(sum / count);
  }
  return result;
}

}  // namespace

Result<ClaimReport> examine_context_rms(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 1;
  report.title = "Context RMS";
  report.claim =
      "Softmax keeps a head's context RMS in [1/√n, 1), DIFF V2 lets it reach (0, √2); V1's norm puts it back to 1; without "
      "λ it is too small at initialisation, without the sigmoid it has no upper bound.";
  std::map<std::string, Spread> half, below_softmax, inside_softmax, inside_v2, above_v2, norm_of_weights, after;
  for (const Moment moment : {Moment::Initial, Moment::Trained}) {
    const std::string when = moment == Moment::Initial ? "initial" : "trained";
    ClaimTable table;
    table.caption = std::string("ρ = RMS(c_i)/r̄_i on the byte models, ") +
                    (moment == Moment::Initial ? "before the first step" : "after training") +
                    ": mean over heads ± standard deviation over seeds";
    table.columns = {"heads", "5 %", "median", "95 %", "largest", "‖w‖₂", "below 1/√n", "in [1/√n, 1)", "in (0, √2)"};
    for (const Kind& kind : kRmsKinds) {
      const auto number = [&](const char* name, std::size_t index) {
        return study.spread(kind.recipe, kind.variant, moment,
                            [&](const Evaluation& e) { return e.over_heads(name, index); });
      };
      std::vector<Cell> row = {std::string(kind.shown)};
      const std::string key = std::string(kind.variant) + when;
      for (const std::size_t index : {kFive, kHalf, kNinetyFive, kLargest}) {
        HEADROOM_TRY(const Spread value, number("context_rms_relative_quantile", index));
        if (index == kHalf) half[key] = value;
        row.emplace_back(value);
      }
      HEADROOM_TRY(norm_of_weights[key], number("weight_l2_mean", 0));
      HEADROOM_TRY(below_softmax[key], number("rows_below_bound", kSoftmaxBound));
      HEADROOM_TRY(inside_softmax[key], number("rows_inside_bound", kSoftmaxBound));
      HEADROOM_TRY(inside_v2[key], number("rows_inside_bound", kV2Bound));
      HEADROOM_TRY(above_v2[key], number("rows_above_bound", kV2Bound));
      row.insert(row.end(), {norm_of_weights[key], below_softmax[key], inside_softmax[key], inside_v2[key]});
      table.rows.push_back(std::move(row));
    }
    HEADROOM_TRY(after[when], after_norm(study, moment));
    report.tables.push_back(std::move(table));
    report.tables.push_back(
        {"DIFF V1 after its norm, " + when, {"", "mean RMS"}, {{std::string("RMS(c_i) · gain_i"), after[when]}}});
  }

  const auto universal = [&](const std::string& text, const Spread& share) {
    report.sentences.push_back(exact(text, "a share of " + share.text() + " of the rows", share.least() >= 1.0));
  };
  universal("Softmax keeps every row of a trained model in [1/√n, 1)", inside_softmax["softmaxtrained"]);
  universal("DIFF V2 keeps every row of a trained model in (0, √2)", inside_v2["diff_v2trained"]);
  const Spread& normed = after["trained"];
  report.sentences.push_back(exact("V1's norm puts the RMS of a trained head's context back to 1", normed.text(),
                                   std::max(std::abs(normed.least() - 1.0), std::abs(normed.most() - 1.0)) < kClose));
  const Recipe &bytes = study.recipe("bytes"), &ablations = study.recipe("bytes_ablations");
  const auto start_of = [&](const char* ablation) {
    return common_start(*find_variant(bytes, "diff_v2"), *find_variant(ablations, ablation));
  };
  const Start others = common_start(*find_variant(bytes, "diff_v2"), *find_variant(bytes, "softmax"));
  report.sentences.push_back(smaller("The share of rows below softmax's lower bound 1/√n, after training,",
                                     {"softmax", below_softmax["softmaxtrained"]},
                                     {"V2", below_softmax["diff_v2trained"]}, others));
  report.sentences.push_back(smaller("The median ρ at initialisation", {"V2 without λ", half["no_lambdainitial"]},
                                     {"V2", half["diff_v2initial"]}, start_of("no_lambda")));
  report.sentences.push_back(smaller("The share of rows above √2, after training,", {"V2", above_v2["diff_v2trained"]},
                                     {"V2, λ without sigmoid", above_v2["raw_lambdatrained"]}, start_of("raw_lambda")));
  report.sentences.push_back(smaller("The norm of the net weights, ‖w‖₂, after training,",
                                     {"V2", norm_of_weights["diff_v2trained"]},
                                     {"softmax", norm_of_weights["softmaxtrained"]}, others));
  report.remarks =
      "The interval is a statement on ‖w‖₂; that ρ follows it supposes uncorrelated values, which byte models of "
      "64 tokens with 16 channels need not have. n is at most 64. Matrices begin with σ = 1/√inputs, so that logits deviate by about 1 and "
      "the two maps of a head differ; the nearer to uniform, and so to each other, they begin, the less V2 without λ puts out.";
  return report;
}

}  // namespace headroom
