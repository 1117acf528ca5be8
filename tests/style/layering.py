"""Checks the shape of the tree: layering.py ROOT [--tables]. Prints each violation as FILE:LINE: SENTENCE, exits 1 on any.

Includes follow tests -> app -> core -> kernels, and inside a layer the arrows of ARROWS, which is the one table of them:
the READMEs of the layers show the same one (--tables prints their rows). kernels know the standard library and Highway
(kernels/cuda also the CUDA runtime), only core/compute knows LibTorch, only app draws, shaders and assets are data. No file
includes itself by way of others; a source includes its own header first. Tracked text names no machine's folders and no package registry's host. A source file has
at most 600 lines.
"""

import os
import re
import subprocess
import sys

LAYERS = ("kernels", "core", "app", "tests")
MAX_LINES = 600
CPP = (".h", ".hpp", ".cpp", ".cc", ".c", ".cu", ".cuh")
SOURCES = CPP + (".py", ".sh", ".cmake", ".glsl", ".vert", ".frag", ".comp", ".geom", "CMakeLists.txt", "run")
SKIPPED_FOLDERS = {".git", ".deps", "build", "__pycache__", ".pytest_cache"}

# Which folders the files of a folder may include besides their own. A layer's name stands for the files right in it.
ARROWS = {
    "kernels": "",
    "kernels/reference": "kernels",
    "kernels/cpu": "kernels",
    "kernels/cuda": "kernels",
    "kernels/no_cuda": "kernels kernels/cuda",
    "core/base": "kernels",
    "core/checkpoint": "core/base",
    "core/text": "core/base core/checkpoint",
    "core/io": "core/base",
    "core/model": "core/base core/checkpoint",
    "core/maps": "core/base core/checkpoint core/model kernels kernels/cpu",
    "core/measure": "core/base core/io core/model core/maps kernels",
    "core/run": "core/base core/checkpoint core/text core/io core/model core/maps core/measure kernels kernels/cpu",
    "core/circuits": "core/base core/io core/model core/measure core/run kernels/cpu",
    "core/compare": "core/base core/maps core/run",
    "core/corpus": "core/base core/checkpoint core/text core/io core/model core/measure core/run kernels/cpu",
    "core/sparse": "core/base core/io core/model core/measure core/run core/corpus kernels",
    "core/training": "core/base core/checkpoint core/text core/io core/model core/measure core/run",
    "core/compute": "core/base core/model core/maps core/measure core/run core/training kernels kernels/reference kernels/cpu kernels/cuda",
    "core/reproduce": "core/base core/io core/model core/measure core/run core/training",
    "app/process": "core/base core/io",
    "app/plot": "core/base",
    "app/text": "app/plot core/base",
    "app/figures": "app/plot core/base core/checkpoint core/io core/model core/measure core/run core/corpus core/training",
    "app/paper": "app/plot app/text app/figures core/base core/checkpoint",
    "app/ui": "app/plot core/base",
    "app/report": "app/plot app/text app/figures app/paper core/base core/text core/io core/model core/run",
    "app/session": "app/plot app/text app/figures app/paper app/ui core/base core/checkpoint core/text core/io core/model core/maps core/measure core/run core/circuits core/corpus core/training",
    "app/panels": "app/plot app/figures app/ui app/session core/base core/text core/model core/measure core/run core/circuits core/compare core/corpus core/training",
    "app/gl": "app/plot app/text core/base",
    "app/window": "app/process app/plot app/text app/ui app/session app/panels app/gl core/base",
    "app/cli": "app/process app/plot app/text app/figures app/paper app/report app/session core/base core/checkpoint core/text core/io core/model core/measure core/run core/circuits core/corpus core/sparse core/training core/reproduce",
    "app": "app/process app/cli app/window",
}
# Inside app/panels: which of its folders a folder may include, beside what app/panels may and the files right in it.
PANELS = {
    "parts": "",
    "map": "parts",
    "heads": "parts map",
    "tokens": "parts",
    "circuit": "parts heads",
    "model": "parts heads",
    "head": "parts model",
    "residual": "parts",
    "compare": "parts map model",
    "importance": "parts",
    "what_if": "parts map compare",
    "training": "parts",
    "corpus": "parts",
    "chrome": "parts map heads tokens circuit model head residual compare what_if importance training corpus",
}
ARROWS |= {
    f"app/panels/{folder}": " ".join(["app/panels", ARROWS["app/panels"], *(f"app/panels/{name}" for name in allowed.split())])
    for folder, allowed in PANELS.items()
}
ARROWS["app/window"] += " app/panels/chrome"
ARROWS = {folder: allowed.split() for folder, allowed in ARROWS.items()}

