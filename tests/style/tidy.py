"""Clang looks at every source: tidy.py ROOT BUILD TOOLS [PATTERN].

TOOLS holds the pinned clang-tidy. BUILD is a configured build folder; a second one below it, configured without precompiled
headers, says how each group of a folder's sources is compiled: many sources read their headers once, which takes less than
a third of the time. The checks are those of .clang-tidy, with the compiler's own warnings among them, and -Wthread-safety
for what a mutex guards (kernels/mutex.h). Prints each warning once, exits 1 on any, 77 where there is no clang-tidy. Before
that it plants one fault of each kind in a source of a group and must be told of every one: silence of a tool that does not
see says nothing. With PATTERN, the groups in which some source matches.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FOLDERS = ("app/", "core/", "kernels/")
PLANTED = """#include <string>
#include <utility>

#include "kernels/mutex.h"

namespace headroom {
class Planted {
 public:
  int read() { return value_; }  // clang-diagnostic-thread-safety-analysis
  void write(int value) {
    const MutexLock lock(mutex_);
    value_ = value;
  }

 private:
  Mutex mutex_;
  int value_ HEADROOM_GUARDED_BY(mutex_) = 0;
};
int planted(std::string copied) {    // performance-unnecessary-value-param
  std::string text = "";             // readability-redundant-string-init
  if (copied.size() == 0) return 1;  // readability-container-size-empty
  std::string moved = std::move(text);
  return static_cast<int>(text.size() + moved.size()) + Planted().read();  // bugprone-use-after-move
}
}
"""
# What joins the sources includes sources; a product of lane indices is small.
IGNORED = re.compile(r"bugprone-suspicious-include|/kernels/cpu/.*bugprone-implicit-widening-of-multiplication-result")
WARNING = re.compile(r"(/[^:\s]+):(\d+):(\d+): (warning|error): (.*)")


def configured(root, build):
    """The compile commands of all groups of sources."""
    folder = os.path.join(build, "tidy")
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.MULTILINE))
    kept = [f"-D{name}={cache[name]}" for name in ("HEADROOM_TORCH_DIR", "HEADROOM_IMGUI_DIR", "CMAKE_CXX_COMPILER") if cache.get(name)]
    command = ["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DHEADROOM_UNITY=ON", "-DHEADROOM_UNITY_SIZE=24", "-DHEADROOM_TESTS=OFF", "-DHEADROOM_CUDA=OFF",
               "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", *kept]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        return folder, json.load(file)


def sources_of(group, root):
    """The project's sources that a group includes; a source that is in no group is its own."""
    if group.startswith(root + "/") and group[len(root) + 1:].startswith(FOLDERS):
        return [os.path.relpath(group, root)]
    with open(group, encoding="utf-8") as file:
        included = re.findall(r'^#include "(.*)"$', file.read(), re.MULTILINE)
    return [path for path in (os.path.relpath(name, root) for name in included) if path.startswith(FOLDERS)]


def main():
    root, build, tools = map(os.path.abspath, sys.argv[1:4])
    pattern = re.compile(sys.argv[4] if len(sys.argv) > 4 else "")
    tidy = os.path.join(tools, "clang-tidy")
    if not os.access(tidy, os.X_OK):
        print(f"SKIPPED: there is no clang-tidy in {tools}; tests/run.sh installs it")
        sys.exit(77)
    folder, commands = configured(root, build)
    sources = {command["file"]: sources_of(command["file"], root) for command in commands}
    groups = sorted(group for group, paths in sources.items() if any(pattern.search(path) for path in paths))
    if not groups:
        sys.exit("no sources to look at")
    # The compiler's own folder has headers that Clang's lacks, such as omp.h.
    compiler = commands[0]["command"].split()
    compiler = next(word for word in compiler if not word.endswith("ccache"))
    headers = subprocess.run([compiler, "-print-file-name=include"], capture_output=True, text=True).stdout.strip()
    extra = [f"--extra-arg={argument}" for argument in ("-idirafter", headers, "-Wthread-safety", "-Wno-unknown-warning-option")]

    options = [f"--config-file={os.path.join(root, '.clang-tidy')}", "-p", folder, "--quiet", *extra]

    def look(path):
        done = subprocess.run([tidy, *options, path], cwd=root, capture_output=True, text=True)
        found = [line for line in done.stdout.splitlines() if WARNING.match(line) and not IGNORED.search(line)]
        if done.returncode and not found:
            found = [f"{path}: clang-tidy ended with {done.returncode}: {done.stderr.strip()[-500:]}"]
        return found

    os.makedirs(os.path.join(folder, "core"), exist_ok=True)
    planted = os.path.join(folder, "core", "planted.cpp")
    with open(planted, "w", encoding="utf-8") as file:
        file.write(PLANTED)
    group = os.path.join(folder, "planted_group.cpp")
    with open(group, "w", encoding="utf-8") as file:
        file.write(f'#include "{planted}"\n')
    found = "\n".join(look(group))
    for number, line in enumerate(PLANTED.splitlines(), 1):
        check = re.search(r"  // (\S+)$", line)
        if check and not re.search(rf"planted\.cpp:{number}:.*\[{check[1]}\]", found):
            sys.exit(f"{check[1]} planted in line {number} of {planted} is not found; what was:\n{found or 'nothing'}")

    seen = set()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(look, groups):
            for line in found:
                if line not in seen:
                    seen.add(line)
                    print(line.replace(root + "/", ""), flush=True)
    print(f"{sum(len(sources[group]) for group in groups)} sources, {len(seen)} warnings")
    sys.exit(1 if seen else 0)


if __name__ == "__main__":
    main()
