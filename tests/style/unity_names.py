"""Names in the unnamed namespaces of one folder's sources differ: unity_names.py ROOT.

The build compiles several sources of a folder as one (headroom_unity in CMakeLists.txt). The same name in two of them is
then defined twice, or, worse, two functions of one name become overloads, and a call may go to the other file's. Prints
FOLDER: NAME: PLACES for each and exits 1 on any. Also the aliases and constants that a source declares for itself and never says
again: clang-tidy, which sees groups of sources, takes them for a header's. And types of one name in two headers of one
namespace: what the compiler makes of them by itself, the linker takes for one. And types of an unnamed namespace whose name is
that of a type in a header that another source of the folder includes: together neither is meant. It reads sources as
clang-format leaves them.
"""

import itertools
import os
import re
import sys
from collections import defaultdict

FOLDERS = ("app", "core")
USING = re.compile(r"using (?:namespace )?[\w:]+;")
TYPE = re.compile(r"(?:struct|class|enum class|enum)\s+(?:alignas\(\w+\)\s+)?(\w+)")
ALIAS = re.compile(r"(?:using|namespace)\s+(\w+)\s*=")
USED = re.compile(r"\s*(?:using (?:\w+::)+(\w+);|using (\w+) = |namespace (\w+) = |(?:static )?const(?:expr)? [\w:<>, ]+? (\w+)(?:\[\w*\])? ?[={])")
FUNCTION = re.compile(r"[^=({]*?([A-Za-z_]\w*)\(")
VALUE = re.compile(r"[^=(]*?([A-Za-z_]\w*)\s*(?:\[\w*\])?\s*(?:=|\{|;)")
NESTED = re.compile(r"\([^(){}<>]*\)|\{[^(){}<>]*\}|<[^(){}<>]*>|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'")
FURTHER = re.compile(r",\s*[*&]*([A-Za-z_]\w*)\s*(?:\[\w*\])?\s*(?=[=,;])")


def further_names(statement):
    """The names after the first of `double a = f(1, 2), b{3}, c;`, without comments and what stands in brackets and texts."""
    statement = re.sub(r"//.*", "", statement)
    while (shorter := NESTED.sub("", statement)) != statement:
        statement = shorter
    return FURTHER.findall(statement)


def names_of(path):
    """(name, line) of each definition at the outermost level of the file's unnamed namespaces."""
    inside = False
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
        for number, line in enumerate(lines, 1):
            if line == "namespace {":
                inside = True
            elif line.startswith("}  // namespace"):
                inside = False
            elif inside and line and line[0] not in " }/#" and not line.startswith(("template", "static_assert", "extern")):
                if USING.match(line):
                    continue
                found = TYPE.match(line) or ALIAS.match(line) or FUNCTION.match(line) or VALUE.match(line)
                if found:
                    yield found.group(1), number
                if found and found.re is VALUE:
                    rest = itertools.takewhile(lambda further: further.startswith(" ") or further == "};", lines[number:])
                    for name in further_names("\n".join([line, *rest])):
                        yield name, number


def never_used(path):
    """(name, line) of each alias and constant that the source declares for itself and says once."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    code = re.sub(r"(?:^|\s)//.*", "", text, flags=re.MULTILINE)
    header = os.path.splitext(path)[0] + ".h"
    if os.path.exists(header):  # what it declares is for others
        with open(header, encoding="utf-8") as file:
            code += "".join(re.findall(r"^extern const .*;$", file.read(), flags=re.MULTILINE))
    for number, line in enumerate(text.split("\n"), 1):
        if match := USED.match(line):
            name = next(filter(None, match.groups()))
            if name != "is_transparent" and len(re.findall(rf"\b{name}\b", code)) == 1:  # read by the standard library
                yield name, number


HEADER_TYPE = re.compile(r"(?:struct|class|enum class|enum)\s+(?:alignas\(\w+\)\s+)?(\w+)\b(?!::)[^;]*$")
NAMESPACE = re.compile(r"namespace ([\w:]+) \{$")


def types_of(path):
    """(namespace, name, line) of each type at the outermost level of the header's namespace."""
    namespace = ""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if match := NAMESPACE.match(line):
                namespace = match[1]
            elif (match := HEADER_TYPE.match(line)) and namespace:
                yield namespace, match[1], number


def types_twice(root):
    places = defaultdict(list)
    for top in (*FOLDERS, "kernels"):
        for folder, _, files in sorted(os.walk(os.path.join(root, top))):
            for file in sorted(files):
                if file.endswith((".h", ".cuh")):
                    path = os.path.join(folder, file)
                    for namespace, name, line in types_of(path):
                        places[namespace, name].append((os.path.relpath(path, root), line))
    for (namespace, name), found in sorted(places.items()):
        if len({file for file, _ in found}) > 1:
            yield f"{namespace}::{name} is a type of {', '.join(f'{file}:{line}' for file, line in found)}"


INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


class Headers:
    """What sources include, at any depth, and the types of it."""

    def __init__(self, root):
        self.root, self.reached, self.types = root, {}, {}

    def of(self, path):
        if path not in self.reached:
            self.reached[path] = set()  # a ring of headers ends here
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                direct = [name for name in INCLUDE.findall(file.read()) if os.path.exists(os.path.join(self.root, name))]
            self.reached[path] = set(direct).union(*(self.of(name) for name in direct))
        return self.reached[path]

    def types_of(self, path):
        if path not in self.types:
            self.types[path] = {(namespace, name) for namespace, name, _ in types_of(os.path.join(self.root, path))}
        return self.types[path]


def types_hidden(root, folder, headers):
    sources = [os.path.relpath(os.path.join(folder, file), root) for file in sorted(os.listdir(folder)) if file.endswith(".cpp")]
    for source in sources:
        with open(os.path.join(root, source), encoding="utf-8") as file:
            text = file.read()
        namespace = next(iter(re.findall(r"^namespace ([\w:]+) \{$", text, re.MULTILINE)), "")
        lines = text.split("\n")
        own = {(namespace, name): line for name, line in names_of(os.path.join(root, source)) if TYPE.match(lines[line - 1])}
        for other in sources if own else ():
            for header in sorted(headers.of(other)):
                for found in sorted(own.keys() & headers.types_of(header)):
                    yield f"{source}:{own[found]}: {found[1]} is also a type of {header}, which {other} includes"


def faults(root):
    headers = Headers(root)
    yield from types_twice(root)
    for top in FOLDERS:
        for folder, _, files in sorted(os.walk(os.path.join(root, top))):
            yield from types_hidden(root, folder, headers)
            places = defaultdict(list)
            for file in sorted(files):
                if file.endswith(".cpp"):
                    for name, line in never_used(os.path.join(folder, file)):
                        yield f"{os.path.relpath(os.path.join(folder, file), root)}:{line}: {name} is never used"
                    for name, line in names_of(os.path.join(folder, file)):
                        places[name].append((file, line))
            for name, found in sorted(places.items()):
                if len({file for file, _ in found}) > 1:
                    where = ", ".join(f"{file}:{line}" for file, line in found)
                    yield f"{os.path.relpath(folder, root)}: {name} is in the unnamed namespaces of {where}"


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    if not os.path.isdir(os.path.join(root, "core")):
        sys.exit(f"{root}: no core/ here; expected the repository's root")
    found = list(faults(root))
    print("\n".join(found) if found else "no name is in two unnamed namespaces of a folder, and each is used")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
