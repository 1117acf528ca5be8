// Regexes of tokenizer.json are written for Oniguruma (Ruby syntax, Unicode). This rewrites one for PCRE2 where the two
// read the same text differently. Safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace headroom {

// Rewritten: \s \S (White_Space; PCRE2 adds U+180E), \w \W (Unicode's definition), \h \H (hex digits), \uHHHH, script
// names (PCRE2 would take script extensions), (?m) (dot matches newline), and the repeats {n,m}+ {n}? {,m}, which are
// not possessive, lazy or literal. Unsupported names the construct: nested classes and && in a class.
[[nodiscard]] Result<std::string> pcre2_from_oniguruma(std::string_view pattern);

}  // namespace headroom
