# SPDX-License-Identifier: Apache-2.0
"""Damages right logs, and requires that a reader then tells the truth or says what is wrong.

What a damaged log may end in:
- one sentence (checks.Invalid, or a note that a run is left out) that begins with the path, or
- records of which each is a record of the right log.  They differ from it in `once` alone, the
  keys that the log says only once, so that nothing in it contradicts another value.  There are
  as many as before, but for a mutation that took a line away.
Everything else fails: another number, a record more, a record less, a traceback.
"""

import random
import re

from paceline.readers.checks import Invalid
from paceline.readers.lines import Source

SEED = 20261128
PATH = "damaged.log"
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_SCALES = (10, 0.1, 1000, 0.001, 2, 0.5, 1024, 100)


def _drop_line(lines, dice):
    del lines[dice.randrange(len(lines))]


def _double_line(lines, dice):
    at = dice.randrange(len(lines))
    lines.insert(at, lines[at])


def _swap_lines(lines, dice):
    a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _fields(lines, dice):
    at = dice.randrange(len(lines))
    return at, re.split(r"(\s+)", lines[at])


def _drop_field(lines, dice):
    at, fields = _fields(lines, dice)
    del fields[2 * dice.randrange((len(fields) + 1) // 2)]
    lines[at] = "".join(fields)


def _double_field(lines, dice):
    at, fields = _fields(lines, dice)
    one = 2 * dice.randrange((len(fields) + 1) // 2)
    fields[one:one] = [fields[one], " "]
    lines[at] = "".join(fields)


def _swap_fields(lines, dice):
    at, fields = _fields(lines, dice)
    a, b = (2 * dice.randrange((len(fields) + 1) // 2) for _ in range(2))
    fields[a], fields[b] = fields[b], fields[a]
    lines[at] = "".join(fields)


def _rescale_field(lines, dice):
    places = [
        (at, match) for at, line in enumerate(lines) for match in _NUMBER.finditer(line)
    ]
    if places:
        at, match = dice.choice(places)
        value = float(match[0]) * dice.choice(_SCALES)
        digits = len(match[0].partition(".")[2])
        text = f"{value:.{digits}f}" if value >= 1 or digits else f"{value:.4g}"
        lines[at] = lines[at][: match.start()] + text + lines[at][match.end() :]


KINDS = {
    "drop a line": _drop_line,
    "double a line": _double_line,
    "swap two lines": _swap_lines,
    "drop a field": _drop_field,
    "double a field": _double_field,
    "swap two fields": _swap_fields,
    "rescale a field": _rescale_field,
}


def mutated(text: str, rounds: int = 1000, seed: int = SEED):
    """(kind, damaged text), `rounds` times; the same ones for the same seed."""
    dice = random.Random(seed)
    for _ in range(rounds):
        kind = dice.choice(list(KINDS))
        lines = text.split("\n")
        KINDS[kind](lines, dice)
        yield kind, "\n".join(lines)


def without(value, keys):
    if isinstance(value, dict):
        return {
            key: without(one, keys) for key, one in value.items() if key not in keys
        }
    return [without(one, keys) for one in value] if isinstance(value, list) else value


def source_of(text, path: str = PATH) -> Source:
    return Source(path, text if isinstance(text, bytes) else text.encode())


def records_of(reader, text, path: str = PATH) -> list:
    return list(reader.read(source_of(text, path)))


def check_mutations(
    test, reader, text: str, once=(), rounds: int = 1000, also=None, path: str = PATH
) -> None:
    """Fails `test` where a damaged copy of `text` ends in something that it must not.

    `also(found)` says whether a record is another truth: that of the log without its first or last
    lines, of which nothing tells that they were there, or without what its head alone says.
    """
    right = [without(one, once) for one in records_of(reader, text, path)]
    test.assertTrue(right)
    sentences = 0
    for number, (kind, damaged) in enumerate(mutated(text, rounds)):
        with test.subTest(mutation=number, kind=kind):
            source = source_of(damaged, path)
            try:
                found = [without(one, once) for one in reader.read(source)]
            except Invalid as error:
                test.assertRegex(str(error), rf"^{re.escape(path)}(:\d+)?: .")
                test.assertNotIn("\n", str(error))
                sentences += 1
                continue
            sentences += source.has_left_out
            left = list(right)
            for one in found:
                if also and one not in left and also(one):
                    left.pop()
                    continue
                test.assertIn(one, left, "another record, or one more")
                left.remove(one)
            if kind != "drop a line" and not source.has_left_out:
                test.assertEqual(left, [], "a record less")
    test.assertGreater(sentences, rounds // 5)


def check_random_bytes(
    test, reader, text: str, inputs: int = 100_000, path: str = PATH
) -> None:
    """Nothing but Invalid leaves the reader for any bytes: noise, and pieces of a log with noise."""
    dice = random.Random(SEED)
    content = text.encode()
    lines = content.split(b"\n")
    for number in range(inputs):
        if number % 4 == 0:
            damaged = dice.randbytes(dice.randrange(60))
        else:
            begin = dice.randrange(len(lines))
            piece = bytearray(b"\n".join(lines[begin : begin + dice.randrange(1, 6)]))
            for _ in range(dice.randrange(4)):
                at = dice.randrange(len(piece) + 1)
                piece[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(4))
            damaged = bytes(piece)
        try:
            source = Source(path, damaged)
            reader.recognizes(source)
            list(reader.read(source))
        except Invalid:
            pass
        except Exception as error:
            test.fail(f"{damaged!r}: {error!r}")
