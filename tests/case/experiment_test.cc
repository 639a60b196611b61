// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/experiment.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "case/rejection_of.h"
#include "paceline/case/protocols.h"
#include "paceline/strategies/strategy.h"

namespace paceline::cases {
namespace {

using Strings = std::vector<std::string>;

MachineFacts cpu_machine(int cores) {
  return {.cores = cores,
          .models = {"resnet18", "resnet50", "resnet101", "resnext50_32x4d", "resnext101_32x8d",
                     "mlp", "linear"},
          .engines = {"gloo"}};
}

MachineFacts gpu_machine(std::vector<int> ranks_per_host) {
  MachineFacts machine = cpu_machine(32);
  machine.cuda_devices = 8;
  machine.engines = {"gloo", "nccl"};
  machine.ranks_per_host = std::move(ranks_per_host);
  return machine;
}

using KeyTexts = std::vector<std::pair<std::string, std::string>>;

RawSettings with_flags(const KeyTexts& flags, RawSettings raw = {}) {
  for (const auto& [name, text] : flags) {
    raw.flags[name] = split_flag(name, {text});
  }
  return raw;
}

/// "fusion" of "fusion:bucket-mb=25".
std::string name_of(const std::string& strategy) { return strategy.substr(0, strategy.find(':')); }

/// "2 ddp": ranks and strategy of each case.
Strings rows(const Experiment& experiment) {
  Strings all;
  for (const auto& c : experiment.cases) {
    all.push_back(std::to_string(c.ranks) + " " + name_of(c.strategy));
  }
  return all;
}

TEST(Expand, FlagsAloneMakeOneCase) {
  const Experiment one = expand(
      with_flags({{"model", "resnet18"}, {"ranks", "4"}, {"strategy", "fusion"}}), cpu_machine(8));
  ASSERT_EQ(one.cases.size(), 1U);
  EXPECT_EQ(one.name, "command-line");
  EXPECT_EQ(one.cases[0].model, "resnet18");
  EXPECT_EQ(one.cases[0].ranks, 4);
  EXPECT_EQ(one.cases[0].strategy, "fusion:bucket-mb=25");
  EXPECT_EQ(one.cases[0].device, "cpu");
  EXPECT_EQ(one.cases[0].engine, "gloo");
  EXPECT_EQ(one.cases[0].threads, 2);
  EXPECT_EQ(one.cases[0].label, "fusion");
}

TEST(Expand, ListsAreAProductWithTheLastKeyOfTheTableFastest) {
  EXPECT_EQ(
      rows(expand(with_flags({{"strategy", "ddp,fusion"}, {"ranks", "1,2"}, {"model", "mlp"}}),
                  cpu_machine(2))),
      (Strings{"1 ddp", "1 fusion", "2 ddp", "2 fusion"}));
}

TEST(Expand, ACaseMayHaveLists) {
  const RawSettings raw = parse_raw_settings(
      "[[case]]\nmodel = 'mlp'\nranks = [1, 2]\nstrategy = ['bsp', 'wfbp']\n", "x.toml");
  EXPECT_EQ(rows(expand(raw, cpu_machine(2))), (Strings{"1 bsp", "1 wfbp", "2 bsp", "2 wfbp"}));
}

TEST(Expand, FlagsReplaceTheirKeyInCasesAndSweep) {
  const RawSettings file = parse_raw_settings(
      "model = 'mlp'\n[[case]]\nranks = 1\nstrategy = 'none'\n"
      "[sweep]\nranks = [2, 4]\nstrategy = ['ddp', 'bsp']\n",
      "x.toml");
  EXPECT_EQ(rows(expand(file, cpu_machine(4))),
            (Strings{"1 none", "2 ddp", "2 bsp", "4 ddp", "4 bsp"}));
  EXPECT_EQ(rows(expand(with_flags({{"ranks", "3"}}, file), cpu_machine(4))),
            (Strings{"1 none", "3 ddp", "3 bsp"}))
      << "one rank is what they are compared with";
  EXPECT_EQ(rows(expand(with_flags({{"strategy", "ddp"}}, file), cpu_machine(4))),
            (Strings{"1 none", "2 ddp", "4 ddp"}))
      << "and its strategy too";
  EXPECT_EQ(
      rows(expand(with_flags({{"ranks", "auto"}, {"strategy", "ddp"}}, file), cpu_machine(6))),
      (Strings{"1 none", "2 ddp", "4 ddp", "6 ddp"}))
      << "one rank stands there already";
  const RawSettings alone =
      parse_raw_settings("model = 'mlp'\n[[case]]\nranks = 1\nstrategy = 'bsp'\n", "x.toml");
  EXPECT_EQ(rows(expand(with_flags({{"ranks", "3"}}, alone), cpu_machine(4))), Strings{"3 bsp"});
}

TEST(AccuracyOfRules, HasEveryExchangeAndUpdateRule) {
  const std::string path = PACELINE_SOURCE_DIR "/experiments/accuracy_rules.toml";
  std::set<std::string_view> named;
  for (const std::string section : {"", "late"}) {
    for (const auto& c : expand(read_raw_settings(path, section), cpu_machine(4)).cases) {
      const auto spec = strategies::parse_strategy(c.strategy);
      named.insert(spec.exchange.row->name);
      named.insert(spec.update.row->name);
    }
  }
  const auto expect_named = [&](const auto& rows) {
    for (const strategies::RowInfo& row : rows) {
      EXPECT_TRUE(named.contains(row.name)) << row.name;
    }
  };
  expect_named(strategies::exchanges());
  expect_named(strategies::update_rules());
}

// A default window is whole periods of the strategy's steps, behind a warm-up of such; what
// somebody has chosen stays.
TEST(Expand, WindowsThatNobodyHasChosenAreWholePeriods) {
  const auto window = [](const KeyTexts& flags) {
    KeyTexts all{{"model", "mlp"}};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto c = expand(with_flags(all), cpu_machine(8)).cases.at(0);
    return std::pair(c.warmup, c.steps);
  };
  using Steps = std::pair<int, int>;
  const std::pair<std::string, std::string> two{"ranks", "2"}, diloco{"strategy", "diloco"};
  EXPECT_EQ(window({two}), Steps(5, 10));
  EXPECT_EQ(window({two, diloco}), Steps(30, 30));
  EXPECT_EQ(window({two, {"strategy", "local-sgd:every=4"}}), Steps(8, 12));
  EXPECT_EQ(window({{"ranks", "8"}, {"strategy", "neighbor-allreduce"}}), Steps(6, 12));
  EXPECT_EQ(window({two, diloco, {"steps", "7"}}), Steps(30, 7));
  EXPECT_EQ(window({two, diloco, {"warmup", "1"}}), Steps(1, 30));
  EXPECT_EQ(window({two, {"average_buffers", "4"}}), Steps(8, 12));
}

TEST(Expand, EqualCasesAreKeptOnce) {
  EXPECT_EQ(rows(expand(with_flags({{"ranks", "2,max,2"}, {"strategy", "ddp"}, {"model", "mlp"}}),
                        cpu_machine(2))),
            Strings{"2 ddp"});
}

TEST(Expand, ASizeOfBucketsTellsApartWhatTakesIt) {
  Strings strategies;
  for (const auto& c : expand(with_flags({{"model", "mlp"},
                                          {"ranks", "2"},
                                          {"strategy", "bsp,fusion,fusion:bucket-mb=8"},
                                          {"bucket_mb", "1,4"}}),
                              cpu_machine(2))
                           .cases) {
    strategies.push_back(c.strategy);
  }
  std::ranges::sort(strategies);
  EXPECT_EQ(strategies,
            (Strings{"bsp", "fusion:bucket-mb=1", "fusion:bucket-mb=4", "fusion:bucket-mb=8"}));
}

TEST(Expand, StrategiesAreToldApartByTheirCanonicalText) {
  const Experiment both =
      expand(with_flags({{"model", "mlp"},
                         {"strategy", "fusion,fusion+all_reduce,fusion:bucket_mb=1"},
                         {"bucket_mb", "2.5"}}),
             cpu_machine(1));
  ASSERT_EQ(both.cases.size(), 2U);
  EXPECT_EQ(both.cases[0].strategy, "fusion:bucket-mb=2.5");
  EXPECT_EQ(both.cases[1].strategy, "fusion:bucket-mb=1");
}

TEST(Expand, WordsOfRanksFollowTheMachine) {
  const auto worlds = [](const std::string& text, const MachineFacts& machine) {
    std::vector<int> all;
    for (const auto& c : expand(with_flags({{"ranks", text}, {"model", "mlp"}}), machine).cases) {
      all.push_back(c.ranks);
    }
    return all;
  };
  using Worlds = std::vector<int>;
  EXPECT_EQ(worlds("auto", cpu_machine(1)), Worlds{1});
  EXPECT_EQ(worlds("auto", cpu_machine(6)), (Worlds{1, 2, 4, 6}));
  EXPECT_EQ(worlds("auto:4", cpu_machine(64)), (Worlds{1, 2, 4}));
  EXPECT_EQ(worlds("max", gpu_machine({})), Worlds{8});
  EXPECT_EQ(worlds("max:4", gpu_machine({})), Worlds{4});
  EXPECT_EQ(worlds("max", gpu_machine({8, 8})), Worlds{16});
  EXPECT_EQ(worlds("world", gpu_machine({})), Worlds{1});
  EXPECT_EQ(worlds("world", gpu_machine({8, 8})), Worlds{16});
}

TEST(Expand, EveryCaseHasTheThreadsOfTheLargestWorld) {
  for (const auto& c :
       expand(with_flags({{"ranks", "1,2,4"}, {"model", "mlp"}}), cpu_machine(8)).cases) {
    EXPECT_EQ(c.threads, 2);
  }
  for (const auto& c :
       expand(with_flags({{"ranks", "1,3"}, {"model", "mlp"}}), cpu_machine(2)).cases) {
    EXPECT_EQ(c.threads, 1);
  }
  // 16 ranks on two hosts of 32 cores: 8 on each.
  const Experiment two_hosts =
      expand(with_flags({{"ranks", "16"}, {"model", "mlp"}}), gpu_machine({8, 8}));
  EXPECT_EQ(two_hosts.cases[0].threads, 4);
  const Experiment asked = expand(with_flags({{"threads", "3"}, {"model", "mlp"}}), cpu_machine(8));
  EXPECT_EQ(asked.cases[0].threads, 3);
}

TEST(Expand, AutoTakesTheGpuAndItsEngineWhereTheyAre) {
  const auto c = expand(with_flags({{"model", "mlp"}}), gpu_machine({})).cases[0];
  EXPECT_EQ(c.device, "cuda");
  EXPECT_EQ(c.engine, "nccl");
  const auto on_cpu =
      expand(with_flags({{"model", "mlp"}, {"device", "cpu"}}), gpu_machine({})).cases[0];
  EXPECT_EQ(on_cpu.engine, "gloo");
}

TEST(Expand, RejectsWhatCannotRunHere) {
  const MachineFacts two = cpu_machine(2);
  EXPECT_EQ(rejection_of(with_flags({{"model", "resnet5"}}), two),
            "--model: unknown model 'resnet5'; did you mean 'resnet50'? Known: resnet18, resnet50, "
            "resnet101, resnext50_32x4d, resnext101_32x8d, mlp, linear");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"device", "cuda"}}), two),
            "--device: 'cuda', but PyTorch sees no GPU here");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"engine", "nccl"}}), two),
            "--engine: 'nccl' was not built in; there is gloo");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"engine", "mpi"}}), two),
            "--engine: 'mpi' was not built in; there is gloo; `make mpi` installs Open MPI and "
            "builds with it");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"device", "cpu"}, {"engine", "nccl"}}),
                         gpu_machine({})),
            "--engine: 'nccl' moves bytes between GPUs alone; for device cpu "
            "take gloo");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"dtype", "amp"}}), two),
            "--dtype: 'amp' needs a CPU with bf16 instructions, which this one lacks (emulated it "
            "is some 40 times slower than fp32); take fp32");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "16"}}), gpu_machine({})),
            "--ranks: '16', but 8 GPUs are visible here and each rank takes "
            "one");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "17"}}), gpu_machine({8, 8})),
            "--ranks: '17', but 16 were started or have a slot");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "1000"}}), two),
            "--ranks: '1000' on 2 cores: at most 32 ranks a core");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "65"}}), two),
            "--ranks: '65' on 2 cores: at most 32 ranks a core");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "64"}}), two), "no error");
  EXPECT_TRUE(
      rejection_of(with_flags({{"model", "mlp"}, {"ranks", "all"}}), two)
          .starts_with("--ranks: 'all' is not a whole number of at least 1 or one of world "));
  EXPECT_TRUE(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "max:0"}}), two)
                  .starts_with("--ranks: 'max:0' is not a whole number "));
  EXPECT_EQ(
      rejection_of(with_flags({{"model", "mlp"}, {"batch_size", "8"}, {"accumulate", "3"}}), two),
      "--accumulate: 3 micro-batches do not divide a batch of 8");
  EXPECT_EQ(
      rejection_of(with_flags({{"model", "mlp"}, {"ranks", "2"}, {"ranks_per_host", "2+2"}}), two),
      "--ranks-per-host: '2+2' places 4 ranks, the case has 2");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"},
                                     {"learning_rate", "0"},
                                     {"strategy", "neighbor-allreduce+decentlam"}}),
                         two),
            "--learning-rate: '0', but 'decentlam' divides by the rate; take "
            "one above 0");
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"},
                                     {"learning_rate", "0"},
                                     {"strategy", "fusion,local-sgd:every=2"}}),
                         two),
            "no error");
  EXPECT_TRUE(rejection_of(with_flags({{"model", "mlp"}, {"strategy", "fusoin"}}), two)
                  .starts_with("--strategy: unknown strategy part 'fusoin'"));
}

