// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace paceline::engines {

/// The subcommand by which a remote host's process is started.
inline constexpr const char* kAttendRanks = "attend-ranks";

/// The part of `launch_local` on a remote host: reads its order, one line
/// (launch/host_order.h), from stdin, starts the ranks and stays with them
/// until the last one has ended.  A line "stop" asks them to stop; when stdin
/// ends, whoever started the job is gone, and they are killed.  Files on the
/// job's board how a rank died that could not say so itself.  Returns the exit
/// code.
int attend_ranks();

}  // namespace paceline::engines
