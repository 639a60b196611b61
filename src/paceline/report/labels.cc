// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/same.h"
#include "paceline/records/json.h"
#include "paceline/report/cases.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/strategy_text.h"

namespace paceline::report {
namespace {

using strategies::parts_of_text;
using strategies::PartText;

// The "name=value" parts of a case's key, and its experiment.
std::vector<std::string> parts_of(const Case& one) {
  std::vector<std::string> parts;
  for (const auto& [name, text] : cases::texts_of(one.configuration())) {
    parts.push_back(fmt::format("{}={}", name, text));
  }
  parts.push_back("experiment=" + one.first().experiment);
  return parts;
}

std::string name_of_part(const std::string& part) { return part.substr(0, part.find('=')); }

/// How many of the rows differ in the columns `shown`; a row without a column is as one with an
/// empty text there.
using NamedTexts = std::map<std::string, std::string>;
std::size_t count_distinct(const std::vector<NamedTexts>& rows,
                           const std::vector<std::string>& shown) {
  std::set<std::vector<std::string>> seen;
  for (const NamedTexts& row : rows) {
    std::vector<std::string> texts;
    for (const std::string& name : shown) {
      const auto found = row.find(name);
      texts.push_back(found == row.end() ? "" : found->second);
    }
    seen.insert(std::move(texts));
  }
  return seen.size();
}

/// `always`, and of `names` the fewest, of the first ones rather than the last,
/// that tell as many rows apart as all of them.
std::vector<std::string> fewest_names(const std::vector<NamedTexts>& rows,
                                      const std::vector<std::string>& always,
                                      const std::vector<std::string>& names) {
  std::vector<std::string> kept = always;
  kept.insert(kept.end(), names.begin(), names.end());
  const std::size_t all = count_distinct(rows, kept);
  for (std::size_t i = kept.size(); i-- > always.size();) {
    std::vector<std::string> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (count_distinct(rows, fewer) == all) {
      kept = std::move(fewer);
    }
  }
  return kept;
}

/// The strategy with those of its options that `shown` says.
template <class Shown>
std::string strategy_text(const std::vector<PartText>& parts, const Shown& shown) {
  std::string text;
  for (const PartText& part : parts) {
    text += (text.empty() ? "" : "+") + part.name;
    char mark = ':';
    for (const std::string& option : part.options) {
      if (shown(part.name, option)) {
        text += mark + option;
        mark = ',';
      }
    }
  }
  return text;
}

/// An option with the name of its part: "ps:servers=1".
std::string named(std::string_view name, std::string_view option) {
  return fmt::format("{}:{}", name, option);
}

std::string_view key_of(std::string_view option) { return option.substr(0, option.find('=')); }

/// The options that the names alone do not stand for; none of a strategy that this program does not
/// know.
std::set<std::string> unusual_options(const records::Configuration& c) {
  const auto options_of = [&c](const std::string& strategy) {
    std::set<std::string> options;
    const auto spec = strategies::parse_strategy(strategy, {.bucket_mb = c.bucket_mb});
    for (const PartText& part : parts_of_text(spec.text())) {
      for (const std::string& option : part.options) {
        options.insert(named(part.name, option));
      }
    }
    return options;
  };
  try {
    std::set<std::string> unusual = options_of(c.strategy);
    for (const auto& usual : options_of(strategies::names_in_text(c.strategy))) {
      unusual.erase(usual);
    }
    return unusual;
  } catch (const UsageError&) {
    return {};  // a newer program's record, or another program's
  }
}

std::string with_source(std::string label, const Case& one) {
  const std::string_view source = records::name_of(one.first().source);
  if (one.first().source != records::Source::kMeasured && label != source) {
    label += fmt::format(" ({})", source);
  }
  return label;
}

bool is_steps(const std::string& part) {
  return part.starts_with("steps=") || part.starts_with("warmup=");
}

/// Steps that nobody has chosen are whole periods of the case's plan: they tell it from its
/// namesakes only where nothing else does.
bool needs_steps(const Case& one, const std::vector<const Case*>& same) {
  const auto others_of = [](const Case& it) {
    std::vector<std::string> parts = parts_of(it);
    std::erase_if(parts, is_steps);
    return parts;
  };
  return std::ranges::count_if(same, [&](const Case* it) {
           return it->first().source == one.first().source && others_of(*it) == others_of(one);
         }) > 1;
}

/// The names of the parts by which namesakes are told apart: the fewest, and the ranks wherever
/// they differ.
std::vector<std::string> telling_parts(const std::vector<const Case*>& same) {
  std::vector<NamedTexts> rows;
  std::vector<std::string> names;
  for (const Case* one : same) {
    NamedTexts& row = rows.emplace_back();
    for (const std::string& part : parts_of(*one)) {
      row[name_of_part(part)] = part;
      add_once(names, name_of_part(part));
    }
  }
  std::erase_if(names, [&](const std::string& name) { return count_distinct(rows, {name}) == 1; });
  std::vector<std::string> always;
  const bool own = std::ranges::any_of(
      same, [](const Case* one) { return has_own_label(one->configuration()); });
  std::erase_if(names, [&](const std::string& name) {
    const bool is_said = name == "ranks" || (name == "strategy" && !own);
    if (is_said) {
      always.push_back(name);
    }
    return is_said;
  });
  std::ranges::stable_partition(names, [](const std::string& name) { return name != "warmup"; });
  return fewest_names(rows, always, names);
}

/// The label of `one` and those of its parts that are named.
std::string told_apart(const Case& one, const std::string& short_strategy,
                       const std::vector<std::string>& telling,
                       const std::vector<const Case*>& same) {
  const records::Configuration& c = one.configuration();
  const bool own = has_own_label(c);
  std::string rest;
  for (const std::string& part : parts_of(one)) {
    if (std::ranges::count(telling, name_of_part(part)) == 0 || part.ends_with('=') ||
        (is_steps(part) && !needs_steps(one, same))) {
      continue;
    }
    if (part != "strategy=" + c.strategy) {
      rest += " " + part;
    } else if (own) {
      rest += " strategy=" + short_strategy;
    }
  }
  return with_source(own ? c.label : short_strategy, one) + rest;
}

}  // namespace

bool is_valid(const Case& one) {
  return std::ranges::all_of(one.runs, [](const records::RunRecord* run) { return run->valid(); });
}

std::string without_ranks(std::string label, int ranks) {
  const std::string part = fmt::format(" ranks={}", ranks);
  const std::size_t at = label.find(part);
  const std::size_t end = at + part.size();
  if (at != std::string::npos && (end == label.size() || label[end] == ' ')) {
    label.erase(at, part.size());
  }
  return label;
}

bool has_own_label(const records::Configuration& c) {
  return !c.label.empty() && c.label != c.strategy &&
         c.label != strategies::names_in_text(c.strategy);
}

std::vector<std::string> short_strategies(const std::vector<const records::Configuration*>& cases) {
  std::vector<NamedTexts> rows;  // names of parts and options, as they are said
  std::vector<std::string> names;
  std::vector<std::vector<PartText>> split;
  std::map<std::string, std::size_t> having;  // strategies with this part
  std::map<std::string, std::size_t> alike;   // and with this option of it
  for (const records::Configuration* c : cases) {
    NamedTexts& row = rows.emplace_back();
    for (const PartText& part : split.emplace_back(parts_of_text(c->strategy))) {
      row[""] += "+" + part.name;
      ++having[part.name];
      for (const std::string& option : part.options) {
        const std::string name = named(part.name, key_of(option));
        row[name] = option;
        ++alike[named(part.name, option)];
        add_once(names, name);
      }
    }
  }
  // Options in which strategies with their part differ.
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(alike, [&](const auto& entry) {
      return key_of(entry.first) == name &&
             entry.second < having.at(name.substr(0, name.find(':')));
    });
  });
  const std::vector<std::string> telling = fewest_names(rows, {""}, names);
  std::vector<std::string> texts;
  std::set<std::string> whole;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::set<std::string> unusual = unusual_options(*cases[i]);
    whole.insert(cases[i]->strategy);
    texts.push_back(
        strategy_text(split[i], [&](const std::string& name, const std::string& option) {
          return unusual.contains(named(name, option)) ||
                 std::ranges::count(telling, named(name, key_of(option))) > 0;
        }));
  }
  if (std::set<std::string>(texts.begin(), texts.end()).size() != whole.size()) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      texts[i] = cases[i]->strategy;
    }
  }
  return texts;
}

