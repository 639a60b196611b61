// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/job.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/dependency_analyzer.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/plan/period.h"
#include "paceline/plan/program.h"
#include "paceline/simulator/matching.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::simulator {
namespace {

/// Throws UsageError if the job would have too many ops. Every rank is assumed to have as many ops
/// as rank 0.
void check_ops(std::size_t ops, const JobOptions& options, plan::Rank actors) {
  const double items = static_cast<double>(ops) * actors * static_cast<double>(options.steps);
  if (items > static_cast<double>(kMostItems)) {
    throw UsageError(
        fmt::format("{} steps of {} simulated {} with {} operations each are {:.0f} operations, "
                    "and at most {:.0f} can be simulated: ask for fewer steps or ranks{}",
                    options.steps, actors, actors == 1 ? "rank" : "ranks", ops, items,
                    static_cast<double>(kMostItems),
                    options.fold ? "" : "; without noise, ranks that do alike count once"));
  }
}

/// Returns the number of messages that a rank sends and receives in one step.
std::int64_t messages_of(const plan::CommPlan& plan) {
  std::size_t messages = 0;
  for (const plan::Op& op : plan.ops) {
    if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
      messages += exchange->sends.size() + exchange->receives.size();
    }
  }
  return static_cast<std::int64_t>(messages);
}

/// Throws UsageError for too many messages.  Messages to many ranks are counted one by one, even if
/// one transfer stands for them.
void check_messages(RankPrograms& programs, const Classes& classes, const JobOptions& options) {
  std::int64_t messages = 0;
  for (plan::Rank rank = 0; rank < classes.world(); ++rank) {
    if (classes.representative[static_cast<std::size_t>(rank)] == rank) {
      messages += messages_of(programs.step_1_plan(rank)) * options.steps;
    }
    if (messages > kMostItems) {
      throw UsageError(fmt::format(
          "{} steps of {} simulated ranks, some of which exchange with many of the {}, have more "
          "than {} messages: ask for fewer steps, ranks or servers, or larger partitions",
          options.steps, classes.count(), classes.world(), kMostItems));
    }
  }
}

/// Throws UsageError if the steps of the simulated ranks would have more than kMostItems ops or
/// messages.  Plans one step of rank 0 and, if it does not have too many ops, one step of each
/// simulated rank.
void check_size(RankPrograms& programs, const Classes& classes, const JobOptions& options) {
  check_ops(programs.step_1_plan(0).ops.size(), options, classes.count());
  check_messages(programs, classes, options);
}

using plan::CommPlan;
using plan::Dependencies;
using plan::Edge;
using plan::Op;

/// For each op of a step, lists the earlier ops that it waits for.  The step of an Edge is the
/// number of steps back from the op.  Exclusions between kernels are omitted, because a rank runs
/// its kernels one by one anyway.
class StepDependencies {
 public:
  StepDependencies(const plan::ModelShape& model, const RankProgram& program, plan::Step period)
      : analyzer_(model, program.setup), program_(program), period_(period) {}

  /// Returns the dependencies of a step.  If the edges of a whole period equal those of the period
  /// before, later steps repeat them and are not analyzed again.  Plans with slack (plan/access.h)
  /// are always analyzed, because their edges may reach back more than a period.
  const Dependencies& of(plan::Step step) {
    const auto index = static_cast<std::size_t>(step);
    if (repeats_ >= period_) {
      shown_ = by_step_[by_step_.size() - static_cast<std::size_t>(period_) +
                        static_cast<std::size_t>((step - static_cast<plan::Step>(by_step_.size())) %
                                                 period_)];
    } else {
      by_step_.push_back(relative(analyzer_.open(step, *program_.steps[index]), step));
      const bool same =
          step > period_ && by_step_.back().waits_for ==
                                by_step_[index - static_cast<std::size_t>(period_)].waits_for;
      repeats_ = same && !plan::has_slack(*program_.steps[index]) ? repeats_ + 1 : 0;
      shown_ = by_step_.back();
    }
    return shown_;
  }

 private:
  static Dependencies relative(Dependencies dependencies, plan::Step step) {
    for (auto& list : dependencies.waits_for) {
      for (Edge& edge : list) {
        edge.step = step - edge.step;
      }
    }
    return dependencies;
  }
  plan::DependencyAnalyzer analyzer_;
  const RankProgram& program_;
  plan::Step period_;
  std::vector<Dependencies> by_step_;
  Dependencies shown_;
  plan::Step repeats_ = 0;
};

class Compiler {
 public:
  Compiler(const plan::Planner& planner, const plan::PlanInput& input, const JobOptions& options)
      : owned_(std::make_shared<RankPrograms>(planner, input, options.steps)), programs_(*owned_) {
    job_.programs = owned_;
    job_.input = input;
    job_.options = options;
    job_.classes = options.fold ? folded_classes(planner, input) : unfolded_classes(input);
    check_size(programs_, job_.classes, options);
    job_.period = period_of(planner, input);
  }

