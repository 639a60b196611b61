# SPDX-License-Identifier: Apache-2.0
# The installed Python package, component `package`, below the folder of an
# environment's packages: paceline/ with the program in bin/, the extension in
# torch/, libraries that both need in lib/, and what it finds by name.  pyproject.toml and
# tools/wheel/make_wheel.sh install it.
set(_package COMPONENT package EXCLUDE_FROM_ALL)
install(DIRECTORY python/paceline DESTINATION . ${_package}
  PATTERN __pycache__ EXCLUDE)
install(TARGETS paceline RUNTIME DESTINATION paceline/bin ${_package})
set(_with_rpath paceline)
if(PACELINE_HAVE_EXTENSION)
  list(APPEND _with_rpath paceline_extension)
  install(TARGETS paceline_extension LIBRARY DESTINATION paceline/torch ${_package})
endif()
install(DIRECTORY experiments clusters DESTINATION paceline ${_package})
install(FILES docs/record.schema.json DESTINATION paceline ${_package})
# Which experiments/same_prices.toml names.
install(FILES benchmarks/translator.profile.json
  DESTINATION paceline/experiments/benchmarks ${_package})
# For python/paceline/program.py.
file(WRITE "${CMAKE_BINARY_DIR}/built_for.txt" "${PACELINE_TORCH_VERSION}\n")
install(FILES "${CMAKE_BINARY_DIR}/built_for.txt" DESTINATION paceline/bin ${_package})

# Small libraries of the distribution, which another machine may lack.  That of
# MPI is not among them, because it has to be the one of the machine's mpirun.
install(CODE [[
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "$<TARGET_FILE:paceline>"
    RESOLVED_DEPENDENCIES_VAR libraries
    PRE_INCLUDE_REGEXES "^lib(fmt|tomlplusplus)\\.so" PRE_EXCLUDE_REGEXES ".*")
  foreach(library IN LISTS libraries)
    get_filename_component(name "${library}" NAME)
    get_filename_component(file "${library}" REALPATH)
    file(MAKE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/paceline/lib")
    file(COPY_FILE "${file}" "${CMAKE_INSTALL_PREFIX}/paceline/lib/${name}")
  endforeach()
]] ${_package})

# Where the program looks for libraries: beside itself, and in the wheels of its
# environment; in a build tree relative to itself, too, so that a copy of the
# source tree uses the .venv of the copy.
function(_paceline_relative_rpath)
  set(installed "$ORIGIN/../lib" "$ORIGIN/../../torch/lib")
  set(built)
  set(site "${TORCH}/..")
  foreach(library IN LISTS NCCL_LIBRARY MPI_CXX_LIBRARIES)
    cmake_path(GET library PARENT_PATH folder)
    cmake_path(IS_PREFIX site "${folder}" NORMALIZE in_site)
    if(in_site)
      file(RELATIVE_PATH folder "${site}" "${folder}")
      list(APPEND installed "$ORIGIN/../../${folder}")
    elseif(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      list(APPEND installed "${folder}")
    endif()
  endforeach()
  foreach(folder IN ITEMS "${TORCH}/lib" "${CMAKE_SOURCE_DIR}/.deps/root/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
    cmake_path(IS_PREFIX CMAKE_SOURCE_DIR "${folder}" NORMALIZE in_tree)
    if(in_tree AND EXISTS "${folder}")
      file(RELATIVE_PATH folder "${CMAKE_BINARY_DIR}/apps/paceline" "${folder}")
      list(APPEND built "$ORIGIN/${folder}")
    endif()
  endforeach()
  # Of the installed package, both are as deep below its folder.
  set_target_properties(${_with_rpath} PROPERTIES INSTALL_RPATH "${installed}" BUILD_RPATH "${built}")
endfunction()
_paceline_relative_rpath()
