// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/outside.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "case/adapters.h"
#include "paceline/base/error.h"
#include "paceline/case/experiment.h"
#include "paceline/case/job_spec.h"

namespace paceline::cases {
namespace {

TEST_F(Adapters, AreReadWithTheirInterpreters) {
  const std::vector<Adapter> all = read();
  ASSERT_EQ(all.size(), 3U);
  const Adapter own = *find_adapter(all, "own");
  EXPECT_EQ(own.python, (root_ / "python" / "bin" / "python3").string());
  EXPECT_EQ(own.module, "paceline.adapters.own");
  EXPECT_EQ(own.arguments, std::vector<std::string>{"fast"});
  EXPECT_EQ(own.options.at("start"), "formula");
  EXPECT_EQ(own.missing, "");
  const Adapter here = *find_adapter(all, "here");
  EXPECT_EQ(here.python, (root_ / ".deps" / "adapters" / "here" / "bin" / "python").string());
  EXPECT_EQ(here.missing, "");
  EXPECT_EQ(find_adapter(all, "absent")->missing,
            "absent is not installed here: make adapters NAME=absent");
  EXPECT_FALSE(find_adapter(all, "other"));
}

TEST_F(Adapters, OfAnInstalledPackageRunWhereItIsInstalled) {
  PythonPackage package = this->package();
  package.environments = "";
  EXPECT_EQ(find_adapter(read_adapters(package), "here")->missing,
            "here is not installed here: pip install "
            "'paceline[adapters-here]'");
  fs::create_directories(root_ / "python" / "lib" / "python3.11" / "site-packages" / "here");
  const std::vector<Adapter> all = read_adapters(package);
  const Adapter here = *find_adapter(all, "here");
  EXPECT_EQ(here.missing, "");
  EXPECT_EQ(here.python, package.python);
}

TEST_F(Adapters, ThatAreWrongAreRejected) {
  write("[a]\nabout = 'x'\n");
  EXPECT_EQ(rejection(), ":1: [a] module = '': an adapter names its module");
  write("[a]\nmodule = 'x'\ncolour = 'red'\n");
  EXPECT_TRUE(rejection().starts_with(":3: unknown key of [a] 'colour'. Known: "));
  write("[a]\nmodule = 'x'\nhosts = 'two'\n");
  EXPECT_EQ(rejection(), ":3: [a] hosts = 'two': known are one");
  write("[a]\nmodule = 3\n");
  EXPECT_EQ(rejection(), ":2: [a] module = 3: must be text");
  write("[a\n");
  EXPECT_TRUE(rejection().starts_with(":1: not TOML: "));
  EXPECT_TRUE(read_adapters({.folder = "/nowhere"}).empty());
}

TEST_F(Adapters, SettleTheirCases) {
  const auto all = cases(
      {{"framework", "paceline,own,here,absent"}, {"model", "lenet"}, {"ranks", "2"}}, machine());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_FALSE(runs_external_program(all[0]));
  EXPECT_EQ(all[0].framework, "");
  EXPECT_EQ(all[1].strategy, "external");
  EXPECT_EQ(all[1].label, "own");
  EXPECT_EQ(all[1].engine, "gloo");
  EXPECT_EQ(processes_of(all[1]), 2);
  EXPECT_EQ(all[2].engine, "grpc");
  EXPECT_TRUE(all[2].compiled);
  EXPECT_EQ(all[2].label, "here");
  EXPECT_EQ(all[3].not_run, "absent is not installed here: make adapters NAME=absent");
  EXPECT_EQ(status_of_not_run(all[3]), "not-installed");
}

TEST_F(Adapters, OutsideOfTheirDevicesAndHostsAreARow) {
  write(
      "[own]\nmodule = 'own'\n"
      "[near]\nmodule = 'near'\ndevices = ['cpu']\nhosts = 'one'\n");
  MachineFacts with_gpus = machine();
  with_gpus.cuda_devices = 1;
  with_gpus.engines.emplace_back("nccl");
  auto all = cases({{"framework", "own,near"}, {"model", "lenet"}, {"device", "cuda"}}, with_gpus);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].not_run, "");
  EXPECT_EQ(all[1].not_run, "the adapter of near trains on cpu alone, not on cuda");
  MachineFacts hosts = machine();
  hosts.ranks_per_host = {2, 2};
  all = cases({{"framework", "own,near"}, {"model", "lenet"}, {"ranks", "2,4"}}, hosts);
  ASSERT_EQ(all.size(), 4U);
  for (const Case& c : all) {
    const bool rejected = c.framework == "near" && c.ranks == 4;
    EXPECT_EQ(c.not_run, rejected ? "the adapter of near trains on one host alone, not on 2" : "");
  }
}

