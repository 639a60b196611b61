// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/catalogue.h"

#include <utility>

#include "paceline/base/file.h"
#include "paceline/engines/engine_table.h"
#include "paceline/networks/catalogue.h"
#include "paceline/rank/outside_command.h"
#include "paceline/rank/torch_facts.h"

namespace paceline::cli {

cases::MachineFacts machine_here(std::vector<int> ranks_per_host) {
  cases::MachineFacts machine{
      .cores = cases::usable_cores(),
      .cuda_devices = rank::cuda_devices(),
      .native_bf16 = cases::has_native_bf16(read_text_if_readable("/proc/cpuinfo").value_or("")),
      .ranks_per_host = std::move(ranks_per_host)};
  for (const auto* table : {&networks::networks(), &networks::embedding_networks()}) {
    for (const networks::NetworkInfo& network : *table) {
      machine.models.emplace_back(network.name);
    }
  }
  for (const engines::EngineInfo& engine : engines::engines()) {
    if (engine.built) {
      machine.engines.emplace_back(engine.name);
    }
  }
  machine.adapters = rank::list_adapters();
  return machine;
}

}  // namespace paceline::cli
