// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

// The table of schedules, in the order in which `paceline list` prints them.
namespace paceline::strategies {
namespace {

constexpr std::array kFusionOptions{
    OptionInfo{"bucket-mb", "--bucket-mb",
               "MiB at which a bucket closes; 0: one bucket per tensor"},
};

constexpr std::array kMgWfbpOptions{
    OptionInfo{"small-elements", "0",
               "buckets of fewer elements are merged in any case; ddl-benchmarks "
               "has 8192, the paper none",
               OptionKind::kCount},
};

constexpr std::array<std::string_view, 2> kOrders{"program", "priority"};

constexpr std::array<std::string_view, 2> kQueues{"tensor", "module"};

constexpr std::array kByteSchedulerOptions{
    OptionInfo{
        .key = "partition-mb",
        .fallback = "4",
        .summary = "MiB of a partition as it crosses, at most; no more than 20,000 partitions",
        .positive = true},
    OptionInfo{"credit-mb", "16",
               "MiB a rank has under way on a communicator, as they cross, at which no more start; "
               "0: one partition at a time"},
    OptionInfo{
        "order", "program",
        "program: the queue's order on the profile; priority: the first rank picks at run time",
        OptionKind::kWord, kOrders},
    OptionInfo{"queue", "tensor",
               "what is queued: tensor, or module: all tensors of one that are ready together, "
               "with fewer start-ups",
               OptionKind::kWord, kQueues},
};

constexpr std::array kDearOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "MiB at which a bucket closes"},
};

constexpr auto kSchedules = std::to_array<Row<ScheduleRule>>({
    {{.name = "fusion",
      .summary = "buckets of about one threshold, beside backward",
      .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
      .options = kFusionOptions},
     make_fusion},
    {{.name = "bsp",
      .summary = "everything at once, after backward",
      .paper = "Valiant, CACM 1990"},
     make_bsp},
    {{.name = "wfbp",
      .summary = "tensor by tensor, beside backward",
      .paper = "Zhang et al., ATC 2017, arXiv:1706.03292"},
     make_wfbp},
    {{.name = "mg-wfbp",
      .summary = "buckets merged greedily, by profile and alpha-beta",
      .paper = "Shi et al., INFOCOM 2019, arXiv:1811.11141",
      .options = kMgWfbpOptions},
     make_mg_wfbp},
    {{.name = "optimal-merge",
      .summary = "buckets merged for the shortest step, by the same",
      .paper = "model of Shi et al., INFOCOM 2019, arXiv:1811.11141"},
     make_optimal_merge},
    {{.name = "bytescheduler",
      .summary = "partitions by priority and credit, into the next forward",
      .paper = "Peng et al., SOSP 2019, doi:10.1145/3341301.3359642",
      .options = kByteSchedulerOptions},
     make_bytescheduler},
    {{.name = "dear",
      .summary = "first half beside backward, second beside the next forward",
      .paper = "Zhang et al., ICDCS 2023, arXiv:2302.12445",
      .options = kDearOptions,
      .partner = "rs-ag"},
     make_dear},
});

}  // namespace

std::span<const Row<ScheduleRule>> schedules() { return kSchedules; }

}  // namespace paceline::strategies
