// SPDX-License-Identifier: Apache-2.0
#include "paceline/bench/environment.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/bench/git_hash.h"
#include "paceline/bench/torch_facts.h"
#include "paceline/bench/version.h"
#include "paceline/record/environment.h"
#include "paceline/record/json.h"

namespace paceline::bench {
namespace {

record::Environment own_environment() {
  record::Environment environment;
  environment.paceline_version = kVersion;
  environment.git_hash = kGitHash;
  environment.compiler = __VERSION__;
  environment.build_type = kBuildType;
  environment.variables = record::allowed_variables(environ);
  environment.torch_version = kTorchVersion;
  environment.torch_git = kTorchGit;
  environment.cuda_version = kTorchCuda;
  return environment;
}

}  // namespace

record::Environment exchange_environment(const comm::World& world,
                                         Bulletin& bulletin,
                                         int usable_cores) {
  record::Environment environment = own_environment();
  if (world.place.local_rank == 0) {
    record::RunRecord part;
    part.environment.hosts = {record::collect_host()};
    record::HostEnvironment& host = part.environment.hosts.front();
    host.host = world.place.host;  // as the launcher knows it
    host.facts["usable_cores"] = std::to_string(usable_cores);
    host.facts["torch_cpu_capability"] = cpu_capability();
    bulletin.post("environment/" + world.place.host, record::to_line(part));
  }
  std::vector<std::string> seen;
  for (const std::string& host : world.hosts) {
    if (std::find(seen.begin(), seen.end(), host) != seen.end()) {
      continue;
    }
    seen.push_back(host);
    const record::RunRecord part = record::from_line(bulletin.read(
        "environment/" + host, std::chrono::milliseconds(60'000)));
    environment.hosts.push_back(part.environment.hosts.front());
  }
  return environment;
}

std::string host_differences(const record::Environment& environment) {
  return record::differences(environment.hosts).value_or("");
}

}  // namespace paceline::bench
