# SPDX-License-Identifier: Apache-2.0
"""What all output formats of nccl-tests and rccl-tests share: operations, types and options, and
checks of values that a row states twice."""

import re

from .checks import Invalid, check_count, check_product, exactly, one_of, shown

# For each program: Paceline's name of the operation, whether it reduces, whether it has a root.
OPERATIONS = {
    "all_reduce_perf": ("all-reduce", True, False),
    "reduce_scatter_perf": ("reduce-scatter", True, False),
    "all_gather_perf": ("all-gather", False, False),
    "broadcast_perf": ("broadcast", False, True),
    "sendrecv_perf": ("message", False, False),
}
REDUCTIONS = ("sum", "prod", "min", "max", "avg", "mulsum")
ELEMENT_BYTES = {
    **dict.fromkeys(
        ("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1
    ),
    **dict.fromkeys(("half", "bfloat16"), 2),
    **dict.fromkeys(("float", "int32", "uint32"), 4),
    **dict.fromkeys(("double", "int64", "uint64"), 8),
}


def engine_of(devices) -> str:
    """Returns the engine, nccl or rccl, by the names of devices."""
    amd = any(re.search(r"\bAMD\b|Instinct|Radeon|gfx\d", name) for name in devices)
    return "rccl" if amd else "nccl"


def bus_factor(operation: str, ranks: int) -> float:
    """Returns the ratio of bus bandwidth to algorithm bandwidth (nccl-tests,
    doc/PERFORMANCE.md)."""
    if operation == "all-reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if operation in ("reduce-scatter", "all-gather") else 1.0


def operation_of(program: str, place) -> str:
    if program not in OPERATIONS:
        raise Invalid(
            place,
            f"'{shown(program)}' is not an operation of Paceline, which knows {', '.join(OPERATIONS)}; "
            "take its table out of the log",
        )
    return OPERATIONS[program][0]


def check_columns(program: str, op, root, place) -> None:
    """Checks that `op` (none: no reduction) and `root` (-1: no root) fit the program's operation.  None means that the
    table has no such column."""
    operation, reduces, rooted = OPERATIONS[program]
    if op is not None:
        if op != "none":
            one_of(op, REDUCTIONS, "reduction", place)
        # sendrecv_perf prints the reduction of its option -o although it reduces nothing.
        if (op != "none") != reduces and program != "sendrecv_perf":
            raise Invalid(
                place,
                f"the program is {program}, and a row of {operation} has no redop '{op}'",
            )
    if root is not None and (root >= 0) != rooted:
        raise Invalid(
            place,
            f"the program is {program}, and a row of {operation} has no root {root}",
        )


def check_row(
    operation: str, ranks: int, size: int, count: int, dtype: str, place
) -> None:
    """Checks that size, elements and type agree.  For all-gather and reduce-scatter the elements are those of one rank
    or of all, depending on the program's version."""
    width = one_of(dtype, ELEMENT_BYTES, "type", place)
    shares = (1, ranks) if operation in ("all-gather", "reduce-scatter") else (1,)
    if all(count * width * share != size for share in shares):
        raise Invalid(
            place,
            f"the log says {size} bytes, and {count} elements of {width} bytes ({dtype}) are {count * width}",
        )


def check_rates(
    operation: str,
    ranks: int,
    size: int,
    time_us,
    algorithm,
    bus,
    *,
    cpu_time: bool = False,
) -> None:
    """Checks that busbw = algbw x factor. Also checks that size = algbw x time, unless the time is
    only the CPU's time to issue."""
    check_product(
        bus,
        (algorithm, bus_factor(operation, ranks)),
        f"{size} bytes: bus bandwidth and that of {operation} on the {ranks} ranks that the log lists differ",
    )
    if not cpu_time:
        check_product(
            exactly(size, time_us.place, "a size of"),
            (algorithm, time_us, 1e3),
            f"{size} bytes: size, time and bandwidth contradict each other",
            place=time_us.place,
        )


# Options of these programs whose values the programs also print among their settings.
_OPTIONS = {
    "t": "nthreads",
    "g": "ngpus",
    "n": "iters",
    "m": "agg_iters",
    "w": "warmup_iters",
    "c": "check",
}


def check_options(words: str, said: dict, place, where: str = "") -> None:
    """Checks that the options in the command line `words` have the values of `said`, by option letter."""
    for letter, name in _OPTIONS.items():
        given = re.findall(rf"\s(?:-{letter}[ =]?|--{name}[ =])(\d{{1,9}})(?!\S)", words)
        if given and said.get(letter) is not None:
            check_count(int(given[-1]), said[letter], f"as -{letter} ({name})", place, where)


def reduction_of(program: str, op):
    """Returns the reduction operator; None if the operation reduces nothing, or the log does not state it."""
    return op if OPERATIONS[program][1] and op != "none" else None
