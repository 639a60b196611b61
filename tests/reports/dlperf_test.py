# SPDX-License-Identifier: Apache-2.0
"""DLPerf's report as it is printed."""

import json
import os
import subprocess
import sys
import unittest

from report_case import PUBLISHED, ReportCase, failed, measured, with_facts


def rich_records():
    """What the report shows, once each."""
    records = []
    for run, step_ms in enumerate((8, 9, 10)):
        for ranks in (1, 2, 4):
            records.append(measured("alpha", ranks, step_ms, run, layout="NCHW", framework_version="1.2"))
            if ranks < 4:
                records.append(measured("beta", ranks, 4, run, layout="NHWC", docker="x:1|2"))
    records += [
        measured("gamma", 1, 8, loss_first="7.5"),
        measured("", 1, 8, asked={"label": "fusion", "strategy": "fusion", "clip_norm": 0.5}),
        measured("beta", 2, 4, asked={"compiled": True, "env": {"A": "1"}}, compiler="xla"),
        measured("alpha", 1, 6, asked={"model": "bert-base", "dtype": "amp", "optimizer": "bert-adamw"}),
        failed(measured("epsilon"), "epsilon is not installed here", "not-installed"),
        failed(measured("zeta", 2), "ended with *code* 3", "exit"),
    ]
    records[0]["warnings"] = [
        {"code": "busy-machine", "seen": "a load of 9", "why": "others compute", "advice": "wait"},
        {"code": "shortened-protocol", "seen": "5 steps", "why": "it has 100", "advice": "leave out"},
    ]
    records[1]["verified"] = {"ranks_hold_equal_parameters": False}
    records[2]["configuration"]["ranks_per_host"] = None
    records[-3] = with_facts(records[-3], cpu_model="EPYC", cores="2")
    records[-3]["environment"]["hosts"][0] |= {"host": "b", "topology": "Machine\n  Core 0\n"}
    records[-3]["started_at"] = "2024-06-01T00:00:00Z"
    return records


class Golden(ReportCase):
    """Files of golden/, each the whole report."""

    def test_published_cells(self):
        self.golden("published.md", self.printed(PUBLISHED))

    def test_measured_frameworks(self):
        self.golden("measured.md", self.printed(self.file_of(rich_records())))


