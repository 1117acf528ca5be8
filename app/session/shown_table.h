// The table of heads as a view has it: its columns, and its text for papers and other programs. Pure functions; safe
// from any thread.
#pragma once

#include <string>
#include <vector>

#include "app/session/state.h"
#include "core/run/head_table.h"

namespace headroom {

// The columns of this view: the chosen ones that exist, or the usual ones.
[[nodiscard]] std::vector<std::string> table_columns(const RunSnapshot& run, const HeadsState& view);
// What `heads.copy` copies: the rows and columns that this view shows. InvalidArgument for a filter that is wrong.
[[nodiscard]] Result<std::string> copy_heads(const RunSnapshot& run, const HeadsState& view, TableFormat format);
// The same of the heads in the lasso, whatever the filter says.
[[nodiscard]] std::string copy_lasso(const RunSnapshot& run, const HeadsState& view, TableFormat format);

}  // namespace headroom
