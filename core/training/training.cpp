#include "core/training/training.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/format.h"
#include "core/measure/quantity.h"

namespace headroom {
namespace {

constexpr std::array kStatistics = {
    HeadStatistic{"logit_max", "", "logit_max", OverBatch::LargestOfSequences},
    HeadStatistic{"sink_score", "", "sink_score"},
    HeadStatistic{"sink_score_net", "", "sink_score_net"},
    HeadStatistic{"sink_score_absolute", "", "sink_score_absolute"},
    HeadStatistic{"context_rms_mean", "", "context_rms_mean"},
    HeadStatistic{"context_rms_relative_mean", "", "context_rms_relative_mean"},
    HeadStatistic{"weight_l2_mean", "", "weight_l2_mean"},
    HeadStatistic{"lambda_mean", "", "lambda_mean"},
    HeadStatistic{"lambda_std", "rows", "lambda", OverBatch::DeviationOfRows},
    HeadStatistic{"norm_gain_mean", "rows", "norm_gain", OverBatch::MeanOfRows},
};

bool by_rows(const HeadStatistic& statistic) {
  return statistic.over == OverBatch::MeanOfRows || statistic.over == OverBatch::DeviationOfRows;
}

const char* words_of(OverBatch over) {
  switch (over) {
    case OverBatch::MeanOfSequences: return "; mean over the sequences of the step's batch";
    case OverBatch::LargestOfSequences: return "; the largest of the sequences of the step's batch";
    case OverBatch::MeanOfRows: return "; mean over all rows of the step's batch";
    case OverBatch::DeviationOfRows:
      return "; standard deviation (of the population) over all rows of the step's batch";
  }
  return "";
}

}  // namespace

std::span<const HeadStatistic> training_statistics() { return kStatistics; }

Result<const Quantity*> quantity_of(const HeadStatistic& statistic) {
  const Quantity* quantity = find_quantity(statistic.group, statistic.quantity);
  const std::string path =
      std::string(statistic.group) + (statistic.group.empty() ? "" : "/") + std::string(statistic.quantity);
  Error error(ErrorCode::InvalidArgument, "a training cannot follow this quantity");
  if (!quantity)
    return error.at_tensor(std::string(statistic.name)).wanted("an entry of the table of quantities", path);
  const auto& axes = quantity->axes;
  const bool fits = by_rows(statistic) ? axes.size() == 1 && axes.front() == axis::kPosition
                                       : axes.empty() || (axes.size() == 1 && axes.front() == axis::kComponent);
  if (fits) return quantity;
  std::string found = path + " [";
  for (const std::string_view axis : axes) found += (found.back() == '[' ? "" : ", ") + std::string(axis);
  return error.at_tensor(std::string(statistic.name))
      .wanted(by_rows(statistic) ? "numbers by position" : "one number, or one for each map", found + "]");
}

std::string definition_of(const HeadStatistic& statistic, const Quantity& quantity) {
  return definition_of(quantity) + words_of(statistic.over);
}

std::string step_folder(std::int64_t step) { return format("step_%06lld", static_cast<long long>(step)); }

}  // namespace headroom
