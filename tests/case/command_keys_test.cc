// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/command_keys.h"

#include <fstream>

#include <gtest/gtest.h>

#include "case/adapters.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

class CommandKeys : public Adapters {
 protected:
  std::string rejected(Given flags) const {
    flags.emplace_back("batch_size", "4");
    try {
      cases(flags, machine());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(CommandKeys, SweptAndNotSeenAreRejected) {
  EXPECT_EQ(
      rejected({{"command", "train"}, {"optimizer", "sgd,adamw"}}),
      "--optimizer: sgd and adamw would be the same job: the command does not see it; write "
      "{optimizer} where it takes it, or PACELINE_CASE where it reads its case from that variable");
  EXPECT_EQ(rejected({{"command", "train"}, {"optimizer", "adamw"}}), "")
      << "one value is a statement about the job";
  EXPECT_EQ(rejected({{"command", "t {optimizer}"}, {"optimizer", "sgd,adamw"}}), "");
  EXPECT_NE(rejected({{"command", "t ${optimizer}"}, {"optimizer", "sgd,adamw"}}), "");
}

TEST_F(CommandKeys, EveryKeyHasAPlaceholder) {
  for (const auto& [key, values] : Given{{"model", "lenet,resnet50"},
                                         {"image_size", "28,32"},
                                         {"classes", "10,20"},
                                         {"sequence_length", "8,16"},
                                         {"dtype", "fp32,bf16"},
                                         {"channels_last", "true,false"},
                                         {"seed", "1,2"},
                                         {"start", "random,formula"},
                                         {"accumulate", "1,2"},
                                         {"learning_rate", "0.1,0.2"},
                                         {"momentum", "0,0.9"},
                                         {"weight_decay", "0,0.1"},
                                         {"clip_norm", "1,2"},
                                         {"compiled", "true,false"},
                                         {"python", "a,b"},
                                         {"bucket_mb", "1,2"},
                                         {"ranks", "1,2"}}) {
    const std::string command = "train {" + key + "}";
    EXPECT_NE(rejected({{"command", "train"}, {key, values}}), "") << key;
    EXPECT_EQ(rejected({{"command", command}, {key, values}}), "") << key;
  }
  for (const Field& key : keys()) {
    const bool is_text_of_run =
        key.name == "command" || key.name == "step_regex" || key.name == "env";
    EXPECT_EQ(placeholders_of({}).contains(key.name), is_case_key(key) && !is_text_of_run)
        << key.name;
  }
}

TEST_F(CommandKeys, WhatPacelineHandsOverIsSeen) {
  EXPECT_EQ(rejected({{"command", "train"}, {"threads", "1,2"}}), "");
  EXPECT_EQ(rejected({{"command", "train"}, {"steps", "10,20"}}), "");
  EXPECT_EQ(rejected({{"command", "train"}, {"launcher", "ranks"}, {"ranks", "1,2"}}), "");
  const std::string script = (root_ / "train.py").string();
  std::ofstream(script) << "import os\n";
  const Given flags{{"command", "python " + script}, {"seed", "1,2"}};
  EXPECT_NE(rejected(flags), "");
  std::ofstream(script) << "case = os.environ['PACELINE_CASE']\n";
  EXPECT_EQ(rejected(flags), "");
  EXPECT_EQ(rejected({{"command", "train \"$PACELINE_CASE\""}, {"dtype", "fp32,bf16"}}), "");
  EXPECT_NE(rejected({{"command", "train \"$PACELINE_CASE\""}, {"ranks", "1,2"}}), "")
      << "the case does not have its ranks";
}

TEST_F(CommandKeys, CasesOfAFileAreHeldAgainstOneAnother) {
  const RawSettings raw = parse_raw_settings(R"(
command = "train"
batch_size = 4
[[case]]
optimizer = "sgd"
[[case]]
optimizer = "adamw"
)",
                                             "e.toml");
  try {
    expand(raw, machine());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("e.toml:7: optimizer: sgd and adamw"))
        << error.what();
  }
}

TEST_F(CommandKeys, WithoutEffectIsRejected) {
  EXPECT_TRUE(rejected({{"command", "train"}, {"python", "a"}})
                  .starts_with("--python: the command does not see it"));
}

TEST_F(CommandKeys, WhatNobodySaysIsNotKnown) {
  MachineFacts gpus = machine();
  gpus.cuda_devices = 1;
  gpus.engines = {"gloo", "nccl"};
  const auto one = [&](Given flags, const MachineFacts& on) {
    flags.emplace_back("batch_size", "4");
    return cases(flags, on).front();
  };
  EXPECT_EQ(one({{"command", "train"}}, machine()).unstated,
            (std::set<std::string>{"accumulate", "bucket_mib", "channels_last", "dtype", "engine",
                                   "learning_rate", "momentum", "optimizer", "seed",
                                   "sync_each_step", "weight_decay"}));
  const auto told = one({{"command", "train {seed}"}, {"optimizer", "adamw"}}, machine());
  EXPECT_EQ(told.optimizer, "adamw");
  EXPECT_TRUE(told.states("optimizer") && told.states("seed"));
  EXPECT_FALSE(told.states("learning_rate"));
  EXPECT_EQ(one({{"command", "train"}}, machine()).device, "cpu");
  EXPECT_EQ(one({{"command", "train"}}, gpus).device, "");
  EXPECT_EQ(one({{"command", "train {device} {dtype}"}}, gpus).device, "cuda");
  EXPECT_EQ(one({{"command", "train {device} {dtype}"}}, gpus).dtype, "fp32");
  EXPECT_EQ(one({{"command", "train"}, {"dtype", "bf16"}}, gpus).dtype, "bf16");
}

TEST_F(CommandKeys, WindowsAreOfWholeLines) {
  const auto window = [&](Given flags) {
    flags.emplace_back("batch_size", "4");
    flags.emplace_back("command", "train");
    const auto c = cases(flags, machine()).front();
    return std::pair(c.warmup, c.steps);
  };
  EXPECT_EQ(window({{"steps_per_line", "5"}}), std::pair(5, 10));
  EXPECT_EQ(window({{"steps_per_line", "20"}}), std::pair(20, 20));
  EXPECT_EQ(window({{"steps_per_line", "4"}, {"warmup", "0"}}), std::pair(0, 12));
  EXPECT_EQ(rejected({{"command", "train"}, {"steps_per_line", "10"}, {"steps", "25"}}),
            "--steps: '25' steps are no whole number of lines of 10 steps; "
            "take 30");
}

}  // namespace
}  // namespace paceline::cases
