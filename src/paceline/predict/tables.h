// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"
#include "paceline/predict/predict_request.h"
#include "paceline/strategies/embedding_job.h"

// How jobs with embedding tables on servers are predicted.

namespace paceline::predict {

struct Prediction;  // predict/predict.h

/// Sets in `configuration` the fields of the request's tables that cases::embedding_job_of() reads.
void describe_tables(const PredictRequest& request, cases::Case& configuration);

/// Returns the average number of bags in a step.
double typical_bags(const strategies::BagShape& bags);

/// Sets in the request what `configuration` says of a network with tables: the network, its tables,
/// the ranks, and, if the request has no batch, the batch.
void set_tables(const cases::Case& configuration, PredictRequest& request);

/// Throws UsageError if a predicted job with tables takes more memory than a host has, as far as
/// the cluster gives it.
void check_memory(const PredictRequest& request, const Prediction& prediction);

}  // namespace paceline::predict
