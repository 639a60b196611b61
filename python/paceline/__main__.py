# SPDX-License-Identifier: Apache-2.0
"""The command `paceline`: replaces this Python process by the program of this package."""

import os
import sys

from paceline.program import NotUsable, program


def main():
    try:
        path, environment = program()
    except NotUsable as error:
        print(f"paceline: {error}", file=sys.stderr)
        return 3
    os.execve(path, [str(path), *sys.argv[1:]], environment)


if __name__ == "__main__":
    sys.exit(main())
