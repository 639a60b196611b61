# SPDX-License-Identifier: Apache-2.0
"""What the validator says of a table, and what it does not say of a right one."""

import csv
import unittest

from paceline.reports.facts import facts_of, merged_facts
from paceline.reports.markdown import escaped, printable
from report_case import PUBLISHED, ROOT, ReportCase, failed, measured, with_facts


class Published(ReportCase):
    """The tables of DLPerf's report V1.0."""

    @classmethod
    def setUpClass(cls):
        case = cls()
        case.setUp()
        cls.report = case.report_of(PUBLISHED)
        case.doCleanups()

    def test_every_finding_is_one_of_the_reference(self):
        with (ROOT / "reference" / "dlperf_findings.csv").open(encoding="utf-8", newline="") as file:
            expected = [tuple(row.values()) for row in csv.DictReader(file)]
        found = [
            (result.table.model, result.table.title, one.column, one.text)
            for result in self.report.results
            for one in result.findings
        ]
        self.assertEqual(found, expected)

    def test_no_published_cell_is_excluded(self):
        for result in self.report.results:
            self.assertFalse([one.text for one in result.findings if one.excludes])

    def test_six_tables_of_four_rows(self):
        tables = [result.table for result in self.report.results]
        self.assertEqual([len(table.rows) for table in tables], [4] * 6)
        self.assertEqual([row.place for row in tables[0].rows], ["1n1d", "1n8d", "2n16d", "4n32d"])
        self.assertEqual(sum(len(table.columns) for table in tables), 42)
        self.assertEqual((tables[0].title, tables[0].unit), ("FP32, batch size = 128", "img/s"))

    def test_every_cell_and_speed_up_is_as_published(self):
        cells = speed_ups = 0
        for table in (result.table for result in self.report.results):
            for column in table.columns:
                for devices, cell in column.cells.items():
                    [run] = cell.runs
                    self.assertEqual(cell.text(), run["adapter"]["reported_samples_per_s"])
                    cells += 1
                    published = run["adapter"].get("published_speed_up")
                    times = column.speed_up(devices)
                    if published is not None and times is not None:
                        self.assertEqual(float(f"{times:.6g}"), float(published))
                        speed_ups += 1
        self.assertEqual(cells, len(self.report.runs))
        self.assertGreater(speed_ups, 100)

    def test_columns_say_what_they_are(self):
        titles = [column.title for r in self.report.results for column in r.table.columns]
        for title in ("NGC TensorFlow 1.x w/XLA bsz=224", "PaddlePaddle w/DALI bsz=196"):
            self.assertEqual(titles.count(title), 1, title)

    def test_absent_cells_are_dashes(self):
        first = self.report.results[0]
        self.assertEqual(first.throughput.rows[3][:6], ["4", "32", "-", "11331.93", "9514.64", "-"])
        self.assertEqual(first.speed_up.rows[3][2], "-")
        self.assertEqual(first.speed_up.rows[1][2], "7.8723x, 98.4 %")


