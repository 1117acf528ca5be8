// What a file of a page says that it is of: the keys that make_page() wrote. Safe from any thread.
#pragma once

#include <filesystem>

#include "app/paper/png_image.h"
#include "core/base/result.h"

namespace headroom {

// Of a PDF, SVG or PNG, told by its first bytes. Corrupt where it is none of these or has no keys of this program.
[[nodiscard]] Result<FileKeys> read_page_keys(const std::filesystem::path& path);

}  // namespace headroom
