// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "paceline/plan/comm_plan.h"
#include "paceline/simulator/job.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::simulator {

/// The messages among simulated ranks, as transfers with their ends.
///
/// If one end of a message is at a folded rank, the representative of its class takes its place.
/// So several messages of one op may be one transfer: the messages of a server to each of its
/// equivalent workers all arrive at its one simulated worker.  The transfer then loads the server's
/// links once per message, and the worker's links once.
class Messages {
 public:
  struct Found {
    Transfer transfer;
    std::vector<ItemId> items;
    std::vector<DeviceEnd> device_ends;
    std::vector<NetworkEnd> network_ends;
  };

  Messages(RankPrograms& programs, Job& job) : programs_(programs), job_(job) {}

  /// All messages as transfers, in the order of their first sender.
  std::vector<Found> find();

 private:
  /// One entry in the sends or receives of an Exchange of a simulated rank.
  struct Slot {
    std::uint32_t actor = 0, item = 0, slot = 0;
    bool send = true;

    // NOLINTNEXTLINE(readability-implicit-bool-conversion): of the default
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };

  std::size_t node(const Slot& slot);
  std::size_t root(std::size_t node);
  /// Joins a slot with the peer's slot of the same message, which is the n-th between the two
  /// ranks.
  void join(const Slot& slot, const plan::Endpoints::Peer& peer, std::size_t n);
  Slot partner_of(const Slot& slot, const plan::Endpoints::Peer& peer, std::size_t n);
  const plan::Message& message_of(const Slot& slot);
  Found found(const std::vector<Slot>& slots);
  std::int64_t bytes_of(const Slot& slot);
  std::int32_t shape_of(const Slot& slot, const std::vector<Slot>& slots);
  std::uint32_t channel_of(const Slot& slot);
  void add_end(const Slot& slot, bool remote, Found& found) const;

  RankPrograms& programs_;
  Job& job_;
  std::map<Slot, std::size_t> nodes_;
  std::vector<std::size_t> parent_;
  std::map<MessageShape, std::int32_t> shapes_;
  std::map<std::tuple<std::size_t, std::uint32_t, plan::Rank>, std::uint32_t>
      channels_;  // keys: communicator, sender, receiver
};

}  // namespace paceline::simulator
