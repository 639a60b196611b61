# SPDX-License-Identifier: Apache-2.0
"""The readers of Megatron-LM, torchtitan and Hugging Face's Trainer: right logs, and wrong ones."""

import copy
import unittest

import mutations
from paceline.readers import hf_trainer, megatron, table, torchtitan
from paceline.readers.checks import Invalid
from paceline.readers.lines import Source
from paceline.readers.record import has_wrong_values

# A loss is said once, and so is what the head says; a damaged loss may be "nan".
ONCE = {"training", "warnings"}
TIMES = (1275.1, 1268.4, 1290.0, 1272.9, 1281.3, 1266.2, 1277.7, 1270.5)
WORK = 510061.0  # TFLOP x 1000 of an iteration


def megatron_line(number, time, batch=64, interval=1, **other):
    fields = {
        "consumed samples": f"{number * 64:12d}",
        "elapsed time per iteration (ms)": f"{time:.1f}",
        "throughput per GPU (TFLOP/s/GPU)": f"{WORK / time:.1f}",
        "learning rate": "1.357000E-05",
        "global batch size": f"{batch:5d}",
        "lm loss": "2.400025E+00",
        "loss scale": "1.0",
        "grad norm": "0.238",
        "number of skipped iterations": "  0",
        "number of nan iterations": "  0",
        **other,
    }
    return f" iteration {number:8d}/     500 | " + " ".join(f"{k}: {v} |" for k, v in fields.items())


def megatron_log(interval=1):
    head = [
        "using world size: 16, data-parallel size: 4, context-parallel size: 1, "
        "tensor-model-parallel size: 2, pipeline-model-parallel size: 2",
        "------------------------ arguments ------------------------",
        "  params_dtype .................................... torch.bfloat16",
        "  seq_length ...................................... 4096",
        "  world_size ...................................... 16",
    ]
    return "\n".join(head + [megatron_line((k + 3) * interval, time) for k, time in enumerate(TIMES)])


def stamped_log(times=TIMES, seconds=1.3):
    """As Megatron core 0.6 and later write it, without TFLOP/s; a line each `seconds`."""
    lines = [megatron_line(k + 1, time, **{"throughput per GPU (TFLOP/s/GPU)": ""}) for k, time in enumerate(times)]
    lines = [line.replace("throughput per GPU (TFLOP/s/GPU):  | ", "") for line in lines]
    return "\n".join(f" [2025-10-11 18:11:{22 + seconds * k:09.6f}]{line}" for k, line in enumerate(lines))


TITAN = (
    "[rank0]:[titan] 2026-08-21 10:00:00,000 - root - INFO - Training starts at step 1, with local batch size 8, "
    "global batch size 64, sequence length 2048, total steps 1000 (warmup 200)"
)


def titan_line(step, clock, rate):
    return (
        f"[rank0]:[titan] 2026-08-21 10:{int(clock) // 60:02d}:{int(clock) % 60:02d},{round(clock * 1000) % 1000:03d} - root - INFO - "
        f"\x1b[31mstep: {step:2d}  \x1b[32mloss:  7.9000  \x1b[33mgrad_norm:  1.2000  \x1b[34mmemory: 61.23GiB(77.30%)  "
        f"\x1b[35mtps: {rate:,}  \x1b[36mtflops: 414.43  \x1b[37mmfu: 41.90%\x1b[39m"
    )


def titan_log(head=TITAN, shared=1, validation=None):
    """`validation`: the line after which one takes 8 s."""
    lines, clock = [head, titan_line(1, 20.0, 812)], 20.0
    for k, seconds in enumerate((1.31, 1.33, 1.30, 1.32, 1.35, 1.31)):
        clock += 10 * seconds
        lines.append(titan_line(10 * (k + 1) + 1, clock, round(8 * 2048 / seconds / shared)))
        if len(lines) == validation:
            clock += 8
            lines.append(titan_line(10 * (k + 1) + 1, clock, 30_000).replace("step:", "validate step:"))
    return "\n".join(lines)


HF = """***** Running training *****
  Num examples = 3,680
  Num Epochs = 3
  Instantaneous batch size per device = 8
  Total train batch size (w. parallel, distributed & accumulation) = 64
  Gradient Accumulation steps = 2
  Total optimization steps = 174
  Number of trainable parameters = 109,483,778
{'loss': 0.5, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 1.0}
{'train_runtime': 87.1234, 'train_samples_per_second': 126.717, 'train_steps_per_second': 1.997, 'train_loss': 0.4, 'epoch': 3.0}"""


