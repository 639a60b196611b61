# SPDX-License-Identifier: Apache-2.0
"""The lines of BlueFog's benchmark."""

import unittest

from paceline.readers.record import rank
from report_case import ReportCase, failed, measured

MS = 1_000_000


def two_iterations(*ranks, device="cuda", steps=21):
    """Ranks whose first ten steps and second ten steps take so many milliseconds; one step is left over."""
    asked = {
        "strategy": "fusion+neighbor-allreduce",
        "model": "resnet50",
        "batch_size": 64,
        "device": device,
        "steps": steps,
    }
    record = measured("", len(ranks), asked=asked)
    record["ranks"] = [
        rank([first * MS] * 10 + [second * MS] * 10 + [1], rank=i, host="a", device=device)
        for i, (first, second) in enumerate(ranks)
    ]
    return record


class Bluefog(ReportCase):
    def log(self, *records):
        return self.printed(self.file_of(records), "bluefog")

    def test_lines_are_the_originals_to_the_character(self):
        """Rates of rank 0: 640 and 320; of rank 1: 640 and 640; together 1280 and 960.
        numpy: 1.96 * std([640, 320]) = 313.6, of the sums the same."""
        self.assertEqual(
            self.log(two_iterations((100, 200), (100, 100), steps=20)),
            "# fusion+neighbor-allreduce on 2 ranks\n"
            "Model: resnet50\n"
            "Batch size: 64\n"
            "Number of GPUs: 2\n"
            "Running warmup...\n"
            "Running benchmark...\n"
            "Iter #0: 640.0 img/sec per GPU\n"
            "Iter #1: 320.0 img/sec per GPU\n"
            "[0] Img/sec per GPU: 480.0 +-313.6\n"
            "[1] Img/sec per GPU: 640.0 +-0.0\n"
            "Total img/sec on 2 GPU(s): 1120.0 +-313.6\n",
        )

    def test_says_that_a_run_lacks_the_exchange(self):
        run = two_iterations((100, 100))
        run["warnings"] = [
            {
                "code": "lacks-exchange",
                "seen": "21 steps of 30",
                "why": "the case is INVALID",
                "advice": "30",
            }
        ]
        self.assertTrue(
            self.log(run).startswith(
                "# fusion+neighbor-allreduce on 1 rank\n"
                "# lacks-exchange: 21 steps of 30: the case is INVALID\n"
            )
        )

    def test_says_what_is_to_be_said_against_a_run(self):
        run = two_iterations((100, 100))
        run["warnings"] = [
            {"code": "one-host", "seen": "all on\x1b one", "why": "nothing crosses", "advice": "take two"}
        ]
        run["link_check"] = {"operations": 21, "late_operations": 3, "slack_ns": -2 * MS}
        self.assertTrue(
            self.log(run).startswith(
                "# fusion+neighbor-allreduce on 1 rank\n"
                "# one-host: all on? one: nothing crosses\n"
                "# slower-than-link: 3 of 21 operations ended after the emulated link would have delivered "
                "them, one by 2.000 ms: the case is INVALID: its times are those of this machine, not of the "
                "link\n"
                "Model: resnet50\n"
            )
        )

    def test_says_cpu_where_there_is_no_gpu(self):
        text = self.log(two_iterations((100, 100), device="cpu"))
        self.assertIn("Number of CPUs: 1\n", text)
        self.assertIn("Total img/sec on 1 CPU(s): 640.0 +-0.0\n", text)
        self.assertNotIn("GPU", text)

    def test_says_what_has_no_ten_steps(self):
        brief = two_iterations((100, 100), steps=9)
        del brief["ranks"][0]["step_ns"][9:]
        discarded = two_iterations((100, 100), steps=20)
        discarded["configuration"]["discard"] = True
        self.assertEqual(
            self.log(failed(two_iterations((100, 100)), "rank 0: killed"), brief, discarded),
            "# fusion+neighbor-allreduce on 1 rank failed: rank 0: killed\n"
            "# no iteration: 10 steps make one, and the case has 9\n",
        )

    def test_says_which_steps_are_left_out(self):
        run = two_iterations((100, 200), steps=25)
        self.assertTrue(self.log(run).endswith("\n# the last 5 of 25 steps are in no iteration of 10\n"))
        run = two_iterations((100, 200), steps=12)
        del run["ranks"][0]["step_ns"][12:]
        self.assertTrue(
            self.log(run).endswith(
                "+-0.0\n# one iteration has no spread: +-0.0 says nothing\n"
                "# the last 2 of 12 steps are in no iteration of 10\n"
            )
        )

    def test_every_record_only_appends(self):
        first, second = two_iterations((100, 200)), two_iterations((50, 50), (60, 60))
        self.assertTrue(self.log(first, second).startswith(self.log(first)))

    def test_says_what_has_no_number_of_samples(self):
        unsaid = two_iterations((100, 100))
        unsaid["configuration"]["batch_size"] = None
        tables = two_iterations((100, 100))
        tables["configuration"]["model"] = "hybrid"
        self.assertEqual(
            self.log(unsaid, tables),
            "# fusion+neighbor-allreduce on 1 rank: its source does not say how many samples a step has\n"
            "# fusion+neighbor-allreduce on 1 rank: the samples of a step vary; "
            "--format trainers counts them\n",
        )


if __name__ == "__main__":
    unittest.main()
