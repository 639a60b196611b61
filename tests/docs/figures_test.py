# SPDX-License-Identifier: Apache-2.0
"""Tables of the documents whose figures a command computes, the same on every machine, hold what it prints today."""

import csv
import io
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["PACELINE"]


def table_below(document, heading):
    """The cells of the first table below a heading, without its first two lines."""
    text = (ROOT / document).read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1]
    rows = re.findall(r"(?m)^\|.*\|$", text.split("\n## ", 1)[0])
    lines = text.split("\n")
    last = next(k for k in range(lines.index(rows[0]), len(lines)) if not lines[k].startswith("|"))
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in lines[lines.index(rows[0]) + 2 : last]]


def printed(arguments):
    """The rows that the program prints as CSV."""
    result = subprocess.run(
        [PROGRAM, *arguments, "--format", "csv"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    return list(csv.DictReader(io.StringIO(result.stdout)))


def bytes_as_shown(text):
    """192000000 as "192 MB", 1920000 as "1.9 MB"."""
    megabytes = float(text) / 1e6
    return f"{megabytes:.0f} MB" if megabytes >= 100 else f"{megabytes:.1f} MB"


class Figures(unittest.TestCase):
    def test_throughput_beside_all_reduce(self):
        table = table_below("docs/decentralized.md", "Throughput beside all-reduce")
        self.assertGreater(len(table), 8)
        strategies = [re.match(r"`([^`]+)`", row[0])[1] for row in table]
        of_ranks = {}
        for ranks in (16, 32):
            of_ranks[ranks] = printed(
                f"predict --model resnet50 --batch-size 32 --ranks {ranks} --cluster clusters/16x8-v100-25gb.toml "
                f"--strategy {','.join(strategies)}".split()
            )
            self.assertEqual(len(of_ranks[ranks]), len(table))
        for k, row in enumerate(table):
            with self.subTest(row=row[0]):
                rates = [f"{float(of_ranks[ranks][k]['examples_per_s']):.0f}" for ranks in (16, 32)]
                wire = bytes_as_shown(of_ranks[16][k]["planned_wire_bytes_per_rank_per_step"])
                self.assertEqual(row[1:], [*rates, wire])

    def test_hours_of_the_whole_grid(self):
        text = (ROOT / "docs/from/ddl-benchmarks.md").read_text(encoding="utf-8")
        said = re.search(r"estimates (\d+) hours for the (\d+) cases of 5 runs", text)
        command = "run survey --section all --replay experiments/profiles/resnet50-2080ti.profile.json --ranks 4,8,16"
        self.assertIn(f"paceline {command} ", text)
        result = subprocess.run(
            [PROGRAM, *command.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
        )
        time = re.search(r"time: about ([\d.]+) h for (\d+) replayed cases", result.stdout)
        self.assertEqual((said[1], said[2]), (f"{float(time[1]):.0f}", time[2]))


if __name__ == "__main__":
    unittest.main()
