#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits constants of clusters/*.toml and data/engine_costs.toml to cells.

Prints each constant with its unit, and the errors on the cells of the fit;
writes nothing to the data files.  `--leave-out` repeats the fit without one
series or model at a time and prints the errors on what was left out.
"""

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy
from scipy.optimize import least_squares

import paceline
import score
from predict import predicted_throughput
from tables import ROOT, read_cells

SCALE = 0.02  # relative errors beyond it count linearly: pseudo-Huber
REPEATS = 3  # ddl_benchmarks has each experiment on one host three times


@dataclass(frozen=True)
class Constant:
    """A value of one or more data files.

    `before` is what was known before any cell, a data sheet or a round number:
    fits begin there, never at the values of another fit.
    """

    files: tuple
    part: str  # name of the link, device, engine or optimizer that has the key
    key: str
    unit: str  # empty: the key says it, or there is none
    before: float
    most: float = numpy.inf


@dataclass(frozen=True)
class Family:
    """Constants that are fitted together, and the cells that tell of them."""

    table: str  # how the tables' names begin
    methods: tuple  # of ddl_benchmarks; empty: all rows of the table
    constants: tuple


COSTS = ("data/engine_costs.toml",)
RTX = (
    "clusters/8x4-2080ti-10gbe.toml",
    "clusters/8x4-2080ti-100gbib.toml",
    "clusters/8x4-2080ti-100gbe.toml",
)
DLPERF = ("clusters/4x8-v100-100gbib.toml",)
DGX = ("clusters/8x8-v100-4x100gbib.toml",)
CLOUD = ("clusters/16x8-v100-25gb.toml",)
V100 = "V100-SXM2-16GB"

FAMILIES = {
    "ring": Family(
        "ddl_benchmarks",
        ("BSP-A2A", "WFBP-A2A", "MG-WFBP"),
        (
            Constant(RTX, "pcie", "rate", "GB/s", 16),
            Constant(RTX, "pcie", "under_compute", "", 0.7, 1),
            Constant(RTX[:1], "10gbe", "rate", "GB/s", 1.25),
            Constant(RTX[2:], "100gbe", "rate", "GB/s", 4),
            Constant(RTX[2:], "100gbe", "decline", "", 0.1, 1),
            Constant(COSTS, "nccl-2.4", "collective_per_rank_us", "", 10),
            Constant(COSTS, "nccl-2.4", "collective_under_compute_us", "", 100),
            Constant(COSTS, "adamw", "launch_per_tensor_us", "", 100),
        ),
    ),
    "bytescheduler": Family(
        "ddl_benchmarks",
        ("ByteScheduler-A2A",),
        (
            Constant(COSTS, "bytescheduler", "module_call_us", "", 1000),
            Constant(COSTS, "bytescheduler", "module_call_spread", "", 0.1),
            Constant(COSTS, "bytescheduler", "tcp_s_per_byte", "", 1e-10),
        ),
    ),
    "byteps": Family(
        "ddl_benchmarks",
        ("BSP-PS", "WFBP-PS", "ByteScheduler-PS"),
        (
            Constant(COSTS, "byteps", "device_share", "", 1, 1),
            Constant(COSTS, "byteps", "under_compute", "", 0.7, 1),
        ),
    ),
    "dlperf": Family(
        "dlperf",
        (),
        (
            Constant(DLPERF, "100gbib", "rate", "GB/s", 12.5, 12.5),
            Constant(DLPERF, "100gbib", "latency", "us", 10),
        ),
    ),
    "ddp": Family(
        "pytorch_ddp",
        (),
        (Constant(DGX, V100, "under_transfer", "", 0.9, 1),),
    ),
    "bluefog": Family(
        "bluefog",
        (),
        (
            Constant(CLOUD, "25gbe", "rate", "GB/s", 3.125, 3.125),
            Constant(CLOUD, "25gbe", "decline", "", 0.1, 1),
            Constant(CLOUD, V100, "under_transfer", "", 0.9, 1),
            Constant(COSTS, "bluefog", "collective_per_rank_us", "", 100),
        ),
    ),
}


def with_value(text, constant, value):
    """The text of a data file with another value of the constant."""
    word = f'"{value:.6g}{constant.unit}"' if constant.unit else f"{value:.6g}"
    lines, inside, found = [], False, False
    for line in text.splitlines():
        if line.startswith("["):
            inside = False
        if line == f'name = "{constant.part}"':
            inside = True
        if inside and line.startswith(constant.key + " = "):
            line, found = f"{constant.key} = {word}", True
        lines.append(line)
    if not found:
        raise KeyError(f"no {constant.part}.{constant.key} in the file")
    return "\n".join(lines) + "\n"


class Fit:
    """Constants, and the cells that tell of them."""

    def __init__(self, constants, program):
        self.constants = constants
        self.program = program

    def predicted(self, cells, values):
        """Samples/s of the cells with these values of the constants."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copytree(ROOT / "clusters", folder / "clusters")
            shutil.copytree(ROOT / "data", folder / "data")
            for constant, value in zip(self.constants, values):
                for file in constant.files:
                    path = folder / file
                    text = path.read_text(encoding="utf-8")
                    path.write_text(
                        with_value(text, constant, value), encoding="utf-8"
                    )
            return predicted_throughput(
                cells,
                self.program,
                folder / "clusters",
                folder / COSTS[0],
            )

    def fitted(self, cells):
        """The values that explain the cells best; all are above zero."""
        published = numpy.array([cell.published for cell in cells])
        weights = numpy.array([weight_of(cell) for cell in cells])

        def residuals(logarithms):
            rates = self.predicted(cells, numpy.exp(logarithms))
            rates = numpy.array([rates[cell.row_id] for cell in cells])
            return weights * numpy.log(rates / published)

        found = least_squares(
            residuals,
            numpy.log([constant.before for constant in self.constants]),
            bounds=(
                -numpy.inf,
                numpy.log([1.0001 * c.most for c in self.constants]),
            ),
            loss="soft_l1",
            f_scale=SCALE,
            diff_step=0.02,
            xtol=1e-3,
            ftol=1e-3,
        )
        values = numpy.exp(found.x)
        return numpy.minimum(values, [c.most for c in self.constants])


