// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/serving.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr auto kServerPushCommunicator = "push";
constexpr auto kServerPullCommunicator = "pull";
constexpr auto kInboxBuffer = "inbox";

/// Workers push their slices to servers, partition by partition.  The server of a partition sums
/// the pushes of all workers, and the workers pull the sum.
///
///   rounds per exchange        2
///   bytes sent, rank           apart: worker S, server W s S; colocated:
///                              (1 - s) S + (W - 1) s S; W workers, servers that
///                              hold a share s of the slice
///   extra memory, server       of the model W s S apart, (W - 1) s S
///                              colocated; 1/L of it with local=L
///   guarantee                  exact: every worker has the same sum
///
/// placement=apart makes the last ranks servers without model work; placement=colocated makes the
/// first ranks servers in addition to their model work; each sums its own shard in place.
/// assign=round-robin assigns the partitions in turn.  assign=hash uses the hash of BytePS: djb2 of
/// the decimal key modulo the servers, key = index of the bucket among the sorted names * 2^16 +
/// number of the partition.  assign=size assigns the largest partition first and gives each to the
/// server that has the fewest bytes (Graham, SIAM J. Appl. Math. 1969): no server has more than 4/3
/// of the bytes of the fullest server in the best assignment.  local=L lets the L ranks of a host
/// first sum a partition among themselves: each pushes and pulls its shard, and then the host
/// gathers, as in BytePS; each host exchanges S bytes with other hosts.  With only one such host,
/// nothing is pushed.  Li et al., OSDI 2014 (parameter server); Jiang et al. (BytePS), OSDI 2020.
class ParameterServer final : public ExchangeRule {
 public:
  explicit ParameterServer(ServingOptions serving) : serving_(std::move(serving)) {}

  /// Only hosts of workers without servers are symmetric, because servers hold different
  /// partitions.
  ExchangeTraits traits(const PlanInput& input) const override {
    const ServerRoles roles = roles_of(serving_, input);
    return {.shards = roles.hosts.local,
            .divisor = static_cast<double>(roles.workers),
            .training_ranks = roles.workers,
            .symmetry = roles.pure_worker_symmetry(),
            .hosts = serving_.local == 1 ? 0 : roles.hosts.count};
  }

  /// A codec whose forms must be merged needs the forms of all workers at the server. If hosts sum
  /// first, the server receives only sums of hosts and cannot merge.
  bool combines(Combination how) const override {
    return how == Combination::kSum || (how == Combination::kMerge && serving_.local == 1);
  }

  void extend_setup(const WireFormat& format, SetupBuilder& builder) const override {
    const PlanInput& input = builder.input();
    const ServerRoles roles = roles_of(serving_, input);
    Program program(input, builder.setup(), {.buckets = builder.buckets()});
    Elements own = 0;
    for (const Partition& part : all_partitions(serving_, program)) {
      own += roles.needs_push() && part.owner == input.rank ? part.count : 0;
    }
    builder.add_buffer({.name = kInboxBuffer,
                        .dtype = format.type,
                        .elements = own * roles.copies() / format.packed});
    add_host_communicators(roles.hosts, builder);
    builder.add_world_communicator(kServerPushCommunicator);
    // With this order, a slow server does not delay the partitions of other servers.
    builder.add_as_ready_communicator(kServerPullCommunicator);
  }

  void start(const WireSlice& wire_slice, Program& program) const override {
    const Rank me = program.input().rank;
    const ServerRoles roles = roles_of(serving_, program.input());
    const auto push = communicator_named(program.setup(), kServerPushCommunicator);
    const OpIndex first = program.size();
    for (const Partition& part : partitions_of(serving_, wire_slice.of, program)) {
      sum_on_host(wire_slice_of(part, wire_slice), roles, program);
      for (const PartitionShard& piece : pieces_of(part, roles)) {
        const Slice wire = wire_slice_of(piece, wire_slice);
        if (part.owner == me) {
          receive_and_combine(wire_slice.format, piece, wire, roles, program);
        } else if (sends(piece, roles, program)) {
          program.exchange(push, {{part.owner, wire}}, {});
        }
      }
    }
    wait_for_whole_bucket(wire_slice.of, first, program);
  }

