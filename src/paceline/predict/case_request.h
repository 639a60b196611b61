// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/case/case.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/predict/predict_request.h"
#include "paceline/strategies/embedding_job.h"

// A prediction is a case without ranks.  These functions turn what a case says of its job, which
// may have embedding tables on servers, into a request.

namespace paceline::predict {

struct Prediction;  // predict/predict.h

/// Returns the request for the case's job on `cluster`, without its network, which set_profile(),
/// plan::network_shape() or set_tables() give.  A case with an emulated link is predicted for that
/// link.
PredictRequest request_of(const cases::Case& configuration, cluster::Cluster cluster);

/// Sets the profile's network, with the measured times of its layers, update and codecs.
void set_profile(cluster::ProfiledModel profiled, PredictRequest& request);

/// Gives every rank an emulated link of its own, such as "1Gbit,50us", without an engine's costs.
void set_emulated_link(const std::string& link, PredictRequest& request);

/// Sets the type of parameters and gradients, which is fp32 for amp.  A word that names no type
/// leaves the network's own type.
void set_dtype(const std::string& dtype, PredictRequest& request);

/// Sets those fields of `configuration` that describe the request's embedding tables and that
/// cases::embedding_job_of() reads.
void describe_tables(const PredictRequest& request, cases::Case& configuration);

/// Returns the mean number of bags (groups of looked-up rows) in a step.
double mean_bags_per_step(const strategies::BagShape& bags);

/// Sets the request's network, its tables and the ranks as `configuration` says, and also the batch
/// if the request has none.
void set_tables(const cases::Case& configuration, PredictRequest& request);

/// Throws UsageError if a predicted job with tables needs more memory than a host has, if the
/// cluster gives that memory.
void check_memory(const PredictRequest& request, const Prediction& prediction);

}  // namespace paceline::predict
