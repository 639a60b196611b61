// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/launch_overhead.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace paceline::predict {
namespace {

using Times = std::vector<plan::Picoseconds>;

/// Two modules, the second with a weight and a bias.
plan::NetworkShape two_modules(int leaf_calls = 2) {
  plan::NetworkShape network;
  network.leaf_calls = leaf_calls;
  plan::ModelShape& model = network.model;
  model.modules = {"first", "second"};
  model.parameters = {
      {.name = "first.weight", .sizes = {1}, .elements = 1, .module = plan::ModuleId{0}},
      {.name = "second.weight", .sizes = {1}, .elements = 1, .module = plan::ModuleId{1}},
      {.name = "second.bias", .sizes = {1}, .elements = 1, .module = plan::ModuleId{1}}};
  model.ready_order = {plan::ParameterId{2}, plan::ParameterId{1}, plan::ParameterId{0}};
  return network;
}

/// Backward by parameter, as they are registered.
plan::LayerProfile profile(Times forward, Times backward) {
  plan::LayerProfile one;
  one.forward = std::move(forward);
  one.backward = std::move(backward);
  return one;
}

TEST(LaunchOverhead, KeepsTheDevicesTimesUnderAFastHost) {
  const LaunchOverheadProfile same =
      with_launch_overhead(two_modules(), profile({5, 6}, {7, 1, 8}), 0);
  EXPECT_EQ(same.profile.forward, (Times{5, 6}));
  EXPECT_EQ(same.profile.backward, (Times{7, 1, 8}));
  EXPECT_EQ(same.busy, 1);
}

TEST(LaunchOverhead, TakesTheHostsTimeWhereTheDeviceWaits) {
  // Launched at 10, 20, 30 and 40, each over before the next: the device is
  // 1, 1, 3 (of it 1 for the weight) and 2 of 42 busy.
  const LaunchOverheadProfile slow =
      with_launch_overhead(two_modules(), profile({1, 1}, {2, 1, 2}), 10);
  EXPECT_EQ(slow.profile.forward, (Times{11, 10}));
  EXPECT_EQ(slow.profile.backward, (Times{9, 1, 11}));
  EXPECT_DOUBLE_EQ(slow.busy, 7.0 / 42);
}

TEST(LaunchOverhead, SpreadsCallsWithoutParametersOverTheModules) {
  const LaunchOverheadProfile three =
      with_launch_overhead(two_modules(3), profile({1, 1}, {2, 1, 2}), 20);
  const LaunchOverheadProfile two =
      with_launch_overhead(two_modules(), profile({1, 1}, {2, 1, 2}), 30);
  const LaunchOverheadProfile unsaid =
      with_launch_overhead(two_modules(0), profile({1, 1}, {2, 1, 2}), 30);
  EXPECT_EQ(three.profile.forward, two.profile.forward);
  EXPECT_EQ(three.profile.backward, two.profile.backward);
  EXPECT_EQ(unsaid.profile.backward, two.profile.backward);
}

TEST(LaunchOverhead, RunsAheadOfALongModule) {
  // Launched at 10, 20, 30, 40 while the first runs until 110: nothing waits.
  const LaunchOverheadProfile ahead =
      with_launch_overhead(two_modules(), profile({100, 3}, {5, 1, 4}), 10);
  EXPECT_EQ(ahead.profile.forward, (Times{110, 3}));
  EXPECT_EQ(ahead.profile.backward, (Times{5, 1, 4}));
}

TEST(LaunchOverhead, TheSlowestRankSetsThePace) {
  EXPECT_EQ(slowest_call(10, 0, 8), 10);
  EXPECT_EQ(slowest_call(10, 0.1, 1), 10);
  EXPECT_NEAR(slowest_call(10, 0.1, 4), 11.02938, 1e-5);
  EXPECT_EQ(slowest_call(10, 0.1, 1000), slowest_call(10, 0.1, 64));
}

}  // namespace
}  // namespace paceline::predict
