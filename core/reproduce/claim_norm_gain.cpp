// Claim 2: the gain of V1's norm grows like √n.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/measure/quantity_tools.h"
#include "core/reproduce/claims.h"

namespace headroom {
namespace {

constexpr std::int64_t kWideVocabulary = 8192;
constexpr std::size_t kLastRows = 64;
constexpr double kMargin = 0.1;
constexpr double kHot = 1e9;  // a temperature that makes every map uniform

// A vocabulary from which every token is drawn at most once: values as uncorrelated as random weights make them.
class DistinctTokens final : public Task {
 public:
  explicit DistinctTokens(std::int64_t length) : length_(length) {}
  std::string_view kind() const override { return "distinct"; }
  Objective objective() const override { return Objective::NextToken; }
  std::int64_t vocab_size() const override { return kWideVocabulary; }
  std::int64_t length() const override { return length_; }
  std::int64_t bos() const override { return -1; }
  Batch batch(Split, std::uint64_t, std::uint64_t, std::int64_t sequences) const override {
    Batch batch;
    batch.sequences = sequences;
    batch.length = length_;
    for (std::int64_t s = 0; s < sequences; ++s)
      for (std::int64_t i = 0; i < length_; ++i) batch.tokens.push_back(static_cast<std::int32_t>(i));
    batch.targets = batch.tokens;
    return batch;
  }

