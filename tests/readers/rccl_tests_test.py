# SPDX-License-Identifier: Apache-2.0
"""The reader of what rccl-tests -Z writes: right files as the program writes them, and wrong ones."""

import unittest

import mutations
import nccl_log
from paceline.readers import rccl_tests, table
from paceline.readers.checks import Invalid
from paceline.readers.lines import Source
from paceline.readers.record import has_wrong_values

NAMES = {
    "AllReduce": "all_reduce_perf",
    "AllGather": "all_gather_perf",
    "ReduceScatter": "reduce_scatter_perf",
    "Broadcast": "broadcast_perf",
    "SendRecv": "sendrecv_perf",
}
# What a file says once, and the kinds of places, of which it may have one alone.
ONCE = {"wrong_elements", "warnings"}


def rows(name="AllReduce", *, world={"nodes": 1, "ranks": 8, "ranksPerNode": 8, "gpusPerRank": 1}, cycles=1, **other):
    ranks = world.get("gpus") or world["ranksPerNode"] * world["gpusPerRank"]
    found = []
    for cycle in range(cycles):
        for size in (2**20, 2**22, 2**24):
            for in_place in (0, 1):
                time = (size / 4e4 + 43.21 + cycle) * (1 - in_place / 100)
                rate = size / time * 1e-3
                reduction = "sum" if "Reduce" in name or name == "SendRecv" else "none"
                found.append(
                    {"numCycle": cycle, "name": name, **world, "size": size, "type": "float", "redop": reduction}
                    | {"inPlace": in_place, "time": time, "algBw": rate}
                    | {"busBw": rate * nccl_log.FACTOR[NAMES[name]](ranks), "wrong": "0", **other}
                )
    return found


def shown(value):
    return f'"{value}"' if isinstance(value, str) else f"{value:f}" if isinstance(value, float) else str(value)


def as_json(values):
    lines = ["{" + ", ".join(f'"{key}":{shown(one)}' for key, one in row.items()) + "}" for row in values]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def as_csv(values):
    known = "gpus," if "gpus" in values[0] else "ranks,rankspernode,gpusperrank,"
    head = f"numCycle,collective,{known}size,type,redop,inplace,time,algbw,busbw,#wrong"
    return "\n".join([head, *(",".join(map(shown, row.values())) for row in values)]) + "\n"


def of_2024(values):
    """Without cycles, a row written as it is measured, spaces behind commas."""
    return [{key: one for key, one in row.items() if key != "numCycle"} for row in values]


def read(text):
    return mutations.records_of(rccl_tests, text)


