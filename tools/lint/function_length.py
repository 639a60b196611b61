# SPDX-License-Identifier: Apache-2.0
"""Prints the C++ functions whose body has more lines than a limit.

    function_length.py LIMIT FILE...

clang-tidy counts the same (readability-function-size), but takes half a minute for a file that
includes torch.  This script only matches braces, so it reads every file.  The body of a function
is what its braces hold, lambdas and local classes included.  Exit status 1 where a body is too
long.
"""

import re
import sys

# Where braces do not count: comments, literals, preprocessor lines.
SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^\#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
# What stands before the body of a function, and not before other braces.
BEFORE_BODY = re.compile(
    r"\)\s*(?:(?:const|volatile|noexcept|override|final|mutable|try|&&?)\s*)*"
    r"(?:->\s*[\w:<>,*&\s]+|requires\s.+)?$", re.DOTALL)
ASSIGNMENT = re.compile(r"(?<!operator)(?<![=!<>])=(?!=)")
NAME = re.compile(r"([\w:~]+|operator\s*\S+)\s*\(")


def without_text(source):
    """The source with comments and literals emptied, line by line the same."""
    return SKIPPED.sub(lambda found: "\n" * found.group().count("\n"), source)


def functions(source):
    """Name, line and number of lines of each function's body."""
    code = without_text(source)
    open_braces = []  # (begins a function, name, offset)
    head = 0  # where the text before the next brace begins
    inside = False
    for brace in re.finditer(r"[{};]", code):
        if brace.group() == "{":
            before = code[head:brace.start()].strip()
            begins = (not inside and bool(BEFORE_BODY.search(before))
                      and not ASSIGNMENT.search(before.split("(")[0]))
            name = NAME.search(before)
            open_braces.append((begins, name.group(1) if name else before, brace.start()))
            inside = inside or begins
        elif brace.group() == "}" and open_braces:
            begins, name, start = open_braces.pop()
            if begins:
                inside = False
                yield name, code.count("\n", 0, start) + 1, code.count("\n", start, brace.start())
        head = brace.end()


def main():
    limit, bad = int(sys.argv[1]), False
    for file in sys.argv[2:]:
        with open(file, encoding="utf-8") as source:
            for name, line, lines in functions(source.read()):
                if lines > limit:
                    print(f"{file}:{line}: {name} has {lines} lines, more than {limit}")
                    bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main())
