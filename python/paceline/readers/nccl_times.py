# SPDX-License-Identifier: Apache-2.0
"""The times of single iterations that nccl-tests -I 1 writes into its JSON (since 2.19.3), checked
against the statistics that stand beside them."""

from .checks import Invalid, check_count
from .json_text import check_keys, member, number

_STATISTICS = ("min_us", "max_us", "avg_us", "p50_us", "p95_us", "p99_us", "stdev_us", "cv_pct")
_KEYS = ("skipped_iterations", *_STATISTICS, "times_us", "per_process_max_times_us")


def iteration_ns(report: dict, settings: dict, where: str, place) -> list:
    """Returns the nanoseconds of each iteration, without the first ones, which -K skips. `where`
    names the row in errors."""
    check_keys(report, _KEYS, "key of times of iterations", place)
    skipped = 0
    if "skipped_iterations" in report or settings["per_iter_skip"]:
        skipped = member(report, "skipped_iterations", int, place)
        check_count(settings["per_iter_skip"] or 0, skipped, "skipped iterations", place, f" in {where}")
    times = _figures(member(report, "times_us", list, place), where, place)
    check_count(settings["iterations"], len(times), "iterations", place, f" in {where}")
    if not 0 <= skipped < len(times):
        raise Invalid(place, f"{where}: {skipped} of {len(times)} iterations are skipped")
    _check_processes(report, times, settings["processes"], where, place)
    _check_statistics(report, times[skipped:], where, place)
    return [max(1, one.times(1000)) for one in times[skipped:]]


def _figures(values: list, where: str, place) -> list:
    return [number(one, place, f"{where}, times_us", least=0) for one in values]


def _check_processes(report: dict, times: list, processes: int, where: str, place) -> None:
    """Checks that an iteration's time is the longest among those of all processes, each of which
    has a row."""
    if "per_process_max_times_us" not in report:
        return
    rows = member(report, "per_process_max_times_us", list, place)
    check_count(processes, len(rows), "processes", place, f" with times in {where}")
    for row in rows:
        if not isinstance(row, list) or len(row) != len(times):
            raise Invalid(place, f"{where}: per_process_max_times_us has no {len(times)} times of each process")
    columns = zip(*(_figures(row, where, place) for row in rows))
    for k, (time, column) in enumerate(zip(times, columns)):
        longest = max(column, key=lambda one: one.exact)
        if time.exact != longest.exact:
            raise Invalid(
                place,
                f"{where}: iteration {k} takes {time.text} us in times_us, and at most {longest.text} us "
                "in the times of processes",
            )


def _check_statistics(report: dict, times: list, where: str, place) -> None:
    values = sorted(one.value for one in times)
    n = len(values)
    mean = sum(values) / n
    deviation = (sum((one - mean) ** 2 for one in values) / n) ** 0.5
    ratio = 100 * deviation / mean if mean else 0.0
    found = {"min_us": (values[0],) * 2, "max_us": (values[-1],) * 2, "avg_us": (mean,) * 2}
    found |= {"stdev_us": (deviation,) * 2, "cv_pct": (ratio,) * 2}
    # Definitions of a percentile differ by one position in the sorted values.
    for name, percent in (("p50_us", 50), ("p95_us", 95), ("p99_us", 99)):
        at = min(n - 1, (percent * n + 99) // 100 - 1)
        found[name] = (values[max(0, at - 1)], values[min(n - 1, at + 1)])
    # The largest change of a statistic by one digit of the printed times.
    half = max(one.half for one in times)
    moves = {"cv_pct": 100 * 2 * half / mean if mean else 0.0, "stdev_us": 2 * half}
    for name in _STATISTICS:
        said = number(report.get(name), place, f"{where}, {name}", least=0)
        low, high = found[name]
        room = said.half + moves.get(name, half) + 1e-9 * high
        if not low - room <= said.value <= high + room:
            raise Invalid(place, f"{where}: the log says {name} {said.text}, and that of its times is {high:.6f}")
