// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/stop_signals.h"

#include <ctime>
#include <initializer_list>

#include <pthread.h>

namespace paceline::launch {
namespace {

sigset_t wishes() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t blocked = wishes();
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

// A wish that was granted must not kill when it is let through.
StopSignals::~StopSignals() {
  const sigset_t granted = wishes();
  const timespec at_once{};
  while (sigtimedwait(&granted, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::signal() const {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  for (const int wish : {SIGTERM, SIGUSR1}) {
    if (sigismember(&pending, wish) == 1) {
      return wish;
    }
  }
  return 0;
}

}  // namespace paceline::launch