TEST_F(Adapters, ThatReadNoDataAreARowBesideOursThatDoes) {
  const auto all =
      cases({{"framework", "paceline,own"}, {"model", "lenet"}, {"data", "digits"}}, machine());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].not_run, "");
  EXPECT_EQ(all[1].not_run,
            "the adapter of own trains on one synthetic batch alone, not on 'digits'");
  EXPECT_EQ(status_of_not_run(all[1]), "unsupported");
}

TEST_F(Adapters, AFileIsOne) {
  const std::string file = (root_ / "mine.py").string();
  std::ofstream(file) << "\n";
  const auto all = cases({{"framework", file}, {"model", "my-net"}}, machine());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].not_run, "");
  EXPECT_EQ(all[0].label, "mine.py");
  EXPECT_EQ(find_adapter(read(), file)->module, file);
  EXPECT_TRUE(
      cases({{"framework", file}, {"model", "bert-base"}}, machine()).at(0).not_run.empty());
  try {
    cases({{"framework", "./absent.py"}, {"model", "lenet"}}, machine());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--framework: there is no file './absent.py'");
  }
}

TEST_F(Adapters, ThatAreNotAvailableAreARowThatSaysWhy) {
  write("[gone]\nabout = 'x'\nunavailable = 'gone 1.0 does not compile'\n");
  for (const char* python : {"", "/usr/bin/python3"}) {
    const auto all =
        cases({{"framework", "gone"}, {"model", "lenet"}, {"python", python}}, machine());
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].not_run, "gone 1.0 does not compile");
    EXPECT_EQ(status_of_not_run(all[0]), "unsupported");
  }
}

TEST_F(Adapters, AreNamedInMessagesAsTheUserNamedThem) {
  const auto rejected = [&](const char* key, const char* value) {
    try {
      cases({{"framework", "own"}, {"model", "lenet"}, {key, value}}, machine());
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(rejected("link", "1Gbit"),
            "--link: '1Gbit' holds operations of Paceline's own ranks, and own performs the case");
  EXPECT_EQ(rejected("trace", "t.json"),
            "--trace: 't.json' would stay empty: external programs perform all cases, and they "
            "report no more than the times of steps");
}

TEST_F(Adapters, LeaveARowWhereTheyCannotRunACase) {
  const auto reason = [&](const char* framework, const char* key, const char* value) {
    const auto all = cases({{"framework", framework}, {"model", "lenet"}, {key, value}}, machine());
    EXPECT_EQ(status_of_not_run(all.at(0)), "unsupported");
    return all.at(0).not_run;
  };
  EXPECT_EQ(reason("own", "compiled", "true"), "the adapter of own has no compiled form");
  EXPECT_EQ(reason("here", "dtype", "bf16"), "the adapter of here has fp32 alone, not bf16");
  EXPECT_EQ(reason("here", "optimizer", "rmsprop"),
            "the adapter of here has sgd, adamw alone, not rmsprop");
  EXPECT_EQ(reason("here", "model", "resnet50"),
            "the adapter of here has lenet alone, not resnet50");
  EXPECT_EQ(reason("paceline", "compiled", "true"), "Paceline's networks have no compiled form");
}

TEST_F(Adapters, AnyStrategyOfASweepIsOneCaseOfAFramework) {
  const auto all = cases(
      {{"framework", "paceline,own"}, {"model", "lenet"}, {"strategy", "bsp,fusion"}}, machine());
  EXPECT_EQ(all.size(), 3U);
}

// The strategy of a file is that of its column of Paceline.
TEST_F(Adapters, FlagsChooseAmongTheFrameworksOfAFile) {
  RawSettings raw;
  raw.defaults = {{"framework", {{"paceline", "f.toml:1"}}},
                  {"model", {{"lenet", "f.toml:2"}}},
                  {"strategy", {{"fusion", "f.toml:3"}}}};
  raw.flags = {{"framework", {{"own", "--framework"}}}};
  const auto chosen = expand(raw, machine()).cases;
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].strategy, kExternalStrategy);
  raw.flags["strategy"] = {{"fusion", "--strategy"}};
  EXPECT_THROW(expand(raw, machine()), UsageError);
}

