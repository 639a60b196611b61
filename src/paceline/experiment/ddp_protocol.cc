// SPDX-License-Identifier: Apache-2.0
#include "paceline/experiment/ddp_protocol.h"

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::experiment {

std::vector<ProtocolEntry> ddp_entries(const std::vector<int>& ranks_per_host) {
  PACELINE_CHECK(!ranks_per_host.empty());
  const int per_host = ranks_per_host.front();
  std::vector<ProtocolEntry> entries = {
      {.label = "warmup", .alone = true, .discard = true},
      {.label = "no ddp", .alone = true}};
  for (int ranks = 1; ranks < per_host; ranks *= 2) {
    entries.push_back({.label = fmt::format("1M/{}G", ranks), .ranks = ranks});
  }
  int hosts = 0;
  for (const int here : ranks_per_host) {
    if (here != per_host) {
      break;
    }
    ++hosts;
    entries.push_back({.label = fmt::format("{}M/{}G", hosts, per_host),
                       .ranks = hosts * per_host});
  }
  return entries;
}

}  // namespace paceline::experiment
