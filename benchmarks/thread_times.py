# SPDX-License-Identifier: Apache-2.0
"""Which threads of a rank take time, and how often each wakes: per step, while a command measures.

    python3 benchmarks/thread_times.py paceline run --model resnet34 --batch-size 8 --image-size 64 --ranks 2 \\
        --strategy fusion --warmup 5 --steps 60

It starts the command with a record file of its own.  Of the one case it prints, by rank and name of the thread, the CPU time,
the time for which the thread was ready and had no core, and how often the thread gave its core up by itself (a wake-up
follows each) and lost it to another.  The kernel counts all of them (/proc/PID/task/TID/schedstat and status).  A sample is
taken every 0.2 s.  The first and the last within the middle half of the measured steps are compared; that half is found
from the end of the process, before which come the measured steps and then the turns with and without communication, all
with their times in the case's record.  Measure for ten seconds at least: how long the process takes to end is not known.
"""

import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

INTERVAL_S = 0.2


def children_of(parents):
    """All processes below `parents`, by /proc/PID/stat."""
    parent_of = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent_of[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # The process has ended.
    found = set(parents)
    grown = True
    while grown:
        more = {pid for pid, parent in parent_of.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - set(parents)


def thread_counts(pid):
    """By thread: its name, and its CPU time (ns), waiting time (ns), voluntary and other switches until now."""
    counts = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        cpu, waiting, _ = (task / "schedstat").read_text().split()
        switches = [int(line.split()[1]) for line in (task / "status").read_text().splitlines() if "ctxt_switches" in line]
        name = "training thread" if task.name == str(pid) else (task / "comm").read_text().strip()
        counts[int(task.name)] = name, (int(cpu), int(waiting), *switches)
    return counts


def watch(command):
    """The samples of every process that the command starts, as (time, counts), until the command ends."""
    samples = collections.defaultdict(list)
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            for pid in children_of({process.pid}):
                try:
                    samples[pid].append((time.monotonic(), thread_counts(pid)))
                except OSError:
                    continue  # The process has ended.
            time.sleep(INTERVAL_S)
        if process.returncode:
            sys.exit(process.returncode)
    return samples


def compared(samples, begin_s, end_s):
    """The sums by thread's name between the two instants, the number of threads of each name, and the length in s."""
    within = [sample for sample in samples if begin_s <= sample[0] <= end_s]
    if len(within) < 2:
        return {}, {}, 0
    first, last = within[0], within[-1]
    sums, threads = collections.defaultdict(lambda: [0, 0, 0, 0]), collections.Counter()
    for thread, (name, counts) in last[1].items():
        before = first[1].get(thread, (name, (0, 0, 0, 0)))[1]
        sums[name] = [have + now - then for have, now, then in zip(sums[name], counts, before)]
        threads[name] += 1
    return sums, threads, last[0] - first[0]


def print_process(samples, measured_s, after_s, step_s):
    """Prints the threads of a process that took a quarter of a core at least, as a rank does; whether it was one."""
    end_s = samples[-1][0] - after_s - measured_s / 4
    sums, threads, length_s = compared(samples, end_s - measured_s / 2, end_s)
    if sum(counts[0] for counts in sums.values()) <= 0.25e9 * length_s:
        return False
    steps = length_s / step_s
    print(f"process of {steps:.1f} steps")
    for name, (cpu, waiting, own, lost) in sorted(sums.items(), key=lambda item: -item[1][0]):
        print(f"  {name:18}{threads[name]:3}{cpu / steps / 1e6:10.2f}{waiting / steps / 1e6:12.2f}"
              f"{own / steps:12.2f}{lost / steps:10.2f}")
    return True


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "records.jsonl")
        samples = watch([*sys.argv[1:], "--records", str(path)])
        cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if len(cases) != 1:
        sys.exit(f"the command measured {len(cases)} cases, of which the threads cannot be told apart: name one")
    ranks = cases[0]["ranks"]
    steps_s = [max(step) / 1e9 for step in zip(*(rank["step_ns"] for rank in ranks))]
    after_s = sum(sum(ranks[0].get(name) or []) for name in ("paired_step_ns", "compute_only_step_ns")) / 1e9
    print(f"median step {1e3 * statistics.median(steps_s):.2f} ms; per step:")
    print("  thread          count   CPU, ms  waiting, ms  gave up core  lost core")
    printed = [print_process(one, sum(steps_s), after_s, statistics.mean(steps_s)) for one in samples.values()]
    if sum(printed) != len(ranks):
        sys.exit(f"{sum(printed)} processes looked like ranks, of {len(ranks)}: measure for longer")


if __name__ == "__main__":
    main()
