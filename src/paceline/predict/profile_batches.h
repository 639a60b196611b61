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

/// A profile of another batch, and a warning where the batch lies outside of the measured ones.
struct ProfileOfBatch {
  cluster::ProfiledModel profiled;
  std::optional<records::Warning> warning{};
};

/// The profile of a micro-batch of `batch_size`, at least 1, from those of two: each layer takes
/// what the line through its two times says (predict/batch_line.h).  What no batch changes, the
/// update and the codecs, is that of the profile whose batch is nearer.  Throws UsageError where
/// the two are not of one network, number type and device, or of one batch.
ProfileOfBatch profile_of_batch(const ProfileOfFile& one, const ProfileOfFile& other,
                                int batch_size);

}  // namespace paceline::predict
