// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "paceline/plan/interpreter.h"
#include "plan/toy_math.h"

namespace paceline::plan {

/// The interpreter's machine on doubles.
class ToyMachine final : public Machine {
 public:
  explicit ToyMachine(const PlanWorld& world) : world_(world), memory(world) {}

  void forward(Rank, Step, const Forward&) override {}

  void backward(Rank rank, Step step, const Backward& work) override {
    const ParameterPlacement& where = world_.setup(rank).parameters[index_of(work.parameter)];
    Values gradient = toy_gradient(rank, step, work, memory.read(rank, where.value));
    if (work.micro > 0) {
      const Values before = memory.read(rank, where.gradient);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] += before[i];
      }
    }
    memory.write(rank, where.gradient, gradient);
  }

  void kernel(Rank rank, Step step, const Kernel& work) override {
    std::vector<Values> reads;
    for (const Access& access : work.reads) {
      reads.push_back(memory.read(rank, access.slice));
    }
    const std::vector<Values> out = toy_kernel(work, reads, draws_anew ? step : 0);
    for (std::size_t w = 0; w < out.size(); ++w) {
      memory.write(rank, work.writes[w].slice, out[w]);
    }
  }

  void collective(const Communicator& on, const std::vector<const Collective*>& parts) override {
    std::vector<Values> inputs;
    for (std::size_t m = 0; m < parts.size(); ++m) {
      inputs.push_back(memory.read(on.members[m], parts[m]->in));
    }
    const std::vector<Values> out = toy_collective(on, parts, inputs);
    for (std::size_t m = 0; m < parts.size(); ++m) {
      memory.write(on.members[m], parts[m]->out, out[m]);
    }
  }

  void send(Rank from, const Slice& slice, std::size_t message) override {
    messages_[message] = memory.read(from, slice);
  }
  void receive(Rank to, const Slice& slice, std::size_t message) override {
    memory.write(to, slice, messages_.at(message));
  }

 private:
  const PlanWorld& world_;
  std::map<std::size_t, Values> messages_;

 public:
  bool draws_anew = false;  // what codecs draw differs from step to step
  ToyMemory memory;
};

/// values[rank][parameter][element]
using World = std::vector<std::vector<Values>>;

/// The largest difference of two values in one place.
inline double distance(const std::vector<Values>& a, const std::vector<Values>& b) {
  double most = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    for (std::size_t i = 0; i < a[p].size(); ++i) {
      most = std::max(most, std::fabs(a[p][i] - b[p][i]));
    }
  }
  return most;
}

inline double distance(const World& a, const World& b) {
  double most = 0;
  for (std::size_t r = 0; r < a.size(); ++r) {
    most = std::max(most, distance(a[r], b[r]));
  }
  return most;
}

inline World values_in(const ToyMemory& memory, const PlanWorld& plans) {
  World values;
  for (Rank rank = 0; rank < plans.ranks(); ++rank) {
    values.emplace_back();
    for (const ParameterPlacement& where : plans.setup(rank).parameters) {
      values.back().push_back(memory.read(rank, where.value));
    }
  }
  return values;
}

}  // namespace paceline::plan
