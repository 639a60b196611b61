// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/estimate.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/cluster/link_spec.h"
#include "paceline/experiment/flags.h"
#include "paceline/experiment/outside.h"
#include "paceline/measure/embedding_case.h"
#include "paceline/measure/external.h"
#include "paceline/measure/planner_input.h"
#include "paceline/measure/probe.h"
#include "paceline/measure/replay.h"
#include "paceline/measure/window.h"
#include "paceline/plan/cost.h"
#include "paceline/strategies/strategy.h"

namespace paceline::measure {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, refusal, first_step_s)

namespace {

constexpr double kAskAboveSeconds = 30 * 60;
constexpr double kFrameworkStartSeconds = 5;  // taken, as its speed is

std::string duration_text(double seconds) {
  if (seconds < 90) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 5400) {
    return fmt::format("{:.0f} min", seconds / 60);
  }
  return fmt::format("{:.1f} h", seconds / 3600);
}

// The threads that share a core; 1 for a replay, whose ranks sleep.
double crowd(const records::Configuration& c, int ranks_here, double cores) {
  return c.device == "cpu" && c.replay.empty()
             ? std::max(1.0, ranks_here * std::max(1, c.threads) / cores)
             : 1.0;
}

// Whether steps without communication are measured in turn with the others.
bool measures_pairs(const records::Configuration& c) {
  return !experiment::is_outside(c) && c.ranks > 1 && !c.discard &&
         c.strategy != "none";
}

// A case's plan before it is run.
struct Planned {
  std::string refusal;             // why there is none; empty: there is one
  std::int64_t written_bytes = 0;  // of a replay, by its fullest rank
  std::int64_t wire_bytes = 0;     // that a rank sends in a step
};

// On the emulated link alone: what overlap hides is not taken from it.
double link_seconds(const records::Configuration& c, const Planned& planned) {
  if (c.link.empty()) {
    return 0;
  }
  const auto link =
      cluster::stretched(cluster::parse_link("link", c.link), c.stretch);
  return static_cast<double>(planned.wire_bytes) / link.bytes_per_s;
}

double seconds_of(const records::Configuration& c,
                  const Probe& probe,
                  const Planned& planned,
                  double crowd) {
  const bool pairs = measures_pairs(c);
  const int first = pairs ? 2 : 1;
  const int paired = pairs ? pair_layout(c.steps).total_steps() : 0;
  const int steps = c.warmup + c.steps + paired;
  const int without_communication = paired / 2;
  return 2 * probe.setup_s +
         (experiment::is_outside(c) ? kFrameworkStartSeconds : 0) +
         (first * probe.first_step_s + (steps - first) * probe.step_s) * crowd +
         (steps - without_communication) * link_seconds(c, planned);
}

// Two trainers are alive while pairs are measured; in a replay the one without
// communication writes nothing.
std::int64_t memory_of(const records::Configuration& c,
                       const Probe& probe,
                       const Planned& planned) {
  if (!c.replay.empty()) {
    return probe.memory_bytes + planned.written_bytes;
  }
  return probe.memory_bytes + (measures_pairs(c) ? probe.state_bytes : 0);
}

// The memory of each rank on this host.  These are the first `here` ranks of
// the job.  In a job with tables the probe says what a rank takes beside what
// is counted of its plan.
std::vector<std::int64_t> memory_of_ranks(const records::Configuration& c,
                                          const Probe& probe,
                                          const Planned& planned,
                                          int here) {
  std::vector<std::int64_t> memory(static_cast<std::size_t>(here),
                                   memory_of(c, probe, planned));
  if (!c.has_tables() || !probe.fits || !planned.refusal.empty()) {
    return memory;
  }
  const auto held = predict::memory_of_run(c);
  records::Configuration alone = c;
  alone.strategy = "none";
  const std::int64_t beside = std::max(
      std::int64_t{0},
      probe.memory_bytes - predict::memory_of_run(alone).front().bytes());
  std::ranges::transform(memory, held, memory.begin(), [&](auto, auto& one) {
    return beside + one.bytes();
  });
  return memory;
}

