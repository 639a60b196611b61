// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <sys/socket.h>
#include <sys/types.h>

// Functions for stream sockets whose waits end after `timeout` and that no signal disturbs: if the
// process is stopped and continues (Ctrl-Z, fg), the wait goes on, and the time of the stop does
// not count.  Functions with a timeout return what the system call of the same name returns; on
// timeout they return -1 with errno EAGAIN.

namespace paceline {

int connect_within(int fd, const sockaddr* peer, socklen_t length,
                   std::chrono::milliseconds timeout);

/// The accepted stream is closed on exec.
int accept_within(int listener, std::chrono::milliseconds timeout);

/// Sends at least one byte of the data, without raising SIGPIPE.
ssize_t send_within(int fd, const char* data, std::size_t size, std::chrono::milliseconds timeout);

/// Receives a part of the data; returns 0 at the stream's end.
ssize_t receive_within(int fd, char* data, std::size_t size, std::chrono::milliseconds timeout);

/// Returns a TCP port of this host that was free a moment ago, for a server whose port must be
/// known before it listens.  Throws WorldError if there is none.
std::uint16_t free_port();

}  // namespace paceline
