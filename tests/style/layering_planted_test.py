"""Plants one violation at a time in a small tree: layering.py must name each, and be silent without any."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layering

CLEAN = {
    "kernels/cpu/a.cpp": '#include "kernels/a.h"\n\n#include <cmath>\n#include <hwy/highway.h>\n',
    "kernels/a.h": "#pragma once\n#include <cstddef>\n",
    "core/base/b.h": '#pragma once\n',
    "core/maps/r.h": '#pragma once\n#include "kernels/a.h"\n',
    "core/io/run.cpp": "#include <hdf5.h>\n",
    "core/README.md": "".join(
        ["| folder | may include | its job |\n|---|---|---|\n"]
        + [f"| `{folder}` | {cell} | its job |\n" for folder, cell in layering.table_rows("core").items()]
    ),
    "core/compute/c.cpp": '#include "core/base/b.h"\n#include <ATen/ATen.h>\n',
    "app/main.cpp": '#include "app/cli/a.h"\n#include <GLFW/glfw3.h>\n',
    "app/cli/a.h": '#include "core/base/b.h"\n#include <CLI/CLI.hpp>\n',
    "tests/core/b_test.cpp": '#include "app/x.h"\n#include "tests/support/catch.h"\n#include <ATen/ATen.h>\n',
    "README.md": "Texts lie in /usr/share/common-licenses; builds in build/work/ and $HOME/root/.\n",
}
SLASH, DOT = "/", "."  # keep the planted words out of this file's own text

# file, text, what the checker has to say
PLANTED = [
    ("kernels/k.cpp", '#include "core/base/b.h"\n', "kernels may not include core"),
    ("kernels/k.cpp", "#include <core/base/b.h>\n", "kernels may not include core"),
    ("kernels/k.cpp", "  #  include <ATen/ATen.h>\n", "kernels know the standard library and Highway only"),
    ("kernels/k.cu", "#include <cuda_runtime.h>\n", "kernels know the standard library and Highway only"),
    ("kernels/k.cpp", "#include <nlohmann/json.hpp>\n", "kernels know the standard library and Highway only"),
    ("core/base/x.cpp", '#include "app/cli/options.h"\n', "core may not include app"),
    ("core/base/x.cpp", '#include "tests/support/catch.h"\n', "core may not include tests"),
    ("core/base/x.cpp", '#include /* why */ "app/cli/options.h"\n', "core may not include app"),
    ("core/base/x.cpp", "#include <ATen/ATen.h>\n", "only core/compute knows LibTorch"),
    ("core/run/x.h", "#include <torch/torch.h>\n", "only core/compute knows LibTorch"),
    ("core/run/x.h", "#include <c10/util/Half.h>\n", "only core/compute knows LibTorch"),
    ("core/compute/x.cpp", "#include <GL/gl.h>\n", "only app draws"),
    ("core/run/x.h", "#include <GLFW/glfw3.h>\n", "only app draws"),
    ("core/run/x.h", "#include <imgui.h>\n", "only app draws"),
    ("app/cli/x.cpp", '#include "tests/support/catch.h"\n', "app may not include tests"),
    ("app/cli/x.cpp", "#include <ATen/ATen.h>\n", "only core/compute knows LibTorch"),
    ("app/cli/x.cpp", '#include "kernels/a.h"\n', "app reaches kernels through core"),
    ("core/io/x.cpp", '#include "core/model/y.h"\n', "core/io may not include core/model"),
    ("core/model/families/x.cpp", '#include "core/run/y.h"\n', "core/model may not include core/run"),
    ("core/compute/training/x.cpp", '#include "core/io/y.h"\n', "core/compute may not include core/io"),
    ("app/session/x.h", '#include "app/panels/y.h"\n', "app/session may not include app/panels"),
    ("app/panels/map/x.h", '#include "app/panels/chrome/y.h"\n', "app/panels/map may not include app/panels/chrome"),
    ("app/panels/x.h", '#include "app/panels/map/y.h"\n', "app/panels may not include app/panels/map"),
    ("app/panels/heads/x.h", '#include "app/window/y.h"\n', "app/panels/heads may not include app/window"),
    ("app/cli/x.cpp", '#include "app/window/y.h"\n', "app/cli may not include app/window"),
    ("kernels/cpu/x.cpp", '#include "kernels/cuda/y.h"\n', "kernels/cpu may not include kernels/cuda"),
    ("core/base/b.cpp", '#include <string>\n\n#include "core/base/b.h"\n', "a source includes its own header first"),
    ("core/new/x.h", '#include "core/base/b.h"\n', "core/new has no row in the table of arrows"),
    ("core/base/b.h", '#pragma once\n#include "core/base/b.h"\n', "includes itself"),
    ("core/README.md", CLEAN["core/README.md"].replace("| base, checkpoint |", "| base |", 1), "says it may include 'base'"),
    ("core/base/x.cpp", '#include "b.h"\n', "a quoted include starts at the repository's root"),
    ("core/base/x.cpp", '#include "core/../app/x.h"\n', "includes start at the repository's root"),
    ("core/base/long.cpp", "int x;\n" * 601, "longer than 600 lines"),
    ("notes.md", f"see {SLASH}work{SLASH}shared\n", "a machine's folder"),
    ("app/x.sh", f"cp x {SLASH}root{SLASH}x\n", "a machine's folder"),
    ("CMakePresets.json", f'"{SLASH}home{SLASH}someone"\n', "a machine's folder"),
    ("app/x.sh", f"curl files.pythonhosted{DOT}org\n", "a package registry's host"),
    ("app/x.sh", f"deb http:{SLASH}{SLASH}deb.debian{DOT}org bookworm\n", "a package registry's host"),
]


def tree(folder, files):
    for path, text in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


class Planted(unittest.TestCase):
    def test_clean_tree_is_silent(self):
        with tempfile.TemporaryDirectory() as folder:
            tree(folder, CLEAN | {"core/base/just.cpp": "int x;\n" * 600})
            self.assertEqual(layering.violations(folder), [])

    def test_each_violation_is_named(self):
        for path, text, sentence in PLANTED:
            with self.subTest(path=path, text=text[:50]), tempfile.TemporaryDirectory() as folder:
                tree(folder, CLEAN | {path: text})
                faults = layering.violations(folder)
                self.assertEqual(len(faults), 1, faults)
                self.assertTrue(faults[0].startswith(path + ":"), faults[0])
                self.assertIn(sentence, faults[0])

    def test_a_circle_of_files_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            tree(folder, CLEAN | {"core/io/c.h": '#include "core/io/d.h"\n', "core/io/d.h": '#include "core/io/c.h"\n'})
            self.assertEqual(
                layering.violations(folder), ["core/io/d.h:1: includes itself: core/io/c.h -> core/io/d.h -> core/io/c.h"]
            )

    def test_a_circle_of_arrows_is_named(self):
        arrows = dict(layering.ARROWS)
        try:
            layering.ARROWS["core/base"] = ["core/run"]
            self.assertTrue(any("in a circle" in fault for fault in layering.table_faults()))
            layering.ARROWS["core/base"] = ["core/nothing"]
            self.assertTrue(any("which has no row" in fault for fault in layering.table_faults()))
        finally:
            layering.ARROWS.clear()
            layering.ARROWS.update(arrows)

    def test_cuda_folder_may_know_the_cuda_runtime(self):
        with tempfile.TemporaryDirectory() as folder:
            tree(folder, CLEAN | {"kernels/cuda/k.cu": "#include <cuda_runtime.h>\n"})
            self.assertEqual(layering.violations(folder), [])


if __name__ == "__main__":
    unittest.main()
