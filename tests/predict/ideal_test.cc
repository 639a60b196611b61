// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "paceline/base/random.h"
#include "paceline/predict/predict.h"
#include "paceline/simulator/job_cache.h"
#include "predict/two_nodes.h"

namespace paceline::predict {
namespace {

template <std::size_t kCount>
const char* one_of(const std::array<const char*, kCount>& all, Random& random) {
  return all.at(random.below(kCount));
}

constexpr std::array kStrategies{"bsp",
                                 "wfbp",
                                 "fusion",
                                 "fusion:bucket-mb=1",
                                 "fusion:bucket-mb=100",
                                 "mg-wfbp",
                                 "optimal-merge",
                                 "bytescheduler",
                                 "dear",
                                 "ddp",
                                 "fusion+rs-ag+zero-1",
                                 "fusion+fp16",
                                 "wfbp+topk:density=0.01",
                                 "bsp+local-sgd:every=4",
                                 "wfbp+neighbor-allreduce",
                                 "wfbp+ps"};

PredictRequest random_job(Random& random) {
  constexpr std::array<const char*, 3> kNetworks{"resnet18", "resnet50", "bert-base"};
  constexpr std::array<const char*, 4> kDevices{"V100-SXM2", "A100-SXM4", "H100-SXM5", "gpu"};
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, random.uniform());
  };
  PredictRequest job = request(one_of(kStrategies, random), 1);
  job.network = plan::network_shape(one_of(kNetworks, random));
  job.ranks = static_cast<plan::Rank>(1 + random.below(8));
  job.optimizer = random.below(2) == 0 ? "sgd" : "adamw";
  job.batch_size = 32;
  job.samples_per_s = between(50, 5000);
  job.cluster.device.name = one_of(kDevices, random);
  job.cluster.device.memory_bytes_per_s = between(1e12, 8e12);
  for (cluster::ClusterLink& link : job.cluster.links) {
    link.bytes_per_s = between(1e8, 1e12);
    link.latency_ps = static_cast<std::int64_t>(between(1e3, 1e8));
    link.full_duplex = random.below(4) > 0;
    link.sharing =
        random.below(2) == 0 ? cluster::LinkSharing::kHost : cluster::LinkSharing::kDevice;
  }
  return job;
}

// A bound of the cluster's own engine, which is nccl here.
TEST(Ideal, IsNeverSlowerThanTheClustersEngine) {
  simulator::JobCache jobs;
  Random random(20, 0);
  int compared = 0;
  for (int i = 0; i < 250; ++i) {
    PredictRequest job = random_job(random);
    job.jobs = &jobs;
    job.engine = "nccl";
    SCOPED_TRACE(job.strategy + " " + job.network.model.name);
    Prediction engine;
    try {
      engine = predict(job);
    } catch (const UsageError&) {
      continue;  // nothing that could be slower
    }
    job.engine = "ideal";
    EXPECT_LE(predict(job).times.step, engine.times.step);
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

}  // namespace
}  // namespace paceline::predict
