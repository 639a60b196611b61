# SPDX-License-Identifier: Apache-2.0
# Third parties of the torch-free half, from the system or from .deps/.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
if(PACELINE_WITH_TESTS)
  find_package(GTest REQUIRED)
endif()
