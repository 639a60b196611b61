# SPDX-License-Identifier: Apache-2.0
"""Lines without what transports add; strict numbers; what is said twice; the command."""

import contextlib
import gzip
import io
import json
import tempfile
import unittest
from pathlib import Path

from nccl_log import log, row, sizes, text
from paceline.readers import checks
from paceline.readers.__main__ import main
from paceline.readers.checks import Invalid, check_product, count, figure
from paceline.readers.lines import Source
from paceline.readers.record import check_times, comm_record, rank, run_record
from paceline.readers.transports import launcher_line


def lines_of(content):
    return [
        (one.number, one.text, one.rank) for one in Source("x", content.encode()).lines
    ]


class Lines(unittest.TestCase):
    def test_tags_give_ranks(self):
        for tag, rank in (
            ("[1,3]<stdout>:", 3),
            ("[prterun-host-1@1,3]<stderr>: ", 3),
            ("3: ", 3),
            (" 3: ", 3),
            ("[3] ", 3),
            ("[default3]:", 3),
            ("[rank3]: ", 3),
            ("(worker1, rank=3, pid=4711, ip=10.0.0.2) ", 3),
            ("(RayTrainWorker pid=4711) ", None),
            ("2026-01-02T03:04:05.678901Z ", None),
            ("[1,mpirank:3,algo-1]<stdout>:", 3),
            ("2026-01-02T03:04:05.678901Z stdout F ", None),
            ("launcher-1  | ", None),
            ("[pod/trainer-0/main] 2026-01-02T03:04:05Z 3: ", 3),
        ):
            self.assertEqual(lines_of(tag + "loss 0.5"), [(1, "loss 0.5", rank)], tag)

    def test_times_and_other_lines_stay(self):
        for line in (
            "12:30:01 begin",
            "step 3: 0.5 s",
            "(pid 3) x",
            "[titan] step: 1",
            "step | loss",
            "    8  2 float",
        ):
            self.assertEqual(lines_of(line), [(1, line, None)])

    def test_line_ends_colours_and_progress_bars(self):
        self.assertEqual(lines_of("a\r\nb\r")[:2], [(1, "a", None), (2, "b", None)])
        self.assertEqual(lines_of("\x1b[1;32mModel: x\x1b[0m"), [(1, "Model: x", None)])
        self.assertEqual(
            lines_of("1/2\r2/2\nend"),
            [(1, "1/2", None), (1, "2/2", None), (2, "end", None)],
        )

    def test_lines_of_nccl(self):
        content = "a-1:7:7 [0] NCCL INFO x\nrow -1a-1:7:7 [0] NCCL WARN y\nrest\n2a:7:8 [1] NCCL INFO z"
        lines = Source("x", content.encode()).lines
        self.assertEqual(
            [(one.text, one.cut) for one in lines], [("row -1", True), ("rest", False)]
        )


class Launchers(unittest.TestCase):
    def test_prefixes_of_a_job_that_runs(self):
        for line, text, rank, certain_rank in (
            ("[default12]:step 1", "step 1", 12, 12),
            ("[rank0]: step 1", "step 1", 0, 0),
            ("[trainer.a3]: step 1", "step 1", 3, 3),
            ("[1,3]<stdout>:step 1", "step 1", 3, 3),
            ("[prterun-n1-7@1,3]<stderr>: step 1", "step 1", 3, 3),
            ("[2] step 1", "step 1", 2, None),
            (" 3: step 1", "step 1", 3, None),
            ("1: [1,1]<stderr>:step 1", "step 1", 1, 1),
            ("1: [default0]:step 1", "step 1", None, None),
            ("step 1: 2 ms", "step 1: 2 ms", None, None),
            ("[2026-11-28 22:59] step", "[2026-11-28 22:59] step", None, None),
            ("10:32 step", "10:32 step", None, None),
        ):
            found = launcher_line(line, True)
            self.assertEqual((found.whole, found.text, found.rank, found.certain_rank), (line, text, rank, certain_rank))
        self.assertEqual(launcher_line("[rank1]: step", False).certain_rank, None)


