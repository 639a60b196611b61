# SPDX-License-Identifier: Apache-2.0
"""Functions that readers must call: strict parsing of numbers, and comparisons of values that a log
states twice.
A printed number is a Figure: it stands for the interval of all values that are printed alike, as
9.38 for [9.375, 9.385]. Two statements contradict each other if no values in their intervals agree.
The only other tolerance is for rounding errors of this file's own arithmetic.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(
    r"([+-]?)(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?", re.A
)
_ARITHMETIC_TOLERANCE = 1e-9  # relative tolerance for rounding errors of products of doubles
_MAX_NUMBER_CHARS = 40  # largest number of characters of a number


class Invalid(Exception):
    """Raised if a statement of a log is unknown or contradicts another one. The text begins with
    path:line."""

    def __init__(self, place, sentence: str):
        super().__init__(f"{getattr(place, 'place', place)}: {sentence}")


class Unknown(Invalid):
    """Raised if no reader recognizes a file."""


def shown(text: str, longest: int = 100) -> str:
    """Returns text as a message may show it: on one line, without control characters, and shortened
    to `longest` characters."""
    plain = "".join(c if c.isprintable() else "?" for c in text.strip())
    return plain if len(plain) <= longest else plain[: longest - 3] + "..."


@dataclass(frozen=True)
class Figure:
    """A printed number: its value, and half a unit of its last digit."""

    text: str
    exact: Decimal
    half: float
    name: str = "a number"
    place: object = None  # where it was printed: a Line, or "path:line"

    @property
    def value(self) -> float:
        return float(self.exact)

    @property
    def low(self) -> float:
        return self.value - self.half

    @property
    def high(self) -> float:
        return self.value + self.half

    def times(self, unit: int) -> int:
        """Returns the value in a unit that is `unit` times smaller, rounded to an integer."""
        return int((self.exact * unit).to_integral_value())


def figure(text: str, place, name: str, *, least: float = None) -> Figure:
    """Parses the whole of `text` as a number: 12, 12,345, 0.5, 1.2e3.  Raises Invalid for any other text."""
    match = _NUMBER.fullmatch(text) if len(text) <= _MAX_NUMBER_CHARS else None
    if not match or not (match[2] or match[3]):
        raise Invalid(place, f"{name}: '{shown(text)}' is not a number")
    exact = Decimal(text.replace(",", ""))
    digits = len(match[3] or "")
    half = 0.5 * 10.0 ** (int(match[4] or 0) - digits)
    if least is not None and exact < least:
        raise Invalid(place, f"{name}: {text} is less than {least:g}")
    return Figure(text, exact, half, name, place)


def exactly(value, place=None, name: str = "a number") -> Figure:
    """Returns a figure without rounding error: an integer, or a double of JSON."""
    return Figure(f"{value}", Decimal(str(value)), 0.0, name, place)


def count(text: str, place, name: str, *, least: int = 0, most: int = 2**62) -> int:
    """Parses the whole of `text` as an integer: 12 or 12,345."""
    match = _NUMBER.fullmatch(text) if len(text) <= _MAX_NUMBER_CHARS else None
    if not match or not match[2] or match[3] is not None or match[4]:
        raise Invalid(place, f"{name}: '{shown(text)}' is not an integer")
    value = int(text.replace(",", ""))
    if not least <= value <= most:
        raise Invalid(place, f"{name}: {text} is not between {least} and {most}")
    return value


def _interval(one) -> tuple:
    return (
        (max(0.0, one.low), max(0.0, one.high))
        if isinstance(one, Figure)
        else (one, one)
    )


def check_product(product: Figure, factors, sentence: str, *, place=None) -> None:
    """Checks that `product` is the product of `factors`, figures or exact numbers, none of them negative.

    Use it for busbw = algbw x factor, size = algbw x time, samples = throughput x clock, global batch = batch x ranks.
    `sentence` names the quantity that the log states twice; the message adds both figures.  The caller is responsible
    for the units: pass 1e3 and the like as factors.
    """
    low = high = middle = 1.0
    for one in factors:
        ends = _interval(one)
        low, high = low * ends[0], high * ends[1]
        middle *= one.value if isinstance(one, Figure) else one
    said = _interval(product)
    room = _ARITHMETIC_TOLERANCE * max(high, said[1])
    if said[0] > high + room or said[1] < low - room:
        raise Invalid(
            place or product.place,
            f"{sentence}: the log says {product.name} {product.text}, and "
            f"{' x '.join(_named(one) for one in factors)} is {middle:.6g}",
        )


def _named(one) -> str:
    return f"{one.name} {one.text}" if isinstance(one, Figure) else f"{one:.6g}"


def check_count(said: int, listed: int, what: str, place, where: str = "") -> None:
    """Checks that a stated number of ranks, steps or rows equals the number of those that the log lists."""
    if said != listed:
        raise Invalid(
            place, f"the log says {said} {what}, and it lists {listed}{where}"
        )


def one_of(name: str, known, what: str, place):
    """Returns known[name].  Raises Invalid for an unknown operation, column, unit or program."""
    if name not in known:
        names = ", ".join(str(one) for one in known)
        raise Invalid(
            place, f"'{shown(str(name))}' is not a known {what}; known are {names}"
        )
    return known[name] if isinstance(known, dict) else name


def check_mean(means: list, values: list, sentence: str, place, *, times: float = 1) -> None:
    """Checks that the mean of the figures `means` is `times` the mean of the figures `values`, which follow them in the
    log: statements of a log about its own rates."""
    said = [sum(ends) / len(means) for ends in zip(*map(_interval, means))]
    found = [times * sum(ends) / len(values) for ends in zip(*map(_interval, values))]
    room = _ARITHMETIC_TOLERANCE * max(found[1], said[1])
    if said[0] > found[1] + room or said[1] < found[0] - room:
        raise Invalid(
            place,
            f"{sentence}: the log says {sum(one.value for one in means) / len(means):.6g}, and of the rates that "
            f"it lists it is {sum(found) / 2:.6g}",
        )


def check_spread(said: Figure, values: list, factor: float, sentence: str, place) -> None:
    """Checks that `said` is `factor` times the standard deviation of all figures `values`.  Its tolerance is that of
    the values, because a deviation is a distance from their mean."""
    middle = sum(one.value for one in values) / len(values)
    spread = factor * (sum((one.value - middle) ** 2 for one in values) / len(values)) ** 0.5
    room = factor * max(one.half for one in values) + said.half + _ARITHMETIC_TOLERANCE * spread
    if abs(said.value - spread) > room:
        raise Invalid(
            place, f"{sentence}: the log says {said.text}, and of the rates that it lists it is {spread:.6g}"
        )
