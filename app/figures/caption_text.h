// Captions from the markup of rich_text.h: for reading, and for LaTeX. Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

// "Context RMS ρᵢ = RMSᵢ/r̄ᵢ …", one paragraph a panel.
[[nodiscard]] std::string plain_caption(std::string_view markup);
// \caption{…} with $\rho_{i}$, after a comment that holds the keys: for any class, without a package. Letters that are
// neither Latin nor Greek stay as they are, for engines that have fonts with them.
[[nodiscard]] std::string latex_caption(std::string_view markup,
                                        const std::vector<std::pair<std::string, std::string>>& keys);

// A definition of QUANTITIES.md ("α_k = mean_i a_ik") with variables, indices and roots.
[[nodiscard]] std::string definition_markup(std::string_view definition);
// "0.056": what it was measured with is not known better.
[[nodiscard]] std::string two_digits(double value);
// A name that a figure did not give: its stars and low lines are no markup.
[[nodiscard]] std::string literal_markup(std::string_view text);

}  // namespace headroom
