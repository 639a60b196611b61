// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/launch/job_launch.h"

namespace paceline::launch {

/// The subcommand that starts the host agent.
inline constexpr const char* kHostAgent = "host-agent";

/// The part of `launch_job` that runs on a remote host. It reads one line from stdin
/// (launch/host_launch.h), starts the ranks that the line describes, and supervises them until the
/// last one has ended. A line "stop" asks the ranks to stop. The end of stdin means that the
/// process that started the job is gone; the ranks are then killed. If a rank dies without posting
/// the reason, the agent posts it to the job's store. Returns the exit code.
int run_host_agent(const OpenStore& open_store);

}  // namespace paceline::launch
