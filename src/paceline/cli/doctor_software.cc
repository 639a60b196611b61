// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/process.h"
#include "paceline/base/python_package.h"
#include "paceline/base/text.h"
#include "paceline/cli/doctor.h"
#include "paceline/engines/engine_table.h"
#include "paceline/rank/torch_facts.h"
#include "paceline/rank/wheel.h"
#include "paceline/records/environment.h"

namespace paceline::cli {
namespace {

using namespace std::chrono_literals;

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

Finding check_gpus(const rank::Wheel& wheel) {
  const auto facts = records::collect_host().facts;
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

// The first line that `command --version` prints; empty where it does not.
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
  // torchrun imports all of PyTorch before it prints anything.
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

}  // namespace

std::vector<Finding> check_software() {
  const rank::Wheel wheel = rank::wheel();
  return {check_wheel(wheel), check_engines(), check_gpus(wheel), check_launchers(),
          check_python(wheel)};
}

}  // namespace paceline::cli
