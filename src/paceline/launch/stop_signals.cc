// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/stop_signals.h"

#include <ctime>
#include <initializer_list>

#include <pthread.h>

namespace paceline::launch {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t blocked = stop_signals();
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

// A request that was followed must not kill when signals are unblocked.
StopSignals::~StopSignals() {
  const sigset_t pending = stop_signals();
  const timespec at_once{};
  while (sigtimedwait(&pending, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int requested_stop() {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  for (const int request : {SIGTERM, SIGUSR1}) {
    if (sigismember(&pending, request) == 1) {
      return request;
    }
  }
  return 0;
}

void throw_if_stop_requested() {
  if (const int signal = requested_stop(); signal != 0) {
    throw StopRequested{signal};
  }
}

}  // namespace paceline::launch