INCLUDE = re.compile(r'\s*#\s*(?:include|include_next|import)\s*(?:/\*.*?\*/\s*)?([<"])([^>"]+)[>"]')
TORCH = re.compile(r"(ATen|torch|c10|caffe2)/|torch\.h$")
DRAWING = re.compile(r"(GL|GLES\d*|EGL|GLFW|cairo|X11)/|imgui|implot|glad|epoxy")
STANDARD = re.compile(r"[a-z_0-9]+$")
HIGHWAY = re.compile(r"hwy/")
CUDA = re.compile(r"cu[a-z_0-9]+(\.h|\.cuh)$|cub/|cooperative_groups|mma\.h$|immintrin\.h$")

MACHINE_FOLDER = re.compile(r"(?<![\w.$}*)\]>-])/(?:(?:work|root)(?![\w-])|home/\w|Users/\w)")
REGISTRY_HOST = re.compile(r"\b(?:pypi|pythonhosted|debian|pytorch|npmjs|anaconda)\.(?:org|com|io)\b", re.IGNORECASE)


def text_files(root):
    """Tracked files and new ones that git does not ignore; without git, every file outside the ignored folders."""
    try:
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=True,
        ).stdout
        inside = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, check=True)
        if os.path.realpath(os.fsdecode(inside.stdout).rstrip("\n")) == os.path.realpath(root):
            return sorted(os.fsdecode(name) for name in set(listing.split(b"\0")) if name)
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def folder_of(path):
    """core/compute of core/compute/training/x.cpp; app/panels/map of app/panels/map/x.cpp; app of app/main.cpp."""
    folder = os.path.dirname(path)
    return folder if folder in ARROWS else "/".join(path.split("/")[: min(2, path.count("/"))])


def table_faults():
    """Folders that ARROWS names without having them, and arrows that lead back."""
    done, open_folders = set(), []

    def visit(folder):
        if folder in open_folders:
            yield "ARROWS lead in a circle: " + " -> ".join(open_folders[open_folders.index(folder) :] + [folder])
        elif folder not in ARROWS:
            yield f"ARROWS name {folder}, which has no row"
        elif folder not in done:
            open_folders.append(folder)
            for target in ARROWS[folder]:
                yield from visit(target)
            open_folders.pop()
            done.add(folder)

    for folder in ARROWS:
        yield from visit(folder)


def may_include_text(folder):
    """The cell of the README: names of the same layer bare, then those of others behind their layer's name."""
    layer = folder.split("/")[0]
    if folder.startswith("app/panels/"):
        return ", ".join(PANELS[os.path.basename(folder)].split()) or "–"
    names = {layer: []}
    for target in ARROWS[folder]:
        target_layer, _, name = target.partition("/")
        names.setdefault(target_layer, []).append(name or "its own files")
    own = ", ".join(names.pop(layer))
    return "; ".join(filter(None, [own, *(f"{other}: {', '.join(found)}" for other, found in names.items())])) or "–"


def table_rows(layer):
    return {os.path.basename(folder): may_include_text(folder) for folder in ARROWS if os.path.dirname(folder) == layer}


def readme_faults(root):
    """The READMEs of the layers, and of app/panels, have a row for each folder, with the arrows of the table."""
    for layer in ("core", "app", "app/panels"):
        path = f"{layer}/README.md"
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            continue
        table = re.search(r"^\| folder \| may include \|(?:.*\n)((?:\|.*\n)+)", text, re.MULTILINE)
        found = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", table.group(1) if table else "", re.MULTILINE))
        for folder, cell in table_rows(layer).items():
            if found.get(folder) != cell:
                yield f"{path}:1: the row of `{folder}` says it may include {found.get(folder)!r}; the table of arrows says {cell!r}"


