// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/delayed_call.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace paceline {

DelayedCall::DelayedCall(std::chrono::milliseconds delay, std::function<void()> call)
    : thread_([delay, call = std::move(call)](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait_for(lock, stop, delay, [] { return false; });
        if (!stop.stop_requested()) {
          call();
        }
      }) {}

}  // namespace paceline
