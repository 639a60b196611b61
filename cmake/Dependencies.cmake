# SPDX-License-Identifier: Apache-2.0
# Third parties of the torch-free half: from the system, else unpacked into
# .deps/root by tools/setup.sh, else downloaded as the archives pinned below.
include(FetchContent)
list(APPEND CMAKE_PREFIX_PATH "${CMAKE_SOURCE_DIR}/.deps/root/usr")

# Warnings inside other people's headers are not ours: all targets are SYSTEM.
# paceline_third_party(<package> <oldest version> <url> <sha256>)
macro(paceline_third_party package oldest url sha256)
  # Unpacked packages live beside the system's: what find_package saw last time
  # may be gone, so it looks anew.
  if(NOT EXISTS "${${package}_DIR}")
    unset(${package}_DIR CACHE)
  endif()
  find_package(${package} ${oldest} QUIET CONFIG)
  if(${package}_FOUND)
    message(STATUS "${package} ${${package}_VERSION} at ${${package}_DIR}")
  else()
    message(STATUS "${package} ${oldest} or newer not found: taking ${url}")
    FetchContent_Declare(${package} SYSTEM
      URL "${url}" URL_HASH SHA256=${sha256} DOWNLOAD_EXTRACT_TIMESTAMP TRUE)
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

find_package(Threads REQUIRED)
paceline_third_party(fmt 9.1
  https://github.com/fmtlib/fmt/archive/9.1.0.tar.gz
  5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
paceline_third_party(nlohmann_json 3.11
  https://github.com/nlohmann/json/archive/v3.11.3.tar.gz
  0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406)
set(CLI11_PRECOMPILED OFF)
paceline_third_party(CLI11 2.1
  https://github.com/CLIUtils/CLI11/archive/v2.3.2.tar.gz
  aac0ab42108131ac5d3344a9db0fdf25c4db652296641955720a4fbe52334e22)
paceline_third_party(tomlplusplus 3.3
  https://github.com/marzer/tomlplusplus/archive/v3.4.0.tar.gz
  8517f65938a4faae9ccf8ebb36631a38c1cadfb5efa85d9a72e15b9e97d25155)

set(EIGEN_BUILD_DOC OFF)
set(EIGEN_BUILD_PKGCONFIG OFF)
paceline_third_party(Eigen3 3.4
  https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.gz
  8586084f71f9bde545ee7fa6d00288b264a2b7ac3607b974e54d13e7162c1c72)

if(PACELINE_WITH_TESTS)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  paceline_third_party(GTest 1.11
    https://github.com/google/googletest/archive/v1.14.0.tar.gz
    8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  paceline_third_party(benchmark 1.6
    https://github.com/google/benchmark/archive/v1.7.1.tar.gz
    6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
endif()

# MPI, for the engine mpi: Open MPI or MPICH, by the compiler wrapper's word.
# PACELINE_WITH_MPI=OFF leaves it out where it is installed.
option(PACELINE_WITH_MPI "Build the MPI engine where MPI is installed" ON)
set(PACELINE_HAVE_MPI OFF)
# The wrapper also comes with packages that have no headers; FindMPI stops the
# configuration there.
set(_mpi_works ${PACELINE_WITH_MPI})
find_program(PACELINE_MPI_WRAPPER NAMES mpicxx mpic++)
mark_as_advanced(PACELINE_MPI_WRAPPER)
if(PACELINE_MPI_WRAPPER AND PACELINE_WITH_MPI)
  file(WRITE "${CMAKE_BINARY_DIR}/includes_mpi.cc" "#include <mpi.h>\n")
  execute_process(
    COMMAND "${PACELINE_MPI_WRAPPER}" -fsyntax-only "${CMAKE_BINARY_DIR}/includes_mpi.cc"
    RESULT_VARIABLE _mpi_result OUTPUT_QUIET ERROR_QUIET)
  if(_mpi_result)
    set(_mpi_works OFF)
  endif()
endif()
if(_mpi_works AND PACELINE_WITH_TORCH)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.1 QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(PACELINE_HAVE_MPI ON)
    # Debian's name of the one that belongs to Open MPI, whatever mpirun is.
    find_program(PACELINE_OPEN_MPI_MPIRUN NAMES mpirun.openmpi mpirun DOC "Open MPI's mpirun")
    mark_as_advanced(PACELINE_OPEN_MPI_MPIRUN)
    add_library(paceline_mpi INTERFACE)
    add_library(paceline::mpi ALIAS paceline_mpi)
    target_link_libraries(paceline_mpi INTERFACE MPI::MPI_CXX)
    target_compile_definitions(paceline_mpi INTERFACE
      PACELINE_MPIRUN_PROGRAM="${PACELINE_OPEN_MPI_MPIRUN}" OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  endif()
endif()
# For the Makefile.
set(PACELINE_FOUND_MPI ${PACELINE_HAVE_MPI} CACHE INTERNAL "Whether the MPI engine is built")
message(STATUS "MPI: ${PACELINE_HAVE_MPI} ${MPI_CXX_VERSION} ${MPI_CXX_LIBRARIES}")
