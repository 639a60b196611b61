# SPDX-License-Identifier: Apache-2.0
"""The lines of nccl-tests above a table: its settings and the devices of its ranks."""

import re

from .checks import Invalid, count, one_of, shown
from .lines import Line

_PAIR = re.compile(r"\s+([a-z][a-zI ]*): (\S+)")
_DEVICE = re.compile(
    r"#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?(?:Pid\s+\d+\s+)?on\s+(\S+)\s+device\s+(\d+)\s+\[([\w:.]+)\]\s+(\S.*)"
)
_SETTING_NAMES = (
    "warmup iters",
    "iters",
    "agg iters",
    "validation",
    "graph",
    "unalign",
)


def settings_of(match, line: Line) -> dict:
    found = {
        "nThread": count(match[1], line, "nThread", least=1),
        "nGpus": count(match[2], line, "nGpus", least=1),
    }
    rest = match[3].rstrip()
    while pair := _PAIR.match(rest):
        # rccl-tests of before 2.12 writes warmupIters.
        name = pair[1].replace("warmupIters", "warmup iters")
        one_of(name, _SETTING_NAMES, "setting", line)
        found[name] = count(pair[2], line, name)
        rest = rest[pair.end() :]
    if rest.strip():
        raise Invalid(line, f"'{shown(rest)}' is not understood")
    return found


def device_of(text: str, line: Line) -> tuple:
    match = _DEVICE.fullmatch(text)
    if not match:
        raise Invalid(line, f"'{shown(text)}' is not understood as a rank's device")
    # A bus id without its domain is not unique, so the device's number is added to it.
    bus = match[5] if ":" in match[5] else f"{match[4]} {match[5]}"
    return (
        count(match[1], line, "rank", most=10**6),
        count(match[2] or "0", line, "group"),
        match[3],
        bus,
        line,
        match[6],
    )
