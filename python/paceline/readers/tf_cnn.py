# SPDX-License-Identifier: Apache-2.0
"""The log of tf_cnn_benchmarks, alone or under Horovod:

    Model:       resnet50
    Batch size:  512 global
                 128 per device
    Num batches: 100
    Devices:     ['horovod/gpu:0', 'horovod/gpu:1', 'horovod/gpu:2', 'horovod/gpu:3']
    Step    Img/sec total_loss
    1       images/sec: 338.8 +/- 0.0 (jitter = 0.0)        7.569
    ...
    100     images/sec: 338.3 +/- 0.1 (jitter = 0.5)        7.597
    total images/sec: 1352.20

A line states the mean rate over all steps up to it, of the devices of one process. So each rank has
one value, the mean step time at the last line. Under Horovod either each process prints, or one of
them.
"""

import re

from .checks import Invalid, check_count, check_product, count, exactly, figure, one_of, shown
from .record import rank, run_record
from .step_log import NOT_FINITE, wrong_loss

NAME = "tf-cnn"
_HEAD = re.compile(r"(Model|Mode|Batch size|Num batches|Devices|Optimizer|Variables): +(\S.*?)\s*")
_DEVICE_BATCH = re.compile(r"\s+(\d+)(?:\.0)? per device\s*", re.A)
_STEP = re.compile(r"(\d+)\s+images/sec: (\S+) \+/- (\S+) \(jitter = (\S+)\)\s*(\S*).*", re.A)
_TOTAL = re.compile(r"total images/sec: (\S+)\s*")
_DEVICE = re.compile(r"'([^']*?)/?([a-z]+):\d+'", re.A)
_MODES = ("training", "BenchmarkMode.TRAIN", "BenchmarkMode.TRAIN_AND_EVAL")
_KINDS = {"gpu": "cuda", "cpu": "cpu"}
# The total also counts the time between steps, by a separate clock, so it is not the exact sum of
# the rates.
_LEAST_TOTAL, _MOST_TOTAL = 0.8, 1.1


def recognizes(source) -> bool:
    return "images/sec: " in source.text and "(jitter = " in source.text


def read(source):
    log = _Log()
    for line in source.lines:
        log.take(line)
    if log.totals:
        yield log.record(source)
    elif log.rates:
        source.leave_out("the log ends before its line 'total images/sec'")


