# SPDX-License-Identifier: Apache-2.0
"""Prints the program's source files that see torch's headers, and what compiling each took.

    torch_units.py BUILD-FOLDER LIMIT

A file counts where the compiler noted one of torch's headers when it built it, or loads
the precompiled one: a file that is not built yet cannot be judged, and fails.
Fails above LIMIT files.  Tests are not counted: they are not in the program.
Seconds are wall time of the last compilation, from ninja's log.
"""

import json
import pathlib
import subprocess
import sys


TORCH_FOLDERS = ("/include/torch/", "/include/ATen/", "/include/c10/")


def program_objects(build):
    """The command that compiles each object of the program."""
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    by_object = {output_of(entry["command"]): entry["command"] for entry in commands}
    return {name: command for name, command in by_object.items()
            if name.startswith(("src/", "apps/paceline/"))}


def recorded_headers(build):
    """What the compiler read for each object, as ninja keeps it."""
    listing = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], check=True, text=True, stdout=subprocess.PIPE).stdout
    headers, current = {}, None
    for line in listing.splitlines():
        if not line.startswith(" "):
            current = headers.setdefault(line.partition(":")[0], [])
        else:
            current.append(line.strip())
    return headers


def objects_that_see_torch(build):
    headers = recorded_headers(build)
    objects = program_objects(build)
    unbuilt = sorted(name for name in objects if name not in headers)
    if unbuilt:
        sys.exit(f"{build}: build it first; {len(unbuilt)} files are not compiled, "
                 f"{unbuilt[0]} is one")
    return {name for name, command in objects.items()
            if "cmake_pch.hxx" in command
            or any(folder in header for header in headers[name] for folder in TORCH_FOLDERS)}


def output_of(command):
    words = command.split()
    return words[words.index("-o") + 1]


def seconds_by_object(build):
    """The last entry of each output in .ninja_log: start and end in milliseconds."""
    seconds = {}
    for line in (pathlib.Path(build) / ".ninja_log").read_text().splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def main():
    build, limit = sys.argv[1], int(sys.argv[2])
    seconds = seconds_by_object(build)
    units = sorted(objects_that_see_torch(build), key=lambda name: -seconds.get(name, 0))
    for name in units:
        source = name.replace("CMakeFiles/", "").removesuffix(".o")
        print(f"{seconds.get(name, 0):7.1f} s  {source}")
    total = sum(seconds.get(name, 0) for name in units)
    precompiled = seconds.get("CMakeFiles/paceline_torch_pch.dir/cmake_pch.hxx.gch", 0)
    print(f"{len(units)} of at most {limit} torch translation units, {total:.0f} s, "
          f"and {precompiled:.0f} s for the precompiled headers")
    return len(units) > limit


sys.exit(main())
