// What --premise measured of the rows of a head, along the axis that these are plotted over: where ρ would lie if every
// value could as well have had the opposite sign, and what uniform attention would have. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/figures/running_quantiles.h"
#include "core/run/premise.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct HeadSeries;

struct PremiseRows {
  // Of uniform attention, by place; finite and above 0.
  struct {
    std::vector<double> place, value;
  } uniform;
  // The ends of what 90 % of the draws of random signs give each row.
  struct Signs {
    std::int64_t row = 0;
    double place = 0.0, low = 0.0, high = 0.0;
  };
  std::vector<Signs> signs;
  RunningQuantiles low, high;  // of these ends over rows
};

// Empty where nothing was measured.
[[nodiscard]] PremiseRows premise_rows(const LayerSnapshot& layer, std::int64_t head, const HeadSeries& series);

// What may be said of the bound in a caption, after a blank: a test of this head where there is one, with what it could
// not have seen. `tests`: of how many heads it was corrected for.
[[nodiscard]] std::string premise_sentence(const HeadPremise& premise, std::int64_t tests);

}  // namespace headroom
