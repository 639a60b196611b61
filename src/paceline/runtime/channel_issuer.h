// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "paceline/engines/engine.h"
#include "paceline/engines/waiters.h"
#include "paceline/execution/issuer.h"
#include "paceline/execution/message_tags.h"
#include "paceline/plan/engine_traits.h"
#include "paceline/runtime/memory.h"

namespace paceline::runtime {

/// A rank's connections, by CommunicatorId; null where the rank is no member of the communicator.
struct Channels {
  std::vector<engines::Channel*> data;
  /// Only for communicators with IssueOrder::kPriority: a second connection of the same members,
  /// over which the first member announces which collective it issues next (its pick).
  std::vector<engines::Channel*> picks;
};

/// Starts collectives and exchanges on the channels of an engine and watches their works: by the
/// work's future where the work has one, else on a thread that waits.
///
/// On a device each communicator has its own stream; all communicators share one stream if the
/// engine needs one order of issue.  An op is enqueued once its works are in that stream.  Works
/// whose wait() blocks the host (Gloo copies to the host and back) are enqueued by threads that
/// wait.
class ChannelIssuer final : public execution::Issuer {
 public:
  /// `memory` and the channels must outlive the issuer; `device` is null on the CPU.
  ChannelIssuer(Channels channels, const FlatMemory& memory,
                std::shared_ptr<execution::Device> device, const plan::EngineTraits& engine);
  /// Waits for the works that have no future; the channels cannot be closed before these works end.
  /// While an exception is passing, the destructor leaves these works running instead.
  ~ChannelIssuer() override;

  /// From now on reports go to `listener`; null drops them.  Waits for reports that are under way,
  /// so that no report calls the former listener after this function has returned.
  void report_to(execution::IssueListener* listener);

  void open(plan::Step step, const plan::CommPlan& plan) override;
  void start(plan::OpRef ref, const plan::Op& op, const execution::Events& before) override;
  void send_pick(std::size_t on, execution::IssueQueue::Pick pick) override;
  void receive_pick(std::size_t on) override;

 private:
  class Reports;
  class CompletionCounter;

  using Works = std::vector<engines::Channel::Work>;

  engines::Channel& channel(plan::CommunicatorId on) const;
  int member(plan::CommunicatorId on, plan::Rank rank) const;
  engines::Channel::Work issue(const plan::Collective& collective) const;
  Works issue(const plan::Exchange& exchange, const execution::MessageTags::OpTags& tags) const;
  Works issue(plan::OpRef ref, const plan::Op& op);
  void watch(plan::OpRef ref, const Works& works);
  void watch_on_device(plan::OpRef ref, const Works& works, execution::Device::Stream stream);

  Channels channels_;
  const FlatMemory& memory_;
  std::shared_ptr<execution::Device> device_;
  bool orders_streams_;
  std::vector<execution::Device::Stream> streams_;  // by CommunicatorId
  std::mutex tags_mutex_;
  execution::MessageTags tags_;
  std::shared_ptr<Reports> reports_;
  engines::Waiters waiters_;
};

}  // namespace paceline::runtime