  Job run() {
    add_actors();
    for (std::uint32_t a = 0; a < job_.actors.size(); ++a) {
      add_items(a);
    }
    index_dependents();
    Matching(programs_, job_).add();
    add_traffic();
    return std::move(job_);
  }

 private:
  /// Sets the job's wire_bytes and calls: means per step over the last period, of the simulated
  /// rank that sends the most bytes.
  void add_traffic() {
    for (const Actor& actor : job_.actors) {
      const RankProgram& program = programs_.of(actor.rank);
      const auto steps = std::min(static_cast<std::size_t>(job_.period), program.steps.size());
      std::int64_t bytes = 0, calls = 0;
      std::map<const CommPlan*, plan::Cost> costs;
      for (std::size_t i = program.steps.size() - steps; i < program.steps.size(); ++i) {
        const CommPlan* plan = program.steps[i];
        const auto [cost, fresh] = costs.try_emplace(plan);
        if (fresh) {
          cost->second = plan::cost(program.setup, *plan, actor.rank);
        }
        bytes += cost->second.wire_bytes;
        calls += cost->second.calls;
      }
      bytes /= static_cast<std::int64_t>(steps);
      if (&actor == &job_.actors.front() || bytes > job_.wire_bytes) {
        job_.wire_bytes = bytes;
        job_.calls = calls / static_cast<std::int64_t>(steps);
      }
    }
  }

  void add_actors() {
    const Classes& classes = job_.classes;
    std::vector<std::int32_t> home;  // number of the host of each actor
    for (plan::Rank rank = 0; rank < classes.world(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (classes.representative[r] == rank) {
        job_.actor_numbers.emplace(rank, static_cast<std::uint32_t>(job_.actors.size()));
        home.push_back(classes.host_of[r]);
        job_.actors.push_back(
            {.rank = rank,
             .represented_ranks = 0,
             .count_on_host = 0,
             .host = static_cast<std::uint32_t>(
                 classes.host_class[static_cast<std::size_t>(classes.host_of[r])])});
      }
      const std::uint32_t actor = job_.actor_of(rank);
      job_.actors[actor].represented_ranks += 1;
      job_.actors[actor].count_on_host += classes.host_of[r] == home[actor] ? 1 : 0;
    }
  }

  /// Adds the items of an actor.  The ops of a step up to its first model work also wait for those
  /// ops of the previous step that other code than the executor issues (plan::Op), because the
  /// backward pass ends with them.
  void add_items(std::uint32_t a) {
    Actor& actor = job_.actors[a];
    const RankProgram& program = programs_.of(actor.rank);
    actor.first = static_cast<ItemId>(job_.items.size());
    for (const std::uint32_t begin : program.begin) {
      actor.steps.push_back(actor.first + begin);
    }
    add_queues(a);
    StepDependencies dependencies(job_.input.model, program, job_.period);
    std::optional<ItemId> model_work;
    // Ops that performers issue: in this step, and in the step before.
    std::vector<ItemId> owned_ops, before;
    for (plan::Step step = 0; step < job_.options.steps; ++step) {
      const Dependencies& waits = dependencies.of(step);
      const CommPlan& plan = *program.steps[static_cast<std::size_t>(step)];
      before = std::exchange(owned_ops, {});
      for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        const auto id = static_cast<ItemId>(job_.items.size());
        Item item = item_of(a, program, step, i);
        const auto wait_for = [&](ItemId earlier) {
          edges_.emplace_back(earlier, id);
          ++item.waits;
        };
        for (const Edge& edge : waits.waits_for[i]) {
          wait_for(at(actor, step - edge.step, edge.op));
        }
        std::ranges::for_each(before, wait_for);
        if (!plan.ops[i].performer.empty()) {
          owned_ops.push_back(id);
        }
        if (plan::is_model_work(plan.ops[i])) {
          before.clear();  // later ops wait for this op, which waits for those in `before`
          if (model_work) {
            wait_for(*model_work);
          }
          model_work = id;
          actor.trains = true;
        }
        if (item.queue >= 0) {
          auto& items = job_.queues[static_cast<std::size_t>(item.queue)].items;
          item.number = static_cast<std::uint32_t>(items.size());
          items.push_back(id);
        }
        job_.items.push_back(item);
      }
    }
  }

  static ItemId at(const Actor& actor, plan::Step step, plan::OpIndex op) {
    return actor.steps[static_cast<std::size_t>(step)] + static_cast<ItemId>(op);
  }

  void add_queues(std::uint32_t a) {
    Actor& actor = job_.actors[a];
    const RankProgram& program = programs_.of(actor.rank);
    queue_of_.clear();
    const auto need = [&](plan::CommunicatorId on) {
      if (queue_of_.contains(plan::index_of(on))) {
        return;
      }
      const auto id = static_cast<std::uint32_t>(job_.queues.size());
      queue_of_[plan::index_of(on)] = static_cast<std::int32_t>(id);
      actor.queues.push_back(id);
      job_.queues.push_back({.actor = a,
                             .order = program.on(on).order,
                             .credit = program.on(on).credit_bytes,
                             .leader = id});
    };
    for (const auto& [variant, plan] : program.plans) {
      for (const Op& op : plan.ops) {
        if (const auto on = plan::communicator_of(op)) {
          need(*on);
        }
      }
    }
  }

