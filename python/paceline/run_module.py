# SPDX-License-Identifier: Apache-2.0
"""Runs a module of this package, or a file that imports from it, as a program.

    python3 FOLDER/paceline/run_module.py paceline.adapters.jax_train ARGUMENT...
    python3 FOLDER/paceline/run_module.py /absolute/path/of/a/file.py ARGUMENT...

Python's -m needs the package on the path of the interpreter.  An interpreter of
another environment must not get this one's site-packages on its path, whose
NumPy would hide its own.  This file makes the package known, and nothing beside
it.
"""

import importlib.util
import pathlib
import runpy
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent


def register_package():
    """Makes `import paceline` find the package of this file."""
    spec = importlib.util.spec_from_file_location(
        "paceline",
        PACKAGE / "__init__.py",
        submodule_search_locations=[str(PACKAGE)],
    )
    sys.modules["paceline"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["paceline"])


if __name__ == "__main__":
    # Python itself has put this file's folder on the path, where the folder torch/ would hide
    # PyTorch.
    sys.path[:] = [x for x in sys.path if not x or pathlib.Path(x).resolve() != PACKAGE]
    register_package()
    del sys.argv[0]
    if pathlib.Path(sys.argv[0]).is_absolute():
        sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
