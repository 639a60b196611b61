// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/supervisor_signals.h"

namespace paceline::launch {

SupervisorSignals::SupervisorSignals() {
  sigemptyset(&waited_);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    sigaddset(&waited_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &waited_, &before_);
}

SupervisorSignals::~SupervisorSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int SupervisorSignals::wait(std::chrono::milliseconds timeout) const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec limit{
      static_cast<time_t>(seconds.count()),
      static_cast<long>(std::chrono::nanoseconds(timeout - seconds).count())};
  const int signal = sigtimedwait(&waited_, nullptr, &limit);
  return signal > 0 ? signal : 0;
}

bool SupervisorSignals::ending() const {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1 ||
         sigismember(&pending, SIGTERM) == 1 ||
         sigismember(&pending, SIGHUP) == 1;
}

}  // namespace paceline::launch
