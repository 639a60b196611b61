# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON lines by which adapters and scripts report their steps (docs/adapters.md)."""

import json
import math

from .checks import shown
from .live_series import CONTRADICTION, Case, Failure, Series, Steps
from .transports import LauncherLine

_NEXT_EVENT = '}{"event"'
_LARGEST = 2**62
_ROUNDING = 0.01  # by which step_s may differ from step_ns, relative
_WIRE = ("measured_bytes_per_step", "planned_bytes_per_step", "bytes_by_pattern", "calls_per_step")
_IN_TURN = ("paired_step_ns", "compute_only_step_ns", "pair_of_step")
# Keys of `environment` and of `end` with a meaning.  All other keys are facts that the program
# reports about itself.
_READ_OF_ENVIRONMENT = ("event", "case", "rank", "world")
_READ_OF_END = ("event", "window_ns", "rank", "peak_memory_bytes", "wire", "in_turn")


class Events:
    """Reads the events in an output and adds their steps to `steps`."""

    def __init__(self, steps: Steps):
        self._steps = steps
        self.adapter = {}  # facts that the program reported about itself
        self.wire = None  # bytes of a step, as the program counted them
        self.introduced = self.ended = False  # whether the events `environment` and `end` have come

    def take(self, line: LauncherLine, now_ns: int) -> None:
        """Processes the events of a line; there may be none or several.  Other text is ignored."""
        text = line.text
        # If several ranks write at once, events may share a line.
        while text.lstrip().startswith("{") and '"event"' in text:
            at = text.find(_NEXT_EVENT)
            one, text = (text, "") if at < 0 else (text[: at + 1], text[at + 1 :])
            self._take_text(one, line.rank, now_ns)

    def _take_text(self, text: str, rank, now_ns: int) -> None:
        try:
            # Python's json writes NaN, which JSON does not have.
            event = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
            if rank is not None:
                event.setdefault("rank", rank)
            self._take_event(event, now_ns)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            reason = f"key {error} is missing" if isinstance(error, KeyError) else error
            raise Failure("bad-output", f"wrote '{shown(text)}', which is no event ({reason})") from None

    def _take_event(self, event: dict, now_ns: int) -> None:
        kind = event["event"]
        _check_loss(event)
        if kind == "environment":
            self.introduced = True
            check_stated_case(self._steps.case, event)
            self._keep(event, _READ_OF_ENVIRONMENT)
            if "case" in event:
                self.adapter["case"] = _text(event["case"])
        elif kind == "alive":
            self._steps.done = _integer(event, "step")
            self._series(event).progress.append((now_ns, self._steps.done))
        elif kind == "step":
            self._take_step(event, now_ns)
        elif kind == "end":
            self._take_end(event)
        elif kind == "error":
            status, message = event.get("status"), event["message"]
            if not isinstance(message, str) or not isinstance(status, str | None):
                raise TypeError("status and message are texts")
            raise Failure(status, message)

    def _series(self, event: dict) -> Series:
        return self._steps.of(_integer(event, "rank") if "rank" in event else None)

    def _take_step(self, event: dict, now_ns: int) -> None:
        series = self._series(event)
        event = {key: value for key, value in event.items() if value is not None}
        series.in_ns, series.indexed = "step_ns" in event, "index" in event
        ns = _integer(event, "step_ns") if series.in_ns else _number(event, "step_s") * 1e9
        if series.in_ns and "step_s" in event and not math.isclose(_number(event, "step_s") * 1e9, ns, rel_tol=_ROUNDING):
            raise Failure(CONTRADICTION, f"step_ns and step_s are two times of one step: '{shown(json.dumps(event))}'")
        self._steps.add(series, (ns, ns, ns), now_ns, json.dumps(event))
        if not series.indexed:
            series.warmup = self._steps.case.lines(self._steps.case.warmup)
        phases = event.get("phases_ns", {})
        for phase in phases.keys():
            series.phase_ns.setdefault(phase, []).append(_integer(phases, phase))

    def _take_end(self, event: dict) -> None:
        self.ended = True
        series = self._series(event)
        if event.get("peak_memory_bytes") is not None:
            series.told["peak_memory_bytes"] = _integer(event, "peak_memory_bytes")
        if "window_ns" in event:
            series.window_ns = _integer(event, "window_ns")
        if "wire" in event:
            self.wire = {key: event["wire"][key] for key in _WIRE}
        if "in_turn" in event:
            series.told.update({key: list(event["in_turn"][key]) for key in _IN_TURN})
            if len({len(series.told[key]) for key in _IN_TURN}) > 1:
                raise Failure("bad-output", "the lists of in_turn are not equally long")
        self._keep(event, _READ_OF_END)

    def _keep(self, event: dict, read: tuple) -> None:
        for key, value in event.items():
            if key not in read and value is not None:
                self.adapter[key] = _text(value)


def check_stated_case(case: Case, event: dict) -> None:
    """Compares the statements of a program about its job, by keys of `environment` or in its `case`, with the case.
    Keys that either side does not state are not compared."""
    _check_keys(case, event, (case.steps, case.warmup + case.steps))  # the program runs both
    if isinstance(event.get("case"), dict):
        _check_keys(case, event["case"], (case.steps,))


def _check_keys(case: Case, said: dict, steps: tuple) -> None:
    stated = case.configuration.get
    for keys, flag, known in (
        (("model",), "--model", () if stated("model") == "command" else (stated("model"),)),
        (("batch_size", "batch"), "--batch-size", (case.batch,)),
        (("dtype",), "--dtype", (stated("dtype"),)),
        (("optimizer",), "--optimizer", (stated("optimizer"),)),
        (("accumulate",), "--accumulate", (stated("accumulate"),)),
        (("warmup",), "--warmup", (case.warmup,)),
        (("steps",), "--steps", steps),
        (("ranks", "world", "world_size"), "--ranks", (case.ranks,)),
    ):
        for key in keys:
            value = said.get(key)
            if value is None or not known or None in known:
                continue
            if isinstance(value, bool) or value not in known:
                raise Failure(
                    CONTRADICTION,
                    f"it says that its {key} is {json.dumps(value)}, and the case has {' or '.join(map(json.dumps, known))}; "
                    f"start it with the value of the case, or give its own with {flag}",
                )


def _check_loss(event: dict) -> None:
    if "loss" not in event:
        return
    loss = event["loss"]
    if isinstance(loss, bool) or not isinstance(loss, int | float | None):
        raise Failure("bad-output", f"the loss is no number: '{shown(json.dumps(event))}'")
    if loss is None:
        raise Failure("not-finite", "the loss became a value that is not finite")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{shown(text)} is too large")
    return value


def _number(event: dict, key: str) -> float:
    value = event[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"'{key}' is no number")
    return value


def _integer(event: dict, key: str) -> int:
    value = _number(event, key)
    if not -_LARGEST < value < _LARGEST:
        raise TypeError(f"'{key}' is no integer of 64 bits")
    return int(value)


def _text(value) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
