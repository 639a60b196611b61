#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# netlab_conduct_test.sh NETLAB DELAY: mistakes are exit code 2 and a sentence, a
# delay program that dies fails the run, and nothing outlives netlab, whatever
# ends it.  Exits with 77, and says why, where there are no namespaces.
set -euo pipefail
netlab=$1 delay=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch/tmp
mkdir "$TMPDIR"

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect CODE TEXT ARGUMENT...: netlab's exit code, and its one sentence.
expect() {
  local code=0
  timeout 30 "$netlab" "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  cat "$scratch/err"
  [[ $code -eq $1 ]] || fail "exit code $code, not $1: netlab ${*:3}"
  grep -qF -- "$2" "$scratch/err" || fail "does not say '$2'"
  [[ $(wc -l <"$scratch/err") -eq 1 ]] || fail "says more than one line"
  ! grep -q started "$scratch/out" || fail "the command was started"
}

"$netlab" --hosts 1 --rate 1mbit true || exit

expect 2 '--rate banana' --rate banana echo started
expect 2 '--rate 0mbit' --rate 0mbit echo started
expect 2 '--hosts 0' --hosts 0 echo started
expect 2 '--delay 1ms' --delay 1ms echo started
expect 2 '--delay: wants a value' --delay
NETLAB_DELAY=$scratch/none expect 2 "NETLAB_DELAY=$scratch/none" \
  --delay 100us echo started
NETLAB_DELAY=/bin/true expect 2 'NETLAB_DELAY' --delay 100us echo started
# A tree that was never built.
mkdir -p "$scratch/tree/tools"
cp -r "$(dirname "$netlab")" "$scratch/tree/tools/netlab"
netlab=$scratch/tree/tools/netlab/netlab expect 2 'NETLAB_DELAY' \
  --delay 100us echo started
# One that was: no NETLAB_DELAY is needed.
mkdir -p "$scratch/tree/build/release/tools/netlab"
cp "$delay" "$scratch/tree/build/release/tools/netlab/netlab-delay"
"$scratch/tree/tools/netlab/netlab" --hosts 2 --delay 100us true

# The parts between single quotes are for the shells inside.
# shellcheck disable=SC2016
{
  expect 255 'no host h9; there are h1 h2' --hosts 2 \
    bash -c '"$NETLAB_SSH" h9 "echo started"'
  NETLAB_DELAY=$delay expect 1 'died' --hosts 2 --delay 100us bash -c '
    for process in /proc/[0-9]*; do
      ! grep -qsx netlab-delay "$process/comm" || kill -9 "${process#/proc/}"
    done; sleep 600'

  # Processes that hold a lock: in the background, on a host, in a session of
  # their own.  The lock is free when all of them are gone.
  command='
    hold() { flock -s "$LOCK" sh -c "echo up >$UP; exec sleep 600"; }
    export -f hold
    setsid bash -c hold &
    "$NETLAB_SSH" h2 "setsid flock -s $LOCK sh -c \"echo up >$UP; exec sleep 600\"" &
    '
}
export LOCK=$scratch/lock UP=$scratch/up
mkfifo "$UP"
exec 8<>"$UP" 9>"$LOCK"
await() { for _ in 1 2 3; do read -r -t 30 <&8 || fail "no process"; done; }

# Its own end: all are gone as soon as netlab is.  Its input is the command's.
# shellcheck disable=SC2016
timeout 60 "$netlab" --hosts 2 bash -c "$command"'
  read -r line && read -r <&8 && read -r <&8 && [ "$line" = input ]' <<<input
flock -n 9 || fail "the end of the command leaves processes"
flock -u 9

for signal in TERM INT HUP; do
  NETLAB_DELAY=$delay env --default-signal=INT "$netlab" --hosts 2 \
    --delay 100us bash -c "$command hold" 8<&- 9<&- &
  await
  kill -s "$signal" $!
  code=0
  wait $! || code=$?
  [[ $code -eq $((128 + $(kill -l "$signal"))) ]] || fail "$signal: $code"
  flock -n 9 || fail "$signal leaves processes"
  flock -u 9
done

# Nobody can wait for the others of a netlab that was killed.
"$netlab" --hosts 2 bash -c "$command hold" 8<&- 9<&- &
await
kill -KILL $!
flock -w 30 9 || fail "KILL leaves processes"

rmdir "$TMPDIR" || fail "files are left"
