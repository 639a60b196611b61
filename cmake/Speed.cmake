# SPDX-License-Identifier: Apache-2.0
# What makes building faster where it is installed: ccache and mold.  Neither
# changes what is built; -DPACELINE_FAST_TOOLS=OFF leaves both out.
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
