// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/outside_command.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "rank/command_case.h"

namespace paceline::rank {
namespace {

TEST(ExternalCommand, FillsInWhatItKnows) {
  cases::Case c = command_of_two_ranks();
  EXPECT_EQ(
      fill_placeholders("{ranks} {batch} {global_batch} {total} {port} ${ranks} {other} {", c, {}),
      "2 8 16 3 PORT ${ranks} {other} {");
  c.optimizer = "adamw";
  c.learning_rate = 0.1;
  c.channels_last = true;
  EXPECT_EQ(fill_placeholders("{optimizer} {learning_rate} {channels_last} {python} {batch_size} "
                              "{accumulate} {image_size} {dtype}",
                              c, {}),
            "adamw 0.1 true python3 8 1 0 fp32");
  c.python = "/opt/python";
  EXPECT_EQ(fill_placeholders("{python}", c, {}), "/opt/python");
}

TEST(ExternalCommand, IsNotToldWhatTheCaseDoesNotKnow) {
  cases::Case c = command_of_two_ranks();
  c.launcher = "ranks";
  const auto handed = [&c] {
    return nlohmann::json::parse(outside_command(c, {}).environment.at("PACELINE_CASE"));
  };
  EXPECT_EQ(handed().at("dtype"), "fp32");
  EXPECT_EQ(handed().at("batch_size"), 8);
  EXPECT_EQ(handed().at("channels_last"), false);
  c.unstated = {"dtype", "warmup_steps", "bucket_mib"};
  EXPECT_FALSE(handed().contains("dtype"));
  EXPECT_FALSE(handed().contains("warmup"));
  EXPECT_FALSE(handed().contains("bucket_mb"));
}

}  // namespace
}  // namespace paceline::rank
