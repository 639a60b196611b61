// SPDX-License-Identifier: Apache-2.0
#include "strategies/strategy_page.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

namespace paceline::strategies {
namespace {

std::string file_of(const RowInfo& row) {
  if (row.file.find('/') != std::string_view::npos) {
    return std::string(row.file);
  }
  std::string name(row.file);
  if (name.empty()) {
    name = fmt::format("{}.cc", row.name);
    std::ranges::replace(name, '-', '_');
  }
  return fmt::format("src/paceline/strategies/{}", name);
}

std::string_view guarantee_text(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::kExact:
      return "exact";
    case Guarantee::kRounded:
      return "exact but for rounding";
    case Guarantee::kCompressed:
      return "compressed, ranks equal";
    case Guarantee::kPeriodic:
      return "ranks equal after every H-th step";
    case Guarantee::kConsensus:
      return "consensus";
    case Guarantee::kLocal:
      return "none";
    case Guarantee::kNeutral:
      return "";
  }
  return "";
}

/// With what a strategy's other parts and options leave of it.
std::string guarantee_of(const RowInfo& row) {
  std::string text(guarantee_text(row.guarantee));
  if (row.guarantee != Guarantee::kPeriodic) {
    return text;
  }
  if (row.need == ExchangeNeed::kAny) {
    text += "; over neighbors consensus";
  }
  std::string apart;
  for (const OptionInfo& option : row.options) {
    if (option.apart) {
      apart += fmt::format("{}`{}`", apart.empty() ? "" : " or ", option.key);
    }
  }
  return apart.empty() ? text : text + fmt::format("; with {} consensus", apart);
}

/// The cost of a strategy, from the comment of its class.
struct CostText {
  std::string rounds, bytes, memory;
};

/// The costs of all classes in a source file.  A comment states a cost in lines of the form
/// "///   KEY  VALUE", where a value may go on in lines that are indented further.
std::vector<CostText> costs_in(const std::string& file) {
  std::ifstream source(PACELINE_SOURCE_DIR "/" + file);
  std::vector<CostText> costs;
  std::string* value = nullptr;
  const std::regex key("///   (\\w.*?)  +(\\S.*)"), more("///    +(\\S.*)");
  std::smatch found;
  for (std::string line; std::getline(source, line);) {
    if (std::regex_match(line, found, key)) {
      const std::string name = found[1];
      const bool begins = name.starts_with("rounds") || name.starts_with("bytes sent");
      if (begins && (costs.empty() || !costs.back().bytes.empty())) {
        costs.emplace_back();
      }
      value = costs.empty()                      ? nullptr
              : name.starts_with("rounds")       ? &costs.back().rounds
              : name.starts_with("bytes sent")   ? &costs.back().bytes
              : name.starts_with("extra memory") ? &costs.back().memory
                                                 : nullptr;
      if (value != nullptr) {
        *value = found[2];
      }
    } else if (value != nullptr && std::regex_match(line, found, more)) {
      *value += fmt::format(" {}", found[1].str());
    } else {
      value = nullptr;
    }
  }
  return costs;
}

std::string table_of(const AxisInfo& axis) {
  std::string text = fmt::format(
      "### {}\n\n"
      "| name | idea | rounds | bytes sent | extra memory | guarantee | paper | file |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
      axis.name);
  std::map<std::string, std::size_t> rows_of_file;
  for (const RowInfo& row : axis.rows) {
    const std::string file = file_of(row);
    const std::vector<CostText> costs = costs_in(file);
    const std::size_t place = rows_of_file[file]++;
    const CostText cost = costs.empty() ? CostText{} : costs[std::min(place, costs.size() - 1)];
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | `{}` |\n", row.name, row.summary,
                        cost.rounds, cost.bytes, cost.memory, guarantee_of(row), row.paper, file);
  }
  return text;
}

std::string options_of(const AxisInfo& axis) {
  std::string text;
  for (const RowInfo& row : axis.rows) {
    for (const OptionInfo& option : row.options) {
      text += fmt::format("| `{}:{}=` | `{}` | {} |\n", row.name, option.key, option.fallback,
                          option.summary);
    }
  }
  return text;
}

std::string topology_table() {
  std::string text = "### topology\n\n| name | graph | paper |\n| --- | --- | --- |\n";
  for (const TopologyRow& row : topologies()) {
    const bool optional = !row.fallback.empty();
    text += fmt::format("| `{}{}{}{}` | {} | {} |\n", row.name,
                        optional                ? "[:"
                        : row.parameter.empty() ? ""
                                                : ":",
                        row.parameter, optional ? "]" : "", row.summary, row.paper);
  }
  return text + "\n";
}

}  // namespace

std::string strategy_markdown() {
  std::string text;
  std::string options;
  for (const AxisInfo& axis : strategy_axes()) {
    text += table_of(axis) + "\n";
    options += options_of(axis);
  }
  return text + topology_table() +
         "### options\n\n| option | default | meaning |\n| --- | --- | --- "
         "|\n" +
         options;
}

}  // namespace paceline::strategies
