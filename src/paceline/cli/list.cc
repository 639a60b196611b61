// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/list.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"
#include "paceline/base/text.h"
#include "paceline/case/flags.h"
#include "paceline/case/raw_settings.h"
#include "paceline/engines/engine_table.h"
#include "paceline/networks/catalogue.h"
#include "paceline/plan/optimizer.h"
#include "paceline/rank/outside_command.h"
#include "paceline/report/formats.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

namespace paceline::cli {
namespace {

/// One entry of a list, such as a model or an engine.
struct Entry {
  std::string name;
  std::string summary;
};

std::string section(std::string_view title, const std::vector<Entry>& entries) {
  std::size_t width = 0;
  for (const Entry& entry : entries) {
    width = std::max(width, entry.name.size());
  }
  std::string text = fmt::format("{}\n", title);
  for (const Entry& entry : entries) {
    text += entry.summary.empty() ? fmt::format("  {}\n", entry.name)
                                  : fmt::format("  {:<{}}  {}\n", entry.name, width, entry.summary);
  }
  return text + "\n";
}

std::string axis_section(const strategies::AxisInfo& axis) {
  const bool whole = axis.name == "whole";
  std::vector<Entry> entries;
  for (const strategies::RowInfo& row : axis.rows) {
    const bool is_default = !whole && entries.empty();
    entries.push_back(
        {std::string(row.name), fmt::format("{}{}", row.summary, is_default ? " (default)" : "")});
    for (const strategies::OptionInfo& option : row.options) {
      entries.push_back({fmt::format("  :{}=", option.key),
                         fmt::format("{} [{}]", option.summary, option.fallback)});
    }
  }
  return section(whole ? "Strategies: whole words, which stand alone"
                       : fmt::format("Strategies: {}", axis.name),
                 entries);
}

std::vector<Entry> experiments() {
  const std::vector<std::string> roots = cases::experiment_roots();
  std::vector<Entry> entries;
  for (const std::string& name : cases::known_experiments(roots)) {
    const auto read = [&](const std::string& section) {
      return cases::read_raw_settings(cases::find_experiment(name, roots), section);
    };
    try {
      const cases::RawSettings raw = read("");
      entries.push_back({name, cases::settings_of(raw).about});
      for (const std::string& section : raw.sections) {
        entries.push_back(
            {fmt::format("  --section {}", section), cases::settings_of(read(section)).about});
      }
    } catch (const UsageError& error) {
      entries.push_back({name, fmt::format("cannot be read: {}", error.what())});
    }
  }
  return entries;
}

std::string strategies_list() {
  std::string text;
  std::string usual;
  for (const strategies::AxisInfo& axis : strategies::strategy_axes()) {
    text += axis_section(axis);
    if (axis.name != "whole") {
      usual += fmt::format("{}{}", usual.empty() ? "" : "+", axis.rows[0].name);
    }
  }
  std::vector<std::string> others;
  for (const auto& row : strategies::exchanges()) {
    for (const std::string_view partner : {row.schedule, row.partner}) {
      if (!partner.empty()) {
        others.push_back(fmt::format("{} for {}", partner, row.name));
      }
    }
  }
  return fmt::format(
      "Strategies: SCHEDULE+EXCHANGE+CODEC+UPDATE; what is left out is that of\n"
      "  {}, but {}\n\n{}",
      usual, fmt::join(others, ", "), text);
}

std::string topologies_list() {
  std::vector<Entry> entries;
  for (const strategies::TopologyRow& row : strategies::topologies()) {
    entries.push_back({row.parameter.empty()  ? std::string(row.name)
                       : row.fallback.empty() ? fmt::format("{}:{}", row.name, row.parameter)
                                              : fmt::format("{}[:{}]", row.name, row.parameter),
                       row.fallback.empty() ? std::string(row.summary)
                                            : fmt::format("{} [{}]", row.summary, row.fallback)});
  }
  return section("Topologies: graphs of ranks or of hosts", entries);
}

/// Returns the names and summaries of the rows of a table.
std::vector<Entry> entries_of(const auto& rows) {
  std::vector<Entry> entries;
  for (const auto& row : rows) {
    entries.push_back({std::string(row.name), std::string(row.summary)});
  }
  return entries;
}

std::string models_list() {
  std::vector<Entry> entries = entries_of(networks::networks());
  std::ranges::move(entries_of(networks::embedding_networks()), std::back_inserter(entries));
  return section("Models", entries);
}

std::string engines_list() {
  std::vector<Entry> entries;
  for (const engines::EngineInfo& engine : engines::engines()) {
    entries.push_back(
        {std::string(engine.name),
         fmt::format("{}{}", engine.summary, engine.built ? "" : " (not in this build)")});
  }
  return section("Engines", entries);
}

std::string experiments_list() { return section("Experiments", experiments()); }

std::string formats_list() {
  std::vector<Entry> entries = entries_of(report::formats());
  entries.push_back({"page", "one HTML file with tables and charts (paceline report only)"});
  return section("Formats", entries);
}

std::string optimizers_list() {
  return section("Optimizers: --optimizer, as torch.optim defines those that it has",
                 entries_of(plan::kOptimizers));
}

std::string frameworks_list() {
  std::vector<Entry> entries;
  for (const cases::Adapter& one : rank::list_adapters()) {
    entries.push_back(
        {one.name, one.about + (one.missing.empty() ? "" : fmt::format(" ({})", one.missing))});
  }
  return section("Frameworks: --framework, docs/adapters.md", entries);
}

struct List {
  std::string_view name;
  std::string (*text)();
};

constexpr auto kLists = std::to_array<List>({{"strategies", strategies_list},
                                             {"topologies", topologies_list},
                                             {"models", models_list},
                                             {"engines", engines_list},
                                             {"optimizers", optimizers_list},
                                             {"experiments", experiments_list},
                                             {"formats", formats_list},
                                             {"frameworks", frameworks_list}});

}  // namespace

std::string list_text(std::string_view name) {
  std::string text;
  std::vector<std::string> known;
  for (const List& list : kLists) {
    known.emplace_back(list.name);
    if (name.empty() || name == list.name) {
      text += list.text();
    }
  }
  if (text.empty()) {
    throw UsageError(unknown_name_message("list", name, known));
  }
  text.pop_back();
  return text;
}

}  // namespace paceline::cli
