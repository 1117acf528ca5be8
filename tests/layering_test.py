"""Checks the shape of the tree: layering_test.py ROOT. Prints each violation as FILE:LINE: SENTENCE, exits 1 on any.

Includes follow tests -> app -> core -> kernels. kernels know the standard library and Highway (kernels/cuda also the CUDA
runtime), only core/compute knows LibTorch, only app draws, shaders and assets are data. Tracked text names no machine's
folders and no package registry's host. A source file has at most 600 lines.
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


def include_fault(path, quote, target):
    """Why the file at path may not include target, or None."""
    layer = path.split("/")[0]
    target_layer = target.split("/")[0]
    if ".." in target.split("/"):
        return "includes start at the repository's root"
    if target_layer in LAYERS and "/" in target:
        if LAYERS.index(target_layer) > LAYERS.index(layer):
            return f"{layer} may not include {target_layer}"
        if layer == "app" and target_layer == "kernels" and not (
            path.startswith("app/gl/") and target == "kernels/cuda/cuda_handle.h"
        ):
            return "app reaches kernels through core"
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


def check_file(root, path):
    try:
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
    except (FileNotFoundError, IsADirectoryError):
        return
    if b"\0" in data[:8192]:
        return
    lines = data.decode("utf-8", errors="replace").splitlines()
    code = path.endswith(CPP) and path.split("/")[0] in LAYERS
    for number, line in enumerate(lines, 1):
        if MACHINE_FOLDER.search(line):
            yield f"{path}:{number}: a machine's folder: {line.strip()[:100]}"
        if REGISTRY_HOST.search(line):
            yield f"{path}:{number}: a package registry's host: {line.strip()[:100]}"
        include = INCLUDE.match(line) if code else None
        fault = include_fault(path, *include.groups()) if include else None
        if fault:
            yield f"{path}:{number}: {fault}: {line.strip()}"
    if path.endswith(SOURCES) and len(lines) > MAX_LINES:
        yield f"{path}:{len(lines)}: longer than {MAX_LINES} lines"


def violations(root):
    return [fault for path in text_files(root) for fault in check_file(root, path)]


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = text_files(root)
    if not any(path.startswith("core/") for path in files):
        sys.exit(f"{root}: no core/ here; expected the repository's root")
    faults = violations(root)
    print("\n".join(faults) if faults else f"{len(files)} files keep the layers")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
