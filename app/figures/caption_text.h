// Captions from the markup of rich_text.h: for reading, and for LaTeX. Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

// "Context RMS ρᵢ = RMSᵢ/r̄ᵢ …", one paragraph a panel.
[[nodiscard]] std::string plain_caption(std::string_view markup);
// \caption{…} with $\rho_i$, after a comment that holds the keys.
[[nodiscard]] std::string latex_caption(std::string_view markup,
                                        const std::vector<std::pair<std::string, std::string>>& keys);

}  // namespace headroom
