# SPDX-License-Identifier: Apache-2.0
"""The reader of the synthetic benchmarks of Horovod and BytePS, of ddl-benchmarks and of our own logs."""

import unittest

import mutations
from paceline.readers import ddl, table
from paceline.readers.checks import Invalid

# Quoted from horovod/horovod, issue 712; printed by its examples/pytorch_synthetic_benchmark.py.
HOROVOD = """Model: resnet50
Batch size: 32
Number of GPUs: 4
Running warmup...
Running benchmark...
Iter #0: 108.3 img/sec per GPU
Iter #1: 107.3 img/sec per GPU
Iter #2: 109.3 img/sec per GPU
Iter #3: 108.7 img/sec per GPU
Iter #4: 107.6 img/sec per GPU
Iter #5: 108.8 img/sec per GPU
Iter #6: 107.6 img/sec per GPU
Iter #7: 108.6 img/sec per GPU
Iter #8: 107.5 img/sec per GPU
Iter #9: 108.3 img/sec per GPU
Img/sec per GPU: 108.2 +-1.2
Total img/sec on 4 GPU(s): 432.8 +-4.9
"""

# Quoted from crickett-hpe/hpc-ai-envs, examples/horovod/README.md; printed by horovod/horovod,
# examples/pytorch/pytorch_synthetic_benchmark.py.
ON_TWO_NODES = """NCCL version 2.20.5+cuda12.4
Model: resnet50
Batch size: 96
Number of GPUs: 8
Running warmup...
Running benchmark...
Iter #0: 1785.8 img/sec per GPU
Iter #1: 1787.9 img/sec per GPU
Iter #2: 1787.6 img/sec per GPU
Iter #3: 1784.7 img/sec per GPU
Iter #4: 1783.5 img/sec per GPU
Iter #5: 1785.2 img/sec per GPU
Iter #6: 1785.0 img/sec per GPU
Iter #7: 1782.4 img/sec per GPU
Iter #8: 1785.3 img/sec per GPU
Iter #9: 1784.1 img/sec per GPU
Img/sec per GPU: 1785.2 +-3.1
Total img/sec on 8 GPU(s): 14281.2 +-25.0
"""

# Printed by horovod/horovod, examples/tensorflow2/tensorflow2_keras_synthetic_benchmark.py, with other numbers:
# the first iteration warms up, and is in no mean.
KERAS = """Model: ResNet50
Batch size: 128
Number of GPUs: 2
Iter #0: 448.0 img/sec per GPU
Iter #1: 1486.4 img/sec per GPU
Iter #2: 1487.6 img/sec per GPU
Iter #3: 1486.6 img/sec per GPU
Iter #4: 1488.6 img/sec per GPU
Img/sec per GPU: 1487.3 +-1.7
Total img/sec on 2 GPU(s): 2974.6 +-3.4
"""

# The lines that bytedance/byteps, example/pytorch/benchmark_byteps.py prints on the first rank of
# each machine, here of two machines of eight ranks whose output went to one file.  No such file was
# found.  The lines "Iter" of the first machine are quoted from bytedance/byteps, issue 78, of two
# machines; those of the second from the same issue, of one machine; the others follow from these.
BYTEPS = """BytePS launching worker
BytePS launching worker
Model: resnet50
Batch size: 32
Number of GPUs: 16
Model: resnet50
Batch size: 32
Number of GPUs: 16
Running warmup...
Running warmup...
Running benchmark...
Running benchmark...
Iter #0: 33.5 img/sec per GPU
Iter #0: 87.9 img/sec per GPU
Iter #1: 34.2 img/sec per GPU
Iter #1: 172.0 img/sec per GPU
Iter #2: 44.3 img/sec per GPU
Iter #3: 44.0 img/sec per GPU
Iter #2: 165.7 img/sec per GPU
Iter #4: 30.9 img/sec per GPU
Iter #3: 172.7 img/sec per GPU
Iter #5: 43.4 img/sec per GPU
Img/sec per GPU: 38.4 +-11.0
Total img/sec on 16 GPU(s): 614.1 +-176.0
Iter #4: 178.4 img/sec per GPU
Iter #5: 175.2 img/sec per GPU
Img/sec per GPU: 158.7 +-62.5
Total img/sec on 16 GPU(s): 2538.4 +-999.5
"""

