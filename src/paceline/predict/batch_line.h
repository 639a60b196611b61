// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace paceline::predict {

/// The time that one device takes for a micro-batch.
struct BatchTime {
  int batch_size = 1;
  double time = 0;  // in any unit
};

/// Returns the time of a micro-batch of `batch_size` samples: linear interpolation between two
/// measured times, so a fixed part plus a part per sample.  A batch smaller than both takes at
/// least its proportional share of the smaller time.  A batch larger than both takes at least the
/// larger time.
inline double interpolated_time(const BatchTime& least, const BatchTime& most, int batch_size) {
  const double line = least.time + (most.time - least.time) * (batch_size - least.batch_size) /
                                       (most.batch_size - least.batch_size);
  if (batch_size < least.batch_size) {
    return std::max(line, least.time * batch_size / least.batch_size);
  }
  return batch_size > most.batch_size ? std::max(line, most.time) : line;
}

}  // namespace paceline::predict
