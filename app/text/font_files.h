// Where the fonts lie on this machine: known folders first (they cost nothing), then fontconfig. Main thread only.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"
#include "core/base/result.h"

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

// The files of a face of text where a font is named: a file (".otf", ".ttf", or with a slash in its name), whose one
// face stands for all, or a family, which fontconfig must have; then those of find_face_files(). Of what is no text
// (mono) these alone. NotFound for a file that is none, InvalidArgument for a family that is not installed.
[[nodiscard]] Result<std::vector<FontFile>> find_named_files(const std::string& name, Face face);
// Whether it names a file.
[[nodiscard]] bool names_font_file(std::string_view name);

// A font that has the character, as fontconfig ranks them for the face; none if there is no such font.
[[nodiscard]] std::optional<FontFile> find_font_with(char32_t code_point, Face face);

[[nodiscard]] bool is_mono(Face face);

}  // namespace headroom
