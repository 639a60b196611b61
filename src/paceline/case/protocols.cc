// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/protocols.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/field.h"

namespace paceline::cases {
namespace {

/// Parses `text` as a number of ranks. Throws UsageError that rejects any other text.
int number_of(const std::string& text, const RawValue& ranks) {
  const Field& key = *find_key("ranks");
  // An error must name the whole value that the user wrote, such as "max:8", not the part in
  // `text`.
  const bool valid = number_from<int>(text).value_or(0) >= key.minimum;
  return std::get<int>(value_from(key, valid ? text : ranks.text, ranks.where));
}

}  // namespace

std::vector<ProtocolEntry> ddp_entries(const std::vector<int>& ranks_per_host) {
  PACELINE_CHECK(!ranks_per_host.empty());
  const int per_host = ranks_per_host.front();
  std::vector<ProtocolEntry> entries = {{.label = "warmup", .alone = true, .discard = true},
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
    entries.push_back(
        {.label = fmt::format("{}M/{}G", hosts, per_host), .ranks = hosts * per_host});
  }
  return entries;
}

std::vector<int> dlperf_worlds(const MachineFacts& machine, const std::string& device) {
  std::vector<int> worlds{1};
  const std::vector<int> hosts =
      machine.joined() ? machine.ranks_per_host : std::vector<int>{machine.capacity(device)};
  for (const std::size_t nodes : {1U, 2U, 4U}) {
    if (nodes <= hosts.size()) {
      const int devices =
          std::accumulate(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(nodes), 0);
      if (devices > worlds.back()) {
        worlds.push_back(devices);
      }
    }
  }
  return worlds;
}

RawValues with_dlperf_defaults(RawValues values) {
  const auto fill = [&values](const char* key, const std::string& text) {
    values.try_emplace(key, std::vector<RawValue>{{text, "protocol dlperf: " + std::string(key)}});
  };
  fill("warmup", fmt::to_string(kDlperfWarmup));
  fill("steps", fmt::to_string(kDlperfSteps));
  fill("ranks", "dlperf");
  fill("start", "formula");  // makes losses of frameworks comparable
  return values;
}

std::string dlperf_deviation_text(const Case& c, int runs) {
  if (c.warmup >= kDlperfWarmup && c.steps >= kDlperfSteps && runs >= kDlperfRuns) {
    return "";
  }
  return fmt::format("{} skipped and {} timed, {}", counted(c.warmup, "step"), c.steps,
                     counted(runs, "run"));
}

std::vector<int> worlds_of(const RawValue& ranks, const MachineFacts& machine,
                           const std::string& device, int least) {
  const std::size_t colon = ranks.text.find(':');
  const std::string word = ranks.text.substr(0, colon);
  int most = machine.capacity(device);
  if (ranks.text == "world") {
    return {std::max(1, machine.world())};
  }
  if (ranks.text == "dlperf") {
    return dlperf_worlds(machine, device);
  }
  if (word != "max" && word != "auto") {
    return {number_of(ranks.text, ranks)};
  }
  if (colon != std::string::npos) {
    most = std::min(most, number_of(ranks.text.substr(colon + 1), ranks));
  }
  std::vector<int> worlds;
  for (int n = least; word == "auto" && n < most; n *= 2) {
    worlds.push_back(n);
  }
  worlds.push_back(most);
  return worlds;
}

}  // namespace paceline::cases
