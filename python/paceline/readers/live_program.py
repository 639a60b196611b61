# SPDX-License-Identifier: Apache-2.0
"""The program whose output is read while it runs."""

import contextlib
import ctypes
import os
import pathlib
import queue
import select
import signal
import subprocess
import sys
import threading
import time

from .checks import shown
from .failure_reason import failure_reason
from .live_series import Failure

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
_KILLED, _MOST_SIGNAL = 128, 64  # a shell reports signal N of its command as exit code 128 + N
_LONGEST_REASON = 120
_PIECE_BYTES = 1 << 16  # read at once
_MOST_PIECES = 1 << 11  # read and not yet parsed: 128 MiB
_LONGEST_LINE = 1 << 23
_SWITCH_S = 1e-4  # the longest time for which the thread that parses delays the one that reads
_LOOK_S = 0.2  # how often to look whether the program has ended while its output is silent
_GRACE_S = 2  # of a program that is asked to end
_END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)
_prctl = ctypes.CDLL(None).prctl


def says_out_of_memory(text: str) -> bool:
    """Whether the output of a program says that memory ran out."""
    lower = text.lower()
    return any(words in lower for words in _OUT_OF_MEMORY)


def _children() -> list:
    """Returns the processes whose parent is this process."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = file.read_bytes().rpartition(b")")  # the program's name may contain any characters
        except OSError:
            continue  # the process has ended
        if int(rest.split()[1]) == os.getpid():
            found.append(int(name.split()[0]))
    return found


def _kill_children() -> None:
    """Kills the processes that the program has left behind, until none is left: the children of a killed process become
    children of this one."""
    while left := _children():
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for pid in left:
            os.waitpid(pid, 0)


def _lead_group() -> None:
    """Runs in the new process, before the program."""
    os.setpgid(0, 0)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _END_SIGNALS)


class Program:
    """A command that runs.  At SIGTERM, SIGINT and SIGHUP, and when the process that started this one dies, the command
    gets SIGTERM and two seconds to end.  Processes that it leaves behind, even in sessions of their own, are killed."""

    def __init__(self, words: list, environment: dict, without: list, log: str, reads_stderr: bool):
        """`environment` is added to that of this process, without the variables `without`.  The file `log` keeps all
        output as it came; if it is empty, stderr that is not read is that of this process."""
        self.log = log
        self._received = queue.Queue(_MOST_PIECES)
        self._receiver = threading.Thread(target=self._receive, daemon=True)
        try:
            self._log = open(log, "wb", buffering=0) if log else None
        except OSError as error:
            raise self._log_failure(error) from error
        own = {name: value for name, value in os.environ.items() if name not in without}
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # orphaned descendants of the command become children of this process
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_BLOCK, _END_SIGNALS)  # until the program runs that they end
        try:
            self._process = subprocess.Popen(
                words,
                env={**own, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if reads_stderr else self._log,
                preexec_fn=_lead_group,
            )
        except OSError as error:
            raise Failure("exit", f"cannot start '{words[0]}': {error.strerror}") from error
        signal.signal(signal.SIGALRM, lambda *_: self._process.kill())
        for asked in _END_SIGNALS:
            signal.signal(asked, lambda *_: self._ask_to_end())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _END_SIGNALS)
        sys.setswitchinterval(_SWITCH_S)
        self._began_ns = time.monotonic_ns()
        self._receiver.start()

    def lines(self):
        """Yields each line, or None after the lines that came together, with the nanoseconds from the start to its
        arrival, which is that of its end.  Progress bars end lines with a carriage return.  Lines longer than 8 MiB
        are left out."""
        begun, now_ns = bytearray(), 0
        while received := self._received.get():
            if isinstance(received, OSError):
                raise self._log_failure(received)
            piece, now_ns = received
            *ends, rest = piece.replace(b"\r", b"\n").split(b"\n")
            for end in ends:
                begun += end
                if len(begun) <= _LONGEST_LINE:
                    yield begun.decode("utf-8", errors="replace"), now_ns
                begun.clear()
            begun += rest[: _LONGEST_LINE + 1 - len(begun)]
            yield None, 0
        if 0 < len(begun) <= _LONGEST_LINE:
            yield begun.decode("utf-8", errors="replace"), now_ns
            yield None, 0

    def _receive(self) -> None:
        """Runs in a thread of its own, so that the parsing of lines does not delay the moments of those after them."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # the main thread handles them
        end = None
        try:
            while piece := self._read():
                self._received.put((piece, time.monotonic_ns() - self._began_ns))
                if self._log:
                    self._log.write(piece)
        except OSError as error:
            end = error
        self._received.put(end)

    def _read(self) -> bytes:
        """Returns the next output; nothing at its end."""
        output = self._process.stdout.fileno()
        has_output = False
        while not has_output:
            if self._process.poll() is not None:
                _kill_children()  # they keep the output open
            has_output = bool(select.select([output], [], [], _LOOK_S)[0])
        return os.read(output, _PIECE_BYTES)

    def failure(self) -> tuple | None:
        """Waits for the end.  Returns the status and how the program failed, None if it did not."""
        code = self._process.wait()
        if code == 0:
            return None
        killed_by = -code if code < 0 else code - _KILLED
        by_signal = 0 < killed_by <= _MOST_SIGNAL
        output = pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace") if self.log else ""
        how = f"was killed by signal {killed_by}" if by_signal else f"ended with code {code}"
        status = "out-of-memory" if says_out_of_memory(output) else "signal" if by_signal else "exit"
        return status, how, shown(failure_reason(output), _LONGEST_REASON)

    def _log_failure(self, error: OSError) -> Failure:
        return Failure("exit", f"cannot keep its output in '{self.log}': {error.strerror}")

    def end(self) -> None:
        """Ends the program if it still runs, and what it has left behind."""
        self._ask_to_end()
        self._process.wait()
        while self._receiver.is_alive():
            with contextlib.suppress(queue.Empty):
                self._received.get(timeout=_LOOK_S)
        _kill_children()

    def _ask_to_end(self) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.killpg(self._process.pid, signal.SIGTERM)
            signal.alarm(_GRACE_S)
