// SPDX-License-Identifier: Apache-2.0
#include "paceline/cli/list.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cli/catalogue.h"
#include "paceline/experiment/draft.h"
#include "paceline/experiment/flags.h"
#include "paceline/plan/strategy.h"
#include "paceline/report/formats.h"

namespace paceline::cli {
namespace {

std::string section(std::string_view title, const std::vector<Entry>& entries) {
  std::size_t width = 0;
  for (const Entry& entry : entries) {
    width = std::max(width, entry.name.size());
  }
  std::string text = fmt::format("{}\n", title);
  for (const Entry& entry : entries) {
    text +=
        entry.summary.empty()
            ? fmt::format("  {}\n", entry.name)
            : fmt::format("  {:<{}}  {}\n", entry.name, width, entry.summary);
  }
  return text + "\n";
}

std::string axis_section(const plan::AxisInfo& axis) {
  const bool whole = axis.name == "whole";
  std::vector<Entry> entries;
  for (const plan::RowInfo& row : axis.rows) {
    const bool is_default = !whole && entries.empty();
    entries.push_back(
        {std::string(row.name),
         fmt::format("{}{}", row.summary, is_default ? " (default)" : "")});
    for (const plan::OptionInfo& option : row.options) {
      entries.push_back(
          {fmt::format("  :{}=", option.key),
           fmt::format("{} [{}]", option.summary, option.fallback)});
    }
  }
  return section(whole ? "Strategies: whole words, which stand alone"
                       : fmt::format("Strategies: {}", axis.name),
                 entries);
}

std::vector<Entry> experiments() {
  const std::vector<std::string> roots = experiment::experiment_roots();
  std::vector<Entry> entries;
  for (const std::string& name : experiment::known_experiments(roots)) {
    Entry entry{name, ""};
    try {
      entry.summary =
          experiment::settings_of(
              experiment::read_draft(experiment::find_experiment(name, roots)))
              .about;
    } catch (const UsageError& error) {
      entry.summary = fmt::format("cannot be read: {}", error.what());
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::string list_text() {
  std::string text;
  for (const plan::AxisInfo& axis : plan::strategy_axes()) {
    text += axis_section(axis);
  }
  text += section("Models", models());
  std::vector<Entry> engine_entries;
  for (const EngineEntry& engine : engines()) {
    engine_entries.push_back(
        {engine.name,
         engine.summary + (engine.built ? "" : " (not in this build)")});
  }
  text += section("Engines", engine_entries);
  text += section("Experiments", experiments());
  std::vector<Entry> format_entries;
  for (const report::Format& format : report::formats()) {
    format_entries.push_back(
        {std::string(format.name), std::string(format.summary)});
  }
  text += section("Formats", format_entries);
  text.pop_back();
  return text;
}

}  // namespace paceline::cli
