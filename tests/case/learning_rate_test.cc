// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/learning_rate.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"

namespace paceline::cases {
namespace {

TEST(LearningRate, GrowsInALineThenFallsAtTheSteps) {
  Case c;
  c.learning_rate = 0.5;
  EXPECT_EQ(learning_rate_at(c, 0), 0.5);
  c.lr_warmup = 4;
  c.lr_decay = "0.25@10+20";
  EXPECT_EQ(learning_rate_at(c, 0), 0.125);
  EXPECT_EQ(learning_rate_at(c, 2), 0.375);
  EXPECT_EQ(learning_rate_at(c, 3), 0.5);
  EXPECT_EQ(learning_rate_at(c, 9), 0.5);
  EXPECT_EQ(learning_rate_at(c, 10), 0.125);
  EXPECT_EQ(learning_rate_at(c, 19), 0.125);
  EXPECT_EQ(learning_rate_at(c, 20), 0.03125);
}

TEST(LearningRate, RejectsOtherWords) {
  for (const char* text : {"0.1", "0.1@", "@20", "0.1@x", "0.1@20+", "0.1@30+20", "1@20", "0@20",
                           "-0.1@20", "0.1@0", "0.1@20 30", "0.1@20+30x"}) {
    EXPECT_THROW(parse_rate_decay("--lr-decay", text), UsageError) << text;
  }
  EXPECT_TRUE(parse_rate_decay("--lr-decay", "").steps.empty());
}

}  // namespace
}  // namespace paceline::cases
