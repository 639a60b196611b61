# SPDX-License-Identifier: Apache-2.0
"""Reads a table of published throughput: CSV with a header and one measurement per row, as
docs/from/dlperf.md describes."""

import csv
import os

from .checks import Invalid, check_product, count, exactly, figure, shown
from .record import rank, run_record

NAME = "rates"
_RATE = "throughput_samples_per_s"
_NEEDED = ("framework", "batch_size_per_device", "gpus", _RATE)
_COLUMNS = (*_NEEDED, "table_id", "model", "precision", "nodes", "framework_version", "docker", "model_source", "xla",
            "gradient_clipping", "dali", "batch_mode", "published_speedup", "flags", "gpus_per_node",
            "row_id", "source", "note")  # fmt: skip
_VARIANTS = ("gradient_clipping", "dali", "batch_mode")  # columns in which the rows of one
                                                         # framework may differ
_ADAPTER_FACTS = {"framework_version": "framework_version", "docker": "docker", "model_source": "model_source", "flags": "flags",
         "published_speedup": "published_speed_up", "dali": "dali", "batch_mode": "batch_mode",
         "gradient_clipping": "clipping"}  # fmt: skip
_LONGEST_NS = 1e18


def recognizes(source) -> bool:
    first = source.text.split("\n", 1)[0]
    return all(column in first for column in (_RATE, "framework", "batch_size_per_device"))


def read(source):
    cells = {}
    for row, place in _rows(source):
        record = _record(row, place, source)
        cell = repr((record["experiment"], record["configuration"]))
        if cell in cells:
            raise Invalid(place, f"the cell of line {cells[cell]} again")
        cells[cell] = place.rpartition(":")[2]
        yield record


def _rows(source):
    reader = csv.reader(source.text.replace("\0", "?").splitlines(), strict=True)
    columns = None
    try:
        for fields in reader:
            place = f"{source.path}:{reader.line_num}"
            if columns is None:
                columns = fields
                _check_columns(columns, place)
            elif any(field.strip() for field in fields):
                if len(fields) != len(columns):
                    raise Invalid(place, f"{len(fields)} fields, the header has {len(columns)}")
                yield dict(zip(columns, fields)), place
    except csv.Error as error:
        raise Invalid(f"{source.path}:{reader.line_num}", f"is not CSV: {error}") from None


def _check_columns(columns: list, place: str) -> None:
    for column in columns:
        if column not in _COLUMNS:
            raise Invalid(place, f"'{shown(column)}' is not a known column; known are {', '.join(_COLUMNS)}")
        if columns.count(column) > 1:
            raise Invalid(place, f"the column '{column}' is there twice")
    for column in _NEEDED:
        if column not in columns:
            raise Invalid(place, f"the column '{column}' is missing")


def _record(row: dict, place: str, source) -> dict:
    if not row["framework"]:
        raise Invalid(place, "no framework")
    batch = count(row["batch_size_per_device"], place, "batch_size_per_device", least=1, most=2**31 - 1)
    devices = count(row["gpus"], place, "gpus", least=1, most=2**31 - 1)
    rate = figure(row[_RATE], place, _RATE)
    if rate.value <= 0 or not 1 <= 1e9 * batch * devices / rate.value < _LONGEST_NS:
        raise Invalid(place, f"{_RATE}: '{rate.text}' is not the throughput of {devices} devices")
    said = {
        "label": row["framework"],
        "framework": row["framework"],
        "model": row.get("model") or None,
        "dtype": row.get("precision") or None,
        "batch_size": batch,
        "ranks": devices,
        "ranks_per_host": _per_host(row, devices, place),
        "steps": 1,
    }
    if row.get("xla") == "yes":
        said["compiled"] = True
    variants = {column: row[column] for column in _VARIANTS if row.get(column)}
    if variants:
        said["env"] = variants
    told = {name: row[column] for column, name in _ADAPTER_FACTS.items() if row.get(column)}
    table = row.get("table_id") or os.path.basename(source.path).rsplit(".", 1)[0]
    return run_record(
        said,
        [rank([round(1e9 * batch * devices / rate.value)])],
        experiment=table,
        adapter={"reported_samples_per_s": rate.text,
                 "formula": "as published; its window and formula are its own", **told},  # fmt: skip
    )


def _per_host(row: dict, devices: int, place: str):
    if not row.get("nodes"):
        return None
    nodes = count(row["nodes"], place, "nodes", least=1, most=2**20)
    if devices % nodes != 0:
        raise Invalid(place, f"{devices} devices on {nodes} nodes")
    if row.get("gpus_per_node"):
        each = figure(row["gpus_per_node"], place, "gpus_per_node")
        check_product(exactly(devices, place, "gpus"), [each, nodes], "the devices")
    return [devices // nodes] * nodes
