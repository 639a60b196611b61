# SPDX-License-Identifier: Apache-2.0
# Imported targets for the libtorch inside a PyTorch wheel, CPU or CUDA.
#
#   TORCH   site-packages/torch of the wheel to use; where it is not given, the
#           wheel in .venv, else the one that python3 would import.
#
# find_package(Torch) is not used: for a CUDA wheel it demands nvcc and a
# toolkit of the very same version, which running does not need.
set(TORCH "$ENV{TORCH}" CACHE PATH "site-packages/torch of a PyTorch wheel")
if(NOT TORCH)
  file(GLOB _venv_torch "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  if(_venv_torch)
    list(GET _venv_torch 0 _found)
  else()
    find_package(Python3 QUIET COMPONENTS Interpreter)
    if(Python3_EXECUTABLE)
      execute_process(
        COMMAND "${Python3_EXECUTABLE}" -c
          "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
        OUTPUT_VARIABLE _found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
  endif()
  set(TORCH "${_found}" CACHE PATH "site-packages/torch of a PyTorch wheel" FORCE)
endif()
if(NOT EXISTS "${TORCH}/include/torch/csrc/api/include/torch/torch.h")
  message(FATAL_ERROR
    "No PyTorch wheel with C++ headers at TORCH='${TORCH}'. Give the path of an "
    "installed wheel, -DTORCH=.../site-packages/torch, or run tools/setup.sh; "
    "without torch, only the 'core' preset builds.")
endif()

file(STRINGS "${TORCH}/version.py" _version REGEX "^__version__ *=")
string(REGEX REPLACE ".*['\"]([^'\"]+)['\"].*" "\\1" PACELINE_TORCH_VERSION "${_version}")
if(PACELINE_TORCH_VERSION VERSION_LESS 2.11)
  message(FATAL_ERROR
    "PyTorch ${PACELINE_TORCH_VERSION} at ${TORCH} is too old: 2.11 to 2.14 are supported.")
endif()
message(STATUS "PyTorch ${PACELINE_TORCH_VERSION} at ${TORCH}")

# The wheel carries headers of its own, newer fmt without the library to them.
# Ours is linked to a directory that the compiler searches before the wheel's.
get_target_property(_fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/before_torch")
file(CREATE_LINK "${_fmt_include}/fmt" "${CMAKE_BINARY_DIR}/before_torch/fmt" SYMBOLIC)

add_library(TorchWheel::c10 SHARED IMPORTED)
set_target_properties(TorchWheel::c10 PROPERTIES
  IMPORTED_LOCATION "${TORCH}/lib/libc10.so"
  INTERFACE_INCLUDE_DIRECTORIES
    "${CMAKE_BINARY_DIR}/before_torch;${TORCH}/include;${TORCH}/include/torch/csrc/api/include")
add_library(TorchWheel::torch_cpu SHARED IMPORTED)
set_target_properties(TorchWheel::torch_cpu PROPERTIES
  IMPORTED_LOCATION "${TORCH}/lib/libtorch_cpu.so"
  INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO;USE_RPC;USE_TENSORPIPE"
  INTERFACE_LINK_LIBRARIES TorchWheel::c10)

add_library(paceline_torch INTERFACE)
add_library(paceline::torch ALIAS paceline_torch)
target_link_libraries(paceline_torch INTERFACE TorchWheel::torch_cpu TorchWheel::c10)

# The wheel carries the headers of another fmt than the one that is linked;
# ours must be found first.
get_target_property(_fmt_dirs fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(_fmt_dir fmt/format.h
  HINTS ${_fmt_dirs} "${fmt_SOURCE_DIR}/include" NO_CACHE REQUIRED)
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/fmt_first")
file(CREATE_LINK "${_fmt_dir}/fmt" "${CMAKE_BINARY_DIR}/fmt_first/fmt" SYMBOLIC)
target_include_directories(paceline_torch SYSTEM INTERFACE "${CMAKE_BINARY_DIR}/fmt_first")

if(EXISTS "${TORCH}/lib/libtorch_cuda.so")
  # It registers its kernels in static initialisers, so nothing of ours refers
  # to it and --as-needed would drop it.
  target_link_libraries(paceline_torch INTERFACE
    "-Wl,--push-state,--no-as-needed"
    "${TORCH}/lib/libtorch_cuda.so" "${TORCH}/lib/libc10_cuda.so"
    "-Wl,--pop-state")
endif()

# One precompiled <torch/torch.h> for every file of the torch half.
file(WRITE "${CMAKE_BINARY_DIR}/torch_pch.cc.in" "// Holds the precompiled header of the torch half.\n")
configure_file("${CMAKE_BINARY_DIR}/torch_pch.cc.in" "${CMAKE_BINARY_DIR}/torch_pch.cc" COPYONLY)
add_library(paceline_torch_pch OBJECT "${CMAKE_BINARY_DIR}/torch_pch.cc")
target_link_libraries(paceline_torch_pch PRIVATE paceline_torch paceline_warnings)
target_precompile_headers(paceline_torch_pch PRIVATE <torch/torch.h>)

# paceline_use_torch_pch(<target>): its files include <torch/torch.h> for free.
function(paceline_use_torch_pch target)
  target_precompile_headers(${target} REUSE_FROM paceline_torch_pch)
endfunction()
