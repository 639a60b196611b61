# SPDX-License-Identifier: Apache-2.0
"""Finds the program of this package, and the environment that it needs to start."""

import importlib.util
import os
import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parent


class NotUsable(Exception):
    """The program cannot start here. The message is one sentence."""


def torch_folder():
    """Returns the folder of the PyTorch that this Python would import, without importing it; or None."""
    spec = importlib.util.find_spec("torch")
    return pathlib.Path(spec.submodule_search_locations[0]) if spec else None


def torch_version(folder):
    text = (folder / "version.py").read_text(encoding="utf-8")
    return re.search(r"^__version__\b[^=\n]*= *['\"]([^'\"]+)", text, re.MULTILINE)[1]


def program():
    """Returns the path of the program, and the environment to start it with.

    The program was linked with one PyTorch, whose version is beside it.  It finds
    that PyTorch by itself in the folder that this package is in; elsewhere
    LD_LIBRARY_PATH says where.  In a source tree it is the one that was built.
    """
    environment = dict(os.environ)
    path = PACKAGE / "bin" / "paceline"
    if not path.exists():
        path = PACKAGE.parents[1] / "build" / "paceline"
        if not path.exists():
            raise NotUsable(f"{path} is missing: `make build` builds it")
        return path, environment
    built_for = (path.parent / "built_for.txt").read_text(encoding="utf-8").strip()
    folder = torch_folder()
    if folder is None:
        raise NotUsable(f"this environment has no PyTorch: install torch {built_for}, which the program was built for")
    version = torch_version(folder)
    if version != built_for:
        raise NotUsable(
            f"the program was built for PyTorch {built_for}, but {folder} is {version}: install that one, "
            "or build Paceline for this one (pip install . in its sources)"
        )
    if folder.resolve().parent != PACKAGE.parent:
        nccl = folder.parent / "nvidia" / "nccl" / "lib"
        folders = [folder / "lib", nccl, *filter(None, [environment.get("LD_LIBRARY_PATH")])]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(map(str, folders))
    return path, environment
