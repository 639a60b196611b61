// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/records/json.h"
#include "paceline/report/cases.h"

namespace paceline::report {
namespace {

// The "name=value" parts of a case's key; a word without '=' goes on with the
// value before it.
std::vector<std::string> parts_of(const Case& one) {
  const std::string key = one.configuration().key();
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < key.size()) {
    const std::size_t end = std::min(key.find(' ', begin), key.size());
    const std::string word = key.substr(begin, end - begin);
    if (parts.empty() || word.find('=') != std::string::npos) {
      parts.push_back(word);
    } else {
      parts.back() += " " + word;
    }
    begin = end + 1;
  }
  parts.push_back("experiment=" + one.first().experiment);
  return parts;
}

// How many of the cases have each part.
std::map<std::string, std::size_t> count_parts(
    const std::vector<const Case*>& cases) {
  std::map<std::string, std::size_t> counts;
  for (const Case* one : cases) {
    for (const std::string& part : parts_of(*one)) {
      ++counts[part];
    }
  }
  return counts;
}

bool is_valid(const Case& one) {
  return std::ranges::all_of(
      one.runs, [](const records::RunRecord* run) { return run->valid(); });
}

}  // namespace

std::string plain_label(const Case& one) {
  const records::Configuration& configuration = one.configuration();
  std::string label = configuration.label.empty() ? configuration.strategy
                                                  : configuration.label;
  if (one.first().source != records::Source::kMeasured) {
    label += fmt::format(" ({})", records::name_of(one.first().source));
  }
  return label;
}

std::vector<std::string> unique_labels(const std::vector<Case>& cases) {
  std::map<std::string, std::vector<const Case*>> namesakes;
  for (const Case& one : cases) {
    namesakes[plain_label(one)].push_back(&one);
  }
  std::vector<std::string> labels;
  for (const Case& one : cases) {
    std::string label = plain_label(one);
    const std::vector<const Case*>& same = namesakes[label];
    if (same.size() > 1) {
      const auto counts = count_parts(same);
      for (const std::string& part : parts_of(one)) {
        if (counts.at(part) < same.size()) {
          label += " " + part;
        }
      }
    }
    if (!is_valid(one)) {
      label += " (INVALID)";
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace paceline::report
