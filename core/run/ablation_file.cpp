#include "core/run/ablation_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/measure/quantity.h"
#include "core/measure/quantity_sources.h"
#include "core/run/ablation_summary.h"
#include "core/run/provenance.h"
#include "core/run/run_layout.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

constexpr std::string_view kSet = "set";
constexpr Reference kMichel = {"Michel et al. 2019", "Are Sixteen Heads Really Better than One?", "arXiv 1905.10650"};

Quantity delta_of(std::string_view name, Per per, std::vector<std::string_view> axes, std::string_view formula) {
  return {.name = name,
          .per = per,
          .axes = std::move(axes),
          .type = ElementType::Float64,
          .units = "nat",
          .long_name = "change of the next-token loss",
          .formula = formula,
          .remark = "NaN where it was not computed",
          .range = "(−∞, ∞)",
          .sources = {kMichel}};
}

Quantity error_of(std::string_view name, Per per, std::vector<std::string_view> axes) {
  Quantity error =
      delta_of(name, per, std::move(axes),
               "√(B/(B − 1) · Σ_b (Σ_{t in b} (d_t − delta_loss))²)/(n − 1), d_t = delta_loss_by_token, B blocks of "
               "consecutive tokens (attribute blocks)");
  error.long_name = "standard error of the change of the next-token loss, over the tokens of this text";
  error.range = "[0, ∞)";
  error.remark = "NaN where it was not computed, or the text has too few tokens for 4 blocks of 8";
  return error;
}

std::vector<Quantity> ablation_quantities(bool sets, bool by_token) {
  std::vector<Quantity> all = {
      delta_of("delta_loss", Per::Head, {}, "mean over tokens t ≥ 1 of loss_t with the head changed − token_loss_t"),
      {.name = "token_loss",
       .per = Per::Run,
       .axes = {axis::kPosition},
       .type = ElementType::Float64,
       .units = "nat",
       .long_name = "loss of a token",
       .formula = "log Σ_v exp(logit_v) − logit of the token, by the row before it, of the model unchanged",
       .remark = "NaN for token 0",
       .range = "[0, ∞)",
       .sources = {source::kSymbols}}};
  all.push_back(error_of("delta_loss_se", Per::Head, {}));
  if (by_token)
    all.push_back(delta_of("delta_loss_by_token", Per::Head, {axis::kPosition},
                           "loss_t with the head changed − token_loss_t; token 0 has none"));
  if (sets) {
    all.push_back(delta_of("set_delta_loss", Per::Run, {kSet}, "delta_loss with all heads of the set changed"));
    all.push_back(error_of("set_delta_loss_se", Per::Run, {kSet}));
    if (by_token)
      all.push_back(delta_of("set_delta_loss_by_token", Per::Run, {kSet, axis::kPosition},
                             "delta_loss_by_token with all heads of the set changed"));
  }
  return all;
}

// Token 0 has no loss.
std::vector<double> from_token_1(const std::vector<double>& values) {
  std::vector<double> all = {kNaN};
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

Result<void> define(RunFileWriter& writer, const AblationOutcome& outcome, bool by_token) {
  const auto to_doubles = [](const std::vector<std::int64_t>& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  const SummaryTable& table = outcome.summary;
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("layer", to_doubles(table.layers), "layer of the model, from 0")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("head", to_doubles(table.heads), "output head, from 0")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("component", {0, 1}, "0: first map, 1: second map")));
  std::vector<double> positions(static_cast<std::size_t>(outcome.length));
  std::iota(positions.begin(), positions.end(), 0.0);
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("position", std::move(positions), "token position, from 0")));
  std::vector<std::string> sets;
  for (std::size_t i = outcome.singles; i < outcome.results.size(); ++i)
    sets.push_back(set_name(outcome.results[i].heads));
  const bool has_sets = !sets.empty();
  if (has_sets)
    HEADROOM_TRY_VOID(
        writer.add_axis(label_axis(std::string(kSet), std::move(sets), "heads that are changed together")));
  for (const Quantity& quantity : ablation_quantities(has_sets, by_token))
    HEADROOM_TRY_VOID(define_quantity(writer, quantity, ElementType::Float64));
  HEADROOM_TRY_VOID(define_quantity(writer, *find_quantity("", "sink_score"), ElementType::Float64));
  for (const Quantity& quantity : other_quantities())
    if (quantity.group == "tokens" && quantity.per == Per::Run)
      HEADROOM_TRY_VOID(define_quantity(writer, quantity, ElementType::Float64));
  return {};
}

