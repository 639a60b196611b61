# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of results in the JSON of nccl-tests, and the program's own verdicts on all of
them."""

from .checks import Invalid, check_count, count, figure, shown
from .collective import check_columns, check_rates, check_row, reduction_of
from .json_text import check_keys, member, number
from .nccl_times import iteration_ns
from .nccl_verdicts import bandwidth_warnings, bounds_warnings, average_mismatch_note

_KEYS = (
    "size count type redop root out_of_place in_place out_of_place_per_iter in_place_per_iter "
    "actual_iterations experiment_name"
).split()
_PRINTED = (("time", "time"), ("cputime", "cpu_time"), ("algbw", "alg_bw"), ("busbw", "bus_bw"))


def row_of(row, program: str, shared: dict, settings: dict, place) -> tuple:
    """Returns (size, out-of-place figures, in-place figures, the row's own keys), checked against
    each other."""
    size, elements = member(row, "size", int, place), member(row, "count", int, place)
    check_keys(row, _KEYS, "key of a row of results", place)
    keys = [key for key in row if key in ("out_of_place", "in_place")]
    if keys == ["in_place", "out_of_place"] and list(row) != sorted(row):  # as other tools sort keys
        raise Invalid(place, f"{size} bytes: in_place stands before out_of_place, and the program writes it behind")
    dtype, op = member(row, "type", str, place), member(row, "redop", str, place)
    root = member(row, "root", str, place).strip()
    root = -1 if root == "-1" else count(root, place, f"{size} bytes, root")
    check_columns(program, op, root, place)
    check_row(shared["operation"], shared["ranks"], size, elements, dtype, place)
    if "actual_iterations" in row:
        done = member(row, "actual_iterations", int, place)
        check_count(settings["iterations"], done, "iterations", place, f" as done at {size} bytes")
    out, into = (_place(row, name, size, shared, settings, place) for name in ("out_of_place", "in_place"))
    if not out and not into:
        raise Invalid(place, f"{size} bytes: neither out_of_place nor in_place is there")
    own = {"dtype": dtype, "op": reduction_of(program, op), "root": None if root == -1 else root}
    return size, out, into, {**own, **_clock(out or into, settings)}


def _clock(one: dict, settings: dict) -> dict:
    if "iteration_ns" not in one:
        return {"clock": "cpu" if one["cpu"] else None}
    skipped, whole = settings["per_iter_skip"] or 0, one["time"].text
    each = settings["aggregated_iterations"]
    of = "an iteration" if each == 1 else f"{each} operations at once, divided by {each}"
    return {
        "formula": f"times of {of} on the slowest process (-I), without the first {skipped} (-K); bandwidth: size / "
        f"median; the program's mean of all is {whole} us" + (" of the CPU" if one["cpu"] else "")
    }


def _place(row: dict, name: str, size: int, shared: dict, settings: dict, place):
    """Returns the figures of one place; None if the program did not run it."""
    report = f"{name}_per_iter"
    if row.get(name) is None:
        if report in row:
            raise Invalid(place, f"{size} bytes: {report} is there, and {name} is not")
        return None
    cells, where = member(row, name, dict, place), f"{size} bytes, {name}"
    cpu = "cpu_time" in cells
    key = "cpu_time" if cpu else "time"
    check_keys(cells, (key, "hip_event_time", "alg_bw", "bus_bw", "nwrong"), f"key of {name}", place)
    time, algorithm, bus = (
        number(member(cells, one, object, place), place, f"{where}, {one}", least=0)
        for one in (key, "alg_bw", "bus_bw")
    )
    if time.exact == 0:
        raise Invalid(place, f"{where}: a time of {time.text} us")
    check_rates(shared["operation"], shared["ranks"], size, time, algorithm, bus, cpu_time=cpu)
    found = {"time": time, "cpu": cpu, "bus": bus, "wrong": _wrong(cells, settings, where, place)}
    if report in row:
        if settings["per_iter_timing"] != "true":
            raise Invalid(place, f"per_iter_timing is {settings['per_iter_timing']}, and {report} is there")
        times = member(row, report, dict, place)
        found["iteration_ns"] = iteration_ns(times, settings, where, place)
    return found


def _wrong(cells: dict, settings: dict, where: str, place):
    value = member(cells, "nwrong", object, place)
    if value is None:
        return None
    if settings["validation"] == 0:
        raise Invalid(place, f"the log says validation: 0, and {where} has nwrong {shown(str(value))}")
    wrong = number(value, place, f"{where}, nwrong", least=0)
    if wrong.exact != wrong.times(1):
        raise Invalid(place, f"{where}, nwrong: {wrong.text} is not an integer")
    return wrong.times(1)


def verdicts(top: dict, names, rows: list, place, note) -> list:
    """Returns warnings that follow from the program's own verdicts. `names` are the keys under
    which its version may store the average bandwidth."""
    if "out_of_bounds" not in top:
        raise Invalid(place, "the key 'out_of_bounds' is missing: the run did not end")
    bounds = member(top, "out_of_bounds", dict, place)
    check_keys(bounds, ("count", "okay"), "key of out_of_bounds", place)
    okay = {"true": "OK", "false": "FAILED"}.get(member(bounds, "okay", str, place))
    places = [one for _, out, into, _ in rows for one in (out, into) if one]
    found = bounds_warnings(member(bounds, "count", int, place), okay, places, place)
    average = next((top[name] for name in names if name in top), None)
    if average is None:
        raise Invalid(place, f"the key '{names[-1]}' is missing: the run did not end")
    okay = member(average, "okay", str, place)
    if okay not in ("true", "false", "unchecked"):
        raise Invalid(place, f"average_bus_bandwidth, okay: '{shown(okay)}' is not known")
    value = next((average[key] for key in ("bandwidth", "bandwidith") if key in average), None)
    if sentence := average_mismatch_note(getattr(value, "text", str(value)), places):
        note(place, sentence)
    return found + bandwidth_warnings("FAILED" if okay == "false" else None, "the program says")


def prints_as(top: dict, table) -> bool:
    """Whether the rows of a text table are the rows of this JSON, printed with fewer digits."""
    rows = top["results"]
    return len(rows) == len(table.rows) and all(
        _prints_as(row, fields, table, line) for row, (fields, line) in zip(rows, table.rows)
    )


def _prints_as(row: dict, fields: list, table, line) -> bool:
    head, *places = table.columns.cells(fields)
    if [head[key] for key in ("size", "count", "type")] != [str(row[key]) for key in ("size", "count", "type")]:
        return False
    if any(head.get(key, row[key].strip()) != row[key].strip() for key in ("redop", "root")):
        return False
    return all(_place_prints_as(row.get(name), cells, line) for name, cells in zip(("out_of_place", "in_place"), places))


def _place_prints_as(figures: dict, cells: dict, line) -> bool:
    if figures is None or cells is None:
        return figures is cells
    wrong = figures["nwrong"]
    pairs = [(name, figures[key]) for name, key in _PRINTED if name in cells and key in figures]
    pairs += [("#wrong", wrong)] if wrong is not None and cells.get("#wrong", "N/A") != "N/A" else []
    for name, value in pairs:
        printed = figure(cells[name], line, name)
        exact = number(value, line, name)
        if not printed.low <= exact.high or not exact.low <= printed.high:
            return False
    return (wrong is None) == (cells.get("#wrong") == "N/A")
