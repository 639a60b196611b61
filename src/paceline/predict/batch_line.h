// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace paceline::predict {

/// The time that one device takes for a micro-batch.
struct BatchTime {
  int batch_size = 1;
  double time = 0;  // in any unit
};

/// Returns the time of another micro-batch by linear interpolation between two times: a fixed part
/// and a part for each sample.  Fewer samples than the smaller batch take at least their share of
/// its time.  More samples than the larger batch take at least its time.
inline double time_on_line(const BatchTime& least, const BatchTime& most, int batch_size) {
  const double line = least.time + (most.time - least.time) * (batch_size - least.batch_size) /
                                       (most.batch_size - least.batch_size);
  if (batch_size < least.batch_size) {
    return std::max(line, least.time * batch_size / least.batch_size);
  }
  return batch_size > most.batch_size ? std::max(line, most.time) : line;
}

}  // namespace paceline::predict
