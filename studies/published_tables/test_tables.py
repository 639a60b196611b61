# SPDX-License-Identifier: Apache-2.0
"""Every key has a request, and requests stand for what the keys name."""

import tempfile
import unittest
from pathlib import Path

from fit import FITS, with_value
from records import write_records
from tables import CLUSTERS, NOT_PREDICTED, REFERENCE, Requests, read_cells


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
        expected = {
            key.split(",", 1)[1]
            for key in keys
            if key.split(",", 1)[0] not in NOT_PREDICTED
        }
        self.assertEqual(len(expected), 593)
        self.assertEqual(set(self.requests), expected)

    def test_names_files_that_exist(self):
        for request in self.requests.values():
            self.assertTrue(Path(request["cluster"]).is_file(), request)
            if "from" in request:
                self.assertEqual(len(Path(request["from"]).read_text().splitlines()), 2)

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
    def test_names_keys_of_the_cluster_files(self):
        for constants in FITS.values():
            for constant in constants:
                for file in constant.files:
                    text = (CLUSTERS / f"{file}.toml").read_text()
                    changed = with_value(text, constant, 0.5)
                    lines = zip(text.splitlines(), changed.splitlines())
                    differ = [new for old, new in lines if old != new]
                    self.assertEqual(len(differ), 1, constant)
                    self.assertTrue(differ[0].startswith(constant.key))


if __name__ == "__main__":
    unittest.main()
