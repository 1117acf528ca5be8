"""Plants faults in small trees: references.py, licences.py and workflows.py must name each, and be silent without any."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import licences
import references
import workflows


def faults_of(check, files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return list(check.faults(folder))


TREE = {"core/run/NUMBERS.md": "# Numbers\n\n## The head's own interval\n\nText.\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n",
        "core/a.cpp": "// core/run/NUMBERS.md#the-heads-own-interval\n", "core/x/README.md": "# X\n", "app/README.md": "# App\n"}


class References(unittest.TestCase):
    def faults(self, path, text):
        return faults_of(references, TREE | {path: text})

    def test_a_tree_without_faults(self):
        self.assertEqual(faults_of(references, TREE), [])
        for text in ("// see core/a.cpp and NUMBERS.md\n",
                     "// core/run/NUMBERS.md#twice-1\n",
                     "// Gu et al. 2024, arXiv 2410.10781 §3\n",
                     "// Gu et al. 2024 (arXiv 2410.10781),\n// §3.1\n",
                     "// https://github.com/o/r (`docs/other.md`)\n",
                     "// writes report.md\n",
                     "int M1 = 0, a = M25 + x.M2;\n",
                     "// window 6, 3 faults, the style of it\n"):
            self.assertEqual(self.faults("core/b.cpp", text), [], text)
        self.assertEqual(self.faults("core/b.md", "[n](run/NUMBERS.md#twice) [here](#b) [out](https://x.y) [f](a.cpp) `[no](link)`\n\n# B\n"), [])

    def test_documents_that_nobody_can_open(self):
        for text, word in (("// metrics §4.2\n", "“metrics §4” names a document outside"),
                           ("// the intervals of metrics 4.2\n", "“metrics 4” names a document outside"),
                           ("// formats reading 6\n", "“formats reading 6” names"),
                           ("// hdf5.md rule 2\n", "“hdf5.md” is no document"),
                           ("// goals of metrics.md\n", "“metrics.md” is no document"),
                           ('.source = "M16";\n', "“M16” names an entry of a catalogue"),
                           ("// cancellation (M15)\n", "“M15” names an entry"),
                           ("// as in M1(d), M1\n", "“M1(d)” names an entry"),
                           ("// it is M18.\n", "“M18” names an entry"),
                           ("// (design rule 25)\n", "“design rule 25” names a rule"),
                           ("// as rule 4 says\n", "“rule 4” names a rule"),
                           ("// §6.7 says so\n", "“§6.7” has no document before it"),
                           ("// architectures:\n// §B.1\n", "“§B.1” has no document before it")):
            self.assertTrue(any(word in fault for fault in self.faults("core/b.cpp", text)), (text, self.faults("core/b.cpp", text)))

    def test_places_that_do_not_exist(self):
        for path, text, word in (
                ("core/b.cpp", "// core/run/NUMBERS.md#no-such\n", "has no heading #no-such"),
                ("core/b.cpp", "// core/run/NUMBERS.md#no-heading\n", "has no heading #no-heading"),
                ("core/b.cpp", "// core/run/NOTES.md\n", "“core/run/NOTES.md” is no document"),
                ("core/b.cpp", "// core/gone.cpp has it\n", "“core/gone.cpp” is not in the tree"),
                ("app/b.cpp", "// README.md#y\n", "has no heading #y"),
                ("core/b.cpp", "// arXiv 2410.1\n", "is no number of arXiv"),
                ("core/b.cpp", "// arXiv 2413.10781\n", "is no number of arXiv"),
                ("core/b.md", "[x](run/NOTES.md)\n", "leads nowhere"),
                ("core/b.md", "[x](run/NUMBERS.md#y)\n", "leads to no heading"),
                ("core/b.md", "[x](#y)\n", "leads to no heading"),
                ("README.md", "[x](core/gone.png)\n", "leads nowhere")):
            found = self.faults(path, text)
            self.assertEqual(len(found), 1, (text, found))
            self.assertTrue(found[0].startswith(path + ":1: ") and word in found[0], found)

    def test_faults_have_their_row_and_their_test(self):
        rows = {"tests/FAULTS.md": "| 1 | a |\n| 9, 11 | b |\n"}
        tests = {"tests/core/x_test.cpp": 'TEST_CASE("catalogue 9 and 11: x") {}\n', "tests/oracle/test_x.py": "def test_001_x():\n    pass\n"}
        self.assertEqual(faults_of(references, rows | tests), [])
        more = {"tests/oracle/test_y.py": "def test_012_and_013_x():\n    pass\n"}
        self.assertEqual(len(faults_of(references, rows | tests | more)), 2)
        self.assertEqual(faults_of(references, {"tests/FAULTS.md": "| 1 | a |\n| 2 | b |\n"} | {"tests/oracle/test_x.py": "def test_001_x(): 0\n"}),
                         ["tests/FAULTS.md: no test has fault 2"])


class Licences(unittest.TestCase):
    files = {"assets/LICENSES.md": "| file |\n|---|\n| `LICENSES.md`, `a/*.png` | here | CC0 |\n| `b/**` | here | CC0 |\n\n"
                                   "Downloaded by x:\n\n| `gone.txt` torch\n`tests/oracle/requirements.txt` `tests/style/requirements.txt`\n",
             "assets/a/one.png": "", "assets/b/c/two.txt": "", "app/setup.sh": "x='torch==2.0'\n", "tests/oracle/requirements.txt": "h5py==1\n",
             "tests/style/requirements.txt": "y==1\n", "LICENSE": "MIT License\n\nCopyright (c) The Headroom authors\n", "README.md": "[MIT](LICENSE)\n"}

    def test_every_file_has_its_licence_and_every_entry_its_file(self):
        self.assertEqual(faults_of(licences, self.files), [])
        for change, word in (({"assets/a/two.txt": ""}, "assets/a/two.txt: assets/LICENSES.md says nothing of it"),
                             ({"assets/a/deep/three.png": ""}, "says nothing of it"),
                             ({"assets/LICENSES.md": self.files["assets/LICENSES.md"].replace("`b/**`", "`b/**`, `c.txt`")}, "no file “c.txt”"),
                             ({"assets/LICENSES.md": self.files["assets/LICENSES.md"].replace("`b/**`", "`b/**`, `b/**`")}, "twice"),
                             ({"app/setup.sh": "x='torch==2.0' 'other-thing==1'\n"}, "download other-thing"),
                             ({"LICENSE": "MIT\n"}, "LICENSE: not the MIT licence"),
                             ({"README.md": "none\n"}, "README.md: does not name LICENSE")):
            found = list(dict.fromkeys(faults_of(licences, self.files | change)))
            self.assertEqual(len(found), 1, (change, found))
            self.assertIn(word, found[0])


FOLDER = "assets/workflows/"
WORKFLOWS = {FOLDER + "one.script": "run\nscreenshot assets/pictures/one.png\n", "assets/pictures/one.png": "",
             FOLDER + "README.md": "# W\n\n[one](#one)\n\n## one\n\n![](../pictures/one.png)\n\n"
                                   "    headroom --script assets/workflows/one.script --size 1440x900\n"}


class Workflows(unittest.TestCase):
    def test_a_section_for_each(self):
        self.assertEqual(faults_of(workflows, WORKFLOWS), [])

    def test_what_is_missing(self):
        page = WORKFLOWS[FOLDER + "README.md"]
        for change, word in (({FOLDER + "two.script": "run\n"}, "two: no section"),
                             ({FOLDER + "README.md": page + "\n## three\n"}, "three: no script"),
                             ({FOLDER + "README.md": page.replace("[one](#one)", "")}, "not in the table"),
                             ({FOLDER + "README.md": page.replace("    headroom", "headroom")}, "lacks the line"),
                             ({FOLDER + "README.md": page.replace("![](../pictures/one.png)", "")}, "does not show"),
                             ({FOLDER + "one.script": "screenshot assets/pictures/gone.png\n"}, "gone.png is not there"),
                             ({FOLDER + "one.script": "run\n"}, "writes no picture")):
            self.assertTrue(any(word in fault for fault in faults_of(workflows, WORKFLOWS | change)), (change, word))


if __name__ == "__main__":
    unittest.main()
