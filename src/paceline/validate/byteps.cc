// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/byteps.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/plan_input.h"
#include "paceline/plan/program.h"

namespace paceline::validate {
namespace {

using plan::Elements;
using plan::Rank;
using plan::Slice;

std::uint64_t djb2(std::string_view text) {
  std::uint64_t hash = 5381;
  for (const char c : text) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

struct Roles {
  Rank local = 1;    // workers a host
  Rank hosts = 1;    // that work
  Rank servers = 0;  // one a host, behind the workers

  Rank workers() const { return local * hosts; }
};

Roles roles_of(const plan::PlanInput& input) {
  Roles roles;
  roles.local = input.local_world.empty() ? input.world : input.local_world[0];
  roles.hosts = static_cast<Rank>(std::ranges::count_if(
      input.local_world, [](Rank ranks) { return ranks > 1; }));
  roles.hosts = std::max(roles.hosts, 1);
  roles.servers = input.world - roles.workers();
  return roles;
}

struct Partition {
  Slice gradients;
  Rank server = 0;     // rank
  Elements inbox = 0;  // where the first worker's share lies at the server
};

class BytePs final : public plan::Planner {
 public:
  explicit BytePs(const BytePsOptions& options) : options_(options) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::check_shape(input);
    const Roles roles = roles_of(input);
    plan::Frame frame(input, groups(input), roles.local);
    for (const char* what : {"reduce", "gather"}) {
      for (Rank host = 0; host < roles.hosts; ++host) {
        std::vector<Rank> members(static_cast<std::size_t>(roles.local));
        std::iota(members.begin(), members.end(), host * roles.local);
        frame.add_communicator(fmt::format("{}{}", what, host), members);
      }
    }
    if (roles.servers > 0) {
      Elements own = 0;
      for (const Partition& part : partitions(input, frame.setup())) {
        own += part.server == input.rank
                   ? part.gradients.count / roles.local * roles.workers()
                   : 0;
      }
      frame.add_buffer({.name = "inbox", .elements = own});
      frame.add_world("push");
      frame.add_world("pull");
    }
    return std::move(frame).finish();
  }

  plan::Variant variant(const plan::PlanInput&, plan::Step) const override {
    return 0;
  }

  plan::CommPlan plan(const plan::PlanInput& input,
                      const plan::Setup& setup,
                      plan::Variant) const override {
    const Roles roles = roles_of(input);
    plan::Program program(input,
                          setup,
                          {.units = plan::units_of(setup, groups(input)),
                           .trains = input.rank < roles.workers(),
                           .shards = roles.local});
    if (program.trains()) {
      work(roles, program);
    } else {
      serve(roles, program);
    }
    return std::move(program).finish();
  }

  Rank stand_in(const plan::PlanInput& input) const override {
    const Roles roles = roles_of(input);
    return input.rank < roles.workers() ? input.rank % roles.local : input.rank;
  }

 private:
  plan::Groups groups(const plan::PlanInput& input) const {
    if (options_.fused) {
      return {input.model.ready_order};
    }
    plan::Groups single;
    for (const plan::ParameterId id : input.model.ready_order) {
      single.push_back({id});
    }
    return single;
  }

  /// In ready order.  Fused gradients are declared behind the parameters.
  std::vector<Partition> partitions(const plan::PlanInput& input,
                                    const plan::Setup& setup) const {
    const Roles roles = roles_of(input);
    const std::vector<plan::Unit> units = plan::units_of(setup, groups(input));
    plan::Program names(input, setup, {.units = units});
    const Elements step = plan::kAlignmentBytes / 4 * roles.local;
    const Elements longest = options_.partition_bytes / 4 / step * step;
    std::vector<Elements> used(static_cast<std::size_t>(input.world));
    std::vector<Partition> parts;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const Slice& all = units[unit].gradients;
      const std::size_t place =
          options_.fused ? 0 : names.places_by_name()[unit];
      for (Elements at = 0; at < all.count; at += longest) {
        Partition part{.gradients = {all.buffer,
                                     all.begin + at,
                                     std::min(longest, all.count - at)}};
        if (roles.servers > 0) {
          const std::uint64_t key =
              (place << 16U) + static_cast<std::uint64_t>(at / longest);
          part.server =
              roles.workers() +
              static_cast<Rank>(djb2(std::to_string(key)) %
                                static_cast<std::uint64_t>(roles.servers));
          Elements& inbox = used[static_cast<std::size_t>(part.server)];
          part.inbox = inbox;
          inbox += part.gradients.count / roles.local * roles.workers();
        }
        parts.push_back(part);
      }
    }
    return parts;
  }