def circle_faults(includes):
    """includes: {file: files it includes}. Names one circle for each set of headers that include each other."""
    state, stack = {}, []

    def visit(path):
        state[path] = "open"
        stack.append(path)
        for target in includes.get(path, ()):
            if state.get(target) == "open":
                yield f"{path}:1: includes itself: " + " -> ".join(stack[stack.index(target) :] + [target])
            elif target not in state:
                yield from visit(target)
        stack.pop()
        state[path] = "done"

    for path in sorted(includes):
        if path not in state:
            yield from visit(path)


def include_fault(path, quote, target):
    """Why the file at path may not include target, or None."""
    layer = path.split("/")[0]
    target_layer = target.split("/")[0]
    if ".." in target.split("/"):
        return "includes start at the repository's root"
    if target_layer in LAYERS and "/" in target:
        if LAYERS.index(target_layer) > LAYERS.index(layer):
            return f"{layer} may not include {target_layer}"
        if layer == "app" and target_layer == "kernels":
            return "app reaches kernels through core"
        folder, target_folder = folder_of(path), folder_of(target)
        if layer != "tests" and folder in ARROWS and target_folder not in [folder, *ARROWS[folder]]:
            return f"{folder} may not include {target_folder}"
        if layer != "tests" and folder not in ARROWS:
            return f"{folder} has no row in the table of arrows"
    elif quote == '"':
        return "a quoted include starts at the repository's root, with its layer"
    if layer == "tests":
        return None
    if layer == "kernels" and target_layer != "kernels" and not STANDARD.match(target) and not HIGHWAY.match(target):
        if not (path.startswith("kernels/cuda/") and CUDA.match(target)):
            return "kernels know the standard library and Highway only"
    if TORCH.match(target) and not path.startswith("core/compute/"):
        return "only core/compute knows LibTorch"
    if DRAWING.match(target) and layer != "app":
        return "only app draws"
    return None


def check_file(root, path, includes):
    try:
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
    except (FileNotFoundError, IsADirectoryError):
        return
    if b"\0" in data[:8192]:
        return
    lines = data.decode("utf-8", errors="replace").splitlines()
    code = path.endswith(CPP) and path.split("/")[0] in LAYERS
    own = os.path.splitext(path)[0] + ".h" if path.endswith((".cpp", ".cu")) and code else None
    if own and not os.path.exists(os.path.join(root, own)):
        own = None
    for number, line in enumerate(lines, 1):
        if MACHINE_FOLDER.search(line):
            yield f"{path}:{number}: a machine's folder: {line.strip()[:100]}"
        if REGISTRY_HOST.search(line):
            yield f"{path}:{number}: a package registry's host: {line.strip()[:100]}"
        include = INCLUDE.match(line) if code else None
        if include and own:
            if include.group(2) != own:
                yield f"{path}:{number}: a source includes its own header first, which shows that it needs no other: {line.strip()}"
            own = None
        if include and include.group(2).split("/")[0] in LAYERS:
            includes.setdefault(path, []).append(include.group(2))
        fault = include_fault(path, *include.groups()) if include else None
        if fault:
            yield f"{path}:{number}: {fault}: {line.strip()}"
    if path.endswith(SOURCES) and len(lines) > MAX_LINES:
        yield f"{path}:{len(lines)}: longer than {MAX_LINES} lines"


def violations(root):
    includes = {}
    found = list(table_faults())
    found += [fault for path in text_files(root) for fault in check_file(root, path, includes)]
    return found + list(circle_faults(includes)) + list(readme_faults(root))


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = text_files(root)
    if not any(path.startswith("core/") for path in files):
        sys.exit(f"{root}: no core/ here; expected the repository's root")
    if "--tables" in sys.argv:
        for layer in ("core", "app", "app/panels"):
            print("\n".join(f"| `{folder}` | {cell} |" for folder, cell in table_rows(layer).items()), end="\n\n")
        return
    faults = violations(root)
    print("\n".join(faults) if faults else f"{len(files)} files keep the layers")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
