#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits constants of clusters/*.toml to the published cells.

Prints each constant with its unit, and the errors before and after the fit;
writes nothing to the cluster files.  `--leave-out` repeats the fit without one
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
from tables import CLUSTERS, read_cells

SCALE = 0.02  # relative errors beyond it count linearly: pseudo-Huber
REPEATS = 3  # ddl_benchmarks has each experiment on one host three times


@dataclass(frozen=True)
class Constant:
    """A value of one or more cluster files.

    `before` is what was known before any cell, a data sheet or a round number:
    fits begin there, never at the values of another fit.
    """

    files: tuple
    part: str  # name of the link or device that has the key
    key: str
    unit: str
    before: float
    most: float = numpy.inf


RTX = ("8x4-2080ti-10gbe", "8x4-2080ti-100gbib", "8x4-2080ti-100gbe")
CLOUD = ("16x8-v100-25gb",)
DLPERF = ("4x8-v100-100gbib",)
V100 = "V100-SXM2-16GB"

FITS = {
    "ddl_benchmarks": [
        Constant(RTX, "pcie", "rate", "GB/s", 16),
        Constant(RTX, "pcie", "under_compute", "", 0.7, 1),
        Constant(RTX[:1], "10gbe", "rate", "GB/s", 1.25),
        Constant(RTX[2:], "100gbe", "rate", "GB/s", 4),
        Constant(RTX[2:], "100gbe", "decline", "", 0.1, 1),
    ],
    "dlperf": [
        Constant(DLPERF, "100gbib", "rate", "GB/s", 12.5, 12.5),
        Constant(DLPERF, "100gbib", "latency", "us", 10),
    ],
    "pytorch_ddp": [
        Constant(("8x8-v100-4x100gbib",), V100, "under_transfer", "", 0.9, 1),
    ],
    "bluefog": [
        Constant(CLOUD, "25gbe", "rate", "GB/s", 3.125, 3.125),
        Constant(CLOUD, "25gbe", "decline", "", 0.1, 1),
        Constant(CLOUD, V100, "under_transfer", "", 0.9, 1),
    ],
}


def with_value(text, constant, value):
    """The text of a cluster file with another value of the constant."""
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
            for file in CLUSTERS.glob("*.toml"):
                shutil.copy(file, folder)
            for constant, value in zip(self.constants, values):
                for file in constant.files:
                    path = folder / f"{file}.toml"
                    text = path.read_text(encoding="utf-8")
                    path.write_text(
                        with_value(text, constant, value), encoding="utf-8"
                    )
            return predicted_throughput(cells, self.program, folder)

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


def fit_cells(table):
    """What the constants of a table's clusters are fitted to."""
    return [
        cell
        for cell in read_cells()
        if cell.table.startswith(table)
        and cell.published is not None
        and not (cell.is_input or cell.is_repeat or cell.is_suspect)
        and not on_servers(cell)
    ]


def on_servers(cell):
    """Messages share cards in another way than the collectives of a ring."""
    return cell.key[0].endswith("-PS")


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
    parser.add_argument("table", choices=FITS)
    parser.add_argument("--program", type=Path, default=paceline.PROGRAM)
    parser.add_argument("--leave-out", choices=GROUPS)
    parser.add_argument("--errors", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    fit = Fit(FITS[arguments.table], arguments.program)
    cells = fit_cells(arguments.table)
    if arguments.leave_out:
        predicted = left_out(fit, cells, GROUPS[arguments.leave_out])
    else:
        values = fit.fitted(cells)
        for constant, value in zip(fit.constants, values):
            name = f"{', '.join(constant.files)}: {constant.part}.{constant.key}"
            print(f"{name} = {value:.4g} {constant.unit}")
        predicted = fit.predicted(cells, values)
    frame = score.frame_of(cells, predicted)
    print(score.summary_of(frame).to_string(index=False))
    if arguments.errors:
        frame[["row_id", "error"]].to_csv(arguments.errors, index=False)


if __name__ == "__main__":
    main()
