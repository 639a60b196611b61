// SPDX-License-Identifier: Apache-2.0
#include "simulator/message_plans.h"

#include <fmt/format.h>

namespace paceline::simulator {

using namespace plan;

namespace {

constexpr auto kOn = "world";

Bucket everything(const PlanInput& input, const Setup& setup) {
  return buckets_of(setup, {input.model.ready_order}).front();
}

Slice all_of(const Setup& setup, const std::string& name) {
  return whole(setup, buffer_named(setup, name));
}

Setup with_boxes(const PlanInput& input, int boxes) {
  SetupBuilder builder(input, {input.model.ready_order});
  builder.add_world_communicator(kOn);
  Setup setup = std::move(builder).finish();
  const Elements elements = all_of(setup, std::string(kValues)).count;
  for (int i = 0; i < boxes; ++i) {
    setup.buffers.push_back({.name = fmt::format("box{}", i), .elements = elements});
  }
  return setup;
}

plan::Rank modulo(plan::Rank rank, plan::Rank world) { return ((rank % world) + world) % world; }

}  // namespace

Setup Neighbors::setup(const PlanInput& input) const {
  return with_boxes(input, static_cast<int>(distances_.size()));
}

CommPlan Neighbors::plan(const PlanInput& input, const Setup& setup, Variant) const {
  Program program(input, setup);
  program.compute();
  const Bucket all = everything(input, setup);
  program.update(all, 1);
  std::vector<Message> sends, receives;
  std::vector<Access> reads{{all.values}};
  for (std::size_t i = 0; i < distances_.size(); ++i) {
    const plan::Rank to = modulo(input.rank + distances_[i], input.world);
    const plan::Rank from = modulo(input.rank - distances_[i], input.world);
    if (to == input.rank) {
      continue;
    }
    const Slice box = all_of(setup, fmt::format("box{}", i));
    sends.push_back({to, all.values});
    receives.push_back({from, box});
    reads.push_back({box});
  }
  program.exchange(communicator_named(setup, kOn), std::move(sends), std::move(receives));
  program.kernel("linear", std::move(reads), {{all.values}});
  return std::move(program).finish();
}

Setup OnePeer::setup(const PlanInput& input) const { return with_boxes(input, 1); }

Variant OnePeer::variant(const PlanInput& input, plan::Step step) const {
  Variant rounds = 0;
  while ((plan::Rank{1} << rounds) < input.world) {
    ++rounds;
  }
  return rounds > 0 ? step % rounds : 0;
}

CommPlan OnePeer::plan(const PlanInput& input, const Setup& setup, Variant variant) const {
  return Neighbors({static_cast<plan::Rank>(1 << variant)}).plan(input, setup, variant);
}

Setup Servers::setup(const PlanInput& input) const {
  return with_boxes(input, static_cast<int>(input.world));
}

CommPlan Servers::plan(const PlanInput& input, const Setup& setup, Variant) const {
  Program program(input, setup);
  const CommunicatorId on = communicator_named(setup, kOn);
  const plan::Rank workers = input.world - servers_;
  const auto owner = [&](ParameterId id) {
    return workers + static_cast<plan::Rank>(index_of(id) % static_cast<std::size_t>(servers_));
  };
  const auto in_box = [&](plan::Rank worker, const Slice& slice) {
    const Slice box = all_of(setup, fmt::format("box{}", worker));
    return Slice{box.buffer, slice.begin, slice.count};
  };
  if (input.rank < workers) {
    program.compute();
    for (const ParameterId id : input.model.ready_order) {
      const Slice slice = setup.parameters[index_of(id)].gradient;
      program.exchange(on, {{owner(id), slice}}, {});
    }
    for (const ParameterId id : input.model.ready_order) {
      const Slice slice = setup.parameters[index_of(id)].gradient;
      program.exchange(on, {}, {{owner(id), slice}});
    }
    program.update(everything(input, setup), workers);
    return std::move(program).finish();
  }
  for (const bool push : {true, false}) {
    for (const ParameterId id : input.model.ready_order) {
      if (owner(id) != input.rank) {
        continue;
      }
      const Slice sum = setup.parameters[index_of(id)].gradient;
      std::vector<Message> messages;
      std::vector<Access> reads;
      for (plan::Rank w = 0; w < workers; ++w) {
        const Slice mine = in_box(w, sum);
        messages.push_back({w, push ? mine : sum});
        reads.push_back({mine});
      }
      if (push) {
        program.exchange(on, {}, std::move(messages));
        program.kernel("linear", std::move(reads), {{sum}});
      } else {
        program.exchange(on, std::move(messages), {});
      }
    }
  }
  return std::move(program).finish();
}

Setup Crossed::setup(const PlanInput& input) const { return with_boxes(input, 1); }

CommPlan Crossed::plan(const PlanInput& input, const Setup& setup, Variant) const {
  Program program(input, setup);
  const CommunicatorId on = communicator_named(setup, kOn);
  const Slice values = all_of(setup, std::string(kValues));
  const Slice box = all_of(setup, "box0");
  const plan::Rank other = 1 - input.rank;
  program.compute();
  const OpIndex first = program.exchange(on, {}, {{other, box}});
  const OpIndex second = program.exchange(on, {{other, values}}, {});
  program.after(second, first);
  program.update(everything(input, setup), 1);
  return std::move(program).finish();
}

}  // namespace paceline::simulator
