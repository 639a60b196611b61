# SPDX-License-Identifier: Apache-2.0
# How fast building is; nothing here changes what is built.  ccache and mold are
# used where they are installed; -DPACELINE_FAST_TOOLS=OFF leaves both out.
option(PACELINE_FAST_TOOLS "Use ccache and mold where they are installed" ON)

# Only the torch-free half: a precompiled torch.h has 600 MB, and a cache that
# stores it throws everything else out.
find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(PACELINE_FAST_TOOLS AND CCACHE AND NOT PACELINE_WITH_TORCH
   AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

find_program(MOLD mold)
mark_as_advanced(MOLD)
if(PACELINE_FAST_TOOLS AND MOLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold PACELINE_LINKS_WITH_MOLD)
  if(PACELINE_LINKS_WITH_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# pip does not say how many files are compiled at once, and a file that includes
# torch needs up to 2.7 GB of memory.
if(SKBUILD)
  cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
  cmake_host_system_information(RESULT memory QUERY AVAILABLE_PHYSICAL_MEMORY)
  math(EXPR fit "${memory} / 2700")
  if(fit LESS jobs)
    set(jobs ${fit})
  endif()
  if(jobs LESS 1)
    set(jobs 1)
  endif()
  set_property(GLOBAL PROPERTY JOB_POOLS paceline_compile=${jobs})
  set(CMAKE_JOB_POOL_COMPILE paceline_compile)
endif()
