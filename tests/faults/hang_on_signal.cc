// SPDX-License-Identifier: Apache-2.0
// A library to preload: the thread that gets kHang hangs for ever, wherever it is, and the other
// threads of its process go on.  The kernel gives a signal to a process to its main thread first,
// which is the training thread of a rank.
#include <csignal>

#include <unistd.h>

namespace {

constexpr int kHang = 50;  // a real-time signal that nothing else uses

void hang(int /*signal*/) {
  while (true) {
    pause();
  }
}

const bool installed = [] {
  struct sigaction action {};
  action.sa_handler = hang;
  return sigaction(kHang, &action, nullptr) == 0;
}();

}  // namespace
