// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/plan/cluster_choice.h"
#include "paceline/sim/predict.h"

namespace CLI {
class App;
}

namespace paceline::cli {

/// --cluster, -H and --hostfile, as `paceline run` has them.
void add_cluster_flags(CLI::App& app, plan::ClusterChoice& choice);

/// MODEL, or --model MODEL.
void add_model_flag(CLI::App& app, std::string& model);

/// Whether `model` is a profile's path, not a built-in network's name.
bool names_profile(const std::string& model);

/// The network called `model`, or the one that the file profiles, with its
/// times and, where the request has none, its batch.  Throws UsageError where
/// the request's batch is another one and no rate of a device tells how fast
/// that would be.
void choose_network(const std::string& model, sim::PredictRequest& request);

}  // namespace paceline::cli