NAMED = "rdma-1-method-mgwfbp-dnn-bert_base-bs-64-nworker-8-compressor-none-thres-0.log"


def bert(iterations):
    """The lines that HKBU-HPML/ddl-benchmarks, mgwfbp/bert_benchmark.py prints, which say neither its
    batch size nor which BERT; the name of the file does.  No log of it was found: each rate is the mean
    that its table has for NAMED, results/2020-05-29/README.md: 1235.040 samples/s."""
    rates = "".join(f"Iter #{k}: 154.4 sentences/sec per GPU\n" for k in range(iterations))
    return (
        "Running warmup...\nBERT Large Pretraining, Sentence len: 64\nRunning benchmark...\n"
        f"{rates}Sen/sec per GPU: 154.4 +-0.0\nTotal sen/sec on 8 GPU(s): 1235.0 +-0.0\n"
    )


def read(text, path=mutations.PATH):
    return mutations.records_of(ddl, text, path)


def notes(text):
    source = mutations.source_of(text)
    return list(ddl.read(source)), source.notes


def mean_ns(batch, rate):
    return round(1e9 * batch / rate)


class Horovod(unittest.TestCase):
    def test_rank_0_stands_for_all(self):
        (one,) = read(HOROVOD)
        said = one["configuration"]
        self.assertEqual((said["model"], said["batch_size"], said["ranks"], said["steps"]), ("resnet50", 32, 4, 10))
        self.assertEqual((said["label"], said["device"]), ("horovod", "cuda"))
        self.assertEqual(len(one["ranks"]), 4)
        self.assertEqual(one["ranks"][3]["step_ns"][1], mean_ns(32, 107.3))
        self.assertEqual(one["warnings"][0]["seen"], "the log has rank 0's rates alone")
        for key in ("strategy", "engine", "warmup_steps", "momentum", "learning_rate", "dtype", "bucket_mib"):
            self.assertIsNone(said[key], key)

    def test_lines_behind_a_rank_a_colour_or_a_device_by_its_name(self):
        plain = read(HOROVOD)
        tagged = "".join(f"[1,0]<stdout>:{line}\n" for line in HOROVOD.splitlines())
        coloured = "".join(f"\x1b[32m{line}\x1b[0m\n" for line in HOROVOD.splitlines())
        for text in (tagged, coloured, HOROVOD.replace("GPU", "/gpu:0"), HOROVOD.replace("\n", "\r\n")):
            self.assertEqual(read(text), plain)
            self.assertEqual(table.reader_of(mutations.source_of(text)).name, "ddl")
        (on_cpus,) = read(HOROVOD.replace("GPU", "CPU"))
        self.assertEqual(on_cpus["configuration"]["device"], "cpu")

    def test_lines_of_other_programs_are_passed_over(self):
        (one,) = read(ON_TWO_NODES)
        self.assertEqual((one["configuration"]["batch_size"], one["configuration"]["ranks"]), (96, 8))
        self.assertEqual(one["ranks"][7]["step_ns"][0], mean_ns(96, 1785.8))

    def test_a_first_iteration_that_warms_up(self):
        (one,) = mutations.records_of(ddl, KERAS)
        said = one["configuration"]
        self.assertEqual((said["model"], said["ranks"], said["steps"]), ("ResNet50", 2, 4))
        self.assertEqual(one["ranks"][1]["step_ns"], [round(128e9 / rate) for rate in (1486.4, 1487.6, 1486.6, 1488.6)])
        with self.assertRaisesRegex(Invalid, "the mean of the rates"):
            mutations.records_of(ddl, KERAS.replace("Iter", "Running warmup...\nIter", 1))
        mutations.check_mutations(self, ddl, KERAS, {"model"}, also=self.also(KERAS, 2, 1))

    def test_tries_of_one_file_are_runs(self):
        self.assertEqual([one["run"] for one in read(HOROVOD + HOROVOD)], [0, 1])

    def test_contradictions(self):
        for old, new, why in (
            ("of GPUs: 4", "of GPUs: 8", ":17: 4 ranks trained, but the log's own number of devices is 8"),
            ("Iter #2: 109.3", "Iter #2: 1093", "the mean of the rates: the log says 108.2"),
            ("108.2 +-1.2", "108.2 +-12", "the interval of the mean"),
            ("432.8 +-4.9", "4328 +-4.9", "the total of all ranks: the log says 4328"),
            ("432.8 +-4.9", "432.8 +-49", "the interval of the total"),
            ("Iter #2", "Iter #3", ":8: iteration 3 follows no iteration 2"),
            ("Iter #0", "Iter #5", ":6: iteration 5 follows no iteration 4"),
            ("#3: 108.7 img/sec per GPU", "#3: 108.7 img/sec per CPU", "the device is cpu here"),
            ("#3: 108.7 img/sec", "#3: 108.7 sentences/sec", "the unit is sen here"),
            ("#3: 108.7 img/sec per GPU", "#3: 108.7 img/sec per XPU", "'XPU' is not a known device"),
            ("108.3", "0.000", ":6: '0.000' is not a rate"),
            ("Batch size: 32", "Batch size: 32\nBatch size: 64", ":3: batch size 64, but line 2 says 32"),
            ("Iter #2: 109.3 img/sec per GPU", "Iter #2: 109.3 im", ":8: 'Iter #2: 109.3 im' is a line of results"),
            ("GPU(s): 432.8 +-4.9", "", ":17: 'Total img/sec on 4' is a line of results"),
            ("GPU\nIter #9", "GPUIter #9", ":14: .* cut off or mixed"),
            ("Total img/sec on 4", f"{HOROVOD}Total img/sec on 4", ":17: a run begins before the 'Total' line"),
            ("Iter #0", "Img/sec per GPU: 108.2 +-1.2\nIter #0", ":6: a mean without iterations"),
            ("Model: resnet50\n", "", ":16: a run without its model; the log has no such line"),
        ):
            self.assertIn(old, HOROVOD)
            with self.assertRaisesRegex(Invalid, why):
                read(HOROVOD.replace(old, new, 1))

    def test_a_run_without_its_end_is_left_out_and_said(self):
        cut = HOROVOD[: HOROVOD.index("Total")]
        records, said = notes(cut)
        self.assertEqual(records, [])
        self.assertEqual(
            said, ["damaged.log: the log ends before the 'Total' line of its last run, left out"]
        )
        records, said = notes(HOROVOD + cut)
        self.assertEqual((len(records), len(said)), (1, 1))
        records, said = notes("Model: lenet\nBatch size: 8\nRunning warmup...\nTraceback\n")
        self.assertEqual((records, said), ([], ["damaged.log: its case has no result, left out"]))

    def also(self, log=HOROVOD, ranks=4, first=0):
        """The batch size is said once; nothing tells of iterations after the last one, if means agree."""
        rates = [float(line.split()[2]) for line in log.splitlines() if line.startswith("Iter")][first:]

        def also(found):
            batch = found["configuration"]["batch_size"]
            times = [mean_ns(batch, rate) for rate in rates]
            steps = [one["step_ns"] for one in found["ranks"]]
            return len(steps) == ranks and all(one == times[: len(one)] and len(one) > len(rates) - 2 for one in steps)

        return also

    def test_damage(self):
        mutations.check_mutations(self, ddl, HOROVOD, {"model"}, also=self.also())
        mutations.check_mutations(self, ddl, "\n".join([HOROVOD] * 2), {"model", "run"}, 300, also=self.also())

    def test_random_bytes(self):
        mutations.check_random_bytes(self, ddl, HOROVOD)


