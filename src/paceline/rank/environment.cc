// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include "paceline/base/text.h"
#include "paceline/engines/nccl/nccl_engine.h"
#include "paceline/rank/git_hash.h"
#include "paceline/rank/torch_facts.h"
#include "paceline/rank/version.h"
#include "paceline/records/environment.h"
#include "paceline/records/json.h"

namespace paceline::rank {
namespace {

records::Environment own_environment() {
  records::Environment environment;
  environment.paceline_version = kVersion;
  environment.git_hash = kGitHash;
  environment.compiler = __VERSION__;
  environment.build_type = kBuildType;
  environment.variables = records::allowed_variables(environ);
  environment.torch_version = kTorchVersion;
  environment.torch_git = kTorchGit;
  environment.cuda_version = kTorchCuda;
  environment.nccl_version = engines::nccl_version();
  return environment;
}

}  // namespace

records::Environment exchange_environment(const engines::World& world, launch::PrefixStore& store,
                                          int usable_cores) {
  records::Environment environment = own_environment();
  if (world.self.local_rank == 0) {
    records::RunRecord part;
    part.environment.hosts = {records::collect_host()};
    records::HostEnvironment& host = part.environment.hosts.front();
    host.host = world.self.host;  // the host's name in the launcher's list of hosts
    host.facts["usable_cores"] = std::to_string(usable_cores);
    host.facts["torch_cpu_capability"] = cpu_capability();
    store.set("environment/" + world.self.host, records::to_line(part));
  }
  std::vector<std::string> seen;
  for (const std::string& host : world.hosts) {
    if (!add_once(seen, host)) {
      continue;
    }
    const records::RunRecord part = records::from_line(store.wait("environment/" + host));
    environment.hosts.push_back(part.environment.hosts.front());
  }
  return environment;
}

}  // namespace paceline::rank
