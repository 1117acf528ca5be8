// Prompts as values: those that were set before, and how sessions and settings write them. Pure functions; safe from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/state.h"

namespace headroom {

inline constexpr std::size_t kRecentPrompts = 12;
inline constexpr std::size_t kLongestRecentPrompt = std::size_t{32} << 10;  // bytes; a longer one is a file's

// To the front of those that were set before, once. One that is too long to be kept, or empty, changes nothing.
void remember_prompt(std::vector<PromptEntry>& recent, const PromptEntry& prompt);
// "In the beginning God cre…", "5 6 7 8 9".
[[nodiscard]] std::string prompt_line(const PromptEntry& prompt);
// "1,734 characters · kjv.txt", "64 ids · first 12".
[[nodiscard]] std::string prompt_detail(const PromptEntry& prompt);

[[nodiscard]] std::int64_t code_points(std::string_view utf8);
// "5 6 7": as they are typed.
[[nodiscard]] std::string ids_line(const std::vector<std::int32_t>& ids);

[[nodiscard]] nlohmann::json prompt_json(const PromptEntry& prompt);
// What is not of the right form stays at its default.
[[nodiscard]] PromptEntry prompt_of_json(const nlohmann::json& object);

}  // namespace headroom
