// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

using Predict = Program;

TEST_F(Predict, WritesARecordAndATrace) {
  const Outcome outcome = run("predict resnet50 " + kCluster +
                              " --strategy bsp --ranks 8 --trace t.json --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("(predicted)"), std::string::npos);
  EXPECT_NE(outcome.err.find("exposed communication"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder_ / "t.json"));
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].source, records::Source::kPredicted);
  EXPECT_EQ(records[0].ranks.size(), 8u);
}

TEST_F(Predict, RejectsInOneSentence) {
  expect_rejected("predict resnet50 " + kCluster + " --ranks 33",
                  "paceline: a world of 33 ranks does not fit on cluster");
  expect_rejected("predict resnet50 --cluster none.toml", "paceline: ");
  const Outcome outcome = run("predict resnet5 " + kCluster);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("or give a profile, FILE.json"), std::string::npos) << outcome.err;
  expect_rejected("predict resnet50 " + kCluster + " --strategy nosuch",
                  "paceline: unknown strategy part 'nosuch'");
}

TEST_F(Predict, OpensTheRecordFileBeforeItPredicts) {
  write("operations.jsonl", "{\"kind\":\"comm\"}\n");
  expect_rejected("predict resnet50 " + kCluster + " --records operations.jsonl",
                  "paceline: --records operations.jsonl: holds other records than those of runs");
  EXPECT_EQ(run("predict resnet50 " + kCluster + " --ranks 33 --records new.jsonl").exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "new.jsonl"));
}

TEST_F(Predict, KnowsTheLayersOfWhatRunTrains) {
  for (const std::string model : {"resnet18", "lenet", "mlp"}) {
    const Outcome outcome = run("predict " + model + " " + kCluster);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("step "), std::string::npos) << outcome.out;
  }
}

TEST_F(Predict, TakesTheTokensOfASample) {
  const auto step_ms = [&](const std::string& tokens) {
    const Outcome outcome = run("predict bert-base " + kCluster + " --ranks 1 --batch-size 8 " +
                                tokens + " --format csv --records " + "t.jsonl");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto records = records::read_records(folder_ / "t.jsonl").records;
    return 1e-6 * static_cast<double>(records.back().ranks.front().step_ns.front());
  };
  const double own = step_ms("");
  EXPECT_EQ(step_ms("--sequence-length 64"), own);
  EXPECT_GT(step_ms("--sequence-length 512"), 6 * own);
  EXPECT_EQ(records::read_records(folder_ / "t.jsonl").records.back().configuration.sequence_length,
            512);
  expect_rejected(
      "predict bert-base " + kCluster + " --sequence-length 513",
      "paceline: sequence length 513: must be from 1 to the 512 positions of bert-base");
  expect_rejected("predict resnet50 " + kCluster + " --sequence-length 64",
                  "paceline: sequence length 64: resnet50 reads no text");
  expect_rejected("predict hybrid " + kCluster + " --sequence-length 64",
                  "paceline: --sequence-length 64: hybrid is no built-in network that reads text");
}

TEST_F(Predict, PricesLayerwiseOptimizers) {
  for (const char* optimizer : {"lamb", "lars"}) {
    const std::string job =
        fmt::format("predict bert-large {} --optimizer {} ", kCluster, optimizer);
    const Outcome outcome = run(fmt::format("{}--ranks 1,8 --records {}.jsonl", job, optimizer));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto records =
        records::read_records(folder_ / fmt::format("{}.jsonl", optimizer)).records;
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].configuration.optimizer, optimizer);
    expect_rejected(job + "--ranks 8 --strategy rs-ag+zero-1",
                    fmt::format("paceline: optimizer '{}' scales the step of '", optimizer));
  }
  EXPECT_NE(run("list optimizers").out.find("\n  lars "), std::string::npos);
}

TEST_F(Predict, RejectsALinkThatIsASlip) {
  write("slow.toml", "[[hosts]]\nname = 'a'\ncount = 2\n[[links]]\nrate = '10bit'\n");
  expect_rejected(
      "predict resnet50 --cluster slow.toml",
      "paceline: slow.toml:4: link 'hosts' has a rate of 1.25 bytes/s; it must be at least 1000");
}

