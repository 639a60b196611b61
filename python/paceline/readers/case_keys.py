# SPDX-License-Identifier: Apache-2.0
"""The keys of a case in a record, read from the schema docs/record.schema.json."""

import json
from pathlib import Path


def _read():
    package = Path(__file__).parents[1]
    places = [package / "record.schema.json", package.parents[1] / "docs" / "record.schema.json"]
    text = next(place for place in places if place.is_file()).read_text(encoding="utf-8")
    return json.loads(text)["$defs"]["configuration"]


_SCHEMA = _read()
_PROPERTIES = _SCHEMA["properties"]


def _of_type(kind: str) -> set:
    return {key for key, rule in _PROPERTIES.items() if kind in (rule["type"], rule["type"][0])}


INTEGERS = _of_type("integer")
NUMBERS = _of_type("number")
SWITCHES = _of_type("boolean")
REQUIRED_KEYS = list(_SCHEMA["required"])  # their values are null if the source of the record does
                                           # not state them
OPTIONAL_KEYS = [key for key in _PROPERTIES if key not in REQUIRED_KEYS]
DEFAULTS = {key: _PROPERTIES[key]["default"] for key in REQUIRED_KEYS}
