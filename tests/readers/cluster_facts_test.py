# SPDX-License-Identifier: Apache-2.0
"""What files without times say of a cluster: nvidia-smi topo -m, and Slurm's variables."""

import unittest

from paceline.readers.cluster_facts import Contradiction, facts_of

PAIR = """\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity
GPU0\t X \tNV18\tPIX\tSYS\t0-31
GPU1\tNV18\t X \tSYS\tPIX\t0-31
NIC0\tPIX\tSYS\t X \tSYS
NIC1\tSYS\tPIX\tSYS\t X
"""
TWO = "SLURM_NODELIST=gpu-[001-002]\nSLURM_TASKS_PER_NODE=8(x2)\n"


class Topology(unittest.TestCase):
    def test_counts_devices_links_and_cards(self):
        links = {"nvlinks": 18, "most_nvlinks": 18, "nvlinks_of_a_device": 18}
        self.assertEqual(facts_of(PAIR), {"devices_per_host": 2, "network_cards": 2, **links})

    def test_links_are_the_fewest_the_most_and_the_sum(self):
        text = "\tGPU0\tGPU1\tGPU2\tCPU Affinity\n"
        text += "GPU0\tX\tNV2\tNV1\t0\nGPU1\tNV2\tX\tSYS\t0\nGPU2\tNV1\tSYS\tX\t0\n"
        facts = facts_of(text)
        self.assertEqual([facts[key] for key in ("nvlinks", "most_nvlinks", "nvlinks_of_a_device")], [0, 2, 3])

    def test_one_device_has_no_links(self):
        facts = facts_of("\tGPU0\tCPU Affinity\nGPU0\t X \t0-31\n")
        self.assertEqual((facts["devices_per_host"], facts["nvlinks"], facts["nvlinks_of_a_device"]), (1, 0, 0))

    def test_a_matrix_is_square_and_of_one_mind(self):
        for row in ("GPU1\tNV18", "NIC0\tPIX", "NIC1\tSYS"):
            with self.assertRaises(Contradiction):
                facts_of(PAIR[: PAIR.index(row)])
        with self.assertRaisesRegex(Contradiction, "GPU0 has NV18 to GPU1, and GPU1 has NV12 to GPU0"):
            facts_of(PAIR.replace("GPU1\tNV18", "GPU1\tNV12"))
        with self.assertRaisesRegex(Contradiction, "holds no row of a GPU"):
            facts_of(PAIR[PAIR.index("GPU0\t X") :])


class Slurm(unittest.TestCase):
    def test_nodes_and_tasks(self):
        facts = facts_of("SLURM_JOB_NODELIST=node[01-03],gpu7\nSLURM_TASKS_PER_NODE=8(x4)\nSLURM_NTASKS=32\n")
        self.assertEqual((facts["node_list"], facts["slots"]), ("node[01-03],gpu7", 8))
        self.assertEqual(facts["nodes"], {"nodes of SLURM_TASKS_PER_NODE": 4})
        self.assertEqual(facts["tasks"], {"SLURM_NTASKS": 32})

    def test_gpus_are_no_tasks(self):
        facts = facts_of("SLURM_NODELIST=a,b\nSLURM_GPUS_ON_NODE=4\nSLURM_NTASKS=2\nSLURM_NNODES=2\n")
        self.assertEqual((facts["slots"], facts["nodes"], facts["tasks"]), (4, {"SLURM_NNODES": 2}, {}))

    def test_rejects_unequal_nodes_and_contradictions(self):
        for text in (
            "SLURM_NODELIST=a\n",
            "SLURM_NODELIST=a\nSLURM_TASKS_PER_NODE=8,4\n",
            "SLURM_NODELIST=a\nSLURM_TASKS_PER_NODE=0\n",
            TWO + "SLURM_NTASKS_PER_NODE=4\n",
            TWO + "SLURM_NNODES=two\n",
        ):
            with self.assertRaises(Contradiction, msg=text):
                facts_of(text)

    def test_other_files_say_nothing(self):
        for text in ("", "a:4\n", "HOME=/root\nSLURM_JOB_ID=7\n"):
            self.assertFalse(facts_of(text), text)


if __name__ == "__main__":
    unittest.main()
