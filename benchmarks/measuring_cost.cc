// SPDX-License-Identifier: Apache-2.0
// measuring_cost [BATCH] [IMAGE]: what the runtime and its clocks take of a
// resnet50 step on one thread.  The same gates, links and completions as in
// training are driven with nothing between them; the product of calls and cost
// is set against a real step.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "paceline/base/clock.h"
#include "paceline/plan/program.h"
#include "paceline/stats/quantile.h"
#include "paceline/train/trainer.h"

namespace {

using namespace paceline;  // NOLINT: a program of one file

// Forward and backward, and nothing to do about them.
class ComputeOnly final : public plan::Planner {
 public:
  plan::Setup setup(const plan::PlanInput& input) const override {
    return plan::Frame(input, {input.model.ready_order}).finish();
  }
  plan::Variant variant(const plan::PlanInput& /*input*/,
                        plan::Step /*step*/) const override {
    return 0;
  }
  plan::CommPlan plan(const plan::PlanInput& input,
                      const plan::Setup& setup,
                      plan::Variant /*variant*/) const override {
    plan::Program program(input, setup);
    program.compute();
    return std::move(program).finish();
  }
  plan::Rank stand_in(const plan::PlanInput& /*input*/) const override {
    return 0;
  }
};

train::Team alone(comm::Engine& engine) {
  train::Team team;
  team.name = "measuring-cost";
  team.store = c10::make_intrusive<c10d::HashStore>();
  team.engine = &engine;
  return team;
}

// Median time of one step's bookkeeping, in ns.
double bookkeeping_ns(train::Trainer& trainer, int steps) {
  runtime::Executor& executor = trainer.executor();
  const std::size_t modules = trainer.input().model.modules.size();
  std::vector<double> samples;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t began = steady_ns();
    executor.begin_step();
    executor.begin_forward(0);
    for (std::size_t m = 0; m < modules; ++m) {
      executor.enter(static_cast<plan::ModuleId>(m));
      executor.leave(static_cast<plan::ModuleId>(m));
    }
    executor.begin_backward();
    executor.end_backward();  // completes every Backward of the step
    executor.take_waited_ns();
    executor.drain();
    samples.push_back(static_cast<double>(steady_ns() - began));
  }
  return stats::median(samples);
}

double step_ns(comm::Engine& engine, const record::Configuration& c) {
  train::Trainer trainer(c, alone(engine));
  trainer.step();
  trainer.drain();
  std::vector<double> samples;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t began = steady_ns();
    trainer.step();
    trainer.drain();
    samples.push_back(static_cast<double>(steady_ns() - began));
  }
  return stats::median(samples);
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  record::Configuration c;
  c.model = "resnet50";
  c.strategy = "none";
  c.batch_size = argc > 1 ? std::stoi(argv[1]) : 32;
  c.image_size = argc > 2 ? std::stoi(argv[2]) : 224;
  const auto engine = comm::make_engine("gloo");

  record::Configuration small = c;
  small.batch_size = 2;
  small.image_size = 32;
  train::TrainerOptions options;
  options.planner = std::make_shared<ComputeOnly>();
  train::Trainer trainer(small, alone(*engine), options);
  const auto& shape = trainer.input().model;
  const double bookkeeping = bookkeeping_ns(trainer, 1000);
  // Clock readings: 5 per step in the step loop, and at most 3 for each op
  // that is issued, waited for or run.
  const std::size_t ops = shape.parameters.size();
  const double clocks = static_cast<double>(5 + 3 * ops) * clock_cost_ns();
  const double step = step_ns(*engine, c);
  fmt::print(
      "resnet50: {} gates and {} gradients a step\n"
      "bookkeeping {:.0f} us a step, clocks at most {:.1f} us ({:.0f} ns a "
      "reading)\n"
      "step, batch {} at {} pixels, one thread: {:.0f} ms\n"
      "cost of measuring and of the runtime: {:.4f} % of the step\n",
      shape.modules.size(),
      ops,
      bookkeeping / 1e3,
      clocks / 1e3,
      clock_cost_ns(),
      c.batch_size,
      c.image_size,
      step / 1e6,
      100 * (bookkeeping + clocks) / step);
  return 0;
}
