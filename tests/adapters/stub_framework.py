# SPDX-License-Identifier: Apache-2.0
"""The least that an adapter is: docs/adapters.md in twenty lines."""

import json
import os
import time


def emit(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


case = json.loads(os.environ["PACELINE_CASE"])
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
emit("environment", framework="stub", framework_version="1", layout="none")
for step in range(case["warmup"]):
    emit("alive", step=step + 1)
for index in range(case["steps"]):
    begun = time.perf_counter_ns()
    time.sleep(0.001)
    emit("step", index=index, step_ns=time.perf_counter_ns() - begun)
emit("end", loss=1.5, peak_memory_bytes=None)
