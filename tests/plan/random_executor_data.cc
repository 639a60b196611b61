// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "paceline/plan/access.h"
#include "plan/random_executor.h"

// What happens to memory when an op is issued, moves its data and completes.

namespace paceline::plan {

Values RandomExecutor::usable(Values values, const ItemRef& place) const {
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) {
    throw InMotion("used a value in motion: " + world_.describe(place));
  }
  return values;
}

/// Reads what the op reads from its own rank's memory alone.
void RandomExecutor::read_inputs(const ItemRef& place) {
  Task& mine = task(place);
  const Setup& setup = world_.setup(place.rank);
  const auto read = [&](const Slice& slice) {
    mine.inputs.push_back(usable(memory_->read(place.rank, slice), place));
  };
  if (const auto* kernel = std::get_if<Kernel>(&op(place).work)) {
    for (const Access& access : kernel->reads) {
      read(access.slice);
    }
  } else if (const auto* backward = std::get_if<Backward>(&op(place).work)) {
    const ParameterPlacement& where = setup.parameters[index_of(backward->parameter)];
    read(where.value);
    if (backward->micro > 0) {
      read(where.gradient);
    }
  } else if (const auto* forward = std::get_if<Forward>(&op(place).work)) {
    const ModelShape& model = world_.input(place.rank).model;
    for (std::size_t p = 0; p < setup.parameters.size(); ++p) {
      if (model.parameters[p].module == forward->module) {
        read(setup.parameters[p].value);
      }
    }
  }
}

void RandomExecutor::issue(const ItemRef& place) {
  Task& mine = task(place);
  mine.state = State::kActive;
  mine.early = (rng_() & 1U) != 0;
  const Op& work = op(place);
  if (mine.early) {
    read_inputs(place);
  }
  if (const auto on = communicator_of(work)) {
    const Communicator& communicator = world_.communicator(place.rank, *on);
    if (place.rank == communicator.members.front() &&
        std::holds_alternative<Collective>(work.work)) {
      picks_[{*on, place.rank}].push_back(item(place).collective);
    }
  }
  if (side(place.rank).relaxed[place.item]) {
    return;  // lands aside, is published whole
  }
  // What it writes is garbage from now on, except what it has yet to read.
  std::vector<AccessedRange> touches;
  Accesses(world_.input(place.rank).model, world_.setup(place.rank)).of(work, touches);
  std::vector<std::pair<Slice, Values>> kept;
  for (const AccessedRange& touch : touches) {
    if (!touch.write && !(mine.early && !communicator_of(work))) {
      kept.emplace_back(touch.slice, memory_->read(place.rank, touch.slice));
    }
  }
  for (const AccessedRange& touch : touches) {
    if (touch.write) {
      memory_->poison(place.rank, touch.slice);
    }
  }
  for (const auto& [slice, values] : kept) {
    memory_->write(place.rank, slice, values);
  }
}

/// Moves the data of a collective or of one message, if both ends are there.
bool RandomExecutor::transfer(const ItemRef& place) {
  const auto active = [&](const ItemRef& who) { return task(who).state != State::kWaiting; };
  if (std::holds_alternative<Collective>(op(place).work)) {
    const std::size_t number = item(place).collective;
    const PlanWorld::MatchedCollective& collective = world_.collectives()[number];
    const Communicator& on = world_.communicator(collective);
    std::vector<const Collective*> parts;
    std::vector<Values> inputs;
    for (std::size_t m = 0; m < on.members.size(); ++m) {
      const ItemRef member{on.members[m], collective.items[m]};
      if (moved_collective_[number] || !active(member)) {
        return false;
      }
      parts.push_back(&std::get<Collective>(op(member).work));
    }
    for (std::size_t m = 0; m < on.members.size(); ++m) {
      inputs.push_back(
          usable(memory_->read(on.members[m], parts[m]->in), {on.members[m], collective.items[m]}));
    }
    const std::vector<Values> out = toy_collective(on, parts, inputs);
    for (std::size_t m = 0; m < on.members.size(); ++m) {
      task({on.members[m], collective.items[m]}).landed = {out[m]};
      memory_->poison(on.members[m], parts[m]->out);
    }
    moved_collective_[number] = true;
    return true;
  }
  const auto* exchange = std::get_if<Exchange>(&op(place).work);
  for (std::size_t r = 0; exchange != nullptr && r < exchange->receives.size(); ++r) {
    const std::size_t number = item(place).receives[r];
    const PlanWorld::MatchedMessage& message = world_.messages()[number];
    const ItemRef sender{message.from, message.send_item};
    if (moved_message_[number] || !active(sender)) {
      continue;
    }
    const auto& sends = item(sender).sends;
    const auto slot = static_cast<std::size_t>(std::ranges::find(sends, number) - sends.begin());
    const Slice& from = std::get<Exchange>(op(sender).work).sends[slot].slice;
    task(place).landed.resize(exchange->receives.size());
    task(place).landed[r] = usable(memory_->read(message.from, from), sender);
    moved_message_[number] = true;
    return true;
  }
  return false;
}

bool RandomExecutor::may_complete(const ItemRef& place) {
  const PlanWorld::Item& mine = item(place);
  if (std::holds_alternative<Collective>(mine.op->work)) {
    return moved_collective_[mine.collective];
  }
  const auto moved = [&](std::size_t message) { return moved_message_[message]; };
  return std::ranges::all_of(mine.sends, moved) && std::ranges::all_of(mine.receives, moved);
}

void RandomExecutor::complete(const ItemRef& place) {
  Task& mine = task(place);
  if (!mine.early) {
    read_inputs(place);
  }
  const Op& work = op(place);
  Side& rank_side = side(place.rank);
  const auto write = [&](const Slice& slice, const Values& values) {
    memory_->write(place.rank, slice, values);
  };
  if (const auto* backward = std::get_if<Backward>(&work.work)) {
    Values gradient = toy_gradient(place.rank, item(place).step, *backward, mine.inputs[0]);
    for (std::size_t i = 0; backward->micro > 0 && i < gradient.size(); ++i) {
      gradient[i] += mine.inputs[1][i];
    }
    write(world_.setup(place.rank).parameters[index_of(backward->parameter)].gradient, gradient);
  } else if (const auto* kernel = std::get_if<Kernel>(&work.work)) {
    const std::vector<Values> out = toy_kernel(*kernel, mine.inputs);
    for (std::size_t w = 0; w < out.size(); ++w) {
      write(kernel->writes[w].slice, out[w]);
    }
    for (std::size_t r = 0; r < kernel->reads.size(); ++r) {
      if (kernel->reads[r].slack > 0) {
        seen_.push_back(static_cast<double>(item(place).step + 1) - mine.inputs[r][0]);
      }
    }
  } else if (const auto* collective = std::get_if<Collective>(&work.work)) {
    write(collective->out, mine.landed[0]);
  } else if (const auto* exchange = std::get_if<Exchange>(&work.work)) {
    for (std::size_t r = 0; r < exchange->receives.size(); ++r) {
      write(exchange->receives[r].slice, mine.landed[r]);
    }
  }
  mine.state = State::kDone;
  if (const int phase = rank_side.phase[place.item]; phase >= 0) {
    --rank_side.phase_left[static_cast<std::size_t>(phase)];
    while (rank_side.phase_now < rank_side.phase_left.size() &&
           rank_side.phase_left[rank_side.phase_now] == 0) {
      ++rank_side.phase_now;
    }
  }
}

}  // namespace paceline::plan
