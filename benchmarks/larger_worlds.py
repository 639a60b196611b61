#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares predicted and measured records: larger_worlds.py PREDICTED MEASURED."""

import json
import statistics
import sys

BAR = 5  # percent


def steps(path):
    """Median step in ms of each case's slowest rank, and whether it is valid."""
    cases = {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            slowest = map(max, zip(*(rank["step_ns"] for rank in record["ranks"])))
            check = record.get("link_check")
            case = record["configuration"]
            cases[case["ranks"], case["strategy"]] = (
                statistics.median(slowest) * 1e-6,
                check is None or check["overdue_ns"] <= 0.02 * check["window_ns"],
            )
    return cases


def main():
    predicted, measured = map(steps, sys.argv[1:3])
    print("ranks  strategy                predicted, ms  measured, ms  error, %")
    worst = 0
    for key, (step, valid) in sorted(measured.items()):
        error = (predicted[key][0] / step - 1) * 100
        worst = max(worst, abs(error) if valid else 0)
        print(f"{key[0]:5}  {key[1]:22}  {predicted[key][0]:13.1f}  {step:12.1f}  "
              f"{error:+8.1f}{'' if valid else '  invalid: slower than the link'}")
    return 0 if worst <= BAR else 1


sys.exit(main())
