# SPDX-License-Identifier: Apache-2.0
"""Reads logs of Horovod's and BytePS's synthetic benchmarks, of ddl-benchmarks, and of `paceline
--format ddl`:

    Model: resnet50
    Batch size: 32
    Number of GPUs: 4
    Iter #0: 108.3 img/sec per GPU
    Img/sec per GPU: 108.2 +-1.2
    Total img/sec on 4 GPU(s): 432.8 +-4.9

Each run gives one record. A run ends with the "Total" line of each worker that prints: of Horovod
rank 0, of BytePS the first rank of every machine. The lines of several workers may be mixed.
"""

import os
import re

from .checks import Invalid, count, one_of, shown
from .ddl_names import EXAMPLE, MODELS, settings_in_file_name
from .ddl_run import Run
from .own_command import BEGIN, read_command

NAME = "ddl"
_RECORDS = "# records: "  # begins the second line of a log that Paceline wrote
_DEVICES = {"GPU": "cuda", "CPU": "cpu", "/gpu:0": "cuda", "/cpu:0": "cpu"}
_UNITS = {"img": "img", "sentences": "sen", "sen": "sen", "Img": "img", "Sen": "sen"}
_ITERATION = re.compile(r"Iter #(\S+): (\S+) (img|sentences)/sec per (\S+)\s*$")
_MEAN = re.compile(r"(Img|Sen)/sec per (\S+): (\S+) \+-(\S+)\s*$")
_TOTAL = re.compile(r"Total (img|sen)/sec on (\S+) (\S+)\(s\): (\S+) \+-(\S+)\s*$")
_RESULTS = ((_ITERATION, 3, 4), (_MEAN, 1, 2), (_TOTAL, 1, 3))  # groups of the unit and of the device
_RESULT = re.compile(r"Iter #|(?:Img|Sen)/sec per |Total (?:img|sen)/sec")
_HEAD = {
    "model": re.compile(r".*\bModel: (\S+)\s*"),
    "batch_size": re.compile(r".*\bBatch size: (\d{1,6})\s*", re.A),
    "sequence_length": re.compile(r".*\bBERT .*Pretraining, Sentence len: (\d{1,6})\s*", re.A),
    "ranks": re.compile(r".*\bNumber of (?:GPU|CPU|/[gc]pu:0)s: (\d{1,6})\s*", re.A),
}
_PHASE = re.compile(r".*\bRunning (?:warmup|benchmark)\.\.\.\s*")
_WORDS = {"batch_size": "batch size", "sequence_length": "sentence length", "ranks": "number of devices"}


def recognizes(source) -> bool:
    text = source.text
    return ("Iter #" in text and "/sec per " in text) or "\nRunning warmup..." in text or _is_ours(text)


def _is_ours(text: str) -> bool:
    return text.partition("\n")[2].startswith(_RECORDS)


def read(source):
    log = _Log(source.path)
    for line in source.lines:
        if log.ends_with(line):
            yield log.record(line)
    workers = log.run.workers
    if len(workers) == 1:
        source.leave_out("the log ends before the 'Total' line of its last run")
    elif workers:
        ended = sum(one.ended for one in workers)
        source.leave_out(
            f"{len(workers)} workers begin a run and {ended} end it, each with a 'Total' line; the log is cut off, "
            "or a worker failed"
        )
    elif not log.runs and recognizes(source):
        source.leave_out("its case has no result")