class BytePs(unittest.TestCase):
    def test_workers_of_one_log(self):
        records = read(BYTEPS + BYTEPS)
        self.assertEqual([one["run"] for one in records], [0, 1])
        self.assertEqual(records[0]["ranks"], records[1]["ranks"])
        said = records[0]["configuration"]
        self.assertEqual((said["label"], said["strategy"], said["ranks"], said["steps"]), ("byteps", "wfbp+ps", 16, 6))
        for rank in (0, 7, 8, 15):
            step_ns = records[0]["ranks"][rank]["step_ns"]
            self.assertEqual((len(step_ns), step_ns[4]), (6, mean_ns(32, 30.9 if rank < 8 else 178.4)))
        self.assertEqual(
            records[0]["warnings"][0]["seen"], "the log has the rates of one rank on each of 2 machines"
        )

    def test_a_tag_says_whose_line_it_is(self):
        seen, tagged = {}, []
        for line in BYTEPS.splitlines():
            key = line.split(":")[0] if line.startswith("Iter") else line
            seen[key] = seen.get(key, -1) + 1
            worker = seen[key]
            if line.startswith(("Img", "Total")):
                worker = 0 if line.split(": ")[1].startswith(("38.4", "614")) else 1
            tagged.append(f"[1,{8 * worker}]<stdout>:{line}")
        self.assertEqual(read("\n".join(tagged))[0]["ranks"], read(BYTEPS)[0]["ranks"])
        # Of lines with a tag each worker has its own order.
        swapped = "\n".join(tagged).replace("[1,8]<stdout>:Iter #1", "[1,0]<stdout>:Iter #1")
        with self.assertRaisesRegex(Invalid, "iteration 1 follows no iteration 0"):
            read(swapped)

    def test_a_worker_is_missing(self):
        records, said = notes(BYTEPS[: BYTEPS.index("Img/sec per GPU: 158.7")])
        self.assertEqual(records, [])
        self.assertIn("2 workers begin a run and 1 end it, each with a 'Total' line", said[0])
        odd = BYTEPS.replace("on 16", "on 15").replace("GPUs: 16", "GPUs: 15")
        with self.assertRaisesRegex(Invalid, ":28: of 15 ranks 2 workers tell"):
            read(odd)
        short = BYTEPS.replace("Iter #5: 43.4 img/sec per GPU\n", "")
        with self.assertRaisesRegex(Invalid, "equally many ranks and iterations"):
            read(short)

    def test_random_bytes(self):
        mutations.check_random_bytes(self, ddl, BYTEPS, 20_000)