// What the cases take together, as far as it has been looked at.
struct Sum {
  double seconds = 0;
  std::int64_t memory_bytes = 0;  // of the largest rank
};

// What needs less memory than the case.
std::string smaller_than(const records::Configuration& c,
                         std::int64_t ranks_that_fit,
                         const std::string& experiment) {
  std::string text = "use fewer ranks, a smaller --batch-size or --image-size";
  if (c.has_tables()) {
    text = fmt::format(
        "use fewer --trainers or --servers, {}fewer --embeddings "
        "or a smaller --embedding-dim",
        c.model == "dlrm" ? "a smaller --batch-size, " : "");
  }
  if (!c.replay.empty()) {  // its batch is the profile's
    text = fmt::format("use {}--replay FILE of a smaller network",
                       ranks_that_fit < 1
                           ? ""
                           : fmt::format("at most {} here, or ",
                                         counted(ranks_that_fit, "rank")));
  }
  const std::string smaller = experiment::smaller_experiment(
      experiment, experiment::experiment_roots());
  return smaller.empty()
             ? text
             : fmt::format("{}, or `paceline run {}`", text, smaller);
}

// `ranks`: what each rank on this host takes.
std::string memory_refusal(const records::Configuration& c,
                           const Probe& probe,
                           const std::vector<std::int64_t>& ranks,
                           const std::string& experiment) {
  const std::int64_t memory = usable_memory_bytes();
  const std::int64_t needed =
      std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0});
  if (c.device != "cpu" || experiment::is_outside(c) ||
      (probe.fits && needed <= memory)) {
    return "";
  }
  return fmt::format(
      "{}{} on {} needs {} {:.1f} GB on this host, which has {:.1f} GB; {}.",
      c.model,
      c.model == "hybrid" ? "" : fmt::format(" with batch {}", c.batch_size),
      counted(std::ssize(ranks), "rank"),
      probe.fits ? "about" : "more than",
      static_cast<double>(needed) * 1e-9,
      static_cast<double>(memory) * 1e-9,
      smaller_than(c, probe.fits ? memory / ranks.front() : 0, experiment));
}

// The first rank trains, the last one serves where servers are apart.
std::int64_t written_by_fullest(const plan::Planner& planner,
                                plan::PlanInput input) {
  const std::int64_t first = written_in_replay(planner, input);
  input.rank = input.world - 1;
  return std::max(first, written_in_replay(planner, input));
}

// Nothing is refused where times make the plan that are measured when the case
// begins, and where a command performs the case.
Planned plan_case(const records::Configuration& c,
                  const plan::ModelShape& shape) {
  if (is_external(c)) {
    return {};
  }
  const strategies::StrategySpec strategy = strategies::strategy_of(c);
  plan::PlanInput input = plan_input_of(c, shape);
  if (c.ranks > 1 && strategies::needs_times(strategy)) {
    add_known_times(c, input);
    if (!input.profile || !input.alpha_beta) {
      return {.refusal = "",
              .written_bytes = shape.bytes(),
              .wire_bytes = shape.bytes()};
    }
  }
  try {
    const auto planner = planner_of(c, strategy);
    const plan::Setup setup = planner->setup(input);
    const plan::CommPlan plan =
        planner->plan(input, setup, planner->variant(input, 0));
    return {.refusal = "",
            .written_bytes =
                c.replay.empty() ? 0 : written_by_fullest(*planner, input),
            .wire_bytes = plan::cost(setup, plan, input.rank).wire_bytes};
  } catch (const UsageError& error) {
    return {.refusal = fmt::format("{} of {} on {}: {}",
                                   c.strategy,
                                   c.model,
                                   counted(c.ranks, "rank"),
                                   error.what())};
  }
}

