#include "app/cli/documents_command.h"

#include <cstdio>

#include "app/cli/man_page.h"
#include "app/cli/shell_completion.h"

namespace headroom {

int run_man(const ProgramWords& words) {
  std::fputs(man_page(words).c_str(), stdout);
  return 0;
}

int run_completion(const ProgramWords& words, const std::string& shell) {
  const std::string script = shell == "bash"  ? bash_completion(words)
                             : shell == "zsh" ? zsh_completion(words)
                                              : fish_completion(words);
  std::fputs(script.c_str(), stdout);
  return 0;
}

}  // namespace headroom
