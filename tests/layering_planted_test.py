"""Plants one violation at a time in a small tree: layering_test.py must name each, and be silent without any."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layering_test

CLEAN = {
    "kernels/cpu/a.cpp": '#include "kernels/a.h"\n\n#include <cmath>\n#include <hwy/highway.h>\n',
    "kernels/a.h": "#pragma once\n#include <cstddef>\n",
    "core/base/b.h": '#pragma once\n#include "kernels/a.h"\n',
    "core/io/run.cpp": "#include <hdf5.h>\n",
    "core/compute/c.cpp": '#include "core/base/b.h"\n#include <ATen/ATen.h>\n',
    "app/main.cpp": '#include "core/base/b.h"\n#include <CLI/CLI.hpp>\n#include <GLFW/glfw3.h>\n',
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
    ("app/x.cpp", '#include "tests/support/catch.h"\n', "app may not include tests"),
    ("app/x.cpp", "#include <ATen/ATen.h>\n", "only core/compute knows LibTorch"),
    ("app/x.cpp", '#include "kernels/a.h"\n', "app reaches kernels through core"),
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
            self.assertEqual(layering_test.violations(folder), [])

    def test_each_violation_is_named(self):
        for path, text, sentence in PLANTED:
            with self.subTest(path=path, text=text[:50]), tempfile.TemporaryDirectory() as folder:
                tree(folder, CLEAN | {path: text})
                faults = layering_test.violations(folder)
                self.assertEqual(len(faults), 1, faults)
                self.assertTrue(faults[0].startswith(path + ":"), faults[0])
                self.assertIn(sentence, faults[0])

    def test_cuda_folder_may_know_the_cuda_runtime(self):
        with tempfile.TemporaryDirectory() as folder:
            tree(folder, CLEAN | {"kernels/cuda/k.cu": "#include <cuda_runtime.h>\n"})
            self.assertEqual(layering_test.violations(folder), [])


if __name__ == "__main__":
    unittest.main()
