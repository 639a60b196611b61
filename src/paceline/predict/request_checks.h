// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::predict {

struct PredictRequest;

/// Throws UsageError if the batch cannot be cut into equal micro-batches, or is cut beside
/// embedding tables.
void check_batch(const PredictRequest& request);

/// Throws UsageError if a record cannot hold the steps.
void check_steps(const PredictRequest& request);

}  // namespace paceline::predict
