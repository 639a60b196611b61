# SPDX-License-Identifier: Apache-2.0
"""Why a program failed, from its output."""

import unittest

from paceline.readers.failure_reason import failure_reason

NO_TRACEBACK = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


def torchrun_says(rank, exit_code, traceback):
    """What torchrun 2.13 writes after the output of its ranks."""
    rule, frame = "-" * 60, "=" * 60
    log = "16572 torch/distributed/elastic/multiprocessing/api.py"
    return f"""W1128 22:59:43.318000 {log}:1028] Sending process 16659 closing signal SIGTERM
E1128 22:59:43.320000 {log}:1002] failed (exitcode: {exit_code}) local_rank: 1 (pid: 16660) of binary: /usr/bin/python
Traceback (most recent call last):
  File "/opt/torch/distributed/run.py", line 1032, in <module>
    main()
           ^^^^^^
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
{frame}
train.py FAILED
{rule}
Failures:
[1]:
  time      : 2026-11-28_22:59:43
  host      : localhost
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 16659)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 16659
{rule}
Root Cause (first observed failure):
[0]:
  time      : 2026-11-28_22:59:43
  host      : localhost
  rank      : {rank} (local_rank: 1)
  exitcode  : {exit_code} (pid: 16660)
  error_file: <N/A>
  traceback : {traceback}
{frame}
"""


def raised(prefix, exception):
    lines = ["Traceback (most recent call last):", '  File "train.py", line 4, in <module>', "    train()", exception]
    return "".join(f"{prefix}{line}\n" for line in lines)


class FailureReason(unittest.TestCase):
    def is_reason(self, reason, output):
        self.assertEqual(failure_reason(output), reason)

    def test_of_torchrun_is_the_exception_of_its_child(self):
        end = torchrun_says(1, 1, NO_TRACEBACK)
        self.is_reason("ValueError: no such layer", raised("", "ValueError: no such layer") + end)
        for prefix in ("[rank1]: ", "[default1]:"):
            self.is_reason(
                "ValueError: no such layer",
                raised("[rank0]: ", "RuntimeError: Connection closed")
                + raised(prefix, "ValueError: no such layer")
                + end,
            )

    def test_of_torchrun_without_an_exception(self):
        self.is_reason("no such GPU", "epoch 1\nno such GPU\n" + torchrun_says(1, 3, NO_TRACEBACK))
        self.is_reason("rank 1: exit code 3", torchrun_says(1, 3, NO_TRACEBACK))
        signal = "Signal 11 (SIGSEGV) received by PID 7"
        self.is_reason(f"rank 1: {signal}", "epoch 1\n" + torchrun_says(1, -11, signal))
        # The output of the ranks went to files of torchrun's.
        traceback = raised("  ", "RuntimeError: boom").strip()
        self.is_reason("RuntimeError: boom", torchrun_says(1, 1, traceback))

    def test_is_the_exception_rather_than_its_last_line(self):
        self.is_reason(
            "RuntimeError: CUDA error: 3",
            raised("", "RuntimeError: CUDA error: 3") + "For debugging consider passing LAUNCH_BLOCKING\n",
        )
        self.is_reason(
            "ValueError: y",
            raised("", "KeyError: 'x'")
            + "\nDuring handling of the above exception, another exception occurred:\n\n"
            + raised("", "ValueError: y"),
        )
        self.is_reason("ValueError: y", raised("0: ", "ValueError: y"))

    def test_an_exception_that_was_caught_is_none(self):
        steps = "".join(f"step {i}\n" for i in range(20))
        self.is_reason("no such GPU", raised("", "ImportError: no flash") + steps + "no such GPU\n")

    def test_is_nothing_that_launchers_say_of_every_failure(self):
        rule = "-" * 74 + "\n"
        self.is_reason(
            "no such GPU",
            f"no such GPU\n{rule}Primary job  terminated normally, but 1 process returned\n"
            "a non-zero exit code. Per user-direction, the job has been aborted.\n"
            f"{rule}{rule}mpirun detected that one or more processes exited with non-zero status\n\n"
            f"  Exit code:    1\n{rule}",
        )
        self.is_reason("no such GPU", "no such GPU\nsrun: error: n1: task 1: Exited with exit code 1\n")
        self.is_reason("no such GPU", 'no such GPU\n====\n{"event": 1}\n')
        self.is_reason("", "\n====\n")


if __name__ == "__main__":
    unittest.main()
