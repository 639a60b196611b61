// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_time.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/case/tables.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/rank/embedding_case.h"
#include "paceline/rank/external.h"
#include "paceline/rank/planner_input.h"
#include "paceline/rank/replay.h"
#include "paceline/rank/window.h"
#include "paceline/strategies/strategy.h"

namespace paceline::rank {
namespace {

// The side, in pixels, of the images with which the stored network shapes were traced.
constexpr double kSideOfShapes = 224;

// The fraction of a convolution's input and output bytes that autograd keeps for backward.  Inputs
// are kept, but several convolutions may share one.  Outputs are kept if a normalization reads
// them.
constexpr double kKeptFraction = 0.75;
constexpr double kKeptOfInputs = 0.5;  // the same fraction if no normalization reads the output

double kept_bytes(const plan::NetworkShape& shape) {
  double bytes = 0;
  for (std::size_t i = 0; i < shape.work.size(); ++i) {
    if (shape.work[i].kind == plan::LayerKind::kConvolution) {
      const bool normalized =
          i + 1 < shape.work.size() && shape.work[i + 1].kind == plan::LayerKind::kNormalization;
      bytes += shape.work[i].bytes * (normalized ? kKeptFraction : kKeptOfInputs);
    }
  }
  return bytes;
}

bool has_shape(const cases::Case& c) {
  const auto names = plan::network_names();
  return c.device == "cpu" && c.replay.empty() && !c.has_tables() &&
         !cases::runs_external_program(c) && std::ranges::find(names, c.model) != names.end();
}

// Returns the seconds that drawing one random number takes.
double seconds_per_random_number() {
  constexpr int kNumbers = 1 << 16;
  Random random(1);
  double sum = 0;
  const Stopwatch watch;
  for (int i = 0; i < kNumbers; ++i) {
    sum += random.normal();
  }
  const double seconds = to_seconds(watch.elapsed());
  // The comparison depends on the sum, so that the compiler cannot remove the loop.
  return sum == sum ? seconds / kNumbers : 0;
}

// The assumed time for which another framework starts.  Its steps are assumed to be as fast as
// Paceline's.
constexpr double kFrameworkStartSeconds = 5;

// Returns the seconds per step that the emulated link alone needs.  Overlap with compute is not
// subtracted.
double link_seconds_per_step(const cases::Case& c, const PlannedCase& planned) {
  if (c.link.empty()) {
    return 0;
  }
  const auto link = cluster::stretched(cluster::parse_link("link", c.link), c.stretch);
  return static_cast<double>(planned.wire_bytes) / link.bytes_per_s;
}

// Returns the larger of the bytes that a replay writes on the first rank, which trains, and on the
// last rank, which is a server if servers are ranks of their own.
std::int64_t largest_written_bytes(const plan::Planner& planner, plan::PlanInput input) {
  const std::int64_t first = replay_written_bytes(planner, input);
  input.rank = input.world - 1;
  return std::max(first, replay_written_bytes(planner, input));
}

}  // namespace

std::int64_t least_memory_bytes(const cases::Case& c) {
  if (!has_shape(c)) {
    return 0;
  }
  const plan::NetworkShape shape = plan::network_shape(c.model);
  const double of_fp32 = c.dtype == "fp32" ? 1 : 0.5;
  const double side = c.image_size == 0 ? 1 : c.image_size / kSideOfShapes;
  const int samples = c.batch_size / std::max(1, c.accumulate);
  const int copies = 2 + cases::optimizer_of(c).state_buffers;
  return static_cast<std::int64_t>(of_fp32 * (static_cast<double>(shape.model.bytes()) * copies +
                                              kept_bytes(shape) * side * side * samples));
}

double table_draw_seconds(const cases::Case& c, int cores) {
  const auto job = cases::embedding_job_of(c);
  if (!job || c.strategy == "none") {
    return 0;
  }
  const strategies::TableMap map(*job);
  const plan::Rank holders = job->colocated ? job->trainers : job->servers;
  double most = 0;
  double all = 0;
  for (plan::Rank server = 0; server < holders; ++server) {
    const auto numbers = static_cast<double>(map.row_count_of(server) * job->dim);
    most = std::max(most, numbers / std::max(1, c.threads));
    all += numbers;
  }
  return seconds_per_random_number() * std::max(most, all / std::max(1, cores));
}

std::string duration_text(double seconds) {
  if (seconds < 90) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 5400) {
    return fmt::format("{:.0f} min", seconds / 60);
  }
  return fmt::format("{:.1f} h", seconds / 3600);
}

