// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/waiters.h"

#include <utility>

namespace paceline::engines {

Waiters::~Waiters() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Waiters::watch(Wait wait, Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(wait), std::move(done)});
    if (waiting_.size() > idle_) {
      threads_.emplace_back([this] { run(); });
    }
  }
  wake_.notify_one();
}

void Waiters::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) {
      return;
    }
    {
      // Ends unlocked: what it holds may be the last to hold a work.
      const Watched next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      std::exception_ptr error;
      try {
        next.wait();
      } catch (...) {
        error = std::current_exception();
      }
      next.done(error);
    }
    lock.lock();
  }
}

}  // namespace paceline::engines