class Names(unittest.TestCase):
    def test_tries_are_runs_of_the_case_that_the_name_describes(self):
        records = read(bert(10) + bert(10), f"logs/pcie/{NAMED}")
        said = records[1]["configuration"]
        self.assertEqual(records[1]["run"], 1)
        self.assertEqual((said["model"], said["batch_size"], said["strategy"]), ("bert-base", 64, "mg-wfbp"))
        self.assertEqual((said["sequence_length"], said["ranks"]), (64, 8))
        self.assertEqual(said, records[0]["configuration"])
        self.assertEqual(read(bert(10), f"{NAMED}.gz")[0]["configuration"], said)

    def test_network_and_codec(self):
        for rdma, method, compressor, label, strategy in (
            ("0", "wfbp", "none", "wfbp 10GbE", "wfbp"),
            ("1", "wfbp", "none", "wfbp IB", "wfbp"),
            ("2", "wfbp", "none", "wfbp IPoIB", "wfbp"),
            ("0", "signum", "none", "signum 10GbE", "bsp+sign"),
            ("0", "efsignum", "none", "efsignum 10GbE", "bsp+ef-sign"),
            ("0", "eftopk", "none", "eftopk 10GbE", "bsp+topk:density=0.001"),
            ("0", "topk", "none", "topk 10GbE", "bsp+topk:density=0.001"),
            ("0", "mgwfbp", "signum", "mgwfbp+signum 10GbE", "mg-wfbp+sign"),
        ):
            path = f"rdma-{rdma}-method-{method}-dnn-bert-bs-8-nworker-8-compressor-{compressor}-thres-0.log"
            said = read(bert(1), path)[0]["configuration"]
            self.assertEqual((said["label"], said["strategy"], said["model"]), (label, strategy, "bert-large"))

    def test_a_name_that_says_another_thing(self):
        for path, text, why in (
            (NAMED.replace("nworker-8", "nworker-4"), bert(1), "8 ranks trained, but the name of the file says 4"),
            ("rdma-0-method-wfbp-dnn-resnet50-bs-64-nworker-4-compressor-none-thres-0.log", HOROVOD,
             ":2: batch size 32, but the name of the file says 64"),
            ("rdma-0-method-wfbp-dnn-vgg16-bs-32-nworker-4-compressor-none-thres-0.log", HOROVOD,
             ":1: model resnet50, but the name of the file says vgg16"),
        ):  # fmt: skip
            with self.assertRaisesRegex(Invalid, why):
                read(text, path)

    def test_without_a_name(self):
        with self.assertRaisesRegex(Invalid, "bert.log:6: a run without its model; the log has no such line"):
            read(bert(1), "bert.log")

    def test_damage(self):
        def also(found):  # the mean is that of any number of iterations
            times = [one["step_ns"] for one in found["ranks"]]
            return len(times) == 8 and all(set(one) == {mean_ns(64, 154.4)} for one in times)

        mutations.check_mutations(self, ddl, bert(5), {"sequence_length"}, also=also, path=NAMED)


