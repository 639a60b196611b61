#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command inside a Slurm of its own on this machine: one node, daemons
# with their files in a temporary folder, ended when the command has ended.
# Needs root, munged, slurmctld and slurmd.
#
#   with_slurm.sh srun -n 2 hostname
set -u
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d /tmp/paceline-slurm.XXXXXX)
host=$(hostname -s)
ports=$(( $$ % 2000 * 5 + 12000 ))  # job ids differ too: ranks meet at a port of theirs
export SLURM_CONF="$work/slurm.conf"

# A step's own daemon outlives srun until it has told slurmctld of the end, and
# asks for ever where that is gone.  It holds slurmd's log open.
end_steps() {
  squeue -h -o %A 2>/dev/null | xargs -r scancel --quiet 2>/dev/null
  tries=0
  while [ "$tries" -lt 25 ] && squeue -h 2>/dev/null | grep -q .; do
    tries=$((tries + 1))
    sleep 0.2
  done
}

kill_steps() {
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/fd/3" 2>/dev/null)" = "$work/slurmd.log" ]; then
      kill -9 "${process#/proc/}" 2>/dev/null
    fi
  done
}

stop() {
  end_steps
  for name in slurmd slurmctld munged; do
    [ -f "$work/$name.pid" ] && kill "$(cat "$work/$name.pid")" 2>/dev/null
  done
  sleep 0.5
  for name in slurmd slurmctld munged; do
    [ -f "$work/$name.pid" ] && kill -9 "$(cat "$work/$name.pid")" 2>/dev/null
  done
  kill_steps
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

chmod 755 "$work"
mkdir "$work/munge" "$work/spool" "$work/state"
chmod 755 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 2>/dev/null
chmod 400 "$work/munge/key"

cat > "$SLURM_CONF" <<EOF
ClusterName=paceline
FirstJobId=$((1000 + $$ % 60000))
SlurmctldHost=$host
SlurmctldPort=$((ports + 1))
SlurmdPort=$((ports + 2))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=$host CPUs=4 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF

munged --key-file="$work/munge/key" --socket="$work/munge/socket" \
  --pid-file="$work/munged.pid" --log-file="$work/munge/log" \
  --seed-file="$work/munge/seed" --force >/dev/null 2>&1
slurmctld -c >/dev/null 2>&1
slurmd >/dev/null 2>&1

tries=0
until sinfo -h -t idle -o %n 2>/dev/null | grep -q .; do
  tries=$((tries + 1))
  if [ "$tries" -gt 150 ]; then
    echo "with_slurm.sh: no node became idle" >&2
    tail -n 5 "$work/slurmctld.log" "$work/slurmd.log" "$work/munge/log" >&2
    exit 99
  fi
  sleep 0.2
done
"$@"
