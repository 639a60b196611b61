# SPDX-License-Identifier: Apache-2.0
"""Makes records of the rows that nccl-tests and rccl-tests print, in any output format.

A row is (size, out-of-place figures, in-place figures, the record's other keys). The figures of
each of the two are {"time": Figure in us, "wrong": number of wrong elements or None, "marked":
whether the log marks it as wrong}. If the log has single iterations, their times are under
"iteration_ns". Figures that the program did not measure are None.
"""

from .checks import Invalid
from .collective import bus_factor
from .record import WRONG_VALUES, comm_record, warning

FORMULA = "mean time of the program's iterations; bandwidth: size / time"
_MEANS_FORMULA = "means of the program's iterations, one of each row of this size; bandwidth: size / median"
_SINGLE_FORMULA = "times of iterations on the slowest process (-I), of all rows of this size; bandwidth: size / median"


def check_repeats(rows: list) -> None:
    """Raises Invalid if a row occurs twice. `rows` are (head, whole row, place); the head is the
    measured configuration (size, type, ...). Runs of several cycles (-N) repeat all heads, so their
    repetitions are allowed. Rows of 0 bytes may be equal because their times are so short."""
    heads = [head for head, _, _ in rows]
    period = next(
        (n for n in range(2, len(heads) // 2 + 1) if heads[n:] == heads[:-n]),
        len(heads),
    )
    seen = {}
    for number, (head, row, place) in enumerate(rows):
        first, before = seen.setdefault(row, (number, place))
        if first != number and (number - first) % period and head[0] not in (0, "0"):
            raise Invalid(place, f"this row is that of line {before.number} again")


def is_repetition(seen: dict, same: str, place, what: str, note) -> bool:
    """Returns whether `same` is a key of `seen`, which has the place of each text. If it is, calls
    `note` with a sentence about the repetition; otherwise adds it."""
    if same not in seen:
        seen[same] = place
        return False
    note(place, f"this {what} is that of line {seen[same].number} again, counted once")
    return True


def merge_repeated_rows(rows: list):
    """Merges rows that the same processes measured several times (-N, or sizes that are rounded to one) into one row
    with all times, because they are not separate runs."""
    found = {}
    for size, out, into, row in rows:
        head = (size, out is None, into is None, *(row.get(key) for key in ("operation", "dtype", "op", "root")))
        found.setdefault(head, []).append((out, into, row))
    for (size, *_), several in found.items():
        outs, intos, (row, *others) = zip(*several)
        again = {"formula": _SINGLE_FORMULA if "iteration_ns" in (outs[0] or intos[0]) else _MEANS_FORMULA} if others else {}
        yield size, _merged_figures(outs), _merged_figures(intos), {**row, **again}


def _merged_figures(places: list):
    """Merges the figures of several rows, either their out-of-place or their in-place figures."""
    if len(places) == 1 or places[0] is None:
        return places[0]
    wrong = [one["wrong"] for one in places]
    return {
        "iteration_ns": [time for one in places for time in _times(one)],
        "wrong": None if None in wrong else sum(wrong),
        "marked": any(map(is_wrong, places)),
    }


def is_wrong(one: dict) -> bool:
    """Whether out-of-place or in-place figures report wrong values. Old versions mark wrong values
    and do not count them."""
    return bool(one["wrong"] or one.get("marked"))


def _times(one: dict) -> list:
    return one.get("iteration_ns") or [max(1, one["time"].times(1000))]


def row_record(
    shared: dict, warnings: list, size: int, out: dict, into: dict = None, **row
) -> dict:
    """Makes the record of one row; `shared` are keys that all rows have.  A row without `out` becomes an in-place
    record."""
    place = "out-of-place" if out else "in-place"
    out, into = (out, into) if out else (into, None)
    found = list(warnings)
    for where, one in ((place.replace("-", " "), out), ("in place", into)):
        if one and is_wrong(one):
            found.append(
                warning(
                    WRONG_VALUES,
                    f"{size} bytes, {row.get('dtype')}, {row.get('op') or 'no reduction'}: "
                    f"{one['wrong'] or 'some'} wrong elements {where}",
                    "the program compared the result with the right one",
                    "do not trust this machine's results before the cause is found",
                )
            )
    return comm_record(
        bytes=size,
        iteration_ns=_times(out),
        place=place,
        in_place=into and {"iteration_ns": _times(into), "wrong_elements": into["wrong"]},
        wrong_elements=out["wrong"],
        bus_factor=bus_factor(shared["operation"], shared["ranks"]),
        warnings=found,
        device="cuda",
        **{"formula": FORMULA, **shared, **row},
    )