TEST(Expand, ARejectedCaseStandsBesideValidOnes) {
  const std::string why = "--ranks: '1000' on 2 cores: at most 32 ranks a core";
  const Experiment some = expand(
      with_flags({{"model", "mlp"}, {"ranks", "1000,1"}, {"strategy", "bsp"}}), cpu_machine(2));
  EXPECT_EQ(rows(some), Strings{"1 bsp"});
  EXPECT_EQ(some.cases[0].threads, 2) << "the rejected case's ranks do not share the cores";
  ASSERT_EQ(some.rejected.size(), 1U);
  EXPECT_EQ(some.rejected[0].configuration.ranks, 1000);
  EXPECT_EQ(some.rejected[0].configuration.strategy, "bsp");
  EXPECT_EQ(some.rejected[0].why, why);
  EXPECT_EQ(rejection_of(with_flags({{"model", "mlp"}, {"ranks", "1000,2000"}}), cpu_machine(2)),
            why);
  EXPECT_TRUE(
      rejection_of(with_flags({{"model", "mlp"}, {"strategy", "bsp,fusoin"}}), cpu_machine(2))
          .starts_with("--strategy: unknown strategy part 'fusoin'"))
      << "a text that is no strategy is no case";
}

TEST(Expand, ABaselineAloneIsNoSweep) {
  const std::string file =
      "model = 'mlp'\nstrategy = 'bsp'\n[[case]]\nranks = 1\n[sweep]\nranks = ";
  EXPECT_EQ(rejection_of(parse_raw_settings(file + "[1000, 2000]\n", "x.toml"), cpu_machine(2)),
            "x.toml:6: ranks: '1000' on 2 cores: at most 32 ranks a core");
  const Experiment some =
      expand(parse_raw_settings(file + "[1000, 2]\n", "x.toml"), cpu_machine(2));
  EXPECT_EQ(rows(some), (Strings{"1 bsp", "2 bsp"}));
  EXPECT_EQ(some.rejected.size(), 1U);
}

