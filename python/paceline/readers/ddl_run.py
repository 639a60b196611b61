# SPDX-License-Identifier: Apache-2.0
"""One run in a log of a synthetic benchmark: the rates of its workers, the values that the log
states about it, and its record."""

from .checks import Invalid, check_count, check_mean, check_spread, count, figure
from .record import rank, run_record, warning

_CONFIDENCE = 1.96  # number of standard deviations that the log prints behind "+-"
_MOST_RANKS = 2**16


class _Worker:
    def __init__(self, tag):
        self.tag = tag  # the worker's rank, if a launcher's tag names it
        self.rates = []
        self.ended = False


class Run:
    def __init__(self):
        self.workers = []
        self.said = {}  # unit, device and number of devices that this run states
        self.warms_up = False  # whether the benchmark has printed that it warms up, before its
                               # iterations
        self._means, self._totals = [], []  # (figure, the figure after "+-") of each worker

    @property
    def ended(self) -> bool:
        return all(one.ended for one in self.workers)

    def says(self, what: str, value, line):
        """Stores a value that all result lines of a run must agree on."""
        if self.said.setdefault(what, value) != value:
            raise Invalid(line, f"the {what} is {value} here, and {self.said[what]} before, in one run")

    def begins(self, line) -> None:
        """Checks a line that begins a worker's run. All workers write such lines before the first
        worker ends."""
        if self._means or self._totals:
            raise Invalid(line, "a run begins before the 'Total' line of the one before it")

    def iteration(self, number: str, rate: str, line) -> None:
        number = count(number, line, "Iter #", most=10**6)
        own = [one for one in self.workers if not one.ended and one.tag == line.rank]
        found = [one for one in own if len(one.rates) == number]
        if not found and number == 0 and (line.rank is None or not own):
            self.begins(line)
            found = [_Worker(line.rank)]
            self.workers += found
        if not found:
            raise Invalid(line, f"iteration {number} follows no iteration {number - 1}")
        found[0].rates.append(_rate(rate, line))

    def mean(self, rate: str, spread: str, line) -> None:
        if not self.workers:
            raise Invalid(line, "a mean without iterations before it")
        self._means.append((_rate(rate, line), figure(spread, line, "+-", least=0)))

    def total(self, ranks: str, rate: str, spread: str, line) -> None:
        self.says("number of devices", count(ranks, line, "the ranks", least=1, most=_MOST_RANKS), line)
        self._totals.append((_rate(rate, line), figure(spread, line, "+-", least=0)))
        left = [one for one in self.workers if not one.ended]
        own = [one for one in left if one.tag == line.rank] or left
        if not own:
            raise Invalid(line, "a run without its iterations")
        max(own, key=lambda one: len(one.rates)).ended = True

    def check(self, line) -> None:
        """Compares ranks, iterations and rates with the values that the log states."""
        ranks, workers = self.said["number of devices"], len(self.workers)
        lengths = {len(one.rates) for one in self.workers}
        if ranks % workers != 0 or len(lengths) > 1:
            raise Invalid(
                line,
                f"of {ranks} ranks {workers} workers tell, which must have equally many ranks and iterations",
            )
        try:
            self._check_rates(line)
        except Invalid:
            if self.warms_up or lengths.pop() < 2:
                raise
            for one in self.workers:
                del one.rates[0]  # Horovod's benchmark of Keras warms up in the first iteration
            self._check_rates(line)

    def _check_rates(self, line) -> None:
        workers = len(self.workers)
        ranks = self.said["number of devices"]
        rates = [rate for one in self.workers for rate in one.rates]
        if self._means:
            check_count(len(self._means), workers, "workers with a mean", line)
            check_mean([mean for mean, _ in self._means], rates, "the mean of the rates", line)
        check_mean([total for total, _ in self._totals], rates, "the total of all ranks", line, times=ranks)
        if workers == 1:
            for _, spread in self._means:
                check_spread(spread, rates, _CONFIDENCE, "the interval of the mean", line)
            check_spread(self._totals[0][1], rates, ranks * _CONFIDENCE, "the interval of the total", line)

    def record(self, stated: dict, *, also_serve: int, experiment: str, run: int) -> dict:
        """Returns the record of the run. `also_serve` is the number of ranks that are only
        parameter servers and print nothing."""
        ranks, workers = self.said["number of devices"], self.workers
        each = ranks // len(workers)
        times = [[round(1e9 * stated["batch_size"] / rate.value) for rate in one.rates] for one in workers]
        device = stated["device"]
        samples = [rank(times[one // each], rank=one, device=device) for one in range(ranks)]
        samples += [rank([], rank=ranks + one, device=device) for one in range(also_serve)]
        return run_record(
            stated, samples, experiment=experiment, run=run, warnings=[_few_ranks_warning(len(workers))] if each > 1 else []
        )


def _rate(text: str, line):
    rate = figure(text, line, "the rate")
    if not 0 < rate.value <= 1e9:
        raise Invalid(line, f"'{text}' is not a rate")
    return rate


def _few_ranks_warning(workers: int) -> dict:
    one = workers == 1
    return warning(
        "rank-0-for-all",
        "the log has rank 0's rates alone" if one else f"the log has the rates of one rank on each of {workers} machines",
        f"its figures stand for all ranks{'' if one else ' of its machine'}; a sample is the mean step of one iteration",
        "how ranks differ is unknown",
    )
