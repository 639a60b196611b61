// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/profile_batches.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/profile.h"

namespace paceline::predict {
namespace {

/// One layer, with times in microseconds.
ProfileOfFile profile(int batch_size, int forward, int backward, const std::string& type = "fp32",
                      const std::string& sizes = "4") {
  const std::string file = fmt::format("b{}.json", batch_size);
  return {file, cluster::parse_profile(
                    fmt::format(R"({{"paceline_profile": 1, "model": "one", "dtype": "{}",
 "batch_size": {}, "update_us": {}, "peak_memory_bytes": 100, "modules": [
 {{"name": "a", "forward_us": {}, "activation_bytes": 8}}], "parameters": [
 {{"name": "a.weight", "sizes": [{}], "module": "a", "backward_us": {}}}],
 "ready_order": ["a.weight"]}})",
                                type, batch_size, 100 + batch_size, forward, sizes, backward),
                    file)};
}

std::vector<plan::Picoseconds> times_of(const ProfileOfBatch& at) {
  return {at.profiled.profile.forward.at(0) / plan::picoseconds_of(1e-6),
          at.profiled.profile.backward.at(0) / plan::picoseconds_of(1e-6)};
}

using Times = std::vector<plan::Picoseconds>;

TEST(ProfileOfBatch, IsOnTheLineBetweenTwo) {
  const ProfileOfFile two = profile(2, 10, 20), six = profile(6, 30, 28);
  for (const ProfileOfBatch& at : {profile_of_batch(two, six, 3), profile_of_batch(six, two, 3)}) {
    EXPECT_EQ(times_of(at), (Times{15, 22}));
    EXPECT_EQ(at.profiled.batch_size, 3);
    EXPECT_FALSE(at.warning);
    EXPECT_EQ(at.profiled.update, 102 * plan::picoseconds_of(1e-6)) << "of the nearer batch";
    EXPECT_FALSE(at.profiled.memory) << "that of another batch is not known";
  }
  EXPECT_EQ(profile_of_batch(two, six, 5).profiled.update, 106 * plan::picoseconds_of(1e-6));
  EXPECT_EQ(times_of(profile_of_batch(two, six, 2)), (Times{10, 20}));
  EXPECT_EQ(times_of(profile_of_batch(two, six, 6)), (Times{30, 28}));
}

TEST(ProfileOfBatch, SaysHowFarItIsOutside) {
  const ProfileOfFile two = profile(2, 10, 20), six = profile(6, 30, 28);
  const ProfileOfBatch more = profile_of_batch(two, six, 12);
  EXPECT_EQ(times_of(more), (Times{60, 40}));
  ASSERT_TRUE(more.warning);
  EXPECT_EQ(more.warning->code, "batch-outside-profiles");
  EXPECT_EQ(more.warning->seen, "a micro-batch of 12 is 2 times the largest profiled one, 6");
  const ProfileOfBatch fewer = profile_of_batch(two, six, 1);
  EXPECT_EQ(times_of(fewer), (Times{5, 18}));
  ASSERT_TRUE(fewer.warning);
  EXPECT_EQ(fewer.warning->seen, "a micro-batch of 1 is 0.5 times the smallest profiled one, 2");
}

TEST(ProfileOfBatch, OutsideIsNoFasterThanWhatWasMeasuredAllows) {
  const ProfileOfFile two = profile(2, 10, 20), six = profile(6, 50, 16);
  EXPECT_EQ(times_of(profile_of_batch(two, six, 1)), (Times{5, 21})) << "a sample's share";
  EXPECT_EQ(times_of(profile_of_batch(two, six, 12)), (Times{110, 16}))
      << "no less than of fewer samples";
}

TEST(ProfileOfBatch, IsOfOneNetworkAtTwoBatches) {
  const auto message = [](const ProfileOfFile& other) -> std::string {
    try {
      profile_of_batch(profile(2, 10, 20), other, 3);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(profile(2, 30, 40)),
            "profiles b2.json and b2.json: both are of a batch of 2; two of one network at two "
            "batches are wanted");
  EXPECT_EQ(message(profile(6, 30, 40, "bf16")),
            "profiles b2.json and b6.json: the number type is fp32 in one and bf16 in the other; "
            "two of one network at two batches are wanted");
  EXPECT_EQ(message(profile(6, 30, 40, "fp32", "8")),
            "profiles b2.json and b6.json: their modules or parameters differ; two of one network "
            "at two batches are wanted");
}

}  // namespace
}  // namespace paceline::predict
