// What a person saves: which kinds there are, what their files are called, where they went last, and what may be
// replaced. Pure functions but for those that say that they look at the disk; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/session/state.h"

namespace headroom {

inline constexpr std::array kSaveKinds = {SaveKind::Run,     SaveKind::Picture,    SaveKind::Table,
                                          SaveKind::Session, SaveKind::Importance, SaveKind::Figure};
[[nodiscard]] const char* save_kind_text(
    SaveKind kind);  // as it is said: "loss changes" where the name is "importance"

// Endings that files of the kind have, the usual one first.
[[nodiscard]] std::span<const std::string_view> save_endings(SaveKind kind);
// Whether a file of this name is of the kind; the ending's case does not count.
[[nodiscard]] bool has_save_ending(SaveKind kind, std::string_view name);
// InvalidArgument with the endings that the kind has, unless the path has one of them.
[[nodiscard]] Result<void> check_save_ending(SaveKind kind, std::string_view command, const std::string& path);

// Why there is nothing of the kind to save; empty: there is.
[[nodiscard]] std::string not_savable(const State& state, SaveKind kind);
// "SmolLM2-135M_L17.H4_map.png": the run that is shown, and what of it. `panel`: of a picture, empty for the window.
[[nodiscard]] std::string suggested_name(const State& state, SaveKind kind, std::string_view panel);
// A text as a file's name: one word, without what shells and other systems give a meaning.
[[nodiscard]] std::string file_name_of(std::string_view text);
// Where what was typed as a name in `folder` will be. A path leads to the folder it names ("~" is the home folder), and
// a name without an ending gets `ending`, or the kind's usual one; ".2" and ".Q4_1" are no endings, ".pdf" is one of
// another kind.
struct SavePlace {
  std::string folder, name;
  [[nodiscard]] std::string path() const;
};
[[nodiscard]] SavePlace save_place(SaveKind kind, const std::string& folder, std::string_view typed,
                                   std::string_view ending = {});
// Why a file cannot be called so; empty: it can.
[[nodiscard]] std::string bad_file_name(SaveKind kind, std::string_view name);
// "map-2.png" of "map.png", "map-3.png" of "map-2.png".
[[nodiscard]] std::string numbered_name(std::string_view name);

// Where the kind was saved last, else the home folder, else "/".
[[nodiscard]] std::string save_folder(const State& state, SaveKind kind);
// The path as it is meant: "~" is the home folder, and one that is not absolute begins in the working folder. Looks at
// the process.
[[nodiscard]] std::string whole_path(std::string_view path);

// A text into a file that is replaced whole. Looks at the disk.
[[nodiscard]] Result<void> save_text(const std::filesystem::path& path, std::string_view text);

}  // namespace headroom
