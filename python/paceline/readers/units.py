# SPDX-License-Identifier: Apache-2.0
"""Units of steps as logs print them: ms, it/s, s/it, samples/s, tokens per second, ..."""

import re
from dataclasses import dataclass

from .checks import Figure, Invalid, shown

SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
}
COUNTED = {
    **dict.fromkeys(("it", "its", "iter", "iters", "step", "steps", "batch"), "steps"),
    **dict.fromkeys(("iteration", "iterations", "batches"), "steps"),
    **dict.fromkeys(("sample", "samples", "example", "examples", "img"), "samples"),
    **dict.fromkeys(("image", "images", "imgs", "sentence", "sentences"), "samples"),
    **dict.fromkeys(("sequence", "sequences"), "samples"),
    **dict.fromkeys(("token", "tokens", "tok", "toks"), "tokens"),
}


@dataclass(frozen=True)
class Unit:
    """A rate, in `counted` (steps, samples or tokens) per time; or, if `inverted`, a time per step,
    sample or token. `seconds` is the unit of time."""

    counted: str
    seconds: float
    inverted: bool

    def step_seconds(self, value: Figure, per_step: float = 1) -> float:
        """Returns the time of a step; `per_step` is the number of samples or tokens in a step."""
        if value.value <= 0:
            raise Invalid(value.place, f"{value.name}: {value.text} is not positive")
        each = (
            value.value * self.seconds if self.inverted else self.seconds / value.value
        )
        return each * per_step


def unit_of(text: str, place) -> Unit:
    """Parses the whole of `text` as a unit; a unit of time alone means the time of a step."""
    word = text.strip().lower()
    if word in SECONDS:
        return Unit("steps", SECONDS[word], True)
    match = re.fullmatch(r"([a-z]+)\s*(?:/|per)\s*([a-z]+)", word)
    first, second = match.groups() if match else ("", "")
    if first in COUNTED and second in SECONDS:
        return Unit(COUNTED[first], SECONDS[second], False)
    if first in SECONDS and second in COUNTED:
        return Unit(COUNTED[second], SECONDS[first], True)
    raise Invalid(
        place, f"'{shown(text)}' is not a known unit of steps, samples or tokens"
    )
