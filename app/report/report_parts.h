// What a report says of one run, block by block. Pure functions of runs but for the maps, which are read from its file
// (HDF5: one thread).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/report/report.h"
#include "core/run/premise.h"

namespace headroom {

// Where the numbers come from: model, file, text, precision, program, hashes.
[[nodiscard]] ReportTable run_facts(const FigureRun& run);
// The text that was run, as far as it is short; nothing where it was given as ids.
[[nodiscard]] std::vector<ReportBlock> run_text(const RunSnapshot& run);
// Whether rows of the file are what they must be for any values: sums of weights and the bounds of ‖w‖₂.
[[nodiscard]] ReportText self_check(const RunSnapshot& run);
// How many heads the interval may be written under, and what becomes of the others.
[[nodiscard]] std::vector<ReportBlock> premise_blocks(const RunSnapshot& run, const RunPremise& premises);
// Every head with the usual columns, the largest sinks first; `columns`: by their names.
[[nodiscard]] ReportTable head_rows(const RunSnapshot& run, std::vector<std::string>& columns);
// Median over heads of the same, and its quartiles, side by side.
[[nodiscard]] ReportTable runs_beside(const std::vector<FigureRun>& runs);
// What the columns and figures are of, by the run file's own definitions.
[[nodiscard]] ReportTable definitions(const std::vector<std::string>& quantities);
// As many heads as 3 MB hold, `first` and the largest sinks before others; nothing where the file has no maps.
[[nodiscard]] Result<std::vector<ReportBlock>> map_blocks(const FigureRun& run, const std::string& first,
                                                          std::size_t number);

}  // namespace headroom