/// The original's list for one model: "warmup", "no ddp", "1M/1G" ...
Strings original_entries(int world) {
  Strings all = {"1 warmup", "1 no ddp", "1 1M/1G"};
  for (const int ranks : {2, 4}) {
    if (ranks <= world) {
      all.push_back(std::to_string(ranks) + " 1M/" + std::to_string(ranks) + "G");
    }
  }
  for (int hosts = 1; hosts <= world / 8; ++hosts) {
    all.push_back(std::to_string(8 * hosts) + " " + std::to_string(hosts) + "M/8G");
  }
  return all;
}

std::vector<int> hosts_of_eight(int world) {
  std::vector<int> hosts(static_cast<std::size_t>(world / 8), 8);
  if (world % 8 != 0) {
    hosts.push_back(world % 8);
  }
  return hosts;
}

TEST(DdpFile, ExpandsToTheOriginalsEntries) {
  const RawSettings file = read_raw_settings(PACELINE_SOURCE_DIR "/experiments/ddp.toml");
  for (const int world : {1, 2, 4, 8, 12, 16}) {
    SCOPED_TRACE(world);
    const Experiment sweep = expand(file, gpu_machine(hosts_of_eight(world)));
    Strings expected;
    for (const char* model : {"resnet50", "resnet101", "resnext50_32x4d", "resnext101_32x8d"}) {
      for (const std::string& entry : original_entries(world)) {
        expected.push_back(std::string(model) + " " + entry);
      }
    }
    Strings found;
    for (const auto& c : sweep.cases) {
      found.push_back(c.model + " " + std::to_string(c.ranks) + " " + c.label);
      EXPECT_EQ(c.discard, c.label == "warmup");
      EXPECT_EQ(name_of(c.strategy), c.label == "warmup" || c.label == "no ddp" ? "none" : "ddp");
      EXPECT_EQ(c.batch_size, 32);
      EXPECT_EQ(c.image_size, 224);
      EXPECT_EQ(c.bucket_mb, 25);
      EXPECT_EQ(c.optimizer, "sgd");
      EXPECT_EQ(c.learning_rate, 0.001);
      EXPECT_EQ(c.momentum, 0.9);
      EXPECT_EQ(c.weight_decay, 1e-4);
      EXPECT_EQ(c.warmup, 5);
      EXPECT_EQ(c.steps, 10);
      EXPECT_EQ(c.dtype, "fp32");
      EXPECT_EQ(c.engine, "nccl");
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(DdpFile, RanksBoundTheWorldAndStrategyReplacesDdp) {
  const RawSettings file = read_raw_settings(PACELINE_SOURCE_DIR "/experiments/ddp.toml");
  const Experiment two =
      expand(with_flags({{"model", "resnet18"}, {"ranks", "2"}, {"strategy", "fusion,ddp"}}, file),
             cpu_machine(4));
  EXPECT_EQ(rows(two), (Strings{"1 none", "1 none", "1 fusion", "1 ddp", "2 fusion", "2 ddp"}));
  EXPECT_EQ(rejection_of(with_flags({{"ranks", "2,4"}}, file), cpu_machine(4)),
            "--ranks: protocol ddp takes one number, its largest world");
  EXPECT_EQ(rejection_of(with_flags({{"ranks", "9"}}, file), gpu_machine({})),
            "--ranks: '9', but 8 GPUs are visible here and each rank takes "
            "one");
}

TEST(DdpEntries, FollowTheRealDevicesPerHost) {
  const auto labels = [](const std::vector<int>& hosts) {
    Strings all;
    for (const ProtocolEntry& entry : ddp_entries(hosts)) {
      all.push_back(entry.label);
    }
    return all;
  };
  EXPECT_EQ(labels({4, 4, 4}),
            (Strings{"warmup", "no ddp", "1M/1G", "1M/2G", "1M/4G", "2M/4G", "3M/4G"}));
  EXPECT_EQ(labels({6}), (Strings{"warmup", "no ddp", "1M/1G", "1M/2G", "1M/4G", "1M/6G"}));
  EXPECT_EQ(labels({1, 1}), (Strings{"warmup", "no ddp", "1M/1G", "2M/1G"}));
}

TEST(QuickFile, AdaptsToTheMachine) {
  const RawSettings file = read_raw_settings(PACELINE_SOURCE_DIR "/experiments/quick.toml");
  EXPECT_EQ(rows(expand(file, cpu_machine(2))),
            (Strings{"1 none", "2 ddp", "2 fusion", "2 bsp", "2 python-ddp"}));
  EXPECT_EQ(expand(file, cpu_machine(64)).cases.back().ranks, 8);
  EXPECT_EQ(expand(file, cpu_machine(2)).runs, 3);
  MachineFacts one_gpu = gpu_machine({});
  one_gpu.cuda_devices = 1;
  EXPECT_EQ(expand(file, one_gpu).cases.back().ranks, 1);
}

TEST(HybridFile, RunsOnTheCpuWhereAGpuIsVisible) {
  const RawSettings file = read_raw_settings(PACELINE_SOURCE_DIR "/experiments/hybrid.toml");
  MachineFacts machine = gpu_machine({});
  machine.cuda_devices = 1;
  machine.models.emplace_back("hybrid");
  const Experiment experiment = expand(file, machine);
  ASSERT_EQ(experiment.cases.size(), 1U);
  EXPECT_EQ(experiment.cases[0].device, "cpu");
  EXPECT_EQ(experiment.cases[0].engine, "gloo");
  EXPECT_NE(rejection_of(with_flags({{"device", "cuda"}}, file), machine)
                .find("looked up and pooled on the CPU"),
            std::string::npos);
}

TEST(TrainingOnData, TakesTheSizesOfTheData) {
  const Experiment experiment =
      expand(with_flags({{"data", "digits"}, {"model", "mlp"}}), cpu_machine(4));
  ASSERT_EQ(experiment.cases.size(), 1u);
  EXPECT_EQ(experiment.cases[0].image_size, 8);
  EXPECT_EQ(experiment.cases[0].classes, 10);
}

TEST(TrainingOnData, RejectsWhatDoesNotFit) {
  const auto rejected = [](std::vector<std::pair<std::string, std::string>> flags) {
    if (flags.front().first != "model") {
      flags.emplace_back("model", "mlp");
    }
    return rejection_of(with_flags(flags), cpu_machine(4));
  };
  const auto holds = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  holds(rejected({{"data", "digit"}}), "did you mean 'digits'");
  holds(rejected({{"data", "mnist"}}), "mnist:DIR is wanted");
  holds(rejected({{"data", "mnist:"}}), "mnist:DIR is wanted");
  holds(rejected({{"data", "digits:x"}}), "digits takes no folder");
  holds(rejected({{"data", "cifar10:/no/where"}}),
        "--data: 'cifar10:/no/where': there is no file '/no/where/data_batch_1.bin'");
  holds(rejected({{"split", "dirichlet:1"}}), "needs --data");
  holds(rejected({{"target", "0.9"}}), "needs --data");
  holds(rejected({{"evaluate_every", "10"}}),
        "--evaluate-every: it speaks of training on data, so it needs --data");
  holds(rejected({{"data", "mmap:images"}, {"evaluate_every", "10"}}),
        "--data: 'mmap:images' is read without evaluations, in even parts; leave out split, target "
        "and evaluate_every");
  holds(rejected({{"data", "digits"}, {"split", "uneven"}}),
        "--split: 'uneven' is neither even nor dirichlet:ALPHA");
  holds(rejected({{"data", "digits"}, {"split", "dirichlet:0"}}), "--split");
  holds(rejected({{"data", "digits"}, {"target", "95"}}), "at most 1");
  holds(rejected({{"data", "digits"}, {"image_size", "32"}}), "that of the data is 8");
  holds(rejected({{"data", "digits"}, {"strategy", "python-ddp"}}), "by a network of this program");
  holds(rejected({{"data", "least-squares"}}), "for the model linear");
  holds(rejected({{"lr_decay", "0.1"}}), "as 0.1@200+300");
}

}  // namespace
}  // namespace paceline::cases
