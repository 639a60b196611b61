// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "paceline/engines/engine.h"
#include "paceline/engines/waiters.h"
#include "paceline/execution/issuer.h"
#include "paceline/execution/message_tags.h"
#include "paceline/runtime/memory.h"
#include "paceline/runtime/streams.h"

namespace paceline::runtime {

/// The connections of a rank, by CommunicatorId; null where it is no member.
struct Channels {
  std::vector<engines::Channel*> data;
  /// Where the order is kPriority: the same members, over which the first one
  /// sends its picks.
  std::vector<engines::Channel*> picks;
};

/// Starts collectives and exchanges on the channels of an engine and watches
/// their works: by the work's future where it has one, else on a thread that
/// waits.
class ChannelIssuer final : public execution::Issuer {
 public:
  /// `memory`, `streams` and the channels must outlive it.
  ChannelIssuer(Channels channels,
                const FlatMemory& memory,
                const Streams& streams);
  /// Ends after the works that can only be waited for, before which the
  /// channels could not be closed either; where an exception is passing it
  /// leaves them.
  ~ChannelIssuer() override;

  /// From now on reports go to `listener`; null: nowhere.
  void report_to(execution::IssueListener* listener);

  void open(plan::Step step, const plan::CommPlan& plan) override {
    tags_.open(step, plan);
  }
  Watch start(plan::OpRef ref, const plan::Op& op) override;
  bool is_asynchronous() const override { return streams_.asynchronous(); }
  void send_pick(std::size_t on, plan::OpRef pick) override;
  void receive_pick(std::size_t on) override;

 private:
  struct Reports;

  using Works = std::vector<engines::Channel::Work>;

  engines::Channel& channel(plan::CommunicatorId on) const;
  int member(plan::CommunicatorId on, plan::Rank rank) const;
  engines::Channel::Work issue(const plan::Collective& collective) const;
  Works issue(const plan::Exchange& exchange,
              const execution::MessageTags::OfOp& tags) const;
  void watch(plan::OpRef ref, const Works& works);
  void watch(const engines::Channel::Work& work, engines::Waiters::Done done);

  Channels channels_;
  const FlatMemory& memory_;
  const Streams& streams_;
  execution::MessageTags tags_;
  std::shared_ptr<Reports> reports_;
  engines::Waiters waiters_;
};

}  // namespace paceline::runtime
