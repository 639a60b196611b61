// SPDX-License-Identifier: Apache-2.0
// The words of --engine are the engine table's: the key cannot see that table, which is in the
// torch half.
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/case/field.h"
#include "paceline/engines/engine_table.h"

namespace paceline::rank {
namespace {

TEST(EngineWords, AreAutoAndTheTable) {
  std::vector<std::string_view> wanted{"auto"};
  for (const engines::EngineInfo& engine : engines::engines()) {
    wanted.push_back(engine.name);
  }
  const auto& allowed = cases::find_key("engine")->allowed;
  EXPECT_EQ(std::vector<std::string_view>(allowed.begin(), allowed.end()), wanted);
}

}  // namespace
}  // namespace paceline::rank
