#include "app/process/user_folders.h"

#include <string>

#include "core/base/environment.h"

namespace headroom {
namespace {

using std::filesystem::path;

path user_folder(const char* variable, const char* below_home) {
  if (const path given = environment_text(variable); given.is_absolute()) return given / "headroom";
  if (const path home = environment_text("HOME"); !home.empty()) return home / below_home / "headroom";
  return {};
}

}  // namespace

path config_folder() { return user_folder("XDG_CONFIG_HOME", ".config"); }
path state_folder() { return user_folder("XDG_STATE_HOME", ".local/state"); }

}  // namespace headroom
