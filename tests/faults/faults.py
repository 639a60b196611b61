#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults at random moments: runs the program, hurts one of its processes, and
checks how the run ends.

    faults.py --program PACELINE --hang-library hang_on_signal.so
              [--count 20 | --each] [--seed 7] [--timeout 4]

A run measures several short cases and one that has no end.  The fault comes at
a random moment: while ranks start, connect, train, report, or between cases.
Of every run it is expected that

- it ends within the deadline, and its one sentence names the rank that was hurt
  (a launcher that was killed says nothing);
- the cases that had finished before the fault are in the records;
- no process is left that carries the run's mark in its environment.

With --each a run comes under every schedule, exchange and update rule on every
engine: one of each strategy below, and these must have all of `paceline list`.

Exits with 1 where a run does not meet them; prints the seed, the command and
what the run said, so that one number repeats it: --only N.
"""
import argparse
import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

HANG = 50  # as in hang_on_signal.cc
FAULTS = ("kill", "stop", "terminate", "hang", "launcher")
STRATEGIES = ("bsp", "wfbp", "fusion", "dear", "bytescheduler", "ddp",
              "bytescheduler:order=priority", "fusion+rs-ag",
              "fusion+hierarchical:local=2", "ps", "fusion+ps:servers=2",
              "bytescheduler+ps", "ps:placement=apart,servers=1",
              "fusion+ps:placement=apart,servers=2",
              "bytescheduler+ps:placement=apart,servers=1",
              "fusion+ps:local=2", "mg-wfbp", "optimal-merge",
              "parameter-allreduce+atc", "neighbor-allreduce+atc",
              "neighbor-allreduce:topology=ring+awc",
              "neighbor-allreduce:topology=ring+topk+atc",
              "neighbor-allreduce:topology=ring+pga:every=2",
              "neighbor-allreduce:topology=ring+gradient-tracking",
              "neighbor-allreduce:topology=ring+exact-diffusion",
              "neighbor-allreduce:topology=ring+decentlam",
              "hierarchical-neighbor-allreduce:local=2+atc",
              "push-sum:topology=ring+atc", "win-put:topology=ring+awc",
              "local-sgd:every=2", "fusion+diloco:every=2",
              "fusion+slowmo:every=2", "fusion+rs-ag+zero-1",
              "fusion+rs-ag+zero-2", "fusion+topk", "fusion+fp16",
              "fusion+gtopk", "fusion+powersgd")
# One run in HYBRID trains a model with embedding tables: trainers, servers,
# and a master where there are servers.
HYBRID = 5
HYBRID_STRATEGIES = ("ddp", "fusion", "wfbp+fp16")
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP,
           "terminate": signal.SIGTERM, "hang": HANG,
           "launcher": signal.SIGKILL}
# What the sentence may say of each fault.  Before a process has come so far
# that it handles a signal, the signal kills it.
FATES = {
    "kill": r"was killed by signal 9 ",
    "stop": r"stopped answering \d+ s ago|did not join",
    "terminate": r"SIGTERM|was killed by signal 15 ",
    "hang": r"has not moved for|stopped answering|was killed by signal 50 |"
            # c10d's Reducer waits where nothing of the step is left to do.
            r"did not join|is not done after",
}
STARTED = 60.0  # a rank must be there by then, s
LEFT = 10.0  # for processes to vanish after the launcher's end, s


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def environments():
    """Yields (pid, variables) of every process that can be read."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    yield int(name), set(file.read().split(b"\0"))
            except OSError:
                pass


def marked(mark):
    return [pid for pid, variables in environments() if mark in variables]


def find_rank(mark, rank):
    """The process of a rank; the launcher itself has no RANK."""
    wanted = f"RANK={rank}".encode()
    for pid, variables in environments():
        if mark in variables and wanted in variables:
            return pid
    return None


