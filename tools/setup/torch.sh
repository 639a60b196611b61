# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A PyTorch wheel: the user's own where there is one, else one in .venv.
# cmake/Torch.cmake looks in the same places, in the same order.
readonly torch_minimum=2.11
readonly torch_release=2.13.0
readonly torchvision_release=0.28.0  # of that PyTorch

provide_torch() {
  if [[ -n ${TORCH:-} ]]; then
    is_usable_torch "$TORCH" ||
      fail "TORCH=$TORCH is no PyTorch wheel of $torch_minimum or newer with C++ headers."
    return
  fi
  local folder
  for folder in "$venv"/lib/python3*/site-packages/torch "$(importable_torch)"; do
    ! is_usable_torch "$folder" || return 0
  done
  install_torch
}

# The folder of the torch that python3 would import.
importable_torch() {
  ! have python3 || python3 tools/find_torch.py 2>/dev/null || true
}

is_usable_torch() {
  [[ -e $1/include/torch/csrc/api/include/torch/torch.h ]] &&
    at_least "$(torch_version "$1")" "$torch_minimum"
}

torch_version() {
  sed -n "s/^__version__ *= *['\"]\([^'\"]*\)['\"].*/\1/p" "$1/version.py"
}

install_torch() {
  make_venv
  local requirement="torch==$torch_release"
  # Without a driver the CUDA build brings gigabytes that nothing would use.
  if ! has_nvidia_driver && pip_offers "$requirement+cpu"; then
    requirement+=+cpu
  fi
  say "installing $requirement by pip into .venv"
  say "$("$venv/bin/python" tools/setup/download_size.py "$requirement")"
  pip_install "$requirement" || fail "pip could not install $requirement."
}

# torchvision, whose networks the strategy python-ddp trains, beside the torch of
# .venv.  An environment of the user's own stays as it is.
provide_torchvision() {
  local -a found=("$venv"/lib/python3*/site-packages/torch)
  [[ -z ${TORCH:-} && -e ${found[0]} ]] || return 0
  [[ ! -e ${found[0]}vision ]] || return 0
  local requirement="torchvision==$torchvision_release"
  if ! has_nvidia_driver && pip_offers "$requirement+cpu"; then
    requirement+=+cpu
  fi
  say "installing $requirement by pip into .venv"
  # Its dependencies are named here: pip must not replace torch.
  pip_install --no-deps "$requirement" numpy pillow ||
    say "pip could not install $requirement: python-ddp trains lenet and mlp only"
}

has_nvidia_driver() { [[ -e /proc/driver/nvidia/version ]] || have nvidia-smi; }

pip_offers() {
  "$venv/bin/python" -m pip --disable-pip-version-check --quiet install \
    --dry-run --no-deps "$1" >/dev/null 2>&1
}
