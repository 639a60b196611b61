// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "paceline/engines/engine_table.h"
#include "paceline/engines/ledger.h"
#include "paceline/engines/transfer_log.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/members.h"

namespace paceline::engines {

class Link;  // engines/link.h

/// One connected communicator of an engine. Only one thread at a time may call it, and every member
/// must make the same calls in the same order. Every tensor must be contiguous (else WorldError),
/// because Gloo silently corrupts strided tensors. The wait() of a returned work throws the
/// engine's own exception; engines/failure.h turns it into a sentence.
///
/// kMean is the engine's sum, divided once by the number of members in the tensor's type; for
/// integers it throws UsageError.
class Channel {
 public:
  virtual ~Channel() = default;

  virtual int rank() const = 0;
  virtual int world() const = 0;

  using Work = c10::intrusive_ptr<c10d::Work>;

  /// Reduces `values` in place over all members.
  virtual Work all_reduce(const at::Tensor& values, plan::Reduce reduce) = 0;
  /// `out` receives this rank's part of the reduced `in`: 1/P of its elements.
  virtual Work reduce_scatter(const at::Tensor& in, const at::Tensor& out, plan::Reduce reduce) = 0;
  virtual Work all_gather(const at::Tensor& in, const at::Tensor& out) = 0;
  virtual Work broadcast(const at::Tensor& values, int root) = 0;
  /// A message to or from member `peer`.  The messages from one member to another match by `tag`,
  /// from 0 to 2^20-1; messages with equal tags match in their order.
  struct Message {
    at::Tensor values;
    int peer = 0;
    int tag = 0;
  };
  /// Starts all messages together; all messages are done when all returned works are done.
  virtual std::vector<Work> exchange(const std::vector<Message>& sends,
                                     const std::vector<Message>& receives) = 0;
  virtual Work barrier() = 0;

  virtual Ledger ledger() const = 0;

  /// Sets the step of the plan to which later calls belong.
  virtual void set_step(plan::Step /*step*/) {}
  /// From now on also counts the operations of steps from `first` on in a second ledger, which
  /// counted() returns.
  virtual void count_from(plan::Step /*first*/) {}
  virtual Ledger counted() const { return {}; }

  /// From now on records the times of every all-reduce (see TransferLog).
  virtual void record_transfers() {}
  /// Returns the transfers that have ended since the last call.
  virtual std::vector<CollectiveSpan> take_transfers() { return {}; }

  /// Returns this communicator for PyTorch's own classes (c10d::Reducer), for tensors on the CPU
  /// and on the spec's device; its operations are booked in the same ledger.
  virtual c10::intrusive_ptr<c10d::ProcessGroup> process_group() = 0;
};

struct ChannelSpec {
  std::string name;  // unique within the job; prefixes the store's keys
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;                                // this rank's index among the members
  int world = 1;                               // number of members of the channel
  plan::Members members{};                     // ranks of the job; empty: its first `world`
  std::chrono::milliseconds timeout{180'000};  // limit for connecting with all other members
  /// Called several times a second while the engine connects and waits for the other members; an
  /// exception that it throws ends the wait.
  std::function<void()> idle{};
  /// The time after which the engine itself ends an operation and closes its connections.  It is
  /// long, because the runtime and the failure detector have deadlines of their own.
  std::chrono::milliseconds operation_timeout{30 * 60'000};
  std::string interface;  // network interface; empty: the engine's choice
  at::Device device{at::kCPU};
  /// Bytes of the largest operation that the channel will perform; 0: unknown.
  std::int64_t largest_operation = 0;
  /// Each operation lasts at least until this link would have delivered it; null: operations last
  /// as long as the engine takes. Only for tensors on the CPU.
  std::shared_ptr<Link> link{};
};

/// A library that moves bytes: Gloo, NCCL, MPI.  `engines()` lists the engines.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  /// Called on every rank of the job before the first `connect`, also on ranks that are in none of
  /// its groups; a second call does nothing.  Throws as `connect` does; `idle` is as in
  /// ChannelSpec.
  virtual void start(std::chrono::milliseconds /*timeout*/,
                     const std::function<void()>& /*idle*/ = {}) {}
  /// Connects a channel. All members must call it. Throws WorldError after `spec.timeout`.
  virtual std::unique_ptr<Channel> connect(const ChannelSpec& spec) = 0;
};

/// Throws UsageError if the name is not in the table (engines/engine_table.h) or the engine is not
/// in this build.
inline std::unique_ptr<Engine> make_engine(std::string_view name) {
  return find_engine(name).make();
}

}  // namespace paceline::engines
