# SPDX-License-Identifier: Apache-2.0
"""Prints, in one sentence, what `pip install REQUIREMENT` would download."""

import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request


def planned(requirement):
    """What pip would install: (name, version, address) of each file."""
    words = ["--disable-pip-version-check", "--quiet", "install", "--dry-run", "--report", "-"]
    run = subprocess.run(
        [sys.executable, "-m", "pip", *words, requirement],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    for item in json.loads(run.stdout)["install"]:
        data = item["metadata"]
        yield data["name"], data["version"], item["download_info"]["url"]


def size_of(address):
    """Bytes of the file behind an address, without fetching it."""
    parts = urllib.parse.urlparse(address)
    if parts.scheme == "file":
        return os.path.getsize(urllib.request.url2pathname(parts.path))
    request = urllib.request.Request(address, method="HEAD")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return int(answer.headers["Content-Length"])


def main():
    requirement = sys.argv[1]
    try:
        files = [(size_of(address), name, version) for name, version, address in planned(requirement)]
    except Exception:  # the size is a courtesy; the installation must go on
        print("size unknown: a CPU build is about 0.2 GB, a CUDA build with its libraries several GB")
        return
    if not files:
        print("nothing to download")
        return
    total = sum(size for size, _, _ in files)
    largest = " ".join(max(files)[1:])
    print(f"{total / 1e6:.0f} MB to download in {len(files)} files, {largest} the largest")


main()
