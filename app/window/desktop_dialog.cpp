#include "app/window/desktop_dialog.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "app/session/file_manager.h"

extern char** environ;

namespace headroom {
namespace {

std::vector<std::string> dialog_command() {
  const std::string programs = desktop_of_environment().programs;
  if (std::string zenity = find_program(programs, "zenity"); !zenity.empty())
    return {std::move(zenity), "--file-selection", "--title=Open a checkpoint or a run"};
  if (std::string kdialog = find_program(programs, "kdialog"); !kdialog.empty())
    return {std::move(kdialog), "--title", "Open a checkpoint or a run", "--getopenfilename"};
  return {};
}

}  // namespace

bool desktop_dialog_available() { return !dialog_command().empty(); }

std::optional<std::string> ask_desktop_for_file() {
  std::vector<std::string> words = dialog_command();
  if (words.empty()) return {};
  int ends[2];
  if (::pipe(ends) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed = posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string chosen;
  char buffer[4096];
  for (ssize_t count; !failed && (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    chosen.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  if (failed || ::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return {};
  if (!chosen.empty() && chosen.back() == '\n') chosen.pop_back();
  if (chosen.empty()) return {};
  return chosen;
}

}  // namespace headroom
