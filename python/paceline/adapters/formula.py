# SPDX-License-Identifier: Apache-2.0
"""Weights and batches that are computed from an index and the number of a random stream alone.
"""

import math

import torch

_MASK = 0xFFFFFFFF
_INPUT_STREAM = 1
_TARGET_STREAM = 2
_PLACES_STREAM = 3
_KINDS_STREAM = 4
_REPLACEMENTS_STREAM = 5
_NON_ZERO_PER_UNIT = 8.0
_VOCABULARY = 30522
_COMPAT_WORDS = 2000
_MASK_TOKEN = 103
NO_LABEL = -100
# The scale of the last batch norm of a residual branch; weights.cc gives the reason.
BRANCH_SCALE = 0.125
_CHUNK = 1 << 20


def mix(x):
    """Mixes 32 bits bijectively; `x` is an int, or an int64 tensor of such values."""
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & _MASK
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & _MASK
    return x ^ (x >> 16)


def stream_of(*words):
    """Returns the number of the stream that the 32-bit `words`, in this order, identify."""
    stream = 0
    for word in words:
        stream = mix(stream ^ (word & _MASK))
    return stream


def stream_of_name(name):
    hash_ = 0x811C9DC5
    for byte in name.encode():
        hash_ = ((hash_ ^ byte) * 0x01000193) & _MASK
    return mix(hash_)


def _tabulate(shape, stream, dtype, value):
    """Returns a contiguous tensor whose element i is value(w), where w is word i of the
    stream."""
    out = torch.empty(shape, dtype=dtype)
    flat = out.view(-1)
    for start in range(0, flat.numel(), _CHUNK):
        stop = min(start + _CHUNK, flat.numel())
        index = torch.arange(start, stop, dtype=torch.int64)
        flat[start:stop] = value(mix((index + stream) & _MASK))
    return out


def _unit(word):
    """Converts a word to a float64 that is uniform in [0, 1), a multiple of 2^-24."""
    return (word >> 8).to(torch.float64) / 16777216.0


def _below(word, limit):
    return (word * limit) >> 32


def batch(shape, classes, seed, rank, integers=False):
    """Returns (input of `shape` in float32, int64 targets) with the same values as make_batch in
    C++."""
    words = (seed, seed >> 32, rank)
    stream = stream_of(*words, _INPUT_STREAM)
    if integers:
        inputs = _tabulate(shape, stream, torch.float32, lambda w: _below(w, 4))
    else:
        inputs = _tabulate(shape, stream, torch.float32, _unit)
    stream = stream_of(*words, _TARGET_STREAM)
    target = _tabulate(
        shape[:1], stream, torch.int64, lambda w: _below(w, classes)
    )
    return inputs, target


def _words_of(shape, stream):
    return _tabulate(shape, stream, torch.int64, lambda word: word)


def text_batch(shape, seed, rank, zeros=False):
    """Returns (words and types, labels) of shape [batch, tokens] with the same values as make_batch
    in C++."""

    def stream(name):
        return stream_of(seed, seed >> 32, rank, name)

    def uniform(shape, name, limit):
        return _below(_words_of(shape, stream(name)), limit)

    words = uniform(shape, _INPUT_STREAM, _COMPAT_WORDS if zeros else _VOCABULARY)
    second = torch.zeros_like(words)
    follows = torch.zeros(shape[0], 1, dtype=torch.int64)
    labels = torch.zeros_like(words)
    if not zeros:
        tokens = shape[1]
        second[:, (tokens + 1) // 2 :] = 1
        follows = uniform((shape[0], 1), _TARGET_STREAM, 2)
        places = _words_of(shape, stream(_PLACES_STREAM)).argsort(dim=1)
        hidden = torch.zeros(shape, dtype=torch.bool).scatter_(
            1, places[:, : max(1, (15 * tokens + 50) // 100)], True
        )
        labels = torch.where(hidden, words, NO_LABEL)
        kinds = uniform(shape, _KINDS_STREAM, 10)
        others = uniform(shape, _REPLACEMENTS_STREAM, _VOCABULARY)
        words = torch.where(hidden & (kinds < 8), _MASK_TOKEN, words)
        words = torch.where(hidden & (kinds == 8), others, words)
    return torch.stack((words, second), 1), torch.cat((follows, labels), 1)


def _fan_in(parameter):
    return float(parameter.numel() // parameter.shape[0])


def _fill(network, seed, element):
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            stream = stream_of(seed, seed >> 32, stream_of_name(name))
            parameter.copy_(
                _tabulate(
                    parameter.shape,
                    stream,
                    torch.float32,
                    element(name, parameter),
                )
            )


def branch_ends(names):
    """Returns the names of the scales of the batch norms that end residual branches: the
    second one of a basic block, the third one of a bottleneck."""
    names = set(names)
    return {
        name
        for name in names
        if name.endswith(".bn3.weight")
        or name.endswith(".bn2.weight")
        and name.replace(".bn2.", ".bn3.") not in names
    }


def fill_by_formula(network, seed):
    """Fills the parameters: weights with the variance of He et al., scales near 1, shifts near 0.

    Scales that end residual branches are near 1/8.
    """
    ends = branch_ends(name for name, _ in network.named_parameters())

    def element(name, parameter):
        if parameter.dim() > 1:
            bound = math.sqrt(6.0 / _fan_in(parameter))
            return lambda w: (2 * _unit(w) - 1) * bound
        center = 1.0 if name.endswith("weight") else 0.0
        factor = BRANCH_SCALE if name in ends else 1.0
        return lambda w: factor * (center + 0.125 * (2 * _unit(w) - 1))

    _fill(network, seed, element)


def fill_with_integers(network, seed):
    """Fills the parameters with -1, 0 or 1, about eight of them non-zero for each output unit."""

    def element(_, parameter):
        density = 1.0
        if parameter.dim() > 1:
            density = min(1.0, _NON_ZERO_PER_UNIT / _fan_in(parameter))

        def value(word):
            unit = _unit(word)
            return (unit < density).double() - 2 * (unit < density / 2).double()

        return value

    _fill(network, seed, element)


def integer_loss(logits, target):
    """Returns the sum over the batch of logit[target] - logit[target + 1]."""
    index = target.unsqueeze(1)
    following = (index + 1).remainder(logits.shape[1])
    return (logits.gather(1, index) - logits.gather(1, following)).sum()


def fingerprint(tensor):
    """Returns a hash of a tensor's bits in logical order, equal to that of the C++ function."""
    plain = tensor.detach().cpu().contiguous().view(-1)
    bits = plain.view(torch.int16 if plain.element_size() == 2 else torch.int32)
    mask = 0xFFFF if plain.element_size() == 2 else _MASK
    total = 0
    for start in range(0, bits.numel(), _CHUNK):
        word = bits[start : start + _CHUNK].to(torch.int64) & mask
        index = torch.arange(start, start + word.numel(), dtype=torch.int64)
        total += mix(word ^ mix(index & _MASK)).sum().item()
    return total


def fingerprint_all(tensors):
    """Returns the wrapping sum of each tensor's fingerprint times its position, counted from 1."""
    total = sum(
        place * fingerprint(tensor) for place, tensor in enumerate(tensors, 1)
    )
    return total % (1 << 64)
