#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environments of adapters (docs/adapters.md), each with what
# python/paceline/adapters/requirements/NAME.txt pins, in .deps/adapters/NAME.  What is there
# already stays.
#
#   tools/setup/adapters.sh PYTHON NAME...    PYTHON: that of Paceline's PyTorch
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly adapters=python/paceline/adapters

base=$1
shift
for name in "$@"; do
  requirements=$adapters/requirements/$name.txt
  home=.deps/adapters/$name
  unavailable=$(sed --quiet "/^\[$name\]/,/^\[/s/^unavailable = \"\(.*\)\"/\1/p" $adapters/adapters.toml)
  [[ -z $unavailable ]] || {
    echo "adapters: $unavailable" >&2
    exit 2
  }
  [[ -e $requirements ]] || {
    echo "adapters: no $requirements; known are $(
      basename --suffix .txt --multiple $adapters/requirements/*.txt | paste --serial --delimiters ' ')" >&2
    exit 2
  }
  if [[ -e $home/installed ]] && cmp --quiet "$requirements" "$home/installed"; then
    continue
  fi
  rm -rf "$home"
  echo "adapters: downloads for $name, into $home: $(
    grep --invert-match '^#' "$requirements" | paste --serial --delimiters ' ')" >&2
  python3 -m venv "$home"
  if grep --quiet '^# with the PyTorch of this build' "$requirements"; then
    # A folder of packages that come after this environment's own.
    site=$("$base" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$site" >"$(echo "$home"/lib/python3*/site-packages)/paceline_torch.pth"
    "$home/bin/python" -m pip install --quiet --no-deps --requirement "$requirements"
  else
    "$home/bin/python" -m pip install --quiet --requirement "$requirements"
  fi
  # What a framework compiles at its first start, it compiles here.
  start=$(sed --quiet 's/^# started once: //p' "$requirements")
  if [[ -n $start ]]; then
    # shellcheck disable=SC2086 # a program and its arguments
    RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=0 OMP_NUM_THREADS=1 \
      PACELINE_CASE='{"model": "lenet", "batch_size": 2, "warmup": 0, "steps": 1}' \
      "$home/bin/python" python/paceline/run_module.py $start >"$home/first_start.log" 2>&1 || {
      echo "adapters: the first start of $name failed: $home/first_start.log" >&2
      exit 3
    }
  fi
  cp "$requirements" "$home/installed"
  echo "adapters: $name is in $home"
done