def records_of(folder):
    try:
        with open(os.path.join(folder, "r.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []


def ranks_of(strategy):
    """The numbers of ranks to draw from."""
    if "local=" in strategy:
        return (4,)  # groups of two
    if "gtopk" in strategy:
        return (2, 4)  # a power of two
    servers = re.search(r"placement=apart,servers=(\d+)", strategy)
    if servers:  # which are ranks, too
        return (int(servers[1]) + 1, int(servers[1]) + 2)
    return (2, 3)


class Run:
    """One run with one fault; `problems` says what was not as expected."""

    fates = FATES

    def __init__(self, options, number):
        self.options = options
        self.number = number
        draw = random.Random(f"{options.seed}/{number}")
        self.fault = draw.choice(options.faults)
        hybrid = (not options.each and not options.strategies
                  and draw.randrange(HYBRID) == 0)
        if options.each:
            self.strategy, self.engine = options.each[number]
        else:
            self.strategy = draw.choice(HYBRID_STRATEGIES if hybrid
                                        else options.strategies or STRATEGIES)
            self.engine = draw.choice(options.engines)
        if hybrid:
            servers = draw.randrange(3)
            self.ranks = 2 + servers + (servers > 0)
            self.model = ["hybrid", "--trainers", "2", "--servers",
                          str(servers)]
        else:
            self.ranks = draw.choice(ranks_of(self.strategy))
            self.model = ["mlp", "--ranks", str(self.ranks), "--batch-size",
                          "4"]
        self.victim = draw.randrange(self.ranks)
        self.moment = draw.uniform(options.earliest, options.latest)
        self.problems = []
        self.said = ""
        self.ended = False  # by a wish, because other cases went on
        self.position = ""

    def command(self):
        return [self.options.program, "run", "--model", *self.model,
                "--device", "cpu", "--engine", self.engine, "--strategy",
                self.strategy, "--warmup", "1", "--threads", "1", "--steps",
                "3,4,5,6,7,8,100000000", "--yes", "--timeout",
                str(self.options.timeout), "--format", "csv", "--records",
                "r.jsonl"]

    def title(self):
        return (f"{self.number}: {self.fault} "
                + ("" if self.fault == "launcher" else f"rank {self.victim} ")
                + f"of {self.ranks} after {self.moment:.2f} s, "
                f"{self.model[0]}, {self.strategy}, {self.engine}")

    def expect(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def perform(self):
        with tempfile.TemporaryDirectory(prefix="paceline-faults-") as folder:
            mark = f"PACELINE_TEST_MARK={folder}"
            name, value = mark.split("=", 1)
            variables = dict(os.environ, OMP_NUM_THREADS="1",
                             LD_PRELOAD=self.options.hang_library)
            variables[name] = value
            with open(os.path.join(folder, "stderr"), "w+b") as errors:
                program = subprocess.Popen(
                    self.command(), cwd=folder, env=variables, stderr=errors,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                try:
                    self.hurt(program, folder, mark.encode(), errors)
                finally:
                    program.kill()
                    program.wait()
                    for pid in marked(mark.encode()):
                        os.kill(pid, signal.SIGKILL)
                errors.seek(0)
                self.said = errors.read().decode(errors="replace")
            if not self.problems:
                self.check_words(program.returncode)

    def wait_for_end(self, program, errors):
        """Ends a run that goes on with the cases after the one that failed."""
        until = time.monotonic() + self.options.deadline
        while program.poll() is None and time.monotonic() < until:
            if (not self.ended
                    and b"the others go on" in os.pread(errors.fileno(),
                                                        1 << 20, 0)):
                program.terminate()
                self.ended = True
            time.sleep(0.02)
        return program.poll() is not None

    def find_victim(self, _folder, mark):
        return find_rank(mark, self.victim)

    def hurt(self, program, folder, mark, errors):
        began = time.monotonic()
        victim = None
        while victim is None:
            victim = self.find_victim(folder, mark)
            if program.poll() is not None or time.monotonic() - began > STARTED:
                self.problems.append("the rank did not start")
                return
            time.sleep(0.01)
        time.sleep(self.moment)
        before = records_of(folder)
        if self.fault == "launcher":
            victim = program.pid
        try:
            os.kill(victim, SIGNALS[self.fault])
        except ProcessLookupError:
            self.problems.append("the run had ended before the fault")
            return
        hurt = time.monotonic()
        if not self.wait_for_end(program, errors):
            self.problems.append(
                f"did not end within {self.options.deadline:g} s")
            return
        took = time.monotonic() - hurt
        while marked(mark) and time.monotonic() - hurt - took < LEFT:
            time.sleep(0.02)
        self.expect(not marked(mark), f"left the processes {marked(mark)}")
        after = records_of(folder)
        self.expect(after[:len(before)] == before,
                    f"of {len(before)} records not all are kept")
        self.position = f"{len(before)} cases done, ended after {took:.1f} s"

    def check_words(self, code):
        if self.fault == "launcher":
            return
        # Of a case that failed, or before the first case.
        expected = (128 + signal.SIGTERM,) if self.ended else (1, 3)
        self.expect(code in expected, f"exit code {code}")
        # With tables: "server 0 (rank 1) on host h: ...".
        named = re.search(r"paceline: (?:[a-z]+ ?\d* \()?"
                          rf"rank {self.victim}\)? on host [^\n]*?: "
                          rf"[^\n]*({self.fates[self.fault]})", self.said)
        self.expect(named, "the rank and its fate are not named")


def engines_of(program):
    said = subprocess.run([program, "list", "engines"], capture_output=True,
                          text=True, check=True).stdout
    names = re.findall(r"^  (\w+) ", said, re.MULTILINE)
    return [name for name in ("gloo", "mpi") if name in names
            and not re.search(rf"^  {name} .*not in this build", said,
                              re.MULTILINE)]


def missing_parts(program):
    """Schedules, exchanges and update rules of the program that none of
    STRATEGIES names; defaults need no name."""
    said = subprocess.run([program, "list", "strategies"], capture_output=True,
                          text=True, check=True).stdout
    names = set()
    for section in said.split("\n\n"):
        if re.match(r"Strategies: (schedule|exchange|update)\n", section):
            names.update(re.findall(r"^  ([\w-]+) .*(?<!\(default\))$", section,
                                    re.MULTILINE))
    assert names, said
    return sorted(names - {part.split(":")[0] for strategy in STRATEGIES
                           for part in strategy.split("+")})


def perform_all(numbers, options, make_run):
    """Returns how many runs did not end as expected."""
    failed = 0
    for number in numbers:
        run = make_run(options, number)
        run.perform()
        print(f"{run.title()}: "
              + ("; ".join(run.problems) or f"as expected, {run.position}"),
              flush=True)
        if run.problems:
            failed += 1
            print(f"  seed {options.seed}: {' '.join(run.command())}\n"
                  + "".join(f"  | {line}\n" for line in run.said.splitlines()),
                  end="", flush=True)
    print(f"{len(numbers) - failed} of {len(numbers)} runs ended as expected")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--hang-library", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--each", action="store_true",
                        help="one run of each strategy on each engine, in "
                        "place of --count")
    parser.add_argument("--seed", default=time.strftime("%Y%m%d"),
                        help="default: the date")
    parser.add_argument("--only", type=int, help="the run of this number alone")
    parser.add_argument("--timeout", type=float, default=4, help="of a run, s")
    parser.add_argument("--deadline", type=float, default=30,
                        help="for a run to end after its fault, s")
    parser.add_argument("--earliest", type=float, default=0,
                        help="the fault comes so long after its rank started, "
                        "s")
    parser.add_argument("--latest", type=float, default=8,
                        help="the fault comes by then, s")
    parser.add_argument("--faults", nargs="+", default=FAULTS, choices=FAULTS)
    parser.add_argument("--strategies", nargs="+",
                        help="of the mlp alone; default: those of this file")
    parser.add_argument("--engines", nargs="+",
                        help="default: those of the program on a CPU")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.hang_library = os.path.abspath(options.hang_library)
    options.engines = options.engines or engines_of(options.program)
    missing = []
    if options.each:
        options.each = list(itertools.product(
            options.strategies or STRATEGIES, options.engines))
        options.count = len(options.each)
        missing = [] if options.strategies else missing_parts(options.program)
        print("".join(f"no strategy here has {name}\n" for name in missing),
              end="", flush=True)
    numbers = range(options.count) if options.only is None else [options.only]
    return 1 if perform_all(numbers, options, Run) or missing else 0


if __name__ == "__main__":
    sys.exit(main())
