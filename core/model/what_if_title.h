// What what-ifs are called in sentences and names: "λ = 0 in L1.H0". Pure functions; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headroom {

// "L17.H4:sink=off" is the change "sink=off" in the scope "L17.H4"; "sink=off" alone is in the whole model.
struct ScopedChange {
  std::string scope, change;
};
[[nodiscard]] ScopedChange split_scope(std::string_view what_if);
// "sink=off" is "sink off", "hide-key=0,7" is "keys 0, 7 hidden"; the text as it is where the name is not known.
[[nodiscard]] std::string change_title(std::string_view change);
[[nodiscard]] std::string scope_title(std::string_view scope);  // "L17.H4", "layer 17", "model"
// "λ = 0 in L1.H0, sink off"; empty for none.
[[nodiscard]] std::string what_ifs_title(std::span<const std::string> what_ifs);

}  // namespace headroom
