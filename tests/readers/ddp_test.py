# SPDX-License-Identifier: Apache-2.0
"""The reader of the DDP benchmark's JSON: right reports, and wrong ones."""

import json
import unittest
from collections import Counter

import mutations
from paceline.readers import ddp
from paceline.readers.checks import Invalid

REPORT = {
    "pytorch_version": "1.4.0",
    "cuda_version": "10.0",
    "distributed_backend": "nccl",
    "bucket_size": 25,
    "benchmark_results": [
        {
            "model": "resnet50",
            "batch_size": 32,
            "result": [
                {"ranks": [0], "measurements": [0.1, 0.2]},
                {"ranks": [0, 1], "measurements": [0.3, 0.4, 0.5, 0.6]},
                {"ranks": [1, 0], "measurements": [0.7, 0.8, 0.9, 1.0]},
            ],
        }
    ],
}


def read(report):
    text = report if isinstance(report, str) else json.dumps(report, indent=1)
    return mutations.records_of(ddp, text)


def changed(**keys):
    report = json.loads(json.dumps(REPORT))
    results = report["benchmark_results"][0]["result"]
    for key, value in keys.items():
        if key == "result":
            results.append(value)
        elif key == "model":
            report["benchmark_results"][0].update(value)
        else:
            report[key] = value
    return report


