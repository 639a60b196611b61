# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers [--from NAME] FILE...: prints the records of logs as JSON lines.

Exit code 0; 2 for what is invalid, with one sentence that begins with path:line; 3 where the
program that wrote a log found wrong values itself.
"""

import argparse
import json
import os
import sys

from .checks import Invalid
from .record import has_wrong_values
from .table import READERS, read_files


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m paceline.readers",
        description="Prints the records of logs, as JSON lines.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="logs, also as .gz, and directories of them; - is stdin",
    )
    parser.add_argument(
        "--from",
        dest="name",
        metavar="NAME",
        help="what they are, a name of --list; found out where not given",
    )
    parser.add_argument(
        "--if-known",
        action="store_true",
        help="leaves out files that no reader recognizes",
    )
    parser.add_argument(
        "--by-file",
        action="store_true",
        help='{"kind":"file","place":N} before the records of the Nth file, from 0, where one is known',
    )
    parser.add_argument("--list", action="store_true", help="what can be read")
    given = parser.parse_args(arguments)
    if given.list:
        for one in READERS:
            print(f"{one.name:<14} {one.reads} ({one.versions}), {one.link}")
        return 0
    if not given.files:
        parser.error("no file is given")
    notes = []
    try:
        found = read_files(given.files, given.name, notes.append, given.if_known)
    except Invalid as error:
        print(error, file=sys.stderr)
        return 2
    for note in notes:
        print(note, file=sys.stderr)
    for place, records in found:
        for record in [{"kind": "file", "place": place}] * given.by_file + records:
            print(json.dumps(record, separators=(",", ":"), allow_nan=False))
    records = [record for _, records in found for record in records]
    wrong = sum(map(has_wrong_values, records))
    if wrong:
        print(
            f"{wrong} of {len(records)} records: the program that wrote the log found wrong values",
            file=sys.stderr,
        )
    return 3 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