Result<void> write_results(RunFileWriter& writer, const AblationOutcome& outcome, bool by_token) {
  const std::int64_t length = outcome.length;
  const TokenSpread spread = token_spread(outcome);
  const auto place = [](const std::vector<std::int64_t>& of, std::int64_t value) {
    return static_cast<std::int64_t>(std::ranges::lower_bound(of, value) - of.begin());
  };
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    const AblatedSet& result = outcome.results[i];
    if (!result.done()) continue;
    std::vector<std::int64_t> start = {static_cast<std::int64_t>(i - outcome.singles)}, count = {1};
    const bool single = i < outcome.singles;
    if (single) {
      start = {place(outcome.summary.layers, result.heads.front().layer),
               place(outcome.summary.heads, result.heads.front().head)};
      count = {1, 1};
    }
    HEADROOM_TRY_VOID(
        writer.write(single ? "delta_loss" : "set_delta_loss", start, count, std::array<double, 1>{result.delta_loss}));
    HEADROOM_TRY_VOID(writer.write(single ? "delta_loss_se" : "set_delta_loss_se", start, count,
                                   std::array<double, 1>{spread.standard_error[i]}));
    if (!by_token) continue;
    start.push_back(0);
    count.push_back(length);
    std::vector<double> changes = from_token_1(result.by_token);
    changes.resize(static_cast<std::size_t>(length), kNaN);
    HEADROOM_TRY_VOID(writer.write(single ? "delta_loss_by_token" : "set_delta_loss_by_token", start, count, changes));
  }
  std::vector<double> losses = from_token_1(outcome.token_loss);
  losses.resize(static_cast<std::size_t>(length), kNaN);
  const std::int64_t zero[] = {0}, all[] = {length};
  HEADROOM_TRY_VOID(writer.write("token_loss", zero, all, losses));
  const SummaryTable& table = outcome.summary;
  const auto found = table.values.find("sink_score");
  if (found == table.values.end()) return {};
  const std::int64_t origin[] = {0, 0, 0}, extent[] = {static_cast<std::int64_t>(table.layers.size()),
                                                       static_cast<std::int64_t>(table.heads.size()), 2};
  return writer.write("sink_score", origin, extent, found->second);
}

}  // namespace

Result<std::unique_ptr<RunFileWriter>> create_ablation_file(const AblationRequest& request) {
  RunFileWriter::Options options;
  options.force = request.run.force;
  options.inputs = request.run.inputs;
  options.schema_name = kAblationSchemaName;
  return RunFileWriter::create(request.run.output, options);
}

Result<void> write_ablation(RunFileWriter& writer, const AblationRequest& request, const AblationOutcome& outcome,
                            const BackendInfo& library, bool by_token, const kernels::StopRequested& stop) {
  HEADROOM_TRY_VOID(define(writer, outcome, by_token));
  HEADROOM_TRY_VOID(
      write_provenance(writer, request.run, "Loss changes by heads of ", library, outcome.attention, stop));
  const std::vector<std::pair<const char*, AttributeValue>> attributes = {
      {"comment", "delta_loss is of one text; changes of single heads do not add up"},
      {"overrides", overrides_text(request.run.what_ifs)},
      {"mode", request.mode.name},
      {"change", request.mode.change},
      {"next_token_loss", outcome.loss},
      {"results_asked", static_cast<std::int64_t>(outcome.results.size())},
      {"results_done", static_cast<std::int64_t>(outcome.done)},
      {"complete", std::int64_t{outcome.done == outcome.results.size() ? 1 : 0}},
      {"blocks", static_cast<std::int64_t>(token_spread(outcome).blocks)},
      {"seconds", outcome.seconds},
      {kSelfCheckAttribute, stored_violations(outcome.violations)},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer.set_attribute("", name, value));
  HEADROOM_TRY_VOID(write_tokens(writer, request.run.prompt));
  HEADROOM_TRY_VOID(write_results(writer, outcome, by_token));
  return writer.commit();
}

}  // namespace headroom
