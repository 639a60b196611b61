# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Small words that the parts of tools/setup.sh share.
readonly deps="$PWD/.deps"
readonly venv="$PWD/.venv"

say() { printf 'setup: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 3
}

have() { command -v "$1" >/dev/null 2>&1; }

# at_least VERSION MINIMUM
at_least() {
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# Runs a command as root; fails where there is no way to.
as_root() {
  [[ -z ${PACELINE_NO_ROOT:-} ]] || return 1
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif have sudo && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# True where as_root works: root, or a sudo that asks for no password.
can_be_root() { as_root true; }

# Offers a tool of .venv to the Makefile, which looks into .deps/bin first.
# The whole of .venv/bin is not on its path: the python there would hide the
# user's own, and with it the user's own PyTorch.
offer_tool() {
  mkdir -p "$deps/bin"
  ln -sfn "$venv/bin/$1" "$deps/bin/$1"
}
