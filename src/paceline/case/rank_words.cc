// SPDX-License-Identifier: Apache-2.0
#include "paceline/case/rank_words.h"

#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/case/field.h"
#include "paceline/case/protocols.h"

namespace paceline::cases {
namespace {

/// The number that `text` is; any other text is rejected as a value of ranks.
int number_of(const std::string& text, const RawValue& ranks) {
  Case configuration;
  try {
    assign_key(*find_key("ranks"), text, ranks.where, configuration);
  } catch (const UsageError&) {
    // Again with the whole value, which the user recognizes.
    assign_key(*find_key("ranks"), ranks.text, ranks.where, configuration);
  }
  return configuration.ranks;
}

}  // namespace

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
