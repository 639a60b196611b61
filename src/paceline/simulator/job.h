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

/// An op of one step on one simulated rank; items of a rank follow each other in program order,
/// ranks follow each other.
using ItemId = std::uint32_t;
using TransferId = std::uint32_t;

enum class ItemKind : std::uint8_t { kForward, kBackward, kKernel, kCollective, kExchange };

struct Item {
  ItemKind kind{};
  std::uint32_t actor = 0;
  std::int32_t step = 0;
  plan::OpIndex op = 0;
  std::int32_t subject = 0;  // module, parameter, kernel shape
  std::int32_t priority = 0;
  std::int32_t queue = -1;           // of the actor's communicator; issue order
  std::int32_t waits = 0;            // items that must be done before
  std::int32_t transfers = 0;        // that it takes part in
  std::uint32_t first_transfer = 0;  // in Job::transfers_by_item
  std::uint32_t first_behind = 0;    // in Job::behind
  std::uint32_t number = 0;          // among the items of its queue
  std::int64_t bytes = 0;            // against the communicator's credit
};

inline bool is_model_work(const Item& item) {
  return item.kind == ItemKind::kForward || item.kind == ItemKind::kBackward;
}

inline bool communicates(const Item& item) {
  return item.kind == ItemKind::kCollective || item.kind == ItemKind::kExchange;
}

/// Kernels of one name that move as much are priced once.
struct KernelShape {
  std::string name;
  std::int64_t bytes = 0;    // read and written
  std::int64_t tensors = 0;  // parameters that it writes

  friend auto operator<=>(const KernelShape&, const KernelShape&) = default;
};

KernelShape shape_of(const plan::Kernel& kernel, const plan::Setup& setup);

/// Where a transfer loads a device link.  Under folding an end stands for the ends of several
/// ranks: `flows` of them at this device, `on_host` on the host.
struct DeviceEnd {
  std::uint32_t actor = 0;
  std::uint32_t host = 0;  // host class
  bool out = true;
  std::int64_t flows = 1, on_host = 1;
};

/// Where it loads the network: the card of a host carries `flows` such transfers at once, a card of
/// a single device `device_flows`, each over
/// `cards` of them; a medium that all share carries `all` of them.  Ends that
/// stand for the same card, or the same medium, as an earlier one are not the first of it.
struct NetworkEnd {
  std::uint32_t actor = 0;
  std::uint32_t host = 0;
  bool out = true;
  bool first_on_host = true, first_of_all = true;
  std::int64_t flows = 1, device_flows = 1, cards = 1, all = 1;
};

/// A collective of one communicator, or a message.
struct Transfer {
  std::uint32_t queue = 0;  // transfers of one queue may go one by one
  std::int32_t shape = 0;   // in Job::collective_shapes or message_shapes
  bool message = false;
  std::uint32_t first_item = 0;  // in Job::participants
  std::uint32_t items = 0;       // that must be issued before it starts
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
  std::uint32_t leader = 0;     // queue whose picks this one follows; or itself
  std::vector<ItemId> items{};  // in program order
};

/// A simulated rank, and the ranks for which it stands.
struct Actor {
  plan::Rank rank = 0;
  plan::Rank stands_for = 1;  // ranks, itself included
  plan::Rank on_host = 1;     // of these, on its host
  std::uint32_t host = 0;     // host class
  ItemId first = 0;
  std::vector<ItemId> steps{};  // first item of each step, then the end
  std::vector<std::uint32_t> queues{};
  bool trains = false;  // has model work
};

class RankPrograms;  // simulator/rank_program.h

struct JobOptions {
  plan::Step steps = 8;
  bool fold = true;
  /// Steps that are left out of means where steps never repeat; left out: the earlier half.
  std::optional<plan::Step> warmup{};

  friend bool operator==(const JobOptions&, const JobOptions&) = default;
};

/// Some steps of a plan, compiled for any number of simulations: dependencies, matched collectives
/// and messages, and the links that each transfer loads.  A job holds no cost, so that a fit varies
/// costs without planning again.
struct Job {
  plan::PlanInput input;  // that of rank 0
  JobOptions options;
  plan::Step period = 1;  // of the planner's variants, period_of()
  Classes classes;
  std::vector<Actor> actors;
  std::vector<Item> items;
  std::vector<ItemId> behind;  // what waits for an item
  std::vector<TransferId> transfers_by_item;
  std::vector<Transfer> transfers;
  std::vector<ItemId> participants;  // items of a transfer
  std::vector<DeviceEnd> device_ends;
  std::vector<NetworkEnd> network_ends;
  std::vector<cluster::CollectiveCall> collective_shapes;
  std::vector<MessageShape> message_shapes;
  std::vector<KernelShape> kernel_shapes;
  std::vector<QueueItems> queues;
  std::uint32_t transfer_queues = 0;
  std::int64_t wire_bytes = 0;  // a step of the actor that sends most
  std::int64_t calls = 0;
  std::shared_ptr<RankPrograms> programs;             // the plans, for describe()
  std::map<plan::Rank, std::uint32_t> actor_numbers;  // by simulated rank

  /// The number of the actor that stands for a rank.
  std::uint32_t actor_of(plan::Rank rank) const {
    return actor_numbers.at(classes.representative[static_cast<std::size_t>(rank)]);
  }

  /// What waits for the item.
  std::span<const ItemId> behind_of(ItemId item) const {
    const std::uint32_t first = items[item].first_behind;
    return std::span(behind).subspan(first, items[item + 1].first_behind - first);
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

/// "rank 1, step 0, op 12: all-reduce, ..."
std::string describe(const Job& job, ItemId item);

/// After how many steps the planner's variants repeat, from step 1 on (step 0 may differ: a Reducer
/// has not rebuilt its buckets yet).  Throws UsageError where that is more than kLongestPeriod.
plan::Step period_of(const plan::Planner& planner, const plan::PlanInput& input);
inline constexpr plan::Step kLongestPeriod = 2048;

/// Most items that a job may have, and messages.  One takes some 240 bytes where ranks meet in
/// collectives (measured: ResNet-50, an all-reduce per tensor, 32 unfolded ranks) and up to twice
/// that with messages: 2.4 to 5 GB in all, and minutes.
inline constexpr std::int64_t kMostItems = 10'000'000;

/// Plans `options.steps` steps of every simulated rank and derives their dependencies.  Throws
/// PlanError where ranks do not match, UsageError where input.local_world
/// holds fewer ranks than the world, or, before anything is planned but one step of a rank, where
/// there would be more than kMostItems, or messages.
Job compile(const plan::Planner& planner, const plan::PlanInput& input,
            const JobOptions& options = {});

/// Throws UsageError where the simulated ranks' steps would have more than kMostItems ops, or
/// messages.  Plans a step of rank 0, and where its ops are not too many one of each.
void check_size(RankPrograms& programs, const Classes& classes, const JobOptions& options);

}  // namespace paceline::simulator
