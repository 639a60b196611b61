# SPDX-License-Identifier: Apache-2.0
"""Determines the samples of blocks of an MLPerf log that states the length of blocks in epochs.

Submissions differ in what epoch_count and train_samples count: epochs, samples, steps or tokens.
The meaning that a block's own throughput or step times confirm is used; otherwise the only meaning
that is possible.
"""

from .checks import Invalid
from .json_text import number
from .mllog_block import Block, member

# Samples of an epoch of the benchmarks that count epochs (mlcommons/training_policies), for logs in
# which nothing else confirms that their blocks do; a submission may leave out a part of a batch.
_DATA_SETS = {"resnet": (1_281_167,), "ssd": (117_266, 1_170_301), "retinanet": (1_170_301,), "maskrcnn": (117_266,),
              "unet3d": (168,), "gnmt": (3_969_024,)}  # fmt: skip
_SAME_DATA_TOLERANCE = 0.03
_OF_WHOLE_RUN = ("bert",)  # where one block of one epoch is the training, of train_samples


def set_samples_by_epochs(blocks: list, facts: dict) -> None:
    """Sets the number of samples of each block from its number of epochs."""
    batch, sequence, of_epoch = (facts.get(key) for key in ("global_batch_size", "max_sequence_length", "train_samples"))
    counted = [(block, _epochs(block)) for block in blocks]
    counted = [(block, epochs) for block, epochs in counted if epochs]
    units = {"epochs": of_epoch, "epochs of train_samples batches": of_epoch and batch and of_epoch * batch}
    if blocks and not blocks[0].is_epoch:
        units |= {"samples": 1, "steps": batch, "tokens": sequence and 1 / sequence}
    units = {name: unit for name, unit in units.items() if unit}
    told = [(block, epochs) for block, epochs in counted if block.has_own_rate(facts)]
    fits = [unit for unit in units.values() if told and all(block.units(epochs * unit, facts) for block, epochs in told)]
    if not told and of_epoch and batch:
        whole = [epochs for _, epochs in counted] == [1] and facts.get("submission_benchmark") in _OF_WHOLE_RUN
        if whole or _is_data_set(facts) and all(epochs < batch and epochs * of_epoch >= batch for _, epochs in counted):
            fits = [of_epoch]
    if len(set(fits)) == 1:
        for block, epochs in counted:
            block.samples = epochs * fits[0]
    elif counted and of_epoch:
        _fail(told or counted, units, facts)


def _fail(counted: list, units: dict, facts: dict) -> None:
    """Raises Invalid, because the unit of epoch_count and train_samples is ambiguous. It names the
    block that contradicts the most likely unit."""
    block, epochs = counted[0]
    said = "nothing else in the log says"
    if block.has_own_rate(facts):
        fitting = {unit: [block.units(epochs * unit, facts) for block, epochs in counted] for unit in units.values()}
        best = max(fitting.values(), key=lambda fits: sum(map(bool, fits)))
        block, epochs = next((one for one, fits in zip(counted, best) if not fits), counted[0])
        said = f"the log says a rate of {block.rate(facts):.6g} samples or tokens a second, which does not tell"
    readings = ", ".join(f"{epochs * unit / block.ms * 1e3:.6g} as {name}" for name, unit in units.items())
    raise Invalid(block.line, f"{said} what epoch_count and train_samples of this block count; samples a second: {readings}")


def _is_data_set(facts: dict) -> bool:
    known = _DATA_SETS.get(facts.get("submission_benchmark"), (facts["train_samples"],) if "submission_benchmark" not in facts else ())
    return any(abs(facts["train_samples"] / samples - 1) <= _SAME_DATA_TOLERANCE for samples in known)


def _epochs(block: Block):
    count = member(block.start, "epoch_count")
    if count is not None:
        return number(count, block.line, "epoch_count", least=1e-9).value
    if not block.is_epoch:
        return None
    begin, end = member(block.start, "epoch_num"), member(block.stop, "epoch_num")
    if None in (begin, end):
        return 1
    begin, end = (number(one, block.line, "epoch_num", least=0).value for one in (begin, end))
    if not begin - 1 < end <= begin + 1:
        return None
    return end % 1 or 1  # a part of an epoch that was not finished
