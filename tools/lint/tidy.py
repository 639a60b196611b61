# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources of the torch-free half, several at a time.

    tidy.py BUILD-FOLDER JOBS

BUILD-FOLDER holds the compile_commands.json of the core preset.  Tests are left
out: GoogleTest's macros expand into what several checks object to.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys


def sources(build):
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    here = str(pathlib.Path.cwd())
    files = (command["file"] for command in commands)
    return sorted(file for file in files if file.startswith(here + "/src/"))


def tidy(build, file):
    command = ["clang-tidy-14", "--quiet", "-p", build, file]
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode != 0 and not run.stdout:
        return run.returncode, run.stderr
    return run.returncode, run.stdout


def main():
    build, jobs = sys.argv[1], int(sys.argv[2])
    failed = False
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for code, output in pool.map(lambda file: tidy(build, file), sources(build)):
            if code != 0:
                print(output, end="")
                failed = True
    return failed


sys.exit(main())
