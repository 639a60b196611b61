# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a header with the hash of SOURCE's commit, "-dirty" where
# tracked files differ from it; leaves an equal file alone.  Run at every build.
execute_process(
  COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE no_hash)
if(no_hash EQUAL 0)
  execute_process(
    COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND hash "-dirty")
  endif()
endif()
set(text "// Written by the build.
#pragma once
namespace paceline::rank {
inline constexpr const char* kGitHash = \"${hash}\";
}
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