// `runs` are all that is to be done; a case that is repeated counts once.
std::string sum_text(const Sum& sum,
                     const std::vector<records::Configuration>& runs) {
  std::set<std::string> keys;
  for (const records::Configuration& c : runs) {
    keys.insert(c.key() + (c.discard ? " discarded" : ""));
  }
  const std::string cases = counted(std::ssize(keys), "case");
  return fmt::format(
      "estimated {} for {}, {:.2f} GB per rank (from a probe of each "
      "network{})",
      duration_text(sum.seconds),
      keys.size() < runs.size()
          ? fmt::format("{} runs of {}", runs.size(), cases)
          : cases,
      static_cast<double>(sum.memory_bytes) * 1e-9,
      std::ranges::any_of(runs, experiment::is_outside)
          ? "; other frameworks are taken to be as fast as Paceline"
          : "");
}

// On rank 0.
Estimate estimate(const engines::World& world,
                  const std::vector<records::Configuration>& cases,
                  const experiment::Settings& settings,
                  int cores) {
  Estimate found;
  std::map<std::string, Probe> probes;
  Sum sum;
  for (const records::Configuration& c : cases) {
    const std::string network = network_of(c);
    if (!probes.contains(network)) {
      probes.emplace(network,
                     probe_case(world,
                                c,
                                {.name = fmt::format("probe{}", probes.size()),
                                 .interface = settings.interface,
                                 .timeout = settings.timeout_ms()}));
    }
    const Probe& probe = probes.at(network);
    const int here = std::min(c.ranks, world.self.local_world);
    const Planned planned = probe.fits ? plan_case(c, probe.shape) : Planned{};
    sum.seconds += seconds_of(c, probe, planned, crowd(c, here, cores));
    const auto of_ranks = memory_of_ranks(c, probe, planned, here);
    sum.memory_bytes = std::max(sum.memory_bytes, std::ranges::max(of_ranks));
    found.first_step_s[network] = probe.first_step_s;
    found.refusal = memory_refusal(c, probe, of_ranks, settings.name);
    if (found.refusal.empty()) {
      found.refusal = planned.refusal;
    }
    if (!found.refusal.empty()) {
      return found;
    }
  }
  const std::string text = sum_text(sum, cases);
  if (sum.seconds > kAskAboveSeconds && !settings.yes) {
    found.refusal =
        text +
        ": more than 30 minutes; repeat with --yes to run it, or with fewer "
        "--steps, --runs, ranks or models.";
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  return found;
}

// The dense network's width comes from the tables.
std::string tables_of(const records::Configuration& c) {
  return fmt::format(
      "{}/{}/{}/{}", c.servers, c.embeddings, c.embedding_dim, c.compat_relu);
}

}  // namespace

std::string network_of(const records::Configuration& c) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}",
                     c.model,
                     c.batch_size,
                     c.image_size,
                     c.classes,
                     c.sequence_length,
                     c.compat_zeros,
                     c.dtype,
                     c.device,
                     c.channels_last,
                     c.optimizer,
                     c.accumulate,
                     c.threads,
                     c.replay,
                     c.stretch,
                     tables_of(c));
}

std::chrono::nanoseconds Estimate::first_step(const records::Configuration& c,
                                              int ranks_here,
                                              int cores) const {
  const auto found = first_step_s.find(network_of(c));
  const double seconds = found == first_step_s.end()
                             ? 0
                             : found->second * crowd(c, ranks_here, cores);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

Estimate share_estimate(const engines::World& world,
                        launch::PrefixStore& job,
                        const std::vector<records::Configuration>& cases,
                        const experiment::Settings& settings,
                        int cores) {
  if (cases.empty()) {
    return {};
  }
  if (world.self.rank == 0 && !world.store->get(kEstimateKey)) {
    job.set(kEstimateKey,
            nlohmann::json(estimate(world, cases, settings, cores)).dump());
  }
  const auto shared =
      nlohmann::json::parse(job.wait(kEstimateKey)).get<Estimate>();
  if (!shared.refusal.empty()) {
    throw UsageError(shared.refusal);
  }
  return shared;
}

}  // namespace paceline::measure
