// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/collective_model.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/plan_input.h"
#include "paceline/simulator/classes.h"

namespace paceline::simulator {

/// The index of an op of one step on one simulated rank.  The items of a rank follow each other in
/// program order, and the ranks follow each other.
using ItemId = std::uint32_t;
using TransferId = std::uint32_t;

enum class ItemKind : std::uint8_t { kForward, kBackward, kKernel, kCollective, kExchange };

struct Item {
  ItemKind kind{};
  std::uint32_t actor = 0;
  std::int32_t step = 0;
  plan::OpIndex op = 0;
  std::int32_t subject = 0;  // index of the module, parameter or kernel shape
  std::int32_t priority = 0;
  std::int32_t queue = -1;     // index in Job::queues of its communicator's queue
  std::int32_t waits = 0;      // number of items that it waits for
  std::int32_t transfers = 0;  // number of transfers that it takes part in
  /// Index of the first of its transfers in Job::transfers_by_item.
  std::uint32_t first_transfer = 0;
  std::uint32_t first_dependent = 0;  // index of the first of its dependents in Job::dependents
  std::uint32_t number = 0;           // index among the items of its queue
  std::int64_t bytes = 0;             // bytes that count against the communicator's credit
};

inline bool is_model_work(const Item& item) {
  return item.kind == ItemKind::kForward || item.kind == ItemKind::kBackward;
}

inline bool communicates(const Item& item) {
  return item.kind == ItemKind::kCollective || item.kind == ItemKind::kExchange;
}

/// The name and size of a kernel; kernels of equal shape take equal time.
struct KernelShape {
  std::string name;
  std::int64_t bytes = 0;    // bytes read and written
  std::int64_t tensors = 0;  // number of parameters that it writes

  friend auto operator<=>(const KernelShape&, const KernelShape&) = default;
};

KernelShape shape_of(const plan::Kernel& kernel, const plan::Setup& setup);

/// One endpoint of a transfer on a device link.  If ranks are folded (simulator/classes.h), an
/// endpoint represents several equal transfers at once: `flows` of them cross the link if each
/// device has its own, and `count_on_host` of them if the devices of a host share one.
struct DeviceEnd {
  std::uint32_t actor = 0;
  std::uint32_t host = 0;  // class of the host
  bool out = true;
  std::int64_t flows = 1, count_on_host = 1;
};

/// One endpoint of a transfer on the network.  It represents `flows` equal transfers if a host has
/// one network card.  If each device has its own card, it represents `device_flows` transfers, each
/// of which is spread over `cards` cards.
struct NetworkEnd {
  std::uint32_t actor = 0;
  std::uint32_t host = 0;
  bool out = true;
  bool first_on_host = true;  // false: an earlier endpoint counts for the same card
  std::int64_t flows = 1, device_flows = 1, cards = 1;
};

/// A collective of one communicator or a message between two ranks, as the simulator performs it.
struct Transfer {
  std::uint32_t queue = 0;  // the transfers of one queue may have to run one by one
  std::int32_t shape = 0;   // index in Job::collective_shapes or message_shapes
  bool message = false;
  std::uint32_t first_item = 0;  // index of the first of its items in Job::participants
  std::uint32_t items = 0;       // number of items that must be issued before it starts
  std::uint32_t first_device_end = 0, device_ends = 0;
  std::uint32_t first_network_end = 0, network_ends = 0;
};

struct MessageShape {
  std::int64_t bytes = 0;
  bool remote = false;

  // NOLINTNEXTLINE(readability-implicit-bool-conversion): of the default
  friend auto operator<=>(const MessageShape&, const MessageShape&) = default;
};

/// The ops of one communicator on one simulated rank.
struct QueueItems {
  std::uint32_t actor = 0;
  plan::IssueOrder order = plan::IssueOrder::kProgram;
  std::int64_t credit = 0;
  std::uint32_t leader = 0;     // index of the queue whose order of issue it follows, or its own
  std::vector<ItemId> items{};  // the items of the queue, in program order
};

/// A simulated rank, with the number of ranks for which it stands.
struct Actor {
  plan::Rank rank = 0;
  plan::Rank represented_ranks = 1;  // number of ranks that the actor stands for, with its own
  plan::Rank count_on_host = 1;      // number of these ranks on the actor's host
  std::uint32_t host = 0;            // number of the host's class
  ItemId first = 0;
  /// Index of the first item of each step, and then the end of all items.
  std::vector<ItemId> steps{};
  std::vector<std::uint32_t> queues{};
  bool trains = false;  // whether its plan has forward and backward ops
};

class RankPrograms;  // simulator/rank_program.h

struct JobOptions {
  plan::Step steps = 8;
  bool fold = true;
  /// The number of initial steps that are left out of means if steps never repeat; nullopt: the
  /// first half of the steps.
  std::optional<plan::Step> warmup{};