// Four of eight ranks serve: summary and table count the others.
TEST_F(Predict, CountsSamplesOnceInSummaryAndTable) {
  const Outcome outcome = run("predict resnet50 " + kCluster +
                              " --strategy wfbp+ps:placement=apart --ranks 8"
                              " --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].ranks.size(), 4u);
  double longest = 0;
  for (const records::RankSamples& rank : records[0].ranks) {
    longest = std::max(longest, static_cast<double>(rank.window_ns));
  }
  const auto& c = records[0].configuration;
  EXPECT_NE(outcome.err.find(
                fmt::format("{:.1f} samples/s", 4.0 * c.batch_size * c.steps / (longest * 1e-9))),
            std::string::npos)
      << outcome.err;
}

TEST_F(Predict, FitsRecordsOfOneAndMoreRanks) {
  for (const char* world : {"1 --strategy none", "2 --strategy bsp"}) {
    EXPECT_EQ(run("predict resnet50 " + kCluster + " --records predicted.jsonl --ranks " + world)
                  .exit_code,
              0);
  }
  expect_rejected("predict --measured predicted.jsonl --ranks 4",
                  "paceline: --measured predicted.jsonl: 2 of its 2 records are "
                  "predicted; only measured and replayed records can be fitted\n");
  // As if these steps had been measured.
  auto known = records::read_records(folder_ / "predicted.jsonl").records;
  for (records::RunRecord& record : known) {
    record.source = records::Source::kMeasured;
    records::RecordWriter(folder_ / "r.jsonl").append(record);
  }
  const Outcome outcome = run("predict --measured r.jsonl --ranks 4,8 --records p.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("rate within a host"), std::string::npos);
  EXPECT_NE(outcome.err.find("95 % interval of the step ["), std::string::npos);
  EXPECT_NE(outcome.err.find("% of 1 rank with a batch of 64 each, as measured"), std::string::npos)
      << outcome.err;
  const auto records = records::read_records(folder_ / "p.jsonl").records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].ranks.size(), 8u);
  EXPECT_EQ(records[1].configuration.strategy, "bsp");
  expect_rejected("predict --measured r.jsonl",
                  "paceline: --measured without --cluster: say which numbers of ranks to predict");
  expect_rejected("predict --measured r.jsonl --ranks 4 --device-rate 8",
                  "paceline: --device-rate excludes --measured\n");
  expect_rejected("predict --measured r.jsonl --ranks 4 --optimizer adamw",
                  "paceline: --optimizer adamw: the records of --measured are of sgd\n");
  expect_rejected("predict --measured r.jsonl --ranks 4 --engine mpi",
                  "paceline: --engine mpi: the records of --measured are of nccl\n");
  EXPECT_EQ(run("predict --measured r.jsonl --ranks 4 --engine ideal").exit_code, 0);
}

