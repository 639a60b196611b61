// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/plan/interpreter.h"
#include "plan/toy_machine.h"

namespace paceline::strategies {

/// Least squares whose optimum differs from rank to rank: rank r has the loss sum over elements of
/// a/2 (x - b)^2.
class LeastSquares final : public Machine {
 public:
  /// `scale`: of the gradients; 0: nothing is learned.
  explicit LeastSquares(const PlanWorld& world, double scale = 1)
      : toys(world), world_(world), scale_(scale) {}

  static double curvature(Rank rank) { return 0.25 + 0.25 * (rank % 3); }
  static double center(Rank rank, std::size_t i) {
    return static_cast<double>((7 * rank + 3 * static_cast<Rank>(i)) % 11 - 5);
  }

  /// Where the sum of all losses is least.
  static double optimum(Rank ranks, std::size_t i) {
    double weighted = 0, weights = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      weighted += curvature(rank) * center(rank, i);
      weights += curvature(rank);
    }
    return weighted / weights;
  }

  void forward(Rank, Step, const Forward&) override {}
  void backward(Rank rank, Step, const Backward& work) override {
    const ParameterPlacement& where = world_.setup(rank).parameters[index_of(work.parameter)];
    Values gradient = toys.memory.read(rank, where.value);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = scale_ * curvature(rank) * (gradient[i] - center(rank, i));
    }
    toys.memory.write(rank, where.gradient, gradient);
  }
  void kernel(Rank rank, Step step, const Kernel& work) override { toys.kernel(rank, step, work); }
  void collective(const Communicator& on, const std::vector<const Collective*>& parts) override {
    toys.collective(on, parts);
  }
  void send(Rank from, const Slice& slice, std::size_t message) override {
    toys.send(from, slice, message);
  }
  void receive(Rank to, const Slice& slice, std::size_t message) override {
    toys.receive(to, slice, message);
  }

  ToyMachine toys;

 private:
  const PlanWorld& world_;
  double scale_;
};

}  // namespace paceline::strategies
