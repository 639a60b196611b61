// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/predict/predict_request.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// Throughput of one device at the request's batch size that the cluster file gives; null: none.
const cluster::DeviceThroughput* throughput_of(const PredictRequest& request);

/// Whether layer times rest on a measurement: a profile, or a throughput of one device that the
/// request or the cluster file gives.
bool is_timed(const PredictRequest& request);

/// Layer times: the request's profile, or a roofline over the network's layers, stretched to the
/// throughput of one device less `update_s`, seconds, where one is known; a warning where they rest
/// on no measurement.  Throws UsageError for a rate that no step can have.
plan::LayerProfile profile_of(const PredictRequest& request, int batch_size, double update_s,
                              std::vector<records::Warning>& warnings);

}  // namespace paceline::predict
