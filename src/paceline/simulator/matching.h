// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "paceline/simulator/job.h"
#include "paceline/simulator/messages.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::simulator {

/// Finds the ops of different ranks that belong to one collective or message (plan/matching.h), and
/// adds one transfer for each collective or message of a simulated rank.  The representative of its
/// class takes part in place of a rank that is not simulated.
class Matching {
 public:
  Matching(RankPrograms& programs, Job& job);

  void add();

 private:
  /// The members of a communicator that belong to one class, as one simulated rank sees them.
  struct MemberClass {
    std::uint32_t actor = 0;
    plan::Rank member = 0;           // the first member of the class
    std::int64_t count_on_host = 0;  // number of its members on the host of `member`
    std::int64_t local = 0;          // number of members of any class on that host
  };
  struct MatchedGroup {
    cluster::Group group;
    std::vector<MemberClass> parts;
    std::uint32_t queue = 0;
  };

  void add_collective(std::uint32_t actor, std::uint32_t item, std::size_t n);
  const MatchedGroup& group_of(std::uint32_t actor, plan::CommunicatorId on);
  void add_collective_ends(const MatchedGroup& matched, Messages::MatchedTransfer& found) const;
  void set_queue_leaders();
  std::uint32_t queue_of(std::uint32_t actor, plan::CommunicatorId on) const;
  void put(const Messages::MatchedTransfer& found);
  void index_transfers();

  std::int32_t host_of(plan::Rank rank) const;
  std::int32_t collective_shape(const cluster::CollectiveCall& call);
  [[noreturn]] void reject(plan::Rank rank, std::uint32_t item, const char* why);

  RankPrograms& programs_;
  Job& job_;
  std::map<std::pair<std::uint32_t, plan::CommunicatorId>, MatchedGroup> groups_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TransferId> collectives_;
  std::vector<std::vector<TransferId>> transfers_of_;  // by item
};

}  // namespace paceline::simulator
