# SPDX-License-Identifier: Apache-2.0
"""The reader of :::MLLOG lines: right logs, and wrong ones."""

import json
import unittest

import mutations
from paceline.readers import mllog
from paceline.readers.checks import Invalid

# Said once: who submitted, how it ended, and how many samples a sequence has.
ONCE = {"adapter", "warnings", "label", "framework", "model", "sequence_length", "accumulate"}


def event(ms, key, value=None, kind="POINT_IN_TIME", **metadata):
    said = {"namespace": "", "time_ms": ms, "event_type": kind, "key": key, "value": value}
    return ":::MLLOG " + json.dumps({**said, "metadata": {"file": "train.py", "lineno": 7, **metadata}})


def log(unit=1, blocks=5, **facts):
    known = {"submission_benchmark": "gpt3", "submission_platform": "EX", "global_batch_size": 1536,
             "max_sequence_length": 2048, "number_of_nodes": 64, "accelerators_per_node": 8, **facts}  # fmt: skip
    lines = [event(1000, key, value) for key, value in known.items() if value is not None]
    clock, samples = 20_000, 0
    for k in range(blocks):
        ms, more = 30_720 + 8 * k, 36_864
        lines.append(event(clock, "block_start", None, "INTERVAL_START", samples_count=samples))
        clock, samples = clock + ms, samples + more
        lines.append(event(clock - 3, "tracked_stats", {"throughput": unit * more / ms * 1e3}, step=k))
        lines.append(event(clock, "block_stop", None, "INTERVAL_END", samples_count=samples))
        clock += 4000
    return "\n".join([*lines, event(clock, "run_stop", None, "INTERVAL_END", status="success")])


def epoch_log(epochs, samples, facts, stats):
    """One block of 6.46 s."""
    lines = [event(1, key, value) for key, value in {**facts, "train_samples": samples}.items()]
    lines += [event(1000, "block_start", None, "INTERVAL_START", first_epoch_num=1, epoch_count=epochs),
              event(7460, "tracked_stats", stats),
              event(7460, "block_stop", None, "INTERVAL_END", first_epoch_num=1)]  # fmt: skip
    return "\n".join(lines)


def read(text):
    (one,) = mutations.records_of(mllog, text)
    return one


