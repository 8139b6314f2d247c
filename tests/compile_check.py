"""compile_check.py FOLDER JOBS: gives each file of a build to its compiler, to read and judge and make nothing. Used by tests/run.

Exit 1 with what was said if it minds one.
"""

import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def said(unit):
    words = shlex.split(unit["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    done = subprocess.run([*words, "-fsyntax-only"], cwd=unit["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout + ("" if done.returncode == 0 else f"FAILED: {unit['file']}\n")


def main(folder, jobs):
    units = json.loads((pathlib.Path(folder) / "compile_commands.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        heard = "".join(pool.map(said, units))
    sys.stdout.write(heard)
    return 1 if heard or not units else 0


sys.exit(main(*sys.argv[1:]))
