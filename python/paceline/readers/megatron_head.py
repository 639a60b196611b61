# SPDX-License-Identifier: Apache-2.0
"""Reads the head of a log of Megatron-LM: the number of ranks, its parallel sizes, the
arguments."""

import math
import re

from .checks import Invalid, check_count, count, shown

_WORLD = re.compile(r"using world size: (\d+), (.*)")
_SIZE = re.compile(r"(encoder-)?\b(?:data|sequence|context|tensor-model|pipeline-model)-parallel[ -]size: (\d{1,9})\b")
_HIERARCHY = re.compile(r"hierarchical context-parallel sizes: (?:None|\[[\d, ]*\])(?:, )?")  # of the context's size
_ARGUMENT = re.compile(r"\s*([a-z]\w*) \.{2,} ?(\S+)\s*")
_KNOWN = ("world_size", "seq_length", "params_dtype", "optimizer")
_TYPES = {"torch.float32": "fp32", "torch.bfloat16": "bf16", "torch.float16": "fp16"}


def configuration(source, examples) -> dict:
    """Returns the configuration that the head states; `examples` are those of the first iteration, None if the log does
    not state them."""
    ranks, said = None, {}
    for line in source.lines:
        world = _WORLD.search(line.text)
        if not world and "using world size" in line.text:
            raise Invalid(line, "is a line of the world size that is cut off or not understood")
        if world:
            before, ranks = ranks, count(world[1], line, "world size", least=1)
            if before not in (None, ranks):
                raise Invalid(line, f"the world size is {ranks} here, and {before} before: two runs are read from two files")
            _check_sizes(_HIERARCHY.sub("", world[2]), ranks, line)
        argument = _ARGUMENT.fullmatch(line.text)
        if argument and argument[1] in _KNOWN:
            before, where = said.setdefault(argument[1], (argument[2], line))
            if before != argument[2]:
                raise Invalid(line, f"{argument[1]} is {shown(argument[2])} here, and {shown(before)} in line {where.number}")
    if ranks is not None and "world_size" in said:
        text, line = said["world_size"]
        check_count(count(text, line, "world_size"), ranks, "ranks as world_size", line)
    found = {"ranks": ranks, "framework": "megatron-lm"}
    if ranks and examples and examples % ranks == 0:
        found["batch_size"] = examples // ranks
    if "seq_length" in said:
        found["sequence_length"] = count(*said["seq_length"], "seq_length", least=1)
    if "params_dtype" in said:
        found["dtype"] = _TYPES.get(said["params_dtype"][0])
    if "optimizer" in said:
        found["optimizer"] = said["optimizer"][0]
    return found


def _check_sizes(text: str, ranks: int, line) -> None:
    """Checks that the number of ranks is the product of the parallel sizes, unless an encoder has
    ranks of its own."""
    sizes = _SIZE.findall(text)
    if len(sizes) != text.count("-parallel") or "data-parallel" not in text:
        raise Invalid(line, f"the parallel sizes '{shown(text)}' are not understood")
    if not any(encoder and int(size) for encoder, size in sizes):
        product = math.prod(int(size) for encoder, size in sizes if not encoder)
        check_count(product, ranks, "ranks by the parallel sizes", line, " as the world size")