class Alone(ReportCase):
    def run_module(self, *arguments, text=""):
        return subprocess.run(
            [sys.executable, "-m", "paceline.reports.dlperf", *arguments],
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def test_the_module_prints_what_the_program_does(self):
        path = self.file_of(rich_records())
        text = self.printed(path, "json")
        self.assertEqual(self.run_module(text=text).stdout, self.printed(path))
        given = self.folder / "report.json"
        given.write_text(text, encoding="utf-8")
        self.assertEqual(self.run_module(str(given)).stdout, self.printed(path))

    def test_another_text_is_one_sentence(self):
        for text in ("", "{", "[]", "{}", '{"version": 1, "cases": []}'):
            with self.subTest(text=text):
                done = self.run_module(text=text)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn("paceline report --format json", done.stderr)


class Columns(ReportCase):
    def titles(self, records):
        [result] = self.report_of(self.file_of(records)).results
        return [column.title for column in result.table.columns]

    def test_runs_of_other_settings_are_other_columns(self):
        asked = {"label": "fusion", "strategy": "fusion", "image_size": 224}
        settings = ({}, {"clip_norm": 1}, {"image_size": 64}, {"data": "digits"})
        records = [measured("", asked=asked | more) for more in settings]
        # A run like the first, on more devices: fewer threads, another seed.
        records.append(measured("", 2, asked={**asked, "seed": 7, "threads": 2}))
        usual = "paceline fusion image_size=224"
        self.assertEqual(
            sorted(self.titles(records)),
            sorted([usual, f"{usual} clip_norm=1", "paceline fusion image_size=64", f"{usual} data=digits"]),
        )

    def test_threads_that_were_asked_for_are_other_columns(self):
        records = [measured("a", asked={"threads": threads}) for threads in (1, 2)]
        self.assertEqual(self.titles(records), ["a threads=1", "a threads=2"])

    def test_a_figure_is_the_median_of_the_runs(self):
        records = [measured("a", 1, step_ms, run) for run, step_ms in enumerate((8, 4, 16))]
        [result] = self.report_of(self.file_of(records)).results
        [cell] = result.table.columns[0].cells.values()
        self.assertEqual(cell.rate, 1000.0)
        low, high = cell.interval
        self.assertTrue(low < 1000.0 < high)
        records[1]["configuration"]["seed"] = 7  # a case of its own
        [result] = self.report_of(self.file_of(records)).results
        [cell] = result.table.columns[0].cells.values()
        self.assertEqual((cell.rate, cell.interval), (1000.0, None))


class Shown(ReportCase):
    def test_what_a_log_does_not_say_is_no_figure(self):
        unsaid = dict.fromkeys(("model", "batch_size", "ranks", "dtype"))
        log = self.file_of([{**measured("", asked={"label": "log", **unsaid}), "source": "imported"}])
        [result] = self.report_of(log).results
        self.assertEqual(result.table.title, "-, batch size = -")
        self.assertEqual(result.throughput.rows, [["-", "-", "-"]])
        self.assertEqual(result.speed_up.rows, [["-", "-", "-"]])
        text = self.printed(log)
        self.assertIn("- devices: -\n- number types: -\n", text)
        self.assertIn("## -: training throughput, samples/s\n", text)

    def test_containers_and_sources_where_records_say_them(self):
        rows = "a,bert,fp32,32,1,1,100.00"
        without = self.report_of(self.rates(rows)).frameworks
        self.assertEqual(without.columns, ["column", "version", "exchange", "features", "data"])
        more = self.rates(rows + ",nvcr.io/x:20.03,examples 4b119d7", more=",docker,model_source")
        table = self.report_of(more).frameworks
        self.assertEqual(table.columns[2:4], ["docker", "model source"])
        self.assertEqual(table.rows[0][2:4], ["nvcr.io/x:20.03", "examples 4b119d7"])

    def test_warnings_of_all_figures_are_options(self):
        text = self.printed(self.file_of(rich_records()))
        self.assertIn("- **busy machine**: a load of 9; others compute\n", text)
        self.assertIn("- **shortened**: 5 steps; it has 100\n", text)

    def test_a_cell_without_a_figure_has_its_reason(self):
        text = self.printed(self.file_of(rich_records()))
        self.assertIn("not run (1)", text)
        self.assertIn("(1) epsilon is not installed here", text)
        self.assertIn(r"(2) ended with \*code\* 3", text)

    def test_columns_of_one_reason_share_its_number(self):
        records = [failed(measured(name), "it is not here", "not-installed") for name in "ab"]
        [result] = self.report_of(self.file_of(records)).results
        self.assertEqual(result.footnotes, ["it is not here"])
        self.assertEqual(result.throughput.rows, [["1", "1", "not run (1)", "not run (1)"]])

    def test_a_chart_has_as_many_lines_as_colors(self):
        records = [measured(name, ranks) for name in "abcdefgh" for ranks in (1, 2)]
        text = self.printed(self.file_of(records))
        self.assertEqual(text.count("    line ["), 7 + 8)
        self.assertIn("Left out of the charts: h (too many lines).", text)

    def test_a_speed_up_has_at_most_six_decimals(self):
        rows = ("a,bert,fp32,32,1,1,100.00,1", "a,bert,fp32,32,1,8,787.23,7.87230000")
        [result] = self.report_of(self.rates(*rows, more=",published_speedup")).results
        self.assertEqual(result.speed_up.rows[1][2], "7.872300x, 98.4 %")

    def test_a_column_without_one_figure_is_in_a_chart_of_the_other_rows(self):
        records = [measured("a", ranks) for ranks in (1, 2, 4)]
        records += [measured("b", ranks, 4) for ranks in (1, 2)]
        text = self.printed(self.file_of(records))
        self.assertIn('["1", "2", "4"]', text)
        self.assertIn("line [2000, 4000]", text[text.index('["1", "2"]') :])
        self.assertNotIn("Left out", text)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONIOENCODING", "utf-8")
    unittest.main()
