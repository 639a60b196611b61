// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "paceline/cluster/profile_file.h"
#include "paceline/records/run_record.h"

namespace paceline::predict {

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
/// Each layer's time lies on the line through its two times (predict/batch_line.h).  The update and
/// the codecs, which do not depend on the batch, come from the profile whose batch is nearer.
/// Throws UsageError if the two differ in network, number type or device, or have the same batch.
ProfileOfBatch profile_of_batch(const ProfileOfFile& one, const ProfileOfFile& other,
                                int batch_size);

}  // namespace paceline::predict
