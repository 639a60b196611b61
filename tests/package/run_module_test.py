# SPDX-License-Identifier: Apache-2.0
"""run_module.py runs a module of the package in whatever interpreter it gets."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = """
import importlib.util, json, sys
import paceline
torch = importlib.util.find_spec("torch")
print(json.dumps({
    "name": __name__,
    "arguments": sys.argv[1:],
    "path": sys.path,
    "package": paceline.__path__,
    "torch": torch.origin if torch else None,
}))
"""


class RunModule(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.package = pathlib.Path(folder.name).resolve() / "paceline"
        self.package.mkdir()
        for name in ("__init__.py", "run_module.py"):
            shutil.copy(ROOT / "python" / "paceline" / name, self.package)
        (self.package / "torch.py").touch()
        (self.package / "probe.py").write_text(PROBE, encoding="utf-8")

    def probe(self, *flags, module="paceline.probe"):
        return subprocess.run(
            [sys.executable, *flags, self.package / "run_module.py", module, "a", "--b"],
            env=dict(os.environ, PYTHONPATH=""),
            capture_output=True,
            text=True,
            check=False,
        )

    def test_the_package_is_known_and_nothing_else_is_on_the_path(self):
        # -S: without any site-packages, as in an environment without the package.
        seen = json.loads(self.probe("-S").stdout)
        self.assertEqual(seen["name"], "__main__")
        self.assertEqual(seen["arguments"], ["a", "--b"])
        self.assertEqual(seen["package"], [str(self.package)])
        self.assertNotIn(str(self.package), seen["path"])
        self.assertNotIn(str(self.package.parent), seen["path"])
        self.assertIsNone(seen["torch"], "that of the package is not PyTorch")

    def test_an_exit_status_is_the_module_s(self):
        (self.package / "probe.py").write_text("raise SystemExit(7)\n")
        self.assertEqual(self.probe().returncode, 7)


if __name__ == "__main__":
    unittest.main()