  friend bool operator==(const JobOptions&, const JobOptions&) = default;
};

/// Some steps of all simulated ranks' plans, compiled for any number of simulations: dependencies,
/// matched collectives and messages, and the links that each transfer loads.  A job contains no
/// costs, so a fit can vary the costs without planning again.
struct Job {
  plan::PlanInput input;  // the input of rank 0
  JobOptions options;
  plan::Step period = 1;  // number of steps after which the planner's variants repeat, period_of()
  Classes classes;
  std::vector<Actor> actors;
  std::vector<Item> items;
  std::vector<ItemId> dependents;  // the items that wait for each item, item by item
  std::vector<TransferId> transfers_by_item;
  std::vector<Transfer> transfers;
  std::vector<ItemId> participants;  // the items of the transfers, transfer by transfer
  std::vector<DeviceEnd> device_ends;
  std::vector<NetworkEnd> network_ends;
  std::vector<cluster::CollectiveCall> collective_shapes;
  std::vector<MessageShape> message_shapes;
  std::vector<KernelShape> kernel_shapes;
  std::vector<QueueItems> queues;
  std::uint32_t transfer_queues = 0;
  std::int64_t wire_bytes = 0;  // bytes per step of the actor that sends most
  std::int64_t calls = 0;
  std::shared_ptr<RankPrograms> programs;             // the plans of the ranks, for describe()
  std::map<plan::Rank, std::uint32_t> actor_numbers;  // index in `actors` by simulated rank

  /// Returns the number of the actor that stands for a rank.
  std::uint32_t actor_of(plan::Rank rank) const {
    return actor_numbers.at(classes.representative[static_cast<std::size_t>(rank)]);
  }

  /// Returns the items that wait for `item`.
  std::span<const ItemId> dependents_of(ItemId item) const {
    const std::uint32_t first = items[item].first_dependent;
    return std::span(dependents).subspan(first, items[item + 1].first_dependent - first);
  }

  std::span<const TransferId> transfers_of(const Item& item) const {
    return std::span(transfers_by_item)
        .subspan(item.first_transfer, static_cast<std::size_t>(item.transfers));
  }

  std::span<const ItemId> items_of(const Transfer& transfer) const {
    return std::span(participants).subspan(transfer.first_item, transfer.items);
  }

  std::span<const DeviceEnd> device_ends_of(const Transfer& transfer) const {
    return std::span(device_ends).subspan(transfer.first_device_end, transfer.device_ends);
  }

  std::span<const NetworkEnd> network_ends_of(const Transfer& transfer) const {
    return std::span(network_ends).subspan(transfer.first_network_end, transfer.network_ends);
  }
};

/// Describes an item, as in "rank 1, step 0, op 12: all-reduce, ..."
std::string describe(const Job& job, ItemId item);

/// The number of steps after which the planner's variants repeat, from step 1 on (step 0 may
/// differ, because a Reducer has not rebuilt its buckets yet).  Throws UsageError if it is above
/// kLongestPeriod.
plan::Step period_of(const plan::Planner& planner, const plan::PlanInput& input);
inline constexpr plan::Step kLongestPeriod = 2048;

/// The largest number of items of a job, and also of messages.  An item takes about 240 bytes if
/// ranks communicate by collectives (measured: ResNet-50, an all-reduce per tensor, 32 unfolded
/// ranks), and up to twice that with messages.  The largest job takes 2.4 to 5 GB and some minutes.
inline constexpr std::int64_t kMostItems = 10'000'000;

/// Plans `options.steps` steps of every simulated rank and derives their dependencies.  Throws
/// PlanError if the plans of ranks do not match, and UsageError if input.local_world has fewer
/// ranks than the world or if the job would have more than kMostItems items or messages.  The size
/// is checked after planning only one step per rank.
Job compile(const plan::Planner& planner, const plan::PlanInput& input,
            const JobOptions& options = {});

}  // namespace paceline::simulator
