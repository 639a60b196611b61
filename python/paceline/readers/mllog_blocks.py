# SPDX-License-Identifier: Apache-2.0
"""The blocks of an MLPerf log: from block_start to block_stop or, in a log without these, its epochs."""

from .checks import Invalid
from .json_text import number
from .mllog_block import Block, member, throughput
from .mllog_epochs import set_samples_by_epochs

_STEP_TIMES = ("train_step_time", "train_step_timing")  # seconds
_SAME_EVENT_MS = 100  # largest difference in ms between the times that two processes report for one
                    # event


def blocks_of(events: list, facts: dict, source) -> list:
    """Returns those blocks whose number of samples the log states."""
    blocks = _blocks(events, "block")
    if not blocks:
        try:
            blocks = _blocks(events, "epoch")
            blocks = blocks[:-1] if len(blocks) > 2 else blocks  # a training may stop within its last epoch
        except Invalid:
            blocks = []  # many processes say their epochs
    for block in blocks:
        block.samples = _counted(block, facts)
    if any(block.samples for block in blocks):
        for block in [block for block in blocks if not block.samples]:
            source.note(block.line, "a block whose samples the log does not say is left out")
    else:
        set_samples_by_epochs(blocks, facts)
    blocks = [block for block in blocks if block.samples]
    _check_rates(blocks, facts)
    return blocks


def _clock(event: dict, line) -> float:
    return number(event.get("time_ms"), line, "time_ms", least=0).value


def _blocks(events: list, name: str) -> list:
    blocks, begun = [], None
    for event, line in events:
        key = event["key"]
        if key == f"{name}_start":
            if begun and not _is_same_event(event, line, *begun):
                raise Invalid(line, f"a {name} starts while the one of line {begun[1].number} has not ended")
            begun = begun or (event, line)
        elif key == f"{name}_stop" and begun:
            ms = _clock(event, line) - _clock(*begun)
            if ms <= 0:
                raise Invalid(line, f"the {name} lasts {ms:g} ms")
            blocks.append(Block(begun[0], event, ms, line))
            begun = None
        elif key == f"{name}_stop" and not (blocks and _is_same_event(event, line, blocks[-1].stop, blocks[-1].line)):
            raise Invalid(line, f"a {name} ends that has not started")
    _add_statements(events, blocks, name)
    if len(blocks) > 1:
        blocks[0].warms_up = True
    return blocks


def _is_same_event(event: dict, line, other: dict, place) -> bool:
    """Whether two processes report the same event."""
    same = {key: member(event, key) == member(other, key) for key in ("samples_count", "step_num", "first_epoch_num", "epoch_num")}
    return all(same.values()) and abs(_clock(event, line) - _clock(other, place)) <= _SAME_EVENT_MS


def _add_statements(events: list, blocks: list, name: str) -> None:
    """Adds to each block the rates and step times that stand between its start and the next block's
    start, and the first count of samples after its end."""
    at = {id(block.start): block for block in blocks}
    block, ended = None, False
    for event, line in events:
        if block and ended and block.later is None:
            counts = [member(one, "samples_count") for one in (block.start, event)]
            begun, count = (None if one is None else number(one, line, "samples_count", least=0).value for one in counts)
            block.later = count if None not in (begun, count) and count > begun else None
        if event["key"] == f"{name}_start" and id(event) in at:
            block, ended = at[id(event)], False
        if block is None:
            continue
        ended = ended or event is block.stop
        rate, value = throughput(event, line), event.get("value")
        if rate:
            block.rates.append(rate)
        if event["key"] == "tracked_stats" and isinstance(value, dict):
            block.step_seconds += [number(value[key], line, key, least=1e-9).value for key in _STEP_TIMES if key in value]


def _counted(block: Block, facts: dict):
    """Returns the number of samples of a block, from the counts of samples or of steps at its start
    and end; None if the log states neither. Since 2025 the end repeats the count of the start, and
    the next event has the count of the end."""
    first, last = (
        None if count is None else number(count, block.line, "samples_count", least=0).value
        for count in (member(one, "samples_count") for one in (block.start, block.stop))
    )
    if None not in (first, last) and last < first:
        raise Invalid(block.line, f"samples_count is {last:g} at the end of a block and {first:g} at its start")
    samples = None
    if None not in (first, last):
        samples = (last if last > first else block.later or first) - first
    steps = [member(one, "step_num") for one in (block.start, block.stop)]
    if None not in steps and facts.get("global_batch_size"):
        begin, end = (number(one, block.line, "step_num", least=0).value for one in steps)
        by_steps = (end - begin) * facts["global_batch_size"]
        if by_steps <= 0 or samples not in (None, by_steps):
            raise Invalid(block.line, f"the block has the steps {begin:g} to {end:g}, which are {by_steps:g} samples"
                          + ("" if samples is None else f", and its samples_count says {samples:g}"))  # fmt: skip
        samples = by_steps
    return samples or None


def _check_rates(blocks: list, facts: dict) -> None:
    """Checks that the throughput of each block agrees with its samples and its clock, and that all
    throughputs count samples or all count tokens."""
    found = set()
    for block in blocks:
        if not block.has_own_rate(facts):
            continue
        fits = block.units(block.samples, facts)
        said = block.rates[0].text if len(block.rates) == 1 else f"{block.rate(facts):.6g}"
        if not fits:
            raise Invalid(
                block.rates[0].place if block.rates else block.line,
                f"the log says a throughput of {said}, and the block that ends in line {block.line.number} "
                f"has {block.samples:g} samples in {block.ms / 1e3:g} s, {block.samples / block.ms * 1e3:.6g} a second",
            )
        found |= set(fits[:1] if block.rates else [])
    if len(found) > 1:
        raise Invalid(blocks[0].line, "some throughputs count samples and others tokens")
