# SPDX-License-Identifier: Apache-2.0
"""Every key has a request, and requests stand for what the keys name."""

import tempfile
import unittest
from pathlib import Path

import fit
from error_table import FAMILIES, is_of, numbers_of, pair_errors
from records import write_records
from tables import (
    REFERENCE,
    ROOT,
    Cell,
    Requests,
    read_cells,
)


class EveryKey(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cells = read_cells()
        records = write_records(Path(cls.folder.name))
        requests = Requests(cls.cells, records)
        cls.requests = {c.row_id: requests.request(c) for c in cls.cells}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_has_a_request(self):
        keys = (REFERENCE / "prediction_keys.csv").read_text().splitlines()[1:]
        expected = {key.split(",", 1)[1] for key in keys}
        self.assertEqual(len(expected), 629)
        self.assertEqual(set(self.requests), expected)

    def test_names_files_that_exist(self):
        for request in self.requests.values():
            self.assertTrue(Path(request["cluster"]).is_file(), request)
            if "measured" in request:
                lines = Path(request["measured"]).read_text().splitlines()
                self.assertEqual(len(lines), 2)

    def test_holds_no_number_of_its_own_cell(self):
        """Requests do not change with the published number of what is scored."""
        other = [
            c if c.is_input else type(c)(c.table, c.row_id, 1.0, c.flags)
            for c in self.cells
        ]
        records = write_records(Path(self.folder.name))
        requests = Requests(other, records)
        for cell in other:
            self.assertEqual(self.requests[cell.row_id], requests.request(cell))

    def test_counts_servers_beside_workers(self):
        request = self.requests["WFBP-PS|BERT-Base|10GbE|16"]
        self.assertEqual(request["ranks"], 20)
        self.assertEqual(request["hosts"].count(":4"), 4)
        self.assertEqual(request["hosts"].count(":1"), 4)
        self.assertIn("servers=4", request["strategy"])


class Fits(unittest.TestCase):
    def test_names_keys_of_the_data_files(self):
        for family in fit.FAMILIES.values():
            for constant in family.constants:
                for file in constant.files:
                    text = (ROOT / file).read_text(encoding="utf-8")
                    changed = fit.with_value(text, constant, 0.123)
                    lines = zip(text.splitlines(), changed.splitlines())
                    differ = [new for old, new in lines if old != new]
                    self.assertEqual(len(differ), 1, constant)
                    self.assertTrue(differ[0].startswith(constant.key))

    def test_every_family_has_cells(self):
        for family in fit.FAMILIES.values():
            self.assertGreater(len(fit.cells_of(family)), 10, family)


class ErrorTable(unittest.TestCase):
    bsp = Cell("ddl_benchmarks", "BSP-A2A|ResNet-50|10GbE|8", 100.0)
    wfbp = Cell("ddl_benchmarks", "WFBP-A2A|ResNet-50|10GbE|8", 100.0)
    other = Cell("ddl_benchmarks", "WFBP-A2A|ResNet-50|10GbE|16", 100.0)
    errors = {bsp.row_id: 10.0, wfbp.row_id: -12.0, other.row_id: 2.0}

    def test_pairs_strategies_of_one_job(self):
        pairs = pair_errors([self.bsp, self.wfbp, self.other], self.errors)
        self.assertEqual(len(pairs), 1)
        self.assertAlmostEqual(pairs[0], 100 * (110 / 88 - 1))

    def test_takes_the_larger_of_own_and_left_out_errors(self):
        cells = [self.bsp, self.wfbp, self.other]
        merged = FAMILIES[0]
        own = numbers_of(merged, 0.5, cells, self.errors, {})
        self.assertEqual((own["cells"], own["p90_percent"]), (3, 10.0))
        better = {self.bsp.row_id: 1.0}
        self.assertEqual(
            numbers_of(merged, 0.5, cells, self.errors, better), own
        )
        worse = {self.bsp.row_id: 30.0}
        found = numbers_of(merged, 0.5, cells, self.errors, worse)
        self.assertEqual((found["cells"], found["p90_percent"]), (1, 30.0))
        self.assertIn("left out", found["how"])

    def test_every_scored_cell_of_several_hosts_tells_of_one_family(self):
        for cell in read_cells():
            families = [it for it in FAMILIES if is_of(cell, it)]
            self.assertLessEqual(len(families), 1, cell)


if __name__ == "__main__":
    unittest.main()
