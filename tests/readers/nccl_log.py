# SPDX-License-Identifier: Apache-2.0
"""Right logs of nccl-tests, made by arithmetic as the program makes them."""

WIDTH = {"float": 4, "half": 2, "double": 8, "int8": 1}
FACTOR = {
    "all_reduce_perf": lambda n: 2 * (n - 1) / n,
    "all_gather_perf": lambda n: (n - 1) / n,
    "reduce_scatter_perf": lambda n: (n - 1) / n,
    "broadcast_perf": lambda n: 1,
    "sendrecv_perf": lambda n: 1,
}


def _time(us):
    return f"{us:.0f}" if us >= 1e4 else f"{us:.1f}" if us >= 1e3 else f"{us:.2f}"


def _figures(program, ranks, size, us, wrong):
    rate = size / us * 1e-3
    bus = rate * FACTOR[program](ranks)
    return f"{_time(us):>7}  {rate:6.2f}  {bus:6.2f}  {wrong:>6}"


def row(program, ranks, size, us, *, dtype="float", op="sum", wrong=("0", "0")):
    """A row; in place it takes 1 % less time."""
    reduces, rooted = "reduce" in program, program == "broadcast_perf"
    count = size // WIDTH[dtype]
    if program in ("all_gather_perf", "reduce_scatter_perf"):
        count //= ranks
    head = f"{size:12}  {count:12}  {dtype:>8}  {op if reduces else 'none':>6}  {0 if rooted else -1:>6}"
    both = (
        _figures(program, ranks, size, time, one)
        for time, one in zip((us, 0.99 * us), wrong)
    )
    return f"{head}  {'  '.join(both)}"


def devices(hosts, *, per_process=1):
    """A line for each rank; `hosts` has the host of each."""
    lines = []
    for rank, host in enumerate(hosts):
        device = hosts[:rank].count(host)
        pid = 70 + rank // per_process
        lines.append(
            f"#  Rank {rank:2} Group  0 Pid {pid:6} on {host:>10} device {device:2} "
            f"[0000:{16 + device:02x}:00] NVIDIA H100 80GB HBM3"
        )
    return lines


HEAD = [
    "#                                                              out-of-place                       in-place          ",
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong ",
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         ",
]


def log(program, hosts, rows, *, gpus=1, settings="", footer=("0 OK",), named=True):
    """All that the program prints, as lines."""
    return [
        *([f"# Collective test starting: {program}"] if named else []),
        f"# nThread 1 nGpus {gpus} minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 "
        f"iters: 20 agg iters: 1 validation: 1 graph: 0{settings}",
        "#",
        "# Using devices",
        *devices(hosts, per_process=gpus),
        "#",
        *HEAD,
        *rows,
        *(f"# Out of bounds values : {one} " for one in footer),
        "# Avg bus bandwidth    : 17.5 ",
        "#",
        *([f"# Collective test concluded: {program}"] if named else []),
    ]


def text(*parts):
    return "\n".join(line for part in parts for line in part) + "\n"


def sizes(program, ranks, **keys):
    """Rows of 1, 4 and 16 MiB."""
    return [
        row(program, ranks, 2**power, 2**power / 4e4 + 43.21, **keys)
        for power in (20, 22, 24)
    ]
