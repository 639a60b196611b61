// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::cli {

/// Predicts a job for each line of `file` (`-`: standard input). For each one prints a line on
/// standard output, in order: its record, or {"id": ..., "error": "..."}. Returns 0, or 2 if a line
/// was rejected. Throws UsageError if the file cannot be read.
///
/// A line is a JSON object. Its keys are the flags of `paceline predict` with underscores for
/// dashes, and each value is parsed as on the command line. The key `id` may have any value, which
/// is repeated with an error. Compiled jobs are reused (simulator/job_cache.h). The format is
/// described in docs/predict-requests.md.
int predict_requests(const std::string& file);

}  // namespace paceline::cli
