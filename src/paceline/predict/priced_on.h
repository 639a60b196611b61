// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paceline/predict/predict_request.h"

namespace paceline::predict {

/// What a prediction was priced with, so that predictions of one job with other
/// prices are other cases:
///
///   two nodes; ring; noise 0.05; stragglers 0.1 x 3; device 500 samples/s;
///   prices 5e8a1c02; layers 0b1d6f93
///
/// The cluster's name; the algorithm of collectives, the noise, the stragglers
/// and the rate of the device that were asked for; digits that change with any
/// figure of its links and device and with costs of one's own; where layers
/// have been measured, digits that change with their times.
/// Hosts and engine are in the record by themselves.  Empty where the
/// request brings a machine of its own instead of the cluster's.
std::string priced_on(const PredictRequest& request);

}  // namespace paceline::predict