class Ddp(unittest.TestCase):
    def test_every_key(self):
        alone, two, again = read(REPORT)
        said = two["configuration"]
        self.assertEqual((said["model"], said["batch_size"], said["ranks"], said["engine"]), ("resnet50", 32, 2, "nccl"))
        self.assertEqual((said["strategy"], said["label"], said["bucket_mib"], said["steps"]), ("ddp", "2 GPUs", 25, 2))
        self.assertEqual([one["step_ns"] for one in two["ranks"]], [[300_000_000, 400_000_000], [500_000_000, 600_000_000]])
        self.assertEqual([one["rank"] for one in again["ranks"]], [1, 0])
        self.assertEqual((alone["configuration"]["strategy"], again["configuration"]["strategy"]), ("none", "ddp-2"))
        self.assertEqual(alone["environment"]["torch_version"], "1.4.0")

    def test_what_the_report_does_not_say_is_null(self):
        said = read(REPORT)[0]["configuration"]
        for key in ("warmup_steps", "device", "momentum", "learning_rate", "optimizer", "dtype", "threads"):
            self.assertIsNone(said[key], key)
        old = {"benchmark_results": [{"model": "m", "batch_size": 2, "result": [{"ranks": [0], "measurements": [1]}]}]}
        (one,) = read(old)
        self.assertIsNone(one["configuration"]["bucket_mib"])
        self.assertIsNone(one["environment"]["torch_version"])

    def test_keys_above_the_results_as_python_prints_them(self):
        report = changed(note="a b", hosts=["n1", "it's"], bucket_size=25.0, eager=True, clock={"ghz": 1e-05, "n": 2})
        report["cuda_version"] = None
        self.assertEqual(
            read(report)[0]["adapter"],
            {"pytorch_version": "1.4.0", "cuda_version": "None", "distributed_backend": "nccl", "note": "a b",
             "hosts": "['n1', \"it's\"]", "bucket_size": "25.0", "eager": "True", "clock": "{'ghz': 1e-05, 'n': 2}"},  # fmt: skip
        )

    def test_a_place_held_for_the_first_result_is_no_record(self):
        results = [{"ranks": [0], "measurements": []}, {"ranks": [0], "measurements": [0.1]}]
        self.assertEqual([one["configuration"]["strategy"] for one in read(changed(model={"result": results}))], ["ddp"])

    def test_mistakes(self):
        for report, why in (
            (changed(result={"ranks": [0], "measurements": [0.1, "x"]}), r"^damaged.log:\d+: benchmark_results\[0\].result\[3\]: measurements\[1\]: '\"x\"' is not a number"),
            (changed(result={"ranks": [0], "measurements": [-1]}), "not a positive number of seconds"),
            (changed(result={"ranks": [0], "measurements": [1e20]}), "not a positive number of seconds"),
            (changed(result={"ranks": [0, 1], "measurements": [1, 2, 3]}), "equally many for each of 2 ranks"),
            (changed(result={"ranks": [0], "measurements": []}), "equally many"),
            (changed(result={"ranks": [], "measurements": [1]}), "one or more ranks, each once"),
            (changed(result={"ranks": [1, 1], "measurements": [1, 1]}), "one or more ranks, each once"),
            (changed(result={"ranks": [True], "measurements": [1]}), "one or more ranks, each once"),
            (changed(result={"ranks": [0]}), "'measurements' is missing"),
            (changed(result=7), r"result\[3\]: '7' is not an object"),
            (changed(model={"batch_size": 0}), r"^damaged.log:\d+: benchmark_results\[0\]: batch_size"),
            ('{"benchmark_results": [\n{"model": 1}]}', r"^damaged.log:2: benchmark_results\[0\]: model: '1' is not a text"),
            ('{"a": [{}, [1]], "benchmark_results": [7]\n}', r"^damaged.log:1: benchmark_results\[0\]: '7' is not an object"),
            (changed(model={"model": ""}), "no name"),
            (changed(pytorch_version=3), "is not a text"),
            (changed(bucket_size="big"), "is not a number"),
            (json.dumps(REPORT).replace("0.3", "NaN"), "is not a number"),
            ("[1]", "is not an object, which has the key 'benchmark_results'"),
            ("{}", "'benchmark_results' is missing"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(report)

    def test_results_against_each_other(self):
        for report, why in (
            (changed(result={"ranks": [0], "measurements": [0.1, 0.2, 0.3]}), "measurements: 3 of each rank, and the results before have 2"),
            (changed(result={"ranks": [0, 2], "measurements": [0.1] * 4}), "lists 2 ranks, and one of them is 2"),
            (changed(model={"result": [{"ranks": [0, 1], "measurements": [0.1, 0.2]}]}), "the first result is the one without DDP"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(report)
        runs = read(changed(result={"ranks": [0], "measurements": [0.1, 0.2, 0.3, 0.4]}))  # of two runs
        self.assertEqual(runs[-1]["configuration"]["steps"], 4)

    def test_damage(self):
        # A measurement and its place are said once, and so is what stands above the results.
        once = {"model", "batch_size", "bucket_mib", "engine", "environment", "adapter", "label", "strategy", "window_ns"}
        of_ranks = ([0], [0.11, 0.12, 0.13]), ([0], [0.21, 0.22, 0.23]), ([0, 1], [0.31, 0.32, 0.33, 0.34, 0.35, 0.36])
        report = changed(model={"result": [{"ranks": ranks, "measurements": times} for ranks, times in of_ranks]})
        rights = [mutations.without(one, once) for one in read(report)]

        def shape(record):
            return [(one["rank"], len(one["step_ns"])) for one in record["ranks"]]

        def times(record):
            return Counter(ns for one in record["ranks"] for ns in one["step_ns"])

        def also(found):
            for right in rights:
                more = times(found) - times(right)
                if sorted(shape(found)) == sorted(shape(right)) and more.total() < 2:
                    return True
            return False

        mutations.check_mutations(self, ddp, json.dumps(report, indent=1), once, also=also)

    def test_a_cut_report_is_invalid(self):
        whole = json.dumps(REPORT, indent=1)
        for end in range(len(whole)):
            with self.assertRaisesRegex(Invalid, "^damaged.log"):
                read(whole[:end])

    def test_a_damaged_character_is_read_or_invalid(self):
        whole = json.dumps(REPORT, indent=1)
        for at in range(len(whole)):
            for c in '"{]9-n\0\n':
                try:
                    read(whole[:at] + c + whole[at + 1 :])
                except Invalid as error:
                    self.assertRegex(str(error), "^damaged.log")

    def test_random_bytes(self):
        mutations.check_random_bytes(self, ddp, json.dumps(REPORT, indent=1))


if __name__ == "__main__":
    unittest.main()
