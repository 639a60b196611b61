// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/predict/predict_request.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// Returns the throughput of one device at the request's batch size that the cluster file gives;
/// null if it gives none.
const cluster::DeviceThroughput* throughput_of(const PredictRequest& request);

/// Returns whether layer times rest on a measurement: a profile, or a throughput of one device that
/// the request or the cluster file gives.
bool has_measured_times(const PredictRequest& request);

/// Returns the layer times: the request's profile, or a roofline over the network's layers.  If a
/// throughput of one device is known, they are scaled to its step less `update_s` seconds.  Warns
/// if they rest on no measurement.  Throws UsageError for a rate that no step can have, and if
/// neither a measurement nor the device's data sheet says how fast the device computes.
plan::LayerProfile profile_of(const PredictRequest& request, int batch_size, double update_s,
                              std::vector<records::Warning>& warnings);

}  // namespace paceline::predict
