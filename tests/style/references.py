"""Whatever the tree refers to can be looked up: a document of the tree at an anchor that exists, a file that exists, or a paper, post or
specification that is public. Printed: place and fault, one a line. `references.py ROOT`."""

import os
import re
import sys

FOLDERS = ("app", "core", "kernels", "shaders", "assets", "tests", ".ci")
TEXTS = (".md", ".cpp", ".h", ".cu", ".cuh", ".py", ".sh", ".txt", ".cmake", ".script", ".vert", ".frag", ".glsl", ".in")
# What others wrote, or what is made of it; and tests that plant faults.
LEFT_OUT = ("assets/corpora/", "assets/prompts/", "assets/demo/", "tests/fixtures/", "tests/style/references.py")
# Documents that the program, a script or a test writes: no part of the tree.
WRITTEN = {"report.md", "models.md"}
PUBLIC = r"arXiv \d{4}\.\d{4,5}|doi:10\.\d+/\S+|https?://[^\s)]+|\b(?:19|20)\d\d\b"

# Documents that nobody can open, by the way they were spoken of.
OUTSIDE = [
    (re.compile(r"\b(?:metrics|architectures|formats|faults|hdf5|product|style|window|figures|corpus|capture) "
                r"(?:§ ?[\dA-Z]|M\d|readings? \d|rules? \d)|\b(?:metrics|architectures|formats|faults) \d"),
     "names a document outside of the tree"),
    (re.compile(r"(?<![\w.#&-])M(?:[1-9]|1\d|2[0-4])(?:\([a-e]\)|(?![\w*/+-]|\.\w| *[=*+(]|\]))"),
     "names an entry of a catalogue outside of the tree"),
    (re.compile(r"\b(?:design )?rules? \d+\b"), "names a rule by a number, without a document"),
    (re.compile(r"\breadings? \d+\b"), "names a reading by a number, without a document"),
]
SECTION = re.compile(r"§+ ?[\dA-Z][\w.]*")
DOCUMENT = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-]+\.md)(?:#([\w%-]+))?")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"(?<![\w/.$}*<-])((?:app|core|kernels|shaders|assets|tests)/[\w./@-]*\w\.(?:cpp|h|cuh|cu|py|sh|md|json|script|cmake|txt|png))\b(?![\w*/])")
ARXIV = re.compile(r"arXiv[: ](\d[\d.]*\d|\d)")


def texts(root):
    """Path in the tree → text, of everything that a person reads."""
    for name in sorted(os.listdir(root)):
        if name.endswith(".md") or name in ("CMakeLists.txt", "LICENSE"):
            yield name, read(os.path.join(root, name))
    for folder in FOLDERS:
        for where, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(names):
                path = os.path.relpath(os.path.join(where, name), root)
                if name.endswith(TEXTS) and not path.startswith(LEFT_OUT) and not name.endswith("planted_test.py"):
                    yield path, read(os.path.join(where, name))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def anchors(text):
    """Of the headings of a Markdown text, as GitHub makes them."""
    found, times, fenced = set(), {}, False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if fenced or not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        slug = "".join(c for c in words if c.isalnum() or c in " -_").replace(" ", "-")
        found.add(slug if slug not in times else f"{slug}-{times[slug]}")
        times[slug] = times.get(slug, 0) + 1
    return found


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = dict(texts(root))
        self.anchors = {path: anchors(text) for path, text in self.texts.items() if path.endswith(".md")}

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def document(self, name, place):
        """The path of a document that is spoken of at `place`: from there, from the root, or the only one of that name; None: there is
        none."""
        for start in (os.path.dirname(place), ""):
            path = os.path.normpath(os.path.join(start, name))
            if path in self.anchors:
                return path
        same = [path for path in self.anchors if os.path.basename(path) == name]
        return same[0] if len(same) == 1 else None


def code_faults(line, before):
    """Names of outside documents; `before` is the end of the line before, for what a line break separates."""
    for pattern, what in OUTSIDE:
        for match in pattern.finditer(line):
            yield f"“{match.group(0)}” {what}"
    for match in SECTION.finditer(line):
        if not re.search(rf"(?:{PUBLIC}|\.md)[^§]{{0,40}}$", before + " " + line[:match.start()]):
            yield f"“{match.group(0)}” has no document before it"
    for match in ARXIV.finditer(line):
        if not re.fullmatch(r"\d\d(?:0[1-9]|1[0-2])\.\d{4,5}", match.group(1).rstrip(".")):
            yield f"“arXiv {match.group(1)}” is no number of arXiv"


def document_faults(tree, place, line):
    for match in DOCUMENT.finditer(line):
        name, anchor = match.groups()
        if os.path.basename(name) in WRITTEN or re.search(r"https?://\S*(?: \(`?)?$", line[:match.start()]):
            continue  # the latter: a file of a public repository, behind its address
        path = tree.document(name, place)
        if path is None:
            yield f"“{name}” is no document of the tree"
        elif anchor and anchor not in tree.anchors[path]:
            yield f"“{name}” has no heading #{anchor}"
    for match in PATH.finditer(line) if not place.startswith("tests/style/") else ():  # which speak of paths that are not there
        near = os.path.join(os.path.dirname(place), match.group(1))
        made = match.group(1) + ".in"
        if not match.group(1).endswith(".md") and not any(tree.exists(path) for path in (match.group(1), near, made)):
            yield f"“{match.group(1)}” is not in the tree"


def link_faults(tree, place, line):
    """Links of a Markdown text; inline code is none."""
    for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(place), name)) if name else place
        if not tree.exists(path):
            yield f"the link to “{target}” leads nowhere"
        elif anchor and anchor not in tree.anchors.get(path, ()):
            yield f"the link to “{target}” leads to no heading"


def catalogue_faults(tree):
    """Numbers of faults in tests and in tests/FAULTS.md are the same ones."""
    listed = set()
    for row in re.findall(r"^\| ([\d, ]+) \|", tree.texts.get("tests/FAULTS.md", ""), re.M):
        listed |= {int(number) for number in row.split(",")}
    tested = {}
    for path, text in tree.texts.items():
        if path.startswith("tests/style/"):
            continue
        for numbers in re.findall(r'TEST_CASE\("catalogue ([\d, and]+):', text):
            tested.update({int(number): path for number in re.findall(r"\d+", numbers)})
        for numbers in re.findall(r"def test_(\d{3}(?:_and_\d{3})*)_", text):
            tested.update({int(number): path for number in re.findall(r"\d{3}", numbers)})
    for number in sorted(set(tested) - listed):
        yield f"{tested[number]}: fault {number} is not in tests/FAULTS.md"
    for number in sorted(listed - set(tested)):
        yield f"tests/FAULTS.md: no test has fault {number}"


def faults(root):
    tree = Tree(root)
    for place, text in tree.texts.items():
        before = ""
        for number, line in enumerate(text.splitlines(), 1):
            found = list(code_faults(line, before))
            if place.endswith(".md"):
                found += link_faults(tree, place, line)
            found += document_faults(tree, place, LINK.sub("]", line) if place.endswith(".md") else line)
            for fault in dict.fromkeys(found):
                yield f"{place}:{number}: {fault}"
            before = line[-80:]
    yield from catalogue_faults(tree)


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found) if found else "every reference leads to something that can be opened")
    sys.exit(1 if found else 0)