class Measured(ReportCase):
    def test_a_right_table_has_no_finding(self):
        records = [measured(name, ranks) for name in "ab" for ranks in (1, 2)]
        for record in records:
            record["adapter"] |= {"flops": "9", "loss_fifth": "1.5"}
        self.assertEqual(self.found(self.file_of(records)), [])

    def test_throughput_that_falls(self):
        [found] = self.found(self.rates("a,bert,fp32,8,1,1,100.00", "a,bert,fp32,8,1,2,99.5"))[:1]
        self.assertEqual(found, "a: throughput falls from 100.00 on 1n1d to 99.50 on 1n2d")

    def test_a_speed_up_beyond_the_devices_cannot_be(self):
        records = [measured("a"), measured("a", 2, 7)]
        report = self.report_of(self.file_of(records))
        [found] = [one for one in report.results[0].findings if one.excludes]
        self.assertEqual(
            found.text,
            "a speed-up of 2.29 on 2 devices cannot be: the figures are not of one setting",
        )
        self.assertEqual(report.results[0].throughput.rows[0][2], "1000.0 (not comparable)")

    def test_less_than_half_of_linear_on_a_node(self):
        for ranks, step_ms, count in ((8, 17, 1), (8, 16, 0)):
            with self.subTest(step_ms=step_ms):
                found = self.found(self.file_of([measured("a"), measured("a", ranks, step_ms)]))
                self.assertEqual(sum("less than half of linear" in one for one in found), count)

    def test_a_published_speed_up_is_that_of_the_throughput_beside_it(self):
        for published, count in (("7.8723", 0), ("7.9", 0), ("8", 0), ("", 0), ("7.94", 1), ("9", 1), ("many", 1)):
            with self.subTest(published=published):
                rows = ("a,bert,fp32,32,1,1,100.00,1", f"a,bert,fp32,32,1,8,787.23,{published}")
                found = self.found(self.rates(*rows, more=",published_speedup"))
                self.assertEqual(len(found), count, found)
                if published == "7.94":
                    self.assertEqual(
                        found[0],
                        "a: the published speed-up of 7.94 on 1n8d is not that of the throughput "
                        "beside it, which is 7.87",
                    )

    def test_runs_of_one_column_that_differ_say_so(self):
        versions, layouts = ("1.0", "1.0", "1.1"), ("NCHW", "NHWC", "NCHW")
        records = [
            measured("a", run=run, framework_version=version, layout=layout, exchange="all-reduce")
            for run, (version, layout) in enumerate(zip(versions, layouts))
        ]
        found = self.found(self.file_of(records))
        self.assertEqual(
            found[:2],
            ["a: its runs differ in layout: NCHW or NHWC", "a: its runs are of several versions: 1.0 or 1.1"],
        )
        self.assertNotIn("exchange", " ".join(found))

    def test_runs_that_spread(self):
        for step_ms, count in ((8, 0), (9, 1)):
            with self.subTest(step_ms=step_ms):
                records = [measured("a", 1, ms, run) for run, ms in enumerate((8, 8, step_ms))]
                found = self.found(self.file_of(records))
                self.assertEqual(sum("the 3 runs on 1n1d spread by 5.7 %" in one for one in found), count, found)

    def test_columns_of_other_recipes_and_machines(self):
        records = [measured("a", layout="NCHW"), measured("b", layout="NHWC"), measured("c", layout="NCHW")]
        records[1] = with_facts(records[1], cpu_model="EPYC")
        found = self.found(self.file_of(records))
        self.assertIn(": the columns differ in layout: NCHW (a, c); NHWC (b)", found)
        self.assertIn(": its figures were measured on 2 sets of machines", found)

    def test_a_check_that_does_not_hold_excludes(self):
        records = [measured("a"), measured("b")]
        records[1]["verified"] = {"ranks_hold_equal_parameters": False}
        [result] = self.report_of(self.file_of(records)).results
        [found] = [one for one in result.findings if one.excludes]
        self.assertEqual(found.text, "1 device on 1 node: ranks_hold_equal_parameters does not hold")
        self.assertEqual(result.throughput.rows[0][2:], ["1000.0", "1000.0 (not comparable)"])

    def test_training_that_differs_excludes_where_it_does(self):
        records = [measured(name, ranks) for name in "ab" for ranks in (1, 2)]
        records[3]["adapter"]["loss_first"] = "2.9"
        path = self.file_of(records)
        [result] = self.report_of(path).results
        self.assertEqual([row[3] for row in result.throughput.rows], ["1000.0", "2000.0 (not comparable)"])
        self.assertIn("Left out of the charts: b (not comparable).", self.printed(path))

    def test_remarks_of_the_source(self):
        rows = ("a,bert,fp32,8,1,1,100,cold", "a,bert,fp32,8,1,2,200,cold")
        found = self.found(self.rates(*rows, more=",flags"))
        self.assertEqual(found, ["a: the source remarks on 1n1d: cold"])


class Facts(ReportCase):
    def test_nothing_is_said_of_commands_and_of_what_did_not_run(self):
        records = [measured("a"), failed(measured("b"), "it is not installed"), measured("")]
        records[2]["configuration"] |= {"label": "c", "command": "train"}
        printed = self.json_of(self.file_of(records))
        all_facts = [facts_of(run, printed["environments"]) for run in printed["runs"]]
        self.assertEqual(["optimizer" in facts for facts in all_facts], [True, False, False])

    def test_what_optimizers_leave_of_weight_decay_is_said(self):
        for optimizer, more in (
            ("adamw", ""),
            ("lamb", " but of biases and normalizations, epsilon 1e-6"),
            ("lars", " but of biases and normalizations"),
        ):
            asked = {"learning_rate": 2, "weight_decay": 0.5, "optimizer": optimizer}
            printed = self.json_of(self.file_of([measured("a", asked=asked)]))
            self.assertEqual(
                facts_of(printed["runs"][0], [])["optimizer"],
                f"{optimizer}, learning rate 2, weight decay 0.5{more}",
            )

    def test_numbers_are_the_shortest(self):
        asked = {"learning_rate": 1, "weight_decay": 1e-5, "optimizer": "bert-adamw"}
        printed = self.json_of(self.file_of([measured("a", asked=asked)]))
        self.assertEqual(
            facts_of(printed["runs"][0], [])["optimizer"],
            "bert-adamw, learning rate 1, weight decay 1e-05 but of biases and normalizations, epsilon 1e-6",
        )

    def test_the_scaling_of_losses_is_that_of_amp_on_a_gpu(self):
        for dtype, device, scaling in (("amp", "cuda", "dynamic"), ("amp", "cpu", "none"), ("fp32", "cuda", "none")):
            asked = {"label": "fusion", "strategy": "fusion", "dtype": dtype, "device": device}
            printed = self.json_of(self.file_of([measured("", asked=asked)]))
            facts = facts_of(printed["runs"][0], printed["environments"])
            self.assertEqual((facts["loss_scaling"], facts["exchange"]), (scaling, "fusion over gloo"))

    def test_each_value_is_named_once(self):
        runs = [{"data": "a"}, {"data": ""}, {"data": "b"}, {"data": "a"}, {"world": "1"}, {"world": "2"}]
        self.assertEqual(merged_facts(runs), ({"data": "a or b", "world": "1"}, {"data"}))


class Texts(unittest.TestCase):
    def test_no_text_of_a_record_becomes_markup(self):
        self.assertEqual(printable("a\nb\x1b[1m\u202ec\x9b"), "a b?[1m?c?")
        self.assertEqual(escaped("a|b*[x](y) <é>"), r"a\|b\*[x]\(y) \<é\>")


if __name__ == "__main__":
    unittest.main()
