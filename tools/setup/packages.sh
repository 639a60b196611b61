# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Packages of the distribution: installed by root, else unpacked into .deps/root.

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$1")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if ! have apt-get; then
    say_no_apt
  elif can_be_root; then
    say "installing ${missing[*]}"
    apt_install "${missing[@]}"
  elif [[ $1 == build ]]; then
    unpack_packages "${missing[@]}"
  fi
}

say_no_apt() {
  [[ ! -e $deps/said-no-apt ]] || return 0
  say "no apt-get here: CMake downloads, at pinned versions, the libraries that it does not find."
  mkdir -p "$deps" && touch "$deps/said-no-apt"
}

# The packages of group $1 that are neither installed nor unpacked, and whose
# command is not there by other means.
missing_packages() {
  local group package command
  while read -r group package command _; do
    [[ $group == "$1" ]] || continue
    [[ $command == - ]] || ! have "$command" || continue
    is_unpacked "$package" || is_installed "$package" || printf '%s\n' "$package"
  done <tools/packages.txt
}

is_installed() {
  [[ -z ${PACELINE_NO_ROOT:-} ]] || return 1
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

is_unpacked() { [[ -e $deps/unpacked/$1 ]]; }

apt_install() {
  local -a install=(env DEBIAN_FRONTEND=noninteractive
    apt-get install --yes --quiet=2 --no-install-recommends)
  # The lists may be old or empty, and reading them anew takes time: only then.
  as_root "${install[@]}" "$@" >/dev/null 2>&1 && return
  as_root apt-get update --quiet=2 || say "apt-get update had errors; going on with what it got"
  as_root "${install[@]}" "$@" >/dev/null ||
    fail "apt-get could not install: $*"
}

# Downloads packages and what they depend on, and unpacks them where CMake looks.
# Tools are left out, because they come by pip or must be there.
unpack_packages() {
  local -a libraries=()
  local package
  for package in "$@"; do
    case $package in
      g++) fail "no C++ compiler: install g++ 12 or newer, or have root install it." ;;
      cmake | ninja-build) ;;
      *) libraries+=("$package") ;;
    esac
  done
  [[ ${#libraries[@]} -gt 0 ]] || return 0
  say "no root here: unpacking ${libraries[*]} into .deps/root"
  mkdir -p "$deps"/{apt/lists/partial,apt/cache/archives/partial,debs,root,unpacked}
  apt_quietly update || say "apt-get update had errors; going on with what it got"

  local -a closure=()
  mapfile -t closure < <(apt_quietly install --simulate --no-install-recommends \
    "${libraries[@]}" | awk '$1 == "Inst" { print $2 }')
  [[ ${#closure[@]} -gt 0 ]] || closure=("${libraries[@]}")
  (cd "$deps/debs" && apt_quietly download "${closure[@]}") ||
    fail "apt-get could not download: ${closure[*]}"
  local deb
  for deb in "$deps"/debs/*.deb; do
    dpkg -x "$deb" "$deps/root"
  done
  rm -rf "$deps/debs" "$deps/apt"
  for package in "${libraries[@]}"; do touch "$deps/unpacked/$package"; done
}

# apt-get with lists and cache of our own, which needs no privilege.
apt_quietly() {
  apt-get --quiet=2 \
    -o Dir::State::Lists="$deps/apt/lists" \
    -o Dir::Cache="$deps/apt/cache" \
    -o Debug::NoLocking=true \
    -o APT::Sandbox::User="$(id -un)" \
    -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success= \
    "$@"
}
