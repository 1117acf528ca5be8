"""Which tests are compiled as one: unity_groups.py SIZE SOURCE… prints GROUP SOURCE for each.

A test may call its helpers what it likes: sources whose unnamed namespaces share a name come into different groups of a folder,
of at most SIZE sources each, and one that has a name of a header of the tests is compiled alone.
"""

import os
import re
import sys

from unity_names import ALIAS, further_names, names_of


def aliases(path):
    """Names that may be said twice: `namespace fs = std::filesystem;`."""
    with open(path, encoding="utf-8") as file:
        return {match[1] for line in file if line.startswith("namespace") and (match := ALIAS.match(line))}


def header_names(root):
    """What the headers of the tests define outside of classes."""
    names = set()
    for folder, _, files in os.walk(root):
        for file in files:
            if file.endswith(".h"):
                with open(os.path.join(folder, file), encoding="utf-8") as header:
                    for line in header:
                        if line[0] not in " }/#\n" and (match := re.match(r"[^=({]*?(\w+)\s*(?:\(|=|\{|\[|;)", line)):
                            names.update((match[1], *further_names(line)))
    return names


def grouped(size, sources):
    groups = []  # [folder, names, sources]
    of_headers = header_names(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    for source in sorted(sources):
        names = {name for name, _ in names_of(source)} - {"CATCH_TEST_CASE", "CATCH_TEMPLATE_TEST_CASE"} - aliases(source)
        folder = os.path.dirname(source)
        alone = bool(names & of_headers)
        for group in groups:
            if not alone and group[0] == folder and len(group[2]) < size and not names & group[1]:
                break
        else:
            group = ["" if alone else folder, set(), []]
            groups.append(group)
        group[1].update(names)
        group[2].append(source)
    return [members for _, _, members in groups]


if __name__ == "__main__":
    for number, members in enumerate(grouped(int(sys.argv[1]), sys.argv[2:])):
        for member in members:
            print(number, member)