class Right(unittest.TestCase):
    def test_no_bytes(self):  # of an all-gather whose shares are less than an element
        none = [{**one, "size": 0, "algBw": 0.0, "busBw": 0.0} for one in rows("AllGather")[:2]]
        self.assertEqual([one["bytes"] for one in read(as_json(none + rows("AllGather")))], [0, 2**20, 2**22, 2**24])

    def test_files_joined(self):
        more = rows("AllGather", world={"gpus": 4})
        for form in (as_json, as_csv):
            source = mutations.source_of(form(rows()) + form(more) + form(rows()))
            self.assertEqual(list(rccl_tests.read(source)), read(form(rows())) + read(form(more)))
            self.assertRegex(source.notes[0], "that of line [12] again, counted once")

    def test_both_forms_of_both_generations(self):
        records = read(as_json(rows()))
        self.assertEqual([one["bytes"] for one in records], [2**20, 2**22, 2**24])
        first = records[0]
        self.assertEqual((first["operation"], first["op"], first["engine"]), ("all-reduce", "sum", "rccl"))
        self.assertEqual((first["iteration_ns"], first["in_place"]["iteration_ns"]), ([69424], [68730]))
        self.assertEqual((first["ranks"], first["mean_of"], first["warmup"], first["root"]), (8, None, None, None))
        self.assertIsNone(first["ranks_per_host"])  # the file does not say hosts
        self.assertEqual(read(as_csv(rows())), records)
        old = of_2024(rows())
        self.assertEqual(read(as_json(old)[2:-2].replace("},", "}")), records)
        csv = as_csv(old).replace("numCycle,", "").replace(",", ", ")
        self.assertEqual(read(csv), records)
        for text in (as_json(rows()), as_csv(rows()), csv, as_json(old)[2:-2].replace("},", "}")):
            self.assertEqual(table.reader_of(Source("x", text.encode())).name, "rccl-tests")

    def test_every_operation(self):
        for name in NAMES:
            for form in (as_json, as_csv):
                first = read(form(rows(name)))[0]
                self.assertEqual(first["op"], "sum" if "Reduce" in name else None)
                self.assertEqual(first["bytes"], 2**20)

    def test_the_size_of_a_reduce_scatter_was_that_of_its_result(self):
        old = [{**row, "size": row["size"] // 8} for row in rows("ReduceScatter")]
        self.assertEqual(read(as_json(old)), read(as_json(rows("ReduceScatter"))))

    def test_without_mpi_all_ranks_are_of_one_host(self):
        for form in (as_json, as_csv):
            first = read(form(rows(world={"gpus": 4})))[0]
            self.assertEqual((first["ranks"], first["ranks_per_host"]), (4, [4]))

    def test_groups_are_counted_as_nodes(self):
        world = {"nodes": 2, "ranks": 16, "ranksPerNode": 8, "gpusPerRank": 2}
        first = read(as_json(rows(world=world)))[0]
        self.assertEqual((first["ranks"], first["warnings"][0]["code"]), (16, "other-groups"))

    def test_cycles_and_places_alone(self):
        records = read(as_json(rows(cycles=3)))
        self.assertEqual([len(one["iteration_ns"]) for one in records], [3] * 3)
        self.assertEqual([len(one["in_place"]["iteration_ns"]) for one in records], [3] * 3)
        for place, name in ((0, "out-of-place"), (1, "in-place")):
            found = read(as_csv([row for row in rows() if row["inPlace"] == place]))
            self.assertEqual([one["place"] for one in found], [name] * 3)
            self.assertEqual([one["in_place"] for one in found], [None] * 3)

    def test_wrong_values(self):
        self.assertTrue(has_wrong_values(read(as_csv(rows(wrong="7")))[0]))
        self.assertIsNone(read(as_json(rows(wrong="N/A")))[0]["wrong_elements"])


class Rejected(unittest.TestCase):
    def test_with_the_line(self):
        for change, why in (
            ({"busBw": 30.0}, r":3: 4194304 bytes|:2: 1048576 bytes: bus bandwidth"),
            ({"time": 0.0}, "a time of 0.000000 us"),
            ({"ranks": 16}, "16|1 x 8"),
            ({"type": "real"}, "'real' is not a known type"),
            ({"redop": "xor"}, "'xor' is not a known reduction"),
            ({"inPlace": 2}, "'2' is not a known place"),
            ({"wrong": "-3"}, "wrong: '-3'|wrong: -3"),
        ):
            with self.subTest(change=change), self.assertRaisesRegex(Invalid, why):
                read(as_json(rows(**change)))
        with self.assertRaisesRegex(Invalid, ":2: 'AlltoAll' is not a known operation of Paceline"):
            read(as_json(rows()).replace("AllReduce", "AlltoAll"))

    def test_a_row_less(self):
        for gone in (0, 1, 5):
            with self.assertRaisesRegex(Invalid, "a row is missing"):
                read(as_csv([row for k, row in enumerate(rows()) if k != gone]))

    def test_columns(self):
        for old, new in (("busbw,", "busbw,busbwfactor,"), ("size,type", "type,size"), ("time,", "")):
            with self.assertRaises(Invalid):
                read(as_csv(rows()).replace(old, new, 1))
        with self.assertRaisesRegex(Invalid, "'color' is not a known key"):
            read(as_json(rows(color=1)))


class Damaged(unittest.TestCase):
    def test_mutations(self):
        for text in (as_json(rows()), as_csv(rows("Broadcast")), as_csv(rows(world={"gpus": 4}, cycles=2))):
            mutations.check_mutations(self, rccl_tests, text, ONCE)

    def test_random_bytes(self):
        for text in (as_json(rows()), as_csv(rows())):
            mutations.check_random_bytes(self, rccl_tests, text, inputs=50_000)


if __name__ == "__main__":
    unittest.main()
