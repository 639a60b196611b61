// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/case_request.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/case/tables.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/plan/optimizer.h"
#include "paceline/predict/predict.h"
#include "paceline/strategies/strategy.h"

namespace paceline::predict {

PredictRequest request_of(const cases::Case& c, cluster::Cluster cluster) {
  PredictRequest request{.cluster = std::move(cluster),
                         .strategy = c.strategy,
                         .bucket_mb = c.bucket_mb,
                         .ranks = c.ranks,
                         .batch_size = c.batch_size,
                         .accumulate = c.accumulate,
                         .optimizer = plan::update_rule_of(c.optimizer),
                         .engine = c.engine};
  if (!c.link.empty()) {
    set_emulated_link(c.link, request);
  }
  return request;
}

void set_profile(cluster::ProfiledModel profiled, PredictRequest& request) {
  request.network.model = std::move(profiled.model);
  request.profile = std::move(profiled.profile);
  request.profile_device = profiled.device;
  request.update = profiled.update;
  request.codecs = std::move(profiled.codecs);
}

void set_emulated_link(const std::string& link, PredictRequest& request) {
  const cluster::LinkSpec spec = cluster::parse_link("link", link);
  cluster::Machine& machine = request.machine.emplace();
  machine.device = machine.network = {.bytes_per_s = std::llround(spec.bytes_per_s),
                                      .latency = spec.latency_ns * plan::kPicosecondsPerNanosecond,
                                      .sharing = cluster::LinkSharing::kDevice};
  machine.servers_have_links = true;
  request.engine = "link";
}

void set_dtype(const std::string& dtype, PredictRequest& request) {
  if (const auto type = cluster::type_named(dtype == "amp" ? "fp32" : dtype)) {
    request.network.model.dtype = *type;
  }
}

using plan::Elements;
using strategies::BagShape;
using strategies::EmbeddingJob;

void describe_tables(const PredictRequest& request, cases::Case& c) {
  const EmbeddingJob& job = *request.tables;
  c.trainers = job.trainers;
  c.servers = job.colocated ? 0 : job.servers;
  c.embeddings = static_cast<int>(job.rows);
  c.embedding_dim = static_cast<int>(job.dim);
  c.placement = strategies::name_of(job.placement);
  c.pooling = job.mean ? "mean" : "sum";
  c.as_original = job.sequential;
  c.zipf = job.bags.zipf;
  c.row_optimizer = strategies::name_of(job.rule);
  c.row_dtype = job.bf16_rows ? "bf16" : "fp32";
  c.staleness = static_cast<int>(job.staleness);
}

double mean_bags_per_step(const BagShape& bags) {
  // bags_of[n] is the mean number of bags of n lookups; every length of the first bag is equally
  // likely.
  std::vector<double> bags_of(static_cast<std::size_t>(bags.most) + 1);
  for (Elements n = 1; n <= bags.most; ++n) {
    double sum = 0;
    for (Elements length = bags.shortest_bag; length <= bags.longest_bag; ++length) {
      sum += bags_of[static_cast<std::size_t>(std::max(Elements{0}, n - length))];
    }
    bags_of[static_cast<std::size_t>(n)] =
        1 + sum / static_cast<double>(bags.longest_bag - bags.shortest_bag + 1);
  }
  double all = 0;
  for (Elements n = bags.fewest; n <= bags.most; ++n) {
    all += bags_of[static_cast<std::size_t>(n)];
  }
  return all / static_cast<double>(bags.most - bags.fewest + 1);
}

void set_tables(const cases::Case& c, PredictRequest& request) {
  const auto job = cases::embedding_job_of(c);
  strategies::check_job(*job);
  request.network = cases::network_shape_of(c, *job);
  request.tables = job;
  request.ranks = job->ranks();
  request.momentum = c.momentum != 0;
  if (request.batch_size == 0) {
    request.batch_size = static_cast<int>(std::lround(mean_bags_per_step(job->bags)));
  }
}

void check_memory(const PredictRequest& request, const Prediction& prediction) {
  const auto planner = cases::planner_of(*request.tables, strategies::strategy_of(request));
  const auto memory = cases::memory_of_ranks(*planner, prediction.job->input);
  const auto hosts = cases::bytes_by_host(
      memory, cluster::ranks_per_host(request.cluster, static_cast<plan::Rank>(memory.size())));
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    const std::int64_t bytes = hosts[h];
    const cluster::ClusterHost& host = request.cluster.hosts[h];
    if (host.memory_bytes && bytes > *host.memory_bytes) {
      throw UsageError(fmt::format(
          "the tables do not fit: the job takes {:.3f} GB of host {}, which has {:.3f} GB; take "
          "fewer or shorter rows, another --placement, or more hosts",
          static_cast<double>(bytes) * 1e-9, host.name,
          static_cast<double>(*host.memory_bytes) * 1e-9));
    }
  }
}

}  // namespace paceline::predict
