// Claim 6: does a trained softmax model learn differences, W_O of one head the negative of another's?
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/format.h"
#include "core/reproduce/claims.h"

namespace headroom {
namespace {

struct Pairs {
  std::vector<double> cosines;
  double null_deviation = 0.0;  // 1/√(D·d): of random matrices
};

// cos_F of all pairs of heads that share their values.
Result<Pairs> measure_pairs(Study& study, const OpenedModel& opened, const ModelSpec& model) {
  Pairs pairs;
  EvaluationRequest request;
  request.source = &opened.source;
  request.model = &model;
  request.sequences = {{0, 1, 2, 3}};
  request.visit = [&](const HeadView& head, std::size_t) {
    const auto heads = static_cast<std::size_t>(model.num_heads);
    const auto row = static_cast<std::size_t>(head.head.head);
    for (std::size_t other = row + 1; other < heads; ++other)
      if (const double cosine = head.layer.output_alignment[row * heads + other]; !std::isnan(cosine))
        pairs.cosines.push_back(cosine);
  };
  HEADROOM_TRY([[maybe_unused]] const Evaluation evaluated, evaluate(study.backend(), request, study.stop()));
  pairs.null_deviation =
      1.0 / std::sqrt(static_cast<double>(model.hidden_size * model.blocks.front().attention.context_dim()));
  return pairs;
}

void add_row(ClaimTable& table, ClaimReport& report, const std::string& name, const Pairs& pairs) {
  const auto count = static_cast<double>(pairs.cosines.size());
  double sum = 0.0, squares = 0.0, least = 1.0;
  for (const double cosine : pairs.cosines) sum += cosine, squares += cosine * cosine, least = std::min(least, cosine);
  // The smallest of `count` draws from the null is about −σ√(2 ln count).
  const double expected = -pairs.null_deviation * std::sqrt(2.0 * std::log(std::max(count, 2.0)));
  const auto opposed = std::ranges::count_if(pairs.cosines, [](double cosine) { return cosine < -0.5; });
  table.rows.push_back({name, count, sum / count, std::sqrt(std::max(0.0, squares / count - sum * sum / count / count)),
                        pairs.null_deviation, least, expected, static_cast<double>(opposed)});
  report.findings.push_back(
      {format(
           "%s: %lld of %.0f pairs have cos below −0.5; the smallest is %.3f, random matrices would give about %.3f.",
           name.c_str(), static_cast<long long>(opposed), count, least, expected),
       opposed > 0 ? Verdict::Agrees : Verdict::Differs});
}

}  // namespace

Result<ClaimReport> examine_output_alignment(Study& study, const ClaimOptions& options) {
  ClaimReport report;
  report.number = 6;
  report.title = "W_O blocks of trained softmax heads";
  report.claim =
      "A Transformer of 2h heads could learn what V2 builds in by W_O^{2i} ≈ −W_O^{2i+1} within a GQA group.";
  ClaimTable table;
  table.caption = "cos_F of the W_O blocks of all pairs of heads in one GQA group";
  table.columns = {
      "model",     "pairs", "mean", "standard deviation", "of random matrices", "smallest", "expected of random ones",
      "below −0.5"};
  Pairs all;
  const Recipe& bytes = study.recipe("bytes");
  for (const std::uint64_t seed : bytes.seeds) {
    HEADROOM_TRY(const StudiedModel* model, study.model(bytes, *find_variant(bytes, "softmax"), seed, Moment::Trained));
    HEADROOM_TRY(const Pairs pairs, measure_pairs(study, model->opened, model->spec));
    all.cosines.insert(all.cosines.end(), pairs.cosines.begin(), pairs.cosines.end());
    all.null_deviation = pairs.null_deviation;
  }
  add_row(table, report, "bytes, softmax, all seeds", all);
  if (options.checkpoint) {
    HEADROOM_TRY(const OpenedModel opened, open_model(*options.checkpoint, {}));
    HEADROOM_TRY(const Pairs pairs, measure_pairs(study, opened, opened.spec));
    if (!pairs.cosines.empty()) add_row(table, report, opened.checkpoint->name(), pairs);
  }
  report.tables.push_back(std::move(table));
  report.remarks = options.checkpoint ? "" : "--checkpoint PATH adds a larger trained model.";
  return report;
}

}  // namespace headroom
