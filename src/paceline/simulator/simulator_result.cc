// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

/// Returns the end of the model work of a rank that trains in the step before `step`; 0 for step 0.
plan::Picoseconds Simulator::end_before(const Actor& actor, std::int32_t step) const {
  if (step == 0) {
    return 0;
  }
  const auto a = static_cast<std::size_t>(&actor - job_.actors.data());
  const ItemId last = last_model_work_[a * static_cast<std::size_t>(job_.options.steps) +
                                       static_cast<std::size_t>(step - 1)];
  return last < item_intervals_.size() ? item_intervals_[last].end : -1;
}

/// Returns when the first forward of `step` began in the last run, on a rank that trains.  If the
/// run became steady and stopped, later steps repeat the times of its last period.
plan::Picoseconds Simulator::start_of(const Actor& actor, std::int32_t step) const {
  const auto period = static_cast<std::int32_t>(job_.period);
  if (steady_ && step >= ended_steps_) {
    const std::int32_t last = ended_steps_ - 1;
    return start_of(actor, step - period) + start_of(actor, last) - start_of(actor, last - period);
  }
  const auto a = static_cast<std::size_t>(&actor - job_.actors.data());
  const ItemId first = first_model_work_[a * static_cast<std::size_t>(job_.options.steps) +
                                         static_cast<std::size_t>(step)];
  return first < item_intervals_.size() ? item_intervals_[first].begin : -1;
}

void Simulator::step_ended() {
  const std::size_t steps = left_in_step_.size();
  while (static_cast<std::size_t>(ended_steps_) < steps &&
         left_in_step_[static_cast<std::size_t>(ended_steps_)] == 0) {
    ++ended_steps_;
  }
  if (!costs_.machine.noise.any()) {
    steady_ = repeats(ended_steps_ - 1);
  }
}

/// Whether the last period of steps, up to `step`, ran like the period before: every op began and
/// ended at the same time relative to its step.  Then later steps repeat too, because steps depend
/// on no older ones.
bool Simulator::repeats(std::int32_t step) const {
  const auto period = static_cast<std::int32_t>(job_.period);
  if (step - 2 * period + 1 < 1) {
    return false;
  }
  const auto training =
      std::ranges::find_if(job_.actors, [](const Actor& actor) { return actor.trains; });
  if (training == job_.actors.end()) {
    return false;
  }
  for (std::int32_t s = step - period + 1; s <= step; ++s) {
    const plan::Picoseconds shift = end_before(*training, s) - end_before(*training, s - period);
    for (const Actor& actor : job_.actors) {
      const auto now = static_cast<std::size_t>(s);
      const auto before = static_cast<std::size_t>(s - period);
      const ItemId a = actor.steps[now], b = actor.steps[before];
      const ItemId count = actor.steps[now + 1] - a;
      if (count != actor.steps[before + 1] - b) {
        return false;
      }
      for (ItemId i = 0; i < count; ++i) {
        if (item_intervals_[a + i].end != item_intervals_[b + i].end + shift ||
            item_intervals_[a + i].begin != item_intervals_[b + i].begin + shift) {
          return false;
        }
      }
    }
  }
  return true;
}

/// The number of steps whose time is known.  A step lasts until the next one starts, so the time of
/// the last step is known only if the run became steady.
std::int32_t Simulator::measured_steps() const {
  return steady_ ? ended_steps_ : static_cast<std::int32_t>(job_.options.steps) - 1;
}

std::int32_t Simulator::window() const {
  const auto period = static_cast<std::int32_t>(job_.period);
  if (steady_) {
    return period;
  }
  const std::int32_t count = measured_steps();
  const auto asked = static_cast<std::int32_t>(
      job_.options.warmup.value_or(static_cast<plan::Step>((count + 1) / 2)));
  const std::int32_t most = std::max(1, count - asked);
  return most < period ? most : most / period * period;
}

plan::Picoseconds Simulator::model_work(const Actor& actor, std::int32_t step) const {
  plan::Picoseconds time = 0;
  const auto s = static_cast<std::size_t>(step);
  for (ItemId id = actor.steps[s]; id < actor.steps[s + 1]; ++id) {
    time += is_model_work(job_.items[id]) ? item_intervals_[id].end - item_intervals_[id].begin : 0;
  }
  return time;
}

std::vector<plan::Picoseconds> Simulator::step_times_of(const Actor& actor) const {
  PACELINE_CHECK(actor.trains);
  std::vector<plan::Picoseconds> steps;
  for (std::int32_t step = 0; step < measured_steps(); ++step) {
    steps.push_back(start_of(actor, step + 1) - start_of(actor, step));
  }
  return steps;
}

StepTimes Simulator::result() const {
  StepTimes times;
  times.steady = steady_;
  times.events = events_.pushed();
  const std::int32_t count = measured_steps();
  times.steps.assign(static_cast<std::size_t>(count), 0);
  times.window = window();
  const std::int32_t begin = count - static_cast<std::int32_t>(times.window);
  const auto mean = [&](plan::Picoseconds sum) { return (sum + times.window / 2) / times.window; };
  plan::Picoseconds end = 0;
  for (const Actor& actor : job_.actors) {
    if (!actor.trains) {
      continue;
    }
    plan::Picoseconds compute = 0;
    for (std::int32_t step = 0; step < count; ++step) {
      plan::Picoseconds& slowest = times.steps[static_cast<std::size_t>(step)];
      slowest = std::max(slowest, start_of(actor, step + 1) - start_of(actor, step));
      compute += step >= begin ? model_work(actor, step) : 0;
    }
    times.step = std::max(times.step, mean(start_of(actor, count) - start_of(actor, begin)));
    times.compute = std::max(times.compute, mean(compute));
    end = std::max(end, end_before(actor, steady_ ? ended_steps_
                                                  : static_cast<std::int32_t>(job_.options.steps)));
  }
  times.flush = std::max<plan::Picoseconds>(0, now_ - end);
  return times;
}

std::vector<LinkBytes> Simulator::loads_of(TransferId transfer) const {
  std::vector<LinkBytes> loads;
  const auto& cost = cost_of(job_.transfers[transfer]);
  for (std::uint32_t i = first_load_[transfer]; i < first_load_[transfer + 1]; ++i) {
    loads.push_back({.link = loads_[i].link,
                     .bytes = cost ? plan::scaled_bytes(cost->bytes, weight(*cost, loads_[i]),
                                                        cluster::kWeightOne)
                                   : 0});
  }
  return loads;
}

plan::Picoseconds Simulator::busiest_link_time() const {
  std::vector<std::int64_t> crossed(capacities_.size(), 0);
  const plan::Step steps = std::min(job_.period, job_.options.steps - 1);
  for (TransferId id = 0; id < job_.transfers.size(); ++id) {
    const Transfer& transfer = job_.transfers[id];
    const std::int32_t step = job_.items[job_.items_of(transfer).front()].step;
    if (step < 1 || step > steps) {
      continue;
    }
    for (const LinkBytes& load : loads_of(id)) {
      crossed[load.link] += load.bytes;
    }
  }
  plan::Picoseconds longest = 0;
  for (std::size_t link = 0; link < capacities_.size(); ++link) {
    longest = std::max(longest, plan::wire_time(crossed[link] / steps, capacities_[link]));
  }
  return longest;
}

StepTimes simulate(const plan::Planner& planner, const plan::PlanInput& input, const Costs& costs,
                   const JobOptions& options) {
  const Job job = compile(planner, input, options);
  return Simulator(job).run(costs);
}

}  // namespace paceline::simulator