class Numbers(unittest.TestCase):
    def test_whole_texts_alone(self):
        for good, value in (
            ("12,345", 12345),
            ("1.2e3", 1200),
            ("0.50", 0.5),
            ("-3", -3),
            ("1,234.5", 1234.5),
        ):
            self.assertEqual(figure(good, "x:1", "n").value, value)
        for bad in (
            "12,34",
            "1.2.3",
            "nan",
            "inf",
            "",
            ".",
            "1e",
            "12 ",
            "1_0",
            "٣",
            "1e999",
            "0x10",
            "12us",
        ):
            with self.assertRaisesRegex(Invalid, r"^x:1: n: '.*' is not a number$"):
                figure(bad, "x:1", "n")
        self.assertEqual(count("12,345", "x:1", "n"), 12345)
        for bad in ("1.0", "1e3", "-1", "99999999999999999999999"):
            self.assertRaises(Invalid, count, bad, "x:1", "n")

    def test_digits_decide(self):
        for text_of, half in (
            ("9.38", 0.005),
            ("9", 0.5),
            ("1.2e3", 50),
            ("12,345", 0.5),
        ):
            self.assertAlmostEqual(figure(text_of, "x:1", "n").half, half)
        bus = figure("17.58", "x:1", "busbw")
        check_product(bus, (figure("9.38", "x:1", "algbw"), 1.875), "s")
        with self.assertRaisesRegex(
            Invalid,
            "^x:1: s: the log says busbw 17.58, and algbw 9.39 x 1.875 is 17.6063$",
        ):
            check_product(bus, (figure("9.39", "x:1", "algbw"), 1.875), "s")

    def test_messages_are_one_line(self):
        self.assertEqual(checks.shown("a\x1b[0m\nb"), "a?[0m?b")


class Records(unittest.TestCase):
    def test_what_is_not_said_is_null(self):
        record = run_record({"model": "m", "ranks": 2}, [], experiment="e")
        self.assertIsNone(record["configuration"]["momentum"])
        self.assertRaises(TypeError, run_record, {"modell": "m"}, [], experiment="e")
        self.assertRaises(
            TypeError, comm_record, iteration_ns=[1], bytes=1, bus_factor=1, opp="sum"
        )

    def test_times_that_no_step_has(self):
        for times in ([5, 0], [10**25], [-1]):
            with self.assertRaisesRegex(Invalid, "^x.log: a time of .* is not that of"):
                check_times(run_record({}, [rank(times)], experiment="e"), "x.log")
        check_times(run_record({}, [rank([1, 10**15])], experiment="e"), "x.log")
        with self.assertRaises(Invalid):
            check_times(comm_record(iteration_ns=[10**25], bytes=1, bus_factor=1), "x")

    def test_quantiles_of_iterations(self):
        duration = comm_record(iteration_ns=[30, 10, 20], bytes=8, bus_factor=1)[
            "duration_ns"
        ]
        self.assertEqual(
            (duration["min"], duration["p50"], duration["p90"]), (10, 20, 28)
        )


class Command(unittest.TestCase):
    def run_on(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(one) for one in arguments])
        return (
            code,
            [json.loads(line) for line in out.getvalue().splitlines()],
            err.getvalue(),
        )

    def test_files_directories_and_gz(self):
        right = text(log("sendrecv_perf", ["a"] * 2, sizes("sendrecv_perf", 2)))
        other = text(log("sendrecv_perf", ["a"] * 4, sizes("sendrecv_perf", 4)))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.log").write_text(right)
            (folder / "b.log.gz").write_bytes(
                gzip.compress(right.replace("\n", "\r\n").encode())
            )
            (folder / "c.log").write_text(other)
            (folder / "README").write_text("no log")
            (folder / "empty.log").write_text("\n")
            code, records, said = self.run_on(folder)
            self.assertEqual((code, len(records)), (0, 6))
            self.assertIn("b.log.gz: has the content of", said)
            self.assertIn("README: is not a file that can be read, left out", said)
            self.assertIn("empty.log: is empty, left out", said)
            self.assertEqual(self.run_on(folder / "README")[0], 2)
            (folder / "d.gz").write_bytes(b"\x1f\x8b damaged")
            code, records, said = self.run_on(folder)
            self.assertEqual((code, records), (2, []))
            self.assertRegex(said, r"^\S+d\.gz: is damaged[^\n]*\n$")
            self.assertEqual(self.run_on(folder / "absent")[0], 2)

    def test_wrong_values_are_exit_code_3(self):
        rows = [row("sendrecv_perf", 2, 2**20, 99.1, wrong=("4", "0"))]
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "a.log"
            path.write_text(
                text(log("sendrecv_perf", ["a"] * 2, rows, footer=("1 FAILED",)))
            )
            code, records, said = self.run_on(path)
        self.assertEqual((code, records[0]["wrong_elements"]), (3, 4))
        self.assertIn("1 of 1 records", said)


if __name__ == "__main__":
    unittest.main()