HEAD = "# survey, 2026-01-31T17:45:00Z\n# records: s.jsonl\n# paceline run "


class OwnLogs(unittest.TestCase):
    def test_the_command_says_the_case(self):
        said = read(
            HEAD + "--model bert-base --strategy wfbp:small-elements=8192 --ranks 8 --batch-size 16 "
            "--sequence-length 64 --device cpu --engine mpi --dtype bf16 --replay 'my profiles/b.json' "
            "--link '10Gbit, 50us' --threads 2 --channels-last --learning-rate 0.5 --ranks-per-host 1+1 --seed 7 "
            "--bucket-mb 4 --warmup 3 --env OMP_PROC_BIND=true\n" + bert(2),
            "ours.log",
        )[0]["configuration"]
        for key, value in {
            "model": "bert-base", "strategy": "wfbp:small-elements=8192", "label": "", "batch_size": 16, "engine": "mpi",
            "device": "cpu", "dtype": "bf16", "replay": "my profiles/b.json", "link": "10Gbit, 50us", "threads": 2,
            "channels_last": True, "learning_rate": 0.5, "ranks_per_host": [1, 1], "seed": 7, "bucket_mib": 4,
            "warmup_steps": 3, "env": {"OMP_PROC_BIND": "true"}, "momentum": 0.9, "optimizer": "sgd",
        }.items():  # fmt: skip
            self.assertEqual(said[key], value, key)

    def test_a_command_that_is_not_ours(self):
        for flags, why in (
            ("--modle lenet", "ours.log:3: '--modle' is not a flag of a case"),
            ("--ranks two", "ours.log:3: --ranks: 'two' is not an integer"),
            ("--ranks", "ours.log:3: --ranks has no value"),
            ("--link '10Gbit", "ours.log:3: .* a quote that does not end"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(HEAD + flags + "\n" + bert(2), "ours.log")

    def test_lines_against_the_head(self):
        for flags, why in (
            ("--model resnet50 --ranks 8", ":19: 4 ranks trained, but the head of this log says 8"),
            ("--strategy bsp+ps:placement=apart --ranks 4",
             ":19: 4 ranks trained, but the head of this log says 4, of which some only serve"),
            ("--model lenet", ":4: model resnet50, but the head of this log says lenet"),
            ("--batch-size 8", ":5: batch size 32, but the head of this log says 8"),
        ):  # fmt: skip
            with self.assertRaisesRegex(Invalid, why.replace("+", r"\+")):
                read(HEAD + flags + "\n" + HOROVOD.replace("Running warmup...\n", ""))

    def test_ranks_that_only_serve_have_no_times(self):
        (one,) = read(HEAD + "--model resnet50 --strategy bsp+ps:placement=apart,servers=2 --ranks 6\n" + HOROVOD)
        self.assertEqual([len(rank["step_ns"]) for rank in one["ranks"]], [10, 10, 10, 10, 0, 0])
        self.assertEqual(one["configuration"]["ranks"], 6)

    def test_a_case_without_a_result(self):
        text = HEAD + "--model lenet\n# failed: a rank died\n"
        self.assertTrue(ddl.recognizes(mutations.source_of(text)))
        records, said = notes(text)
        self.assertEqual((records, said), ([], ["damaged.log: its case has no result, left out"]))

    def test_keys_are_those_of_the_schema(self):
        (one,) = read(HEAD + "--model resnet50 --ranks 4 --lr-decay 0.1@2 --tokens-per-sample 3 --compat-zeros\n" + HOROVOD)
        self.assertEqual(one["configuration"]["lr_decay"], "0.1@2")
        self.assertEqual(one["configuration"]["tokens_per_sample"], 3)
        self.assertIs(one["configuration"]["as_original"], True)
        self.assertEqual(one["configuration"]["weight_decay"], 1e-4)

    def test_random_bytes(self):
        head = HEAD + "--model resnet50 --link '10Gbit, 50us' --ranks 4 --seed 7 --env A=b --ranks-per-host 2+2\n"
        mutations.check_random_bytes(self, ddl, head + HOROVOD, 20_000)


if __name__ == "__main__":
    unittest.main()