TEST_F(Predict, TakesFiguresInWhateverFormTheyAreHeld) {
  const std::string job = "predict resnet50 " + kCluster + " --ranks 32 ";
  Outcome outcome = run(job +
                        "--batch-size 64 --measured 'ranks=4 rate=640' --measured "
                        "'ranks=8 batch=64 step=430ms' --records p.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("one device alone, batch 64"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("% of 4 ranks with a batch of 64 each"), std::string::npos)
      << outcome.err;
  const auto records = records::read_records(folder_ / "p.jsonl").records;
  ASSERT_EQ(records.size(), 1u);
  const auto& bar = records[0].predicted->error_bar;
  ASSERT_TRUE(bar && bar->known());
  EXPECT_LT(*bar->low_ns, *bar->high_ns);
  expect_rejected("predict vgg16 " + kCluster + " --measured 'ranks=8 rate=640'",
                  "paceline: --measured: no figure says its batch; give --batch-size");
  expect_rejected(
      job + "--measured 'ranks=8 batch=16 rate=640' --measured 'ranks=8 batch=64 rate=900'",
      "paceline: --measured: figures are of batches of 16 and 64; say with --batch-size which is "
      "predicted\n");
  expect_rejected(job + "--batch-size 64 --measured 'ranks=8'",
                  "paceline: --measured 'ranks=8': determines nothing: give ");
  expect_rejected("advise hybrid --measured 'ranks=8 rate=3'", "paceline: ");
  const std::string figure = " --measured 'ranks=8 rate=640' --batch-size ";
  expect_rejected(job + "--noise 0.1" + figure + "64",
                  "paceline: --measured: figures contain the noise of their machine; ");
  expect_rejected(job + figure + "250 --accumulate 32",
                  "paceline: a batch of 250 samples per rank and step cannot be cut into 32 ");
  outcome = run("advise resnet50 " + kCluster +
                " --batch-size 64 --ranks 8 --measured 'ranks=4 rate=640'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("ranks=4 rate=640"), std::string::npos) << outcome.err;
}

TEST_F(Predict, RejectsFlagsThatWouldChangeNothing) {
  const std::string job = "resnet50 " + kCluster;
  for (const char* strategy : {"bsp", "fusion:bucket-mb=8"}) {
    expect_rejected("predict " + job + " --bucket-mb 4 --strategy " + strategy,
                    std::string("paceline: --bucket-mb 4: ") + strategy +
                        " has no buckets, or says their size\n");
  }
  EXPECT_EQ(run("predict " + job + " --bucket-mb 0 --ranks 4").exit_code, 0);
  EXPECT_EQ(run("predict " + job + " --bucket-mb 600000 --ranks 4").exit_code, 0);
  expect_rejected("predict " + job + " --bucket-mb -1",
                  "paceline: --bucket-mb -1: must be from 0 to 1000000\n");
  expect_rejected("predict " + job + " --bucket-mb 4 --strategy fusoin",
                  "paceline: unknown strategy part 'fusoin'");
  expect_rejected("predict " + job + " --seed 3",
                  "paceline: --seed 3: of noise that is not asked for; give ");
  expect_rejected("predict " + job + " --trace a.json --records ./a.json",
                  "paceline: --trace a.json: is the file of --records too\n");
  expect_rejected("predict resnet50 --cluster c.toml --trace ./c.toml",
                  "paceline: --trace ./c.toml: is the file of --cluster too\n");
  expect_rejected("advise " + job + " --top -1",
                  "paceline: --top: -1: must be a whole number of at least 0");
  expect_rejected("advise " + job + " --bucket-mb 1,-2",
                  "paceline: --bucket-mb: -2: must be a number from 0 to ");
}

TEST_F(Predict, TakesSeveralStrategies) {
  const Outcome outcome = run("predict resnet50 " + kCluster +
                              " --ranks 4,8 --records r.jsonl --strategy "
                              "bsp,fusion+diloco:every=2,fragments=2 --strategy wfbp");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> strategies;
  for (const auto& one : records::read_records(folder_ / "r.jsonl").records) {
    strategies.push_back(one.configuration.strategy);
  }
  ASSERT_EQ(strategies.size(), 6u);
  EXPECT_EQ(strategies[0], "bsp");
  EXPECT_NE(strategies[1].find("diloco:every=2,"), std::string::npos);
  EXPECT_EQ(strategies[5], "wfbp");
  expect_rejected("predict resnet50 " + kCluster + " --strategy bsp,nosuch",
                  "paceline: unknown strategy part 'nosuch'");
}

// Before the records are looked at, which may take long.
TEST_F(Predict, RejectsWorldsFirst) {
  const std::string from = "predict --measured nowhere.jsonl ";
  expect_rejected(from + "--ranks 0",
                  "paceline: --ranks: 0: must be a whole number of at least "
                  "1\n");
  expect_rejected(from + "--ranks 8,4,8", "paceline: --ranks: 8 is given twice\n");
  expect_rejected(from + "--ranks 1 4 32", "paceline: ");
  expect_rejected("predict resnet50 " + kCluster + " --ranks 4,8 --trace t.json",
                  "paceline: --trace is of one prediction; 2 were asked for\n");
  const std::string help = run("predict --help").out;
  EXPECT_NE(help.find("--ranks N,N "), std::string::npos) << help;
  EXPECT_NE(help.find("--measured FIGURE|FILE"), std::string::npos) << help;
  EXPECT_EQ(help.find("Excludes"), std::string::npos) << help;
}

TEST_F(Predict, PrintsAnErrorBarWhereOneIsKnown) {
  Outcome outcome = run("predict resnet50 " + kCluster + " --ranks 8 --engine nccl-2.4");
  EXPECT_NE(outcome.err.find("  error bar ±"), std::string::npos) << outcome.err;
  outcome = run("predict resnet50 " + kCluster + " --ranks 8 --engine gloo");
  EXPECT_NE(outcome.err.find(
                "  not validated: no published table tells of family merged with engine gloo; "),
            std::string::npos)
      << outcome.err;
  outcome = run("predict vgg16 " + kCluster + " --ranks 8");
  EXPECT_NE(outcome.err.find("  no error bar: "), std::string::npos) << outcome.err;
}

TEST_F(Predict, ARejectedCaseIsARowBesideTheOthers) {
  const std::string job = "predict resnet50 " + kCluster + " --ranks ";
  const std::string why = "'hierarchical' wants hosts with equally many ranks; here are 4, 2";
  const Outcome outcome =
      run(job + "2,6 --strategy wfbp --strategy wfbp+hierarchical --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("paceline: wfbp+hierarchical on 6 ranks is rejected: " + why + "\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("\nwfbp on 6 ranks: step "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("failed: " + why), std::string::npos) << outcome.out;
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 4u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].error.value_or(""), i == 3 ? why : "");
  }
  EXPECT_EQ(records[3].configuration.strategy, "wfbp+hierarchical:local=0");
  expect_rejected(job + "6 --strategy wfbp+hierarchical", "paceline: " + why + "\n");
}

