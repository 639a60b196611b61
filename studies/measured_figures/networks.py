# SPDX-License-Identifier: Apache-2.0
"""Profiles of networks that are not built in, from the sizes of their layers.

The times of the layers are in the ratio of their multiplications: a measured figure says what they
are together.
"""

WORDS = 51200  # of a vocabulary that a table does not say


def profile(name, layers, samples):
    """`layers`: name, sizes of the weight and multiplications of a sample, in forward order."""
    modules, parameters = [], []
    for layer, sizes, products in layers:
        us = products * 1e-6
        modules.append({"name": layer, "forward_us": us})
        parameters.append({"name": f"{layer}.weight", "sizes": sizes, "module": layer, "backward_us": 2 * us})
    return {
        "paceline_profile": 1,
        "model": name,
        "origin": "sizes of layers",
        "device": "cuda",
        "dtype": "fp32",
        "batch_size": samples,
        "update_us": 0,
        "peak_memory_bytes": None,
        "modules": modules,
        "parameters": parameters,
        "ready_order": [one["name"] for one in reversed(parameters)],
    }


def decoder(name, hidden, layers, samples, *, key_value=None, wide=None, gates=0, words=WORDS, heads=1):
    """The linear layers of a decoder; `gates`: widened layers beside the first; `heads`: matrices of
    the vocabulary, the first of which only looks words up."""
    wide = wide or 4 * hidden
    rows = [("qkv", hidden + 2 * (key_value or hidden), hidden), ("out", hidden, hidden)]
    rows += [(f"wide{number}", wide, hidden) for number in range(1 + gates)] + [("narrow", hidden, wide)]
    all_layers = [("words", [words, hidden], 0)]
    for layer in range(layers):
        for part, height, width in rows:
            all_layers.append((f"{layer}.{part}", [height, width], height * width))
    if heads > 1:
        all_layers.append(("head", [words, hidden], words * hidden))
    return profile(name, all_layers, samples)


def retinanet(samples):
    """MLPerf's RetinaNet: ResNeXt-50 32x4d, 800 x 800 pixels, 264 classes, 9 anchors."""
    layers = []

    def add(name, outputs, inputs, kernel, *sides, groups=1):
        sizes = [outputs, inputs // groups, kernel, kernel]
        count = outputs * inputs // groups * kernel * kernel
        layers.append((name, sizes, count * sum(side * side for side in sides)))

    add("stem", 64, 3, 7, 400)
    inputs = 64
    for stage, (blocks, width, side) in enumerate([(3, 128, 200), (4, 256, 100), (6, 512, 50), (3, 1024, 25)]):
        for block in range(blocks):
            name = f"{stage}.{block}"
            before = 2 * side if block == 0 and stage > 0 else side
            add(f"{name}.conv1", width, inputs, 1, before)
            add(f"{name}.conv2", width, width, 3, side, groups=32)
            add(f"{name}.conv3", 2 * width, width, 1, side)
            if block == 0:
                add(f"{name}.shortcut", 2 * width, inputs, 1, side)
            inputs = 2 * width
    for channels, side in ((512, 100), (1024, 50), (2048, 25)):
        add(f"pyramid.{channels}.inner", 256, channels, 1, side)
        add(f"pyramid.{channels}.layer", 256, 256, 3, side)
    add("pyramid.6", 256, 256, 3, 13)
    add("pyramid.7", 256, 256, 3, 7)
    levels = (100, 50, 25, 13, 7)
    for head, outputs in (("classes", 9 * 264), ("boxes", 9 * 4)):
        for layer in range(4):
            add(f"{head}.{layer}", 256, 256, 3, *levels)
        add(f"{head}.last", outputs, 256, 3, *levels)
    return profile("retinanet", layers, samples)