class _Log:
    def __init__(self):
        self.head = {}  # for each key of the head: (text, line)
        self.rates = {}  # for each process that prints: its rates by step number
        self.last = {}  # for each process that prints: the number of its last step
        self.totals = []
        self.warnings = []

    def take(self, line) -> None:
        head, batch, step, total = (
            pattern.fullmatch(line.text) for pattern in (_HEAD, _DEVICE_BATCH, _STEP, _TOTAL)
        )
        if head:
            self._store_statement(head[1], head[2], line)
        elif batch:
            self._store_statement("per device", batch[1], line)
        elif step:
            self._step(step, line)
        elif total:
            self.totals.append(figure(total[1], line, "total images/sec", least=0))
        elif "images/sec: " in line.text:
            raise Invalid(line, f"'{shown(line.text)}' is a line of results that is cut off or mixed with another")

    def _store_statement(self, key: str, text: str, line) -> None:
        before, where = self.head.setdefault(key, (text, line))
        if before != text:
            raise Invalid(line, f"{key} is {shown(text)} here, and {shown(before)} in line {where.number}")

    def _step(self, found, line) -> None:
        rate, *_ = [figure(found[k], line, "images/sec", least=0) for k in (2, 3, 4)]
        if rate.value <= 0:
            raise Invalid(line, f"images/sec: {rate.text} is not a rate")
        number = count(found[1], line, "Step", least=1, most=10**9)
        before = self.last.get(line.rank, 0)  # of this process, where a tag says which it is
        if number < before or (line.rank is not None and number == before):
            raise Invalid(line, f"step {number} follows step {before}: two runs are read from two files")
        self.last[line.rank] = number
        self.rates.setdefault(number, []).append(rate)
        if found[5].lower() in NOT_FINITE:
            self.warnings = [wrong_loss(found[5], line)]

    def _said(self, key: str, source) -> tuple:
        if key not in self.head:
            raise Invalid(source, f"a run without its line '{key}'")
        return self.head[key]

    def record(self, source) -> dict:
        mode = self.head.get("Mode")
        if mode:
            one_of(mode[0], _MODES, "mode", mode[1])
        devices, kind, processes = self._devices(source)
        batch = self._batch(devices, source)
        rates = self._last_rates(processes, source)
        local = batch * devices // processes
        step_ns = [round(1e9 * local / rate.value) for rate in rates]
        self._check_totals(rates, processes)
        model = self._said("Model", source)[0]
        return run_record(
            {
                "label": NAME,
                "framework": "tensorflow",
                "model": model,
                "batch_size": batch,
                "ranks": devices,
                "device": kind,
                "optimizer": self.head.get("Optimizer", (None,))[0],
                "steps": 1,
            },
            [rank([ns], rank=k) for k, ns in enumerate(step_ns)],
            experiment=NAME,
            adapter={
                "formula": f"the one value is the mean of {max(self.rates)} steps: images of a process / its images/sec",
                "total_images_per_s": self.totals[0].text,
            },
            warnings=self.warnings,
        )

    def _devices(self, source) -> tuple:
        """Returns the number of devices, their kind, and the number of processes."""
        text, line = self._said("Devices", source)
        found = _DEVICE.findall(text)
        if not found or 2 * len(found) != text.count("'") or len(set(found)) > 1:
            raise Invalid(line, f"Devices: '{shown(text)}' is not a list of devices of one kind")
        owner, kind = found[0]
        if owner not in ("", "horovod"):
            raise Invalid(line, f"Devices: '{shown(owner)}' is not a known owner of devices; known are a process alone and horovod")
        return len(found), one_of(kind, _KINDS, "kind of device", line), len(found) if owner else 1

    def _batch(self, devices: int, source) -> int:
        """Returns the batch size of one device."""
        text, line = self._said("Batch size", source)
        whole = count(text.removesuffix(" global"), line, "Batch size", least=1, most=2**31 - 1)
        each, where = self._said("per device", source)
        batch = count(each, where, "per device", least=1, most=2**31 - 1)
        check_product(
            exactly(whole, line, "the global batch"),
            [exactly(batch, where, "images per device"), exactly(devices, line, "devices")],
            "the batch size",
        )
        return batch

    def _last_rates(self, processes: int, source) -> list:
        """Returns the rates in the last line of each process that prints."""
        numbers = sorted(self.rates)
        printing = len(self.rates[numbers[0]]) if numbers else 0
        if printing not in (1, processes):
            raise Invalid(source, f"{printing} of {processes} processes print their rates, not one or all")
        usual = numbers[1] if len(numbers) > 1 else 1
        asked = self.head.get("Num batches")
        for k, number in enumerate(numbers):
            rates = self.rates[number]
            check_count(printing, len(rates), f"processes that print step {numbers[0]}", rates[-1].place)
            if number != (k * usual if k else 1):
                raise Invalid(rates[0].place, f"step {number} after others that are {usual} apart: a line is missing")
            if k:
                self._check_time(numbers[k - 1], number)
        if asked and not 0 <= count(asked[0], asked[1], "Num batches") - numbers[-1] < usual:
            raise Invalid(asked[1], f"Num batches: {asked[0]}, and the last line is of step {numbers[-1]}")
        check_count(printing, len(self.totals), "processes that print a total", source)
        return self.rates[numbers[-1]]

    def _check_time(self, before: int, number: int) -> None:
        """Checks that the time of all steps grows from line to line."""
        earlier = before * sum(1 / rate.high for rate in self.rates[before])
        later = number * sum(1 / max(rate.low, 1e-9) for rate in self.rates[number])
        if later <= earlier:
            rate = self.rates[number][0]
            raise Invalid(
                rate.place,
                f"images/sec: {rate.text} up to step {number} contradicts {self.rates[before][0].text} up to step "
                f"{before}: the steps between them would have taken no time",
            )

    def _check_totals(self, rates: list, processes: int) -> None:
        of_all = processes * sum(rate.value for rate in rates) / len(rates)
        for total in self.totals:
            if not _LEAST_TOTAL * of_all <= total.value <= _MOST_TOTAL * of_all:
                raise Invalid(
                    total.place,
                    f"total images/sec: {total.text}, and the steps of {processes} processes had {of_all:.6g}",
                )
