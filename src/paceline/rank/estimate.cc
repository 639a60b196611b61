// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/estimate.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/case/same.h"
#include "paceline/case/tables.h"
#include "paceline/rank/case_time.h"
#include "paceline/rank/probe.h"

namespace paceline::rank {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, rejection, rejected, first_step_s)

namespace {

constexpr double kAskAboveSeconds = 30 * 60;

// Returns the estimated memory of a rank in bytes.  Two trainers are alive while steps without
// communication are measured; in a replay the trainer without communication writes nothing.
std::int64_t rank_memory_bytes(const cases::Case& c, const Probe& probe,
                               const PlannedCase& planned) {
  if (!c.replay.empty()) {
    return probe.memory_bytes + planned.written_bytes;
  }
  return probe.memory_bytes + (measures_communication_overhead(c) ? probe.state_bytes : 0);
}

// Returns the estimated memory in bytes of each rank on this host.  These are the first `here`
// ranks of the job.  In a job with embedding tables it is the memory of the rank's plan plus what
// the probe used in addition to its own plan.
std::vector<std::int64_t> memory_bytes_by_rank(const cases::Case& c, const Probe& probe,
                                               const PlannedCase& planned, int here) {
  std::vector<std::int64_t> memory(static_cast<std::size_t>(here),
                                   rank_memory_bytes(c, probe, planned));
  if (!c.has_tables() || !probe.fits || !planned.rejection.empty()) {
    return memory;
  }
  const auto held = cases::memory_of_run(c);
  cases::Case alone = c;
  alone.strategy = "none";
  const std::int64_t beside =
      std::max(std::int64_t{0}, probe.memory_bytes - cases::memory_of_run(alone).front().bytes());
  std::ranges::transform(memory, held, memory.begin(),
                         [&](auto, auto& one) { return beside + one.bytes(); });
  return memory;
}

// The total time and memory of the cases that have been estimated.
struct EstimateSum {
  double seconds = 0;
  std::int64_t memory_bytes = 0;  // memory of the rank that needs most
};

// Returns why the case does not fit in memory, or an empty text.  `ranks` has the bytes of each
// rank on this host.
std::string memory_rejection(const cases::Case& c, const Probe& probe,
                             const std::vector<std::int64_t>& ranks) {
  const std::int64_t memory = usable_memory_bytes();
  const std::int64_t needed = std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0});
  if (c.device != "cpu" || cases::runs_external_program(c) || (probe.fits && needed <= memory)) {
    return "";
  }
  return fmt::format(
      "{}{} on {} needs {} {:.1f} GB on this host, which has {:.1f} GB; use fewer "
      "ranks, or a smaller network, batch or table.",
      c.model, c.model == "hybrid" ? "" : fmt::format(" with batch {}", c.batch_size),
      counted(std::ssize(ranks), "rank"), probe.fits ? "about" : "more than",
      static_cast<double>(needed) * 1e-9, static_cast<double>(memory) * 1e-9);
}

// Returns the estimate as text.  `runs` holds every run of a case; a repeated case counts as one
// case.
std::string sum_text(const EstimateSum& sum, const std::vector<cases::Case>& runs) {
  std::set<std::string> keys;
  for (const cases::Case& c : runs) {
    keys.insert(c.key() + (c.discard ? " discarded" : ""));
  }
  const std::string cases = counted(std::ssize(keys), "case");
  return fmt::format(
      "estimated {} for {}, {:.2f} GB per rank (from a probe of each "
      "network{})",
      duration_text(sum.seconds),
      keys.size() < runs.size() ? fmt::format("{} runs of {}", runs.size(), cases) : cases,
      static_cast<double>(sum.memory_bytes) * 1e-9,
      std::ranges::any_of(runs, cases::runs_external_program)
          ? "; other frameworks are taken to be as fast as Paceline"
          : "");
}

// Sorts the cases so that those that need most memory by their networks' shapes come first.
std::vector<cases::Case> largest_first(std::vector<cases::Case> cases) {
  std::ranges::stable_sort(cases, std::ranges::greater(), least_memory_bytes);
  return cases;
}

// Returns why a case does not fit in memory, judged by its network's shape alone.  Returns an empty
// text if the case may fit.
std::string rejection_by_shape(const cases::Case& c, const engines::World& world) {
  const std::int64_t least = least_memory_bytes(c);
  const int here = std::min(c.ranks, world.self.local_world);
  return least * here <= usable_memory_bytes()
             ? ""
             : memory_rejection(c, {.fits = false},
                                std::vector<std::int64_t>(static_cast<std::size_t>(here), least));
}

// Estimates the cases of a job one by one, on rank 0.
class Estimator {
 public:
  Estimator(const engines::World& world, const EstimateOptions& options)
      : world_(world), options_(options) {}

