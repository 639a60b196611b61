// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/cluster/cluster.h"
#include "paceline/predict/case_request.h"
#include "paceline/predict/predict.h"

namespace paceline::predict {
namespace {

constexpr plan::Picoseconds kMicrosecond = 1'000'000;

/// A job on hosts of one slot each.
PredictRequest job_apart(const cases::Case& tables, const std::string& rate, int latency_us) {
  PredictRequest request{.network = {},
                         .cluster = cluster::parse_cluster(
                             fmt::format("name = \"apart\"\n[[hosts]]\nname = \"n\"\ncount = 16\n"
                                         "slots = 1\n[[links]]\njoins = \"hosts\"\nrate = "
                                         "\"{}\"\nlatency = \"{}us\"\n",
                                         rate, latency_us),
                             "apart.toml"),
                         .strategy = tables.strategy,
                         .samples_per_s = 3000,
                         .engine = "gloo"};
  set_tables(tables, request);
  return request;
}

cases::Case hybrid_case(const std::string& strategy, int servers) {
  cases::Case c;
  c.model = "hybrid";
  c.strategy = strategy;
  c.servers = servers;
  return c;
}

// A question and its answer take two latencies, which one server's hide behind another's where all
// are asked at once.
TEST(PredictTables, ServersAskedInTurnTakeARoundTripEach) {
  for (const int servers : {2, 3, 4}) {
    for (const int latency_us : {50, 1000}) {
      cases::Case c = hybrid_case("ddp", servers);
      const plan::Picoseconds parallel = predict(job_apart(c, "10Gbit", latency_us)).times.step;
      c.as_original = true;
      const plan::Picoseconds sequential = predict(job_apart(c, "10Gbit", latency_us)).times.step;
      EXPECT_GE(sequential - parallel, (servers - 1) * 2 * latency_us * kMicrosecond)
          << servers << " servers, " << latency_us << " us";
    }
  }
}

// Rows of the next step are asked for while fusion still reduces; the backward pass of ddp ends
// with the Reducer's sums.
TEST(PredictTables, LooksUpBehindTheReducer) {
  constexpr int kLatency = 50;  // us
  const auto step = [](const std::string& strategy) {
    return predict(job_apart(hybrid_case(strategy, 2), "10Gbit", kLatency)).times.step;
  };
  EXPECT_GE(step("ddp") - step("fusion"), 2 * kLatency * kMicrosecond);
}

}  // namespace
}  // namespace paceline::predict
