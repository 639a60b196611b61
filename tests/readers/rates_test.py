# SPDX-License-Identifier: Apache-2.0
"""The reader of tables of published throughput."""

import unittest
from pathlib import Path

import mutations
from paceline.readers import rates
from paceline.readers.checks import Invalid

HEAD = "table_id,framework,model,precision,xla,clip,batch_size_per_device,nodes,gpus,throughput_samples_per_s"
HEAD = HEAD.replace("clip", "gradient_clipping")
ROWS = ("t,A,ResNet-50,fp32,no,,128,1,1,397.64", 't,"B, with LAMB",BERT,amp,yes,yes,32,2,16,1640')
# The columns and a part of the rows of reference/dlperf.csv.
PUBLISHED = """table_id,framework,model,precision,xla,batch_size_per_device,nodes,gpus_per_node,gpus,throughput_samples_per_s,published_speedup,flags
t,OneFlow,ResNet-50-v1.5,fp32,no,128,1,1,1,397.64,1,
t,OneFlow,ResNet-50-v1.5,fp32,no,128,1,8,8,3130.34,7.8723,
t,OneFlow,ResNet-50-v1.5,fp32,no,128,2,8,16,6260.30,15.7436,"""


def read(text):
    return mutations.records_of(rates, text)


def table(*rows, head=HEAD):
    return "\n".join([head, *rows])


class Rates(unittest.TestCase):
    def test_a_cell_a_record(self):
        one, two = read(table(*ROWS))
        self.assertEqual(one["ranks"][0]["step_ns"], [round(1e9 * 128 / 397.64)])
        self.assertEqual(one["configuration"]["ranks_per_host"], [1])
        said = two["configuration"]
        self.assertEqual((said["framework"], said["ranks_per_host"], said["compiled"]), ("B, with LAMB", [8, 8], True))
        self.assertEqual((said["env"], two["adapter"]["clipping"]), ({"gradient_clipping": "yes"}, "yes"))
        self.assertEqual(two["adapter"]["reported_samples_per_s"], "1640")
        for key in ("warmup_steps", "optimizer", "momentum", "strategy", "engine", "device"):
            self.assertIsNone(said[key])

    def test_what_a_table_leaves_out(self):
        (one,) = read("framework,batch_size_per_device,gpus,throughput_samples_per_s\nA,1,4,10")
        said = one["configuration"]
        self.assertEqual((said["model"], said["dtype"], said["ranks_per_host"]), (None, None, None))
        self.assertEqual((one["experiment"], said["ranks"]), ("damaged", 4))

    def test_mistakes(self):
        for text, why in (
            (table(ROWS[0], ROWS[0]), ":3: the cell of line 2 again"),
            (table(ROWS[0].replace("397.64", "12x")), "'12x' is not a number"),
            (table(ROWS[0].replace("397.64", "0")), "is not the throughput"),
            (table(ROWS[0].replace("128", "")), "is not an integer"),
            (table("t,A,ResNet-50,fp32,no,,128,3,16,397"), "16 devices on 3 nodes"),
            (table("t,A,ResNet-50,fp32"), "4 fields, the header has 10"),
            (table("t,,ResNet-50,fp32,no,,128,1,1,397"), "no framework"),
            (table(*ROWS, head=HEAD.replace("xla", "colour")), "'colour' is not a known column"),
            (table(*ROWS, head=HEAD.replace("xla", "model")), "'model' is there twice"),
            (table('t,"A'), "is not CSV"),
        ):
            with self.assertRaisesRegex(Invalid, why):
                read(text)

    def test_damage(self):
        class Spaced:  # so that the fields of a mutation are those of the table
            @staticmethod
            def read(source):
                return rates.read(mutations.source_of(source.text.replace(" , ", ","), source.path))

        def also(found):  # a table says its texts, batch and throughput once, but for the speed-up (reports/findings.py)
            batch, ranks, hosts = (found["configuration"][key] for key in ("batch_size", "ranks", "ranks_per_host"))
            rate = float(found["adapter"]["reported_samples_per_s"])
            at = {1: [1], 8: [8], 16: [8, 8]}
            return ranks in at and hosts in (None, at[ranks]) and found["ranks"][0]["step_ns"] == [round(1e9 * batch * ranks / rate)]

        mutations.check_mutations(self, Spaced, PUBLISHED.replace(",", " , "), also=also)

    def test_the_published_cells_of_the_project(self):
        path = Path(__file__).parents[2] / "reference" / "dlperf.csv"
        records = read(path.read_text(encoding="utf-8"))
        self.assertEqual(len(records), len(path.read_text(encoding="utf-8").splitlines()) - 1)

    def test_random_bytes(self):
        mutations.check_random_bytes(self, rates, table(*ROWS))


if __name__ == "__main__":
    unittest.main()
