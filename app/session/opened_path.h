// What the window opens, as one text: a path, and where it names more than that, a sequence of a capture ("calls::S2")
// or the base of an adapter ("adapter::base=/models/llama"). Pure functions but for a look whether the path exists as
// it stands. Safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

struct OpenedPath {
  std::string path;
  std::int64_t sequence = 0;
  std::string base;  // empty: none is given
};

// A path that exists names nothing more, whatever it contains.
[[nodiscard]] OpenedPath parse_opened_path(const std::string& text);

// The text for an adapter over a base, which becomes absolute.
[[nodiscard]] std::string with_base(std::string_view adapter, std::string_view base);

}  // namespace headroom
