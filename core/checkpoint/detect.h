// What kind of file the first bytes say it is, whatever its name. Safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/base/input_file.h"
#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"

namespace headroom {

inline constexpr std::size_t kSniffBytes = 2112;  // reaches the HDF5 signature behind a user block of 2,048 bytes

// The container to parse `file` as. Files of other kinds are refused with a sentence of their own: Corrupt for what is
// no model or saved in place of one (a text, a picture, a web page, a Git LFS pointer), Unsupported for models and
// archives of formats that this program does not read. Each names what was expected and what was found.
// Bytes of no known kind that a safetensors file could begin with, which has no magic number, go to its parser.
[[nodiscard]] Result<ContainerFormat> detect_format(const InputFile& file);

// "a ZIP archive", "an HDF5 file" …, or empty where the bytes are of no known kind.
[[nodiscard]] std::string_view sniff_name(std::span<const std::byte> head);

}  // namespace headroom
