// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
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

/// A name with its options: "neighbor-allreduce", "topology=ring", "local=0".
using StrategyPart = std::vector<std::string>;

std::vector<StrategyPart> parts_of_strategy(const std::string& strategy) {
  std::vector<StrategyPart> parts;
  for (const std::string& text : split_at(strategy, '+')) {
    const std::size_t end = text.find(':');
    StrategyPart& part = parts.emplace_back(StrategyPart{text.substr(0, end)});
    if (end != std::string::npos) {
      const StrategyPart options = split_at(text.substr(end + 1), ',');
      part.insert(part.end(), options.begin(), options.end());
    }
  }
  return parts;
}

/// The strategy with those of its options that `shown` says.
template <class Shown>
std::string strategy_text(const std::vector<StrategyPart>& parts,
                          const Shown& shown) {
  std::string text;
  for (const StrategyPart& part : parts) {
    text += (text.empty() ? "" : "+") + part.front();
    char mark = ':';
    for (std::size_t i = 1; i < part.size(); ++i) {
      if (shown(part.front(), part[i])) {
        text += mark + part[i];
        mark = ',';
      }
    }
  }
  return text;
}

/// The label that a case without one of its own has.
std::string names_of_strategy(const std::string& strategy) {
  return strategy_text(parts_of_strategy(strategy),
                       [](const auto&...) { return false; });
}

std::string with_source(std::string label, const Case& one) {
  if (one.first().source != records::Source::kMeasured) {
    label += fmt::format(" ({})", records::name_of(one.first().source));
  }
  return label;
}

/// The label of `one` and the parts in which it differs from its namesakes.
std::string told_apart(const Case& one,
                       const std::string& short_strategy,
                       const std::vector<const Case*>& same) {
  const records::Configuration& c = one.configuration();
  const auto counts = count_parts(same);
  std::string base = c.label.empty() ? c.strategy : c.label;
  std::string rest;
  for (const std::string& part : parts_of(one)) {
    if (counts.at(part) == same.size()) {
      continue;
    }
    if (part != "strategy=" + c.strategy) {
      rest += " " + part;
    } else if (base == names_of_strategy(c.strategy) || base == c.strategy) {
      base = short_strategy;
    } else {
      rest += " strategy=" + short_strategy;
    }
  }
  return with_source(base, one) + rest;
}

bool is_valid(const Case& one) {
  return std::ranges::all_of(
      one.runs, [](const records::RunRecord* run) { return run->valid(); });
}

}  // namespace

std::vector<std::string> short_strategies(
    const std::vector<std::string>& strategies) {
  std::map<std::string, std::size_t> having;  // strategies with this name
  std::map<std::string, std::size_t> alike;   // and with this option of it
  std::vector<std::vector<StrategyPart>> split;
  for (const std::string& strategy : strategies) {
    for (const StrategyPart& part :
         split.emplace_back(parts_of_strategy(strategy))) {
      ++having[part.front()];
      for (std::size_t i = 1; i < part.size(); ++i) {
        ++alike[fmt::format("{}:{}", part.front(), part[i])];
      }
    }
  }
  std::vector<std::string> texts;
  for (const std::vector<StrategyPart>& parts : split) {
    texts.push_back(strategy_text(
        parts, [&](const std::string& name, const std::string& option) {
          return alike.at(fmt::format("{}:{}", name, option)) < having.at(name);
        }));
  }
  const auto distinct = [](const std::vector<std::string>& all) {
    return std::set<std::string>(all.begin(), all.end()).size();
  };
  return distinct(texts) == distinct(strategies) ? texts : strategies;
}

std::string plain_label(const Case& one) {
  const records::Configuration& c = one.configuration();
  return with_source(c.label.empty() ? c.strategy : c.label, one);
}

std::vector<std::string> unique_labels(const std::vector<Case>& cases) {
  std::map<std::string, std::vector<const Case*>> namesakes;
  for (const Case& one : cases) {
    namesakes[plain_label(one)].push_back(&one);
  }
  std::map<const Case*, std::string> short_of;
  for (const auto& [label, same] : namesakes) {
    std::vector<std::string> strategies;
    for (const Case* one : same) {
      strategies.push_back(one->configuration().strategy);
    }
    strategies = short_strategies(strategies);
    for (std::size_t i = 0; i < same.size(); ++i) {
      short_of[same[i]] = strategies[i];
    }
  }
  std::vector<std::string> labels;
  for (const Case& one : cases) {
    std::string label = plain_label(one);
    if (const auto& same = namesakes[label]; same.size() > 1) {
      label = told_apart(one, short_of[&one], same);
    }
    labels.push_back(label + (is_valid(one) ? "" : " (INVALID)"));
  }
  return labels;
}

}  // namespace paceline::report
