// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/predict.h"

#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"
#include "paceline/records/json.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

// A record of many ranks holds one of each kind, and says how many train.
TEST(Predict, CountsTheRanksThatItsRecordLeavesOut) {
  PredictRequest job{.network = plan::network_shape("resnet50"),
                     .cluster = cluster::parse_cluster(
                         "name = \"many\"\n[[hosts]]\nname = \"n\"\ncount = 512\n"
                         "slots = 4\n[[links]]\njoins = \"hosts\"\nrate = \"1GB/s\"\n",
                         "many.toml"),
                     .ranks = 2048,
                     .samples_per_s = 300};
  const Prediction many = predict(job);
  EXPECT_EQ(many.record.ranks.size(), 1U);
  EXPECT_EQ(many.record.predicted->training_ranks, 2048);
  job.strategy = "bsp+ps:placement=apart,servers=2";
  job.ranks = 6;
  EXPECT_EQ(predict(job).record.predicted->training_ranks, 4);
}

TEST(Predict, SaysTheNumberTypeOfTheProfile) {
  PredictRequest job = request("bsp", 8);
  EXPECT_EQ(predict(job).record.configuration.dtype, "fp32");
  job.network.model.dtype = plan::DType::kBF16;
  EXPECT_EQ(predict(job).record.configuration.dtype, "bf16");
}

