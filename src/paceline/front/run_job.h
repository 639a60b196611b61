// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "paceline/case/job_spec.h"
#include "paceline/front/narrowing.h"
#include "paceline/front/operation_results.h"
#include "paceline/front/results.h"
#include "paceline/launch/job_launch.h"

namespace paceline::front {

/// Starts the ranks of each repetition of the cases in fresh processes by `launch`
/// (launch_of_job()), supervises them, and prints the results.  With `narrowing`, then repeats
/// single cases, the widest first, until all are narrow enough or a limit of `narrowing` is
/// reached.  Returns the exit code.
int run_job(cases::JobSpec job, const launch::JobLaunch& launch, Results& results,
            const std::optional<NarrowingOptions>& narrowing = {});

/// Starts the ranks of a job of operations, supervises them, and prints the results.  Returns the
/// exit code.
int run_operations(const cases::JobSpec& job, const launch::JobLaunch& launch,
                   OperationResults& results);

}  // namespace paceline::front
