// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/doctor.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/base/python_package.h"
#include "paceline/base/text.h"
#include "paceline/case/machine.h"
#include "paceline/engines/engine_table.h"
#include "paceline/launch/network_interface.h"
#include "paceline/rank/torch_facts.h"
#include "paceline/rank/wheel.h"
#include "paceline/records/environment.h"
#include "paceline/report/text.h"

namespace paceline::cli {
namespace {

using namespace std::chrono_literals;

enum class Health : std::uint8_t {
  kGood,
  kAdvice,  // works, but something should be changed or known
  kBroken   // makes measurements impossible
};

/// The result of one check of `paceline doctor`.
struct Finding {
  std::string name;
  Health health = Health::kGood;
  std::string seen{};
  std::string advice{};  // what to change; empty if all is well
};

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

Finding check_wheel(const rank::Wheel& wheel) {
  Finding finding{.name = "PyTorch",
                  .seen = fmt::format("{} ({:.12}) in {}", wheel.version, wheel.git, wheel.folder)};
  if (wheel.version.empty()) {
    finding.health = Health::kAdvice;
    finding.seen = fmt::format(
        "built with {}; the loaded libraries lie in no "
        "wheel whose version can be read",
        wheel.built_version);
  } else if (wheel.version != wheel.built_version || wheel.git != wheel.built_git) {
    finding.health = Health::kBroken;
    finding.advice = fmt::format(
        "the program was built with {} ({:.12}); build "
        "it again: make build TORCH={}",
        wheel.built_version, wheel.built_git, wheel.folder);
  }
  return finding;
}

Finding check_gpus(const rank::Wheel& wheel, const Facts& facts) {
  const auto gpus = facts.find("gpus");
  const int visible = rank::cuda_devices();
  Finding finding{.name = "GPUs"};
  if (gpus == facts.end()) {
    const auto trouble = facts.find("nvidia_smi");
    finding.seen =
        trouble == facts.end() ? "none (no nvidia-smi)" : "nvidia-smi fails: " + trouble->second;
    finding.health = trouble == facts.end() ? Health::kGood : Health::kAdvice;
    return finding;
  }
  finding.seen = fmt::format("{}, driver {}; PyTorch sees {}", gpus->second,
                             records::fact_of(facts, "driver", "?"), visible);
  if (visible == 0) {
    finding.health = Health::kAdvice;
    finding.advice =
        wheel.built_cuda.empty()
            ? "this PyTorch computes on CPUs only: make build with TORCH= of a CUDA wheel"
            : fmt::format(
                  "the driver may be too old for CUDA {}, or CUDA_VISIBLE_DEVICES hides them",
                  wheel.built_cuda);
  }
  return finding;
}

Finding check_engines() {
  std::vector<std::string_view> built;
  std::vector<std::string_view> others;
  for (const engines::EngineInfo& engine : engines::engines()) {
    (engine.built ? built : others).push_back(engine.name);
  }
  Finding finding{.name = "engines", .seen = fmt::format("{}", fmt::join(built, ", "))};
  if (!others.empty()) {
    finding.seen += fmt::format("; not in this build: {}", fmt::join(others, ", "));
  }
  if (built.empty()) {
    finding.health = Health::kBroken;
    finding.advice = "no engine was built: see cmake's output";
  }
  return finding;
}

// The first line of the output of `command --version`; empty if that fails.
std::string version_line(const std::string& command) {
  const auto result = run_command({command, "--version"}, 5s);
  if (!result || !result->succeeded()) {
    return "";
  }
  return std::string(trimmed(result->output.substr(0, result->output.find('\n'))));
}

Finding check_launchers() {
  std::vector<std::string> found{"paceline itself"};
  for (const char* command : {"mpirun", "srun"}) {
    if (const std::string line = version_line(command); !line.empty()) {
      found.push_back(fmt::format("{} ({})", command, line));
    }
  }
  // Only the presence of torchrun is checked, as `torchrun --version` would import all of PyTorch.
  if (run_command({"sh", "-c", "command -v torchrun"}, 5s)->succeeded()) {
    found.emplace_back("torchrun");
  }
  return {.name = "launchers", .seen = fmt::format("{}", fmt::join(found, ", "))};
}

Finding check_python(const rank::Wheel& wheel) {
  const std::string python = python_package().python;
  Finding finding{.name = "adapters",
                  .seen = fmt::format("{} imports torch for python-ddp", python)};
  const auto result = run_command({python, "-c", "import torch; print(torch.__version__)"}, 60s);
  const auto vision =
      run_command({python, "-c",
                   "import importlib.util as u, sys; sys.exit(u.find_spec('torchvision') is None)"},
                  60s);
  const std::string version(result ? trimmed(result->output) : std::string_view{});
  if (!result || !result->succeeded()) {
    finding.health = Health::kAdvice;
    finding.seen = fmt::format("{} cannot import torch", python);
    finding.advice =
        "only the strategy python-ddp needs it: install torch "
        "there, or leave that strategy out";
  } else if (version != wheel.built_version) {
    finding.health = Health::kAdvice;
    finding.seen = fmt::format("{} imports torch {}", python, version);
    finding.advice = fmt::format(
        "python-ddp would not be compared on equal terms: install torch {}", wheel.built_version);
  } else if (!vision || !vision->succeeded()) {
    finding.health = Health::kAdvice;
    finding.seen = fmt::format("{} cannot import torchvision", python);
    finding.advice =
        "python-ddp trains only lenet, mlp and mlp-large without it: install torchvision there";
  }
  return finding;
}

std::string_view word_of(Health health) {
  switch (health) {
    case Health::kGood:
      return "ok";
    case Health::kAdvice:
      return "advice";
    case Health::kBroken:
      break;
  }
  return "BROKEN";
}

long count(const std::vector<Finding>& findings, Health health) {
  return std::count_if(findings.begin(), findings.end(),
                       [health](const Finding& finding) { return finding.health == health; });
}

/// The findings as lines of text, each with its advice below.
std::string doctor_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string head = fmt::format("{:<8}{:<15}", word_of(finding.health), finding.name);
    text += report::hanging(head, report::printable(finding.seen));
    if (!finding.advice.empty()) {
      text +=
          report::hanging(std::string(head.size(), ' ') + "-> ", report::printable(finding.advice));
    }
  }
  const long broken = count(findings, Health::kBroken);
  const long advice = count(findings, Health::kAdvice);
  return text + (broken == 0 && advice == 0
                     ? "\nNothing to change.\n"
                     : fmt::format("\n{} broken, {} with advice.\n", broken, advice));
}

}  // namespace

int run_doctor() {
  const Facts facts = records::collect_host().facts;
  const rank::Wheel wheel = rank::wheel();
  const std::vector<Finding> all{
      check_interface(),        check_cores(facts), check_load(facts),  check_governor(facts),
      check_shared_memory(),    check_clock(),      check_wheel(wheel), check_engines(),
      check_gpus(wheel, facts), check_launchers(),  check_python(wheel)};
  fmt::print("{}", doctor_text(all));
  return count(all, Health::kBroken) > 0 ? kWorldErrorStatus : 0;
}

}  // namespace paceline::cli