  Item item_of(std::uint32_t a, const RankProgram& program, plan::Step step, std::size_t index) {
    const Op& op = program.steps[static_cast<std::size_t>(step)]->ops[index];
    Item item{.actor = a,
              .step = static_cast<std::int32_t>(step),
              .op = static_cast<plan::OpIndex>(index),
              .priority = op.priority};
    if (const auto* forward = std::get_if<plan::Forward>(&op.work)) {
      item.kind = ItemKind::kForward;
      item.subject = static_cast<std::int32_t>(forward->module);
    } else if (const auto* backward = std::get_if<plan::Backward>(&op.work)) {
      item.kind = ItemKind::kBackward;
      item.subject = static_cast<std::int32_t>(backward->parameter);
    } else if (const auto* kernel = std::get_if<plan::Kernel>(&op.work)) {
      item.kind = ItemKind::kKernel;
      item.subject = kernel_shape(*kernel, program.setup);
    } else {
      item.kind = std::holds_alternative<plan::Collective>(op.work) ? ItemKind::kCollective
                                                                    : ItemKind::kExchange;
      item.queue = queue_of_.at(plan::index_of(*plan::communicator_of(op)));
      item.bytes = plan::credit_bytes_of(program.setup, op);
    }
    return item;
  }

  std::int32_t kernel_shape(const plan::Kernel& kernel, const plan::Setup& setup) {
    const KernelShape shape = shape_of(kernel, setup);
    const auto next = static_cast<std::int32_t>(kernel_shapes_.size());
    const auto [found, fresh] = kernel_shapes_.emplace(shape, next);
    if (fresh) {
      job_.kernel_shapes.push_back(shape);
    }
    return found->second;
  }

  void index_dependents() {
    std::vector<std::uint32_t> count(job_.items.size() + 1, 0);
    for (const auto& [before, after] : edges_) {
      ++count[before + 1];
    }
    for (std::size_t i = 1; i < count.size(); ++i) {
      count[i] += count[i - 1];
    }
    for (std::size_t i = 0; i < job_.items.size(); ++i) {
      job_.items[i].first_dependent = count[i];
    }
    job_.dependents.resize(edges_.size());
    for (const auto& [before, after] : edges_) {
      job_.dependents[count[before]++] = after;
    }
    job_.items.push_back({.first_dependent = static_cast<std::uint32_t>(edges_.size())});
  }

  std::shared_ptr<RankPrograms> owned_;
  RankPrograms& programs_;
  Job job_;
  std::vector<std::pair<ItemId, ItemId>> edges_;
  std::map<std::size_t, std::int32_t> queue_of_;  // of the current actor, by communicator
  std::map<KernelShape, std::int32_t> kernel_shapes_;
};

}  // namespace

KernelShape shape_of(const plan::Kernel& kernel, const plan::Setup& setup) {
  KernelShape shape{.name = std::string(kernel.name)};
  const plan::KernelTraits* traits = plan::find_kernel_traits(kernel.name);
  const bool accesses_by_index = traits != nullptr && traits->accesses_by_index;
  for (const auto* list : {&kernel.reads, &kernel.writes}) {
    for (const plan::Access& access : *list) {
      const plan::Slice& slice = access.slice;
      const plan::Buffer& buffer = setup.buffers[plan::index_of(slice.buffer)];
      if (accesses_by_index && !buffer.typical) {
        continue;
      }
      shape.bytes += std::min(slice.count, buffer.typical.value_or(slice.count)) *
                     plan::size_of(buffer.dtype) * (accesses_by_index ? 2 : 1);
    }
  }
  for (const plan::Access& access : kernel.writes) {
    for (const plan::ParameterPlacement& placement : setup.parameters) {
      shape.tensors += plan::overlap(placement.value, access.slice) ? 1 : 0;
    }
  }
  return shape;
}

std::string describe(const Job& job, ItemId id) {
  const Item& item = job.items[id];
  const RankProgram& program = job.programs->of(job.actors[item.actor].rank);
  return fmt::format("rank {}, step {}, op {}: {}", job.actors[item.actor].rank, item.step, item.op,
                     plan::describe(program.op(id - job.actors[item.actor].first), job.input.model,
                                    program.setup));
}

plan::Step period_of(const plan::Planner& planner, const plan::PlanInput& input) {
  if (const auto period = plan::period_of(planner, input, kLongestPeriod)) {
    return *period;
  }
  throw UsageError(
      fmt::format("the strategy's steps repeat after more than {}; a simulation "
                  "needs two periods: choose a shorter one",
                  kLongestPeriod));
}

Job compile(const plan::Planner& planner, const plan::PlanInput& input, const JobOptions& options) {
  if (options.steps < 2) {
    throw UsageError(fmt::format("{} steps to simulate; at least 2 are needed", options.steps));
  }
  plan::check_shape(input);
  return Compiler(planner, input, options).run();
}

}  // namespace paceline::simulator
