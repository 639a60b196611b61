// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <torch/extension.h>

#include "paceline/base/error.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"
#include "paceline/engines/run_rank.h"
#include "paceline/rank/trainer.h"

namespace paceline::extension {

/// This process as a rank of a job whose ranks are the user's Python processes.
class Job {
 public:
  struct Options {
    std::string engine;      // gloo, nccl, mpi
    double timeout_s = 600;  // of waits for other ranks
    std::string interface;   // network interface; empty: the engine's choice
    std::string rendezvous;  // HOST:PORT or file:PATH; empty: the launcher's
  };
  explicit Job(const Options& options);

  int rank() const { return world().self.rank; }
  int size() const { return world().self.world; }
  const engines::World& world() const { return joined_->world(); }
  engines::Engine& engine() { return *engine_; }
  launch::Heartbeat& heartbeat() { return joined_->heartbeat(); }
  std::chrono::milliseconds timeout() const { return timeout_; }
  const std::string& interface() const { return interface_; }

  /// Makes a group of all ranks.  The n-th call makes the same group on every rank.
  rank::RankGroup make_group(at::Device device);

  /// A communicator of all ranks, for tensors of `device`; connected by the first call.
  engines::Channel& channel(at::Device device);
  engines::PeerWait peers(at::Device device);

  /// Runs `call` without Python's lock.  If another rank or the engine fails, ends the process with
  /// one sentence, which names the rank that failed first.
  template <class Call>
  auto without_gil(Call&& call) {
    const py::gil_scoped_release released;
    try {
      return std::forward<Call>(call)();
    } catch (const WorldError& error) {
      if (joined_->is_watched()) {
        end(error);
      }
      throw;
    }
  }

  /// Ends the process, and with it the job, because the user's code raised an exception. Prints
  /// `traceback` if this is the job's first failure. Returns if there are no other ranks.
  void fail(const std::string& what, const std::string& traceback);

  [[noreturn]] void end(const std::exception& error);

  /// Ends this rank's part of the job after its work is done.  No other function may be called
  /// afterwards.
  void leave();

 private:
  const std::chrono::milliseconds timeout_;
  const std::string interface_;
  std::string traceback_;
  std::unique_ptr<engines::Engine> engine_;
  std::unique_ptr<engines::JoinedRank> joined_;
  std::unique_ptr<engines::Channel> channel_;
  at::Device channel_device_{at::kCPU};
  int groups_ = 0;
};

}  // namespace paceline::extension
