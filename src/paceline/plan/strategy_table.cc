// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/plan/rows.h"
#include "paceline/plan/strategy.h"

// Every strategy the suite has.  To add a part, write plan/<name>.cc, declare
// its maker in plan/rows.h and add its row; parsing, `paceline list` and the
// conformance tests all read these tables.

namespace paceline::plan {
namespace {

constexpr std::array kFusionOptions{
    OptionInfo{"bucket-mb",
               "--bucket-mb",
               "MiB at which a unit closes; 0: one unit per tensor"},
};

constexpr std::array kSchedules{
    Row<ScheduleRule>{
        {.name = "fusion",
         .summary = "units of about one threshold, beside backward",
         .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
         .options = kFusionOptions},
        make_fusion},
    Row<ScheduleRule>{{.name = "bsp",
                       .summary = "everything at once, after backward",
                       .paper = "Valiant, CACM 1990",
                       .options = {}},
                      make_bsp},
    Row<ScheduleRule>{{.name = "wfbp",
                       .summary = "tensor by tensor, beside backward",
                       .paper = "Zhang et al., ATC 2017, arXiv:1706.03292",
                       .options = {}},
                      make_wfbp},
};

constexpr std::array kExchanges{
    Row<ExchangeRule>{{.name = "all-reduce",
                       .summary = "all ranks sum",
                       .paper = "Patarasuk and Yuan, JPDC 2009",
                       .guarantee = Guarantee::kExact,
                       .options = {}},
                      make_all_reduce},
};

constexpr std::array kCodecs{
    Row<CodecRule>{{.name = "identity",
                    .summary = "values cross as they are",
                    .paper = "",
                    .options = {}},
                   make_identity},
};

constexpr std::array kUpdateRules{
    Row<UpdateRule>{{.name = "gradients",
                     .summary = "gradients cross, their mean is applied",
                     .paper = "",
                     .options = {}},
                    make_gradients},
};

constexpr std::array kDdpOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "MiB at which a bucket closes"},
    OptionInfo{"first-bucket-mb",
               "bucket-mb",
               "the same for the first bucket; PyTorch takes 1 when the user "
               "names no bucket size"},
};

constexpr std::array<std::string_view, 2> kPythonDdpSettings{"defaults",
                                                             "best"};

constexpr std::array kPythonDdpOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "passed as bucket_cap_mb"},
    OptionInfo{"settings",
               "defaults",
               "defaults, or best: fused optimizer, bucket views, static graph",
               OptionKind::kWord,
               kPythonDdpSettings},
};

constexpr std::array kWholeStrategies{
    Row<Planner>{{.name = "none",
                  .summary = "no exchange: every rank trains alone",
                  .paper = "",
                  .guarantee = Guarantee::kLocal,
                  .options = {}},
                 make_none},
    Row<Planner>{{.name = "ddp",
                  .summary = "PyTorch's c10d::Reducer, driven from C++",
                  .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
                  .guarantee = Guarantee::kExact,
                  .options = kDdpOptions},
                 make_ddp},
    Row<Planner>{{.name = "python-ddp",
                  .summary = "Python's DistributedDataParallel, as a command",
                  .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
                  .guarantee = Guarantee::kExact,
                  .options = kPythonDdpOptions},
                 nullptr},
};

template <class Part>
AxisInfo axis(std::string_view name, std::span<const Row<Part>> rows) {
  return {name, {rows.begin(), rows.end()}};
}

}  // namespace

std::span<const Row<ScheduleRule>> schedules() {
  return kSchedules;
}
std::span<const Row<ExchangeRule>> exchanges() {
  return kExchanges;
}
std::span<const Row<CodecRule>> codecs() {
  return kCodecs;
}
std::span<const Row<UpdateRule>> update_rules() {
  return kUpdateRules;
}
std::span<const Row<Planner>> whole_strategies() {
  return kWholeStrategies;
}

std::vector<AxisInfo> strategy_axes() {
  return {axis("schedule", schedules()),
          axis("exchange", exchanges()),
          axis("codec", codecs()),
          axis("update", update_rules()),
          axis("whole", whole_strategies())};
}

}  // namespace paceline::plan
