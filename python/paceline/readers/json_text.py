# SPDX-License-Identifier: Apache-2.0
"""Parses JSON for readers: errors name the line, a key may occur only once, and numbers keep their
printed digits."""

import json
import re

from .checks import Figure, Invalid, exactly, figure, one_of, shown

_MAX_INTEGER_DIGITS = 40  # largest number of digits of an integer
_SPACE = re.compile(r"\s*")


class PrintedNumber(float):
    """A floating-point number that keeps the text with which it was printed."""

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.text = text
        return made


def parse(text: str, path: str, first_line: int = 1):
    """Parses `text`.  Floating-point numbers become PrintedNumber; NaN and infinities are kept, and
    number() rejects them by name."""
    values = parse_several(text, path, first_line)
    if len(values) != 1:
        raise Invalid(f"{path}:{first_line}", f"holds {len(values)} values of JSON, not one")
    return values[0]


def parse_several(text: str, path: str, first_line: int = 1) -> list:
    """Parses the values that `text` holds one after the other, as in files that `cat` joined."""
    place = f"{path}:{first_line}"
    decoder = json.JSONDecoder(
        parse_float=PrintedNumber,
        parse_int=lambda digits: _integer(digits, place),
        object_pairs_hook=lambda pairs: _object(pairs, place),
    )
    values, at = [], _after_spaces(text, 0)
    try:
        while at < len(text) or not values:
            value, end = decoder.raw_decode(text, at)
            values.append(value)
            at = _after_spaces(text, end)
        return values
    except json.JSONDecodeError as error:
        line = first_line + text.count("\n", 0, error.pos)
        raise Invalid(f"{path}:{line}", f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise Invalid(f"{path}:{first_line}", "is JSON of too many levels") from None


def _after_spaces(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _integer(digits: str, place: str) -> int:
    if len(digits) > _MAX_INTEGER_DIGITS:
        raise Invalid(place, f"'{shown(digits)}' is not a number of a log")
    return int(digits)


def _object(pairs: list, place: str) -> dict:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(place, f"the key '{shown(twice)}' is there twice")
    return found


class Place:
    """A value in the JSON of a source, identified by the keys and indices that lead to it.  `place`
    is the path, the line on which the value ends, and these keys: r.json:3: results[0].ranks."""

    def __init__(self, source, way: tuple = ()):
        self._source, self._way = source, way

    def at(self, *way) -> "Place":
        return Place(self._source, (*self._way, *way))

    @property
    def place(self) -> str:
        text = self._source.text
        try:
            line = f":{1 + text.count(chr(10), 0, _end(text, 0, self._way))}"
        except RecursionError:  # the JSON has very many nested levels
            line = ""
        steps = (f"[{one}]" if isinstance(one, int) else f".{one}" for one in self._way)
        return f"{self._source.path}{line}: {''.join(steps).lstrip('.')}"


def _end(text: str, at: int, way: tuple) -> int:
    """Returns the position where a value ends: the value that `way` leads to from the value at
    `at`.  The text is JSON."""
    at = _SPACE.match(text, at).end()
    if not way:
        return json.JSONDecoder().raw_decode(text, at)[1]
    is_object, index = text[at] == "{", 0
    while True:
        key, at = index, _SPACE.match(text, at + 1).end()
        if is_object:
            key, at = json.decoder.scanstring(text, at + 1)
            at = text.index(":", at) + 1
        if key == way[0]:
            return _end(text, at, way[1:])
        at = _SPACE.match(text, _end(text, at, ())).end()
        index += 1


def member(value, key: str, kind: type, place):
    """Returns value[key], which must be of type `kind`: dict, list, str, int or bool; object allows
    any type."""
    if not isinstance(value, dict):
        raise Invalid(place, f"'{shown(json.dumps(value))}' is not an object, which has the key '{key}'")
    if key not in value:
        raise Invalid(place, f"the key '{key}' is missing")
    found = value[key]
    if not isinstance(found, kind) or (isinstance(found, bool) and kind not in (bool, object)):
        names = {dict: "an object", list: "a list", str: "a text", int: "an integer"}
        what = names.get(kind, "true or false")
        raise Invalid(place, f"{key}: '{shown(json.dumps(found))}' is not {what}")
    return found


def check_keys(value: dict, known, what: str, place) -> None:
    """Rejects by name a key that is not known."""
    for key in value:
        one_of(key, known, what, place)


def number(value, place, name: str, *, least: float = None) -> Figure:
    """Returns a number as a figure: an integer is exact, other numbers are as precise as their
    digits."""
    if isinstance(value, PrintedNumber):
        return figure(value.text, place, name, least=least)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(place, f"{name}: '{shown(json.dumps(value))}' is not a number")
    if least is not None and value < least:
        raise Invalid(place, f"{name}: {value} is less than {least:g}")
    return exactly(value, place, name)
