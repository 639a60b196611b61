# SPDX-License-Identifier: Apache-2.0
"""The version of a wheel: the package's own, and the PyTorch that it is built for.

scikit-build-core asks here (pyproject.toml): 0.1.0+torch2.13.0.cpu.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def assigned(file, name):
    """The text of `name = "text"` in a Python file."""
    text = pathlib.Path(file).read_text(encoding="utf-8")
    return re.search(rf"^{name}\b[^=\n]*= *['\"]([^'\"]+)", text, re.MULTILINE)[1]


def torch_version():
    # A process of its own: pip hides the environment that it builds for from this one by PYTHONPATH.
    finder = [sys.executable, "-E", str(ROOT / "tools" / "find_torch.py")]
    folder = subprocess.run(finder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if not folder:
        sys.exit(
            f"paceline: {sys.prefix} has no PyTorch to build for: install torch there first, "
            "or give TORCH=.../site-packages/torch"
        )
    return assigned(pathlib.Path(folder) / "version.py", "__version__")


def dynamic_metadata(_settings, _project):
    label = re.sub("[^a-z0-9]+", ".", torch_version().lower())
    version = assigned(ROOT / "python" / "paceline" / "__init__.py", "__version__")
    return {"version": f"{version}+torch{label}"}
