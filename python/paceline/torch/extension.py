# SPDX-License-Identifier: Apache-2.0
"""The C++ extension: Paceline's plans, engines and executor in this process.

It lies beside this file if the package is installed, and beside the program in a source tree.  The environment variable
PACELINE_EXTENSION names another file.
"""

import importlib.util
import os
import pathlib
import sysconfig

import torch

from paceline import program


def _file():
    name = "_extension" + sysconfig.get_config_var("EXT_SUFFIX")
    if given := os.environ.get("PACELINE_EXTENSION"):
        return pathlib.Path(given)
    installed = pathlib.Path(__file__).resolve().parent / name
    if installed.exists():
        return installed
    return (program.PACKAGE.parents[1] / "build" / "paceline").resolve().parent / name


def _require_same_torch(file):
    """Rejects another PyTorch than the one with which the extension was built, because it would crash."""
    beside = [program.PACKAGE / "bin" / "built_for.txt", *(folder / "built_for.txt" for folder in file.parents[:4])]
    for built_for in beside:
        if built_for.exists():
            version = built_for.read_text(encoding="utf-8").strip()
            if version != torch.__version__:
                raise ImportError(
                    f"paceline.torch was built for PyTorch {version}, and this is {torch.__version__}: install that "
                    "one, or build Paceline for this one (pip install . in its sources)"
                )
            return


def _load():
    file = _file()
    if not file.exists():
        raise ImportError(
            f"{file} is missing: it is built with the program (make build, or pip install . in Paceline's sources), "
            "for this version of Python, where Python's header files are installed"
        )
    _require_same_torch(file)
    spec = importlib.util.spec_from_file_location("paceline.torch._extension", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_extension = _load()
Job = _extension.Job
Model = _extension.Model
UsageError = _extension.UsageError
WorldError = _extension.WorldError
