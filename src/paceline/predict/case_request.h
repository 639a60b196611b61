// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/cluster/profile_file.h"
#include "paceline/predict/predict_request.h"
#include "paceline/records/configuration.h"

// A prediction is a case without ranks: what the case says of its job, as a request.

namespace paceline::predict {

/// The job of the case on `cluster`, but for its network: see put_profile(), plan::network_shape()
/// and set_tables().  A case behind an emulated link is priced for that link.
PredictRequest request_of(const records::Configuration& configuration, cluster::Cluster cluster);

/// Sets the network that the profile is of, with the measured times of its layers, update and
/// codecs.
void put_profile(cluster::ProfiledModel profiled, PredictRequest& request);

/// Puts every rank behind an emulated link of its own, "1Gbit,50us", without an engine's costs.
void put_link(const std::string& link, PredictRequest& request);

/// Sets the type of parameters and gradients; those of amp are fp32.  A word that names none leaves
/// the network's own.
void put_type(const std::string& dtype, PredictRequest& request);

}  // namespace paceline::predict
