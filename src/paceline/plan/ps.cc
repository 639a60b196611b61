// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/host_communicators.h"
#include "paceline/plan/partitions.h"
#include "paceline/plan/rows.h"
#include "paceline/plan/strategy.h"

namespace paceline::plan {
namespace {

constexpr auto kPush = "push";
constexpr auto kPull = "pull";
constexpr auto kInbox = "inbox";

struct Serving {
  Rank servers = 0;  // 0: as many as workers
  bool colocated = true;
  bool hashed = false;
  Rank local = 1;  // ranks a host that sum first; 0: as the hosts have
  PartitionLimit partition;
};

/// Daniel J. Bernstein's string hash, modulo 2^64 as BytePS computes it.
std::uint64_t djb2(std::string_view text) {
  std::uint64_t hash = 5381;
  for (const char c : text) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

/// Workers push their slices to servers, partition by partition; the server of
/// a partition sums what all workers pushed; workers pull the sum.
///
///   rounds per exchange        2
///   bytes sent, W workers, servers that hold a share s of the slice:
///     apart       worker S, server W s S
///     colocated   (1 - s) S + (W - 1) s S
///   extra memory, server       W s S of the model apart, (W - 1) s S
///   colocated;
///                              a Lth of it with local=L
///   guarantee                  exact: every worker has the same sum
///
/// placement=apart makes the last ranks servers, which have no model work;
/// colocated makes the first ranks serve beside their work and sum their own
/// share in place.  assign=round-robin deals partitions out in turn;
/// assign=hash takes BytePS's: djb2 of the decimal key modulo the servers, key
/// = place of the unit among the sorted names * 2^16 + number of the partition.
/// local=L lets the L ranks of a host sum and share out a partition first: each
/// pushes and pulls its share, then the host gathers, as BytePS does; what
/// crosses between hosts is S a host.  With one such host nothing is pushed.
/// Li et al., OSDI 2014 (parameter server); Jiang et al. (BytePS), OSDI 2020.
class ParameterServer final : public ExchangeRule {
 public:
  explicit ParameterServer(Serving serving) : serving_(std::move(serving)) {}

  /// Hosts of workers without servers are alike; servers hold different
  /// partitions.
  Terms terms(const PlanInput& input) const override {
    const Roles roles = roles_of(input);
    const bool trains = input.rank < roles.workers;
    return {.shards = roles.hosts.local,
            .divisor = static_cast<double>(roles.workers),
            .trains = trains,
            .symmetry = only_working(roles)};
  }

  void extend(const PlanInput& input,
              const std::vector<Unit>& units,
              DType wire,
              Frame& frame) const override {
    if (input.world == 1) {
      return;
    }
    const Roles roles = roles_of(input);
    Program program(input, frame.setup(), {.units = units});
    Elements own = 0;
    for (const Partition& part : partitions(program)) {
      own += roles.crosses() && part.owner == input.rank ? part.count : 0;
    }
    frame.add_buffer(
        {.name = kInbox, .dtype = wire, .elements = own * roles.copies()});
    add_host_communicators(roles.hosts, frame);
    frame.add_world(kPush);
    frame.add_world(kPull);
  }

  void give(const Slice& slice,
            const CodecRule& codec,
            Program& program) const override {
    if (program.input().world == 1) {
      return;
    }
    const Rank me = program.input().rank;
    const Roles roles = roles_of(program.input());
    if (program.trains()) {
      codec.encode(slice, program);
    }
    const auto push = communicator_named(program.setup(), kPush);
    const OpIndex first = program.size();
    for (const Partition& part : partitions_of(slice, program)) {
      sum_on_host(wire_of(slice, part, codec, program), roles, program);
      for (const Piece& piece : pieces_of(part, roles)) {
        const Slice wire = wire_of(slice, piece, codec, program);
        if (part.owner == me) {
          receive_and_sum(wire, piece, roles, push, program);
        } else if (sends(piece, roles, program)) {
          program.exchange(push, {{part.owner, wire}}, {});
        }
      }
    }
    cross_whole(slice, first, program);
  }

  void take(const Slice& slice,
            const CodecRule& codec,
            Program& program) const override {
    if (program.input().world == 1) {
      return;
    }
    const Rank me = program.input().rank;
    const Roles roles = roles_of(program.input());
    const auto pull = communicator_named(program.setup(), kPull);
    for (const Partition& part : partitions_of(slice, program)) {
      for (const Piece& piece : pieces_of(part, roles)) {
        const Slice wire = wire_of(slice, piece, codec, program);
        if (part.owner == me) {
          program.exchange(pull, to_workers(wire, piece, roles, me), {});
        } else if (sends(piece, roles, program)) {
          program.exchange(pull, {}, {{part.owner, wire}});
        }
      }
      gather_on_host(wire_of(slice, part, codec, program), roles, program);
    }
    if (program.trains()) {
      codec.decode(slice, program);
    }
  }

  /// Every worker's card carries the slice out and in; the servers' do no more
  /// where there are as many as workers and shares are equal.
  Picoseconds time(const AlphaBeta& model, std::int64_t bytes) const override {
    return 2 * time_on(model.message, "messages", bytes);
  }

 private:
  struct Roles {
    Rank workers = 1, servers = 1, first_server = 0;
    Hosts hosts;  // of the workers

    /// How many copies of a piece a server receives, at most: its own share,
    /// which it has already, is one of those that it serves where every rank
    /// is a host.
    Rank copies() const {
      const bool colocated = first_server == 0;
      return colocated && hosts.local == 1 ? hosts.count - 1 : hosts.count;
    }

    /// Whether anybody else has anything to add to the sum of a host.
    bool crosses() const {
      return first_server > 0 || hosts.local == 1 || hosts.count > 1;
    }
  };

  /// Within the layout of values; `inbox` is where the first sender's copy lies
  /// at the owner.
  struct Partition {
    Elements begin = 0, count = 0;
    Rank owner = 0;
    Elements inbox = 0;
  };

  /// The share of a partition of the workers at one place of their hosts.
  struct Piece {
    Elements begin = 0, count = 0;
    Elements inbox = 0;
    Rank place = 0;
  };

  Roles roles_of(const PlanInput& input) const {
    const Rank world = input.world;
    if (world == 1) {
      return {};
    }
    if (serving_.colocated) {
      if (serving_.servers > world) {
        throw UsageError(
            fmt::format("ps: {} servers on {} colocated ranks; at most one a "
                        "rank",
                        serving_.servers,
                        world));
      }
      return {.workers = world,
              .servers = serving_.servers == 0 ? world : serving_.servers,
              .hosts = hosts_of(input, world, serving_.local, "ps")};
    }
    const Rank servers = serving_.servers == 0 ? world / 2 : serving_.servers;
    if (servers >= world || (serving_.servers == 0 && world % 2 != 0)) {
      throw UsageError(fmt::format(
          "ps:placement=apart: {} servers leave no worker of {} ranks, or the "
          "ranks are not half servers; give servers=N below {}",
          servers,
          world,
          world));
    }
    return {.workers = world - servers,
            .servers = servers,
            .first_server = world - servers,
            .hosts = hosts_of(input, world - servers, serving_.local, "ps")};
  }

  static Symmetry only_working(const Roles& roles) {
    const Rank local = roles.hosts.local;
    const Rank serving = roles.first_server > 0 ? 0 : roles.servers;
    const Rank first = (serving + local - 1) / local * local;
    return {.first = first,
            .count = roles.workers - first,
            .block = local,
            .in_any_order = true};
  }

  Rank owner_of(std::size_t place,
                std::size_t part,
                std::size_t number,
                const Roles& roles) const {
    const auto servers = static_cast<std::uint64_t>(roles.servers);
    const std::uint64_t chosen =
        serving_.hashed ? djb2(std::to_string((place << 16U) + part)) % servers
                        : number % servers;
    return roles.first_server + static_cast<Rank>(chosen);
  }

  /// All of them, in the order of the layout.
  std::vector<Partition> partitions(Program& program) const {
    const Roles roles = roles_of(program.input());
    const std::int64_t size = size_of(program.input().model.dtype);
    const Elements longest = serving_.partition.longest(
        program.units(), kAlignmentBytes / size * roles.hosts.local, size);
    std::vector<Elements> used(static_cast<std::size_t>(roles.servers));
    std::vector<Partition> all;
    for (std::size_t unit = 0; unit < program.units().size(); ++unit) {
      const Slice& values = program.units()[unit].values;
      const std::size_t place =
          serving_.hashed ? program.places_by_name()[unit] : unit;
      for (Elements at = 0; at < values.count; at += longest) {
        Partition part{.begin = values.begin + at,
                       .count = std::min(longest, values.count - at)};
        part.owner = owner_of(
            place, static_cast<std::size_t>(at / longest), all.size(), roles);
        auto& inbox =
            used[static_cast<std::size_t>(part.owner - roles.first_server)];
        part.inbox = inbox;
        inbox += part.count * roles.copies();
        all.push_back(part);
      }
    }
    return all;
  }

  /// What of the partitions lies in the slice.
  std::vector<Partition> partitions_of(const Slice& slice,
                                       Program& program) const {
    const Elements copies = roles_of(program.input()).copies();
    std::vector<Partition> inside;
    for (const Partition& part : partitions(program)) {
      const Elements begin = std::max(part.begin, slice.begin);
      const Elements end =
          std::min(part.begin + part.count, slice.begin + slice.count);
      if (begin < end) {
        inside.push_back({.begin = begin,
                          .count = end - begin,
                          .owner = part.owner,
                          .inbox = part.inbox + (begin - part.begin) * copies});
      }
    }
    return inside;
  }

  static std::vector<Piece> pieces_of(const Partition& part,
                                      const Roles& roles) {
    std::vector<Piece> pieces;
    const Elements count = part.count / roles.hosts.local;
    for (Rank place = 0; roles.crosses() && place < roles.hosts.local;
         ++place) {
      const Elements at = place * count;
      pieces.push_back({.begin = part.begin + at,
                        .count = count,
                        .inbox = part.inbox + at * roles.copies(),
                        .place = place});
    }
    return pieces;
  }

  /// A unit that is cut into partitions crosses as a whole all the same: no
  /// part of it leaves before its last gradient is final.
  static void cross_whole(const Slice& slice, OpIndex first, Program& program) {
    const Unit& unit = program.units()[program.unit_at(slice.begin)];
    const auto last = program.last_backward(unit);
    for (OpIndex op = first; last && op < program.size(); ++op) {
      const Op& it = program.at(op);
      const auto* exchange = std::get_if<Exchange>(&it.work);
      if (std::holds_alternative<Collective>(it.work) ||
          (exchange != nullptr && !exchange->sends.empty())) {
        program.after(op, *last);
      }
    }
  }

  /// Whether this rank pushes and pulls the piece.
  static bool sends(const Piece& piece,
                    const Roles& roles,
                    const Program& program) {
    return program.trains() &&
           roles.hosts.place_of(program.input().rank) == piece.place;
  }

  static void sum_on_host(const Slice& wire,
                          const Roles& roles,
                          Program& program) {
    if (program.trains() && roles.hosts.local > 1) {
      program.reduce_scatter(wire,
                             own_share(wire, roles, program),
                             reducing_on_host(roles.hosts, program));
    }
  }
  static void gather_on_host(const Slice& wire,
                             const Roles& roles,
                             Program& program) {
    if (program.trains() && roles.hosts.local > 1) {
      program.all_gather(own_share(wire, roles, program),
                         wire,
                         gathering_on_host(roles.hosts, program));
    }
  }
  static Slice own_share(const Slice& wire,
                         const Roles& roles,
                         const Program& program) {
    return shard_of(
        wire, roles.hosts.place_of(program.input().rank), roles.hosts.local);
  }

  /// `part`: a partition or a piece of one.
  static Slice wire_of(const Slice& slice,
                       const auto& part,
                       const CodecRule& codec,
                       const Program& program) {
    return codec.wire({slice.buffer, part.begin, part.count}, program.setup());
  }

  /// The server's half of a pull.
  static std::vector<Message> to_workers(const Slice& wire,
                                         const Piece& piece,
                                         const Roles& roles,
                                         Rank server) {
    std::vector<Message> sends;
    for (const Rank worker : roles.hosts.at_place(piece.place)) {
      if (worker != server) {
        sends.push_back({worker, wire});
      }
    }
    return sends;
  }

  /// The server's half of a push: the sum replaces what lies in `wire`.
  static void receive_and_sum(const Slice& wire,
                              const Piece& piece,
                              const Roles& roles,
                              CommunicatorId push,
                              Program& program) {
    const BufferId inbox = buffer_named(program.setup(), kInbox);
    std::vector<Message> receives;
    std::vector<Access> reads;
    if (sends(piece, roles, program)) {
      reads.push_back({wire});
    }
    Elements at = piece.inbox;
    for (const Rank worker : roles.hosts.at_place(piece.place)) {
      if (worker != program.input().rank) {
        receives.push_back({worker, {inbox, at, piece.count}});
        reads.push_back({receives.back().slice});
        at += piece.count;
      }
    }
    program.exchange(push, {}, std::move(receives));
    const std::vector<double> ones(reads.size(), 1.0);
    program.kernel("linear", std::move(reads), {{wire}}, ones);
  }

  Serving serving_;
};

}  // namespace

std::unique_ptr<ExchangeRule> make_ps(const Options& options) {
  return std::make_unique<ParameterServer>(
      Serving{.servers = static_cast<Rank>(options.count("servers")),
              .colocated = options.text("placement") == "colocated",
              .hashed = options.text("assign") == "hash",
              .local = static_cast<Rank>(options.count("local")),
              .partition = PartitionLimit("ps", options)});
}

}  // namespace paceline::plan
