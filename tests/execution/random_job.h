// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/plan/program.h"
#include "paceline/simulator/simulate.h"
#include "plan/hand_plans.h"
#include "simulator/toy.h"

namespace paceline::testing {

/// A plan and its costs, drawn from a seed: two to four ranks, up to three communicators of some of
/// them, with an order and a credit each, of which one carries the gradient of each parameter, by a
/// priority.  An update follows.
class RandomJob {
 public:
  explicit RandomJob(std::uint32_t seed) : rng_(seed) {
    input = simulator::toy_input(2 + below(5), 2 + below(3));
    for (plan::ParameterShape& shape : input.model.parameters) {
      shape.elements = shape.sizes[0] = 1 + below(1000);
    }
    for (int left = 1 + below(3); left > 0; --left) {
      groups_.push_back(draw_group());
    }
    while (crossings_.size() < input.model.parameters.size()) {
      crossings_.push_back(draw_crossing());
    }
    draw_costs(seed);
  }

  /// The job must outlive it.
  plan::HandPlanner planner() const {
    return {[this](const plan::PlanInput& at) {
              plan::SetupBuilder builder(at, {at.model.ready_order});
              builder.add_buffer_like_values("received");
              plan::Setup setup = std::move(builder).finish();
              setup.communicators = groups_;
              return setup;
            },
            [this](plan::Program& program, plan::Variant) {
              program.compute();
              for (std::size_t i = 0; i < crossings_.size(); ++i) {
                write(i, program);
              }
            }};
  }

  plan::PlanInput input;
  simulator::Costs costs;

 private:
  enum class How : std::uint8_t { kAllReduce, kSwap, kSendAndReceive };
  struct Crossing {
    std::size_t on = 0;  // communicator
    How how{};
    std::int32_t priority = 0, update_priority = 0;
  };
  static constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();

  int below(int count) { return static_cast<int>(rng_() % static_cast<unsigned>(count)); }

  plan::Picoseconds up_to_us(int most) { return 1'000 + below(most * 1'000'000); }

  plan::Communicator draw_group() {
    constexpr std::array kOrders{plan::IssueOrder::kProgram, plan::IssueOrder::kPriority,
                                 plan::IssueOrder::kAsReady};
    const auto order = kOrders[static_cast<std::size_t>(below(3))];
    const plan::Rank stride = input.world > 2 ? 1 + below(2) : 1;
    const plan::Rank count = 2 + below((input.world - 1) / stride);
    const plan::Rank first = below(input.world - (count - 1) * stride);
    const bool free = order == plan::IssueOrder::kAsReady || below(3) == 0;
    return {.name = fmt::format("group{}", groups_.size()),
            .members = plan::Members::spaced(first, count, stride),
            .order = order,
            .credit_bytes = free ? kUnlimited : 1 + below(5000)};
  }

  /// Exchanges alone are issued as they are ready.  Messages both ways at once do not go with a
  /// credit where each rank picks its own.
  Crossing draw_crossing() {
    const auto on = static_cast<std::size_t>(below(static_cast<int>(groups_.size())));
    auto how = static_cast<How>(below(3));
    const plan::Communicator& group = groups_[on];
    if (group.order == plan::IssueOrder::kAsReady && how == How::kAllReduce) {
      how = How::kSwap;
    } else if (group.order == plan::IssueOrder::kPriority && group.credit_bytes < kUnlimited &&
               how == How::kSwap) {
      how = How::kSendAndReceive;
    }
    return {on, how, below(3), below(3)};
  }

  /// Nothing is free: what follows an end comes later than it.
  void draw_costs(std::uint32_t seed) {
    costs = simulator::toy_costs(input);
    costs.machine.device.bytes_per_s = 20'000'000 + below(500'000'000);
    costs.machine.device.latency = up_to_us(9);
    costs.machine.noise = {.seed = seed, .sigma = 0.3};
    costs.software.issue = up_to_us(5);
    costs.software.collective = up_to_us(5);
    costs.software.message = up_to_us(5);
    costs.software.concurrent_collectives = below(2) == 0 ? 1 : 0;
    costs.software.kernels = {{.launch = up_to_us(9)}};
    for (auto* times : {&costs.profile.forward, &costs.profile.backward}) {
      for (plan::Picoseconds& time : *times) {
        time = up_to_us(40);
      }
    }
  }

  void write(std::size_t i, plan::Program& program) const {
    const plan::Setup& setup = program.setup();
    const plan::ParameterPlacement& at =
        setup.parameters[plan::index_of(input.model.ready_order[i])];
    const plan::Slice received{plan::buffer_named(setup, "received"), at.gradient.begin,
                               at.gradient.count};
    const plan::OpIndex first = program.size();
    cross(crossings_[i], at.gradient, received, program);
    program.set_priority(first, crossings_[i].priority);
    const plan::OpIndex update =
        program.kernel("linear", {{at.value}, {at.gradient}, {received}}, {{at.value}}, {1, 1, 1});
    program.set_priority(update, crossings_[i].update_priority);
  }

  /// Members send to the next one, in a ring.
  void cross(const Crossing& crossing, const plan::Slice& gradient, const plan::Slice& received,
             plan::Program& program) const {
    const plan::Members& members = groups_[crossing.on].members;
    const auto on = static_cast<plan::CommunicatorId>(crossing.on);
    const auto place = members.index_of_rank(program.input().rank);
    if (!place) {
      return;
    }
    const std::size_t count = members.size();
    const plan::Message send{members[(*place + 1) % count], gradient};
    const plan::Message receive{members[(*place + count - 1) % count], received};
    switch (crossing.how) {
      case How::kAllReduce:
        program.all_reduce(gradient, on);
        break;
      case How::kSwap:
        program.exchange(on, {send}, {receive});
        break;
      case How::kSendAndReceive:
        program.exchange(on, {send}, {});
        program.after(program.exchange(on, {}, {receive}), *program.last_backward());
    }
  }

  std::mt19937 rng_;
  std::vector<plan::Communicator> groups_;
  std::vector<Crossing> crossings_;  // of parameters, in ready order
};

}  // namespace paceline::testing