class Mllog(unittest.TestCase):
    def test_a_block_is_its_clock_and_its_samples(self):
        one = read(log())
        self.assertEqual(one["ranks"][0]["step_ns"], [round((30_720 + 8 * k) * 1e6 / 24) for k in range(5)])
        self.assertEqual(one["ranks"][0]["examples_of_step"], [1536] * 5)
        said = one["configuration"]
        self.assertEqual((said["ranks"], said["ranks_per_host"][:2], said["batch_size"]), (512, [8, 8], 3))
        self.assertEqual((said["model"], said["warmup_steps"], said["momentum"]), ("gpt3", None, None))
        self.assertEqual(one["warnings"], [])

    def test_a_throughput_in_tokens_is_no_samples(self):
        self.assertEqual(read(log(2048))["ranks"], read(log())["ranks"])
        with self.assertRaisesRegex(Invalid, "36864 samples in 30.728 s, 1199.69 a second"):
            read(log(1.5))

    def test_a_throughput_alone(self):
        batch = event(1, "global_batch_size", 512)
        rates = [event(k, "throughput", rate, epoch_num=k) for k, rate in ((2, 22220.5), (3, 27235.9))]
        one = read("\n".join([batch, *rates]))
        self.assertEqual(one["ranks"][0]["step_ns"], [round(512e9 / 22220.5), round(512e9 / 27235.9)])
        self.assertEqual(
            [warning["code"] for warning in one["warnings"]], ["devices-unknown", "run-not-successful"]
        )
        self.assertIsNone(one["configuration"]["ranks"])
        for lines, why in (
            (rates, "global_batch_size is missing"),
            ([batch], "neither a block"),
            ([batch, event(1, "max_sequence_length", 512), *rates], "samples or tokens"),
            ([batch, event(4, "throughput", 0)], "not positive"),
            ([batch, event(4, "throughput", "fast")], "is not a number"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read("\n".join(lines))

    def test_epochs_of_train_samples(self):
        lines = [event(1, "global_batch_size", 100), event(1, "train_samples", 5000)]
        lines += [event(10, "block_start", None, "INTERVAL_START", epoch_count=2),
                  event(50_010, "block_stop", None, "INTERVAL_END")]  # fmt: skip
        self.assertEqual(read("\n".join(lines))["ranks"][0]["step_ns"], [500_000_000])

    def test_what_epochs_of_a_block_count(self):
        second = {"throughput": 520.2}
        for epochs, samples, facts, stats, right in (
            (20, 168, {"global_batch_size": 56}, second, 20 * 168),  # unet3d
            (3360, 168, {"global_batch_size": 56}, second, 3360),  # in samples
            (60, 168, {"global_batch_size": 56}, second, 60 * 56),  # in steps
            (1, 60, {"global_batch_size": 56}, second, 60 * 56),  # train_samples in batches
            (2048 * 3360, 10**9, {"max_sequence_length": 2048, "global_batch_size": 56}, second, 3360),  # gpt3, in tokens
            (2048 * 3360, 10**9, {"max_sequence_length": 2048, "global_batch_size": 56}, {"train_step_time": 0.1076}, 3360),
            (4, 1_281_167, {"submission_benchmark": "resnet", "global_batch_size": 2048}, {}, 4 * 1_281_167),
            (1, 3_000_064, {"submission_benchmark": "bert", "global_batch_size": 256}, {}, 3_000_064),
        ):
            one = read(epoch_log(epochs, samples, facts, stats))
            batch = facts["global_batch_size"]
            self.assertEqual(one["ranks"][0]["step_ns"], [round(6.46e9 * batch / right)], (epochs, samples))
        for epochs, samples, facts, stats, why in (
            (335, 3_001_600, {"submission_benchmark": "bert", "max_sequence_length": 512, "global_batch_size": 448}, {},
             "nothing else in the log says what epoch_count"),
            (1, 4572, {"submission_benchmark": "ssd", "global_batch_size": 256}, {}, "nothing else"),
            (1, 4_195_197_692, {"submission_benchmark": "dlrm", "global_batch_size": 32768}, {}, "nothing else"),
            (1, 40_000, {"submission_benchmark": "maskrcnn", "global_batch_size": 96}, {"throughput": 18_300}, "does not tell"),
            (1, 500, {"submission_benchmark": "transformer", "global_batch_size": 4096}, {}, "counts tokens"),
        ):  # fmt: skip
            with self.assertRaisesRegex(Invalid, why):
                read(epoch_log(epochs, samples, facts, stats))

    def test_epochs_without_blocks_check_the_rates(self):
        def epochs(rate):
            lines = [event(1, "global_batch_size", 256), event(1, "train_samples", 4572)]
            for k in range(2):
                lines += [event(1e6 * k, "epoch_start", k, epoch_num=k), event(1e6 * k + 517_397, "epoch_stop", k, epoch_num=k),
                          event(1e6 * k + 517_398, "tracked_stats", {"throughput": rate} if rate else {}, step=k)]  # fmt: skip
            return "\n".join(lines)

        self.assertEqual(read(epochs(2263))["ranks"][0]["step_ns"], [round(256e9 / 2263)] * 2)
        with self.assertRaisesRegex(Invalid, "does not tell"):
            read(epochs(282.88))  # of one device

    def test_counts_of_samples_and_steps(self):
        blocks = [event(1, "global_batch_size", 256)]
        for k in range(3):  # the end repeats the count of the start
            blocks += [event(1e5 * k, "block_start", None, samples_count=512_000 * k),
                       event(1e5 * k + 90_000, "block_stop", None, samples_count=512_000 * k)]  # fmt: skip
        said = read("\n".join([*blocks, event(9e5, "eval_start", None, samples_count=1_536_000)]))
        self.assertEqual(said["ranks"][0]["step_ns"], [45_000_000] * 3)
        source = mutations.source_of("\n".join(blocks))
        (said,) = mllog.read(source)
        self.assertEqual((len(said["ranks"][0]["step_ns"]), len(source.notes)), (2, 1))
        steps = [event(1, "global_batch_size", 512), event(1000, "block_start", None, step_num=0), event(1005, "block_start", None, step_num=0),
                 event(51_000, "block_stop", None, step_num=100)]  # fmt: skip
        self.assertEqual(read("\n".join(steps))["ranks"][0]["step_ns"], [500_000_000])
        with self.assertRaisesRegex(Invalid, "which are 51200 samples, and its samples_count says 25600"):
            read("\n".join(steps).replace('"step_num": 0', '"step_num": 0, "samples_count": 0').replace('"step_num": 100', '"step_num": 100, "samples_count": 25600'))

    def test_events_without_a_type(self):
        text = epoch_log(4, 1_281_167, {"submission_benchmark": "resnet", "global_batch_size": 2048}, {})
        self.assertEqual(read(text.replace('"event_type": "POINT_IN_TIME", ', "")), read(text))

    def test_a_first_block_that_warms_up(self):
        self.assertEqual(len(read(log().replace('"time_ms": 20000,', '"time_ms": 10000,'))["ranks"][0]["step_ns"]), 5)
        with self.assertRaisesRegex(Invalid, "a throughput of"):
            read(log().replace('"time_ms": 54720,', '"time_ms": 44720,'))

    def test_what_contradicts_itself(self):
        for text, why in (
            (log() + "\n" + event(1, "global_batch_size", 1024), "1024 here, and 1536 before"),
            (log(global_batch_size=0), "less than 1"),
            (log() + "\n" + event(1, "block_stop", None, "INTERVAL_END", samples_count=1), "has not started"),
            (log() + "\n:::MLLOG {", "is not JSON"),
            ("\n".join([log(), event(1, "run_start"), log()]), ":23: begins a second training, after the end of one in line 22"),
            (event(1, "seed", 1, instance=0) + "\n" + event(1, "seed", 2, instance=1), "several trainings"),
            (event(1, "seed", 1, instance_id=0) + "\n" + event(1, "seed", 2, instance_id=1), "several trainings"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(text)

    def test_damage(self):
        # Without the batch's line, or with another one, nothing else says the batch: left to the log.
        right = log()
        mutations.check_mutations(self, mllog, right, ONCE, also=also_of(right))

    def test_random_bytes(self):
        mutations.check_random_bytes(self, mllog, log(blocks=2))


def also_of(right):
    """Records of the same blocks, with another batch or other devices, which the log says once."""
    whole = read(right)["ranks"][0]
    seconds = [ns * 1e-9 / batch for ns, batch in zip(whole["step_ns"], whole["examples_of_step"])]

    def also(found):
        one = found["ranks"][0]
        each = [ns * 1e-9 / batch for ns, batch in zip(one["step_ns"], one["examples_of_step"])]
        return any(
            len(each) == len(part) and all(abs(a / b - 1) < 1e-8 for a, b in zip(each, part))
            for part in (seconds, seconds[1:], seconds[:-1], *(seconds[:k] + seconds[k + 1 :] for k in range(5)))
        )

    return also


if __name__ == "__main__":
    unittest.main()
