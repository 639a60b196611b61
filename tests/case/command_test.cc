// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/command.h"

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <wordexp.h>

#include "paceline/case/experiment.h"
#include "paceline/case/flags.h"
#include "paceline/case/outside.h"

namespace paceline::cases {
namespace {

// As a shell would read it.
std::vector<std::string> words_of(const std::string& line) {
  wordexp_t words{};
  EXPECT_EQ(wordexp(line.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF), 0) << line;
  std::vector<std::string> all(words.we_wordv, words.we_wordv + words.we_wordc);
  wordfree(&words);
  return all;
}

std::vector<Case> cases_of(const std::string& line) {
  std::vector<std::string> words = words_of(line);
  EXPECT_EQ(words.at(0) + " " + words.at(1), "paceline run");
  words.erase(words.begin(), words.begin() + 2);
  std::reverse(words.begin(), words.end());
  CLI::App app;
  Flags flags(app);
  app.parse(words);
  return expand(
             flags.raw_settings(),
             {.cores = 4, .native_bf16 = true, .models = {"mlp", "resnet18"}, .engines = {"gloo"}})
      .cases;
}

TEST(Command, MeasuresTheCaseAgain) {
  Case plain;
  plain.model = "mlp";
  plain.strategy = "fusion:bucket-mb=25";
  plain.threads = 1;
  Case other = plain;
  other.model = "resnet18";
  other.ranks = 4;
  other.batch_size = 12;
  other.image_size = 64;
  other.classes = 10;
  other.strategy = "ddp:bucket-mb=1,first-bucket-mb=0.5";
  other.bucket_mb = 0.1 + 0.2;
  other.dtype = "bf16";
  other.channels_last = true;
  other.warmup = 0;
  other.steps = 7;
  other.accumulate = 3;
  other.as_original = true;
  other.sync_each_step = true;
  other.seed = 42;
  other.optimizer = "adamw";
  other.learning_rate = 1e-5;
  other.momentum = 0;
  other.weight_decay = 0;
  for (const Case& one : {plain, other}) {
    const std::vector<Case> cases = cases_of(command_of(one));
    ASSERT_EQ(cases.size(), 1U) << command_of(one);
    EXPECT_EQ(cases[0].key(), one.key());
  }
}

// The batches of hybrid are of varying sizes.
TEST(Command, NamesNoBatchThatThereIsNot) {
  Case c;
  for (const auto& [model, named] : {std::pair{"hybrid", 0}, {"dlrm", 1}}) {
    c.model = model;
    EXPECT_EQ(std::ranges::count(words_of(command_of(c)), "--batch-size"), named) << model;
  }
}

TEST(Command, LeavesOutWhatFollowsFromTheUsersCommand) {
  Case c;
  c.model = c.launcher = "command";
  c.strategy = kExternalStrategy;
  c.engine = "";
  c.label = "train";
  c.command = "./train {batch}";
  const std::string line =
      "paceline run --ranks 1 --batch-size 32 --device cpu --steps 10 --command './train {batch}'";
  EXPECT_EQ(command_of(c), line);
  c.launcher = "ranks";
  c.env["A"] = "b";
  EXPECT_EQ(command_of(c), line + " --launcher ranks --env A=b");
}

TEST(Command, QuotesForAShell) {
  Case c;
  c.model = "$(touch x); 'y'";
  c.strategy = "";
  const std::vector<std::string> words = words_of(command_of(c));
  EXPECT_EQ(words[3], c.model);
  EXPECT_EQ(words[5], "");
}

}  // namespace
}  // namespace paceline::cases
