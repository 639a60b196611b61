// SPDX-License-Identifier: Apache-2.0
#include "paceline/base/patience.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace paceline {

Patience::Patience(std::chrono::milliseconds after, std::function<void()> speak)
    : thread_([after, speak = std::move(speak)](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait_for(lock, stop, after, [] { return false; });
        if (!stop.stop_requested()) {
          speak();
        }
      }) {}

}  // namespace paceline
