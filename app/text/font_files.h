// Where the fonts lie on this machine: known folders first (they cost nothing), then fontconfig. Main thread only.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/plot/painter.h"

namespace headroom {

inline constexpr std::size_t kFaceCount = 7;  // of enum Face

// `index` as FreeType takes it: the face in a collection, and the named instance in the upper 16 bits.
struct FontFile {
  std::string path;
  long index = 0;
  friend bool operator==(const FontFile&, const FontFile&) = default;
};

// The files of a face in the order in which they are asked for a character; empty if the system has no font.
[[nodiscard]] std::vector<FontFile> find_face_files(Face face);

// A font that has the character, as fontconfig ranks them for the face; none if there is no such font.
[[nodiscard]] std::optional<FontFile> find_font_with(char32_t code_point, Face face);

[[nodiscard]] bool is_mono(Face face);

}  // namespace headroom
