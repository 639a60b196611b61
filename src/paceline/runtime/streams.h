// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace paceline::runtime {

/// Orders the compute stream of a device and the stream on which a plan's
/// collectives and kernels are enqueued (the plan's stream).  On the CPU
/// nothing happens.  On a GPU the host does not wait, except in synchronize().
class Streams {
 public:
  explicit Streams(at::Device device) : device_(device) {
    if (device.is_cuda()) {
      const c10::impl::VirtualGuardImpl guard(device.type());
      plan_ = guard.getStreamFromGlobalPool(device);
    }
  }

  bool asynchronous() const { return plan_.has_value(); }

  /// What is enqueued on the plan's stream from now on runs after everything
  /// that was enqueued on the current thread's stream.
  void plan_follows_compute() const {
    if (plan_) {
      follow(compute(), *plan_);
    }
  }

  void compute_follows_plan() const {
    if (plan_) {
      follow(*plan_, compute());
    }
  }

  /// Runs `work` with the plan's stream as the current one.
  template <class Work>
  void on_plan(Work&& work) const {
    const c10::OptionalStreamGuard guard(plan_);
    work();
  }

  /// Blocks until the device has done all work on both streams.
  void synchronize() const {
    if (plan_) {
      const c10::impl::VirtualGuardImpl guard(device_.type());
      guard.synchronizeStream(*plan_);
      guard.synchronizeStream(compute());
    }
  }

 private:
  c10::Stream compute() const {
    return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  }
  static void follow(const c10::Stream& first, const c10::Stream& second) {
    c10::Event event(first.device_type());
    event.record(first);
    event.block(second);
  }

  at::Device device_;
  std::optional<c10::Stream> plan_;
};

}  // namespace paceline::runtime
