# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the torch-free half, one module at a time.

    tidy.py BUILD-FOLDER JOBS

BUILD-FOLDER holds the compile_commands.json of the lint preset.  Nearly all of
clang-tidy's time goes into the standard library, so the files of a module are
looked at as one, as the presets core and release compile them.  Tests are left
out: GoogleTest's macros expand into what several checks object to.  The torch
half is left out: clang 14 cannot read parts of it, and then calls parameters
unused that are used; tools/lint/function_length.py holds its functions to the
limit of .clang-tidy.
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
KEPT_FLAGS = re.compile(r"-D.*|-std=.*|-isystem.*")
DIAGNOSTIC = re.compile(r"(/[^:]+):\d+:\d+: (?:error|warning):")


def modules(build):
    """The source files of each module, and the flags that they share."""
    found = {}
    for command in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        file = pathlib.Path(command["file"])
        if pathlib.Path.cwd() / "src/paceline" not in file.parents:
            continue
        words = shlex.split(command["command"])
        flags = [word for word, before in zip(words[1:], words)
                 if KEPT_FLAGS.fullmatch(word) or before == "-isystem"]
        files, _ = found.setdefault(file.parent.name, ([], flags))
        files.append(str(file))
    # The longest first, so that no worker waits for another's at the end.
    return dict(sorted(found.items(), key=lambda module: -len(module[1][0])))


def digest(files):
    content = hashlib.sha256()
    for file in files:
        content.update(pathlib.Path(file).read_bytes())
    return content.hexdigest()


def about_ours(said):
    """Drops what is not about our files: clang 14 cannot read all of libstdc++ 12's <ranges>."""
    kept, ours = [], False
    for line in said.splitlines(keepends=True):
        start = DIAGNOSTIC.match(line)
        if start:
            ours = "/src/paceline/" in start.group(1)
        if ours:
            kept.append(line)
    return "".join(kept)


def tidy(together, files, flags):
    """What clang-tidy has to say about files, looked at as one; empty when nothing."""
    together.write_text("".join(f'#include "{file}"\n' for file in files))
    run = subprocess.run(
        ["clang-tidy-14", "--quiet", "--config-file=.clang-tidy", str(together), "--",
         f"-I{pathlib.Path.cwd()}/src", *flags, f"-idirafter{COMPILER_HEADERS}"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # A configuration that it cannot read is no error to clang-tidy.
    if "Error parsing" in run.stderr:
        return run.stderr
    if run.returncode == 0:
        return ""
    return about_ours(run.stdout) if run.stdout else run.stderr


def check_module(build, name, files, flags):
    """As tidy(), but a module that passed is not looked at again until something changes."""
    folder = pathlib.Path(build) / "tidy"
    folder.mkdir(exist_ok=True)
    headers = sorted(pathlib.Path("src").rglob("*.h"))
    passed = folder / digest([".clang-tidy", *headers, *files])
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
        work = [pool.submit(check_module, build, name, files, flags)
                for name, (files, flags) in modules(build).items()]
        for module in concurrent.futures.as_completed(work):
            print(module.result(), end="", flush=True)
            failed = failed or bool(module.result())
    return failed


sys.exit(main())
