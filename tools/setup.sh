#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, and only that: packages of tools/packages.txt and the
# wheels of PyTorch and torchvision.  Running it again finds everything in place
# and does nothing.
#
#   tools/setup.sh GROUP...    groups as in tools/packages.txt; core = build without torch;
#                              wheel = what packs the program as a Python wheel
#
#   TORCH=.../site-packages/torch   use this wheel, install none
#   PACELINE_NO_ROOT=1              do as an unprivileged user would
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup/common.sh
source tools/setup/packages.sh
source tools/setup/python.sh
source tools/setup/torch.sh

[[ $(uname -s) == Linux ]] ||
  fail "Paceline runs on Linux only; this is $(uname -s)."
[[ $# -gt 0 ]] || set -- build

for group in "$@"; do
  install_packages "${group/core/build}"
  case $group in
    core) provide_build_tools ;;
    build)
      provide_build_tools
      provide_torch
      provide_torchvision
      ;;
    lint) provide_lint_tools ;;
    wheel) provide_wheel_tools ;;
  esac
done
