# SPDX-License-Identifier: Apache-2.0
"""Writes the output of an adapter: JSON lines with the times of steps and phases."""

import json
import time


def emit(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


class PhaseClock:
    """Measures how long each phase of a step lasts, in nanoseconds."""

    def __init__(self):
        self.start_ns = self.last_ns = time.perf_counter_ns()
        self.phases_ns = {"forward": 0, "backward": 0, "update": 0}

    def __call__(self, phase):
        now_ns = time.perf_counter_ns()
        self.phases_ns[phase] += now_ns - self.last_ns
        self.last_ns = now_ns


class ProgressReporter:
    """Prints, at most once a second, a line with the number of done steps; called after each step.
    `now` prints the line at once, for example before the measured steps, whose times count from
    that line.
    """

    INTERVAL_NS = 1_000_000_000

    def __init__(self):
        self.next_ns = 0

    def __call__(self, step, now=False):
        """Returns the nanoseconds that the line took; 0 if no line was due."""
        now_ns = time.perf_counter_ns()
        if now_ns < self.next_ns and not now:
            return 0
        self.next_ns = now_ns + self.INTERVAL_NS
        emit("alive", step=step)
        return time.perf_counter_ns() - now_ns


def clipping(clip_norm):
    """Returns the text for the record that states the largest allowed norm of all gradients; 0
    means no limit."""
    return f"global norm at most {clip_norm:g}" if clip_norm else "none"
