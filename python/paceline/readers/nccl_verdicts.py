# SPDX-License-Identifier: Apache-2.0
"""The verdicts of nccl-tests on the results of a run: right or wrong values, enough bandwidth."""

from .checks import Invalid, figure
from .collective_rows import is_wrong
from .record import WRONG_VALUES, warning


def bounds_warnings(values: int, verdict, places: list, where) -> list:
    """Returns warnings about wrong values, if `values` results are out of bounds by the log's
    footer, whose `verdict` is OK or FAILED. `places` have the numbers of wrong elements of each
    result, which may be unknown."""
    if verdict != ("FAILED" if values else "OK"):
        raise Invalid(where, f"the log says {values} values out of bounds, and {verdict or 'no verdict'}")
    wrong = sum(map(is_wrong, places))
    if wrong and not values:
        raise Invalid(
            where,
            f"the log says 0 values out of bounds, and {wrong} of its results have wrong elements",
        )
    if not values or wrong:
        return []
    return [
        warning(
            WRONG_VALUES,
            f"the program found {values} results out of bounds (FAILED), and marks no row",
            "some of its rows, nobody knows which, are of wrong results",
            "do not trust this machine's results before the cause is found",
        )
    ]


def bandwidth_warnings(verdict, where: str) -> list:
    if verdict != "FAILED":
        return []
    return [
        warning(
            "below-expected-bandwidth",
            f"{where}: the average bus bandwidth FAILED",
            "it is below 90 % of what NCCL_TESTS_MIN_BW asked for",
            "look for a slow link or device before these figures are used",
        )
    ]


def average_mismatch_note(text: str, places: list):
    """Returns a sentence if the program's average of the bus bandwidths in `text` is not that of `places`; None if it
    is, or if the program prints no average."""
    try:
        said = figure(text, None, "average", least=0)
    except Invalid:
        return None
    low, high = (sum(getattr(one["bus"], end) for one in places) / len(places) for end in ("low", "high"))
    if low - said.half <= said.value <= high + said.half:
        return None
    return (
        f"the program's average bus bandwidth is {said.text}, and that of these {len(places)} results is "
        f"{(low + high) / 2:.6g}: rows are missing, or some are of another run"
    )
