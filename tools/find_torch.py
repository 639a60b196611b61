# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of the PyTorch that this Python would import; nothing where there is none.

It is found without importing it.  TORCH, where it is set, is that folder.
"""

import importlib.util
import os


def torch_folder():
    spec = importlib.util.find_spec("torch")
    return os.environ.get("TORCH") or (spec.submodule_search_locations[0] if spec else "")


if __name__ == "__main__":
    print(torch_folder())
