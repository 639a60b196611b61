#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check of the sources and of the built program; runs them all, then says
# which failed.
#
#   tools/lint.sh BUILD-FOLDER JOBS
set -uo pipefail
cd "$(dirname "$0")/.." || exit
readonly build=$1 jobs=$2
failed=()

# check NAME COMMAND...
check() {
  local name=$1 begin=$SECONDS
  shift
  if "$@"; then
    printf 'lint: %-10s ok      %3d s\n' "$name" $((SECONDS - begin))
  else
    printf 'lint: %-10s FAILED  %3d s\n' "$name" $((SECONDS - begin))
    failed+=("$name")
  fi
}

# Files of ours, new ones too, that match the patterns.
ours() { git ls-files --cached --others --exclude-standard -- "$@" | sort -u; }

check_format() { ours '*.h' '*.cc' | xargs clang-format-14 --dry-run --Werror; }

check_licence() {
  local file bad=0
  for file in $(ours '*.h' '*.cc' '*.cmake' '*.py' '*.sh' Makefile); do
    head -n 2 "$file" | grep --quiet 'SPDX-License-Identifier: Apache-2.0' && continue
    [[ -s $file ]] || continue
    echo "$file: no SPDX line at its start"
    bad=1
  done
  return $bad
}

# Readers stop reading somewhere: in src/ at 400 lines, elsewhere at 500, with a
# warning from 400 on.
check_length() {
  ours '*.h' '*.cc' '*.py' '*.sh' '*.cmake' | xargs wc -l | awk '
    $2 == "total" { next }
    $1 > ($2 ~ /^src\// ? 400 : 500) { print $2 ": " $1 " lines, too many"; bad = 1; next }
    $1 > 400 { print $2 ": " $1 " lines; split it before 500" }
    END { exit bad }'
}

check_shell() { shellcheck --external-sources tools/setup.sh tools/lint.sh tools/size tools/wheel/make_wheel.sh .ci/run; }

check_tidy() { python3 tools/lint/tidy.py "$build" "$jobs"; }

# Half a minute of CPU each: at most 30 files of the program may see torch.
check_torch() { python3 tools/lint/torch_units.py "$build" 30; }

# A second OpenMP runtime, Python, or a second Gloo in the process: never.
check_linked() {
  local needed
  needed=$(readelf --dynamic --wide "$build/apps/paceline/paceline" | grep NEEDED) || return 1
  if grep --extended-regexp 'libtorch_python|libpython|libgloo|lib(gomp|omp|iomp5)\.' <<<"$needed"; then
    echo "$build/apps/paceline/paceline: must not be linked with the above"
    return 1
  fi
  if grep --quiet -- '-fopenmp' "$build/build.ninja"; then
    echo "$build/build.ninja: -fopenmp brings a second OpenMP runtime beside torch's"
    return 1
  fi
}

check format check_format
check licence check_licence
check length check_length
check shell check_shell
check tidy check_tidy
check torch check_torch
check linked check_linked
tools/size

if [[ ${#failed[@]} -gt 0 ]]; then
  echo "lint: failed: ${failed[*]}"
  exit 1
fi