 private:
  std::int64_t length_;
};

Result<Recipe> wide_recipe() {
  Recipe recipe;
  recipe.name = "wide";
  recipe.sha256 = "made by the program: claim 2";
  recipe.licence = "CC0-1.0";
  recipe.stored_dtype = "float32";
  recipe.seeds = {1, 2, 3};
  recipe.task = std::make_shared<DistinctTokens>(64);
  Variant variant;
  variant.name = variant.base = "diff_v1";
  variant.seeds = recipe.seeds;
  variant.training.batch = 1;
  variant.training.learning_rate = 1.0;
  variant.training.validation_batches = 1;
  variant.training.initial_std = 0.02;
  const nlohmann::json config = {{"model_type", "headroom"},
                                 {"vocab_size", kWideVocabulary},
                                 {"hidden_size", 256},
                                 {"num_hidden_layers", 1},
                                 {"intermediate_size", 0},
                                 {"num_attention_heads", 2},
                                 {"num_key_value_heads", 2},
                                 {"head_dim", 64},
                                 {"max_position_embeddings", kWideVocabulary},
                                 {"rms_norm_eps", 1e-5},
                                 {"position", "rope"},
                                 {"attention", {{"kind", "diff_v1"}}}};
  variant.config = config.dump();
  HEADROOM_TRY(variant.model, design_model(config));
  // What a file would say of it, so that a model of an earlier call is known again.
  const nlohmann::json content = {{"task", {{"kind", "distinct"}}},
                                  {"model", config},
                                  {"variants", {{variant.name, nlohmann::json::object()}}},
                                  {"training", {{"steps", 0}, {"initial_std", *variant.training.initial_std}}}};
  recipe.json = content.dump();
  set_definition(content, variant);
  recipe.variants.push_back(std::move(variant));
  return recipe;
}

// Means over heads of the last rows: the gain, and the gain in units of the values, r̄_i/RMS(c_i) = 1/ρ_i.
struct Gain {
  double raw = 0.0, relative = 0.0;
};

Result<Gain> measure_gain(Study& study, const StudiedModel& model, const std::vector<std::string>& what_ifs,
                          std::vector<std::int32_t> ids) {
  std::vector<WhatIf> changes;
  for (const std::string& text : what_ifs) {
    HEADROOM_TRY(WhatIf what_if, parse_what_if(text));
    changes.push_back(std::move(what_if));
  }
  HEADROOM_TRY(const WhatIfResult changed, apply_what_ifs(model.spec, changes));
  Gain gain;
  double count = 0.0;
  EvaluationRequest request;
  request.source = &model.opened.source;
  request.model = &changed.model;
  request.sequences = {std::move(ids)};
  request.visit = [&](const HeadView& head, std::size_t) {
    const std::size_t rows = head.rho.size();
    for (std::size_t i = rows - std::min(rows, kLastRows); i < rows; ++i) {
      const double rms = head.head.context_rms[i];
      gain.raw += 1.0 / std::sqrt(rms * rms + head.head.norm_epsilon);
      gain.relative += 1.0 / head.rho[i];
      count += 1.0;
    }
  };
  HEADROOM_TRY([[maybe_unused]] const Evaluation evaluated, evaluate(study.backend(), request, study.stop()));
  gain.raw /= count;
  gain.relative /= count;
  return gain;
}

// A text of `length` tokens behind BOS, as the byte models read it.
Result<std::vector<std::int32_t>> text_ids(const Study& study, std::int64_t length) {
  nlohmann::json task = nlohmann::json::parse(study.recipe("bytes").json).at("task");
  task["length"] = length;
  HEADROOM_TRY(const std::unique_ptr<Task> longer, create_task(task, study.options().assets / "recipes"));
  return evaluation_sequences(*longer, 1).front();
}

}  // namespace

Result<ClaimReport> examine_norm_gain(Study& study, const ClaimOptions& options) {
  ClaimReport report;
  report.number = 2;
  report.title = "The gain of V1's per-head norm";
  report.claim =
      "A per-head RMSNorm must multiply a context of RMS 1/√n by √n: 90.5 at n = 8192 under uniform attention.";
  HEADROOM_TRY(const Recipe wide, wide_recipe());
  const Recipe& bytes = study.recipe("bytes");
  const Variant& v1 = *find_variant(bytes, "diff_v1");
  ClaimTable table;
  table.caption = format(
      "1/ρ = r̄/RMS(c), the gain in units of the values, mean over heads and the last %zu rows ± standard "
      "deviation over seeds; in the last column the gain itself",
      kLastRows);
  table.columns = {"n",
                   "√n",
                   "uniform map, random weights",
                   "V1, random weights",
                   "uniform map, trained, text",
                   "V1, initial, text",
                   "V1, trained, text",
                   "its gain 1/√(RMS² + ε)"};
  Spread uniform_at_end, trained_at_end, uniform_text_at_end;
  double root = 0.0, longest = 0.0;
  for (std::int64_t n = 64; n <= options.longest; n *= 2) {
    study.show(static_cast<double>(n) / static_cast<double>(2 * options.longest),
               format("norm gain, n = %lld", static_cast<long long>(n)));
    std::vector<std::int32_t> distinct(static_cast<std::size_t>(std::min(n, kWideVocabulary)));
    std::iota(distinct.begin(), distinct.end(), 0);
    HEADROOM_TRY(const std::vector<std::int32_t> text, text_ids(study, n));
    Spread uniform, random, uniform_text, initial, trained, raw;
    const std::vector<std::string> make_uniform = {"second-map=off", format("temperature=%g", kHot)};
    for (const std::uint64_t seed : v1.seeds) {
      HEADROOM_TRY(const StudiedModel wide_model,
                   study.random_model(wide, wide.variants.front(), seed, "wide/diff_v1_seed" + std::to_string(seed)));
      HEADROOM_TRY(const StudiedModel* before, study.model(bytes, v1, seed, Moment::Initial));
      HEADROOM_TRY(const StudiedModel* after, study.model(bytes, v1, seed, Moment::Trained));
      HEADROOM_TRY(const Gain a, measure_gain(study, wide_model, make_uniform, distinct));
      HEADROOM_TRY(const Gain b, measure_gain(study, wide_model, {}, distinct));
      HEADROOM_TRY(const Gain c, measure_gain(study, *after, make_uniform, text));
      HEADROOM_TRY(const Gain d, measure_gain(study, *before, {}, text));
      HEADROOM_TRY(const Gain e, measure_gain(study, *after, {}, text));
      uniform.values.push_back(a.relative), random.values.push_back(b.relative);
      uniform_text.values.push_back(c.relative), initial.values.push_back(d.relative);
      trained.values.push_back(e.relative), raw.values.push_back(e.raw);
    }
    root = std::sqrt(static_cast<double>(n));
    longest = static_cast<double>(n);
    table.rows.push_back(
        {format("%lld", static_cast<long long>(n)), root, uniform, random, uniform_text, initial, trained, raw});
    uniform_at_end = uniform, trained_at_end = trained, uniform_text_at_end = uniform_text;
  }
  report.tables.push_back(std::move(table));
  // In units of √n: equal to 1 within a tenth.
  const auto compare = [&](const std::string& text, const Spread& gain) {
    Spread ratio;
    for (const double value : gain.values) ratio.values.push_back(value / root);
    Sentence sentence = inside(text, ratio, 1.0 - kMargin, 1.0 + kMargin);
    sentence.found =
        format("1/ρ = %s at n = %.0f, where √n = %.1f; in units of it ", gain.text().c_str(), longest, root) +
        sentence.found;
    report.sentences.push_back(std::move(sentence));
  };
  compare("Uniform attention over uncorrelated values (random weights, every token once) needs the gain √n within 10 %",
          uniform_at_end);
  compare("Uniform attention over the values of a trained model on text needs the gain √n within 10 %",
          uniform_text_at_end);
  compare("Beyond what is claimed: the attention of a trained V1 model on text needs the gain √n within 10 %",
          trained_at_end);
  report.remarks =
      "The sentence of the text is about uniform attention, and the first two sentences test it there; the last one asks how far it "
      "carries to attention that was trained, which it does not speak of. Repeated tokens and the values' common mean keep the gain "
      "small. The byte models were trained at n = 64; longer texts are beyond what they have seen. With two maps the context is the "
      "difference of two means, so 1/ρ may exceed √n.";
  return report;
}

}  // namespace headroom
