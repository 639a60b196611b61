// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <sys/socket.h>
#include <sys/types.h>

// Stream sockets whose waits end after `timeout` and that no signal disturbs:
// a process that is stopped and goes on (Ctrl-Z, fg) waits on, and the time that it stood still
// does not count.  What has a timeout returns what the system call of the same name does; where
// nothing moves it is -1, and errno EAGAIN.

namespace paceline {

int connect_within(int fd, const sockaddr* peer, socklen_t length,
                   std::chrono::milliseconds timeout);

/// The accepted stream is closed on exec.
int accept_within(int listener, std::chrono::milliseconds timeout);

/// Sends a part of the data, and raises no SIGPIPE.
ssize_t send_within(int fd, const char* data, std::size_t size, std::chrono::milliseconds timeout);

/// Receives a part; 0 at the stream's end.
ssize_t receive_within(int fd, char* data, std::size_t size, std::chrono::milliseconds timeout);

/// A TCP port of this host that was free a moment ago, for a server whose port must be known before
/// it listens.  Throws WorldError where there is none.
std::uint16_t free_port();

}  // namespace paceline
