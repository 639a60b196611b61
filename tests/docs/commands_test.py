# SPDX-License-Identifier: Apache-2.0
"""Each command of the README and of docs/ is one that the program accepts, and what it prints is what is shown.

PACELINE is the program.  A training is not performed: `run` gets --dry-run.  A command may fail only for what the
reader has and this test has not (OWN): its files, hosts, GPUs.  Its flags and names are read before.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from documents import commands_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["PACELINE"]

# What stands for something of the reader's, by the word before it, and what stands for it here.
PLACEHOLDERS = {
    "--cluster FILE": "clusters/8x4-2080ti-10gbe.toml",
    "--output FILE": "out.json",
    "run FILE": "experiments/survey.toml",
    "MODEL": "resnet18",
    "NAME": "ring",
}
# A command that holds one of these words is a pattern, not a command.
PATTERN = re.compile(r"\.\.\.(?!\w)|\{\}|\b(RECORDS|BASE|TEST|ARGS)\b")
# What a command may fail for here.
OWN = re.compile(
    r"cannot (be )?(open|read)|[Nn]o such file|does not exist|no file"
    r"|the first host is|but this machine is|hosts? of the cluster|sees no GPU here"
    r"|No module named 'my_package'"
)
# A sentence may name a command with the flag that it speaks of and leave out the rest.
PART = re.compile(r"nothing to run|is required|its value is missing|no cluster: give|--link = '--dry-run'")
# Quick commands, whose output is compared where the document shows it.
QUICK = ("advise", "list", "predict", "topology")
# `profile` and `comm` measure: the least that they can.
LEAST = {"profile": ["--steps=1", "--warmup=0", "--batch-size=1"], "comm": ["--iterations=1", "--max=64KiB"]}


def words_of(shown):
    """The words of a command, without a comment, with placeholders replaced; variables are the shell's."""
    text = re.split(r"\s+#", shown.text)[0].split("  >")[0]
    if shown.variables:
        text = subprocess.run(
            ["sh", "-c", f'{shown.variables}\ncat <<END\n{text}\nEND'], capture_output=True, text=True, check=True
        ).stdout
    words = shlex.split(re.split(r"\s>\s", text)[0])
    return [PLACEHOLDERS.get(f"{before} {word}", PLACEHOLDERS.get(word, word)) for before, word in zip(["", *words], words)]


def commands_in(words):
    """The commands of one line: those that `ab` takes are lines of their own."""
    if "--" in words:
        parts, part = [], []
        for word in words:
            if word == "--":
                parts.append(part)
                part = []
            else:
                part.append(word)
        return [one for one in [*parts[1:], part] if one and one[0].endswith("paceline")]
    return [words]


def arguments_of(words):
    """What is run in place of the command."""
    subcommand, rest = words[1], list(words[2:])
    if subcommand == "run":
        return ["run", *rest, "--dry-run"]
    given = {word.split("=")[0] for word in rest}
    if "--predict" not in given:
        rest += [flag for flag in LEAST.get(subcommand, []) if flag.split("=")[0] not in given]
    return [subcommand, *rest]


def shown_in_order(output, printed):
    """Whether the lines of `output` are those of `printed`; a line "..." or " ..." stands for any number of lines."""
    pieces = re.split(r"(?m)^\s*\.\.\.\s*$\n?", "\n".join(line.rstrip() for line in output).strip("\n"))
    at = 0
    printed = "\n".join(line.rstrip() for line in printed.split("\n"))
    for piece in pieces:
        found = printed.find(piece.rstrip("\n"), at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("benchmarks", "clusters", "experiments"):
            shutil.copytree(ROOT / name, self.folder / name)
        shutil.copy(ROOT / "benchmarks/translator.profile.json", self.folder)
        (self.folder / "results").mkdir()

    def run_program(self, arguments):
        return subprocess.run(
            [PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )

    def test_every_command_is_accepted(self):
        checked = 0
        for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for shown in commands_of(ROOT, document):
                if PATTERN.search(shown.text):
                    continue
                words = words_of(shown)
                if len(words) < 3:  # a subcommand's name in a sentence
                    continue
                for words_of_one in commands_in(words):
                    checked += 1
                    with self.subTest(where=shown.where, command=shlex.join(words_of_one)):
                        self.check(words_of_one, shown)
        self.assertGreater(checked, 80)

    def check(self, words, shown):
        result = self.run_program(arguments_of(words))
        if result.returncode != 0:
            self.assertEqual(result.returncode, 2, result.stderr)
            if not (shown.inline and PART.search(result.stderr)):
                self.assertRegex(result.stderr, OWN)
        elif words[1] in QUICK and shown.output:
            self.assertTrue(
                shown_in_order(shown.output, result.stdout), f"shown:\n{shown.output}\nprinted:\n{result.stdout}"
            )


if __name__ == "__main__":
    unittest.main()