double threads_per_core(const cases::Case& c, int ranks_here, double cores) {
  return c.device == "cpu" && c.replay.empty()
             ? std::max(1.0, ranks_here * std::max(1, c.threads) / cores)
             : 1.0;
}

bool measures_communication_overhead(const cases::Case& c) {
  const bool by_others = cases::runs_external_program(c) && c.framework != cases::kOwnNetwork;
  return !by_others && c.ranks > 1 && !c.discard && c.strategy != "none";
}

double seconds_of(const cases::Case& c, const Probe& probe, const PlannedCase& planned,
                  double threads_per_core) {
  const bool pairs = measures_communication_overhead(c);
  const int first = pairs ? 2 : 1;
  const int paired = pairs ? pair_layout(c.steps).total_steps() : 0;
  const int steps = c.warmup + c.steps + paired;
  const int without_communication = paired / 2;
  return 2 * probe.preparation_s + (cases::runs_external_program(c) ? kFrameworkStartSeconds : 0) +
         (first * probe.first_step_s + (steps - first) * probe.step_s) * threads_per_core +
         (steps - without_communication) * link_seconds_per_step(c, planned);
}

PlannedCase plan_case(const cases::Case& c, const plan::ModelShape& shape) {
  if (is_external(c)) {
    return {};
  }
  const strategies::StrategySpec strategy = strategies::strategy_of(c);
  plan::PlanInput input = plan_input_of(c, shape);
  if (c.ranks > 1 && strategies::needs_times(strategy)) {
    add_configured_times(c, input);
    if (!input.profile || !input.alpha_beta) {
      return {.rejection = "", .written_bytes = shape.bytes(), .wire_bytes = shape.bytes()};
    }
  }
  try {
    const auto planner = planner_of(c, strategy);
    const plan::Setup setup = planner->setup(input);
    const plan::CommPlan plan = planner->plan(input, setup, planner->variant(input, 0));
    return {.rejection = "",
            .written_bytes = c.replay.empty() ? 0 : largest_written_bytes(*planner, input),
            .wire_bytes = plan::cost(setup, plan, input.rank).wire_bytes};
  } catch (const UsageError& error) {
    return {.rejection = fmt::format("{} of {} on {}: {}", c.strategy, c.model,
                                     counted(c.ranks, "rank"), error.what())};
  }
}

namespace {

// Returns the seconds of a replay, by its profile's times; nothing for a case that is no replay.
std::optional<double> replay_seconds(const cases::Case& c) {
  if (c.replay.empty()) {
    return std::nullopt;
  }
  const cluster::ProfiledModel replayed = cluster::read_profile(c.replay);
  const double step =
      c.stretch * plan::seconds_of(replayed.profile.forward_total() +
                                   replayed.profile.backward_total() + replayed.update.value_or(0));
  const Probe probe{.first_step_s = step, .step_s = step, .shape = replayed.model};
  return seconds_of(c, probe, plan_case(c, probe.shape), 1);
}

}  // namespace

std::string replay_time_text(const std::vector<cases::Case>& cases, int runs) {
  double seconds = 0;
  std::int64_t known = 0;
  for (const cases::Case& c : cases) {
    if (const auto of_case = replay_seconds(c)) {
      seconds += *of_case;
      ++known;
    }
  }
  const std::int64_t unknown = std::ssize(cases) - known;
  const std::string text =
      known == 0 ? ""
                 : fmt::format("time: about {} for {}, by the profiles",
                               duration_text(seconds * runs), counted(known, "replayed case"));
  if (unknown == 0) {
    return text + "\n";
  }
  return fmt::format("{}of {} no time is known without a probe, which a run makes first\n",
                     text.empty() ? "time: " : text + "; ", counted(unknown, "case"));
}

}  // namespace paceline::rank
