// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/virtual_time.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/cluster/cluster_choice.h"
#include "paceline/predict/case_request.h"
#include "paceline/predict/predict.h"
#include "paceline/rank/profile_model.h"
#include "paceline/report/accuracy.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/strategy.h"

namespace paceline::front {
namespace {

/// The number of steps that are run to profile a network. It is small, because the network trained
/// here is small, too.
constexpr int kWarmup = 3, kSteps = 20;

[[noreturn]] void reject(const cases::Case& c, const std::string& why) {
  throw UsageError(
      fmt::format("virtual_time: '{}' of {} on {} ranks {}", c.strategy, c.model, c.ranks, why));
}

void check_virtual(const cases::Case& c) {
  if (c.data.empty() || cases::runs_external_program(c)) {
    reject(c, "trains on no data; name some (--data digits), or take `paceline predict`");
  }
  if (c.accumulate > 1 || c.dtype != "fp32" || c.average_buffers > 0) {
    reject(c,
           "is not predicted with micro-batches, another number type or averaged statistics; take "
           "accumulate 1, fp32 and average_buffers 0");
  }
  const auto* exchange = strategies::strategy_of(c).exchange.row;
  if (exchange != nullptr && exchange->late) {
    reject(c,
           "averages what has arrived, so what it learns depends on real times; take an exchange "
           "that waits");
  }
}

void check_placement(const cases::Case& c, const std::string& cluster) {
  try {
    strategies::check_world(strategies::strategy_of(c), c.ranks, c.ranks_per_host);
  } catch (const UsageError& error) {
    reject(c, fmt::format("is placed as on the hosts of {}: {}", cluster, error.what()));
  }
}

/// Assigns the ranks of a case to the hosts of `cluster`, which is called `name`.
void place(const std::string& name, const cluster::Cluster& cluster, cases::Case& c) {
  check_virtual(c);
  if (!c.ranks_per_host.empty()) {
    reject(c, fmt::format("is placed as on the hosts of {}; leave out --local-size and "
                          "--ranks-per-host",
                          name));
  }
  const auto placed = cluster::ranks_per_host(cluster, c.ranks);
  c.ranks_per_host.assign(placed.begin(), placed.end());
  check_placement(c, name);
}

/// Returns a key of everything that the layer times of a case depend on.
std::string layers_key(const cases::Case& c) {
  return cases::key_of_fields(
      c, {cases::Part::kNetwork, &cases::Case::batch_size, &cases::Case::optimizer,
          &cases::Case::device, &cases::Case::threads});
}

/// Returns a text that is equal for cases with equal predictions. Seeds and splits of the data do
/// not affect a prediction.
std::string prediction_key(const cases::Case& c) {
  return cases::key_of_fields(
      c, {&cases::Case::model, &cases::Case::data, &cases::Case::batch_size, &cases::Case::ranks,
          &cases::Case::strategy, &cases::Case::optimizer});
}

cluster::ProfiledModel profile_of(cases::Case c) {
  c.warmup = kWarmup;
  c.steps = kSteps;
  return rank::profile_model(c);
}

/// Makes a request with the engine of the cluster, not of this machine.
predict::PredictRequest request_of(const cases::Case& c, const cluster::ProfiledModel& profiled,
                                   const cluster::Cluster& cluster, double device_rate) {
  predict::PredictRequest request = predict::request_of(c, cluster);
  request.engine.clear();
  predict::set_profile(profiled, request);
  if (device_rate > 0) {
    request.samples_per_s = device_rate;
  }
  return request;
}

records::RunRecord predicted(const cases::Case& c, const predict::PredictRequest& request) {
  records::RunRecord record = predict::predict(request).record;
  record.started_at = utc_now();
  record.configuration.label = c.label;
  record.configuration.data = c.data;
  record.configuration.image_size = c.image_size;
  record.configuration.classes = c.classes;
  return record;
}

}  // namespace

void place_virtually(const cases::Settings& settings, cases::Experiment& experiment) {
  if (settings.virtual_time.empty()) {
    if (settings.device_rate > 0) {
      throw UsageError(
          fmt::format("device_rate: {} samples/s are of a device of the cluster that virtual_time "
                      "names; give that too",
                      settings.device_rate));
    }
    return;
  }
  if (!cluster::ClusterChoice{
          .file = settings.cluster, .hosts = settings.hosts, .hostfile = settings.hostfile}
           .empty()) {
    throw UsageError(
        fmt::format("virtual_time: '{}' is a cluster whose ranks train on this machine; leave out "
                    "the hosts to start on",
                    settings.virtual_time));
  }
  const cluster::Cluster cluster = cluster::read_cluster(settings.virtual_time);
  std::vector<cases::Case> valid;
  for (cases::Case& c : experiment.cases) {
    try {
      place(settings.virtual_time, cluster, c);
      valid.push_back(c);
    } catch (const UsageError& error) {
      experiment.rejected.push_back({c, error.what()});
    }
  }
  if (valid.empty()) {
    throw UsageError(experiment.rejected.front().why);
  }
  experiment.cases = std::move(valid);
}

std::vector<records::RunRecord> predict_virtual_times(
    const cases::Settings& settings, std::span<const records::RunRecord> measured) {
  const cluster::Cluster cluster = cluster::read_cluster(settings.virtual_time);
  std::vector<records::RunRecord> priced;
  std::map<std::string, cluster::ProfiledModel> profiles;
  std::set<std::string> known;
  for (const records::RunRecord& one : measured) {
    const cases::Case& c = one.configuration;
    if (one.error || !known.insert(prediction_key(c)).second) {
      continue;
    }
    const auto [profiled, is_new] = profiles.try_emplace(layers_key(c));
    if (is_new) {
      profiled->second = profile_of(c);
    }
    priced.push_back(predicted(c, request_of(c, profiled->second, cluster, settings.device_rate)));
  }
  return priced;
}

bool has_recorded_prediction(const records::RunRecord& priced,
                             std::span<const records::RunRecord> recorded) {
  const cases::Case& c = priced.configuration;
  const std::string cluster = report::cluster_without_layers(c.cluster);
  return std::ranges::any_of(recorded, [&](const records::RunRecord& one) {
    return one.source == records::Source::kPredicted &&
           report::cluster_without_layers(one.configuration.cluster) == cluster &&
           prediction_key(one.configuration) == prediction_key(c);
  });
}

}  // namespace paceline::front
