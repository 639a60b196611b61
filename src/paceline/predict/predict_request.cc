// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/predict_request.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/hash.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/predict/predict.h"

namespace paceline::predict {
namespace {

/// Returns the constants of the cluster's links and device as text, without names and hosts.
std::string figures_of(cluster::Cluster cluster) {
  cluster.name.clear();
  cluster.source.clear();
  cluster.hosts.clear();
  return cluster::to_toml(cluster);
}

std::string layers_of(const PredictRequest& request) {
  return cluster::to_json_text({.model = request.network.model,
                                .profile = *request.profile,
                                .batch_size = 1,
                                .update = request.update});
}

}  // namespace

std::string priced_on(const PredictRequest& request) {
  if (request.machine) {
    return "";
  }
  std::string text = request.cluster.name;
  if (request.algorithm) {
    text += fmt::format("; {}", *request.algorithm);
  }
  if (request.unfused) {
    text += "; unfused";
  }
  if (request.noise.any()) {
    text += fmt::format("; noise {}", request.noise.sigma);
  }
  const bool fitted = request.micro_batches_of_measured_rate > 0;
  if (request.samples_per_s && !fitted) {
    text += fmt::format("; device {} samples/s", *request.samples_per_s);
  }
  text += fmt::format("; prices {:08x}",
                      fnv1a_32(figures_of(request.cluster) + request.cost_table().text));
  if (const MeasuredCosts& m = request.measured; fitted || m != MeasuredCosts{}) {
    text += fmt::format(
        "; measured {:08x}",
        fnv1a_32(fmt::format("{} {} {} {} {}", fitted ? request.samples_per_s.value_or(0) : 0,
                             m.network_share, m.device_share, m.collective, m.slowdown)));
  }
  if (request.profile) {
    text += fmt::format("; layers {:08x}", fnv1a_32(layers_of(request)));
  }
  return text;
}

void check_batch(const PredictRequest& request) {
  const int batch = batch_size_of(request);
  if (request.accumulate < 1 || batch % request.accumulate != 0) {
    throw UsageError(fmt::format(
        "a batch of {} samples per rank and step cannot be cut into {} equal micro-batches", batch,
        request.accumulate));
  }
  if (request.accumulate > 1 && request.tables) {
    throw UsageError("accumulation beside embedding tables is not simulated; leave it out");
  }
}

void check_steps(const PredictRequest& request) {
  if (request.steps < 3) {
    throw UsageError(fmt::format("{} steps: at least 3 are needed", request.steps));
  }
  const auto rows = std::clamp(request.ranks, plan::Rank{1}, kMostRecorded);
  if (request.steps > kMostSamples / rows) {
    throw UsageError(fmt::format("{} steps: a record of {} {} holds at most {}", request.steps,
                                 rows, rows == 1 ? "rank" : "ranks", kMostSamples / rows));
  }
}

}  // namespace paceline::predict
