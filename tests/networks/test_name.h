// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "paceline/networks/network.h"

namespace paceline::networks {

inline std::string test_name(const testing::TestParamInfo<NetworkInfo>& row) {
  std::string name(row.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace paceline::networks
