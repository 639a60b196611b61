// SPDX-License-Identifier: Apache-2.0
// measuring_cost [BATCH] [IMAGE] [ROUNDS]: what the runtime and its clocks take of a resnet50 step
// on one thread.
//
// First the gates, links, completions and calls of each schedule's step are driven with nothing
// between them, over an engine that is done at once: calls a step times what they cost, against a
// real step.  Then real steps of the runtime over that engine and of PyTorch alone take turns: the
// ratio.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/optim.h>
#include <torch/types.h>

#include "instant_engine.h"
#include "paceline/base/clock.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/networks/batch.h"
#include "paceline/plan/program.h"
#include "paceline/rank/trainer.h"
#include "paceline/stats/quantile.h"
#include "paceline/strategies/strategy.h"

namespace {

using namespace paceline;  // NOLINT: a program of one file

/// A strategy's plan without its kernels: their arithmetic is the optimizer's, which PyTorch has to
/// do as well.
class WithoutKernels final : public plan::Planner {
 public:
  explicit WithoutKernels(const std::string& strategy)
      : planner_(strategies::make_planner(strategies::parse_strategy(strategy))) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    return planner_->setup(with_times(input));
  }
  plan::Variant variant(const plan::PlanInput& input, plan::Step step) const override {
    return planner_->variant(input, step);
  }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    plan::CommPlan kept;
    std::vector<std::optional<plan::OpIndex>> now;
    for (plan::Op& op : planner_->plan(with_times(input), setup, variant).ops) {
      if (std::holds_alternative<plan::Kernel>(op.work)) {
        now.emplace_back();
        continue;
      }
      now.emplace_back(static_cast<plan::OpIndex>(kept.ops.size()));
      std::vector<plan::OpIndex> after;
      for (const plan::OpIndex before : op.after) {
        if (const auto at = now[static_cast<std::size_t>(before)]) {
          after.push_back(*at);
        }
      }
      op.after = std::move(after);
      kept.ops.push_back(std::move(op));
    }
    return kept;
  }
  plan::Symmetry symmetry(const plan::PlanInput& input) const override {
    return planner_->symmetry(input);
  }

 private:
  /// Some planners cut by times; here any will do.
  static plan::PlanInput with_times(const plan::PlanInput& input) {
    plan::PlanInput timed = input;
    timed.profile = {
        .origin = "all layers alike",
        .forward = std::vector<plan::Picoseconds>(input.model.modules.size(), 1'000'000'000),
        .backward = std::vector<plan::Picoseconds>(input.model.parameters.size(), 1'000'000'000)};
    timed.alpha_beta =
        cluster::alpha_beta_of(cluster::parse_link("a link", "1Gbit,50us"), input.world);
    return timed;
  }

  std::shared_ptr<const plan::Planner> planner_;
};

rank::RankGroup group_of(engines::Engine& engine, int world, const std::string& name) {
  rank::RankGroup group;
  group.name = name;
  group.store = c10::make_intrusive<c10d::HashStore>();
  group.engine = &engine;
  group.world = world;
  return group;
}

/// Median time of one step's bookkeeping, in ns.
double bookkeeping_ns(rank::Trainer& trainer, int steps) {
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

std::size_t calls_of(const rank::Trainer& trainer) {
  const auto plan = trainer.planner().plan(trainer.input(), trainer.setup(), 0);
  return static_cast<std::size_t>(std::ranges::count_if(plan.ops, [](const plan::Op& op) {
    return std::holds_alternative<plan::Collective>(op.work);
  }));
}

/// PyTorch's own loop over the same network and batch.
class Plain {
 public:
  explicit Plain(const cases::Case& c)
      : network_(networks::make_network(networks::find_network(c.model),
                                        {.image_size = c.image_size}, c.seed)),
        batch_(networks::make_batch(
            networks::find_network(c.model),
            {.batch_size = c.batch_size, .seed = c.seed, .network = {.image_size = c.image_size}})),
        sgd_(network_->parameters(), torch::optim::SGDOptions(c.learning_rate)
                                         .momentum(c.momentum)
                                         .weight_decay(c.weight_decay)) {}

  void step() {
    sgd_.zero_grad();
    network_->loss(batch_).backward();
    sgd_.step();
  }

 private:
  std::shared_ptr<networks::Network> network_;
  networks::Batch batch_;
  torch::optim::SGD sgd_;
};

/// What one step takes: on the clock, and of the processors, which does not count what other
/// programs take meanwhile.
struct Taken {
  double wall_ns = 0, cpu_ns = 0;
};

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class Step>
Taken timed(const Step& step) {
  const std::int64_t began = steady_ns();
  const double cpu = cpu_ns();
  step();
  return {static_cast<double>(steady_ns() - began), cpu_ns() - cpu};
}

void print_ratio(const char* what, std::vector<double> ratios) {
  std::ranges::sort(ratios);
  fmt::print("{}: {:.3f} (median of {}, from {:.3f} to {:.3f})\n", what, stats::median(ratios),
             ratios.size(), ratios.front(), ratios.back());
}

/// Prints the rows of bookkeeping against a step of `step` ns.
void print_products(const cases::Case& c, double step) {
  benchmarks::InstantEngine engine;
  cases::Case small = c;
  small.batch_size = 2;
  small.image_size = 32;
  small.as_original = true;  // else gradients that no step made are zeroed
  fmt::print("{:>14}  {:>5}  {:>14}  {:>9}  {:>9}\n", "schedule", "calls", "bookkeeping us",
             "clocks us", "% of step");
  for (const std::string schedule :
       {"bsp", "wfbp", "fusion", "bytescheduler:partition-mb=4,credit-mb=16", "dear"}) {
    rank::TrainerOptions options;
    options.planner = std::make_shared<WithoutKernels>(schedule);
    small.strategy = schedule;
    rank::Trainer trainer(small, group_of(engine, 2, schedule), options);
    const double bookkeeping = bookkeeping_ns(trainer, 300);
    // Clock readings: 5 per step in the step loop, and at most 3 for each op that is issued, waited
    // for or run.
    const std::size_t ops = trainer.input().model.parameters.size() + calls_of(trainer);
    const double clocks = static_cast<double>(5 + 3 * ops) * clock_cost_ns();
    fmt::print("{:>14}  {:5}  {:14.0f}  {:9.1f}  {:9.4f}\n", schedule.substr(0, schedule.find(':')),
               calls_of(trainer), bookkeeping / 1e3, clocks / 1e3,
               100 * (bookkeeping + clocks) / step);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  cases::Case c;
  c.model = "resnet50";
  c.strategy = "fusion";
  c.batch_size = argc > 1 ? std::stoi(argv[1]) : 32;
  c.image_size = argc > 2 ? std::stoi(argv[2]) : 224;
  const int rounds = argc > 3 ? std::stoi(argv[3]) : 5;

  benchmarks::InstantEngine engine;
  Plain plain(c);
  rank::Trainer trainer(c, group_of(engine, 2, "instant"));
  std::vector<double> theirs, wall, cpu;
  for (int round = -1; round < rounds; ++round) {
    const auto our_step = [&] {
      trainer.step();
      trainer.drain();
    };
    const auto their_step = [&] { plain.step(); };
    // Whoever comes first may find the caches warmer: in turns.
    const bool first = round % 2 == 0;
    Taken ours = first ? timed(our_step) : Taken{};
    const Taken other = timed(their_step);
    ours = first ? ours : timed(our_step);
    if (round >= 0) {  // the first is for warming up
      theirs.push_back(other.wall_ns);
      wall.push_back(ours.wall_ns / other.wall_ns);
      cpu.push_back(ours.cpu_ns / other.cpu_ns);
    }
  }
  const auto& shape = trainer.input().model;
  const double step = stats::median(theirs);
  fmt::print(
      "resnet50: {} gates and {} gradients a step; step of PyTorch alone, batch {} at {} pixels, "
      "one thread: {:.0f} ms; a clock reading {:.0f} ns\n\n",
      shape.modules.size(), shape.parameters.size(), c.batch_size, c.image_size, step / 1e6,
      clock_cost_ns());
  print_products(c, step);
  fmt::print("\nfusion over an instant engine / PyTorch alone, in turns\n");
  print_ratio("  time on the clock", wall);
  print_ratio("  processor time", cpu);
  return 0;
}
