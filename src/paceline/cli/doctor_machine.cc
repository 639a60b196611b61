// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/case/machine.h"
#include "paceline/cli/doctor.h"
#include "paceline/launch/network_interface.h"
#include "paceline/records/environment.h"

namespace paceline::cli {
namespace {

using Facts = std::map<std::string, std::string>;

Finding check_interface() {
  const std::string name = launch::outward_interface();
  if (name.empty()) {
    return {.name = "interface",
            .health = Health::kAdvice,
            .seen = "none but the loopback: runs on this host alone",
            .advice = "for several hosts, bring an interface with an IPv4 address up"};
  }
  return {
      .name = "interface",
      .seen = fmt::format(
          "several hosts would talk over {} (--interface takes another); ranks of one host over lo",
          name)};
}

Finding check_cores(const Facts& facts) {
  const int usable = cases::usable_cores();
  const std::string threads = records::fact_of(facts, "threads");
  Finding finding{
      .name = "cores",
      .seen = fmt::format("{} of {} hardware threads may be used ({}; CPUs {})", usable,
                          threads.empty() ? "?" : threads, records::fact_of(facts, "cpu_model"),
                          records::fact_of(facts, "affinity"))};
  if (usable == 1) {
    finding.health = Health::kAdvice;
    finding.advice =
        "ranks that share a core say nothing about scaling: allow "
        "more cores (taskset, cgroup limits), or read one-rank "
        "figures only";
  }
  return finding;
}

Finding check_load(const Facts& facts) {
  const std::string load = records::fact_of(facts, "load_average");
  const double now = std::strtod(load.c_str(), nullptr);
  const int cores = cases::usable_cores();
  Finding finding{.name = "load",
                  .seen = fmt::format("{} on {} cores (1, 5, 15 minutes)",
                                      load.empty() ? "unknown" : load, cores)};
  if (now > 0.3 * cores) {
    finding.health = Health::kAdvice;
    finding.advice = "others compute here: end them, or figures scatter";
  }
  return finding;
}

Finding check_governor(const Facts& facts) {
  const std::string governor = records::fact_of(facts, "governor");
  if (governor.empty() || governor == "performance") {
    return {.name = "clock speed",
            .seen = governor.empty() ? "no governor is to be seen here, as in most virtual machines"
                                     : "governor performance"};
  }
  return {.name = "clock speed",
          .health = Health::kAdvice,
          .seen = "governor " + governor,
          .advice = "cpupower frequency-set --governor performance"};
}

Finding check_shared_memory() {
  struct statvfs space {};
  Finding finding{.name = "shared memory"};
  if (statvfs("/dev/shm", &space) != 0 || access("/dev/shm", W_OK) != 0) {
    finding.health = Health::kAdvice;
    finding.seen = "/dev/shm cannot be written";
    finding.advice = "NCCL and many data loaders need it: mount a tmpfs there";
    return finding;
  }
  const double bytes = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  finding.seen = fmt::format("{:.2g} GB free in /dev/shm", bytes / 1e9);
  if (bytes < 100e6) {
    finding.health = Health::kAdvice;
    finding.advice = "little for NCCL between GPUs: docker run --shm-size=1g";
  }
  return finding;
}

Finding check_clock() {
  const double cost = clock_cost_ns();
  Finding finding{.name = "clock", .seen = fmt::format("{:.0f} ns to read it", cost)};
  if (cost > 1000) {
    finding.health = Health::kAdvice;
    finding.advice =
        "a slow clock source; see "
        "/sys/devices/system/clocksource/clocksource0";
  }
  return finding;
}

}  // namespace

std::vector<Finding> check_machine() {
  const Facts facts = records::collect_host().facts;
  return {check_interface(),     check_cores(facts),    check_load(facts),
          check_governor(facts), check_shared_memory(), check_clock()};
}

}  // namespace paceline::cli
