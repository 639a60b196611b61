# SPDX-License-Identifier: Apache-2.0
"""The wheel of what is built, installed into a fresh environment that has the PyTorch it was built for.

TORCH is that PyTorch's folder, PACELINE_BUILD the build folder.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = pathlib.Path(os.environ["TORCH"]).resolve()
BUILD = pathlib.Path(os.environ["PACELINE_BUILD"])
PIP = ROOT / ".venv" / "bin" / "python"
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
REQUIREMENTS = ROOT / "python" / "paceline" / "adapters" / "requirements"
TINY = "run --model lenet --batch-size 4 --steps 4 --warmup 1 --ranks 2 --strategy ddp,python-ddp".split()


def run(*words, cwd=None, status=0):
    """What a command prints; TORCH and PYTHONPATH are not in its environment."""
    environment = {k: v for k, v in os.environ.items() if k not in ("TORCH", "PYTHONPATH")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != status:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        run(ROOT / "tools" / "wheel" / "make_wheel.sh", BUILD, cls.folder / "dist")
        [cls.wheel] = (cls.folder / "dist").glob("*.whl")
        cls.environment = cls.folder / "environment"
        run(sys.executable, "-m", "venv", "--without-pip", cls.environment)
        run(PIP, "-m", "pip", "--python", cls.environment / "bin" / "python", "install", "--no-index", cls.wheel)
        [cls.site] = cls.environment.glob("lib/python3*/site-packages")
        cls.command = cls.environment / "bin" / "paceline"

    def setUp(self):
        """The PyTorch that the wheel was built for is on the path, elsewhere."""
        for left in self.site.glob("torch*"):
            left.unlink() if left.is_symlink() or left.is_file() else shutil.rmtree(left)
        (self.site / "torch.pth").write_text(f"{TORCH.parent}\n")

    def install_torch_beside(self):
        (self.site / "torch.pth").unlink()
        for name in ("torch", "torchgen", "typing_extensions.py", "torchvision"):
            if (TORCH.parent / name).exists():
                (self.site / name).symlink_to(TORCH.parent / name)

    def install_another_torch(self):
        (self.site / "torch").mkdir()
        (self.site / "torch" / "__init__.py").touch()
        (self.site / "torch" / "version.py").write_text("__version__ = '2.12.1+cu126'\n")

    def test_its_name_says_which_torch_it_was_built_for(self):
        version = re.search(r"__version__ = '([^']+)'", (TORCH / "version.py").read_text())[1]
        self.assertIn(f"+torch{version.replace('+', '.')}-{PYTHON}-{PYTHON}-linux_", self.wheel.name)

    def test_it_trains_and_starts_python(self):
        printed = run(self.command, *TINY, "--records", self.folder / "r.jsonl", "--yes", cwd=self.folder)
        self.assertRegex(printed, r"(?m)^ddp +2 +\d")
        self.assertRegex(printed, r"(?m)^python-ddp \(external\) +2 +\d")

    def test_it_finds_the_torch_that_is_installed_beside_it(self):
        self.install_torch_beside()
        program = self.site / "paceline" / "bin" / "paceline"
        self.assertIn(str(TORCH), run(program, "doctor", cwd=self.folder))
        self.assertIn(f"{self.environment}/bin/python3 -u", run(program, *TINY, "--dry-run", cwd=self.folder))

    def test_what_has_a_name_is_in_it(self):
        self.assertRegex(run(self.command, "list", "experiments", cwd=self.folder), r"(?m)^ *quick ")
        for name in ("quick", "survey", "same_prices", "frameworks"):
            run(self.command, "run", name, "--dry-run", cwd=self.folder)
        job = ("resnet50", "--cluster", "2x2-10gbe", "--ranks", "4", "--device-rate", "100")
        run(self.command, "predict", *job, cwd=self.folder)
        self.assertIn("pip install 'paceline[adapters-jax]'", run(self.command, "list", "frameworks"))
        code = "import paceline; print(paceline.__file__, paceline.__version__)"
        self.assertIn(str(self.site), run(self.environment / "bin" / "python", "-c", code))

    def test_it_trains_a_network_of_the_user(self):
        script = self.folder / "train.py"
        script.write_text(
            "import torch\nimport paceline.torch as pt\npt.init()\nnet = torch.nn.Linear(2, 1)\n"
            "model = pt.DataParallel(net, torch.optim.SGD(net.parameters(), lr=0.1))\n"
            "first = model.step(lambda: model(torch.ones(4, 2)).square().mean())\n"
            "print('lower', (model.step(lambda: model(torch.ones(4, 2)).square().mean()) < first).item())\n"
        )
        self.assertIn("lower True", run(self.environment / "bin" / "python", script, cwd=self.folder))

    def test_it_has_the_licences_of_what_it_carries(self):
        [licences] = self.site.glob("paceline-*.dist-info/licenses")
        there = {file.parent.name for file in licences.glob("third_party/*/LICENSE")}
        libraries = {file.name.split(".")[0].removeprefix("lib") for file in (self.site / "paceline" / "lib").iterdir()}
        self.assertLessEqual(libraries, there)
        text = (ROOT / "cmake" / "Dependencies.cmake").read_text()
        compiled = re.findall(r"(?m)^paceline_third_party\((\w+)", text)  # those of tests are indented
        self.assertLessEqual({name.lower().rstrip("3") for name in compiled}, there)
        self.assertLessEqual({"pybind11", "d3", "observable_plot"}, there)

    def test_it_may_be_moved(self):
        moved = self.folder / "moved"
        self.environment.rename(moved)
        try:
            printed = run(moved / "bin" / "python", "-m", "paceline", *TINY, "--dry-run", cwd=self.folder)
        finally:
            moved.rename(self.environment)
        self.assertIn(f"{moved}/bin/python3 -u {moved}/lib", printed)

    def test_another_torch_is_one_sentence(self):
        self.install_another_torch()
        printed = run(self.command, "list", status=3)
        self.assertRegex(
            printed, r"\Apaceline: the program was built for PyTorch \S+, but \S+/torch is 2\.12\.1\+cu126: [^\n]+\n\Z"
        )
        (self.site / "torch.pth").unlink()
        shutil.rmtree(self.site / "torch")
        printed = run(self.command, "list", status=3)
        self.assertRegex(printed, r"\Apaceline: this environment has no PyTorch: install torch [^\n]+\n\Z")

    def test_the_frameworks_of_its_extras_are_those_that_are_pinned(self):
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        extras = dict(re.findall(r'(?m)^adapters-(\S+) = \["([^"]+)"\]$', text))
        self.assertEqual(set(extras), {file.stem for file in REQUIREMENTS.glob("*.txt")})
        for name, pinned in extras.items():
            self.assertIn(pinned, (REQUIREMENTS / f"{name}.txt").read_text().splitlines())


class SourceTree(unittest.TestCase):
    def test_a_copy_uses_what_is_in_the_copy(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder).resolve() / "tree"
            program = tree / "build" / "release" / "apps" / "paceline" / "paceline"
            program.parent.mkdir(parents=True)
            shutil.copy(BUILD / "apps" / "paceline" / "paceline", program)
            shutil.copytree(ROOT / "python", tree / "python")
            if TORCH.is_relative_to(ROOT):
                (tree / ".venv").symlink_to(ROOT / ".venv")
                self.assertIn(f"{tree}/.venv", os.path.normpath(re.search(
                    r"libtorch_cpu\.so => (\S+)", run("ldd", program))[1]))
            self.assertIn(f"-u {tree}/python/paceline/run_module.py", run(program, *TINY, "--dry-run", cwd=folder))


if __name__ == "__main__":
    unittest.main()
