// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "paceline/execution/issuer.h"

namespace paceline::testing {

/// Starts nothing, and says what it was asked for.  Tests end the ops.
class FakeIssuer : public execution::Issuer {
 public:
  void start(plan::OpRef ref, const plan::Op& /*op*/, const execution::Events& before) override {
    if (started.size() == most_starts) {
      throw std::runtime_error("no more");
    }
    started.push_back(ref);
    if (on_start) {
      on_start(ref, before);
    }
  }
  void send_pick(std::size_t /*on*/, execution::IssueQueue::Pick pick) override {
    picks_sent.push_back(pick);
  }
  void receive_pick(std::size_t /*on*/) override { ++picks_asked; }

  std::vector<plan::OpRef> started;
  std::size_t most_starts = 1'000'000;
  std::function<void(plan::OpRef, const execution::Events& before)> on_start;
  std::vector<execution::IssueQueue::Pick> picks_sent;
  int picks_asked = 0;
};

/// A thread that is given jobs and does them in a random order.
class RandomOrderThread {
 public:
  explicit RandomOrderThread(std::uint32_t seed) : random_(seed), thread_([this] { run(); }) {}
  ~RandomOrderThread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  RandomOrderThread(const RandomOrderThread&) = delete;
  RandomOrderThread& operator=(const RandomOrderThread&) = delete;

  void add(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) {
        return;
      }
      std::swap(jobs_[random_() % jobs_.size()], jobs_.back());
      const auto job = std::move(jobs_.back());
      jobs_.pop_back();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace paceline::testing
