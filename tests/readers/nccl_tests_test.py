# SPDX-License-Identifier: Apache-2.0
"""The reader of nccl-tests' text: right logs of all generations, and wrong ones."""

import re
import unittest
from pathlib import Path

import mutations
from nccl_log import FACTOR, HEAD, devices, log, row, sizes, text
from paceline.readers import nccl_tests
from paceline.readers.checks import Invalid
from paceline.readers.record import WRONG_VALUES, has_wrong_values

DATA = Path(__file__).parent / "data" / "nccl_tests"
# What such a log says once: the settings, #wrong, each rank's host and device, what a warning tells of it.
ONCE = {"warmup", "mean_of", "wrong_elements", "warnings", "ranks_per_host", "environment"}


def read(log_text):
    return mutations.records_of(nccl_tests, log_text)


def of(name):
    return (DATA / name).read_text()


class Right(unittest.TestCase):
    def test_every_operation_and_its_figures(self):
        for program in FACTOR:
            records = read(text(log(program, ["a"] * 4 + ["b"] * 4, sizes(program, 8))))
            self.assertEqual([one["bytes"] for one in records], [2**20, 2**22, 2**24])
            first = records[0]
            self.assertEqual(first["ranks_per_host"], [4, 4])
            self.assertEqual(
                [(one["host"], one["facts"]) for one in first["environment"]["hosts"]],
                [(name, {"gpus": "4 x NVIDIA H100 80GB HBM3"}) for name in "ab"],
            )
            self.assertEqual(first["iteration_ns"], [69420])
            self.assertEqual(first["in_place"]["iteration_ns"], [68730])
            self.assertEqual(first["op"], "sum" if "reduce" in program else None)
            self.assertEqual(first["root"], 0 if program == "broadcast_perf" else None)
            self.assertAlmostEqual(
                first["bytes_per_s"]["bus"] / (2**20 / 69.42e-6 * FACTOR[program](8)),
                1,
            )
            self.assertEqual((first["warmup"], first["mean_of"]), (5, 20))

    def test_the_reduction_that_sendrecv_names_and_does_not_do(self):
        rows = sizes("sendrecv_perf", 8)
        named = [one.replace("    none ", "     sum ") for one in rows]
        self.assertNotEqual(named, rows)
        hosts = ["a"] * 8
        self.assertEqual(
            read(text(log("sendrecv_perf", hosts, named))),
            read(text(log("sendrecv_perf", hosts, rows))),
        )

    def test_before_2_12_wrong_elements_are_unknown(self):
        records = read(of("error_column.txt"))
        self.assertEqual([one["wrong_elements"] for one in records], [None] * 3)
        self.assertEqual(
            [one["in_place"]["wrong_elements"] for one in records], [None] * 3
        )
        self.assertEqual(
            (records[0]["ranks_per_host"], records[0]["mean_of"]), ([6, 6], 25)
        )

    def test_what_transports_add(self):
        records = read(of("tagged.log"))
        self.assertEqual(len(records), 3)
        self.assertEqual(
            [one["code"] for one in records[0]["warnings"]], ["shared-device"]
        )
        plain = of("tagged.log").split("\n")
        plain = [line.removeprefix("[1,0]<stdout>:") for line in plain[2:]]
        for tag in (
            "0: ",
            "[0] ",
            "[default0]:",
            "(head, rank=0, pid=77) ",
            "[1,0]<stdout>:0: ",
        ):
            self.assertEqual(read("\n".join(tag + line for line in plain)), records)
        stamp = "2026-03-01T10:00:00.123456789Z "
        self.assertEqual(read("\r\n".join(stamp + line for line in plain)), records)
        self.assertEqual(
            read("\n".join(f"\x1b[32m{line}\x1b[0m" for line in plain)), records
        )

    def test_rows_that_nccl_interrupted(self):
        records = read(of("info_in_rows.log"))
        whole = text(
            log("all_reduce_perf", ["alpha"] * 4, sizes("all_reduce_perf", 4), gpus=4)
        )
        self.assertEqual(records, read(whole))

    def test_several_programs_in_a_log(self):
        records = read(of("many_programs.txt"))
        self.assertEqual(
            [(one["operation"], one["ranks"]) for one in records],
            [("reduce-scatter", 4)] * 3 + [("broadcast", 2)] * 3 + [("message", 8)] * 3,
        )

    def test_programs_without_an_operation_are_left_out_by_name(self):
        known = log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4))
        other = [one.replace("all_reduce", "alltoallv") for one in known]
        whole = text(known) + text(other)
        source = mutations.source_of(whole)
        self.assertEqual(list(nccl_tests.read(source)), read(text(known)))
        (note,) = [one for one in source.notes if "alltoallv" in one]
        self.assertIn("'alltoallv_perf' is not an operation of Paceline: its 3 rows are left out", note)
        with self.assertRaisesRegex(Invalid, "'all_sum_perf' is not an operation of Paceline"):
            read(whole.replace("alltoallv", "all_sum"))

    def test_command_lines_name_programs(self):
        parts = []
        for ranks in (2, 4):
            rows = sizes("broadcast_perf", ranks)
            parts += [
                [f"{'$#'[ranks // 4]} ./build/broadcast_perf -g {ranks}"],  # a user's prompt, and root's
                log("broadcast_perf", ["a"] * ranks, rows, gpus=ranks, named=False),
            ]
        self.assertEqual(
            [one["ranks"] for one in read(text(*parts))], [2] * 3 + [4] * 3
        )

    def test_commands_that_are_not_the_tables_alone(self):
        table = text(log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4)))
        for command in (
            "mpirun -np 1 ./all_reduce_perf -g 1 : -np 3 ./all_reduce_perf -g 1",
            "srun -n4 ./all_reduce_perf -g 1 | head -n 50",
            "srun -n 1 mpirun -np 4 ./all_reduce_perf -g 1",
            "./all_reduce_perf -g 8\n./all_reduce_perf -g 1",  # which of them this is, is not known
        ):
            self.assertEqual(read(f"{command}\n{table}"), read(table))

    def test_names_of_programs(self):
        right = text(log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4)))
        for name in ("all_reduce_perf_mpi", "all_reduce_perf.exe"):
            self.assertEqual(read(right.replace("all_reduce_perf", name)), read(right))

    def test_one_place_and_other_columns_of_rccl_tests(self):
        right = log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4))
        both = read(text(right))

        def changed(place, columns):
            lines = []
            for line in right:
                if "place" in line:
                    line = "#   " + place
                elif "algbw" in line:
                    line = f"# size count type redop root {columns}"
                elif "(GB/s)" in line:
                    line = "# (B) (elements) (us)" + " (us)" * columns.count("hipevt") + " (GB/s) (GB/s)"
                elif line[0] == " ":
                    one = line.split()
                    one[6:6] = ["60.00"] * columns.count("hipevt")
                    end = len(columns.split()) - 3 * columns.count("algo") + 5
                    line = " ".join(one[:end] + ["RING", "LL", "64"] * columns.count("algo"))
                lines.append(line)
            return read(text(lines))

        for place in ("out-of-place", "in-place"):
            for columns in (
                "time algbw busbw #wrong",
                "time hipevt algbw busbw #wrong",
                "time algbw busbw #wrong algo proto nchannels",
            ):
                found = changed(place, columns)
                self.assertEqual([one["place"] for one in found], [place] * 3)
                self.assertEqual([one["iteration_ns"] for one in found], [one["iteration_ns"] for one in both])
                self.assertEqual([one["in_place"] for one in found], [None] * 3)

    def test_an_average_that_is_not_that_of_the_rows(self):
        lines = log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4))
        for average, notes in (("nan", 0), ("40.05", 0), ("80.1", 1)):
            source = mutations.source_of(text(lines).replace(": 17.5", f": {average}"))
            self.assertEqual(len(list(nccl_tests.read(source))), 3)
            self.assertEqual(len(source.notes), notes, source.notes)

    def test_all_types_and_reductions(self):
        rows = [
            row("all_reduce_perf", 4, size, 71.5 + size / 9e4, dtype=dtype, op=op)
            for dtype in ("float", "half", "int8")
            for op in ("sum", "prod", "avg")
            for size in (2**20, 2**21)
        ]
        records = read(text(log("all_reduce_perf", ["a"] * 4, rows)))
        self.assertEqual(
            len({(one["dtype"], one["op"], one["bytes"]) for one in records}), 18
        )

    def test_groups_that_ran_at_once(self):
        lines = log(
            "all_reduce_perf", ["a"] * 4 + ["b"] * 4, sizes("all_reduce_perf", 4)
        )
        for rank in range(8):
            at = next(
                i for i, line in enumerate(lines) if line.startswith(f"#  Rank  {rank}")
            )
            lines[at] = lines[at].replace("Group  0", f"Group  {rank % 2}")
        first = read(text(lines))[0]
        self.assertEqual((first["ranks"], first["ranks_per_host"]), (4, [2, 2]))
        self.assertEqual(first["warnings"][0]["code"], "other-groups")

    def test_unchecked_and_cpu_time_and_iterations(self):
        unchecked = sizes("all_reduce_perf", 4, wrong=("N/A", "N/A"))
        lines = [
            line.replace("validation: 1", "validation: 0")
            for line in log("all_reduce_perf", ["a"] * 4, unchecked)
        ]
        self.assertIsNone(read(text(lines))[0]["wrong_elements"])
        lines = log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4))
        cpu = [
            line.replace("  time", "cputime") if "algbw" in line else line
            for line in lines
        ]
        first = read(text(cpu).replace("  69.42  ", "   3.10  "))[0]
        self.assertEqual((first["clock"], first["iteration_ns"]), ("cpu", [3100]))
        self.assertIsNone(first["bytes_per_s"]["algorithm"])
        many = (
            text(lines)
            .replace("agg iters: 1", "agg iters: 3")
            .replace("graph: 0", "graph: 2")
        )
        self.assertEqual(read(many)[0]["mean_of"], 120)

    def test_settings_of_older_rccl_tests(self):
        lines = text(log("all_reduce_perf", ["a"] * 2, sizes("all_reduce_perf", 2)))
        for new, old in (
            ("nThread 1 nGpus 1", "nThread: 1 nGpus: 1"),
            ("minBytes 8 maxBytes", "minBytes: 8 maxBytes:"),
            ("warmup iters: 5", "warmupIters: 5"),
            (":00] NVIDIA H100 80GB HBM3", ":00.0] AMD Instinct MI250X"),
        ):
            lines = lines.replace(new, old)
        first = read(
            lines.replace(
                "Avg bus bandwidth    : 17.5 ", "Avg bus bandwidth : 17.5 FAILED"
            )
        )[0]
        self.assertEqual(
            (first["engine"], first["warmup"], first["mean_of"]), ("rccl", 5, 20)
        )
        self.assertEqual(
            [one["code"] for one in first["warnings"]], ["below-expected-bandwidth"]
        )

    def test_each_rank_of_a_program_without_mpi(self):
        lines = log("all_reduce_perf", ["a"], sizes("all_reduce_perf", 1))
        both = [f"{rank}: {line}" for line in lines for rank in (0, 1)]
        records = read(
            "\n".join(both).replace("1:       1048576  ", "1:       1048576  ")
        )
        self.assertEqual(
            [one["ranks"] for one in records], [1] * 3
        )  # equal tables count once


