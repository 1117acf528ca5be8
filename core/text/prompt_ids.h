// Token ids typed by a person: "1, 2 3". Safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// Ids separated by commas or white space, each 0 … 2^31 − 1. An error names the character's position, counted from 1.
// Empty text, two commas in a row and a comma at either end are errors.
[[nodiscard]] Result<std::vector<std::int32_t>> parse_ids(std::string_view text);

// "1,2,3".
[[nodiscard]] std::string ids_text(std::span<const std::int32_t> ids);

// Beside a checkpoint: ids of a prompt that shows what the model is for; read where no prompt is given.
inline constexpr const char* kExamplePromptFile = "prompt_ids.txt";

}  // namespace headroom