// One fused all-reduce behind backward, over a ring through both hosts: 14/8 of the padded model at
// the network's rate, and no hop in a bound.
TEST(Predict, BspIsComputeAndOneRing) {
  const Prediction bsp = predict(request("bsp", 8));
  const std::int64_t bytes = bsp.job->wire_bytes;
  EXPECT_GE(bytes, 102'228'128 / 8 * 14);  // what padding adds is little
  EXPECT_LE(bytes, 102'328'128 / 8 * 14);
  const plan::Picoseconds ring = plan::wire_time(bytes, 1'250'000'000);
  EXPECT_EQ(bsp.times.step, 256'000'000'000 + ring);
  EXPECT_EQ(bsp.exposed(), ring);
  EXPECT_EQ(bsp.bound.wire, ring);
  EXPECT_FALSE(bsp.bound.crosses_step);
  EXPECT_LT(bsp.bound.step, bsp.times.step);
}

TEST(Predict, NothingBeatsItsBound) {
  for (const char* strategy :
       {"bsp", "wfbp", "fusion", "mg-wfbp", "optimal-merge", "bytescheduler", "dear", "ddp", "none",
        "wfbp+ps", "wfbp+hierarchical", "wfbp+neighbor-allreduce"}) {
    SCOPED_TRACE(strategy);
    const plan::Rank ranks = strategy == std::string_view("wfbp+ps") ? 2 : 8;
    const Prediction prediction = predict(request(strategy, ranks));
    EXPECT_GE(prediction.times.step, prediction.bound.step);
    EXPECT_GE(prediction.times.step, prediction.compute_only.step);
  }
}

TEST(Predict, RecordsHoldTheBoundAndTheBar) {
  const auto ns = [](plan::Picoseconds time) { return (time + 500) / 1000; };
  PredictRequest slow = request("bytescheduler", 8);
  slow.cluster.links[1].bytes_per_s = 1e8;
  slow.algorithm = "ring";
  for (const PredictRequest& asked : {request("wfbp", 8), slow}) {
    const Prediction at = predict(asked);
    ASSERT_TRUE(at.record.predicted);
    const records::StepBound& bound = at.record.predicted->bound;
    EXPECT_EQ(bound.step_ns, ns(at.bound.step));
    EXPECT_EQ(bound.compute_ns, ns(at.bound.compute));
    EXPECT_EQ(bound.wire_ns, ns(at.bound.wire));
    EXPECT_EQ(bound.crosses_step, at.bound.crosses_step);
    EXPECT_EQ(bound.algorithm, cluster::name_of(at.costs.machine.algorithm));
    EXPECT_EQ(at.record.predicted->error_bar, error_bar_record(at.bar, ns(at.times.step)));
  }
  const Prediction alone = predict(request("none", 1));
  EXPECT_EQ(alone.record.predicted->bound.algorithm, "");
}

// What the record says of exposed communication is what is printed.
TEST(Predict, ExposedCommunicationFollowsFromTheRecord) {
  const Prediction at = predict(request("wfbp", 8));
  const records::RankSamples& rank = at.record.ranks.front();
  EXPECT_NEAR(static_cast<double>(rank.step_ns.back() - rank.compute_only_step_ns.back()),
              static_cast<double>(at.exposed()) / 1000, 1);
}

TEST(Predict, TheSameRequestGivesTheSameRecord) {
  PredictRequest noisy = request("fusion", 8);
  noisy.noise = {.seed = 7, .sigma = 0.05};
  const auto text = [](const PredictRequest& it) {
    return records::to_json(predict(it).record).dump();
  };
  EXPECT_EQ(text(request("fusion", 8)), text(request("fusion", 8)));
  EXPECT_EQ(text(noisy), text(noisy));
  EXPECT_NE(text(noisy), text(request("fusion", 8)));
  PredictRequest other = noisy;
  other.noise.seed = 8;
  EXPECT_NE(text(noisy), text(other));
}

TEST(Predict, OtherPricesAreAnotherCase) {
  const auto key = [](const PredictRequest& it) { return predict(it).record.configuration.key(); };
  const std::string usual = key(request("fusion", 8));
  EXPECT_EQ(usual, key(request("fusion", 8)));
  EXPECT_NE(usual.find(" cluster=two nodes; prices "), std::string::npos) << usual;
  PredictRequest other = request("fusion", 8);
  other.cluster.links[1].bytes_per_s *= 10;
  EXPECT_NE(key(other), usual);
  other = request("fusion", 8);
  other.cluster.device.throughputs[0].samples_per_s = 251;
  EXPECT_NE(key(other), usual);
  other = request("fusion", 8);
  other.samples_per_s = 300;
  EXPECT_NE(key(other), usual);
  other = request("fusion", 8);
  other.profile = predict(other).costs.profile;
  EXPECT_NE(key(other), usual);
  other = request("fusion", 8);
  other.algorithm = "ring";
  EXPECT_NE(key(other).find("two nodes; ring; prices "), std::string::npos);
  other.noise.sigma = 0.05;
  EXPECT_NE(key(other).find("two nodes; ring; noise 0.05; prices "), std::string::npos);
  // Where hosts come from is no price.
  other = request("fusion", 8);
  other.cluster.source = "another test";
  other.cluster.hosts[0].name = "m";
  EXPECT_EQ(key(other), usual);
}

TEST(Predict, RecordsEveryRankAndStep) {
  PredictRequest asked = request("fusion", 6);
  asked.steps = 20;
  const Prediction prediction = predict(asked, true);
  const records::RunRecord& record = prediction.record;
  EXPECT_EQ(record.source, records::Source::kPredicted);
  ASSERT_EQ(record.ranks.size(), 6u);
  for (const records::RankSamples& rank : record.ranks) {
    ASSERT_EQ(rank.step_ns.size(), 20u);
    EXPECT_EQ(rank.step_ns.back(), (prediction.times.step + 500) / 1000);
    EXPECT_EQ(rank.phase_ns.at("forward").size(), 20u);
    EXPECT_EQ(rank.compute_only_step_ns.front(), 256'000'000);
  }
  EXPECT_EQ(record.ranks[5].host, "n1");  // the cluster file's
  EXPECT_EQ(record.ranks[5].local_rank, 1);
  EXPECT_EQ(record.configuration.ranks_per_host, (std::vector<int>{4, 2}));
  EXPECT_FALSE(prediction.spans.empty());
  std::ostringstream trace;
  records::write_trace(trace, prediction.spans);
  EXPECT_NE(trace.str().find("all-reduce"), std::string::npos);
}

TEST(Predict, AMillionRanksAreOneClass) {
  PredictRequest asked = request("fusion", 1'000'000);
  for (cluster::ClusterHost& host : asked.cluster.hosts) {
    host.slots = 500'000;
  }
  const Prediction prediction = predict(asked);
  EXPECT_EQ(prediction.job->actors.size(), 1u);
  EXPECT_EQ(prediction.job->actors[0].represented_ranks, 1'000'000);
  EXPECT_EQ(prediction.record.ranks.size(), 1u);
}

TEST(Predict, RejectsWhatCannotBe) {
  EXPECT_EQ(message_of(request("bsp", 9)),
            "a world of 9 ranks does not fit on cluster 'two nodes': 2 hosts have 8 slots");
  EXPECT_EQ(message_of(request("bsp", 0)), "a world of 0 ranks; it needs at least 1");
  PredictRequest wrong = request("bsp", 2);
  wrong.samples_per_s = -3;
  EXPECT_EQ(message_of(wrong), "-3 samples/s of one device: must be from 0.001 to 1000000000");
  for (const double rate : {HUGE_VAL, std::nan(""), 0.0, 1e-300, 1e30}) {
    wrong.samples_per_s = rate;
    EXPECT_TRUE(
        message_of(wrong).ends_with(" samples/s of one device: must be from 0.001 to 1000000000"))
        << rate;
  }
  wrong.samples_per_s = kLeastDeviceRate;
  wrong.batch_size = 32;
  EXPECT_EQ(
      message_of(wrong),
      "0.001 samples/s of one device: a step of 32 samples takes 32000 s, at most 3600 can be");
  wrong = request("bsp", 2);
  wrong.algorithm = "rings";
  EXPECT_EQ(
      message_of(wrong),
      "unknown collective algorithm 'rings'; did you mean 'ring'? Known: ring, tree, measured, "
      "nccl, nccl-collnet");
  wrong = request("bsp", 2);
  wrong.noise.sigma = 10;
  EXPECT_EQ(message_of(wrong), "noise: sigma = 10: must be at least 0 and below 10");
  wrong = request("bsp", 2);
  wrong.cluster.links.clear();
  EXPECT_EQ(message_of(wrong),
            "cluster 'two nodes' has no [[links]]; a prediction needs at least one");
}

// NCCL has one order of issue: what a server gets from its workers and sends back is on two
// communicators, and takes turns.
TEST(Predict, CommunicatorsTakeTurnsOnNccl) {
  PredictRequest servers = request("wfbp+ps", 8);
  servers.engine = "nccl";
  EXPECT_TRUE(predict(servers).costs.software.one_issue_order);
  servers.engine = "gloo";
  EXPECT_FALSE(predict(servers).costs.software.one_issue_order);
  PredictRequest late = request("win-put+awc", 4);
  late.engine = "nccl";
  EXPECT_EQ(message_of(late),
            "--strategy: 'win-put' averages what has arrived, but on nccl a rank performs one "
            "operation after the other and each waits for its peer; take --engine gloo or mpi, or "
            "neighbor-allreduce");
  PredictRequest picks = request("bytescheduler:order=priority+ps", 4);
  picks.engine = "nccl";
  EXPECT_TRUE(
      message_of(picks).starts_with("order=priority: over nccl every rank must issue in one order"))
      << message_of(picks);
}

// Before any memory is taken.
TEST(Predict, RejectsMoreThanMemoryHolds) {
  PredictRequest much = request("fusion", 8);
  much.steps = 100'000'000;
  EXPECT_EQ(message_of(much), "100000000 steps: a record of 8 ranks holds at most 625000");
  much.steps = 600'000;
  EXPECT_TRUE(message_of(much).starts_with("600003 steps of 1 simulated rank with "))
      << message_of(much);
  much = request("fusion", 1'000'000);
  for (cluster::ClusterHost& host : much.cluster.hosts) {
    host.slots = 500'000;
  }
  much.noise.sigma = 0.1;
  const std::string message = message_of(much);
  EXPECT_TRUE(message.starts_with("13 steps of 1000000 simulated ranks with ")) << message;
  EXPECT_TRUE(
      message.ends_with("and at most 10000000 can be simulated: ask for fewer steps or ranks; "
                        "without noise, ranks that do alike count once"))
      << message;
}

TEST(Predict, TakesADeviceAtEitherEndOfItsRange) {
  for (const auto& [rate, batch] : {std::pair{kLeastDeviceRate, 3}, {kMostDeviceRate, 1}}) {
    PredictRequest asked = request("fusion", 4);
    asked.samples_per_s = rate;
    asked.batch_size = batch;
    const Prediction prediction = predict(asked);
    EXPECT_GE(prediction.times.step, plan::picoseconds_of(batch / rate));
  }
}

}  // namespace
}  // namespace paceline::predict
