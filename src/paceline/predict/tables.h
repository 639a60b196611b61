// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/predict/predict_request.h"
#include "paceline/records/configuration.h"
#include "paceline/strategies/embedding_job.h"

// Jobs with embedding tables on servers, as they are predicted.

namespace paceline::predict {

struct Prediction;  // predict/predict.h

/// Sets in `configuration` what cases::embedding_job_of() reads there, and the rows' engine where
/// it is not `engine`, as the request with its tables says.
void describe_tables(const PredictRequest& request, records::Configuration& configuration);

/// The bags of a step, on average.
double typical_bags(const strategies::BagShape& bags);

/// Sets what the request says of a network with tables: the network, its tables, the ranks, and,
/// where the request names none, the batch.
void set_tables(const records::Configuration& configuration, PredictRequest& request);

/// Throws UsageError where a predicted job with tables takes more than the memory of a host, as far
/// as the cluster says it.
void check_memory(const PredictRequest& request, const Prediction& prediction);

}  // namespace paceline::predict
