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
/// Where one end of a message is a folded rank, its representative stands in for it.  So several
/// messages of one op may be one transfer: what a server sends to each of its equal workers is what
/// its one simulated worker receives.  The transfer then loads the server's links as often as it is
/// sent there, and the worker's once.
class Messages {
 public:
  struct Found {
    Transfer transfer;
    std::vector<ItemId> items;
    std::vector<DeviceEnd> device_ends;
    std::vector<NetworkEnd> network_ends;
  };

  Messages(RankPrograms& programs, Job& job) : programs_(programs), job_(job) {}

  /// All of them, in the order of who sends first.
  std::vector<Found> find();

 private:
  /// One place in the lists of an Exchange of a simulated rank.
  struct Slot {
    std::uint32_t actor = 0, item = 0, slot = 0;
    bool send = true;

    // NOLINTNEXTLINE(readability-implicit-bool-conversion): of the default
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };

  std::size_t node(const Slot& slot);
  std::size_t root(std::size_t node);
  /// A slot, with the peer's slot of the same message, the n-th between them.
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
      channels_;  // communicator, sender, receiver
};

}  // namespace paceline::simulator
