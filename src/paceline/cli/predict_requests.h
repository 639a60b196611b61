// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::cli {

/// Predicts a job for each line of `file` (`-`: standard input) and prints its record, or {"id":
/// ..., "error": "..."}, on a line of standard output, in order.  Returns 0, or 2 where a line was
/// rejected.  Throws UsageError where the file cannot be read.
///
/// A line is a JSON object.  Each key is a flag of `paceline predict`, dashes as underscores, and
/// each value is parsed as on the command line; `id` is free and returns with an error.  Compiled
/// jobs are reused (simulator/job_cache.h).  docs/predict-requests.md.
int predict_requests(const std::string& file);

}  // namespace paceline::cli
