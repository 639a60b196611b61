// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/estimate.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/text.h"
#include "paceline/bench/case_run.h"

namespace paceline::bench {
namespace {

constexpr double kAskAboveSeconds = 30 * 60;

std::string network_of(const record::Configuration& c) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}/{}",
                     c.model,
                     c.batch_size,
                     c.image_size,
                     c.classes,
                     c.dtype,
                     c.device,
                     c.channels_last,
                     c.optimizer,
                     c.accumulate,
                     c.threads);
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

// What rank 0 finds: empty to go on, else the sentence that ends the session;
// one that begins with '!' is an error.
std::string judge(comm::World& world,
                  const std::vector<record::Configuration>& cases,
                  const SessionOptions& options,
                  double cores) {
  const std::int64_t memory = usable_memory_bytes();
  std::map<std::string, Probe> probes;
  double seconds = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const record::Configuration& c = cases[i];
    if (!probes.contains(network_of(c))) {
      probes.emplace(
          network_of(c),
          probe_case(world,
                     c,
                     {.name = fmt::format("run{}/case{}/probe", options.run, i),
                      .interface = options.interface,
                      .timeout = options.timeout}));
    }
    const Probe& p = probes.at(network_of(c));
    const int here = std::min(c.ranks, world.place.local_world);
    const double crowd =
        c.device == "cpu" ? std::max(1.0, here * std::max(1, c.threads) / cores)
                          : 1.0;
    const int steps =
        c.warmup + c.steps + (c.ranks > 1 && !c.discard ? c.steps + 2 : 0);
    seconds += 2 * p.setup_s + steps * p.step_s * crowd;
    const std::int64_t needed = p.memory_bytes * here;
    largest = std::max(largest, p.memory_bytes);
    if (c.device == "cpu" && (!p.fits || needed > memory)) {
      return fmt::format(
          "!{} with batch {} on {} needs {} {:.1f} GB on this host, "
          "which has {:.1f} GB; use fewer ranks, a smaller --batch-size or "
          "--image-size.",
          c.model,
          c.batch_size,
          counted(here, "rank"),
          p.fits ? "about" : "more than",
          static_cast<double>(needed) * 1e-9,
          static_cast<double>(memory) * 1e-9);
    }
  }
  const int runs = std::max(1, options.experiment.runs - options.run);
  seconds *= runs;
  const std::string estimate = fmt::format(
      "estimated {} for {} x {}, {:.2f} GB per rank (from one probe step of "
      "each network)",
      duration_text(seconds),
      counted(std::ssize(cases), "case"),
      counted(runs, "run"),
      static_cast<double>(largest) * 1e-9);
  if (options.run == 0) {
    fmt::print(stderr, "{}\n", estimate);
  }
  if (seconds > kAskAboveSeconds && !options.yes) {
    return "This is more than 30 minutes: repeat with --yes to run it, or "
           "with fewer --steps, --runs, ranks or models.";
  }
  return "";
}

}  // namespace

bool confirm_estimate(comm::World& world,
                      Bulletin& bulletin,
                      const std::vector<record::Configuration>& cases,
                      const SessionOptions& options,
                      int cores) {
  if (world.place.rank == 0) {
    const std::string verdict =
        cases.empty() ? "" : judge(world, cases, options, cores);
    if (!verdict.empty() && verdict.front() != '!') {
      fmt::print(stderr, "{}\n", verdict);
    }
    bulletin.post("verdict", verdict.empty() ? "go" : verdict);
  }
  const std::string verdict =
      bulletin.read("verdict", std::chrono::milliseconds(0));
  if (verdict.front() == '!') {
    throw UsageError(verdict.substr(1));
  }
  return verdict == "go";
}

}  // namespace paceline::bench
