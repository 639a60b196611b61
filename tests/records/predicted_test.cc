// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/predicted.h"

#include <string>

#include <gtest/gtest.h>

namespace paceline::records {
namespace {

TEST(StepBound, IsSaidWithItsPartsAndItsAlgorithm) {
  StepBound bound{.step_ns = 251'638'000,
                  .compute_ns = 251'638'000,
                  .wire_ns = 158'150'400,
                  .algorithm = "tree"};
  EXPECT_EQ(words_of(bound),
            "251.638 ms with algorithm tree: compute 251.638 ms, wire 158.150 ms, which starts "
            "with the first gradient");
  EXPECT_EQ(sharper_bound_text(bound), "");
  EXPECT_EQ(bound.tightest_ns(), bound.step_ns);
  bound.crosses_step = true;
  bound.sharper_ns = 260'000'000;
  EXPECT_TRUE(words_of(bound).ends_with(", which may run under the next step"));
  EXPECT_EQ(sharper_bound_text(bound),
            "260.000 ms: each gradient crosses after it is ready and before the forward that waits "
            "for it");
  EXPECT_EQ(bound.tightest_ns(), 260'000'000);
  EXPECT_EQ(words_of({.step_ns = 1'000'000, .compute_ns = 1'000'000}),
            "1.000 ms: compute 1.000 ms, wire 0.000 ms");
}

TEST(ErrorBar, IsSaidAsAnInterval) {
  EXPECT_EQ(words_of({.share = 0.1,
                      .low_ns = 180'000'000,
                      .high_ns = 220'000'000,
                      .level = 0.9,
                      .validated = true,
                      .of = "merged",
                      .how = "BSP",
                      .cells = 57}),
            "error bar ±10.0 %: [180.000, 220.000] ms; 9 of 10 published "
            "cells are within (BSP, 57 cells)");
  EXPECT_EQ(words_of({.share = 1.5, .low_ns = 0, .high_ns = 500'000'000, .why = "engine gloo"}),
            "not validated: no published table tells of engine gloo; the largest error known of "
            "any strategy is ±150.0 %: [0.000, 500.000] ms");
  EXPECT_EQ(words_of({.low_ns = 318'793'000,
                      .high_ns = 323'480'000,
                      .level = 0.95,
                      .validated = true,
                      .of = "the records",
                      .how = "resampled runs"}),
            "95 % interval of the step [318.793, 323.480] ms, from resampled runs");
}

TEST(ErrorBar, SaysWhyThereIsNone) {
  EXPECT_EQ(words_of(ErrorBar{.why = "layer times are not measured"}),
            "no error bar: layer times are not measured");
}

}  // namespace
}  // namespace paceline::records
