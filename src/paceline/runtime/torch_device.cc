// SPDX-License-Identifier: Apache-2.0
#include "paceline/runtime/torch_device.h"

#include <mutex>
#include <utility>
#include <vector>

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace paceline::runtime {
namespace {

class TorchEvent final : public execution::Event {
 public:
  explicit TorchEvent(const c10::Stream& stream) : event_(stream.device_type()) {
    event_.record(stream);
  }

  bool is_done() const override { return event_.query(); }
  void block(const c10::Stream& stream) const { event_.block(stream); }

 private:
  c10::Event event_;
};

class TorchDevice final : public execution::Device {
 public:
  explicit TorchDevice(at::Device device) : device_(device), guard_(device.type()) {}

  void enter_thread() override { guard_.setDevice(device_); }

  Stream add_stream() override {
    const std::lock_guard lock(mutex_);
    streams_.push_back(guard_.getNewStream(device_));
    return static_cast<Stream>(streams_.size()) - 1;
  }

  void wait(Stream stream, const execution::Event& event) override {
    static_cast<const TorchEvent&>(event).block(at(stream));
  }

  void on(Stream stream, const std::function<void()>& put) override {
    const c10::StreamGuard current(at(stream));
    put();
  }

  execution::EventPtr record(Stream stream) override {
    return std::make_shared<const TorchEvent>(at(stream));
  }

 private:
  c10::Stream at(Stream stream) const {
    if (stream == kCompute) {
      return guard_.getStream(device_);
    }
    const std::lock_guard lock(mutex_);
    return streams_[static_cast<std::size_t>(stream)];
  }

  const at::Device device_;
  const c10::impl::VirtualGuardImpl guard_;
  mutable std::mutex mutex_;
  std::vector<c10::Stream> streams_;
};

}  // namespace

std::unique_ptr<execution::Device> make_device(at::Device device) {
  return device.is_cpu() ? nullptr : std::make_unique<TorchDevice>(device);
}

void synchronize(at::Device device) {
  if (!device.is_cpu()) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.synchronizeStream(guard.getStream(device));
  }
}

}  // namespace paceline::runtime
