# SPDX-License-Identifier: Apache-2.0
"""The readers of other programs' logs.

To add one, write `readers/<name>.py` with two functions and a row in READERS below:

    def recognizes(source) -> bool      cheap; true for no other reader's files
    def read(source)                    a generator of records

`source` is one file (lines.Source). `source.lines` has its lines without launchers' tags, colours,
line ends and NCCL's own lines; each Line has `text`, `number`, `place` (path:line) and `rank`, if a
launcher's tag names it. `source.text` is the whole file, for JSON and CSV. `source.note(place,
sentence)` tells the user something that does not make the records less valid,
`source.leave_out(sentence)` why an incomplete run gives no record.

Records are made by `record.run_record(configuration, [record.rank(step_ns)], ...)` or
`record.comm_record(...)`. Omit what the log does not state; it becomes null.

Parse every number with `checks.figure` (printed, rounded) or `checks.count` (an integer), values of
JSON with `json_text` (parse, member, number), units of steps with `units`. Compare what a log
states twice with `checks.check_product`, `checks.check_count` and `checks.one_of` (a name that must
be known). Raise `checks.Invalid(line, sentence)` for all other faults. `read` must raise nothing
else, even for random bytes, which tests/readers/mutations.py tries. A line that looks like the
format but cannot be parsed is invalid; lines of other programs are skipped. If the program that
wrote the log found wrong values itself, the record carries a warning with the code
`record.WRONG_VALUES`.

A test is a file tests/readers/<name>_test.py: right logs with their records, and the
mutations of mutations.py.
"""

import sys
from dataclasses import dataclass
from typing import Callable

from . import ddl, ddp, dlperf, hf_trainer, kineto, megatron, mllog, nccl_tests, rates, rccl_tests, tf_cnn, torchtitan
from .checks import Invalid, Unknown
from .lines import Source, files_of, open_source
from .record import check_times


@dataclass(frozen=True)
class Reader:
    name: str  # as in `paceline import --from`
    reads: str  # one line
    versions: str
    link: str  # address of the program, or of a description of its format
    recognizes: Callable[[Source], bool]
    read: Callable


READERS = (
    Reader(
        nccl_tests.NAME,
        "the text of nccl-tests and rccl-tests, and the JSON of -J",
        "nccl-tests 2.0 to 2.19",
        "https://github.com/NVIDIA/nccl-tests",
        nccl_tests.recognizes,
        nccl_tests.read,
    ),
    Reader(
        rccl_tests.NAME,
        "the files of rccl-tests -Z json and -Z csv",
        "rccl-tests of ROCm 6.3 to 7",
        "https://github.com/ROCm/rccl-tests",
        rccl_tests.recognizes,
        rccl_tests.read,
    ),
    Reader(
        ddp.NAME,
        "the JSON of PyTorch's DDP benchmark",
        "since 2019",
        "https://github.com/pytorch/pytorch/tree/main/benchmarks/distributed/ddp",
        ddp.recognizes,
        ddp.read,
    ),
    Reader(
        ddl.NAME,
        "logs of the synthetic benchmarks of Horovod and BytePS, and of ddl-benchmarks",
        "Horovod 0.15 to 0.28, BytePS 0.1 to 0.2",
        "https://github.com/HKBU-HPML/ddl-benchmarks",
        ddl.recognizes,
        ddl.read,
    ),
    Reader(
        tf_cnn.NAME,
        "logs of tf_cnn_benchmarks, alone or under Horovod",
        "TensorFlow 1.4 to 2",
        "https://github.com/tensorflow/benchmarks",
        tf_cnn.recognizes,
        tf_cnn.read,
    ),
    Reader(
        dlperf.NAME,
        "logs of DLPerf, named 1n8g/rn50_b128_fp32_1.log",
        "reports V1.0",
        "https://github.com/Oneflow-Inc/DLPerf",
        dlperf.recognizes,
        dlperf.read,
    ),
    Reader(
        rates.NAME,
        "a CSV table of published throughput, a cell a row",
        "columns of docs/from/dlperf.md",
        "https://github.com/Oneflow-Inc/DLPerf",
        rates.recognizes,
        rates.read,
    ),
    Reader(
        mllog.NAME,
        "the :::MLLOG lines of MLPerf Training and HPC",
        "Training 0.7 to 5",
        "https://github.com/mlcommons/logging",
        mllog.recognizes,
        mllog.read,
    ),
    Reader(
        kineto.NAME,
        "the collectives in traces of PyTorch's profiler",
        "PyTorch 2.2 to 2.13",
        "https://github.com/pytorch/kineto",
        kineto.recognizes,
        kineto.read,
    ),
    Reader(
        megatron.NAME,
        "the lines of iterations of Megatron-LM",
        "Megatron-LM 2.0 to core 0.15, Megatron-DeepSpeed",
        "https://github.com/NVIDIA/Megatron-LM",
        megatron.recognizes,
        megatron.read,
    ),
    Reader(
        torchtitan.NAME,
        "the lines of steps of torchtitan",
        "torchtitan 0.1 to 0.2",
        "https://github.com/pytorch/torchtitan",
        torchtitan.recognizes,
        torchtitan.read,
    ),
    Reader(
        hf_trainer.NAME,
        "the head and the end of a training with Hugging Face's Trainer",
        "transformers 4.20 to 5",
        "https://huggingface.co/docs/transformers/trainer",
        hf_trainer.recognizes,
        hf_trainer.read,
    ),
)


