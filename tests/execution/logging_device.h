// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "paceline/execution/device.h"

namespace paceline::testing {

/// An event of LoggingDevice, which the test ends.
struct CountedEvent final : execution::Event {
  explicit CountedEvent(int n) : number(n) {}
  bool is_done() const override { return done; }

  const int number;
  std::atomic<bool> done = false;
};

/// A device that does nothing and writes down what is put into its streams.
class LoggingDevice final : public execution::Device {
 public:
  void enter_thread() override {
    const std::lock_guard lock(mutex_);
    threads_.insert(std::this_thread::get_id());
  }
  Stream add_stream() override {
    const std::lock_guard lock(mutex_);
    return streams_++;
  }
  void wait(Stream stream, const execution::Event& event) override {
    note("stream " + std::to_string(stream) + " waits for event " +
         std::to_string(static_cast<const CountedEvent&>(event).number));
  }
  void on(Stream stream, const std::function<void()>& put) override {
    note("put into stream " + std::to_string(stream));
    put();
  }
  execution::EventPtr record(Stream stream) override {
    const std::lock_guard lock(mutex_);
    const int number = static_cast<int>(events_.size());
    log_.push_back("event " + std::to_string(number) + " in stream " + std::to_string(stream));
    events_.push_back(std::make_shared<CountedEvent>(number));
    events_.back()->done = all_done_;
    return events_.back();
  }

  std::vector<std::string> log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::shared_ptr<CountedEvent> event(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    return events_.at(number);
  }
  /// All events, those of later as well.
  void end_all() {
    const std::lock_guard lock(mutex_);
    all_done_ = true;
    for (const auto& event : events_) {
      event->done = true;
    }
  }
  std::size_t threads() const {
    const std::lock_guard lock(mutex_);
    return threads_.size();
  }

 private:
  void note(std::string text) {
    const std::lock_guard lock(mutex_);
    log_.push_back(std::move(text));
  }

  mutable std::mutex mutex_;
  Stream streams_ = 0;
  bool all_done_ = false;
  std::vector<std::string> log_;
  std::vector<std::shared_ptr<CountedEvent>> events_;
  std::set<std::thread::id> threads_;
};

}  // namespace paceline::testing
