#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs a program that is built already as a Python wheel.
#
#   tools/wheel/make_wheel.sh BUILD-FOLDER FOLDER    writes FOLDER/paceline-*.whl
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."

TORCH=$(sed --quiet 's/^TORCH:[^=]*=//p' "$build/CMakeCache.txt")
export TORCH
stage=build/package  # as in pyproject.toml
rm -rf "$stage"
cmake --install "$build" --component package --prefix "$PWD/$stage" --strip >"$build/package.log"
rm -f "$folder"/paceline-*.whl
PACELINE_STAGED=1 .venv/bin/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation \
  --wheel-dir "$folder" .
ls "$folder"/paceline-*.whl
