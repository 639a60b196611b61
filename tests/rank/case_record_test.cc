// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_record.h"

#include <gtest/gtest.h>

namespace paceline::rank {
namespace {

records::Source source_of_failure(const cases::Case& c) {
  return failed_record("", c, 0, "a rank died", {}).source;
}

// In a report it is then beside the runs of its case that did not fail.
TEST(AFailedCase, HasTheSourceOfItsSamples) {
  cases::Case c;
  c.strategy = "bsp";
  EXPECT_EQ(source_of_failure(c), records::Source::kMeasured);
  c.replay = "profile.json";
  EXPECT_EQ(source_of_failure(c), records::Source::kReplayed);
  c.replay.clear();
  c.strategy = "python-ddp";
  EXPECT_EQ(source_of_failure(c), records::Source::kExternal);
}

}  // namespace
}  // namespace paceline::rank