def read(reader, text):
    return mutations.records_of(reader, text)


# What the head of a log says, and what follows from it.
OF_HEAD = ("ranks", "batch_size", "dtype", "sequence_length", "accumulate", "steps")


def part_of(*logs, batch_of_head=False):
    """Whether a record has the first, or the last, steps of one of `logs` = (reader, text), no others."""
    wholes = [one for reader, text in logs for one in read(reader, text)]

    def parted(record):
        one = copy.deepcopy(record)
        steps = one["ranks"][0].pop("step_ns")
        batches = set(one["ranks"][0].pop("examples_of_step", [64]))
        for key in ("training", "warnings"):
            one.pop(key, None)
        one["ranks"][0].pop("window_ns")
        for key in OF_HEAD:
            one["configuration"].pop(key, None)
        return steps, (one, None if batch_of_head else batches)

    def also(found):
        short, rest = parted(found)
        for long, other in map(parted, wholes):
            if rest == other and short in (long[: len(short)], long[-len(short) :]):
                return True
        return False

    return also


class SeveralRanks(unittest.TestCase):
    def test_the_same_steps_of_each_rank_that_a_tag_names(self):
        for reader, log in ((megatron, megatron_log()), (torchtitan, titan_log(validation=5).replace("[rank0]:", ""))):
            whole = read(reader, log)
            both = [f"[rank{rank}]:{line}" for line in log.split("\n") for rank in (0, 1)]
            source = mutations.source_of("\n".join(both))
            self.assertEqual(list(reader.read(source)), whole)
            self.assertEqual(source.notes, ["damaged.log: 2 ranks print the same steps; those of rank 0 are taken"])
            with self.assertRaisesRegex(Invalid, "rank 1 has .* lines of steps up to .*, and rank 0 has"):
                read(reader, "\n".join(both[:-1]))
            with self.assertRaisesRegex(Invalid, "two ranks where each line has its rank"):
                read(reader, "\n".join(line for line in log.split("\n") for _ in range(2)))

    def test_a_loss_of_any_rank_that_is_no_number(self):
        both = [f"[rank{rank}]:{line}" for line in megatron_log().split("\n") for rank in (0, 1)]
        (one,) = read(megatron, "\n".join([*both[:-1], both[-1].replace("2.400025E+00", "nan")]))
        self.assertTrue(has_wrong_values(one))


class Recognized(unittest.TestCase):
    def test_by_one_reader(self):
        for name, log in (("megatron", megatron_log()), ("torchtitan", titan_log()), ("hf-trainer", HF)):
            self.assertEqual(table.reader_of(Source("x.log", log.encode())).name, name)


