// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/earned.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/stats/quantile.h"
#include "paceline/validate/score.h"
#include "paceline/validate/survey_cell.h"

namespace paceline::validate {
namespace {

/// The cells that tell of a family of predict/examined.h.
struct Family {
  std::string_view name, left_out, how, preset;
  std::array<std::string_view, 3> methods{};  // all empty: any
  Table table{};
  bool several_hosts = false;  // cells of several hosts only
  bool of_sizes = false;       // its strategies differ in what they merge
};

constexpr Family kFamilies[] = {
    {.name = "merged",
     .left_out = "a model",
     .how = "BSP, WFBP and MG-WFBP on a ring, a model left out",
     .preset = "BSP, WFBP and MG-WFBP on a ring, several hosts, predict with "
               "clusters/",
     .methods = {"BSP-A2A", "WFBP-A2A", "MG-WFBP"},
     .table = Table::kSurvey,
     .of_sizes = true},
    {.name = "scheduled",
     .left_out = "a model",
     .how = "ByteScheduler on a ring, a model left out",
     .preset = "ByteScheduler on a ring, several hosts, predict with clusters/",
     .methods = {"ByteScheduler-A2A"},
     .table = Table::kSurvey},
    {.name = "servers",
     .left_out = "a model",
     .how = "BytePS, a model left out",
     .preset = "BytePS, several hosts, predict with clusters/",
     .methods = {"BSP-PS", "WFBP-PS", "ByteScheduler-PS"},
     .table = Table::kSurvey},
    {.name = "reducer",
     .left_out = "a series",
     .how = "PyTorch DDP, several hosts, a model left out",
     .preset = "PyTorch DDP, several hosts, predict with clusters/",
     .table = Table::kDdp,
     .several_hosts = true,
     .of_sizes = true},
    {.name = "neighbors",
     .left_out = "a series",
     .how = "BlueFog, several hosts, a method at a batch size left out",
     .preset = "BlueFog, several hosts, predict with clusters/",
     .table = Table::kDecentralized,
     .several_hosts = true},
};

bool tells_of(const Cell& cell, const Family& family) {
  const bool method =
      family.methods[0].empty() ||
      std::ranges::find(family.methods, cell.key[0]) != family.methods.end();
  return method && (multi_node(cell) || !family.several_hosts);
}

/// The job of a cell, whatever the strategy.
std::string job_of(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return fmt::format("{} {} {}", cell.key[1], cell.key[2], cell.key[3]);
    case Table::kDdp:
    case Table::kDdpBuckets:
      return fmt::format("{} {} {}", cell.key[0], cell.gpus(), cell.key[2]);
    case Table::kDecentralized:
      return fmt::format("{} {}", cell.key[0], cell.key[2]);
    case Table::kFrameworks:
      break;
  }
  return "";
}

std::string strategy_of(const Cell& cell) {
  switch (cell.table) {
    case Table::kSurvey:
      return std::string(simulated_as(cell.key[0]));
    case Table::kDecentralized:
      return cell.key[1];
    case Table::kDdp:
    case Table::kDdpBuckets:
    case Table::kFrameworks:
      break;
  }
  return std::string(name_of(cell.table));
}

struct Pairs {
  std::size_t count = 0;
  double p90 = 0;
};

/// Errors, in percent, of ratios of two strategies on one job, the larger over
/// the smaller.
Pairs pairs_of(const Errors& errors,
               const std::function<bool(const Cell&)>& of) {
  std::map<std::string, std::vector<std::pair<std::string, double>>> jobs;
  for (const auto& [cell, error] : errors) {
    if (of(*cell)) {
      jobs[job_of(*cell)].emplace_back(strategy_of(*cell), 1 + error / 100);
    }
  }
  std::vector<double> all;
  for (const auto& [job, rows] : jobs) {
    for (auto one = rows.begin(); one != rows.end(); ++one) {
      for (auto other = rows.begin(); other != one; ++other) {
        if (one->first != other->first) {
          const auto [less, more] = std::minmax(one->second, other->second);
          all.push_back(100 * (more / less - 1));
        }
      }
    }
  }
  return {.count = all.size(),
          .p90 = all.empty() ? 0 : stats::quantile(all, 0.9)};
}

}  // namespace

std::string earned_rows(const LeftOut& left_out, const Errors& presets) {
  std::string text =
      "// Written by `paceline validate --protocols --earned`.\n";
  for (const Family& family : kFamilies) {
    const auto found =
        left_out.find({family.table, std::string(family.left_out)});
    if (found == left_out.end()) {
      throw UsageError(fmt::format(
          "--earned needs --protocols and all tables: '{}' leaves out {} of {}",
          family.name,
          family.left_out,
          name_of(family.table)));
    }
    const auto of_family = [&](const Cell& cell) {
      return tells_of(cell, family);
    };
    const auto of_table = [&](const Cell& cell) {
      return cell.table == family.table && tells_of(cell, family);
    };
    const Score unseen = score(found->second, of_family);
    const Score preset = score(presets, of_table);
    const Pairs pairs =
        std::max(pairs_of(found->second, of_family),
                 pairs_of(presets, of_table),
                 [](const Pairs& a, const Pairs& b) { return a.p90 < b.p90; });
    if (preset.cells == 0) {
      throw UsageError(
          fmt::format("--earned: no cluster file tells of '{}'", family.name));
    }
    const bool more = unseen.p90 >= preset.p90;
    const Score& larger = more ? unseen : preset;
    text += fmt::format(
        "{{.family = \"{}\",\n .mean_percent = {:.1f},\n .p90_percent = {:.1f},"
        "\n .cells = {},\n .how = \"{}\",\n .apart_percent = {:.1f},"
        "\n .pairs = {},\n .of_sizes = {}}},\n",
        family.name,
        larger.mean,
        larger.p90,
        larger.cells,
        more ? family.how : family.preset,
        pairs.p90,
        pairs.count,
        family.of_sizes);
  }
  return text;
}

}  // namespace paceline::validate
