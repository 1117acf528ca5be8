// Lines "name         value" on stdout. On a terminal a value that is longer than its line goes on below its beginning;
// elsewhere a fact is one line, so that programs find it whole. Main thread only.
#pragma once

#include <cstddef>
#include <string>

namespace headroom {

// Of stdout; 0 where it is no terminal.
[[nodiscard]] std::size_t stdout_columns();

// Each line of `text` that has more than `columns` columns is broken at blanks, and what follows begins at `indent`. A
// word that fits nowhere stays whole. 0 columns: as it is. Pure.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

// Escaped for the terminal.
void print_fact(const char* name, const std::string& value);
void print_wrapped(const std::string& text, std::size_t indent);

}  // namespace headroom
