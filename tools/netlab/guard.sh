#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guard.sh PROGRAM...: runs it as process 1 of a process namespace, so that the
# kernel kills whatever was started in there when PROGRAM ends or is killed:
# with this script, however that dies.  Wants `unshare --pid` around it, and
# must fork nothing before: the first child is process 1.
set -uo pipefail

# Process 1 is gone only when all others of its namespace are.
stop() {
  trap '' HUP INT QUIT TERM
  [[ -z ${!-} ]] || { kill -KILL "$!" && wait "$!"; } 2>/dev/null
  exit "$1"
}
trap 'stop 129' HUP
trap 'stop 130' INT
trap 'stop 131' QUIT
trap 'stop 143' TERM

# In the background, or the traps would wait for it; a shell has such a child
# ignore the keyboard and reads nothing into it, neither of which is wanted.
env --default-signal=INT,QUIT setpriv --pdeathsig KILL "$@" <&0 &
wait "$!"
