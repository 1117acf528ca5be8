"""assets/LICENSES.md covers every file under assets/ and names none that is not there; what the scripts download is listed too.
Printed: one fault a line. `licences.py ROOT`."""

import fnmatch
import os
import re
import sys

DOCUMENT = "assets/LICENSES.md"
# Where packages are named, and how: app/setup.sh by 'NAME==VERSION', lists by lines of the same form.
SETUP, LISTS = "app/setup.sh", ("tests/oracle/requirements.txt", "tests/style/requirements.txt")


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def patterns(text):
    """Those of the first column of the table of files, in the order of the table."""
    table = text.split("Downloaded by")[0]
    for row in re.findall(r"^\| (`.*?) \|", table, re.M):
        yield from re.findall(r"`([^`]+)`", row)


def files(root):
    for where, folders, names in os.walk(os.path.join(root, "assets")):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for name in sorted(names):
            yield os.path.relpath(os.path.join(where, name), os.path.join(root, "assets"))


def covers(pattern, path):
    """`*` stands for a name or a part of one, `**` for any path."""
    if pattern.endswith("/**"):
        return path.startswith(pattern[:-2])
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def downloads(root):
    yield from re.findall(r"'([\w.-]+)==", read(root, SETUP))
    yield from (f"`{path}`" for path in LISTS)


def faults(root):
    text = read(root, DOCUMENT)
    listed, found = list(patterns(text)), list(files(root))
    for path in found:
        if not any(covers(pattern, path) for pattern in listed):
            yield f"assets/{path}: {DOCUMENT} says nothing of it"
    for pattern in listed:
        if not any(covers(pattern, path) for path in found):
            yield f"{DOCUMENT}: there is no file “{pattern}”"
        if listed.count(pattern) > 1:
            yield f"{DOCUMENT}: “{pattern}” twice"
    for name in downloads(root):
        if name not in text:
            yield f"{DOCUMENT}: the scripts download {name}, and it is not listed"
    if "MIT" not in read(root, "LICENSE") or "The Headroom authors" not in read(root, "LICENSE"):
        yield "LICENSE: not the MIT licence of the Headroom authors"
    if "(LICENSE)" not in read(root, "README.md"):
        yield "README.md: does not name LICENSE"


if __name__ == "__main__":
    found = list(dict.fromkeys(faults(sys.argv[1])))
    print("\n".join(found) if found else "every file under assets has its licence")
    sys.exit(1 if found else 0)
