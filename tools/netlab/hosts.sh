#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hosts.sh HOSTS RATE MICROSECONDS DELAY_PROGRAM COMMAND...: makes the hosts and
# runs COMMAND beside them.  Process 1 of namespaces of its own (netlab), so
# nothing here is undone: all of it ends with this process.
set -euo pipefail
hosts=$1 rate=$2 delay=$3 helper=$4
shift 4

reject() { echo "netlab: $*" >&2; exit 2; }
skip() { echo "netlab: not possible here: $*" >&2; exit 77; }

# Where something masks parts of /proc, no new one may be mounted: the old one
# numbers processes as outside, which nothing below minds.
mount -t proc proc /proc 2>/dev/null || true
# Files in memory, seen from here only, so that no end leaves any behind.  Every
# kernel has this folder, and no program needs what is in it.
lab=/proc/fs
mount -t tmpfs -o mode=755 netlab "$lab" 2>/dev/null ||
  skip "no tmpfs can be mounted"
cp "$(dirname "$0")/ssh.sh" "$lab/ssh"

# shape RATE INTERFACE [NSENTER...]: half of 256 KiB is the least burst that
# lets TCP fill 1 Gbit/s.
shape() {
  "${@:3}" tc qdisc add dev "$2" root tbf rate "$1" burst 128kb latency 400ms
}

ip link set lo up
if [[ -n $rate ]]; then
  reason=$(shape 1mbit lo 2>&1) || skip "no tbf: ${reason%%$'\n'*}"
  tc qdisc del dev lo root
  shape "$rate" lo 2>/dev/null || reject "--rate $rate: tc can shape no such rate"
  tc qdisc del dev lo root
fi
ip link add switch type bridge 2>/dev/null || skip "no bridge can be made"
ip link set switch up

# Names: everybody sees the same file.
{
  cat /etc/hosts
  for ((i = 1; i <= hosts; ++i)); do echo "10.77.0.$i h$i"; done
} >"$lab/hosts"
mount --bind "$lab/hosts" /etc/hosts || skip "/etc/hosts cannot be replaced"

# A host is its two namespaces, which files hold.
add_host() {
  local name=$1 address=$2 inside
  touch "$lab/$name.net" "$lab/$name.uts"
  unshare --net --uts sh -c "hostname $name
    mount --bind /proc/self/ns/net $lab/$name.net
    mount --bind /proc/self/ns/uts $lab/$name.uts" || skip "no host $name"
  inside=(nsenter --net="$lab/$name.net" --uts="$lab/$name.uts")
  ip link add "up-$name" type veth peer name eth0 netns "$lab/$name.net" ||
    skip "no pair of interfaces for $name"
  "${inside[@]}" ip link set lo up
  "${inside[@]}" ip address add "$address/24" dev eth0
  "${inside[@]}" ip link set eth0 up
  ip link set "up-$name" up
  # The switch's port: the other end of the host's link, or of what delays it.
  local port=up-$name
  if [[ -n $delay ]]; then
    port=port-$name
    ip link add "far-$name" type veth peer name "$port"
    ip link set "far-$name" up
    ip link set "$port" up
    pairs+=("up-$name" "far-$name")
  fi
  ip link set "$port" master switch
  # Each end of a link shapes what it sends: here to the switch and to the host.
  if [[ -n $rate ]]; then
    shape "$rate" eth0 "${inside[@]}"
    shape "$rate" "$port"
  fi
}

NETLAB_HOSTS='' pairs=()
for ((i = 1; i <= hosts; ++i)); do
  add_host "h$i" "10.77.0.$i"
  NETLAB_HOSTS+=${NETLAB_HOSTS:+,}h$i
done
export NETLAB_HOSTS NETLAB_SSH=$lab/ssh

watched=()
start_delay() {
  local answer='' status=0
  mkfifo "$lab/ready"
  # Two links lie between two hosts: each takes half of the delay.
  "$helper" "$((10#$delay * 500))" "${pairs[@]}" >"$lab/ready" &
  watched=("$!")
  read -r -t 10 answer <"$lab/ready" || true
  [[ $answer == ready ]] && return
  kill -KILL "$!" 2>/dev/null || true
  wait "$!" 2>/dev/null || status=$?
  [[ $status -ne 77 ]] || skip "$helper cannot open the interfaces"
  reject "--delay: $helper does not start (exit code $status);" \
    "NETLAB_DELAY names another"
}
[[ -z $delay ]] || start_delay

env --default-signal=INT,QUIT "$@" <&0 &
run=$!
wait -n "$run" "${watched[@]}" 2>/dev/null || true
if [[ -n $delay ]] && ! kill -0 "${watched[0]}" 2>/dev/null; then
  status=0
  wait "${watched[0]}" 2>/dev/null || status=$?
  echo "netlab: $helper died (exit code $status) and cut all links" >&2
  exit 1
fi
wait "$run"
