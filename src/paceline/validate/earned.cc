// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/earned.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/validate/score.h"

namespace paceline::validate {
namespace {

/// The cells that tell of a family of sim/examined.h.
struct Family {
  std::string_view name, left_out, how, preset;
  std::array<std::string_view, 3> methods{};  // all empty: any
  Table table{};
  bool several_hosts = false;  // cells of several hosts only
};

constexpr Family kFamilies[] = {
    {.name = "merged",
     .left_out = "a model",
     .how = "BSP, WFBP and MG-WFBP on a ring, a model left out",
     .preset = "BSP, WFBP and MG-WFBP on a ring, several nodes, predict with "
               "clusters/",
     .methods = {"BSP-A2A", "WFBP-A2A", "MG-WFBP"},
     .table = Table::kSurvey},
    {.name = "scheduled",
     .left_out = "a model",
     .how = "ByteScheduler on a ring, a model left out",
     .preset = "ByteScheduler on a ring, several nodes, predict with clusters/",
     .methods = {"ByteScheduler-A2A"},
     .table = Table::kSurvey},
    {.name = "servers",
     .left_out = "a model",
     .how = "BytePS, a model left out",
     .preset = "BytePS, several nodes, predict with clusters/",
     .methods = {"BSP-PS", "WFBP-PS", "ByteScheduler-PS"},
     .table = Table::kSurvey},
    {.name = "reducer",
     .left_out = "a series",
     .how = "PyTorch DDP, several nodes, a model left out",
     .preset = "PyTorch DDP, several nodes, predict with clusters/",
     .table = Table::kDdp,
     .several_hosts = true},
    {.name = "neighbors",
     .left_out = "a series",
     .how = "BlueFog, several nodes, a method at a batch size left out",
     .preset = "BlueFog, several nodes, predict with clusters/",
     .table = Table::kDecentralized,
     .several_hosts = true},
};

bool tells_of(const Cell& cell, const Family& family) {
  const bool method =
      family.methods[0].empty() ||
      std::ranges::find(family.methods, cell.key[0]) != family.methods.end();
  return method && (multi_node(cell) || !family.several_hosts);
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
    const Score unseen = score(found->second, [&](const Cell& cell) {
      return tells_of(cell, family);
    });
    const Score preset = score(presets, [&](const Cell& cell) {
      return cell.table == family.table && tells_of(cell, family);
    });
    if (preset.cells == 0) {
      throw UsageError(
          fmt::format("--earned: no cluster file tells of '{}'", family.name));
    }
    const bool more = unseen.p90 >= preset.p90;
    const Score& larger = more ? unseen : preset;
    text += fmt::format(
        "{{.family = \"{}\",\n .mean_percent = {:.1f},\n .p90_percent = {:.1f},"
        "\n .cells = {},\n .how = \"{}\"}},\n",
        family.name,
        larger.mean,
        larger.p90,
        larger.cells,
        more ? family.how : family.preset);
  }
  return text;
}

}  // namespace paceline::validate