TEST_F(Predict, PartsThatCannotBeCombinedAreARejectedRow) {
  const std::string job = "predict resnet50 " + kCluster + " --ranks 8 --strategy ";
  const std::string why = "a strategy has one codec; 'powersgd' and 'fp16' are two";
  const Outcome outcome = run(job + "bsp,bsp+powersgd+fp16");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("strategy=bsp+powersgd+fp16"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("failed: " + why), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("bsp on 8 ranks: step "), std::string::npos) << outcome.err;
  expect_rejected(job + "bsp+powersgd+fp16", "paceline: " + why + "\n");
  expect_rejected(job + "bsp,bsp+powersgd+fp17", "paceline: unknown strategy part 'fp17'");
}

// The null model stands beside every prediction.
TEST_F(Predict, PrintsLinearScaling) {
  const Outcome outcome = run("predict resnet50 " + kCluster +
                              " --ranks 8 --strategy wfbp --batch-size 50 --device-rate 200");
  EXPECT_NE(
      outcome.err.find("\n  linear scaling from one device: step 250.000 ms, 1600.0 samples/s\n"),
      std::string::npos)
      << outcome.err;
}

TEST_F(Predict, RejectsValuesThatCannotBe) {
  const std::string predict = "predict resnet50 " + kCluster + " ";
  expect_rejected(predict + "--dtype fp8", "paceline: --dtype fp8: nothing says how fast ");
  expect_rejected("run --model mlp --dtype fp8", "paceline: --dtype: 'fp8' is not one of ");
  for (const char* rate : {"inf", "nan", "0", "-1", "1e30", "1e-300"}) {
    expect_rejected(predict + "--device-rate " + rate,
                    std::string("paceline: --device-rate: ") + rate + ":");
  }
  expect_rejected(predict + "--batch-size 0",
                  "paceline: --batch-size: 0: must be a whole number of at least 1\n");
  expect_rejected(predict + "--strategy ''", "paceline: --strategy: is empty; ");
  expect_rejected(predict + "--ranks 8,,16", "paceline: --ranks: '8,,16' has ");
  expect_rejected(predict + "--ranks=", "paceline: --ranks: is empty; ");
  expect_rejected(predict + "--noise -1", "paceline: --noise: -1: must be a number from 0 to 10\n");
  expect_rejected(predict + "--noise nan", "paceline: --noise: nan: must be ");
  expect_rejected(predict + "--seed -1",
                  "paceline: --seed: -1: must be a whole number from 0 to 18446744073709551615\n");
  for (const char* seed : {"18446744073709551616", "+1", "0x10", "one"}) {
    expect_rejected(predict + "--seed " + seed,
                    std::string("paceline: --seed: ") + seed +
                        ": must be a whole number from 0 to 18446744073709551615\n");
  }
  for (const char* steps : {"2.5", "2.0", "1e3", "ten", "0", "99999999999"}) {
    expect_rejected(predict + "--steps " + steps, std::string("paceline: --steps: ") + steps +
                                                      ": must be a whole number of at least 1\n");
  }
  for (const char* error : {"nan", "-1", "100"}) {
    expect_rejected(
        "advise resnet50 " + kCluster + " --error " + error,
        std::string("paceline: --error: ") + error + ": must be a number from 0 to 99.9\n");
  }
  for (const char* strategy :
       {"bytescheduler:partition-mb=0.0001", "bytescheduler:partition-mb=1e-9,order=priority",
        "wfbp+ps:partition-mb=0.0001"}) {
    expect_rejected(predict + "--ranks 8 --strategy " + strategy, "paceline: strategy option ");
  }
  for (const char* strategy : {"bytescheduler:partition-mb=0", "wfbp+ps:partition-mb=0"}) {
    expect_rejected(predict + "--ranks 8 --strategy " + strategy, "paceline: strategy option ");
  }
}