  void finish(const WireSlice& wire_slice, Program& program) const override {
    const Rank me = program.input().rank;
    const ServerRoles roles = roles_of(serving_, program.input());
    const auto pull = communicator_named(program.setup(), kServerPullCommunicator);
    for (const Partition& part : partitions_of(serving_, wire_slice.of, program)) {
      for (const PartitionShard& piece : pieces_of(part, roles)) {
        const Slice wire = wire_slice_of(piece, wire_slice);
        if (part.owner == me) {
          program.exchange(pull, messages_to_workers(wire, piece, roles, me), {});
        } else if (sends(piece, roles, program)) {
          program.exchange(pull, {}, {{part.owner, wire}});
        }
      }
      if (program.trains()) {
        gather_on_host(roles.hosts, wire_slice_of(part, wire_slice), program);
      }
    }
  }

  /// Every worker's network card sends and receives the slice once.  The servers' cards carry no
  /// more if there are as many servers as workers and their shares are equal.
  Picoseconds time(const PlanInput& input, std::int64_t bytes) const override {
    return 2 * input.alpha_beta->message_time(bytes);
  }

 private:
  /// Makes the ops from `first` on wait for the last gradient of the slice's bucket, so that no
  /// partition of a bucket is sent before all its gradients are final.
  static void wait_for_whole_bucket(const Slice& slice, OpIndex first, Program& program) {
    const Bucket& bucket = program.buckets()[program.bucket_at(slice.begin)];
    const auto last = program.last_backward(bucket);
    for (OpIndex op = first; last && op < program.size(); ++op) {
      const Op& it = program.at(op);
      const auto* exchange = std::get_if<Exchange>(&it.work);
      if (std::holds_alternative<Collective>(it.work) ||
          (exchange != nullptr && !exchange->sends.empty())) {
        program.after(op, *last);
      }
    }
  }

  /// Whether this rank is the worker of its host that pushes and pulls the piece.
  static bool sends(const PartitionShard& piece, const ServerRoles& roles, const Program& program) {
    return program.trains() && roles.hosts.local_rank_of(program.input().rank) == piece.place;
  }

  static void sum_on_host(const Slice& wire, const ServerRoles& roles, Program& program) {
    if (program.trains() && roles.hosts.local > 1) {
      program.reduce_scatter(wire, shard_on_host(roles.hosts, wire, program),
                             reduce_scatter_communicator(roles.hosts, program));
    }
  }
  /// The wire slice of `part`, which is a partition or a piece of one.
  static Slice wire_slice_of(const auto& part, const WireSlice& wire_slice) {
    const Elements packed = wire_slice.format.packed;
    return {wire_slice.mine.buffer,
            wire_slice.mine.begin + (part.begin - wire_slice.of.begin) / packed,
            part.count / packed};
  }

  /// Returns the messages by which a server sends the sum to the workers that pull it.
  static std::vector<Message> messages_to_workers(const Slice& wire, const PartitionShard& piece,
                                                  const ServerRoles& roles, Rank server) {
    std::vector<Message> sends;
    for (const Rank worker : roles.hosts.ranks_with_local_rank(piece.place)) {
      if (worker != server) {
        sends.push_back({worker, wire});
      }
    }
    return sends;
  }

  /// Appends the server's half of a push: the sum, or the codec's merge of all parts, replaces the
  /// contents of `wire`.
  static void receive_and_combine(const WireFormat& format, const PartitionShard& piece,
                                  const Slice& wire, const ServerRoles& roles, Program& program) {
    const BufferId inbox = buffer_named(program.setup(), kInboxBuffer);
    std::vector<Message> receives;
    std::vector<Access> reads;
    if (sends(piece, roles, program)) {
      reads.push_back({wire});
    }
    Elements at = piece.inbox / format.packed;
    for (const Rank worker : roles.hosts.ranks_with_local_rank(piece.place)) {
      if (worker != program.input().rank) {
        receives.push_back({worker, {inbox, at, wire.count}});
        reads.push_back({receives.back().slice});
        at += wire.count;
      }
    }
    program.exchange(communicator_named(program.setup(), kServerPushCommunicator), {},
                     std::move(receives));
    if (format.combination == Combination::kMerge) {
      program.kernel(format.merge, std::move(reads), {{wire}});
      return;
    }
    const std::vector<double> ones(reads.size(), 1.0);
    program.kernel("linear", std::move(reads), {{wire}}, ones);
  }

  ServingOptions serving_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_ps(const Options& options) {
  return std::make_unique<ParameterServer>(
      ServingOptions{.servers = static_cast<Rank>(options.count("servers")),
                     .colocated = options.text("placement") == "colocated",
                     .assign = assignment(options.text("assign")),
                     .local = static_cast<Rank>(options.count("local")),
                     .partition = PartitionLimit("ps", options)});
}

}  // namespace paceline::strategies