class _Log:
    def __init__(self, path: str):
        self.experiment = os.path.basename(path)
        self.named = settings_in_file_name(path)
        self.head = {}  # settings that the command in the head of a log of Paceline states
        self.said = {}  # settings that lines above the results state, by the keys of _HEAD
        self.byteps = False
        self.runs = 0
        self._begin_run()

    def _begin_run(self) -> None:
        self.run = Run()
        self._lines = {}  # the lines of this run that stated them

    def ends_with(self, line) -> bool:
        """Processes a line.  Returns whether it ends a run."""
        text = line.text
        if _RESULT.search(text):
            return self._takes_result(line)
        if text == BEGIN or text.startswith(BEGIN + " "):
            self.head = read_command(line)
        self.byteps = self.byteps or "BytePS launching worker" in text
        for key, pattern in _HEAD.items():
            match = pattern.fullmatch(text)
            if match:
                self.run.begins(line)
                self._store_statement(key, match[1], line)
        if _PHASE.fullmatch(text):
            self.run.begins(line)
            self.run.warms_up = True
        return False

    def _takes_result(self, line) -> bool:
        matches = [(pattern.search(line.text), unit, device) for pattern, unit, device in _RESULTS]
        matches = [one for one in matches if one[0]]
        if not matches or len(_RESULT.findall(line.text)) > 1:
            raise Invalid(
                line, f"'{shown(line.text)}' is a line of results that is cut off or mixed with another"
            )
        found, unit, device = matches[0]
        self.run.says("unit", _UNITS[found[unit]], line)
        self.run.says("device", one_of(found[device], _DEVICES, "device", line), line)
        if found.re is _ITERATION:
            self.run.iteration(found[1], found[2], line)
        elif found.re is _MEAN:
            self.run.mean(found[3], found[4], line)
        else:
            self.run.total(found[2], found[4], found[5], line)
        return found.re is _TOTAL and self.run.ended

    def _store_statement(self, key: str, text: str, line) -> None:
        value = MODELS.get(text, text) if key == "model" else count(text, line, _WORDS[key], least=1)
        contradicted = []
        if key != "ranks" and self.head.get(key):
            contradicted += [(self.head[key], "the head of this log")]
        elif key != "ranks" and self.named.get(key):
            contradicted += [(self.named[key], "the name of the file")]
        if key in self._lines:
            contradicted += [(self.said[key], f"line {self._lines[key].number}")]
        for other, where in contradicted:
            if other != value:
                raise Invalid(
                    line, f"{_WORDS.get(key, key)} {shown(str(value))}, but {where} says {shown(str(other))}"
                )
        self._lines[key], self.said[key] = line, value

    def record(self, line) -> dict:
        ranks = self.run.said["number of devices"]
        self._check_ranks(ranks, line)
        self.run.check(line)
        stated = self._stated(line)
        serving = max(0, self.head.get("ranks", ranks) - ranks)
        record = self.run.record(
            {**stated, "ranks": ranks + serving}, also_serve=serving, experiment=self.experiment, run=self.runs
        )
        self.runs += 1
        self._begin_run()
        return record

    def _stated(self, line) -> dict:
        stated = {
            "label": "byteps" if self.byteps else "horovod",
            "strategy": "wfbp+ps" if self.byteps else None,
            "device": self.run.said["device"],
            "steps": len(self.run.workers[0].rates),
            **self.named,
            **self.said,
            **self.head,
        }
        if "strategy" in self.head:
            stated["label"] = ""
        if self.head and "device" not in self.head and self.run.said["unit"] == "sen":
            stated["device"] = None  # logs of Paceline in this format always say GPU
        if self.head and "sequence_length" not in self.head:
            stated.pop("sequence_length", None)  # the network's default, which the log prints
                                                 # although nobody set it
        for key in ("model", "batch_size"):
            if not stated.get(key):
                raise Invalid(
                    line,
                    f"a run without its {_WORDS.get(key, key)}; the log has no such line, and the file is not "
                    f"named as ddl-benchmarks names it ({EXAMPLE})",
                )
        return stated

    def _check_ranks(self, ranks: int, line) -> None:
        """Checks that the number of training ranks agrees with the file name and the head. Ranks
        that are only parameter servers print nothing and are not counted."""
        serves = "placement=apart" in (self.head.get("strategy") or "")
        of_head = self.head.get("ranks")
        for said, where in (
            (self.named.get("ranks"), "the name of the file says"),
            (self.said.get("ranks"), "the log's own number of devices is"),
            (None if serves else of_head, "the head of this log says"),
        ):
            if said and said != ranks:
                raise Invalid(line, f"{ranks} ranks trained, but {where} {said}")
        if serves and of_head and ranks >= of_head:
            raise Invalid(
                line, f"{ranks} ranks trained, but the head of this log says {of_head}, of which some only serve"
            )
