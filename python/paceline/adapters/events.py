# SPDX-License-Identifier: Apache-2.0
"""The output of an adapter: JSON lines, and the times in them."""

import json
import time


def emit(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


class PhaseClock:
    """Splits the time since its start into phases, in nanoseconds."""

    def __init__(self):
        self.start_ns = self.last_ns = time.perf_counter_ns()
        self.phases_ns = {"forward": 0, "backward": 0, "update": 0}

    def __call__(self, phase):
        now_ns = time.perf_counter_ns()
        self.phases_ns[phase] += now_ns - self.last_ns
        self.last_ns = now_ns


class ProgressReporter:
    """Called after each step: prints, at most once a second, a line with the number of
    done steps.  `now` forces a line, as before the window, from which the clock counts.
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
    """Describes, for the record, the largest norm of all gradients; 0 means no limit."""
    return f"global norm at most {clip_norm:g}" if clip_norm else "none"
