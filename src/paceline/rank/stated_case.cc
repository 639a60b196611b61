// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/stated_case.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/rank/step_reader.h"

namespace paceline::rank {
namespace {

using nlohmann::json;
using records::Configuration;

/// What the case says under a key, and the flag of it.
struct Expected {
  const char* key;
  const char* flag;
  std::vector<json> values;  // any of them; empty: the case does not know
};

std::vector<Expected> expected_of(const Configuration& c, bool in_case) {
  const auto stated = [&](const char* key, const auto& value) {
    return c.states(key) ? std::vector<json>{value} : std::vector<json>{};
  };
  std::vector<json> steps{c.steps};
  if (!in_case) {
    steps.emplace_back(c.warmup + c.steps);  // which the program runs
  }
  return {
      {"model", "--model", c.model == "command" ? std::vector<json>{} : std::vector<json>{c.model}},
      {"batch_size", "--batch-size", {c.batch_size}},
      {"batch", "--batch-size", {c.batch_size}},
      {"dtype", "--dtype", stated("dtype", c.dtype)},
      {"optimizer", "--optimizer", stated("optimizer", c.optimizer)},
      {"accumulate", "--accumulate", stated("accumulate", c.accumulate)},
      {"warmup", "--warmup", {c.warmup}},
      {"steps", "--steps", std::move(steps)},
      {"ranks", "--ranks", {c.ranks}},
      {"world", "--ranks", {c.ranks}},
      {"world_size", "--ranks", {c.ranks}}};
}

void check_keys(const Configuration& c, const json& said, bool in_case) {
  for (const Expected& expected : expected_of(c, in_case)) {
    const auto value = said.find(expected.key);
    if (value == said.end() || value->is_null() || expected.values.empty()) {
      continue;
    }
    if (std::ranges::find(expected.values, *value) == expected.values.end()) {
      std::vector<std::string> known;
      for (const json& one : expected.values) {
        known.push_back(one.dump());
      }
      throw OutsideFailure(
          kContradiction,
          fmt::format("it says that its {} is {}, and the case has {}; start it with the value of "
                      "the case, or give its own with {}",
                      expected.key, value->dump(), fmt::join(known, " or "), expected.flag));
    }
  }
}

}  // namespace

void check_stated_case(const Configuration& c, const json& event) {
  check_keys(c, event, false);
  if (const auto own = event.find("case"); own != event.end() && own->is_object()) {
    check_keys(c, *own, true);
  }
}

}  // namespace paceline::rank
