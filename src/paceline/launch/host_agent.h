// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/launch/job_launch.h"

namespace paceline::launch {

/// The subcommand that starts the host agent.
inline constexpr const char* kHostAgent = "host-agent";

/// The part of `launch_job` on a remote host: reads one line from stdin (launch/host_launch.h),
/// starts the ranks that it describes and supervises them until the last one has ended.  A line
/// "stop" asks the ranks to stop. When stdin ends, the process that started the job is gone, and
/// the ranks are killed.  Posts to the job's store how a rank died that could not post it itself.
/// Returns the exit code.
int run_host_agent(const OpenStore& open_store);

}  // namespace paceline::launch
