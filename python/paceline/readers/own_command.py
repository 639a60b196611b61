# SPDX-License-Identifier: Apache-2.0
"""The command in the head of a log that `paceline run` wrote: "# paceline run --model mlp ...".

The command states each setting that differs from Paceline's default, so it describes the whole
case.
"""

import shlex

from . import case_keys
from .checks import Invalid, count, figure, shown

BEGIN = "# paceline run"
_MOST = 2**64 - 1  # a seed
_FLAGS = {"bucket_mib": "bucket_mb", "warmup_steps": "warmup"}  # keys whose flags have other names
# A record always has the keys of _DEFAULTS, which the command has only if their values are not the
# defaults. The command always has the keys of _ALWAYS_IN_COMMAND.
_ALWAYS_IN_COMMAND = set("label discard model batch_size ranks strategy engine device steps".split())
_DEFAULTS = {key: value for key, value in case_keys.DEFAULTS.items() if key not in _ALWAYS_IN_COMMAND}
# Keys of a case that have no flag.
_NO_FLAGS = {"label", "discard", "not_run"}


def _flag_of(key: str) -> str:
    return "--" + _FLAGS.get(key, key).replace("_", "-")


_KEYS = {_flag_of(key): key for key in set(case_keys.REQUIRED_KEYS + case_keys.OPTIONAL_KEYS) - _NO_FLAGS}
# Flags of earlier versions, with today's flags.
_FORMER = {
    "--compat-zeros": [],
    "--compat-relu": [],
    "--compat-accumulate": [],
    "--row-gradients": ["dense"],
    "--lookup": ["sequential"],
}


def read_command(line) -> dict:
    """Returns the keys of a configuration that the command in `line` states."""
    try:
        words = shlex.split(line.text[len(BEGIN) :])
    except ValueError:
        raise Invalid(line, f"'{shown(line.text)}' is a command with a quote that does not end") from None
    said, at = dict(_DEFAULTS), 0
    while at < len(words):
        flag = words[at]
        if flag in _FORMER:
            values = words[at + 1 : at + 1 + len(_FORMER[flag])]
            said["as_original"] = said.get("as_original", False) or values == _FORMER[flag]
            at += 1 + len(_FORMER[flag])
            continue
        key = _KEYS.get(flag)
        if key is None:
            raise Invalid(line, f"'{shown(flag)}' is not a flag of a case")
        if key in case_keys.SWITCHES:
            said[key] = True
            at += 1
            continue
        if at + 1 == len(words):
            raise Invalid(line, f"{flag} has no value")
        _assign(said, key, words[at + 1], line, flag)
        at += 2
    return said


def _assign(said: dict, key: str, text: str, line, flag: str) -> None:
    if key == "env":
        name, _, value = text.partition("=")
        said.setdefault("env", {})[name] = value
    elif key == "ranks_per_host":
        said[key] = [count(part, line, flag) for part in text.split("+")]
    elif key in case_keys.INTEGERS:
        said[key] = count(text, line, flag, most=_MOST if key == "seed" else 2**31 - 1)
    elif key in case_keys.NUMBERS:
        said[key] = figure(text, line, flag).value
    else:
        said[key] = text
