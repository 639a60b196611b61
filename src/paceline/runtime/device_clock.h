// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "paceline/base/clock.h"

namespace paceline::runtime {

/// Takes times on the compute stream.  On a GPU, where the host only enqueues work, a time is an
/// event; on a CPU it is read from the host's clock.
class DeviceClock {
 public:
  explicit DeviceClock(at::Device device) : device_(device) {}

  void mark() {
    if (device_.is_cpu()) {
      host_ns_.push_back(steady_ns());
      return;
    }
    events_.emplace_back(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
    events_.back().record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  }

  /// Returns the times of all marks since the last call, in nanoseconds after the first of them.
  /// Waits until the device has reached the last mark.
  std::vector<std::int64_t> take() {
    std::vector<std::int64_t> after_first;
    for (const std::int64_t ns : host_ns_) {
      after_first.push_back(ns - host_ns_.front());
    }
    if (!events_.empty()) {
      events_.back().synchronize();
      after_first.push_back(0);
      for (std::size_t i = 1; i < events_.size(); ++i) {
        const double ms = events_.front().elapsedTime(events_[i]);
        after_first.push_back(std::llround(ms * 1e6));
      }
    }
    host_ns_.clear();
    events_.clear();
    return after_first;
  }

 private:
  at::Device device_;
  std::vector<std::int64_t> host_ns_;
  std::vector<c10::Event> events_;
};

}  // namespace paceline::runtime
