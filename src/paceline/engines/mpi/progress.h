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

/// MPI requests in flight that together form one operation.
struct Operation {
  std::vector<MPI_Request> requests;
  std::string what;                   // name for messages, such as "all-reduce, 400 B, on 'all'"
  std::chrono::milliseconds limit{};  // an operation that lasts longer has failed
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  /// Set once the communicator to which the operation belongs has failed.
  const std::atomic<bool>* failed = nullptr;
  /// Called once, by the thread that saw the end; must not throw.  The objects that it holds live
  /// as long as MPI may use them.
  std::function<void(const std::exception_ptr& error)> done{};
};

/// The sleep of a thread between two tests of MPI requests: none at first, then increasing to at
/// most 50 us.
class Backoff {
 public:
  void wait();
  void reset() { idle_tests_ = 0; }

 private:
  int idle_tests_ = 0;
};

/// The requests of this process.  MPI makes progress only inside its calls, so one thread runs
/// `run`, which tests all requests again and again; a thread that waits for a request helps by
/// `poll`.  Any thread may call any method.
class Progress {
 public:
  /// Adds an operation.  If its communicator has failed, the operation ends at once, with
  /// `failed_communicator_error`.
  void add(Operation operation);

  /// Tests every operation once and reports those that ended or whose limit has passed.  Returns
  /// false if there were none, or another thread is testing.
  ///
  /// MPI cannot withdraw a collective, so the objects that an operation past its limit holds are
  /// kept until the process ends.
  bool poll();

  /// Ends, with `error`, all operations whose Operation::failed is `failed`.  The flag must be set.
  void abort(const std::atomic<bool>& failed, const std::exception_ptr& error);

  /// Polls until `stop`; while nothing is in flight, sleeps until it is woken.
  void run();
  void stop();

  /// Whether MPI still uses, or may still use, memory of an operation.
  bool holds_memory() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Operation> in_flight_;
  std::list<Operation> abandoned_;
  bool stop_ = false;
};

/// Returns the error of operation `what` on a communicator that has failed.
std::exception_ptr failed_communicator_error(const std::string& what);

/// Throws "connection to a peer lost (MPI: ...)" if an MPI call has failed.
void check(int result, const std::string& what);

}  // namespace paceline::engines::mpi
