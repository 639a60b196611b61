// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/profile.h"

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/alpha_beta.h"
#include "plan/toy_model.h"

namespace paceline::plan {
namespace {

TEST(LayerProfile, GradientsAreReadyOneAfterTheOtherInReadyOrder) {
  const ModelShape model = toy_model({{4, 4}, {4}});
  const LayerProfile profile{.origin = "test", .forward = {10, 20}, .backward = {3, 5, 7}};
  check_profile(model, profile);
  EXPECT_EQ(ready_times(model, profile), (std::vector<Picoseconds>{7, 12, 15}));
  EXPECT_EQ(profile.forward_total(), 30);
  EXPECT_EQ(profile.backward_total(), 15);
}

TEST(LayerProfile, RejectsWhatDoesNotFitTheModel) {
  const ModelShape model = toy_model({{4, 4}, {4}});
  EXPECT_THROW(check_profile(model, {"", {1}, {1, 1, 1}}), UsageError);
  EXPECT_THROW(check_profile(model, {"", {1, 1}, {1, 1}}), UsageError);
  EXPECT_THROW(check_profile(model, {"", {1, 1}, {1, -1, 1}}), UsageError);
}

TEST(AlphaBeta, EachPieceHoldsFromItsFirstByteOn) {
  const AlphaBetaTime line{{{0, 100, 2}, {1000, 5000, 0.5}}};
  EXPECT_EQ(line.time(0), 0);
  EXPECT_EQ(line.time(1), 102);
  EXPECT_EQ(line.time(999), 100 + 1998);
  EXPECT_EQ(line.time(1000), 5500);
  EXPECT_EQ(line.time(1001), 5501) << "5500.5, to the nearest";
  EXPECT_EQ(alpha_beta_time_of(1e-3, 1e-9).time(1'000'000), 2'000'000'000);
}

TEST(AlphaBeta, RejectsPiecesOutOfOrderAndNegativeCosts) {
  check_alpha_beta({}, "line");
  EXPECT_THROW(check_alpha_beta({{{10, 1, 1}, {10, 1, 1}}}, "line"), UsageError);
  EXPECT_THROW(check_alpha_beta({{{0, -1, 1}}}, "line"), UsageError);
  EXPECT_THROW(check_alpha_beta({{{0, 1, -1}}}, "line"), UsageError);
}

}  // namespace
}  // namespace paceline::plan
