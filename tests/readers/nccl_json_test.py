# SPDX-License-Identifier: Apache-2.0
"""The reader of the JSON of nccl-tests -J: right files as the program writes them, and wrong ones."""

import json
import re
import unittest

import mutations
import nccl_log
from paceline.readers import nccl_tests, table
from paceline.readers.checks import Invalid
from paceline.readers.lines import Source
from paceline.readers.record import has_wrong_values

# What the file says once: settings that no option repeats, wrong elements, hosts, the name of a device.
ONCE = {"warmup", "mean_of", "wrong_elements", "warnings", "ranks_per_host", "engine", "formula", "environment"}
ITERATIONS = 12


def decimal(value):
    return json.loads(f"{value:f}")


def per_iteration(times, processes, skipped):
    kept = sorted(times[skipped:])
    n, mean = len(kept), sum(kept) / len(kept)
    deviation = (sum((one - mean) ** 2 for one in kept) / n) ** 0.5
    found = {
        "skipped_iterations": skipped,
        "min_us": kept[0],
        "max_us": kept[-1],
        "avg_us": decimal(mean),
        "p50_us": kept[n // 2],
        "p95_us": kept[min(n - 1, (n * 95 + 99) // 100 - 1)],
        "p99_us": kept[min(n - 1, (n * 99 + 99) // 100 - 1)],
        "stdev_us": decimal(deviation),
        "cv_pct": decimal(100 * deviation / mean),
        "times_us": times,
    }
    if processes > 1:
        quicker = [decimal(one - 0.25) for one in times]
        found["per_process_max_times_us"] = [times if k == 1 else quicker for k in range(processes)]
    return found


def figures(program, ranks, size, time, key="time", wrong=0.0):
    rate = size / time * 1e-3
    bus = rate * nccl_log.FACTOR[program](ranks)
    return {key: decimal(time), "alg_bw": decimal(rate), "bus_bw": decimal(bus), "nwrong": wrong}


def row(program, ranks, size, *, iterations=False, key="time", wrong=0.0, processes=2):
    time = size / 4e4 + 43.21
    reduces, rooted = "reduce" in program, program == "broadcast_perf"
    found = {
        "size": size,
        "count": size // 4 // (ranks if program in ("all_gather_perf", "reduce_scatter_perf") else 1),
        "type": "float",
        "redop": "sum" if reduces or program == "sendrecv_perf" else "none",
        "root": f"{0 if rooted else -1:6}",
        "out_of_place": figures(program, ranks, size, time, key, wrong),
        "in_place": figures(program, ranks, size, 0.99 * time, key),
    }
    if iterations:
        times = [decimal(time * 9)] + [decimal(time + (k * 7 % 11) / 8) for k in range(ITERATIONS - 1)]
        found["out_of_place_per_iter"] = per_iteration(times, processes, 1)
        found["in_place_per_iter"] = per_iteration([decimal(0.99 * one) for one in times], processes, 1)
    return found | {"actual_iterations": ITERATIONS, "experiment_name": ""}


def document(program="all_reduce_perf", gpus=4, hosts=("a", "b"), version=3, rows=None, **other):
    ranks = gpus * len(hosts)
    device = {"group": 0, "pid": 72, "device": 0, "device_hex": "0000:1b:00", "device_info": "NVIDIA H100 80GB HBM3"}
    rows = rows or [row(program, ranks, size, iterations=version == 3, processes=len(hosts)) for size in (2**20, 2**22)]
    config = {
        "nthreads": 1,
        "ngpus": gpus,
        "minimum_bytes": 2**20,
        "maximum_bytes": 2**22,
        "step_factor": 4,
        "warmup_iters": 5,
        "iterations": ITERATIONS,
        "aggregated_iterations": 1,
        "validation": 1,
        "graph": 0,
        "blocking_collectives": "false",
        "per_iter_timing": "true" if version == 3 else "false",
        "per_iter_skip": 1 if version == 3 else 0,
        "parallel_init": "false",
        "devices": [{"rank": k * gpus, "hostname": host, **device} for k, host in enumerate(hosts)],
    }
    return {
        "version": version,
        "start_time": "2026-07-10 10:00:00",
        "args": [f"./build/{program}", "-g", str(gpus), "-n", str(ITERATIONS), "-J", "out.json"],
        "env": ["HOME=/root", "TOKEN=secret"],
        "nccl_version": 23007,
        "config": config,
        "results": rows,
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": 31.0, "okay": "unchecked"},
        "errors": [],
        "end_time": "2026-07-10 10:00:09",
        **other,
    }


def text(value, **keys):
    return json.dumps(value, **keys)


def read(value):
    return mutations.records_of(nccl_tests, value if isinstance(value, str) else text(value))


class Right(unittest.TestCase):
    def test_recognized(self):
        self.assertEqual(table.reader_of(Source("x.json", text(document()).encode())).name, "nccl-tests")

    def test_single_iterations(self):
        first, second = read(document())
        times = document()["results"][0]["out_of_place_per_iter"]["times_us"]
        self.assertEqual(first["iteration_ns"], [round(one * 1000) for one in times[1:]])
        self.assertEqual((first["mean_of"], first["warmup"], first["ranks"]), (12, 5, 8))
        self.assertEqual((first["ranks_per_host"], first["op"], first["root"]), ([4, 4], "sum", None))
        self.assertEqual(len(first["in_place"]["iteration_ns"]), 11)
        self.assertGreater(first["duration_ns"]["p99"], first["duration_ns"]["p50"])
        self.assertIn("without the first 1 (-K)", first["formula"])
        self.assertEqual(second["bytes"], 2**22)
        self.assertNotIn("secret", text([first, second]))

    def test_every_operation_and_version(self):
        for program in nccl_log.FACTOR:
            for version in (1, 2, 3):
                one, _ = read(document(program, version=version))
                self.assertEqual(one["op"], "sum" if "reduce" in program else None)
                self.assertEqual(one["wrong_elements"], 0)
        misspelt = document(version=1)
        misspelt["average_bus_bandwidith"] = {"bandwidith": 1.0, "okay": "unchecked"}
        del misspelt["average_bus_bandwidth"], misspelt["config"]["per_iter_skip"]
        self.assertEqual(len(read(misspelt)), 2)

    def test_of_rccl_tests(self):
        other = document(version=1)
        other["rccl_version"] = other.pop("nccl_version")
        for one in other["results"]:
            one["in_place"]["hip_event_time"] = 12.5
            del one["out_of_place"]
        self.assertEqual(table.reader_of(Source("x", text(other).encode())).name, "nccl-tests")
        records = read(other)
        found = [(one["engine"], one["place"], one["in_place"]) for one in records]
        self.assertEqual(found, [("rccl", "in-place", None)] * 2)

    def test_an_average_that_is_not_that_of_the_rows(self):
        other = document()
        rates = [one[place]["bus_bw"] for one in other["results"] for place in ("out_of_place", "in_place")]
        for average, notes in (("nan", 0), (decimal(sum(rates) / 4), 0), (31.0, 1)):
            other["average_bus_bandwidth"]["bandwidth"] = average
            source = mutations.source_of(text(other))
            self.assertEqual(len(list(nccl_tests.read(source))), 2)
            self.assertEqual(len(source.notes), notes, source.notes)

    def test_processes_of_containers_have_one_pid(self):
        (one,) = read(document(hosts=("n1", "n2", "n3"), version=2, rows=[row("all_reduce_perf", 12, 2**20)]))
        self.assertEqual((one["ranks"], one["ranks_per_host"]), (12, [4, 4, 4]))

    def test_the_time_of_the_cpu(self):
        (one,) = read(document(version=2, rows=[row("all_reduce_perf", 8, 2**20, key="cpu_time")]))
        self.assertEqual((one["clock"], one["bytes_per_s"]["bus"]), ("cpu", None))
        both = [row("all_reduce_perf", 8, 2**20, key="cpu_time", iterations=True)]
        (one,) = read(document(rows=both))  # these are times of the device
        self.assertEqual((one["clock"], len(one["iteration_ns"])), (None, 11))

    def test_wrong_values(self):
        bad = [row("all_reduce_perf", 8, 2**20, wrong=3.0)]
        (one,) = read(document(version=2, rows=bad, out_of_bounds={"count": 1, "okay": "false"}))
        self.assertEqual((one["wrong_elements"], has_wrong_values(one)), (3, True))
        (one, _) = read(document(version=2, out_of_bounds={"count": 1, "okay": "false"}))
        self.assertTrue(has_wrong_values(one))
        unchecked = [row("all_reduce_perf", 8, 2**20, wrong=None)]
        (one,) = read(document(version=2, rows=unchecked))
        self.assertIsNone(one["wrong_elements"])
        self.assertFalse(has_wrong_values(one))

    def test_several_files_joined(self):
        whole = text(document()) + text(document("broadcast_perf"))  # the program ends no line
        self.assertEqual([one["operation"] for one in read(whole)], ["all-reduce"] * 2 + ["broadcast"] * 2)
        self.assertEqual(len(read(text(document()) * 2)), 2)


class InALog(unittest.TestCase):
    def log(self, time=1.0):
        rows = [
            nccl_log.row("all_reduce_perf", 8, size, time * (size / 4e4 + 43.21)) for size in (2**20, 2**22)
        ]
        return nccl_log.text(nccl_log.log("all_reduce_perf", ["a"] * 4 + ["b"] * 4, rows, gpus=4))

    def test_the_run_is_counted_once(self):
        value = text(document(version=2))
        for log in (self.log() + value, value + "\n" + self.log(), self.log() + text(document(version=2), indent=1)):
            self.assertEqual(read(log), read(value))
        tagged = "\n".join(f"2026-03-01T10:00:00.1Z {line}" for line in (self.log() + value).split("\n"))
        self.assertEqual(read(tagged), read(value))

    def test_other_programs_stand_beside_it(self):
        both = self.log() + text(document("broadcast_perf", version=2))
        self.assertEqual([one["operation"] for one in read(both)], ["broadcast"] * 2 + ["all-reduce"] * 2)

    def test_json_of_other_programs_is_passed_over(self):
        self.assertEqual(read(self.log() + '{"loss": 1}\n{broken\n'), read(self.log()))

    def test_contradictions(self):
        for log in (self.log(1.02) + text(document(version=2)), self.log() + text(document(version=2))[:-30]):
            with self.assertRaises(Invalid):
                read(log)


class Rejected(unittest.TestCase):
    def rejects(self, pattern, value):
        with self.assertRaisesRegex(Invalid, pattern) as caught:
            read(value)
        self.assertRegex(str(caught.exception), r"^damaged.log:1: .")

    def changed(self, path, value, version=3):
        whole = document(version=version)
        *outer, last = path
        inner = whole
        for key in outer:
            inner = inner[key]
        inner[last] = value
        return whole

    def test_with_the_size_and_both_figures(self):
        first = ("results", 0)
        for path, value, why in (
            ((*first, "out_of_place", "time"), "nan", r"1048576 bytes, out_of_place, time: '\"nan\"' is not a number"),
            ((*first, "out_of_place", "time"), 0.0, "a time of 0.0 us"),
            ((*first, "in_place", "bus_bw"), 15.1, "bus bandwidth and that of all-reduce on the 8 ranks"),
            ((*first, "in_place", "alg_bw"), 15.1, "the log says "),
            ((*first, "count"), 4, "4 elements of 4 bytes"),
            ((*first, "redop"), "none", "has no redop 'none'"),
            ((*first, "actual_iterations"), 13, "says 12 iterations, and it lists 13"),
            ((*first, "latency"), 1, "'latency' is not a known key of a row"),
            ((*first, "out_of_place_per_iter", "p99_us"), 999.0, "says p99_us 999.0, and that of its times is"),
            ((*first, "out_of_place_per_iter", "times_us"), [1.0], "says 12 iterations, and it lists 1 "),
            ((*first, "out_of_place_per_iter", "skipped_iterations"), 2, "1 skipped iterations, and it lists 2"),
            (("config", "per_iter_timing"), "false", "per_iter_timing is false"),
            (("config", "ngpus"), 8, "says 4 as -g"),
            (("config", "devices", 1, "rank"), 3, "4 ranks a process, and process 1 begins with rank 3"),
            (("config", "iterations"), 20, "says 12 as -n"),
            (("version"), 4, "'4' is not a known version"),
            (("out_of_bounds", "count"), 2, "2 values out of bounds, and OK"),
            (("args",), ["./my_test"], "does not name a program"),
            (("args",), ["./alltoall_perf"], "is not an operation of Paceline"),
            (("results",), [], "no row of results"),
        ):
            with self.subTest(path=path):
                self.rejects(why, self.changed(path if isinstance(path, tuple) else (path,), value))

    def test_places_that_changed_places(self):
        other = document(version=1)
        swapped = {"in_place": "out_of_place", "out_of_place": "in_place"}
        other["results"] = [{swapped.get(key, key): value for key, value in one.items()} for one in other["results"]]
        with self.assertRaisesRegex(Invalid, "in_place stands before out_of_place"):
            read(other)
        self.assertEqual(len(read(text(document(version=1), sort_keys=True))), 2)

    def test_a_row_twice(self):
        other = document()
        other["results"].append(other["results"][0])
        with self.assertRaisesRegex(Invalid, "this row is that of line 1 again"):
            read(other)

    def test_a_run_that_did_not_end(self):
        whole = document()
        del whole["out_of_bounds"], whole["average_bus_bandwidth"]
        self.rejects("the run did not end", whole)
        self.rejects("is not JSON", text(document())[:-100])


class Damaged(unittest.TestCase):
    def test_mutations(self):
        for version in (2, 3):
            mutations.check_mutations(self, nccl_tests, text(document(version=version), indent=1), ONCE)

    def test_mutations_of_a_log(self):
        log = InALog().log() + text(document(version=2))
        plain = [mutations.without(one, ONCE) for one in read(InALog().log())]
        mutations.check_mutations(self, nccl_tests, log, ONCE, also=lambda found: found in plain)

    def test_random_bytes(self):
        lines = re.sub(r"(\"[a-z_]+\":)", r"\n\1", text(document()))
        mutations.check_random_bytes(self, nccl_tests, lines)


if __name__ == "__main__":
    unittest.main()
