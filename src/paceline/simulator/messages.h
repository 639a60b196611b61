// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/simulator/job.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::simulator {

/// Finds the messages between simulated ranks, and makes transfers of them.
///
/// If the sender or the receiver of a message is not simulated, the representative of its class
/// takes its place.  So several messages of one op may become one transfer: the messages of a
/// server to each of its equivalent workers all arrive at the one simulated worker.  The transfer
/// then loads the server's links once per message, and the worker's links once.
class Messages {
 public:
  struct MatchedTransfer {
    Transfer transfer;
    std::set<ItemId> items;
    std::vector<DeviceEnd> device_ends;
    std::vector<NetworkEnd> network_ends;
  };

  Messages(RankPrograms& programs, Job& job) : programs_(programs), job_(job) {}

  /// All messages as transfers, in the order of their first sender.
  std::vector<MatchedTransfer> find();

 private:
  /// One entry in the sends or receives of an Exchange of a simulated rank.
  struct ExchangeMember {
    std::uint32_t actor = 0, item = 0, slot = 0;
    bool send = true;

    // NOLINTNEXTLINE(readability-implicit-bool-conversion): of the default
    friend auto operator<=>(const ExchangeMember&, const ExchangeMember&) = default;
  };

  std::size_t node(const ExchangeMember& slot);
  std::size_t root(std::size_t node);
  /// Joins an entry with the peer's entry of the same message, which is the n-th between the two
  /// ranks.
  void join(const ExchangeMember& slot, const plan::Endpoints::Peer& peer, std::size_t n);
  ExchangeMember partner_of(const ExchangeMember& slot, const plan::Endpoints::Peer& peer,
                            std::size_t n);
  const plan::Message& message_of(const ExchangeMember& slot);
  MatchedTransfer found(const std::vector<ExchangeMember>& slots);
  std::int64_t bytes_of(const ExchangeMember& slot);
  std::int32_t shape_of(const ExchangeMember& slot, const std::vector<ExchangeMember>& slots);
  std::uint32_t channel_of(const ExchangeMember& slot);
  void add_end(const ExchangeMember& slot, bool remote, MatchedTransfer& found) const;

  RankPrograms& programs_;
  Job& job_;
  std::map<ExchangeMember, std::size_t> nodes_;
  std::vector<std::size_t> parent_;
  std::map<MessageShape, std::int32_t> shapes_;
  std::map<std::tuple<std::size_t, std::uint32_t, plan::Rank>, std::uint32_t>
      channels_;  // keys: communicator, sender, receiver
};

}  // namespace paceline::simulator
