// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/request_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/predict/predict.h"

namespace paceline::predict {

void check_batch(const PredictRequest& request) {
  const int batch = batch_size_of(request);
  if (request.accumulate < 1 || batch % request.accumulate != 0) {
    throw UsageError(fmt::format(
        "a batch of {} samples per rank and step cannot be cut into {} equal micro-batches", batch,
        request.accumulate));
  }
  if (request.accumulate > 1 && request.tables) {
    throw UsageError("accumulation beside embedding tables is not simulated; leave it out");
  }
}

void check_steps(const PredictRequest& request) {
  if (request.steps < 3) {
    throw UsageError(fmt::format("{} steps: at least 3 are needed", request.steps));
  }
  const auto rows = std::clamp(request.ranks, plan::Rank{1}, kMostRecorded);
  if (request.steps > kMostSamples / rows) {
    throw UsageError(fmt::format("{} steps: a record of {} {} holds at most {}", request.steps,
                                 rows, rows == 1 ? "rank" : "ranks", kMostSamples / rows));
  }
}

}  // namespace paceline::predict