def names() -> str:
    return ", ".join(one.name for one in READERS)


def reader_of(source: Source, name: str = None) -> Reader:
    """Returns the reader named `name`, or without a name the one that recognizes the file; None if
    there is none."""
    if name:
        found = [one for one in READERS if one.name == name]
        if not found:
            raise Invalid(source, f"'{name}' is not a reader; known are {names()}")
        return found[0]
    found = [one for one in READERS if one.recognizes(source)]
    if len(found) > 1:
        raise Invalid(
            source,
            f"may be of {' and of '.join(one.name for one in found)}; --from names one",
        )
    return found[0] if found else None


def read_files(paths, name: str = None, note=None, if_known: bool = False):
    """Yields (index in `paths`, records) for each file or directory that a reader recognizes.

    A file with the same content as an earlier one is counted once.  Files in a directory that no reader recognizes are
    left out, and with `if_known` also paths without such a file.  `note` gets one sentence for each file that is not
    counted.
    """
    note = note or (lambda sentence: print(sentence, file=sys.stderr))
    digests, found = {}, []
    for place, path in enumerate(paths):
        try:
            found.append((place, _read_path(path, name, note, digests)))
        except Unknown:
            if not if_known:
                raise
    return found


def _read_path(path: str, name: str, note, digests: dict) -> list:
    """Returns the records of a file, or of the files in a directory. `digests` has the hashes of
    files that were read before."""
    files = files_of(path)
    found, read = [], 0
    for file in files:
        source = open_source(file)
        reader = reader_of(source, name)
        if reader is None:
            if files == [path]:
                raise Unknown(
                    source,
                    f"is not a file that can be read; known are {names()}, and --from names one",
                )
            what = "is not a file that can be read" if source.text.strip() else "is empty"
            note(f"{file}: {what}, left out")
            continue
        read += 1
        if source.digest in digests:
            note(f"{file}: has the content of {digests[source.digest]}, counted once")
            continue
        digests[source.digest] = file
        records = list(reader.read(source))
        if not records and not source.has_left_out:
            raise Invalid(source, f"holds no result in the form of {reader.name}")
        for record in records:
            check_times(record, source)
        for sentence in source.notes:
            note(sentence)
        found += records
    if not read:
        raise Unknown(path, f"has no file that can be read; known are {names()}")
    return found
