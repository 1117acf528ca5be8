// Files are read by another process before this one opens them (core/io/file_probe.h): what HDF5 crashes on is an error
// then, and a window with all that is open in it goes on.
#pragma once

#include <optional>

namespace headroom {

// For every file from now on. Where no process can be started, files are opened without.
void install_file_probe();

// Where this process was started to read files: does so until nobody asks any more, and has an exit code. Nothing where
// it is the program. Before anything else of main().
[[nodiscard]] std::optional<int> run_as_file_probe(int argc, char** argv);

}  // namespace headroom