  // Returns the estimate of `cases`, which must be sorted by largest_first().
  Estimate of(const std::vector<cases::Case>& cases) {
    std::vector<cases::Case> accepted;
    for (const cases::Case& c : cases) {
      const std::string why = rejection_of(c);
      if (why.empty()) {
        accepted.push_back(c);
        continue;
      }
      if (!options_.continues_without_rejected) {
        found_.rejection = why;
        return found_;
      }
      found_.rejected.emplace(c.key(), why);
    }
    if (accepted.empty()) {
      return found_;
    }
    const std::string text = sum_text(sum_, accepted);
    if (sum_.seconds > kAskAboveSeconds && !options_.settings.yes) {
      found_.rejection =
          text +
          ": more than 30 minutes; repeat with --yes to run it, or with fewer --steps, "
          "--runs, ranks or models.";
    } else {
      fmt::print(stderr, "{}\n", text);
    }
    return found_;
  }

 private:
  // Returns why the case is rejected.  If the text is empty, its time and memory are added to the
  // sum.
  std::string rejection_of(const cases::Case& c) {
    if (const auto known = found_.rejected.find(c.key()); known != found_.rejected.end()) {
      return known->second;
    }
    if (std::string why = rejection_by_shape(c, world_); !why.empty()) {
      return why;
    }
    const Probe& probe = probe_of(c);
    if (!probe.rejection.empty()) {
      return probe.rejection;
    }
    const int here = std::min(c.ranks, world_.self.local_world);
    const PlannedCase planned = probe.fits ? plan_case(c, probe.shape) : PlannedCase{};
    const auto of_ranks = memory_bytes_by_rank(c, probe, planned, here);
    std::string why = memory_rejection(c, probe, of_ranks);
    if (why.empty()) {
      why = planned.rejection;
    }
    if (why.empty()) {
      sum_.seconds += table_draw_seconds(c, options_.cores) +
                      seconds_of(c, probe, planned, threads_per_core(c, here, options_.cores));
      sum_.memory_bytes = std::max(sum_.memory_bytes, std::ranges::max(of_ranks));
      found_.first_step_s[network_key(c)] = probe.first_step_s;
    }
    return why;
  }

  // Returns the probe result of the case's network, which is probed only once.
  const Probe& probe_of(const cases::Case& c) {
    const auto [found, is_new] = probes_.try_emplace(network_key(c));
    if (!is_new) {
      return found->second;
    }
    if (options_.progress != nullptr) {
      options_.progress->show(
          fmt::format("estimating time and memory: a step of {}, batch {}", c.model, c.batch_size));
    }
    const cases::Settings& settings = options_.settings;
    return found->second = probe_case(world_, c,
                                      {.name = fmt::format("probe{}", probes_.size()),
                                       .interface = settings.interface,
                                       .limits = {.timeout = settings.timeout_ms()}});
  }

  const engines::World& world_;
  const EstimateOptions& options_;
  std::map<std::string, Probe> probes_;  // keys: network_key()
  EstimateSum sum_;
  Estimate found_;
};

}  // namespace

std::string network_key(const cases::Case& c) {
  const std::string network = cases::key_of_fields(
      c, {cases::Part::kNetwork, &cases::Case::batch_size, &cases::Case::device,
          &cases::Case::optimizer, &cases::Case::accumulate, &cases::Case::threads,
          &cases::Case::replay, &cases::Case::stretch,
          // The width of the dense network follows from the tables.
          &cases::Case::servers, &cases::Case::embeddings});
  // The embedding dimension is also part of the key for a network without tables, such as the dense
  // network alone.
  return fmt::format("{} embedding_dim={}", network, c.embedding_dim);
}

std::chrono::nanoseconds Estimate::first_step(const cases::Case& c, int ranks_here,
                                              int cores) const {
  const auto found = first_step_s.find(network_key(c));
  const double seconds =
      found == first_step_s.end() ? 0 : found->second * threads_per_core(c, ranks_here, cores);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

Estimate share_estimate(const engines::World& world, launch::PrefixStore& job,
                        const std::vector<cases::Case>& cases, const EstimateOptions& options) {
  if (cases.empty()) {
    return {};
  }
  if (world.self.rank == 0 && !world.store->get(kEstimateKey)) {
    Estimator estimator(world, options);
    job.set(kEstimateKey, nlohmann::json(estimator.of(largest_first(cases))).dump());
    if (options.progress != nullptr) {
      options.progress->clear();
    }
  }
  const auto shared = nlohmann::json::parse(job.wait(kEstimateKey)).get<Estimate>();
  if (!shared.rejection.empty()) {
    throw UsageError(shared.rejection);
  }
  return shared;
}

}  // namespace paceline::rank
