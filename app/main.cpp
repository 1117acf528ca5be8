#include <cstdio>
#include <exception>
#include <new>
#include <optional>

#include "app/cli/command_line.h"
#include "app/process/end_process.h"
#include "app/process/file_probe.h"
#include "app/process/process_settings.h"
#include "app/process/signals.h"
#include "app/window/application.h"
#include "app/window/window_check.h"

// Every expected failure is a Result; what arrives here is a bug of the program, or memory that ran out.
int main(int argc, char** argv) {
  constexpr int kOutOfMemory = 6;
  constexpr int kInternalBug = 70;
  headroom::apply_process_settings();
  try {
    if (const std::optional<int> code = headroom::run_as_file_probe(argc, argv)) headroom::end_process(*code);
    headroom::install_signal_handlers();
    headroom::install_file_probe();
    headroom::end_process(headroom::run_command_line(
        argc, argv, {headroom::run_window, headroom::command_table_text, headroom::examine_window}));
  } catch (const std::bad_alloc&) {
    std::fputs("headroom: out of memory\n", stderr);
    return kOutOfMemory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headroom: a bug of this program: %s\n", error.what());
    return kInternalBug;
  }
}