class Megatron(unittest.TestCase):
    def test_a_step_a_line(self):
        (one,) = read(megatron, megatron_log())
        self.assertEqual(one["ranks"][0]["step_ns"], [round(time * 1e6) for time in TIMES])
        self.assertEqual(one["ranks"][0]["examples_of_step"], [64] * len(TIMES))
        stated = one["configuration"]
        self.assertEqual((stated["ranks"], stated["batch_size"], stated["dtype"]), (16, 4, "bf16"))
        self.assertEqual((stated["sequence_length"], stated["warmup_steps"], stated["momentum"]), (4096, None, None))
        self.assertFalse(has_wrong_values(one))

    def test_iterations_that_found_no_number(self):
        bad = megatron_line(11, 1270.5, **{"number of nan iterations": "  1"})
        (one,) = read(megatron, megatron_log() + "\n" + bad)
        self.assertTrue(has_wrong_values(one))
        (one,) = read(megatron, megatron_log() + "\n" + megatron_line(11, 1270.5, **{"lm loss": "nan"}))
        self.assertTrue(has_wrong_values(one))

    def test_contradictions(self):
        for line, why in (
            (megatron_line(12, 1270.5), "a line is missing"),
            (megatron_line(9, 1270.5), "two runs"),
            (megatron_line(11, 1270.5, batch=32), "falls"),
            (megatron_line(11, 127.05, **{"throughput per GPU (TFLOP/s/GPU)": "401.5"}), "TFLOP"),
            (megatron_line(11, 1270.5, **{"consumed samples": "900"}), "samples more"),
            (" iteration 11/ 500 | elapsed time per iteration (ms)", "not understood"),
            (megatron_line(501, 1270.5), "iteration 501 of a training that has 500"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(megatron, megatron_log() + "\n" + line)
        for again, why in (
            (megatron_log().split("\n")[0].replace("16, data-parallel size: 4", "32, data-parallel size: 8"), "the world size is 32 here, and 16"),
            ("  seq_length ............ 2048", "seq_length is 2048 here, and 4096 in line 4"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(megatron, f"{megatron_log()}\n{again}")
        with self.assertRaisesRegex(Invalid, "parallel sizes"):
            read(megatron, megatron_log().replace("pipeline-model-parallel size: 2", "pipeline-model-parallel size: 4"))

    def test_the_world_by_the_sizes_of_all_versions(self):
        old = "data-parallel-size: 4, tensor-model-parallel size: 2, pipeline-model-parallel size: 2 "
        encoder = "encoder-tensor-model-parallel size: 0, pipeline-model-parallel size: 2, encoder-pipeline-model-parallel size: 0"
        for sizes in (
            old,
            old.replace(": 4", ": 2, sequence-parallel size: 2"),
            "data-parallel size: 4, context-parallel size: 1 tensor-model-parallel size: 2, pipeline-model-parallel size: 2 ",
            f"data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 2, {encoder}",
            "data-parallel size: 4, context-parallel size: 1, hierarchical context-parallel sizes: "
            f"Nonetensor-model-parallel size: 2, {encoder}",
            "data-parallel size: 1, context-parallel size: 4, hierarchical context-parallel sizes: [2, 2], "
            "tensor-model-parallel size: 2, pipeline-model-parallel size: 2",
        ):
            (one,) = read(megatron, f"using world size: 16, {sizes}\n" + megatron_line(1, 1270.5))
            self.assertEqual(one["configuration"]["ranks"], 16)
            with self.assertRaisesRegex(Invalid, "by the parallel sizes"):
                read(megatron, f"using world size: 32, {sizes}\n" + megatron_line(1, 1270.5))

    def test_stamps_and_what_stands_before_a_line(self):
        whole = [round(time * 1e6) for time in TIMES]
        for prefix in ("", "worker-1: ", "[default7]:", "INFO:megatron.training: "):
            (one,) = read(megatron, "\n".join(prefix + line for line in stamped_log().split("\n")))
            self.assertEqual(one["ranks"][0]["step_ns"], whole)
        with self.assertRaisesRegex(Invalid, "s after line 3"):
            read(megatron, stamped_log((*TIMES[:3], 12_729.0, *TIMES[4:])))

    def test_the_first_iteration_that_the_second_line_counts_again(self):
        (one,) = read(megatron, stamped_log((30_000.0, (30_000.0 + 1268.4) / 2, *TIMES[2:])))
        self.assertEqual(one["ranks"][0]["step_ns"][1], 1_268_400_000)

    def test_samples_per_second_of_megatron_deepspeed(self):
        said = {"throughput per GPU (TFLOP/s/GPU)": "1.0", "samples per second": "50.373"}
        self.assertEqual(len(read(megatron, megatron_line(1, 1270.5, **said))), 1)
        (one,) = read(megatron, megatron_line(1, 1.3, **said).replace("(ms): 1.3", "(s): 1.27"))
        self.assertEqual(one["ranks"][0]["step_ns"], [1_270_000_000])
        with self.assertRaisesRegex(Invalid, "the global batch 64"):
            read(megatron, megatron_line(1, 12705.0, **said))

    def test_a_line_whose_iterations_were_all_skipped_has_no_loss(self):
        router = megatron_line(11, 1270.5, **{"lm loss": "1.0"}).replace("lm loss", "load_balancing_loss")
        (one,) = read(megatron, megatron_log() + "\n" + router)
        self.assertEqual(one["training"]["last_loss"], 2.400025)

    def test_a_line_of_many_iterations(self):
        lines = "\n".join(
            megatron_line(number, time, **{"consumed samples": str(64 * number)})
            for number, time in zip(range(100, 900, 100), TIMES)
        ).replace("/     500", "/    9000")
        (one,) = read(megatron, lines)
        self.assertIn("100 iterations", one["adapter"]["formula"])

    def test_damage(self):
        log = megatron_log()
        mutations.check_mutations(self, megatron, log, ONCE, also=part_of((megatron, log)))

    def test_random_bytes(self):
        mutations.check_random_bytes(self, megatron, megatron_log() + "\n" + stamped_log())


class Torchtitan(unittest.TestCase):
    def test_steps_by_the_rate(self):
        (one,) = read(torchtitan, titan_log())
        seconds = [ns * 1e-9 for ns in one["ranks"][0]["step_ns"]]
        self.assertEqual([round(one, 3) for one in seconds], [1.31, 1.33, 1.3, 1.32, 1.35, 1.31])
        self.assertEqual(one["ranks"][0]["examples_of_step"], [64] * 6)

    def test_devices_that_share_a_model(self):
        (one,) = read(torchtitan, titan_log(shared=4))
        self.assertEqual(round(one["ranks"][0]["step_ns"][0] * 1e-9, 3), 1.31)

    def test_without_a_batch_the_clock_is_the_time(self):
        (one,) = read(torchtitan, titan_log(head=""))
        self.assertEqual(one["ranks"][0]["step_ns"][0], 1_310_000_000)
        self.assertNotIn("examples_of_step", one["ranks"][0])

    def test_the_heads_of_all_versions(self):
        start = TITAN.partition("Training")[0]
        said = "local batch size 8, global batch size 64, gradient accumulation steps 2, sequence length 1024, total steps 1000 (warmup 200)"
        tokens = (
            "16384 tokens per DP rank, 131072 tokens per train step, gradient accumulation steps 1, maximum context "
            "length 2048, total steps 1000 (warmup 200)"
        )
        for head, batch in (
            (f"{start}Trainer is initialized with {said}.\n{start}Training starts at step 1.", [64] * 6),
            (f"{start}Trainer is initialized with {said}\n{start}Training starts at step 1", [64] * 6),
            (f"{start}Trainer is initialized with {tokens}\n{start}Training starts at step 1", None),
            (f"{start}Training starts at step 1", None),
        ):
            (one,) = read(torchtitan, titan_log(head=head))
            self.assertEqual(round(one["ranks"][0]["step_ns"][0] * 1e-9, 3), 1.31)
            self.assertEqual(one["ranks"][0].get("examples_of_step"), batch)
        for head, why in (
            (f"{start}Trainer is initialized with {said}".replace("global batch size 64", "global batch size 60"), "no multiple"),
            (f"{start}Trainer is initialized with 8 batches", "not understood"),
            (TITAN.replace("batch size 8", "batch size 0"), "not understood"),
            (TITAN.replace("batch size 8", "batch size " + "9" * 5000), "not understood"),
            (f"{start}Training starts at step 1\n{start}Training starts at step 41", ":2: is the start of a second run"),
            (TITAN + "\n" + TITAN.replace("step 1,", "step 41,"), ":2: is the start of a second run"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(torchtitan, titan_log(head=head))

    def test_a_validation_is_no_step(self):
        lines = titan_log().split("\n")
        for at in range(3, 8):
            for head in (TITAN, ""):
                log = titan_log(head=head, validation=at).split("\n")
                self.assertEqual(len(log), len(lines) + 1)
                (one,) = read(torchtitan, "\n".join(log))
                self.assertEqual([round(ns * 1e-9, 2) for ns in one["ranks"][0]["step_ns"]], [1.31, 1.33, 1.3, 1.32, 1.35, 1.31])

        with self.assertRaisesRegex(Invalid, "the step or the clock of this line"):
            read(torchtitan, titan_log(validation=5).replace("validate step: 31", "validate step: 11"))

    def test_a_rank_that_does_not_know_the_loss(self):
        (one,) = read(torchtitan, titan_log().replace("loss:  7.9000", "loss: -1.0000"))
        self.assertNotIn("training", one)

    def test_a_rate_against_the_clock(self):
        wrong = titan_log().replace("tps: 12,603", "tps: 12")
        self.assertNotEqual(wrong, titan_log())
        with self.assertRaisesRegex(Invalid, "its clock says"):
            read(torchtitan, wrong)

    def test_damage(self):
        also = part_of((torchtitan, titan_log()), (torchtitan, titan_log(head="")), batch_of_head=True)
        mutations.check_mutations(self, torchtitan, titan_log(), ONCE, also=also)

    def test_random_bytes(self):
        mutations.check_random_bytes(self, torchtitan, titan_log())


class HfTrainer(unittest.TestCase):
    def test_the_mean_step(self):
        (one,) = read(hf_trainer, HF)
        self.assertEqual(one["ranks"][0]["step_ns"], [round(87.1234e9 / 174)])
        stated = one["configuration"]
        self.assertEqual((stated["ranks"], stated["batch_size"], stated["accumulate"]), (4, 16, 2))

    def test_contradictions(self):
        for old, new, why in (
            ("steps = 174", "steps = 175", "steps: the log says"),
            ("examples = 3,680", "examples = 36,800", "1150 to 1725 steps"),
            ("'train_runtime': 87.1234", "'train_runtime': 8.71234", "the log says"),
            ("size (w. parallel, distributed & accumulation) = 64", "size (w. parallel, distributed & accumulation) = 60", "no multiple"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(hf_trainer, HF.replace(old, new))

    def test_a_training_that_did_fewer_steps_than_its_rates_count(self):
        early = HF.replace("Epochs = 3", "Epochs = 9").replace("steps = 174", "steps = 522").replace("1.997", "5.992").replace("126.717", "380.151")
        with self.assertRaisesRegex(Invalid, "ended in epoch 3.0, and its rates count 522 steps"):
            read(hf_trainer, early)
        (one,) = read(hf_trainer, early.replace("'epoch': 3.0", "'epoch': 9.0"))
        self.assertEqual(one["ranks"][0]["step_ns"], [round(87.1234e9 / 522)])
        resumed = "  Continuing training from global step 100"
        with self.assertRaisesRegex(Invalid, ":2: the training began at a checkpoint"):
            read(hf_trainer, HF.replace("\n", f"\n{resumed}\n", 1))
        self.assertEqual(read(hf_trainer, HF.replace("\n", f"\n{resumed[:-3]}0\n", 1)), read(hf_trainer, HF))

    def test_a_loss_that_is_no_number(self):
        for old in ("'loss': 0.5", "'train_loss': 0.4"):
            (one,) = read(hf_trainer, HF.replace(old, old.split()[0] + " nan"))
            self.assertTrue(has_wrong_values(one), old)
        (one,) = read(hf_trainer, HF.replace("'grad_norm': 1.25", "'grad_norm': nan"))
        self.assertFalse(has_wrong_values(one))
        self.assertEqual(one["training"]["last_loss"], 0.5)

    def test_forms_of_the_head(self):
        whole = read(hf_trainer, HF)
        lines = HF.split("\n")
        logged = [f"[INFO|trainer.py:2405] 2025-03-06 12:04:09,913 >> {line}" for line in lines[:8]]
        self.assertEqual(read(hf_trainer, "\n".join(logged + lines[8:])), whole)
        half = HF.replace("Epochs = 3", "Epochs = 3").replace("steps = 174", "steps = 145").replace("1.997", "1.664")
        half = half.replace("126.717", "105.597").replace("'epoch': 3.0", "'epoch': 2.5")
        self.assertEqual(read(hf_trainer, half)[0]["ranks"][0]["step_ns"], [round(87.1234e9 / 145)])
        endless = HF.replace("Epochs = 3", "Epochs = 9,223,372,036,854,775,807").replace("= 3,680", "= 11,136")
        self.assertEqual(read(hf_trainer, endless.replace("126.717", "127.8187"))[0]["ranks"], whole[0]["ranks"])

    def test_steps_without_a_head(self):
        end = HF.split("\n")[-1]
        bar = "100%|####| 174/174 [01:27<00:00,  2.00it/s]"
        output = f"TrainOutput(global_step=174, training_loss=0.4, metrics={end[:-1]}, 'total_flos': 6.8e+17}})"
        for log in (f"{bar}\r    \r{end}", f"100%|#| 58/58 [00:01<00:00]\n{end}{bar}", output, f"{end}\n{output}\n{bar}"):
            (one,) = read(hf_trainer, log)
            self.assertEqual(one["ranks"][0]["step_ns"], [round(87.1234e9 / 174)])
            self.assertIsNone(one["configuration"]["ranks"])
        for log in (end, f"{bar.replace('174/', '58/')}\n{end}"):
            with self.assertRaisesRegex(Invalid, "nobody knows how many steps"):
                read(hf_trainer, log)
        with self.assertRaisesRegex(Invalid, "global_step 58"):
            read(hf_trainer, output.replace("=174", "=58"))

    def test_a_training_that_did_not_end(self):
        with self.assertRaisesRegex(Invalid, "did not end"):
            read(hf_trainer, HF.rsplit("\n", 1)[0])

    def test_damage(self):
        mutations.check_mutations(self, hf_trainer, HF, ONCE, also=part_of((hf_trainer, HF)))

    def test_random_bytes(self):
        mutations.check_random_bytes(self, hf_trainer, HF)


if __name__ == "__main__":
    unittest.main()