def weight_of(cell):
    repeated = cell.table == "ddl_benchmarks" and cell.hosts == 1
    return REPEATS**-0.5 if repeated else 1.0


def cells_of(family):
    return [
        cell
        for cell in read_cells()
        if cell.table.startswith(family.table)
        and (not family.methods or cell.key[0] in family.methods)
        and cell.published is not None
        and not (cell.is_input or cell.is_repeat or cell.is_suspect)
    ]


GROUPS = {
    "series": lambda cell: cell.series,
    "model": lambda cell: cell.key[1 if cell.table == "ddl_benchmarks" else 0],
}


def left_out(fit, cells, group):
    """Predictions of each group by constants that were fitted to the others."""
    predicted = {}
    for name in sorted({group(cell) for cell in cells}):
        known = [cell for cell in cells if group(cell) != name]
        asked = [cell for cell in cells if group(cell) == name]
        predicted |= fit.predicted(asked, fit.fitted(known))
    return predicted


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--program", type=Path, default=paceline.PROGRAM)
    parser.add_argument("--leave-out", choices=GROUPS)
    parser.add_argument("--errors", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    family = FAMILIES[arguments.family]
    cells = cells_of(family)
    with paceline.Program(arguments.program) as program:
        fit = Fit(family.constants, program)
        if arguments.leave_out:
            predicted = left_out(fit, cells, GROUPS[arguments.leave_out])
        else:
            values = fit.fitted(cells)
            print_constants(fit.constants, values)
            predicted = fit.predicted(cells, values)
    frame = score.frame_of(cells, predicted)
    print(score.summary_of(frame).to_string(index=False))
    if arguments.errors:
        frame[["row_id", "error"]].to_csv(arguments.errors, index=False)


def print_constants(constants, values):
    for constant, value in zip(constants, values):
        files = ", ".join(constant.files)
        name = f"{files}: {constant.part}.{constant.key}"
        print(f"{name} = {value:.4g} {constant.unit}")


if __name__ == "__main__":
    main()
