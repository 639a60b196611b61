#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# netlab_test.sh NETLAB DELAY [PROGRAM]: hosts that reach each other over links
# of the rate and latency asked for, and, with PROGRAM, paceline jobs across
# four of them: `run`, which starts its ranks there, and `comm`, whose ranks are
# started by hand.  Exits with 77, and says why, where there are no namespaces.
set -euo pipefail
export NETLAB_DELAY=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The parts between single quotes are for the shells on the hosts.
# shellcheck disable=SC2016
if [[ $# -eq 2 ]]; then
  cat >"$scratch/peer.py" <<'PYTHON'
import socket, sys, time

if sys.argv[1] == "serve":
    with socket.create_server(("", 5000)) as server:
        peer, _ = server.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(20):
            peer.sendall(peer.recv(1))
        received, began = 0, None
        while data := peer.recv(1 << 20):
            began = began or time.monotonic()
            received += len(data)
        print("mbit", received * 8e-6 / (time.monotonic() - began))
else:
    for _ in range(200):
        try:
            peer = socket.create_connection(("h1", 5000), 5)
            break
        except OSError:
            time.sleep(0.05)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(20):
        began = time.monotonic()
        peer.sendall(b"x")
        peer.recv(1)
        times.append(time.monotonic() - began)
    print("rtt_us", min(times) * 1e6)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        peer.sendall(b"x" * 65536)
PYTHON
  status=0
  PEER=$scratch/peer.py timeout 60 "$1" --hosts 2 --rate 100mbit \
    --delay 2000us bash -c '
      "$NETLAB_SSH" h1 hostname
      "$NETLAB_SSH" h1 python3 "$PEER" serve & server=$!
      "$NETLAB_SSH" h2 python3 "$PEER" ask
      wait $server' >"$scratch/out" || status=$?
  cat "$scratch/out"
  [[ $status -eq 0 ]] || exit "$status"
  grep -qx h1 "$scratch/out"
  # Two ways of 2 ms at the least; the rate as tbf lets TCP have it, at most.
  awk '/^rtt_us/ { rtt = $2 } /^mbit/ { rate = $2 }
    END { exit !(rtt >= 4000 && rate > 20 && rate <= 100) }' "$scratch/out"

  # Two senders share the line of their receiver: in any time T that the line
  # carries something it takes rate * T and tbf's burst of 128 KiB at most, of
  # which what the receiver reads is a part.  Two lines would be twice that.
  cat >"$scratch/fan_in.py" <<'PYTHON'
import select, socket, sys, time

if sys.argv[1] == "receive":
    with socket.create_server(("", 5001)) as server:
        senders = [server.accept()[0] for _ in range(2)]
    received = [0, 0]
    began = time.monotonic()
    for sender in senders:
        sender.sendall(b"go")
    while time.monotonic() < began + 2:
        for ready in select.select(senders, [], [], 0.1)[0]:
            received[senders.index(ready)] += len(ready.recv(1 << 16))
    line = 20e6 / 8 * (time.monotonic() - began)
    print("fan-in", received, "bytes, line", int(line))
    assert sum(received) <= line + 131072
    # Nor does it pass because nothing came.
    assert min(received) > 0 and sum(received) > line / 2
else:
    for _ in range(200):
        try:
            peer = socket.create_connection(("h1", 5001), 5)
            break
        except OSError:
            time.sleep(0.05)
    peer.recv(2)
    try:
        while True:
            peer.sendall(b"x" * 65536)
    except OSError:  # the receiver has seen enough
        pass
PYTHON
  for delay in "" "--delay 1000us"; do
    # shellcheck disable=SC2086 # no word, or two
    FAN_IN=$scratch/fan_in.py timeout 60 "$1" --hosts 3 --rate 20mbit $delay \
      bash -c '
        "$NETLAB_SSH" h2 python3 "$FAN_IN" send &
        "$NETLAB_SSH" h3 python3 "$FAN_IN" send &
        "$NETLAB_SSH" h1 python3 "$FAN_IN" receive'
  done
else
  status=0
  PROGRAM=$3 OUT=$scratch timeout 110 "$1" --hosts 4 --rate 200mbit \
    --delay 200us bash -c '
    "$NETLAB_SSH" h1 "cd $OUT && $PROGRAM run -H h1:1,h2:1,h3:1,h4:1 \
      --interface eth0 --ssh-command $NETLAB_SSH --model lenet --batch-size 4 \
      --strategy wfbp,dear --warmup 1 --steps 3 --threads 1 --yes \
      --records run.jsonl --format csv"' || status=$?
  [[ $status -eq 0 ]] || exit "$status"
  # Every rank on its host, sums right, parameters equal, bytes as planned.
  python3 - "$scratch/run.jsonl" <<'PYTHON'
import json, sys

records = [json.loads(line) for line in open(sys.argv[1])]
assert len(records) == 2, len(records)
for record in records:
    hosts = [rank["host"] for rank in record["ranks"]]
    assert hosts == ["h1", "h2", "h3", "h4"], hosts
    assert all(len(rank["step_ns"]) == 3 for rank in record["ranks"])
    assert record["error"] is None, record["error"]
    assert record["verified"] == {
        "integer_sums": True,
        "ranks_hold_equal_parameters": True,
    }, record["verified"]
    wire = record["wire"]
    assert wire["measured_bytes_per_step"] == wire["planned_bytes_per_step"] > 0
PYTHON
  status=0
  PROGRAM=$3 OUT=$scratch timeout 110 "$1" --hosts 4 --rate 200mbit bash -c '
    ranks=()
    for rank in 0 1 2 3; do
      "$NETLAB_SSH" "h$((rank + 1))" "cd $OUT && env RANK=$rank WORLD_SIZE=4 \
        LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=h1 MASTER_PORT=29444 \
        OMP_NUM_THREADS=1 $PROGRAM comm --only all-reduce --min 1MiB \
        --max 1MiB --iterations 3 --warmup 1 --interface eth0 \
        --records r.jsonl" &
      ranks+=($!)
    done
    for rank in "${ranks[@]}"; do wait "$rank"; done' || status=$?
  [[ $status -eq 0 ]] || exit "$status"
  grep -q '"ranks_per_host":\[1,1,1,1\]' "$scratch/r.jsonl"
  grep -q '"wrong_elements":0' "$scratch/r.jsonl"
fi
