// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "paceline/engines/mpi/progress.h"

namespace paceline::engines::mpi {

/// A group of ranks with separate messages and collectives.  The MPI communicator is freed with the
/// last operation that uses it.
class Communicator {
 public:
  Communicator(MPI_Comm handle, std::string name);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm handle() const { return handle_; }
  const std::string& name() const { return name_; }
  /// The largest tag that MPI allows for a message.
  int tag_bound() const { return tag_bound_; }

  /// Set by the first operation that failed; MPI cannot recover the communicator.
  std::atomic<bool> failed = false;

 private:
  MPI_Comm handle_;
  std::string name_;
  int tag_bound_;
};

/// MPI in this process.  One thread initializes MPI once, makes progress, and finalizes MPI on
/// `finish`.
class Process {
 public:
  /// The first call initializes MPI; all ranks of the job must make it.  Throws UsageError if MPI
  /// lacks thread support or there are too few cores, WorldError if the other ranks do not call
  /// within `timeout`.  `idle` is as in ChannelSpec.
  static Process& start(std::chrono::milliseconds timeout, const std::function<void()>& idle);

  static Process& instance();

  /// Finalizes MPI, together with all ranks, if MPI was initialized and nothing is in flight; gives
  /// up after 5 s.
  void finish();

  int rank() const { return rank_; }
  int world() const { return world_; }
  Progress& progress() { return progress_; }

  /// Connects `members`, ranks of the world that include this one, in the order of their ranks in
  /// the group.  All members must call it.
  std::shared_ptr<Communicator> connect(const std::vector<int>& members, const std::string& name,
                                        std::chrono::milliseconds timeout,
                                        const std::function<void()>& idle);

 private:
  Process() = default;
  void initialize_once(std::chrono::milliseconds timeout, const std::function<void()>& idle);
  void run_mpi_thread();
  void initialize();

  enum class State { kNew, kStarted, kFinalized };
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kNew;
  std::promise<void> ready_;  // set when MPI is initialized, or has failed
  std::shared_future<void> initialized_ = ready_.get_future().share();
  int rank_ = 0, world_ = 1;
  Progress progress_;
  std::thread thread_;
};

}  // namespace paceline::engines::mpi
