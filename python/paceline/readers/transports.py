# SPDX-License-Identifier: Apache-2.0
"""Removes the text that mpirun, srun, torchrun, Ray, SkyPilot, SageMaker, kubectl, containerd and
docker put before a program's lines, and lines that NCCL writes between them."""

import re
from dataclasses import dataclass

_COLOURS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]"
)

# If a tag names the rank that wrote the line, its pattern has the group `rank`.
_TAGS = [
    r"\[[^\[\],\s]*,(?P<rank>\d+)\](?:\[[^\[\]\s]*\])?<std(?:out|err|diag)>:? ?",  # mpirun --tag-output
    r"\[\d+,mpirank:(?P<rank>\d+),[^\[\],\s]+\]<std(?:out|err)>:? ?",  # SageMaker
    r"\[(?:default|rank)?(?P<rank>\d+)\]:? ?",  # torchrun --tee, mpiexec -prepend-rank
    r" {0,6}(?P<rank>\d{1,6}): ?(?!\d\d:)",  # srun -l; not the hours of a time
    r"\([\w.-]+, (?:[\w ]+=[^,()]*, )*?rank=(?P<rank>\d+), pid=\d+[^()]*\) ?",  # SkyPilot
    r"\([^()]*\bpid=\d+[^()]*\) ?",  # Ray
    r"\[pod/[^\[\]\s]+\] ?",  # kubectl logs --prefix
    # kubectl logs --timestamps, containerd
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?",
    r"[\w.-]*[-_]\d+ {1,20}\| ",  # docker compose
]
_COMPILED = [re.compile(tag) for tag in _TAGS]
_ANY_TAG_AT_END = re.compile(
    "(?:" + "|".join(t.replace("?P<rank>", "?:") for t in _TAGS) + r")\Z"
)

# host:pid:tid [device] NCCL INFO ..., with or without a time and a source file.
_NCCL = re.compile(
    r"(?P<host>[\w.-]+):\d+:\d+ \[\d+\] (?:\S+:\d+ )?NCCL (?:INFO|WARN|TRACE|ABORT|CALL)\b"
)
_NCCL_TIME = re.compile(r"\[?\d{4}-\d\d-\d\d[ T][\d:.]+\]? \Z")


def without_colours(text: str) -> str:
    """Returns the text without the escape sequences by which terminals set colours and move the
    cursor."""
    return _COLOURS.sub("", text) if "\x1b" in text else text


def without_tags(text: str):
    """Returns (text, rank): the text without the tags that launchers put before it; rank is None if no tag names it."""
    rank, begin, found = None, 0, True
    while found:
        found = False
        for tag in _COMPILED:
            match = tag.match(text, begin)
            if match and match.end() > begin:
                found, begin = True, match.end()
                if "rank" in tag.groupindex:
                    rank = int(match["rank"])
                break
    return (text[begin:] if begin else text), rank


# The prefixes of launchers in the output of a running job.  Ranks in those of torchrun, PyTorch and
# Open MPI are certain; "[0] " of MPICH and "0: " of Slurm may be the program's own text.
_LAUNCHER = re.compile(
    r"\[[A-Za-z_][\w.-]*?(\d{1,6})\]: ?|"
    r"\[(?:[^\]\s]*@)?\d+,(\d{1,6})\](?:<std(?:out|err|diag)>)?: ?|"
    r"\[(\d{1,6})\] |"
    r" *(\d{1,6}): ",
    re.A,
)
_MOST_PREFIXES = 3


@dataclass(frozen=True)
class LauncherLine:
    """A line of a job's output.  `text` is without the prefixes that launchers wrote; `rank` is the rank that they
    name, None if several prefixes name different ranks."""

    whole: str
    text: str
    rank: int | None
    certain: bool  # whether a prefix is certainly a launcher's

    @property
    def certain_rank(self) -> int | None:
        return self.rank if self.certain else None


def launcher_line(whole: str, names_ranks: bool) -> LauncherLine:
    """Returns the line without its prefixes.  They name ranks of the job only if `names_ranks`."""
    begin, ranks, certain = 0, set(), False
    for _ in range(_MOST_PREFIXES):
        match = _LAUNCHER.match(whole, begin)
        if not match:
            break
        begin = match.end()
        ranks.add(int(match[match.lastindex]))
        certain = certain or match.lastindex <= 2
    rank = ranks.pop() if names_ranks and len(ranks) == 1 else None
    return LauncherLine(whole, whole[begin:], rank, certain)


def nccl_hosts(texts) -> set:
    """Returns the hosts that NCCL's own lines name at their beginning."""
    matches = (_NCCL.match(text) for text in texts if "NCCL " in text)
    return {match["host"] for match in matches if match}


def text_before_nccl(text: str, hosts: set):
    """Returns the program's part of a line into which NCCL wrote: None if NCCL did not write into it, an empty text if
    the line is NCCL's alone.  NCCL's host follows without a space, so the border is where a known host begins, else
    where the first letter is."""
    match = _NCCL.search(text) if "NCCL " in text else None
    if not match:
        return None
    host = match["host"]
    if match.start() > 0 or host not in hosts:
        known = [one for one in hosts if host.endswith(one)]
        letter = re.search(r"[A-Za-z]", host)
        begin = (
            len(host) - len(max(known, key=len))
            if known
            else letter.start() if letter else 0
        )
    else:
        begin = 0
    before = text[: match.start() + begin]
    before = _ANY_TAG_AT_END.sub("", _NCCL_TIME.sub("", before))
    return before if before.strip() else ""
