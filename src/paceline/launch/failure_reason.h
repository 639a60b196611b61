// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace paceline::launch {

/// Why a program failed, by what it wrote: the exception that ended it, else its last words. Of a
/// job that torchrun started they are those of the rank that failed first; where that rank wrote
/// nothing, what torchrun says of it. What torchrun, mpirun and srun add to every failure is no
/// reason. Empty where nothing is left.
std::string failure_reason(const std::string& output);

/// The same of the text of a file; empty where it cannot be read.
std::string failure_reason_in(const std::string& log);

}  // namespace paceline::launch
