// Tensor names that a person would take for the same: written in another Unicode form, with invisible characters, or
// with letters of another script. Safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

// `name` with accents and invisible characters taken off and look-alike letters made ASCII. Two names with one skeleton
// look alike. Covers Latin with its combining marks, full-width forms, and the Greek and Cyrillic letters that have a
// Latin double; other characters stand for themselves.
[[nodiscard]] std::string name_skeleton(std::string_view name);

}  // namespace headroom
