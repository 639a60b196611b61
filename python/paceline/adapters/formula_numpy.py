# SPDX-License-Identifier: Apache-2.0
"""The numbers of formula.py in NumPy, with the same bits, for frameworks that are installed without
PyTorch."""

import math

import numpy

_MASK = numpy.uint64(0xFFFFFFFF)
_INPUT_STREAM = 1
_TARGET_STREAM = 2
_PLACES_STREAM = 3
_KINDS_STREAM = 4
_REPLACEMENTS_STREAM = 5
_VOCABULARY = 30522
_COMPAT_WORDS = 2000
_MASK_TOKEN = 103
NO_LABEL = -100
BRANCH_SCALE = 0.125


def mix(x):
    """Mixes the 32 bits of each element of a uint64 array bijectively."""
    x = x ^ (x >> numpy.uint64(16))
    x = (x * numpy.uint64(0x7FEB352D)) & _MASK
    x = x ^ (x >> numpy.uint64(15))
    x = (x * numpy.uint64(0x846CA68B)) & _MASK
    return x ^ (x >> numpy.uint64(16))


def _mix_one(value):
    return int(mix(numpy.array([value], numpy.uint64))[0])


def stream_of(*words):
    stream = 0
    for word in words:
        stream = _mix_one(stream ^ (word & 0xFFFFFFFF))
    return stream


def stream_of_name(name):
    hash_ = 0x811C9DC5
    for byte in name.encode():
        hash_ = ((hash_ ^ byte) * 0x01000193) & 0xFFFFFFFF
    return _mix_one(hash_)


def _words(shape, stream):
    index = numpy.arange(math.prod(shape), dtype=numpy.uint64)
    return mix((index + numpy.uint64(stream)) & _MASK).reshape(shape)


def _unit(words):
    return (words >> numpy.uint64(8)).astype(numpy.float64) / 16777216.0


def _below(words, limit):
    return ((words * numpy.uint64(limit)) >> numpy.uint64(32)).astype(numpy.int64)


def batch(shape, classes, seed, rank):
    """Returns (float32 input of `shape`, int64 targets), the same as formula.batch."""
    words = (seed, seed >> 32, rank)
    inputs = _unit(_words(shape, stream_of(*words, _INPUT_STREAM)))
    target = _words(shape[:1], stream_of(*words, _TARGET_STREAM))
    return inputs.astype(numpy.float32), _below(target, classes)


def text_batch(shape, seed, rank, zeros=False):
    """Returns (words and types, labels) of shape [batch, tokens], the same as
    formula.text_batch."""

    def words_of(shape, name):
        return _words(shape, stream_of(seed, seed >> 32, rank, name))

    words = _below(
        words_of(shape, _INPUT_STREAM), _COMPAT_WORDS if zeros else _VOCABULARY
    )
    second = numpy.zeros_like(words)
    follows = numpy.zeros((shape[0], 1), numpy.int64)
    labels = numpy.zeros_like(words)
    if not zeros:
        tokens = shape[1]
        second[:, (tokens + 1) // 2 :] = 1
        follows = _below(words_of((shape[0], 1), _TARGET_STREAM), 2)
        places = words_of(shape, _PLACES_STREAM).argsort(axis=1)
        hidden = numpy.zeros(shape, bool)
        numpy.put_along_axis(
            hidden, places[:, : max(1, (15 * tokens + 50) // 100)], True, axis=1
        )
        labels = numpy.where(hidden, words, NO_LABEL)
        kinds = _below(words_of(shape, _KINDS_STREAM), 10)
        others = _below(words_of(shape, _REPLACEMENTS_STREAM), _VOCABULARY)
        words = numpy.where(hidden & (kinds < 8), _MASK_TOKEN, words)
        words = numpy.where(hidden & (kinds == 8), others, words)
    return numpy.stack((words, second), 1), numpy.concatenate((follows, labels), 1)


def branch_ends(names):
    """Returns the same names as formula.branch_ends."""
    names = set(names)
    return {
        name
        for name in names
        if name.endswith(".bn3.weight")
        or name.endswith(".bn2.weight")
        and name.replace(".bn2.", ".bn3.") not in names
    }


def weights(shapes, seed):
    """Returns the parameters of a network by name, with the values of formula.fill_by_formula."""
    ends = branch_ends(shapes)
    return {
        name: _weight(name, shape, seed, BRANCH_SCALE if name in ends else 1.0)
        for name, shape in shapes.items()
    }


def _weight(name, shape, seed, factor):
    unit = _unit(_words(shape, stream_of(seed, seed >> 32, stream_of_name(name))))
    if len(shape) > 1:
        bound = math.sqrt(6.0 / (math.prod(shape) // shape[0]))
        values = (2 * unit - 1) * bound
    else:
        center = 1.0 if name.endswith("weight") else 0.0
        values = factor * (center + 0.125 * (2 * unit - 1))
    return values.astype(numpy.float32)
