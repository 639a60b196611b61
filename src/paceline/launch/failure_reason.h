// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::launch {

/// The reason why a program failed, from its output: the exception that ended it, else its last
/// line. In a job that torchrun started, the reason is that of the rank that failed first, or
/// torchrun's summary if that rank wrote nothing. Lines that torchrun, mpirun and srun add to every
/// failure are ignored. Returns an empty text if no other line is left.
std::string failure_reason(const std::string& output);

/// Applies failure_reason() to the text of a file; returns an empty text if it cannot be read.
std::string failure_reason_in(const std::string& log);

}  // namespace paceline::launch
