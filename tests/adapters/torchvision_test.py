# SPDX-License-Identifier: Apache-2.0
"""The state dicts of our networks are torchvision's: names, order, shapes."""

import unittest
import pathlib
import sys

import torchvision.models

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "adapters"))
import networks  # noqa: E402


def state(network):
    return [(key, tuple(value.shape)) for key, value in network.state_dict().items()]


class Names(unittest.TestCase):
    def test_state_dicts_are_equal(self):
        for name, info in networks.NETWORKS.items():
            if info.channels != 3:
                continue  # lenet and the mlps are ours alone
            with self.subTest(name):
                theirs = getattr(torchvision.models, name)()
                ours = info.make(info.image_size, info.classes, 0.5)
                self.assertEqual(state(ours), state(theirs))


if __name__ == "__main__":
    unittest.main()