TEST_F(Predict, NoiseCostsTime) {
  const std::string predict = "predict resnet50 " + kCluster + " --ranks 8 --records r.jsonl ";
  EXPECT_EQ(run(predict).exit_code, 0);
  EXPECT_EQ(run(predict + "--noise 0.5").exit_code, 0);
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_GT(records[1].ranks[0].window_ns, records[0].ranks[0].window_ns);
}

// A recurrent network that is not built in, as paceline.torch.profile wrote
// it: its times are the prediction's, whatever the device.
TEST_F(Predict, TakesAProfileForANetwork) {
  const std::string profile = "'" PACELINE_SOURCE_DIR "/tests/plan/their_network.profile.json' ";
  for (const auto& model : {profile, "--model " + profile}) {
    const Outcome outcome = run("predict " + model + kCluster + " --ranks 1 --strategy none " +
                                "--engine ideal --records r.jsonl");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].configuration.model, "reader");
  EXPECT_EQ(records[0].configuration.batch_size, 6);
  ASSERT_EQ(records[0].warnings.size(), 1u);
  EXPECT_EQ(records[0].warnings[0].code, "profile-of-another-device");
  EXPECT_TRUE(
      records[0].warnings[0].seen.ends_with("cpu, the cluster's device "
                                            "is RTX 2080 Ti"))
      << records[0].warnings[0].seen;
  expect_rejected("predict " + profile + kCluster + " --batch-size 7",
                  "paceline: --batch-size 7: ");
  expect_rejected("run --model " + profile, "paceline: --model: '");

  const Outcome advice = run("advise " + profile + kCluster + " --ranks 4 --bucket-mb 25");
  EXPECT_EQ(advice.exit_code, 0) << advice.err;
  EXPECT_NE(advice.out.find(" --replay " PACELINE_SOURCE_DIR), std::string::npos) << advice.out;
  EXPECT_NE(advice.out.find(" --device cpu --engine gloo "), std::string::npos) << advice.out;
  EXPECT_NE(advice.out.find("\n  --replay sleeps through the profile's layers"), std::string::npos)
      << advice.out;
}

