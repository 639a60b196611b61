// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace paceline::execution {

/// A point in the work of a stream, as a CUDA event.
class Event {
 public:
  virtual ~Event() = default;
  /// Whether the device has done all work of the stream before this event.  May be called on any
  /// thread; throws if the device has failed.
  virtual bool is_done() const = 0;
};
using EventPtr = std::shared_ptr<const Event>;
using Events = std::vector<EventPtr>;

/// A device that runs asynchronously to the host, as a GPU does: the host puts work into streams
/// and goes on.  A stream does its work in order; streams run concurrently.  No call waits for the
/// device, and any thread may call.
class Device {
 public:
  using Stream = std::int32_t;
  /// Denotes the current stream of the calling thread.
  static constexpr Stream kCompute = -1;

  virtual ~Device() = default;

  /// Makes the calling thread use this device from now on.
  virtual void enter_thread() = 0;

  /// Returns a new stream, which no other caller gets; it lives as long as the device.
  virtual Stream add_stream() = 0;

  /// Makes later work in `stream` run after `event`.
  virtual void wait(Stream stream, const Event& event) = 0;

  /// Calls `put` on this thread; the work that `put` enqueues goes into `stream`.
  virtual void on(Stream stream, const std::function<void()>& put) = 0;

  /// Returns an event after all work that is in `stream` now.
  virtual EventPtr record(Stream stream) = 0;
};

/// Makes later work in `stream` run after all of `events`.
inline void wait_all(Device& device, Device::Stream stream, const Events& events) {
  for (const EventPtr& event : events) {
    device.wait(stream, *event);
  }
}

}  // namespace paceline::execution
