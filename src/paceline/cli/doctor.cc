// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/doctor.h"

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/case/machine.h"
#include "paceline/engines/engine_table.h"
#include "paceline/launch/network_interface.h"
#include "paceline/rank/torch_facts.h"
#include "paceline/rank/wheel.h"
#include "paceline/records/environment.h"
#include "paceline/report/text.h"

namespace paceline::cli {
namespace {

/// The result of one check of `paceline doctor`.
struct Finding {
  std::string name;
  std::string seen;
  std::string advice{};  // what to change; empty if all is well
  bool broken = false;   // makes measurements impossible
};

using Facts = std::map<std::string, std::string>;

Finding check_interface() {
  const std::string name = launch::outward_interface();
  if (name.empty()) {
    return {"interface", "none but the loopback: runs on this host alone",
            "for several hosts, bring an interface with an IPv4 address up"};
  }
  return {"interface",
          fmt::format("several hosts would communicate over {} (--interface takes another); ranks "
                      "of one host over lo",
                      name)};
}

Finding check_cores(const Facts& facts) {
  const int usable = cases::usable_cores();
  return {"cores",
          fmt::format("{} of {} hardware threads may be used ({}; CPUs {})", usable,
                      records::fact_of(facts, "threads", "?"), records::fact_of(facts, "cpu_model"),
                      records::fact_of(facts, "affinity")),
          usable > 1 ? ""
                     : "ranks that share a core say nothing about scaling: allow more cores "
                       "(taskset, cgroup limits), or read one-rank figures only"};
}

Finding check_load(const Facts& facts) {
  const std::string load = records::fact_of(facts, "load_average", "unknown");
  const int cores = cases::usable_cores();
  return {"load", fmt::format("{} on {} cores (1, 5, 15 minutes)", load, cores),
          std::strtod(load.c_str(), nullptr) > 0.3 * cores
              ? "others compute here: end them, or figures scatter"
              : ""};
}

Finding check_governor(const Facts& facts) {
  const std::string governor = records::fact_of(facts, "governor");
  if (governor.empty()) {
    return {"clock speed", "no governor is to be seen here, as in most virtual machines"};
  }
  return {"clock speed", "governor " + governor,
          governor == "performance" ? "" : "cpupower frequency-set --governor performance"};
}

Finding check_wheel(const rank::TorchWheelVersions& wheel) {
  if (wheel.version.empty()) {
    return {"PyTorch", fmt::format("built with {}", wheel.built_version),
            "the loaded libraries lie in no wheel whose version can be read"};
  }
  const bool other = wheel.version != wheel.built_version || wheel.git != wheel.built_git;
  return {"PyTorch", fmt::format("{} ({:.12}) in {}", wheel.version, wheel.git, wheel.folder),
          other ? fmt::format("the program was built with {} ({:.12}); build it again: make build "
                              "TORCH={}",
                              wheel.built_version, wheel.built_git, wheel.folder)
                : "",
          other};
}

Finding check_gpus(const rank::TorchWheelVersions& wheel, const Facts& facts) {
  const auto gpus = facts.find("gpus");
  if (gpus == facts.end()) {
    const auto trouble = facts.find("nvidia_smi");
    return trouble == facts.end()
               ? Finding{"GPUs", "none (no nvidia-smi)"}
               : Finding{"GPUs", "nvidia-smi fails: " + trouble->second, "mend the driver"};
  }
  const int visible = rank::cuda_devices();
  return {
      "GPUs",
      fmt::format("{}, driver {}; PyTorch sees {}", gpus->second,
                  records::fact_of(facts, "driver", "?"), visible),
      visible > 0 ? ""
      : wheel.built_cuda.empty()
          ? "this PyTorch computes on CPUs only: make build with TORCH= of a CUDA wheel"
          : fmt::format("the driver may be too old for CUDA {}, or CUDA_VISIBLE_DEVICES hides them",
                        wheel.built_cuda)};
}

Finding check_engines() {
  std::vector<std::string_view> built;
  std::vector<std::string_view> others;
  for (const engines::EngineInfo& engine : engines::engines()) {
    (engine.built ? built : others).push_back(engine.name);
  }
  return {"engines",
          fmt::format("{}{}{}", fmt::join(built, ", "),
                      others.empty() ? "" : "; not in this build: ", fmt::join(others, ", ")),
          built.empty() ? "no engine was built: see cmake's output" : "", built.empty()};
}

}  // namespace

int run_doctor() {
  const Facts facts = records::collect_host().facts;
  const rank::TorchWheelVersions wheel = rank::wheel();
  int broken = 0;
  int advised = 0;
  for (const Finding& finding :
       {check_interface(), check_cores(facts), check_load(facts), check_governor(facts),
        check_wheel(wheel), check_engines(), check_gpus(wheel, facts)}) {
    const bool advice = !finding.advice.empty() && !finding.broken;
    broken += finding.broken ? 1 : 0;
    advised += advice ? 1 : 0;
    const std::string head = fmt::format("{:<8}{:<15}",
                                         finding.broken ? "BROKEN"
                                         : advice       ? "advice"
                                                        : "ok",
                                         finding.name);
    fmt::print("{}", report::with_hanging_indent(head, report::printable(finding.seen)));
    if (!finding.advice.empty()) {
      fmt::print("{}", report::with_hanging_indent(std::string(head.size(), ' ') + "-> ",
                                                   report::printable(finding.advice)));
    }
  }
  fmt::print("\n{}", broken + advised == 0
                         ? "Nothing to change.\n"
                         : fmt::format("{} broken, {} with advice.\n", broken, advised));
  return broken > 0 ? kWorldErrorStatus : 0;
}

}  // namespace paceline::cli
