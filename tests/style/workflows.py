"""assets/workflows/README.md has a section for each script there, with the line that runs it and the pictures that it writes, and none for
what is not there. Printed: one fault a line. `workflows.py ROOT`."""

import os
import re
import sys


def faults(root):
    folder = os.path.join(root, "assets", "workflows")
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        text = file.read()
    parts = re.split(r"^## (\S+)$", text, flags=re.M)[1:]
    sections = dict(zip(parts[::2], parts[1::2]))
    scripts = {name.removesuffix(".script") for name in os.listdir(folder) if name.endswith(".script")}
    for name in sorted(scripts ^ set(sections)):
        yield f"{name}: {'no section' if name in scripts else 'no script'}"
    for name in sorted(scripts & set(sections)):
        if f"\n    headroom --script assets/workflows/{name}.script --size 1440x900\n" not in sections[name]:
            yield f"{name}: the section lacks the line that runs the script"
        if f"](#{name})" not in text.split("\n## ")[0]:
            yield f"{name}: not in the table"
        with open(os.path.join(folder, name + ".script"), encoding="utf-8") as file:
            pictures = re.findall(r"^screenshot assets/(\S+)$", file.read(), re.M)
        if not pictures:
            yield f"{name}: the script writes no picture"
        for picture in pictures:
            if f"](../{picture})" not in sections[name]:
                yield f"{name}: the section does not show {picture}"
            if not os.path.exists(os.path.join(root, "assets", picture)):
                yield f"{name}: {picture} is not there"


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found) if found else "every workflow has its section")
    sys.exit(1 if found else 0)
