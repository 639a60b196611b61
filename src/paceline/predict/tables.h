// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/case/case.h"
#include "paceline/predict/predict_request.h"
#include "paceline/strategies/embedding_job.h"

// Predicts jobs with embedding tables on servers.

namespace paceline::predict {

struct Prediction;  // predict/predict.h

/// Sets in `configuration` the fields of the request's tables that cases::embedding_job_of() reads.
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
