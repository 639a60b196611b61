// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/waiters.h"

#include <utility>

#include "paceline/base/scheduling.h"

namespace paceline::engines {

Waiters::Waiters(std::function<void()> on_thread_start) {
  queue_->on_thread_start = std::move(on_thread_start);
}

Waiters::~Waiters() {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->stop = true;
  }
  queue_->wake.notify_all();
  const bool leave = std::uncaught_exceptions() > exceptions_before_;
  for (std::thread& thread : threads_) {
    if (leave) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

void Waiters::watch(Wait wait, Done done) {
  {
    const std::lock_guard lock(queue_->mutex);
    if (queue_->waiting.size() >= queue_->idle) {
      threads_.emplace_back([queue = queue_] { run(*queue); });
    }
    queue_->waiting.push_back({std::move(wait), std::move(done)});
  }
  queue_->wake.notify_one();
}

void Waiters::run(Queue& queue) {
  const ScopedScheduling of_this_thread(Scheduling::kShortSlice);
  bool started = !queue.on_thread_start;
  std::unique_lock lock(queue.mutex);
  while (true) {
    ++queue.idle;
    queue.wake.wait(lock, [&] { return queue.stop || !queue.waiting.empty(); });
    --queue.idle;
    if (queue.waiting.empty()) {
      return;
    }
    {
      // `next` must be destroyed without the lock: it may hold the last reference to a work.
      const Watched next = std::move(queue.waiting.front());
      queue.waiting.pop_front();
      lock.unlock();
      std::exception_ptr error;
      try {
        if (!started) {
          queue.on_thread_start();
          started = true;
        }
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