  void work(const Roles& roles, plan::Program& program) const {
    program.compute();
    const Rank me = program.input().rank;
    const auto on = [&](const char* what) {
      return plan::communicator_named(
          program.setup(), fmt::format("{}{}", what, me / roles.local));
    };
    const auto share = [&](const Partition& part) {
      return plan::shard_of(part.gradients, me % roles.local, roles.local);
    };
    const auto parts = partitions(program.input(), program.setup());
    const std::optional<plan::OpIndex> computed = program.last_backward();
    for (const Partition& part : parts) {
      const plan::OpIndex reduced =
          program.reduce_scatter(part.gradients, share(part), on("reduce"));
      if (options_.fused && computed.has_value()) {
        program.after(reduced, *computed);
      }
      if (roles.servers > 0) {
        program.exchange(plan::communicator_named(program.setup(), "push"),
                         {{part.server, share(part)}},
                         {});
      }
    }
    for (const Partition& part : parts) {
      if (roles.servers > 0) {
        program.exchange(plan::communicator_named(program.setup(), "pull"),
                         {},
                         {{part.server, share(part)}});
      }
      program.all_gather(share(part), part.gradients, on("gather"));
    }
    for (const plan::Unit& unit : program.units()) {
      program.update(unit, static_cast<double>(roles.workers()));
    }
  }

  void serve(const Roles& roles, plan::Program& program) const {
    const auto push = plan::communicator_named(program.setup(), "push");
    const auto pull = plan::communicator_named(program.setup(), "pull");
    const plan::BufferId inbox = plan::buffer_named(program.setup(), "inbox");
    const auto own = [&] {
      std::vector<Partition> parts =
          partitions(program.input(), program.setup());
      std::erase_if(parts, [&](const Partition& part) {
        return part.server != program.input().rank;
      });
      return parts;
    }();
    for (const Partition& part : own) {
      const Elements count = part.gradients.count / roles.local;
      std::vector<plan::Message> receives;
      for (Rank worker = 0; worker < roles.workers(); ++worker) {
        receives.push_back(
            {worker, {inbox, part.inbox + worker * count, count}});
      }
      program.exchange(push, {}, receives);
      sum(part, roles, inbox, program);
    }
    for (const Partition& part : own) {
      std::vector<plan::Message> sends;
      for (Rank worker = 0; worker < roles.workers(); ++worker) {
        sends.push_back(
            {worker,
             plan::shard_of(
                 part.gradients, worker % roles.local, roles.local)});
      }
      program.exchange(pull, sends, {});
    }
  }

  static void sum(const Partition& part,
                  const Roles& roles,
                  plan::BufferId inbox,
                  plan::Program& program) {
    const Elements count = part.gradients.count / roles.local;
    for (Rank place = 0; place < roles.local; ++place) {
      std::vector<plan::Access> reads;
      for (Rank host = 0; host < roles.hosts; ++host) {
        const Rank worker = host * roles.local + place;
        reads.push_back({{inbox, part.inbox + worker * count, count}});
      }
      std::vector<double> ones(reads.size(), 1.0);
      program.kernel("linear",
                     std::move(reads),
                     {{plan::shard_of(part.gradients, place, roles.local)}},
                     std::move(ones));
    }
  }

  BytePsOptions options_;
};

}  // namespace

std::unique_ptr<plan::Planner> make_byteps(const BytePsOptions& options) {
  return std::make_unique<BytePs>(options);
}

}  // namespace paceline::validate
