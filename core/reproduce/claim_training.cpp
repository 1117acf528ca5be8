// Claims 3 and 5: what training histories say of pairing and of the largest logit.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/reproduce/claims.h"
#include "core/training/training_file.h"

namespace headroom {
namespace {

using Array = std::vector<double>;

double last(const Array& values) { return values.back(); }

double largest(const Array& values) {
  double result = std::nan("");
  for (const double value : values) result = std::fmax(result, value);
  return result;
}

double median(Array values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Largest number at the last measured step; `count` numbers belong to a step.
double largest_at_end(const Array& values, std::size_t count) {
  return largest({values.end() - static_cast<std::ptrdiff_t>(count), values.end()});
}

}  // namespace

Result<ClaimReport> examine_pairing(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 3;
  report.title = "Wrong pairing and the other ablations";
  report.claim =
      "Subtracting heads of different GQA groups (first half from second half) is obviously unstable: more loss and gradient "
      "spikes, higher loss. Without λ, or without its sigmoid, the loss is higher; without the sigmoid it is less stable.";
  ClaimTable table;
  table.caption =
      "Byte models, mean ± standard deviation over seeds; spikes: steps above the running median by 6 median deviations";
  table.columns = {"heads",           "validation loss", "gradient norm, median", "its largest / median",
                   "gradient spikes", "loss spikes"};
  std::map<std::string, Spread> loss, ratio, spikes;
  const std::pair<const char*, const char*> kinds[] = {{"bytes", "diff_v2"},
                                                       {"bytes_ablations", "wrong_pairing"},
                                                       {"bytes_ablations", "no_lambda"},
                                                       {"bytes_ablations", "raw_lambda"},
                                                       {"bytes", "softmax"},
                                                       {"bytes", "diff_v1"}};
  for (const auto& [recipe, variant] : kinds) {
    HEADROOM_TRY(loss[variant], study.history_spread(recipe, variant, "validation_loss", last));
    HEADROOM_TRY(const Spread middle, study.history_spread(recipe, variant, "gradient_norm", median));
    HEADROOM_TRY(ratio[variant], study.history_spread(recipe, variant, "gradient_norm", [](const Array& values) {
      return largest(values) / median(values);
    }));
    HEADROOM_TRY(spikes[variant], study.history_spread(recipe, variant, "gradient_norm", [](const Array& values) {
      return static_cast<double>(count_spikes(values));
    }));
    HEADROOM_TRY(const Spread loss_spikes, study.history_spread(recipe, variant, "loss", [](const Array& values) {
      return static_cast<double>(count_spikes(values));
    }));
    table.rows.push_back({std::string(variant), loss[variant], middle, ratio[variant], spikes[variant], loss_spikes});
  }
  report.tables.push_back(std::move(table));
  const auto compare = [&](const char* what, std::map<std::string, Spread>& numbers, const char* variant) {
    report.findings.push_back(smaller(what, {"diff_v2", numbers["diff_v2"]}, {variant, numbers[variant]}));
  };
  compare("The validation loss", loss, "wrong_pairing");
  compare("The number of gradient spikes", spikes, "wrong_pairing");
  compare("The largest gradient norm over its median", ratio, "wrong_pairing");
  compare("The validation loss", loss, "no_lambda");
  compare("The validation loss", loss, "raw_lambda");
  compare("The number of gradient spikes", spikes, "raw_lambda");
  report.remarks =
      "Models of 0.13 million parameters and 2 million tokens: the claim is about models four orders of magnitude larger.";
  return report;
}

Result<ClaimReport> examine_logits(Study& study, const ClaimOptions&) {
  ClaimReport report;
  report.number = 5;
  report.title = "The largest qk-logit over training";
  report.claim = "Differential attention has smaller outliers among its logits than softmax attention.";
  for (const char* recipe : {"backcopy", "bytes"}) {
    ClaimTable table;
    table.caption = std::string(recipe) + ": largest scaled logit of any head, mean ± standard deviation over seeds";
    table.columns = {"heads", "at the end", "largest of all steps", "step of the largest"};
    std::map<std::string, Spread> end;
    for (const char* variant :
         {"softmax", "softmax_one", "softmax_sink", "gated", "diff_v1", "diff_v1_no_norm", "diff_v2"}) {
      const Recipe& from = study.recipe(recipe);
      const ModelSpec& model = find_variant(from, variant)->model;
      const std::size_t count = model.blocks.size() * static_cast<std::size_t>(model.num_heads) * 2;
      HEADROOM_TRY(end[variant], study.history_spread(recipe, variant, "logit_max", [&](const Array& values) {
        return largest_at_end(values, count);
      }));
      HEADROOM_TRY(const Spread most, study.history_spread(recipe, variant, "logit_max", largest));
      HEADROOM_TRY(const Spread step, study.history_spread(recipe, variant, "logit_max", [&](const Array& values) {
        std::size_t best = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
          if (values[i] > values[best] || std::isnan(values[best])) best = i;
        return static_cast<double>(best / count) *
               static_cast<double>(find_variant(from, variant)->training.statistics_every);
      }));
      table.rows.push_back({std::string(variant), end[variant], most, step});
    }
    for (const char* variant : {"diff_v1", "diff_v2"})
      report.findings.push_back(smaller(std::string(recipe) + ": the largest logit at the end of training",
                                        {variant, end[variant]}, {"softmax", end["softmax"]}));
    report.tables.push_back(std::move(table));
  }
  report.remarks =
      "Taken on the batch of the step. Heads of different kinds have different numbers of maps, and V1's are half as many.";
  return report;
}

}  // namespace headroom
