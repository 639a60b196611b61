// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline::engines {

/// Threads that wait for works which have no other way to report their end: Gloo's reduce-scatter,
/// sends and receives have no future and cannot be polled.  There are as many threads as such works
/// were ever in flight at once.
///
/// Note [Leaving after an error]. A work in flight may wait for a rank that will never answer, and
/// no call ends this wait. So while a C++ exception is being propagated and the process is about to
/// end, no destructor joins a thread that waits for a work, and no backend is destroyed. The
/// threads and backends are left running until the process ends.
class Waiters {
 public:
  /// Blocks until a work is done; throws if the work failed.
  using Wait = std::function<void()>;
  /// Called on a waiter thread; the error is null if the work succeeded.
  using Done = std::function<void(const std::exception_ptr& error)>;

  /// Each thread calls `on_thread_start`, which may be empty, before its first wait; if it throws,
  /// its exception becomes the error of that work.
  explicit Waiters(std::function<void()> on_thread_start = {});
  /// Waits for the works in flight. While an exception is being propagated, it leaves these works
  /// running instead, so `wait` and `done` must own what they use.
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  /// Throws std::system_error, and calls neither function, if a thread is needed and cannot start.
  void watch(Wait wait, Done done);

 private:
  struct Watched {
    Wait wait;
    Done done;
  };
  // A queue outlives its Waiters if threads are left behind.
  struct Queue {
    std::function<void()> on_thread_start;
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Watched> waiting;
    std::size_t idle = 0;
    bool stop = false;
  };

  static void run(Queue& queue);

  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::vector<std::thread> threads_;
  int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace paceline::engines
