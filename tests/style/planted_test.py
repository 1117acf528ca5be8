"""Plants faults in small trees: std_includes.py and unity_names.py must name each, and be silent without any."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import std_includes
import unity_names


def tree(folder, files):
    for path, text in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


def missing(source, header=None):
    with tempfile.TemporaryDirectory() as folder:
        tree(folder, {"core/a.cpp": source} | ({"core/a.h": header} if header else {}))
        return list(std_includes.faults_of(os.path.join(folder, "core/a.cpp"), std_includes.allowed_headers()))


class StandardIncludes(unittest.TestCase):
    def test_names_without_their_header_are_found(self):
        self.assertEqual(missing("int a;\nstd::int64_t b;\nstd::int64_t c;\n"), [(2, "int64_t", ["cstdint"])])
        self.assertEqual(missing("#include <vector>\nint a = std::clamp(1, 2, 3);\n"), [(2, "clamp", ["algorithm"])])
        self.assertEqual(missing("#include <algorithm>\nauto a = std::ranges::sort(b);\n"), [])
        self.assertEqual(missing("auto a = std::ranges::sort(b);\n"), [(1, "ranges::sort", ["algorithm"])])
        self.assertEqual(missing("std::filesystem::path a;\n"), [(1, "filesystem::path", ["filesystem"])])

    def test_a_name_that_the_table_lacks_is_a_fault(self):
        self.assertEqual(missing("std::no_such_name a;\n"), [(1, "no_such_name", [])])

    def test_any_header_that_declares_the_name_will_do(self):
        for header in ("cstddef", "cstdio", "cstring"):
            self.assertEqual(missing(f"#include <{header}>\nstd::size_t a;\n"), [])

    def test_comments_and_texts_do_not_count(self):
        self.assertEqual(missing('// std::vector\n/* std::map */\nconst char* a = "std::set";\nauto b = R"(std::list)";\n'), [])
        self.assertEqual(missing("int a = 1'000'000;\nstd::string b = 'x';\n"), [(2, "string", ["string"])])

    def test_the_own_header_counts(self):
        self.assertEqual(missing('#include "core/a.h"\nstd::string a;\n', "#include <string>\n"), [])

    def test_fix_writes_them_in(self):
        with tempfile.TemporaryDirectory() as folder:
            source = '#include "core/a.h"\n\n#include <map>\n#include <vector>\n\nstd::string a;\n'
            tree(folder, {"core/a.cpp": source})
            std_includes.add_includes(os.path.join(folder, "core/a.cpp"), {"string", "cstdint"})
            wanted = source.replace("#include <map>\n", "#include <cstdint>\n#include <map>\n#include <string>\n")
            self.assertEqual(std_includes.read(os.path.join(folder, "core/a.cpp")), wanted)


class UnityNames(unittest.TestCase):
    def faults(self, first, second, place="core/b.cpp"):
        return [fault for fault in self.all_faults({"core/a.cpp": first, place: second}) if "never used" not in fault]

    def all_faults(self, sources):
        with tempfile.TemporaryDirectory() as folder:
            tree(folder, {place: f"namespace {{\n\n{source}\n\n}}  // namespace\n" for place, source in sources.items()})
            return list(unity_names.faults(folder))

    def test_a_type_in_two_headers_of_a_namespace_is_found(self):
        header = "namespace headroom{} {{\n\n{}\n}};\n\n}}  // namespace headroom\n"
        for first, second, inner, found in (("struct Part {", "class Part final : public Base {", "", 1),
                                            ("struct Part {", "struct Part {", "::kernels", 0),
                                            ("struct Part {", "class Part;", "", 0), ("struct Part {", "struct Parts {", "", 0)):
            with tempfile.TemporaryDirectory() as folder:
                tree(folder, {"core/a.h": header.format("", first), "kernels/b.h": header.format(inner, second)})
                self.assertEqual(len(list(unity_names.faults(folder))), found, (first, second, inner))

    def test_a_type_that_a_neighbour_includes_is_found(self):
        header, hidden = "namespace headroom {\n\nstruct Part {\n};\n\n}  // namespace headroom\n", "namespace headroom {\nnamespace {\n\nstruct Part {\n};\n\n}  // namespace\n}\n"
        for include, found in (('#include "app/far.h"\n', 1), ('#include "app/near.h"\n', 1), ("", 0)):
            with tempfile.TemporaryDirectory() as folder:
                tree(folder, {"app/near.h": header, "app/far.h": '#include "app/near.h"\n', "core/a.cpp": hidden, "core/b.cpp": include})
                self.assertEqual(len([fault for fault in unity_names.faults(folder) if "is also a type" in fault]), found, include)

    def test_what_is_never_used_is_found(self):
        for source in ("using lib::Name;", "namespace Name = lib::deep;", "using Name = lib::Other;", "constexpr int Name = 3;",
                       "const std::array<int, 2> Name = {1, 2};", "constexpr char Name[] = \"x\";  // Name", "  using lib::Name;"):
            self.assertEqual(self.all_faults({"core/a.cpp": source}), ["core/a.cpp:3: Name is never used"], source)
            self.assertEqual(self.all_faults({"core/a.cpp": source + "\nint f(Name);"}), [], source)

    def test_the_same_name_twice_in_a_folder_is_found(self):
        for first, second in (
            ("constexpr double kNaN = 1.0;", "constexpr int kNaN = 2;"),
            ("float width(Rect r) {", "float width(int r) {"),
            ("struct Part {", "class Part {"),
            ("const std::array<int, 2> kSizes = {1, 2};", "constexpr const char* kSizes[] = {"),
            ("using Json = nlohmann::json;", "namespace Json = x;"),
            ("int counter;", "std::mutex counter{};"),
            ("constexpr double kLow = 1.0, kHigh = 2.0;", "constexpr int kTop = std::max(3, 4),\n              kHigh = 5;"),
            ("constexpr Goals kNew{0.75, 1.15}, kOld{0.8, 1.25};", "double kOld;"),
        ):
            self.assertEqual(len(self.faults(first, second)), 1, (first, second))

    def test_other_names_and_other_folders_are_not(self):
        self.assertEqual(self.faults("float width(Rect r) {", "float height(Rect r) {"), [])
        self.assertEqual(self.faults("float width(Rect r) {", "float width(Rect r) {", "core/io/b.cpp"), [])
        self.assertEqual(self.faults("using nlohmann::json;", "using nlohmann::json;"), [])
        self.assertEqual(self.faults("int a = 1;  // two, b;", "int c = 2;  // of two, b;"), [])
        self.assertEqual(self.faults("std::map<int, Part> a = {{1, b}, {2, c}};", 'auto d = f("x, c, b", Part(1, c)), e = 1;'), [])
        self.assertEqual(self.faults("int a() {\n  int b = 0;\n}", "int c() {\n  int b = 0;\n}"), [])


if __name__ == "__main__":
    unittest.main()
