// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/stop_signals.h"

#include <initializer_list>

#include <pthread.h>

namespace paceline::launch {

StopSignals::StopSignals() {
  sigset_t wishes;
  sigemptyset(&wishes);
  sigaddset(&wishes, SIGTERM);
  sigaddset(&wishes, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &wishes, &before_);
}

StopSignals::~StopSignals() {
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