TEST_F(Predict, LayerTimesAreLinearBetweenTwoProfiles) {
  for (const int batch : {2, 6}) {
    const std::string us = std::to_string(500 * batch);
    write("b" + std::to_string(batch) + ".json",
          R"({"paceline_profile": 1, "model": "one", "update_us": 100, "batch_size": )" +
              std::to_string(batch) + R"(, "modules": [{"name": "a", "forward_us": )" + us +
              R"(}], "parameters": [{"name": "a.weight", "sizes": [4096], "module": "a",
 "backward_us": 2000}], "ready_order": ["a.weight"]})");
  }
  const std::string line =
      kCluster + " --ranks 1 --strategy none --engine ideal --records r.jsonl --batch-size ";
  for (const char* job : {"predict b2.json b6.json ", "predict --model b6.json --model b2.json "}) {
    EXPECT_EQ(run(job + line + "4").exit_code, 0);
  }
  EXPECT_EQ(run("predict b2.json b6.json " + line + "8 --accumulate 2").exit_code, 0);
  EXPECT_EQ(run("predict b2.json b6.json " + line + "12").exit_code, 0);
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 4U);
  const auto step_us = [&](std::size_t i) { return records[i].ranks[0].step_ns[0] / 1000; };
  const auto warned = [&](std::size_t i) {
    return std::ranges::count(records[i].warnings, "batch-outside-profiles",
                              &records::Warning::code);
  };
  EXPECT_EQ(step_us(0), 4100);
  EXPECT_EQ(step_us(1), 4100);
  EXPECT_EQ(step_us(2), 8100) << "two micro-batches of 4";
  EXPECT_EQ(step_us(3), 8100);
  EXPECT_EQ(warned(0), 0);
  EXPECT_EQ(warned(3), 1);
  expect_rejected("predict b2.json b2.json " + kCluster,
                  "paceline: profiles b2.json and b2.json: both are of a batch of 2; ");
  expect_rejected("predict resnet50 vgg16 " + kCluster,
                  "paceline: --model: resnet50, vgg16 are given; one network can be, ");
  expect_rejected("advise b2.json b6.json " + kCluster, "paceline: --model: b6.json is a second ");
}

TEST_F(Predict, ClustersAreRowsOfTheirOwn) {
  const std::string folder = PACELINE_SOURCE_DIR "/clusters/8x4-2080ti-";
  for (const char* network : {"10gbe", "100gbe"}) {
    EXPECT_EQ(run("predict resnet50 --ranks 16 --records two.jsonl --cluster " + folder + network +
                  ".toml")
                  .exit_code,
              0);
  }
  const auto records = records::read_records(folder_ / "two.jsonl").records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].ranks[15].host, "node3");
  const std::string table = run("report two.jsonl").out;
  for (const char* cluster : {"cluster=8 nodes, 4 x RTX 2080 Ti, 10 Gb Ethernet; prices ",
                              "cluster=8 nodes, 4 x RTX 2080 Ti, 100 Gb Ethernet; prices "}) {
    EXPECT_NE(table.find(cluster), std::string::npos) << table;
  }
}

TEST_F(Predict, TakesHostsAsRunDoes) {
  write("hosts", "a slots=4\nb slots=4\n");
  for (const char* hosts : {"-H a:4,b:4", "--hostfile hosts"}) {
    const Outcome outcome =
        run("predict resnet50 " + kCluster + " " + hosts + " --strategy bsp --records r.jsonl");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 2u);
  for (const auto& record : records) {
    EXPECT_EQ(record.configuration.ranks_per_host, (std::vector<int>{4, 4}));
  }
  expect_rejected("predict resnet50 -H a:4,b:4", "paceline: cluster 'a:4,b:4' has no [[links]]");
  expect_rejected("predict resnet50", "paceline: no cluster: ");
}

TEST_F(Predict, SaysWhereAStrategyBetweenHostsHasOneAlone) {
  const std::string line =
      "predict resnet50 " + kCluster + " --ranks 4 --strategy hierarchical --records ";
  ASSERT_EQ(run(line + "one.jsonl").exit_code, 0);
  const auto one = records::read_records(folder_ / "one.jsonl").records.at(0);
  ASSERT_FALSE(one.warnings.empty());
  EXPECT_EQ(one.warnings.back().code, "one-host-alone");
  ASSERT_EQ(run(line + "two.jsonl --local-size 2").exit_code, 0);
  const auto two = records::read_records(folder_ / "two.jsonl").records.at(0);
  EXPECT_EQ(two.configuration.strategy, "fusion:bucket-mb=25+hierarchical:local=2");
  EXPECT_TRUE(two.warnings.empty());
  expect_rejected(line + "three.jsonl --local-size 3",
                  "paceline: 'hierarchical': 4 ranks do not fill hosts of 3");
}

}  // namespace
}  // namespace paceline
