# SPDX-License-Identifier: Apache-2.0
"""How much longer the steps of one case are than those of another, of the same job in the same run.

    python3 benchmarks/pair_ratios.py RECORDS

RECORDS is what `paceline run benchmarks/own_networks.toml --records RECORDS`, or never_behind.toml, has written.  A job is
a network and its batch; a network in Python counts as the one of that name in C++.  Every case of a job is compared with
`python-ddp`, and one in Python with the same strategy and engine in C++.  Of the ratios of the runs' median steps, of the slowest rank,
it prints the median and the order statistics between which that lies in at least 95 % of such series, whatever their
distribution.
"""

import collections
import json
import pathlib
import statistics
import sys

from order_statistics import interval


def read(path):
    """By job and case, a case being where the network is written, the strategy and the engine: the median step in ns of each run."""
    jobs = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if run["error"] or run.get("unsupported"):
            continue
        asked = run["configuration"]
        module, _, model = asked["model"].rpartition(":")
        place = "in Python" if module else "built in"
        steps = map(max, zip(*(rank["step_ns"] for rank in run["ranks"])))
        cases = jobs[model.replace("_", "-"), asked["batch_size"]]
        strategy = asked["strategy"].partition(":")[0]
        name = strategy if asked["engine"] == "gloo" else f"{strategy}, {asked['engine']}"
        cases[place, name][run["run"]] = statistics.median(steps)
    return jobs


def print_ratio(job, test_name, base_name, test, base):
    runs = sorted(test.keys() & base.keys())
    ratios = [test[run] / base[run] for run in runs]
    bounds = "[{:.3f}, {:.3f}]".format(*interval(ratios))
    ms = [statistics.median(case.values()) / 1e6 for case in (test, base)]
    print(f"{job[0]:10}{job[1]:4}  {' '.join(test_name):26}{' '.join(base_name):22}{ms[0]:8.1f}{ms[1]:8.1f}"
          f"  {statistics.median(ratios):.3f} {bounds}{len(runs):4}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("network  batch  case                      base                        ms  base ms  ratio    95 %      pairs")
    for job, cases in read(sys.argv[1]).items():
        bases = [name for name in cases if name[1] == "python-ddp"]
        for name, medians in cases.items():
            same = ("built in", name[1])
            for base in bases + ([same] if same in cases and name != same else []):
                if name != base:
                    print_ratio(job, name, base, medians, cases[base])


if __name__ == "__main__":
    main()
