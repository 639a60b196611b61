# SPDX-License-Identifier: Apache-2.0
"""The command in the head of a log that `paceline run` wrote: "# paceline run --model mlp ...".

It names each setting that is not as Paceline has it by default, so that it says the whole case.
"""

import shlex

from .checks import Invalid, count, figure, shown

BEGIN = "# paceline run"
_MOST = 2**64 - 1  # a seed
# The keys of a configuration in docs/record.schema.json, by what their flags are followed by.
INTEGERS = set(
    "batch_size image_size classes sequence_length ranks threads warmup_steps steps accumulate seed trainers servers "
    "embeddings embedding_dim staleness steps_per_line evaluate_every average_buffers lr_warmup".split()
)
NUMBERS = set("bucket_mib learning_rate momentum weight_decay zipf stretch target clip_norm".split())
SWITCHES = set("compat_zeros channels_last compat_accumulate sync_each_step compat_relu compiled".split())
TEXTS = set(
    "model strategy engine device dtype optimizer placement pooling row_optimizer row_dtype row_gradients lookup "
    "sparse_engine link replay start framework command launcher step_regex step_unit reader rate_scope python cluster "
    "data split lr_decay".split()
)
_FLAGS = {"bucket_mib": "bucket_mb", "warmup_steps": "warmup"}  # where they have another name
# A record always states these; the command has them where they are otherwise.
DEFAULTS = {
    "bucket_mib": 25,
    "dtype": "fp32",
    "channels_last": False,
    "warmup_steps": 5,
    "accumulate": 1,
    "compat_accumulate": False,
    "sync_each_step": False,
    "seed": 0,
    "optimizer": "sgd",
    "learning_rate": 0.001,
    "momentum": 0.9,
    "weight_decay": 1e-4,
}


def _flag_of(key: str) -> str:
    return "--" + _FLAGS.get(key, key).replace("_", "-")


_KEYS = {_flag_of(key): key for key in INTEGERS | NUMBERS | SWITCHES | TEXTS | {"ranks_per_host", "env"}}


def read_command(line) -> dict:
    """The keys of a configuration that the command in `line` says."""
    try:
        words = shlex.split(line.text[len(BEGIN) :])
    except ValueError:
        raise Invalid(line, f"'{shown(line.text)}' is a command with a quote that does not end") from None
    said, at = dict(DEFAULTS), 0
    while at < len(words):
        flag = words[at]
        key = _KEYS.get(flag)
        if key is None:
            raise Invalid(line, f"'{shown(flag)}' is not a flag of a case")
        if key in SWITCHES:
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
    elif key in INTEGERS:
        said[key] = count(text, line, flag, most=_MOST if key == "seed" else 2**31 - 1)
    elif key in NUMBERS:
        said[key] = figure(text, line, flag).value
    else:
        said[key] = text
