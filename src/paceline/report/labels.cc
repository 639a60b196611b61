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

/// Returns the strategy's text with only those options for which `shown` holds.
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

/// Returns an option prefixed with the name of its strategy part: "ps:servers=1".
std::string qualified_option(std::string_view name, std::string_view option) {
  return fmt::format("{}:{}", name, option);
}

std::string_view key_of(std::string_view option) { return option.substr(0, option.find('=')); }

/// Returns the options that differ from the defaults of the strategy's parts; empty for a strategy
/// that this program does not know.
std::set<std::string> non_default_options(const cases::Case& c) {
  const auto options_of = [&c](const std::string& strategy) {
    std::set<std::string> options;
    const auto spec = strategies::parse_strategy(strategy, {.bucket_mb = c.bucket_mb});
    for (const PartText& part : parts_of_text(spec.text())) {
      for (const std::string& option : part.options) {
        options.insert(qualified_option(part.name, option));
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
    return {};  // the record is from a newer version or another program
  }
}

std::string with_source(std::string label, const CaseRecords& one) {
  const std::string_view source = records::name_of(one.first().source);
  if (one.first().source != records::Source::kMeasured && label != source) {
    label += fmt::format(" ({})", source);
  }
  return label;
}

/// The configuration fields of a case as text, by name. Some of them distinguish the case from
/// others.
using NamedTexts = cases::FieldTexts;

NamedTexts texts_of(const CaseRecords& one) {
  NamedTexts texts = cases::texts_of(one.configuration());
  texts.emplace_back("experiment", one.first().experiment);
  return texts;
}

/// Returns the number of distinct rows if only the fields with these names are compared. A missing
/// text counts as empty.
std::size_t count_distinct(const std::vector<NamedTexts>& rows,
                           const std::vector<std::string>& names) {
  std::set<std::vector<std::string>> seen;
  for (const NamedTexts& row : rows) {
    std::vector<std::string> texts;
    for (const std::string& name : names) {
      const auto found = std::ranges::find(row, name, &NamedTexts::value_type::first);
      texts.push_back(found == row.end() ? "" : found->second);
    }
    seen.insert(std::move(texts));
  }
  return seen.size();
}

/// Returns the names of the configuration fields that distinguish cases with equal labels. A field
/// is included only if more cases are distinct with it than with the fields before it alone. `own`
/// says whether the label is one that a user gave; otherwise it is the strategy.
std::vector<std::string> distinguishing_names(const std::vector<NamedTexts>& rows, bool own) {
  std::vector<std::string> names;
  for (const NamedTexts& row : rows) {
    for (const auto& [name, text] : row) {
      add_once(names, name);
    }
  }
  // Steps and warm-up come last, because their defaults depend on the strategy's period.
  std::ranges::stable_sort(names, {}, [own](const std::string& name) {
    return name == "ranks"              ? 0
           : name == "strategy" && !own ? 1
           : name == "steps"            ? 3
           : name == "warmup"           ? 4
                                        : 2;
  });
  std::vector<std::string> telling;
  std::size_t distinct = 1;
  for (const std::string& name : names) {
    telling.push_back(name);
    if (const std::size_t count = count_distinct(rows, telling); count > distinct) {
      distinct = count;
    } else {
      telling.pop_back();
    }
  }
  return telling;
}

/// Whether a user named the case.  Otherwise its label is its strategy.
bool has_user_label(const cases::Case& c) {
  return !c.label.empty() && c.label != c.strategy &&
         c.label != strategies::names_in_text(c.strategy);
}

/// Returns the label of a case, followed by the fields named in `telling` with their texts: "ddp
/// ranks=4".
std::string distinguishing_label(const CaseRecords& one, const std::string& short_strategy,
                                 const NamedTexts& texts, const std::vector<std::string>& telling) {
  const bool own = has_user_label(one.configuration());
  std::string label = with_source(own ? one.configuration().label : short_strategy, one);
  for (const std::string& name : telling) {
    const auto found = std::ranges::find(texts, name, &NamedTexts::value_type::first);
    if (found == texts.end() || found->second.empty() || (name == "strategy" && !own)) {
      continue;
    }
    label += fmt::format(" {}={}", name, name == "strategy" ? short_strategy : found->second);
  }
  return label;
}

}  // namespace

bool is_valid(const CaseRecords& one) {
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

std::vector<std::string> short_strategies(const std::vector<const cases::Case*>& cases) {
  // Number of strategies that have a part, or an option of it.
  std::map<std::string, std::size_t> having;
  for (const cases::Case* c : cases) {
    for (const PartText& part : parts_of_text(c->strategy)) {
      ++having[part.name];
      for (const std::string& option : part.options) {
        ++having[qualified_option(part.name, option)];
      }
    }
  }
  std::vector<std::string> texts;
  for (const cases::Case* c : cases) {
    const std::set<std::string> unusual = non_default_options(*c);
    texts.push_back(strategy_text(
        parts_of_text(c->strategy), [&](const std::string& name, const std::string& option) {
          const std::string whole = qualified_option(name, option);
          return unusual.contains(whole) || having.at(whole) < having.at(name);
        }));
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
  std::set<std::string> given;  // keys of the options that the text states
  for (const PartText& part : parts_of_text(text)) {
    for (const std::string& option : part.options) {
      given.insert(qualified_option(part.name, key_of(option)));
    }
  }
  try {
    return strategy_text(parts_of_text(strategies::parse_strategy(text).text()),
                         [&](const std::string& name, const std::string& option) {
                           return given.contains(qualified_option(name, key_of(option)));
                         });
  } catch (const UsageError&) {
    return std::string(text);  // the strategy is one of another program
  }
}

bool matches_strategy(std::string_view name, const std::string& strategy) {
  return std::ranges::equal(parts_of_text(name), parts_of_text(strategy),
                            [](const PartText& said, const PartText& whole) {
                              return said.name == whole.name &&
                                     std::ranges::all_of(
                                         said.options, [&](const std::string& option) {
                                           return std::ranges::count(whole.options, option) > 0;
                                         });
                            });
}

std::string plain_label(const CaseRecords& one) {
  const cases::Case& c = one.configuration();
  const std::string& label = c.label.empty() ? c.strategy : c.label;
  return with_source(label.empty() ? "-" : label, one);
}

std::vector<std::string> unique_labels(const std::vector<CaseRecords>& cases) {
  std::map<std::string, std::vector<const CaseRecords*>> namesakes;
  for (const CaseRecords& one : cases) {
    namesakes[plain_label(one)].push_back(&one);
  }
  std::map<const CaseRecords*, std::string> label_of;
  for (const auto& [label, same] : namesakes) {
    std::vector<const cases::Case*> configurations;
    std::vector<NamedTexts> rows;
    for (const CaseRecords* one : same) {
      configurations.push_back(&one->configuration());
      rows.push_back(texts_of(*one));
    }
    const std::vector<std::string> strategies = short_strategies(configurations);
    const std::vector<std::string> telling = distinguishing_names(
        rows, std::ranges::any_of(configurations,
                                  [](const cases::Case* c) { return has_user_label(*c); }));
    for (std::size_t i = 0; i < same.size(); ++i) {
      label_of[same[i]] = distinguishing_label(*same[i], strategies[i], rows[i], telling);
    }
  }
  std::vector<std::string> labels;
  for (const CaseRecords& one : cases) {
    labels.push_back(label_of[&one] + (is_valid(one) ? "" : " (INVALID)"));
  }
  return labels;
}

}  // namespace paceline::report
