#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As ssh: options, a host, and a command that a shell reads there.  hosts.sh
# puts it beside the files that hold the hosts' namespaces.
while [ "${1#-}" != "$1" ]; do
  case $1 in -o | -p | -i | -l | -F) shift 2 ;; *) shift ;; esac
done
if [ $# -lt 2 ]; then
  echo "netlab: NETLAB_SSH wants a host and a command" >&2
  exit 255
fi
host=$1 lab=${0%/*}
shift
if ! [ -e "$lab/$host.net" ]; then
  echo "netlab: no host $host; there are $(echo "$lab"/*.net |
    sed "s|$lab/||g; s|\.net||g")" >&2
  exit 255
fi
exec nsenter --net="$lab/$host.net" --uts="$lab/$host.uts" sh -c "$*"