std::string option_of(const std::string& strategy, std::string_view name) {
  for (const PartText& part : parts_of_text(strategy)) {
    for (const std::string& option : part.options) {
      if (key_of(option) == name) {
        return option.substr(std::min(name.size() + 1, option.size()));
      }
    }
  }
  return "";
}

std::string with_implied_parts(std::string_view text) {
  std::set<std::string> given;  // the options, without their values
  for (const PartText& part : parts_of_text(text)) {
    for (const std::string& option : part.options) {
      given.insert(named(part.name, key_of(option)));
    }
  }
  try {
    return strategy_text(parts_of_text(strategies::parse_strategy(text).text()),
                         [&](const std::string& name, const std::string& option) {
                           return given.contains(named(name, key_of(option)));
                         });
  } catch (const UsageError&) {
    return std::string(text);  // of another program
  }
}

std::optional<std::size_t> parts_beside(std::string_view name, const std::string& strategy) {
  const std::vector<PartText> all = parts_of_text(strategy);
  std::size_t named_parts = 0;
  auto next = all.begin();
  for (const PartText& part : parts_of_text(name)) {
    next = std::find_if(next, all.end(), [&](const PartText& one) {
      return one.name == part.name &&
             std::ranges::all_of(part.options, [&](const std::string& option) {
               return std::ranges::count(one.options, option) > 0;
             });
    });
    if (next == all.end()) {
      return std::nullopt;
    }
    ++next;
    ++named_parts;
  }
  return all.size() - named_parts;
}

std::string plain_label(const Case& one) {
  const records::Configuration& c = one.configuration();
  const std::string& label = c.label.empty() ? c.strategy : c.label;
  return with_source(label.empty() ? "-" : label, one);
}

std::vector<std::string> unique_labels(const std::vector<Case>& cases) {
  std::map<std::string, std::vector<const Case*>> namesakes;
  for (const Case& one : cases) {
    namesakes[plain_label(one)].push_back(&one);
  }
  std::map<const Case*, std::string> label_of;
  for (const auto& [label, same] : namesakes) {
    std::vector<const records::Configuration*> configurations;
    for (const Case* one : same) {
      configurations.push_back(&one->configuration());
    }
    const std::vector<std::string> strategies = short_strategies(configurations);
    const std::vector<std::string> telling = telling_parts(same);
    for (std::size_t i = 0; i < same.size(); ++i) {
      label_of[same[i]] = told_apart(*same[i], strategies[i], telling, same);
    }
  }
  std::vector<std::string> labels;
  for (const Case& one : cases) {
    labels.push_back(label_of[&one] + (is_valid(one) ? "" : " (INVALID)"));
  }
  return labels;
}

}  // namespace paceline::report
