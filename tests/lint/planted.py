"""planted.py: what the checks share: finding files, telling problems, and proving that a check can fail."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IGNORED = {".git", "__pycache__", ".cache", ".pytest_cache"}


def files(root, folders, endings):
    """Paths below root, relative to it: those in the folders whose name ends so."""
    for folder in folders:
        for at, inside, names in os.walk(os.path.join(root, folder)):
            inside[:] = sorted(name for name in inside if name not in IGNORED)
            for name in sorted(names):
                if name.endswith(tuple(endings)):
                    yield os.path.relpath(os.path.join(at, name), root)


def processes(root):
    """{name: folder} of what runs as a process of its own: a folder below services/ with a main.c."""
    mains = (os.path.dirname(path) for path in files(root, ["services"], ["main.c"]) if os.path.basename(path) == "main.c")
    return {os.path.basename(folder): folder for folder in sorted(mains)}


def lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def plant(root, tree):
    for path, content in tree.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(content)
        if content.startswith("#!"):
            os.chmod(full, 0o755)


def prove(check, clean, violations):
    """The clean tree has no problem; with each violation on top of it there is one, in the planted file."""
    wrong = []
    for number, violation in enumerate([{}] + violations):
        with tempfile.TemporaryDirectory() as root:
            plant(root, {**clean, **violation})
            found = list(check(root))
            if not violation and found:
                wrong.append(f"the clean tree is said to be wrong: {found}")
            planted = next(iter(violation), None)
            if violation and not any(problem.startswith(planted) for problem in found):
                wrong.append(f"violation {number} in {planted} was not found, but {found}")
    return wrong


def main(check, clean, violations):
    problems = prove(check, clean, violations) if "--prove" in sys.argv else list(check(ROOT))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
