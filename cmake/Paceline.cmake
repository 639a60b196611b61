# SPDX-License-Identifier: Apache-2.0
# The two functions that every CMakeLists.txt of the project uses.  A folder is
# one static library; its DEPS are the only folders whose headers it can see,
# because each library gets its includes through a forwarding directory that
# holds links to the allowed folders alone.
include(GoogleTest)
include(cmake/Speed.cmake)

add_library(paceline_warnings INTERFACE)
target_compile_options(paceline_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # GCC 12 to 14 take the guarded value of a std::optional for uninitialized (GCC PR 80635).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<BOOL:${PACELINE_WERROR}>:-Werror>)

# What the build tells the test of the dependencies: a line "module: its DEPS" per module.
set(PACELINE_MODULES_FILE "${CMAKE_BINARY_DIR}/modules.txt")
file(WRITE "${PACELINE_MODULES_FILE}" "")

# Links src/paceline/<module> into the directory that `target` may include from.
function(_paceline_open_module target module)
  set(dir "${CMAKE_BINARY_DIR}/modules/${target}/paceline")
  file(MAKE_DIRECTORY "${dir}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/src/paceline/${module}" "${dir}/${module}" SYMBOLIC)
endfunction()

# All modules that `module` may include: itself, its DEPS, and theirs.
function(_paceline_closure out)
  set(all ${ARGN})
  foreach(module IN LISTS ARGN)
    get_property(more GLOBAL PROPERTY PACELINE_MODULES_OF_${module})
    list(APPEND all ${more})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# Links `target` with the modules, and lets it include the headers of these and of
# all that they may include, whose names go into `out`.
function(_paceline_depend out target)
  _paceline_closure(modules ${ARGN})
  foreach(module IN LISTS modules)
    _paceline_open_module(${target} ${module})
  endforeach()
  target_include_directories(${target} PRIVATE "${CMAKE_BINARY_DIR}/modules/${target}")
  list(TRANSFORM ARGN PREPEND paceline:: OUTPUT_VARIABLE dep_targets)
  target_link_libraries(${target} PUBLIC ${dep_targets} PRIVATE paceline_warnings)
  set(${out} ${modules} PARENT_SCOPE)
endfunction()

# paceline_add_precompiled_headers(<target> HEADERS ... LINK libraries...)
#
# Others take the headers by `target_precompile_headers(... REUSE_FROM <target>)`.
function(paceline_add_precompiled_headers target)
  cmake_parse_arguments(arg "" "" "HEADERS;LINK" ${ARGN})
  set(source "${CMAKE_BINARY_DIR}/${target}.cc")
  if(NOT EXISTS "${source}")
    file(WRITE "${source}" "// Holds precompiled headers.\n")
  endif()
  add_library(${target} OBJECT "${source}")
  target_link_libraries(${target} PRIVATE ${arg_LINK} paceline_warnings)
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

# Behind precompiled headers GCC 12 takes a string that is moved for one that is
# copied past its end (GCC PR 105329).
function(_paceline_reuse_headers target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>")
endfunction()

# paceline_make_shareable(<target>): its objects can be part of the Python extension
# as well, and are as fast in the program as others.
function(paceline_make_shareable target)
  if(PACELINE_WITH_TORCH)
    target_compile_options(${target} PRIVATE -fPIC -fno-semantic-interposition)
  endif()
endfunction()

# paceline_add_library(<module> SOURCES ... [DEPS modules...] [LINK libraries...])
function(paceline_add_library module)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LINK" ${ARGN})
  set(target paceline_${module})
  string(REPLACE ";" " " deps "${arg_DEPS}")
  file(APPEND "${PACELINE_MODULES_FILE}" "${module}: ${deps}\n")
  add_library(${target} STATIC ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PACELINE_UNITY})
  paceline_make_shareable(${target})
  add_library(paceline::${module} ALIAS ${target})
  _paceline_depend(modules ${target} ${arg_DEPS})
  _paceline_open_module(${target} ${module})
  set_property(GLOBAL PROPERTY PACELINE_MODULES_OF_${module} ${module} ${modules})
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  if(TARGET paceline_pch)
    # The headers are precompiled with the definitions of fmt.
    target_link_libraries(${target} PRIVATE fmt::fmt)
    _paceline_reuse_headers(${target} paceline_pch)
  endif()
endfunction()

# paceline_embed_texts(<out> <header> <namespace> NAME=FILE...)
#
# Makes the files part of the program: `header`, for this folder alone, declares
# `const std::string_view NAME` for each, and the source file whose path goes into
# `out` defines them.  CMake runs again where a file changed.
function(paceline_embed_texts out header namespace)
  get_filename_component(name "${header}" NAME_WE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  set(header_file "${folder}/paceline/${header}")
  set(source "${folder}/${name}.cc")
  set(declared "#pragma once\n#include <string_view>\nnamespace ${namespace} {\n")
  set(defined "#include \"paceline/${header}\"\nnamespace ${namespace} {\n")
  foreach(text IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${text}")
    set(variable "const std::string_view ${CMAKE_MATCH_1}")
    set(file "${CMAKE_MATCH_2}")
    file(READ "${file}" content)
    string(APPEND declared "extern ${variable};\n")
    # Raw, so that nothing needs escaping.
    string(APPEND defined "${variable} = R\"PACELINE_TEXT(${content})PACELINE_TEXT\";\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  file(WRITE "${header_file}.new" "${declared}}\n")
  file(WRITE "${source}.new" "${defined}}\n")
  foreach(file IN ITEMS "${header_file}" "${source}")
    file(COPY_FILE "${file}.new" "${file}" ONLY_IF_DIFFERENT)
  endforeach()
  include_directories(SYSTEM "${folder}")
  set_source_files_properties("${source}" PROPERTIES
    COMPILE_OPTIONS -Wno-overlength-strings)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()

# paceline_add_program(<name> SOURCES ... DEPS modules...): built with everything
# else, not part of the program.
function(paceline_add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  _paceline_depend(modules ${name} ${arg_DEPS})
endfunction()

# paceline_add_test_library(<name> SOURCES ... DEPS modules...): what several tests
# share, compiled once; a test names it after LINK.
function(paceline_add_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${PACELINE_UNITY})
  _paceline_depend(modules ${name} ${arg_DEPS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${name} PUBLIC GTest::gtest fmt::fmt)
  _paceline_reuse_headers(${name} paceline_test_pch)
endfunction()

# Tests wait for what they test, not for their own code: a unit compiles in six
# tenths of the time of -O2 with -Og, and one that includes torch in little more
# than half of it unoptimized.
set(PACELINE_TORCH_TEST_OPTIONS -O0)

# paceline_add_test(<name> SOURCES ... DEPS modules... [LINK libraries...]
#                   [TIMEOUT seconds] [PROCESSORS n]
#                   [RUN_SERIAL] [SHARDS n] [NIGHTLY])
#
# Each TEST is one test of ctest, in a process of its own.  SHARDS is for
# programs of many cases, each quick beside the start of a process (with torch a
# third of a second): ctest sees n tests, <name>.1 to <name>.n, each with its
# share of the cases, and 600 s unless told.  A case that skips itself counts as
# passed there, so a program with such a case has no SHARDS.
# NIGHTLY: its suites called Nightly... are for `make nightly` alone (the label
# nightly, an hour at most).
# PROCESSORS is how many cores the test keeps busy: unless told, 1, or 2 where
# torch is in it.
function(paceline_add_test name)
  cmake_parse_arguments(arg "RUN_SERIAL;NIGHTLY" "TIMEOUT;PROCESSORS;SHARDS"
    "SOURCES;DEPS;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${PACELINE_UNITY})
  _paceline_depend(modules ${name} ${arg_DEPS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest)
  target_compile_definitions(${name} PRIVATE
    PACELINE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    PACELINE_BINARY_DIR="${CMAKE_BINARY_DIR}")

  set(has_torch OFF)
  foreach(r IN ITEMS engines networks runtime)
    if(r IN_LIST modules)
      set(has_torch ON)
    endif()
  endforeach()
  if(has_torch)
    target_link_libraries(${name} PRIVATE paceline_torch_main)
    target_compile_options(${name} PRIVATE ${PACELINE_TORCH_TEST_OPTIONS})
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main fmt::fmt)
    _paceline_reuse_headers(${name} paceline_test_pch)
  endif()
  set(processors 1)
  set(timeout 120)
  if(arg_SHARDS)
    set(timeout 600)
  endif()
  set(properties)
  if(has_torch)
    # Several ranks share the cores, and each would start a thread per core.  Ranks
    # that are threads of one process race in the flight recorder of c10d 2.11.
    set(processors 2)
    list(APPEND properties ENVIRONMENT OMP_NUM_THREADS=1
      ENVIRONMENT_MODIFICATION TORCH_FR_BUFFER_SIZE=set:0)
  endif()
  if(arg_PROCESSORS)
    set(processors ${arg_PROCESSORS})
  endif()
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()
  if(arg_RUN_SERIAL)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  list(APPEND properties PROCESSORS ${processors} TIMEOUT ${timeout})
  set(daily "*")
  if(arg_NIGHTLY)
    set(daily "-*Nightly*")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      NO_PRETTY_VALUES
      TEST_FILTER "*Nightly*"
      TEST_LIST ${name}_nightly
      PROPERTIES ${properties} LABELS nightly TIMEOUT 3600)
  endif()
  if(arg_SHARDS)
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(shard RANGE ${last})
      math(EXPR number "${shard} + 1")
      add_test(NAME ${name}.${number} COMMAND ${name} "--gtest_filter=${daily}")
      set_tests_properties(${name}.${number} PROPERTIES ${properties})
      set_property(TEST ${name}.${number} APPEND PROPERTY ENVIRONMENT
        GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${shard})
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    NO_PRETTY_VALUES
    TEST_FILTER "${daily}"
    PROPERTIES ${properties})
endfunction()

# paceline_add_gpu_test(<name> COMMAND <command>... [ENVIRONMENT <list>])
#
# A test that needs a GPU, in builds that have the NCCL engine.  The preset
# hides GPUs from all other tests.  PACELINE_GPUS: how many this machine has.
if(PACELINE_WITH_NCCL)
  execute_process(COMMAND nvidia-smi --list-gpus
    OUTPUT_VARIABLE _gpus ERROR_QUIET)
  string(REGEX MATCHALL "GPU [0-9]+" _gpus "${_gpus}")
  list(LENGTH _gpus PACELINE_GPUS)
endif()
function(paceline_add_gpu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;ENVIRONMENT")
  if(PACELINE_WITH_NCCL)
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    set_tests_properties(${name} PROPERTIES PROCESSORS 2 TIMEOUT 300 LABELS gpu
      ENVIRONMENT "CUDA_VISIBLE_DEVICES=0,1,2,3;OMP_NUM_THREADS=1;${arg_ENVIRONMENT}")
  endif()
endfunction()
