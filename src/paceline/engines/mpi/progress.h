// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include <mpi.h>

namespace paceline::engines::mpi {

/// MPI requests in flight that end together.
struct Operation {
  std::vector<MPI_Request> requests;
  std::string what;                   // "all-reduce, 400 B, on 'all'"
  std::chrono::milliseconds limit{};  // after `begun` it has failed
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  /// Set once what the operation belongs to, a communicator, has failed.
  const std::atomic<bool>* failed = nullptr;
  /// Called once, by the thread that saw the end; throws nothing.  What it holds lives as long as
  /// MPI may use it.
  std::function<void(const std::exception_ptr& error)> done{};
};

/// How long a thread sleeps between two looks at requests: not at all at first, then longer and
/// longer, 50 us at most.
class Backoff {
 public:
  void wait();
  void reset() { looks_ = 0; }

 private:
  int looks_ = 0;
};

/// The requests of this process.  MPI makes progress only inside its calls, so one thread runs
/// `run`, which tests all of them again and again; a thread that waits for one helps by `poll`.
/// All methods from any thread.
class Progress {
 public:
  /// An operation of what has failed ends at once, with `after_failure`.
  void add(Operation operation);

  /// Tests every operation once and reports those that ended, or whose limit has passed; false
  /// where none did, or another thread is testing.
  ///
  /// MPI cannot withdraw a collective, so what an operation past its limit holds is kept until the
  /// process ends.
  bool poll();

  /// Ends all operations with the flag `failed`, which is set, with `error`.
  void abort(const std::atomic<bool>& failed, const std::exception_ptr& error);

  /// Polls until `stop`; sleeps without a timer while nothing is in flight.
  void run();
  void stop();

  /// Whether MPI still uses, or may still use, memory of an operation.
  bool holds_memory() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Operation> flying_;
  std::list<Operation> abandoned_;
  bool stop_ = false;
};

/// The error of operation `what` on a communicator that has failed.
std::exception_ptr after_failure(const std::string& what);

/// Throws where an MPI call has failed: "connection to a peer lost (MPI: ...)".
void check(int result, const std::string& what);

}  // namespace paceline::engines::mpi
