#include "core/reproduce/demo_table.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

using E = const Evaluation&;

constexpr std::array kNumbers = {
    DemoNumber{"next_token_loss", nullptr, 0, [](E e) { return e.next_token_loss.mean.front(); }},
    DemoNumber{"sink_score_first", "α₀ first", 0, [](E e) { return e.over_heads("sink_score", 0); }},
    DemoNumber{"sink_score_second", "α₀ second", 0, [](E e) { return e.over_heads("sink_score", 1); }},
    DemoNumber{"sink_score_net", "net", 0, [](E e) { return e.over_heads("sink_score_net"); }},
    DemoNumber{"sink_score_absolute", "absolute", 0, [](E e) { return e.over_heads("sink_score_absolute"); }},
    DemoNumber{"implicit_sink_mass", "to nothing", 0, [](E e) { return e.over_heads("implicit_sink_mass"); }},
    DemoNumber{"value_drain", "‖v₀‖/mean ‖v‖", 0, [](E e) { return e.over_heads("value_drain"); }},
    DemoNumber{"logit_max", "max logit", 0,
               [](E e) { return std::fmax(e.largest("logit_max", 0), e.largest("logit_max", 1)); }},
    DemoNumber{"rho_05", "ρ 5 %", 1, [](E e) { return e.over_heads("context_rms_relative_quantile", 2); }},
    DemoNumber{"rho_50", "ρ median", 1, [](E e) { return e.over_heads("context_rms_relative_quantile", 5); }},
    DemoNumber{"rho_95", "ρ 95 %", 1, [](E e) { return e.over_heads("context_rms_relative_quantile", 8); }},
    DemoNumber{"below_softmax_bound", "below 1/√n", 1, [](E e) { return e.over_heads("rows_below_bound", 0); }},
    DemoNumber{"above_softmax_bound", "≥ 1", 1, [](E e) { return e.over_heads("rows_above_bound", 0); }},
    DemoNumber{"below_variant_bound", "below own", 1, [](E e) { return e.over_heads("rows_below_bound", 2); }},
    DemoNumber{"above_variant_bound", "above own", 1, [](E e) { return e.over_heads("rows_above_bound", 2); }},
    DemoNumber{"weight_l2_mean", "‖w‖₂", 1, [](E e) { return e.over_heads("weight_l2_mean"); }},
    DemoNumber{"lambda_mean", "λ", 1, [](E e) { return e.over_heads("lambda_mean"); }},
    DemoNumber{"lambda_std", "its spread", 1, [](E e) { return e.over_heads("lambda_std"); }},
    DemoNumber{"output_cancellation_mean", "cancellation", 1,
               [](E e) { return e.over_heads("output_cancellation_mean"); }},
    DemoNumber{"negative_mass_mean", "negative mass", 1, [](E e) { return e.over_heads("negative_mass_mean"); }},
    DemoNumber{"gate_mean", nullptr, 1, [](E e) { return e.over_heads("gate_mean"); }},
    DemoNumber{"norm_gain_median", nullptr, 1, [](E e) { return e.over_heads("norm_gain_median"); }},
};

// What float32 leaves of numbers that are 0 by definition, such as softmax's mass given to nothing.
constexpr double kNoise = 1e-6;

double training_note(const StudiedModel& model, const char* name) {
  const nlohmann::json& training = model.opened.checkpoint->config().at("training");
  const auto found = training.find(name);
  return found != training.end() && found->is_number() ? found->get<double>() : std::nan("");
}

// Everything of one model: what its training noted, then the numbers of its heads.
Result<std::vector<std::pair<std::string, double>>> numbers_of(Study& study, const Recipe& recipe,
                                                               const Variant& variant, std::uint64_t seed) {
  HEADROOM_TRY(const StudiedModel* model, study.model(recipe, variant, seed, Moment::Trained));
  HEADROOM_TRY(const Evaluation* evaluation, study.evaluation(recipe, variant, seed, Moment::Trained));
  std::vector<std::pair<std::string, double>> numbers;
  for (const char* name : {"parameters", "step", "loss", "validation_loss", "validation_error"})
    numbers.emplace_back(name, training_note(*model, name));
  for (const DemoNumber& number : kNumbers) numbers.emplace_back(number.name, number.value(*evaluation));
  return numbers;
}

}  // namespace

std::span<const DemoNumber> demo_numbers() { return kNumbers; }

Result<nlohmann::ordered_json> demo_statistics(Study& study, const std::vector<std::string>& recipes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const std::string& name : recipes) {
    const Recipe& recipe = study.recipe(name);
    for (const Variant& variant : recipe.variants)
      for (const std::uint64_t seed : variant.seeds) {
        HEADROOM_TRY(const auto numbers, numbers_of(study, recipe, variant, seed));
        nlohmann::ordered_json& model = all[model_name(recipe, variant, seed)];
        for (const auto& [key, value] : numbers)
          model[key] = std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
      }
  }
  return all;
}

Result<std::vector<ClaimTable>> demo_tables(Study& study, const std::vector<std::string>& recipes) {
  std::vector<ClaimTable> tables;
  for (const std::string& name : recipes) {
    const Recipe& recipe = study.recipe(name);
    const bool residual = recipe.task->objective() == Objective::Residual;
    ClaimTable first, second;
    first.caption = format("**%s**, losses, sinks and logits; 64 sequences of %lld tokens", name.c_str(),
                           static_cast<long long>(recipe.task->length()));
    second.caption = "**" + name + "**, context RMS and differences";
    first.columns = {"heads", "seeds", "parameters", "validation loss"};
    second.columns = {"heads"};
    if (residual) first.columns.emplace_back("largest error");
    for (const DemoNumber& number : kNumbers)
      if (number.shown) (number.table == 0 ? first : second).columns.emplace_back(number.shown);
    for (const Variant& variant : recipe.variants) {
      std::map<std::string, Spread> spreads;
      for (const std::uint64_t seed : variant.seeds) {
        HEADROOM_TRY(const auto numbers, numbers_of(study, recipe, variant, seed));
        for (const auto& [key, value] : numbers) spreads[key].values.push_back(value);
      }
      std::vector<Cell> first_row = {variant.name, std::to_string(variant.seeds.size()),
                                     format("%.0f", spreads["parameters"].mean()), spreads["validation_loss"]};
      std::vector<Cell> second_row = {variant.name};
      if (residual) first_row.emplace_back(spreads["validation_error"]);
      for (const DemoNumber& number : kNumbers) {
        if (!number.shown) continue;
        Spread spread = spreads[number.name];
        for (double& value : spread.values) value = std::abs(value) < kNoise ? 0.0 : value;
        (number.table == 0 ? first_row : second_row).emplace_back(spread);
      }
      first.rows.push_back(std::move(first_row));
      second.rows.push_back(std::move(second_row));
    }
    tables.push_back(std::move(first));
    tables.push_back(std::move(second));
  }
  return tables;
}

}  // namespace headroom
