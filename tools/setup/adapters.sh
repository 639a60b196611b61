#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environments of adapters (docs/adapters.md), each with what
# adapters/requirements/NAME.txt pins, in .deps/adapters/NAME.  What is there
# already stays.
#
#   tools/setup/adapters.sh PYTHON NAME...    PYTHON: that of Paceline's PyTorch
set -euo pipefail
cd "$(dirname "$0")/../.."

base=$1
shift
for name in "$@"; do
  requirements=adapters/requirements/$name.txt
  home=.deps/adapters/$name
  [[ -e $requirements ]] || {
    echo "adapters: no $requirements; known are $(
      basename --suffix .txt --multiple adapters/requirements/*.txt | paste --serial --delimiters ' ')" >&2
    exit 2
  }
  if [[ -e $home/installed ]] && cmp --quiet "$requirements" "$home/installed"; then
    continue
  fi
  rm -rf "$home"
  python3 -m venv "$home"
  if grep --quiet '^# with the PyTorch of this build' "$requirements"; then
    # A folder of packages that come after this environment's own.
    site=$("$base" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$site" >"$(echo "$home"/lib/python3*/site-packages)/paceline_torch.pth"
    "$home/bin/python" -m pip install --quiet --no-deps --requirement "$requirements"
  else
    "$home/bin/python" -m pip install --quiet --requirement "$requirements"
  fi
  cp "$requirements" "$home/installed"
  echo "adapters: $name is in $home"
done
