# SPDX-License-Identifier: Apache-2.0
"""A block of an MLPerf log, and its rate by its own events."""

from dataclasses import dataclass, field

from .checks import Invalid
from .json_text import number

# The rate has a separate timer, which leaves out checkpoints and the like; the first block also
# contains the warm-up.
_OTHER_TIMER, _FIRST = 0.15, 0.75


@dataclass
class Block:
    start: dict
    stop: dict
    ms: float
    line: object  # of its end
    warms_up: bool = False
    rates: list = field(default_factory=list)  # Figures of its throughput
    step_seconds: list = field(default_factory=list)
    later: float = None  # the first larger samples_count after its end
    samples: float = None

    @property
    def is_epoch(self) -> bool:
        return self.start["key"] == "epoch_start"

    def tells(self, facts: dict) -> bool:
        """Whether its own events give a rate."""
        return bool(self.rates or (self.step_seconds and facts.get("global_batch_size")))

    def rate(self, facts: dict) -> float:
        """Returns samples or tokens per second, from the block's own throughput or step times."""
        if self.rates:
            return len(self.rates) / sum(1 / rate.value for rate in self.rates)
        return len(self.step_seconds) * facts["global_batch_size"] / sum(self.step_seconds)

    def units(self, samples: float, facts: dict) -> list:
        """Which of 1 and the sequence length are the samples of one unit of the block's rate."""
        by_clock = samples / self.ms * 1e3
        known = [1, facts.get("max_sequence_length")] if self.rates else [1]
        most = _FIRST if self.warms_up else _OTHER_TIMER
        return [unit for unit in known if unit and -_OTHER_TIMER <= self.rate(facts) / (by_clock * unit) - 1 <= most]


def member(event: dict, key: str):
    metadata = event.get("metadata")
    return metadata.get(key) if isinstance(metadata, dict) else None


def throughput(event: dict, line):
    """The rate of an event, None where it has none."""
    value = event.get("value")
    if event["key"] == "tracked_stats" and isinstance(value, dict):
        value = value.get("throughput")
    elif event["key"] != "throughput":
        return None
    if value is None:
        return None
    rate = number(value, line, "throughput")
    if rate.value <= 0:
        raise Invalid(line, f"the throughput {rate.text} is not positive")
    return rate
