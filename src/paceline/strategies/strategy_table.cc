// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

// The table of whole strategies; schedule_table.cc, exchange_table.cc, codec_table.cc and
// update_table.cc have the tables of the axes.  To add a part, write <name>.cc, declare its maker
// in rows.h and add its row to the table of its axis.  Parsing, `paceline list` and the conformance
// tests read these tables.

namespace paceline::strategies {
namespace {

constexpr std::array<std::string_view, 2> kNoYes{"no", "yes"};

constexpr std::array kDdpOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "MiB at which a bucket closes"},
    OptionInfo{"first-bucket-mb", "bucket-mb",
               "the same for the first bucket; PyTorch takes 1 when the user names no bucket size"},
    OptionInfo{"views", "no", "yes: gradients are views of the buckets (gradient_as_bucket_view)",
               OptionKind::kWord, kNoYes, true},
    OptionInfo{"static", "no",
               "yes: the graph is told to be static (static_graph); not with --accumulate",
               OptionKind::kWord, kNoYes, true},
};

constexpr std::array<std::string_view, 2> kPythonDdpSettings{"defaults", "best"};

constexpr std::array kPythonDdpOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "passed as bucket_cap_mb"},
    OptionInfo{"settings", "defaults",
               "defaults, or best: fused optimizer, bucket views, static graph", OptionKind::kWord,
               kPythonDdpSettings},
};

constexpr auto kWholeStrategies = std::to_array<Row<Planner>>({
    {{.name = "none",
      .summary = "no exchange: every rank trains alone",
      .guarantee = Guarantee::kLocal},
     make_none},
    {{.name = "ddp",
      .summary = "PyTorch's c10d::Reducer, driven from C++",
      .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
      .guarantee = Guarantee::kExact,
      .options = kDdpOptions},
     make_ddp},
    {{.name = "python-ddp",
      .summary = "Python's DistributedDataParallel, as a command",
      .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
      .guarantee = Guarantee::kExact,
      .options = kPythonDdpOptions,
      .file = "python/paceline/adapters/python_ddp.py"},
     nullptr},
    {{.name = "fsdp2",
      .summary = "PyTorch's fully_shard, as a command",
      .paper = "Zhao et al., VLDB 2023, arXiv:2304.11277",
      .guarantee = Guarantee::kExact,
      .file = "python/paceline/adapters/torch_variants.py"},
     nullptr},
    {{.name = "external",
      .summary = "an external program trains: --framework, --command",
      .file = "python/paceline/adapters/adapters.toml"},
     nullptr},
});

template <class Part>
AxisInfo axis(std::string_view name, std::span<const Row<Part>> rows) {
  return {name, {rows.begin(), rows.end()}};
}

}  // namespace

std::span<const Row<Planner>> whole_strategies() { return kWholeStrategies; }

std::vector<AxisInfo> strategy_axes() {
  return {axis("schedule", schedules()), axis("exchange", exchanges()), axis("codec", codecs()),
          axis("update", update_rules()), axis("whole", whole_strategies())};
}

}  // namespace paceline::strategies
