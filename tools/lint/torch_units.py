# SPDX-License-Identifier: Apache-2.0
"""Prints the program's source files that see torch's headers, and what compiling each took.

    torch_units.py BUILD-FOLDER LIMIT

Fails above LIMIT files.  Tests are not counted: they are not in the program.
Seconds are wall time of the last compilation, from ninja's log.
"""

import json
import pathlib
import subprocess
import sys


def objects_that_see_torch(build):
    """Objects whose recorded dependencies lie in torch, or that load the precompiled header."""
    listing = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], check=True, text=True, stdout=subprocess.PIPE).stdout
    current, found = None, set()
    for line in listing.splitlines():
        if not line.startswith(" "):
            current = line.partition(":")[0]
        elif any(folder in line for folder in ("/include/torch/", "/include/ATen/", "/include/c10/")):
            found.add(current)
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    for command in commands:
        if "cmake_pch.hxx" in command["command"]:
            found.add(output_of(command["command"]))
    return {name for name in found if name.startswith(("src/", "apps/"))}


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
          f"and {precompiled:.0f} s for the precompiled torch.h")
    return len(units) > limit


sys.exit(main())
