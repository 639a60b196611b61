// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "paceline/simulator/job.h"
#include "paceline/simulator/script.h"

namespace paceline::simulator {

/// Finds who meets whom, and adds a transfer for each collective and message
/// that the simulated ranks take part in.
///
/// The n-th collective of a communicator on one member meets the n-th on every
/// other, the n-th message from one rank to another the n-th received there.
/// What a rank meets that is not simulated, its class's representative does.
class Meetings {
 public:
  Meetings(Scripts& scripts, Job& job);

  void add();

 private:
  /// One class's part of a communicator, as one simulated rank sees it.
  struct Part {
    std::uint32_t actor = 0;
    plan::Rank member = 0;     // the first of the class
    std::int64_t members = 0;  // of the class
    std::int64_t on_host = 0;  // of the class on the first one's host
    std::int64_t local = 0;    // of any class on that host
  };
  struct Circle {
    cluster::Group group;
    std::vector<Part> parts;
    std::uint32_t queue = 0;
  };

  void add_collective(std::uint32_t actor, std::uint32_t item);
  void add_messages();
  const Circle& circle_of(std::uint32_t actor, plan::CommunicatorId on);
  void add_collective_ends(const Circle& circle);
  void follow_leaders();
  std::uint32_t queue_of(std::uint32_t actor, plan::CommunicatorId on) const;
  void finish();

  std::uint32_t actor_of(plan::Rank rank) const;
  std::int32_t host_of(plan::Rank rank) const;
  std::int32_t collective_shape(const cluster::CollectiveCall& call);
  std::uint32_t place_of(const std::vector<std::uint32_t>& list,
                         std::uint32_t item) const;
  [[noreturn]] void refuse(plan::Rank rank,
                           std::uint32_t item,
                           const char* why);

  Scripts& scripts_;
  Job& job_;
  std::map<plan::Rank, std::uint32_t> actor_of_;
  std::map<std::pair<std::uint32_t, plan::CommunicatorId>, Circle> circles_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TransferId> collectives_;
  std::vector<std::set<ItemId>> items_of_;           // by transfer
  std::vector<std::set<TransferId>> transfers_of_;   // by item
  std::vector<std::vector<DeviceEnd>> device_ends_;  // by transfer
  std::vector<std::vector<NetworkEnd>> network_ends_;
};

}  // namespace paceline::simulator
