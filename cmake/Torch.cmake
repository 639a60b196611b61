# SPDX-License-Identifier: Apache-2.0
# Imported targets for the libtorch inside a PyTorch wheel, CPU or CUDA.
#
#   TORCH   site-packages/torch of the wheel to use; where it is not given, the
#           wheel in .venv, else the one that python3 would import.  pip, which
#           builds for one environment, sets it at every configuration.
#
# find_package(Torch) is not used: for a CUDA wheel it demands nvcc and a
# toolkit of the very same version, which running does not need.
set(PACELINE_TORCH_OLDEST 2.11)
set(PACELINE_TORCH_NEWEST 2.14)

# The wheel that tools/setup.sh has installed or found.
function(_paceline_find_torch out)
  file(GLOB venv "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch/version.py")
  if(venv)
    list(GET venv 0 version_file)
    cmake_path(GET version_file PARENT_PATH folder)
  else()
    execute_process(
      COMMAND python3 "${CMAKE_SOURCE_DIR}/tools/find_torch.py"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

set(TORCH "$ENV{TORCH}" CACHE PATH "site-packages/torch of a PyTorch wheel")
if(SKBUILD)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -E "${CMAKE_SOURCE_DIR}/tools/find_torch.py"
    OUTPUT_VARIABLE _torch_of_environment OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(TORCH "${_torch_of_environment}" CACHE PATH "site-packages/torch of a PyTorch wheel" FORCE)
endif()
if(NOT EXISTS "${TORCH}")
  _paceline_find_torch(_torch_found)
  if(_torch_found AND TORCH)
    message(WARNING "TORCH=${TORCH} does not exist; taking ${_torch_found}.")
  endif()
  if(_torch_found)
    set(TORCH "${_torch_found}" CACHE PATH "site-packages/torch of a PyTorch wheel" FORCE)
  endif()
endif()
if(NOT EXISTS "${TORCH}/include/torch/csrc/api/include/torch/torch.h")
  message(FATAL_ERROR
    "No PyTorch wheel with C++ headers at TORCH='${TORCH}'. Give the path of an "
    "installed wheel, -DTORCH=.../site-packages/torch, or run tools/setup.sh; "
    "without torch, only the 'core' preset builds.")
endif()

file(STRINGS "${TORCH}/version.py" _torch_version REGEX "^__version__ *=")
string(REGEX REPLACE ".*['\"]([^'\"]+)['\"].*" "\\1" PACELINE_TORCH_VERSION "${_torch_version}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _torch_series "${PACELINE_TORCH_VERSION}")
if(_torch_series VERSION_LESS PACELINE_TORCH_OLDEST)
  message(FATAL_ERROR
    "PyTorch ${PACELINE_TORCH_VERSION} at ${TORCH} is too old: Paceline builds with "
    "${PACELINE_TORCH_OLDEST} to ${PACELINE_TORCH_NEWEST}.")
elseif(_torch_series VERSION_GREATER PACELINE_TORCH_NEWEST)
  message(WARNING
    "PyTorch ${PACELINE_TORCH_VERSION} at ${TORCH} is newer than any that Paceline knows "
    "(${PACELINE_TORCH_OLDEST} to ${PACELINE_TORCH_NEWEST}); it may not compile.")
endif()
message(STATUS "PyTorch ${PACELINE_TORCH_VERSION} at ${TORCH}")

# The Python of the environment that holds the wheel, else any python3, which can
# import it from where it lies.
find_program(PACELINE_PYTHON NAMES python3 python
  HINTS "${TORCH}/../../../../bin" REQUIRED)
mark_as_advanced(PACELINE_PYTHON)

# The wheel carries headers of its own, newer fmt without the library to them.
# Ours is linked to a directory that the compiler searches before the wheel's.
if(fmt_SOURCE_DIR)
  set(_fmt_include "${fmt_SOURCE_DIR}/include")
else()
  get_target_property(_fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
endif()
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/before_torch")
file(CREATE_LINK "${_fmt_include}/fmt" "${CMAKE_BINARY_DIR}/before_torch/fmt" SYMBOLIC)

# Imported targets are SYSTEM: warnings in torch's headers are not ours.  The
# definitions are those the wheel was built with; without them the headers of
# Gloo and RPC compile to nothing.
add_library(TorchWheel::c10 SHARED IMPORTED)
set_target_properties(TorchWheel::c10 PROPERTIES
  IMPORTED_LOCATION "${TORCH}/lib/libc10.so"
  INTERFACE_COMPILE_FEATURES cxx_std_20
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
if(EXISTS "${TORCH}/lib/libtorch_cuda.so")
  set(PACELINE_TORCH_HAS_CUDA ON)
  # It registers its kernels in static initialisers, so nothing of ours refers
  # to it and --as-needed would drop it.
  target_link_libraries(paceline_torch INTERFACE
    "-Wl,--push-state,--no-as-needed"
    "${TORCH}/lib/libtorch_cuda.so" "${TORCH}/lib/libc10_cuda.so"
    "-Wl,--pop-state")
else()
  set(PACELINE_TORCH_HAS_CUDA OFF)
endif()
message(STATUS "PyTorch has CUDA: ${PACELINE_TORCH_HAS_CUDA}")

# paceline::nccl: what ProcessGroupNCCL.hpp includes.  NCCL and CUDA headers come
# from the wheels that a CUDA build of PyTorch brings along, plus nvidia-cuda-crt
# and nvidia-cuda-cccl, or from a toolkit.  With these wheels beside a CPU build
# the engine still compiles, but only a CUDA build links it.
if(PACELINE_WITH_NCCL)
  set(_nvidia "${TORCH}/../nvidia")
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${_nvidia}/nccl/include")
  find_path(CUDA_INCLUDE_DIR crt/host_config.h
    HINTS "${_nvidia}/cu13/include" "${_nvidia}/cuda_runtime/include"
      "$ENV{CUDA_HOME}/include" /usr/local/cuda/include)
  find_library(NCCL_LIBRARY NAMES libnccl.so.2 nccl HINTS "${_nvidia}/nccl/lib")
  mark_as_advanced(NCCL_INCLUDE_DIR CUDA_INCLUDE_DIR NCCL_LIBRARY)
  if(NOT NCCL_INCLUDE_DIR OR NOT CUDA_INCLUDE_DIR)
    message(FATAL_ERROR
      "PACELINE_WITH_NCCL: no nccl.h or crt/host_config.h beside ${TORCH} nor in the "
      "system. Install nvidia-nccl, nvidia-cuda-runtime, nvidia-cuda-crt and "
      "nvidia-cuda-cccl of this wheel's CUDA version, or give -DNCCL_INCLUDE_DIR=... "
      "and -DCUDA_INCLUDE_DIR=...")
  endif()
  add_library(paceline_nccl INTERFACE)
  add_library(paceline::nccl ALIAS paceline_nccl)
  target_include_directories(paceline_nccl SYSTEM INTERFACE
    "${NCCL_INCLUDE_DIR}" "${CUDA_INCLUDE_DIR}" "${CUDA_INCLUDE_DIR}/cccl")
  target_compile_definitions(paceline_nccl INTERFACE USE_C10D_NCCL)
  if(NOT EXISTS "${TORCH}/include/c10/cuda/impl/cuda_cmake_macros.h")
    target_compile_definitions(paceline_nccl INTERFACE C10_USING_CUSTOM_GENERATED_MACROS)
  endif()
  target_link_libraries(paceline_nccl INTERFACE paceline_torch)
  if(NCCL_LIBRARY)
    target_link_libraries(paceline_nccl INTERFACE "${NCCL_LIBRARY}")
  endif()
  message(STATUS "NCCL: ${NCCL_INCLUDE_DIR}, ${NCCL_LIBRARY}; CUDA: ${CUDA_INCLUDE_DIR}")
endif()

# What most files of the torch half include, precompiled.  <torch/torch.h> and
# <torch/nn.h> are left out: every file would instantiate their templates.
set(PACELINE_TORCH_HEADERS
  <torch/autograd.h> <torch/cuda.h> <torch/nn/module.h> <torch/types.h>)
paceline_add_precompiled_headers(paceline_torch_pch
  HEADERS ${PACELINE_TORCH_HEADERS}
  LINK paceline_torch)
paceline_make_shareable(paceline_torch_pch)

# paceline_use_torch_pch(<target>): its files include those headers for free.
function(paceline_use_torch_pch target)
  target_precompile_headers(${target} REUSE_FROM paceline_torch_pch)
  paceline_make_shareable(${target})
endfunction()

# paceline_without_torch(<file>...): files of this folder that include no header
# of torch, and so do without the precompiled one, too.
function(paceline_without_torch)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
