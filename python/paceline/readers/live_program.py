# SPDX-License-Identifier: Apache-2.0
"""The program whose output is read while it runs."""

import os
import pathlib
import re
import signal
import subprocess
import time

from .checks import shown
from .failure_reason import failure_reason

# How frameworks, allocators and kernels say that memory ran out, in lower case.
_OUT_OF_MEMORY = (
    "out of memory",  # CUDA, XLA, PaddlePaddle
    "out-of-memory",
    "ran out of memory",  # TensorFlow's allocators
    "oom when allocating",  # TensorFlow
    "outofmemoryerror",
    "resource_exhausted",  # XLA, gRPC
    "resourceexhausted",  # TensorFlow, PaddlePaddle
    "cudaerrormemoryalloc",
    "std::bad_alloc",
    "can't allocate memory",  # PyTorch's allocator for CPUs
    "cannot allocate memory",
    "fail to alloc memory",  # PaddlePaddle's
    "could not create a memory object",  # oneDNN
    "memoryerror",  # Python, NumPy
)
_KILLED = 128  # exit codes above are 128 + signal
_LONGEST_REASON = 120


def says_out_of_memory(text: str) -> bool:
    """Whether the output of a program says that memory ran out."""
    lower = text.lower()
    return any(words in lower for words in _OUT_OF_MEMORY)


class Program:
    """A command that runs.  SIGTERM to this process is passed on to the command."""

    def __init__(self, words: list, environment: dict, without: list, log: str, reads_stderr: bool):
        """`environment` is added to that of this process, without the variables `without`.  The file `log` keeps all
        output; if it is empty, stderr that is not read is that of this process."""
        self.log = log
        self._log = open(log, "wb", buffering=0) if log else None
        own = {name: value for name, value in os.environ.items() if name not in without}
        self._process = subprocess.Popen(
            words,
            env={**own, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if reads_stderr else self._log,
        )
        signal.signal(signal.SIGTERM, lambda *_: self._process.terminate())
        self._began_ns = time.monotonic_ns()

    def lines(self):
        """Yields each line, or None after the lines that came together, with the nanoseconds from the start to its
        arrival.  Progress bars end lines with a carriage return."""
        rest = b""
        while piece := os.read(self._process.stdout.fileno(), 1 << 16):
            *lines, rest = re.split(rb"[\r\n]", rest + piece)
            for line in lines:
                yield self._line(line)
            yield None, 0
        if rest:
            yield self._line(rest)
            yield None, 0

    def _line(self, line: bytes) -> tuple:
        if self._log:
            self._log.write(line + b"\n")
        return line.decode("utf-8", errors="replace"), time.monotonic_ns() - self._began_ns

    def failure(self) -> tuple | None:
        """Waits for the end.  Returns the status and how the program failed, None if it did not."""
        code = self._process.wait()
        if code == 0:
            return None
        output = pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace") if self.log else ""
        how = f"was killed by signal {code - _KILLED}" if code > _KILLED else f"ended with code {code}"
        status = "out-of-memory" if says_out_of_memory(output) else "signal" if code > _KILLED else "exit"
        return status, how, shown(failure_reason(output), _LONGEST_REASON)

    def end(self) -> None:
        """Ends the program if it still runs."""
        self._process.terminate()
        self._process.wait()