TEST_F(Adapters, TravelToTheRanks) {
  JobSpec job;
  job.experiment.cases =
      cases({{"framework", "here,absent"}, {"model", "lenet"}, {"ranks", "1"}}, machine());
  job.experiment.cases[0].env = {{"A", "x,\"y"}, {"B", ""}};
  EXPECT_EQ(job_spec_from(to_text(job)).experiment.cases, job.experiment.cases);
}

TEST_F(Adapters, ACommandThatStartsItsRanksNeedsOneProcess) {
  const std::vector<std::pair<std::string, std::string>> flags{
      {"command", "torchrun --nproc-per-node {ranks} a/train.py, b"},
      {"batch_size", "4"},
      {"ranks", "2"}};
  const auto all = cases(flags, machine());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(processes_of(all[0]), 1);
  EXPECT_EQ(all[0].model, "command");
  EXPECT_EQ(all[0].label, "train.py");
  MachineFacts joined = machine();
  joined.ranks_per_host = {2};
  EXPECT_THROW(cases(flags, joined), UsageError);
}

TEST_F(Adapters, WhatNoProgramOutsideObeysIsRejected) {
  std::vector<std::pair<std::string, std::string>> flags{
      {"command", "a/train.py"}, {"batch_size", "4"}, {"ranks", "1"}};
  EXPECT_EQ(cases(flags, machine()).size(), 1U);
  auto traced = flags;
  traced.emplace_back("trace", "t.json");
  EXPECT_THROW(cases(traced, machine()), UsageError);
  auto clipped = flags;
  clipped.emplace_back("clip_norm", "1");
  EXPECT_THROW(cases(clipped, machine()), UsageError);
  clipped = {{"framework", "own"}, {"model", "lenet"}, {"clip_norm", "1"}};
  EXPECT_EQ(cases(clipped, machine()).at(0).clip_norm, 1);  // it is told to
  flags.emplace_back("strategy", "bsp");
  EXPECT_THROW(cases(flags, machine()), UsageError);
}

TEST(EnvValues, AreAnAxis) {
  RawSettings raw = parse_raw_settings(
      "model = 'lenet'\nranks = 1\nenv.KEPT = 'x'\n"
      "[sweep]\nenv.PACE = ['1', '2']\n",
      "f.toml");
  MachineFacts machine{.cores = 1, .models = {"lenet"}, .engines = {"gloo"}};
  const auto all = expand(raw, machine).cases;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].env, (std::map<std::string, std::string>{{"KEPT", "x"}, {"PACE", "1"}}));
  EXPECT_NE(all[0].key(), all[1].key());
  raw.flags.merge(env_of_flags({"PACE=3,4,5"}));
  EXPECT_EQ(expand(raw, machine).cases.size(), 3U);
  EXPECT_THROW(parse_raw_settings("env.RANK = '1'", "f.toml"), UsageError);
  EXPECT_THROW(parse_raw_settings("env.PACE = ['1']", "f.toml"), UsageError);
}

}  // namespace
}  // namespace paceline::cases
