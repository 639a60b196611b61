// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "execution/fake_issuer.h"
#include "paceline/plan/access.h"
#include "paceline/plan/plan_world.h"
#include "plan/toy_math.h"

namespace paceline::testing {

/// The toy memory of all ranks, from any thread.  A read of what is written at the same time is
/// seen by the values, not by the thread sanitizer.
class SharedMemory {
 public:
  explicit SharedMemory(const plan::PlanWorld& world) : memory_(world) {}

  plan::Values read(plan::Rank rank, const plan::Slice& slice) const {
    const std::lock_guard lock(mutex_);
    return memory_.read(rank, slice);
  }
  void write(plan::Rank rank, const plan::Slice& slice, const plan::Values& values) {
    const std::lock_guard lock(mutex_);
    memory_.write(rank, slice, values);
  }
  void poison(plan::Rank rank, const plan::Slice& slice) {
    const std::lock_guard lock(mutex_);
    memory_.poison(rank, slice);
  }
  const plan::ToyMemory& whole() const { return memory_; }

 private:
  mutable std::mutex mutex_;
  plan::ToyMemory memory_;
};

/// An engine between ranks that are threads.
///
/// It matches as engines do: collectives of a communicator by the order in which each member issues
/// them, messages by their tags.  Data moves at random moments and in a random order.  It is read
/// when the op starts or only when it moves, and what it replaces holds NaN meanwhile.  So results
/// are right only if every op waits for what it depends on.
class ToyNetwork {
 public:
  using Done = std::function<void()>;
  using Picked = std::function<void(execution::IssueQueue::Pick)>;

  /// Both must outlive it.
  ToyNetwork(const plan::PlanWorld& world, SharedMemory& memory, std::uint32_t seed)
      : world_(world), memory_(memory), random_(seed), engine_(seed) {}

  /// The number of the member's next collective.
  std::size_t take_turn(plan::Rank rank, plan::CommunicatorId on) {
    const std::lock_guard lock(mutex_);
    return issued_[{on, rank}]++;
  }

  void start(plan::Rank rank, const plan::Collective& work, std::size_t number, Done done) {
    const std::lock_guard lock(mutex_);
    const plan::Communicator& on = world_.communicator(rank, work.on);
    Parts& parts = collectives_[{work.on, on.members[0], number}];
    parts[*on.members.index_of_rank(rank)] = {&work, input(rank, work.in, {work.out}),
                                              std::move(done)};
    if (parts.size() == on.members.size()) {
      engine_.add([this, &on, &parts] { move(on, parts); });
    }
  }

  /// One end of a message.
  void start(bool sends, plan::CommunicatorId on, plan::Rank from, plan::Rank to, int tag,
             const plan::Slice& slice, Done done) {
    const std::lock_guard lock(mutex_);
    Letter& letter = letters_[{on, from, to, tag}];
    if (sends) {
      letter.sent = input(from, slice, {});
    } else {
      memory_.poison(to, slice);
      letter.to = slice;
    }
    letter.done.push_back(std::move(done));
    if (letter.sent && letter.to) {
      engine_.add([this, to, letter = std::exchange(letter, {})] {
        memory_.write(to, *letter.to, values_of(*letter.sent));
        for (const Done& end : letter.done) {
          end();
        }
      });
    }
  }

  void pick(plan::CommunicatorId on, plan::Rank leader, execution::IssueQueue::Pick pick) {
    const std::lock_guard lock(mutex_);
    picks_[{on, leader}].push_back(pick);
    hand_out(on, leader);
  }
  /// The n-th call of a member gets the leader's n-th pick.
  void ask(plan::CommunicatorId on, plan::Rank rank, Picked picked) {
    const std::lock_guard lock(mutex_);
    const plan::Rank leader = world_.communicator(rank, on).members[0];
    asks_[{on, leader}].push_back({asked_[{on, rank}]++, std::move(picked)});
    hand_out(on, leader);
  }

 private:
  struct Input {
    plan::Rank rank = 0;
    plan::Slice slice;
    std::optional<plan::Values> early;  // read when the op started
  };
  struct Part {
    const plan::Collective* work = nullptr;
    Input in;
    Done done;
  };
  using Parts = std::map<std::size_t, Part>;  // by member
  struct Letter {
    std::optional<Input> sent;
    std::optional<plan::Slice> to;
    std::vector<Done> done;
  };
  struct Ask {
    std::size_t number = 0;
    Picked picked;
  };
  using Group = std::pair<plan::CommunicatorId, plan::Rank>;

  Input input(plan::Rank rank, const plan::Slice& in, const std::vector<plan::Slice>& outs) {
    Input made{rank, in, std::nullopt};
    if (random_() % 2 == 0) {
      made.early = memory_.read(rank, in);
    }
    for (const plan::Slice& out : outs) {
      if (made.early || !plan::overlap(in, out)) {
        memory_.poison(rank, out);
      }
    }
    return made;
  }
  plan::Values values_of(const Input& in) const {
    return in.early ? *in.early : memory_.read(in.rank, in.slice);
  }

  void move(const plan::Communicator& on, const Parts& parts) {
    std::vector<const plan::Collective*> works;
    std::vector<plan::Values> inputs;
    for (const auto& [member, part] : parts) {
      works.push_back(part.work);
      inputs.push_back(values_of(part.in));
    }
    const auto out = plan::toy_collective(on, works, inputs);
    for (const auto& [member, part] : parts) {
      memory_.write(part.in.rank, part.work->out, out[member]);
      part.done();
    }
  }

  void hand_out(plan::CommunicatorId on, plan::Rank leader) {
    const auto& picks = picks_[{on, leader}];
    std::erase_if(asks_[{on, leader}], [&](const Ask& ask) {
      if (ask.number >= picks.size()) {
        return false;
      }
      engine_.add([picked = ask.picked, pick = picks[ask.number]] { picked(pick); });
      return true;
    });
  }

  const plan::PlanWorld& world_;
  SharedMemory& memory_;
  std::mutex mutex_;  // guards what follows, but not the engine
  std::mt19937 random_;
  std::map<Group, std::size_t> issued_, asked_;  // by rank
  std::map<std::tuple<plan::CommunicatorId, plan::Rank, std::size_t>, Parts>
      collectives_;  // by first member
  std::map<std::tuple<plan::CommunicatorId, plan::Rank, plan::Rank, int>, Letter> letters_;
  std::map<Group, std::vector<execution::IssueQueue::Pick>> picks_;  // by leader
  std::map<Group, std::vector<Ask>> asks_;                           // by leader
  RandomOrderThread engine_;
};

}  // namespace paceline::testing
