# SPDX-License-Identifier: Apache-2.0
"""A block of an MLPerf log (from block_start to block_stop), and the rate that its own events
state."""

from dataclasses import dataclass, field

from .checks import Invalid
from .json_text import number

# Largest relative differences between a block's own rate and that by its clock. The rate has a
# separate timer, which leaves out checkpoints; the first block (_FIRST) also contains the warm-up.
_OTHER_TIMER_TOLERANCE, _FIRST = 0.15, 0.75


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

    def has_own_rate(self, facts: dict) -> bool:
        """Returns whether the block's own events state a throughput or step times."""
        return bool(self.rates or (self.step_seconds and facts.get("global_batch_size")))

    def rate(self, facts: dict) -> float:
        """Returns samples or tokens per second, from the block's own throughput or step times."""
        if self.rates:
            return len(self.rates) / sum(1 / rate.value for rate in self.rates)
        return len(self.step_seconds) * facts["global_batch_size"] / sum(self.step_seconds)

    def units(self, samples: float, facts: dict) -> list:
        """Returns the numbers of tokens per sample, 1 or the sequence length, with which the
        block's own rate agrees with its samples and clock. 1: the rate counts samples."""
        by_clock = samples / self.ms * 1e3
        known = [1, facts.get("max_sequence_length")] if self.rates else [1]
        most = _FIRST if self.warms_up else _OTHER_TIMER_TOLERANCE
        return [unit for unit in known if unit and -_OTHER_TIMER_TOLERANCE <= self.rate(facts) / (by_clock * unit) - 1 <= most]


def member(event: dict, key: str):
    metadata = event.get("metadata")
    return metadata.get(key) if isinstance(metadata, dict) else None


def throughput(event: dict, line):
    """Returns the throughput that an event states, in samples or tokens per second, or None."""
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
