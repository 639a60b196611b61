// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/tables.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "paceline/case/tables.h"

namespace paceline::predict {

using plan::Elements;
using strategies::BagShape;
using strategies::EmbeddingJob;

void describe_tables(const PredictRequest& request, records::Configuration& c) {
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

double typical_bags(const BagShape& bags) {
  // bags_of[n]: of n lookups; the first bag is of any length.
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

void set_tables(const records::Configuration& c, PredictRequest& request) {
  const auto job = cases::embedding_job_of(c);
  strategies::check_job(*job);
  request.network = cases::network_shape_of(c, *job);
  request.tables = job;
  request.ranks = job->ranks();
  request.momentum = c.momentum != 0;
  if (request.batch_size == 0) {
    request.batch_size = static_cast<int>(std::lround(typical_bags(job->bags)));
  }
}

}  // namespace paceline::predict
