// SPDX-License-Identifier: Apache-2.0
// Fits of a cluster file, as predictions use them.
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/plan/int128.h"
#include "paceline/predict/predict.h"
#include "paceline/predict/request_costs.h"

namespace paceline::predict {
namespace {

/// Two hosts of two slots; fits of both links, each slower than its link.
std::string cluster_text(const std::string& engine) {
  const std::string of = engine.empty() ? "" : "engine = \"" + engine + "\"\n";
  const auto fit = [&](const std::string& ranks, const std::string& alpha) {
    return "[[links.fits]]\noperation = \"all-reduce\"\nranks = " + ranks + "\n" + of +
           "pieces = [{ alpha = \"" + alpha + "\", beta_ps_per_byte = 0 }]\n";
  };
  return "name = \"two\"\nsource = \"a test\"\n"
         "[[hosts]]\nname = \"n\"\ncount = 2\nslots = 2\n"
         "[[links]]\njoins = \"devices\"\nsharing = \"device\"\nrate = \"100000GB/s\"\n" +
         fit("2", "3ms") + "[[links]]\njoins = \"hosts\"\nrate = \"100000GB/s\"\n" +
         fit("4", "7ms") +
         "[[device.throughput]]\nmodel = \"resnet50\"\nbatch_size = 64\n"
         "samples_per_s = 250\n";
}

PredictRequest job_of(const std::string& fits_of, const std::string& engine, plan::Rank ranks) {
  return {.network = plan::network_shape("resnet50"),
          .cluster = cluster::parse_cluster(cluster_text(fits_of), "c.toml"),
          .strategy = "bsp",
          .ranks = ranks,
          .engine = engine};
}

/// What one all-reduce adds to the step beside its bytes on the link.
plan::Picoseconds added(const PredictRequest& job) {
  const Prediction prediction = predict(job);
  return prediction.exposed() - plan::wire_time(prediction.job->wire_bytes, 100'000'000'000'000);
}

constexpr plan::Picoseconds kMs = 1'000'000'000;

// What gloo's software costs where nothing was measured is in the fit already.
TEST(Fits, PriceWholeOperationsOnTheirOwnLink) {
  EXPECT_EQ(added(job_of("gloo", "gloo", 2)), 3 * kMs);
  EXPECT_EQ(added(job_of("gloo", "gloo", 4)), 7 * kMs);
}

TEST(Fits, ThatNameNoEngineHoldForAny) { EXPECT_EQ(added(job_of("", "nccl", 4)), 7 * kMs); }

TEST(Fits, TheirEngineIsTheOneThatIsMeant) {
  EXPECT_EQ(predict(job_of("gloo", "", 4)).record.configuration.engine, "gloo");
  EXPECT_EQ(added(job_of("gloo", "", 4)), 7 * kMs);
  EXPECT_EQ(predict(job_of("", "", 4)).record.configuration.engine, "nccl");
}

TEST(Fits, OfAnotherEngineAreLeftOutAndNamed) {
  const Prediction other = predict(job_of("gloo", "nccl", 4));
  EXPECT_LT(other.exposed(), kMs);
  ASSERT_EQ(other.record.warnings.size(), 1U);
  EXPECT_EQ(other.record.warnings[0].code, "fits-of-another-engine");
  EXPECT_EQ(other.record.warnings[0].seen,
            "the cluster file has fits of gloo, none of collectives with nccl");

  PredictRequest wanted = job_of("gloo", "nccl", 4);
  wanted.algorithm = "measured";
  try {
    predict(wanted);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "--algorithm measured: cluster 'two' has no fits of collectives with engine nccl, "
              "only of gloo; paceline comm --fit FILE measures them");
  }
}

// What messages take says nothing of collectives, and what a published program measured nothing of
// another one.
TEST(Fits, OfMessagesLeaveCollectivesAlone) {
  const auto with_fit_of = [](const std::string& engine) {
    PredictRequest job = job_of("", "", 4);
    for (cluster::ClusterLink& link : job.cluster.links) {
      link.fits = {{.operation = "message",
                    .ranks = 2,
                    .line = {{{.alpha = kMs, .beta_ps_per_byte = 900}}},
                    .error_percent = {},
                    .engine = engine}};
    }
    return predict(job);
  };
  const Prediction published = with_fit_of("bluefog");
  EXPECT_EQ(published.record.configuration.engine, "nccl");
  EXPECT_TRUE(published.record.warnings.empty());
  EXPECT_EQ(published.costs.machine.algorithm, cluster::Algorithm::kNccl);
  const Prediction own = with_fit_of("gloo");
  EXPECT_EQ(own.record.configuration.engine, "gloo");
  EXPECT_EQ(own.costs.machine.algorithm, cluster::Algorithm::kRing);
  EXPECT_TRUE(own.record.warnings.empty());
}

// Planners cut by the times that price what they cut.
TEST(Fits, OfMessagesAreThePlanners) {
  cluster::Machine machine;
  machine.fits = {{.operation = "message",
                   .ranks = 2,
                   .line = {{{.alpha = 9000, .beta_ps_per_byte = 3}}},
                   .error_percent = {}}};
  const cluster::SoftwareCosts software{.message = 700};
  const cluster::Group group{.ranks = 4, .hosts = 2, .ranks_on_fullest_host = 2};
  EXPECT_EQ(alpha_beta_of(machine, software, group).message.time(100), 9000 + 300);
  machine.network.latency = 50;
  machine.fits.clear();
  EXPECT_EQ(alpha_beta_of(machine, software, group).message.time(0), 0);
  EXPECT_EQ(alpha_beta_of(machine, software, group).message.pieces[0].alpha, 750);
}

// Most collectives start under backward, and the planner knows what they cost there.
TEST(Fits, StartUpsHoldWhatComputeTakes) {
  const cluster::Machine machine;
  cluster::SoftwareCosts software{.issue = 5, .collective = 70};
  const cluster::Group group{.ranks = 8};
  const auto alpha = [&] {
    return alpha_beta_of(machine, software, group).all_reduce.pieces[0].alpha;
  };
  const plan::Picoseconds idle = alpha();
  software.collective_under_compute = 1000;
  EXPECT_EQ(alpha(), idle + 3 * 1000);
}

// A flow that next to nothing holds back is held back by links alone.
TEST(Fits, OfMessagesMayBeFasterThanAnyLink) {
  cluster::Machine machine;
  machine.fits = {{.operation = "message",
                   .ranks = 2,
                   .line = {{{.alpha = 0, .beta_ps_per_byte = 1e-9}}},
                   .error_percent = {}}};
  EXPECT_EQ(cluster::message_cost(4096, true, machine).limit_bytes_per_s,
            std::numeric_limits<std::int64_t>::max());
}

// A run reads the file's fit for as many ranks whole, so a prediction's planner must: a line
// through two points would be another one.
TEST(Fits, PlannersGetTheirPieces) {
  cluster::Machine machine;
  machine.algorithm = cluster::Algorithm::kMeasured;
  machine.fits = {{.operation = "all-reduce",
                   .ranks = 4,
                   .line = {{{.alpha = 1000, .beta_ps_per_byte = 1},
                             {.from_bytes = 4096, .alpha = 5000, .beta_ps_per_byte = 2}}},
                   .error_percent = {}}};
  const cluster::Group group{.ranks = 4, .hosts = 2, .ranks_on_fullest_host = 2};
  const cluster::SoftwareCosts software{.issue = 10, .collective = 700};
  const auto line = alpha_beta_of(machine, software, group).all_reduce;
  ASSERT_EQ(line.pieces.size(), 2U);
  EXPECT_EQ(line.time(100), 1010 + 100);
  EXPECT_EQ(line.time(5000), 5010 + 2 * 5000);
}

}  // namespace
}  // namespace paceline::predict
