# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON of PyTorch's DDP benchmark (benchmarks/distributed/ddp/benchmark.py, --json), and
Paceline's JSON in the same form.

One record for each result with measurements.  A model's first result is the one without DDP; a
further result on as many ranks as an earlier one has a strategy of its own ("ddp-2"), since the
report does not say how they differ.  Measurements are those of one rank after the other.
"""

from .checks import Invalid
from .json_text import Place, PrintedNumber, member, number, parse
from .record import environment, rank, run_record

NAME = "ddp"
_RESULTS = "benchmark_results"
_LONGEST_S = 1e9  # largest step time, so that nanoseconds fit in 64 bits


def recognizes(source) -> bool:
    return f'"{_RESULTS}"' in source.text and not source.text.lstrip().startswith('{"version":')


def read(source):
    report = parse(source.text, source.path)
    models = member(report, _RESULTS, list, source)
    shared = {
        "engine": _text(report, "distributed_backend", source),
        "bucket_mib": _size(report, source),
    }
    known = {
        "experiment": "ddp",
        "adapter": {key: _python_repr(value) for key, value in report.items() if key != _RESULTS},
        "environment_of": environment(
            torch_version=_text(report, "pytorch_version", source),
            cuda_version=_text(report, "cuda_version", source),
        ),
    }
    for k, model in enumerate(models):
        place = Place(source).at(_RESULTS, k)
        stated = {
            **shared,
            "model": member(model, "model", str, place),
            "batch_size": member(model, "batch_size", int, place),
        }
        if not stated["model"] or stated["batch_size"] < 1:
            raise Invalid(place, "the model has no name" if not stated["model"] else
                          f"batch_size: {stated['batch_size']} is less than 1")  # fmt: skip
        yield from _of_model(member(model, "result", list, place), stated, known, place)


def _of_model(results: list, stated: dict, known: dict, model_place: Place):
    on_ranks = {}  # results with DDP, by number of ranks
    usual = None  # steps per rank of the first result; all others must have a multiple or a divisor
                  # of them, since Paceline joins the runs of a case into one result
    for k, result in enumerate(results):
        place = model_place.at("result", k)
        ranks = _ranks(result, place)
        if k == 0 and len(ranks) > 1:
            raise Invalid(place, f"the first result is the one without DDP, which has one rank, and it lists {len(ranks)}")
        label, strategy = "no ddp", "none"
        if k > 0:
            count = on_ranks[len(ranks)] = on_ranks.get(len(ranks), 0) + 1
            label = f"{len(ranks)} GPUs" + (f", result {count}" if count > 1 else "")
            strategy = "ddp" + (f"-{count}" if count > 1 else "")
        samples = _samples(result, ranks, place, may_be_empty=k == 0)
        if samples:
            steps = len(samples[0]["step_ns"])
            usual = usual or steps
            if steps % usual and usual % steps:
                raise Invalid(place, f"measurements: {steps} of each rank, and the results before have {usual}")
            stated_here = {"label": label, "strategy": strategy, "ranks": len(ranks), "steps": steps}
            yield run_record({**stated, **stated_here}, samples, **known)


def _ranks(result, place: Place) -> list:
    ranks = member(result, "ranks", list, place)
    integers = all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 2**31 for one in ranks)
    if not ranks or not integers or len(set(ranks)) != len(ranks):
        raise Invalid(place, "ranks: is not a list of one or more ranks, each once")
    if max(ranks) != len(ranks) - 1:
        raise Invalid(place, f"ranks: lists {len(ranks)} ranks, and one of them is {max(ranks)}")
    return ranks


def _samples(result, ranks: list, place: Place, *, may_be_empty: bool) -> list:
    times = member(result, "measurements", list, place)
    if not times and may_be_empty:
        return []  # an empty result stands for a case that was not measured
    if not times or len(times) % len(ranks) != 0:
        raise Invalid(place, f"measurements: {len(times)} values are not equally many for each of {len(ranks)} ranks")
    step_ns = []
    for k, time in enumerate(times):
        name = f"measurements[{k}]"
        seconds = number(time, place, name).value
        if not 0 < seconds <= _LONGEST_S:
            raise Invalid(place, f"{name}: {seconds:g} is not a positive number of seconds")
        step_ns.append(max(1, round(seconds * 1e9)))
    each = len(step_ns) // len(ranks)
    return [rank(step_ns[k * each : (k + 1) * each], rank=one) for k, one in enumerate(ranks)]


def _text(report: dict, key: str, source):
    """Returns the text of a key.  Older versions do not have all keys; the version of CUDA may be null."""
    return None if report.get(key) is None else member(report, key, str, source)


def _size(report: dict, source):
    if report.get("bucket_size") is None:
        return None
    return number(report["bucket_size"], source, "bucket_size", least=0).value


def _python_repr(value) -> str:
    """Returns a value as Python prints it, because the benchmark's diff.py shows the values of reports in this form."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else repr(plain)


def _plain(value):
    if isinstance(value, PrintedNumber):
        return float(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value
