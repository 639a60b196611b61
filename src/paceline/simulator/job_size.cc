// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/simulator/job.h"
#include "paceline/simulator/rank_program.h"

namespace paceline::simulator {
namespace {

/// Throws UsageError for too many ops; every rank is assumed to have as many ops as rank 0.
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

/// The number of messages that a rank sends and receives in one step.
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

}  // namespace

void check_size(RankPrograms& programs, const Classes& classes, const JobOptions& options) {
  check_ops(programs.step_1_plan(0).ops.size(), options, classes.count());
  check_messages(programs, classes, options);
}

}  // namespace paceline::simulator