class Wrong(unittest.TestCase):
    def test_values_that_the_program_found_wrong(self):
        for wrong in (("3", "0"), ("0", "3"), ("1.2e+04", "N/A")):
            rows = sizes("all_reduce_perf", 4) + [
                row("all_reduce_perf", 4, 2**26, 2000, wrong=wrong)
            ]
            records = read(
                text(log("all_reduce_perf", ["a"] * 4, rows, footer=("1 FAILED",)))
            )
            self.assertEqual(
                [has_wrong_values(one) for one in records], [False] * 3 + [True]
            )
        records = read(of("error_column.txt").replace("0 OK", "2 FAILED"))
        self.assertEqual([has_wrong_values(one) for one in records], [True] * 3)
        self.assertIn("2 results", records[0]["warnings"][-1]["seen"])
        self.assertEqual(records[0]["warnings"][-1]["code"], WRONG_VALUES)

    def test_errors_that_rccl_tests_marked(self):
        right = of("error_column.txt")
        cut = right[: right.index("# Out of bounds")]
        place = re.search(r"\de-\d\d\n", cut)
        marked = read(cut[: place.start()] + "3e+02*\n" + cut[place.end() :])
        self.assertEqual([has_wrong_values(one) for one in marked], [True, False, False])
        self.assertIn("some wrong elements in place", marked[0]["warnings"][-1]["seen"])
        self.rejects(cut[: place.start()] + "many\n" + cut[place.end() :], "'many' is not a relative difference")

    def rejects(self, log_text, pattern):
        with self.assertRaisesRegex(Invalid, pattern):
            read(log_text)

    def test_contradictions(self):
        right = text(
            ["mpirun -np 4 ./all_reduce_perf -g 1"],
            log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4)),
        )
        self.assertEqual(len(read(right)), 3)
        self.rejects(
            right.replace("-np 4", "-np 8"),
            r"log:1: the log says 8 ranks, and it lists 4",
        )
        for options, why in (
            ("-g 2", r"2 as -g .ngpus., and it lists 1"),
            ("-t 2", r"2 as -t .nthreads., and it lists 1"),
            ("--iters 50", r"50 as -n .iters., and it lists 20"),
            ("-w 9", r"9 as -w .warmup_iters., and it lists 5"),
            ("-m 4", r"4 as -m .agg_iters., and it lists 1"),
            ("-c 0", r"0 as -c .check., and it lists 1"),
        ):
            self.rejects(right.replace("-g 1", options), "log:1: the log says " + why)
        self.rejects(
            right.replace("  69.42", "  6.942", 1), r"log:14: 1048576 bytes: size, time"
        )
        self.rejects(
            right.replace("262144  ", "262143  "),
            r"log:14: .*1048576 bytes, and 262143 elements",
        )
        self.rejects(
            right.replace("0 OK", "0 FAILED"),
            r"log:17: the log says 0 values .* FAILED",
        )
        self.rejects(
            right.replace("concluded: all_reduce", "concluded: all_gather"),
            "all_gather_perf' is concluded",
        )
        self.rejects(
            right.replace("all_reduce", "broadcast"), "broadcast has no redop 'sum'"
        )
        self.rejects(
            right.replace("(us)", "(ms)", 1), "log:13: the units are B elements ms"
        )
        fewer = "\n".join(
            line
            for line in right.split("\n")
            if "Rank  3" not in line and "mpirun" not in line
        )
        self.rejects(
            fewer,
            r"bus bandwidth .*the 3 ranks .*says busbw \S+, and algbw \S+ x \S+ is",
        )
        self.rejects(
            right.replace("Rank  2", "Rank  1"),
            r"rank 1 is listed again \(damaged.log:7\)",
        )

    def test_rows_that_may_be_alike(self):
        rows = [row("all_reduce_perf", 4, size, 12.1) for size in (8, 16)]
        records = read(text(log("all_reduce_perf", ["a"] * 4, 2 * rows)))  # the cycles of one process are one run
        self.assertEqual([one["bytes"] for one in records], [8, 16])
        self.assertEqual([one["iteration_ns"] for one in records], [[12100, 12100]] * 2)
        self.assertEqual(records[0]["in_place"], {"iteration_ns": [11980, 11980], "wrong_elements": 0})
        self.assertIn("one of each row of this size", records[0]["formula"])
        none = row("all_gather_perf", 4, 0, 0.05)
        (record,) = read(text(log("all_gather_perf", ["a"] * 4, 3 * [none])))
        self.assertEqual(record["iteration_ns"], [50] * 3)
        for again in (rows + rows[:1], rows[:1] + rows, 2 * rows[:1]):
            self.rejects(text(log("all_reduce_perf", ["a"] * 4, again)), "this row is that of line")

    def test_what_is_not_known(self):
        right = text(log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4)))
        self.rejects(
            right.replace("all_reduce", "alltoall"),
            "'alltoall_perf' is not an operation of Paceline",
        )
        self.rejects(right.replace("busbw  ", "busbw  more"), "'more")
        self.rejects(right.replace("   float", "   quad"), "'quad' is not a known type")
        self.rejects(
            right.replace("   sum", "   xor"), "'xor' is not a known reduction"
        )
        self.rejects(
            right.replace("graph: 0", "graph: 0 dry: 1"), "'dry' is not a known setting"
        )
        self.rejects(
            text(
                log(
                    "all_reduce_perf",
                    ["a"] * 4,
                    sizes("all_reduce_perf", 4),
                    named=False,
                )
            ),
            "does not say: which program",
        )
        self.rejects(
            right.replace("69.42", "nan", 1), "log:13: time: 'nan' is not a number"
        )

    def test_incomplete_logs(self):
        lines = log("all_reduce_perf", ["a"] * 4, sizes("all_reduce_perf", 4))
        self.rejects(text(lines[:12]), "has no row of results")
        self.rejects(
            "\n".join(lines[:13]).removesuffix("0")[:-9], "log:13: .*not a whole row"
        )
        interrupted = of("info_in_rows.log").split("\n")
        del interrupted[14]
        self.rejects("\n".join(interrupted), "NCCL_DEBUG")
        self.rejects("\n".join(devices(["a"]) + HEAD), "has no row of results")


class Damaged(unittest.TestCase):
    def test_mutations(self):
        for name in (
            "error_column.txt",
            "tagged.log",
            "info_in_rows.log",
            "many_programs.txt",
        ):
            with self.subTest(name):
                mutations.check_mutations(self, nccl_tests, of(name), ONCE)

    def test_random_bytes(self):
        mutations.check_random_bytes(self, nccl_tests, of("error_column.txt"))


if __name__ == "__main__":
    unittest.main()
