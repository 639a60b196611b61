# SPDX-License-Identifier: Apache-2.0
"""Makes records as dicts in the JSON form of docs/record.schema.json and docs/comm.md.

A value that the log does not state is None, never a default. A key that records do not have raises
TypeError, because that is a mistake of the reader, not of the log.
"""

from . import case_keys
from .checks import Invalid

LONGEST_NS = 30 * 24 * 3600 * 10**9  # 30 days
WRONG_VALUES = (
    "wrong-values"  # code of the warning that the program itself found wrong values; exit code 3
)

_ENVIRONMENT = (
    "paceline_version git_hash compiler build_type torch_version torch_git cuda_version nccl_version"
).split()


def warning(code: str, seen: str, why: str, advice: str) -> dict:
    return {"code": code, "seen": seen, "why": why, "advice": advice}


def environment(**known) -> dict:
    """Returns an environment with the versions and hosts that the log states; never with environment variables."""
    return _with_all_keys(_ENVIRONMENT, known, also={"variables": {}, "hosts": []})


def rank(
    step_ns: list,
    *,
    rank: int = 0,
    host: str = None,
    local_rank: int = 0,
    device: str = None,
    **parts,
) -> dict:
    """Returns the samples of one rank, or of all ranks if the log has one value for all."""
    found = {
        "rank": rank,
        "host": host,
        "local_rank": local_rank,
        "device": device,
        "step_ns": step_ns,
        "phase_ns": {},
        "window_ns": sum(step_ns),
        "flush_ns": None,
        "peak_memory_bytes": None,
        "compute_only_step_ns": None,
    }
    found.update(parts)
    return found


def run_record(
    configuration: dict,
    ranks: list,
    *,
    experiment: str,
    adapter: dict = None,
    warnings: list = (),
    run: int = 0,
    started_at: str = None,
    environment_of: dict = None,
    **parts,
) -> dict:
    """Returns the record of a training.  `configuration` has the keys that the log states; `label` names the case in
    tables.  `adapter` holds facts that the program reported about itself, as texts, and `formula`: how the steps follow
    from its figures."""
    record = {
        "version": 1,
        "source": "imported",
        "experiment": experiment,
        "started_at": started_at,
        "run": run,
        "configuration": _with_all_keys(
            case_keys.REQUIRED_KEYS,
            configuration,
            also={"label": "", "discard": False},
            where_said=case_keys.OPTIONAL_KEYS,
        ),
        "environment": environment_of or environment(),
        "ranks": ranks,
        "wire": {
            "measured_bytes_per_step": None,
            "planned_bytes_per_step": None,
            "bytes_by_pattern": {},
            "calls_per_step": None,
        },
        "verified": {},
        "warnings": list(warnings),
        "error": None,
    }
    if adapter:
        record["adapter"] = {key: str(value) for key, value in adapter.items()}
    record.update(parts)
    return record


_COMM = (
    "started_at operation op root bytes ranks ranks_per_host engine device dtype interface link warmup iterations "
    "iteration_ns place clock mean_of formula duration_ns wire_bytes bytes_per_s wrong_elements in_place "
    "link_slack_ns valid"
).split()


def comm_record(
    *, iteration_ns: list, bytes: int, bus_factor: float, warnings: list = (), hosts: list = (), **known
) -> dict:
    """Returns the record of one operation at one size. `hosts` are those of its environment.

    `iteration_ns` has the duration of each iteration, or a single mean. `mean_of` is then the
    number of iterations over which the program itself computed that mean.
    `clock` is "cpu" if the times are only the CPU's times to issue the operation, from which no
    bandwidth follows. `place` is out-of-place or in-place; `in_place` holds the same row's other
    figures: {"iteration_ns": [...], "wrong_elements": n or None}.  `op` is sum, prod, ... or
    None for operations that reduce nothing. A rank sends bytes x bus_factor, as in a ring.
    """
    record = {"kind": "comm", "version": 1}
    record.update(_with_all_keys(_COMM, known, also={}))
    record.update(
        bytes=bytes,
        iteration_ns=iteration_ns,
        iterations=len(iteration_ns),
        duration_ns=_quantiles(iteration_ns),
        wire_bytes=round(bytes * bus_factor),
        bytes_per_s=_bandwidths(
            bytes, bus_factor, iteration_ns if known.get("clock") != "cpu" else None
        ),
        warnings=list(warnings),
        environment=environment(hosts=list(hosts)),
    )
    return record


def check_times(record: dict, place) -> None:
    """Raises Invalid if a time is shorter than 1 ns or longer than 30 days, as a wrong rate would
    give."""
    ranks = record.get("ranks")
    lists = [one["step_ns"] for one in ranks] if isinstance(ranks, list) else []
    for times in lists or [record.get("iteration_ns", [])]:
        for time in times:
            if not 1 <= time <= LONGEST_NS:
                raise Invalid(
                    place, f"a time of {time / 1e9:g} s is not that of a step"
                )


def has_wrong_values(record: dict) -> bool:
    """Whether the program that wrote the log found wrong values itself."""
    return any(one["code"] == WRONG_VALUES for one in record["warnings"])


def _quantile(values: list, p: float) -> float:
    at = p * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def _quantiles(values: list) -> dict:
    ordered = [float(one) for one in sorted(values)]
    named = {"min": 0, "p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1}
    return {name: _quantile(ordered, p) for name, p in named.items()}


def _bandwidths(size: int, factor: float, times: list) -> dict:
    rate = size / (_quantiles(times)["p50"] * 1e-9) if times else None
    bus = None if rate is None else rate * factor
    return {
        "algorithm": rate,
        "bus": bus,
        "wire": bus,
        "line": None,
        "wire_share_of_line": None,
    }


def _with_all_keys(keys, known: dict, *, also: dict, where_said=()) -> dict:
    unknown = set(known) - set(keys) - set(also) - set(where_said)
    if unknown:
        raise TypeError(f"no key of a record: {', '.join(sorted(unknown))}")
    return {**dict.fromkeys(keys), **also, **known}
