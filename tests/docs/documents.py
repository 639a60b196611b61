# SPDX-License-Identifier: Apache-2.0
"""The commands of `paceline` that the documents show, and the output that is shown below them."""

import dataclasses
import pathlib
import re

COMMAND = re.compile(r"\s*(?P<prompt>\$ )?(?P<text>(?:[A-Z]+=\S+ )*(?:build/)?paceline .*)")
INLINE = re.compile(r"`((?:build/)?paceline [^`]+)`")
VARIABLE = re.compile(r'[A-Z]+="[^"]*"\s*$')


@dataclasses.dataclass
class Shown:
    """One command in a document."""

    where: str  # "docs/comm.md:10"
    text: str  # continued lines are joined; without the prompt
    variables: str = ""  # assignments of the same block, for the shell
    inline: bool = False  # between backticks, in a sentence
    output: list = dataclasses.field(default_factory=list)  # the lines shown below a command with a prompt


def commands_of(root, path):
    """Yields every command of the document at `path`, in blocks and between backticks."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    name = str(pathlib.Path(path).relative_to(root))
    number = 0
    while number < len(lines):
        if lines[number].lstrip().startswith("```"):
            end = next(k for k in range(number + 1, len(lines)) if lines[k].lstrip().startswith("```"))
            yield from commands_of_block(name, lines, number + 1, end)
            number = end
        else:
            for text in INLINE.findall(lines[number]):
                yield Shown(f"{name}:{number + 1}", text, inline=True)
        number += 1


def commands_of_block(name, lines, first, end):
    """Yields the commands of the block of lines[first:end]; output belongs to the prompt above it."""
    shown, variables, number = None, "", first
    while number < end:
        line = lines[number]
        match = COMMAND.fullmatch(line)
        if match:
            where, text = f"{name}:{number + 1}", match["text"]
            while text.endswith("\\"):
                number += 1
                text = text[:-1] + lines[number].strip()
            shown = Shown(where, text, variables)
            yield shown
            shown = shown if match["prompt"] else None
        elif VARIABLE.match(line):
            variables += line + "\n"
        elif line.startswith("$ "):
            shown = None
        elif shown:
            shown.output.append(line)
        number += 1
