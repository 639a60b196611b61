# SPDX-License-Identifier: Apache-2.0
"""JSON and units as readers take them."""

import unittest

from paceline.readers.checks import Invalid, figure
from paceline.readers.json_text import check_keys, member, number, parse, parse_several
from paceline.readers.units import unit_of


class Json(unittest.TestCase):
    def rejects(self, pattern, call, *arguments, **keys):
        with self.assertRaisesRegex(Invalid, pattern):
            call(*arguments, **keys)

    def test_errors_have_their_line(self):
        self.rejects(r"^x:3: is not JSON: ", parse, '{\n"a": 1,\n"b": }', "x")
        self.rejects(r"^x:7: is not JSON: ", parse, "{", "x", 7)
        self.rejects(
            r"^x:1: the key 'a' is there twice$", parse, '{"a": 1, "a": 2}', "x"
        )
        self.rejects(r"^x:1: is JSON of too many", parse, "[" * 100_000, "x")
        self.rejects(r"^x:1: '1+\.\.\.' is not a number", parse, "1" * 5000, "x")

    def test_numbers_are_as_precise_as_their_digits(self):
        value = parse('{"a": 1.50, "b": 3, "c": NaN, "d": true, "e": "4"}', "x")
        self.assertEqual(number(value["a"], "x", "a").half, 0.005)
        self.assertEqual(number(value["b"], "x", "b").half, 0)
        for name in "cde":
            self.rejects(
                rf"^x: {name}: '.*' is not a number$", number, value[name], "x", name
            )
        self.rejects("^x: b: 3 is less than 4$", number, 3, "x", "b", least=4)

    def test_values_one_after_the_other(self):
        self.assertEqual(parse_several('{"a": 1}{"a": 2}\n 3', "x"), [{"a": 1}, {"a": 2}, 3])
        self.rejects("^x:1: holds 2 values of JSON, not one$", parse, "1 2", "x")
        self.rejects("^x:2: is not JSON: ", parse_several, "1\n}", "x")

    def test_keys_that_are_not_known(self):
        check_keys({"a": 1}, ("a", "b"), "key", "x")
        self.rejects("^x: 'c' is not a known key; known are a, b$", check_keys, {"c": 1}, ("a", "b"), "key", "x")

    def test_members(self):
        self.assertEqual(member({"a": [1]}, "a", list, "x"), [1])
        self.rejects("^x: the key 'b' is missing$", member, {"a": 1}, "b", int, "x")
        self.rejects(
            "^x: a: 'true' is not an integer$", member, {"a": True}, "a", int, "x"
        )
        self.rejects("^x: '\\[1\\]' is not an object, which has the key 'a'$", member, [1], "a", int, "x")


class Units(unittest.TestCase):
    def seconds(self, text, unit, per_step=1):
        return unit_of(unit, "x").step_seconds(figure(text, "x", "n"), per_step)

    def test_times_of_a_step(self):
        for text, unit, seconds in (
            ("250", "ms", 0.25),
            ("4", "it/s", 0.25),
            ("1.5", "s/it", 1.5),
        ):
            self.assertEqual(self.seconds(text, unit), seconds)
        self.assertEqual(self.seconds("1,024", "img/sec", 512), 0.5)
        self.assertEqual(unit_of("Tokens per second", "x").counted, "tokens")

    def test_others_are_rejected(self):
        for unit in ("", "s/s", "it", "furlongs/s", "it/s/GPU", "/"):
            with self.assertRaisesRegex(Invalid, "^x:1: '.*' is not a known unit"):
                unit_of(unit, "x:1")
        with self.assertRaisesRegex(Invalid, "0 is not positive"):
            self.seconds("0", "it/s")


if __name__ == "__main__":
    unittest.main()
