// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "paceline/cluster/profile_file.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

/// The time that one device takes for a micro-batch of `batch_size` samples.
struct BatchTime {
  int batch_size = 1;
  double time = 0;  // in any unit, the same for all times
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

/// A profile, and the file that holds it.
struct ProfileOfFile {
  std::string file;
  cluster::ProfiledModel profiled;
};

/// A profile of another batch, and a warning if the batch lies outside of the measured ones.
struct ProfileOfBatch {
  cluster::ProfiledModel profiled;
  std::optional<records::Warning> warning{};
};

/// Returns the profile of a micro-batch of `batch_size`, at least 1, from profiles of two batches.
/// Each layer's time lies on the line through its two times (interpolated_time).  The update and
/// the codecs, which do not depend on the batch, come from the profile whose batch is nearer.
/// Throws UsageError if the two differ in network, number type or device, or have the same batch.
ProfileOfBatch profile_of_batch(const ProfileOfFile& one, const ProfileOfFile& other,
                                int batch_size);

}  // namespace paceline::predict
