// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace paceline::report {

/// Compares `text` with golden/`name`.  PACELINE_UPDATE_GOLDEN=1 in the environment rewrites the
/// file, and fails.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(PACELINE_SOURCE_DIR) + "/tests/report/golden/" + name;
  if (std::getenv("PACELINE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    GTEST_FAIL() << "rewrote " << path << "; look at the difference";
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path;
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace paceline::report
