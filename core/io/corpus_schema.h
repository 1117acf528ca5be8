// What the files of `headroom corpus` say they are: the layout of a run file. Constants.
#pragma once

#include <string_view>

namespace headroom {

inline constexpr std::string_view kPlanSchemaName = "headroom-plan";      // which sequences there are to run
inline constexpr std::string_view kCorpusSchemaName = "headroom-corpus";  // what came of them
inline constexpr std::string_view kSeriesSchemaName = "headroom-series";  // the same of several checkpoints

inline constexpr std::string_view kNeedleSchemaName = "headroom-needle";  // of `headroom needle`

}  // namespace headroom
