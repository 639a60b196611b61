# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the program, one module at a time.

    tidy.py BUILD-FOLDER JOBS

BUILD-FOLDER holds the compile_commands.json of a unity build, whose program is built.
Nearly all of clang-tidy's time goes into the headers of torch and of the standard
library, so the files of a module are looked at as one, as the build compiles them.
Tests are left out: GoogleTest's macros expand into what several checks object to.
So is what BUILD-FOLDER does not compile: the engine nccl where there is no CUDA.
"""

import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

# Headers like stddef.h, for a clang-tidy that came by pip, without its own.
COMPILER_HEADERS = subprocess.run(
    ["g++", "-print-file-name=include"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
KEPT_FLAGS = re.compile(r"-D.*|-I.*|-std=.*")
FLAGS_OF_TWO_WORDS = ("-isystem", "-include")
INCLUDED = re.compile(r'#include "(.*)"')


def sources_of(file):
    """The sources that a file of a unity build includes, or the file itself."""
    if "/Unity/" in file:
        return INCLUDED.findall(pathlib.Path(file).read_text())
    return [file]


def units(build):
    """What is looked at as one: its name, the sources, and the flags that they share."""
    found = {}
    root = pathlib.Path.cwd()
    read = [root / "src/paceline", root / "apps", root / "benchmarks"]
    for command in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        sources = [source for source in sources_of(command["file"])
                   if any(folder in pathlib.Path(source).parents for folder in read)]
        words = shlex.split(command["command"])
        flags = [word for word, before in zip(words[1:], words)
                 if KEPT_FLAGS.fullmatch(word) or word in FLAGS_OF_TWO_WORDS or before in FLAGS_OF_TWO_WORDS]
        if sources:
            module = pathlib.Path(sources[0]).parent.name
            found.setdefault((module, tuple(flags)), []).extend(sources)
    # The longest first, so that no worker waits for another's at the end.
    by_length = sorted(found.items(), key=lambda unit: -len(unit[1]))
    return [(f"{module}{index}", sources, flags)
            for index, ((module, flags), sources) in enumerate(by_length)]


def digest(flags, files):
    content = hashlib.sha256(shlex.join(flags).encode())
    for file in files:
        content.update(pathlib.Path(file).read_bytes())
    return content.hexdigest()


def tidy(together, files, flags):
    """What clang-tidy has to say about files, looked at as one; empty when nothing."""
    together.write_text("".join(f'#include "{file}"\n' for file in files))
    run = subprocess.run(
        ["clang-tidy-18", "--quiet", "--config-file=.clang-tidy", str(together), "--", *flags, "-w",
         f"-idirafter{COMPILER_HEADERS}"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # A configuration that it cannot read is no error to clang-tidy.
    if "Error parsing" in run.stderr:
        return run.stderr
    return (run.stdout or run.stderr) if run.returncode else ""


def check_unit(build, name, files, flags):
    """As tidy(), but a unit that passed is not looked at again until something changes."""
    folder = pathlib.Path(build) / "tidy"
    folder.mkdir(exist_ok=True)
    headers = sorted(pathlib.Path("src").rglob("*.h"))
    passed = folder / digest(flags, [".clang-tidy", *headers, *files])
    if passed.exists():
        return ""
    said = tidy(folder / f"{name}.cc", files, flags)
    if not said:
        passed.touch()
    return said


def main():
    build, jobs = sys.argv[1], int(sys.argv[2])
    failed = False
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        work = [pool.submit(check_unit, build, *unit) for unit in units(build)]
        for unit in concurrent.futures.as_completed(work):
            print(unit.result(), end="", flush=True)
            failed = failed or bool(unit.result())
    return failed


sys.exit(main())
