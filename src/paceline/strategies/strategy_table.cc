// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

// Every strategy the suite has.  To add a part, write plan/<name>.cc, declare
// its maker in strategies/rows.h and add its row; parsing, `paceline list` and
// the conformance tests all read these tables.

namespace paceline::strategies {
namespace {

constexpr std::array kFusionOptions{
    OptionInfo{"bucket-mb",
               "--bucket-mb",
               "MiB at which a bucket closes; 0: one bucket per tensor"},
};

constexpr std::array kMgWfbpOptions{
    OptionInfo{
        "small-elements",
        "0",
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
        .summary =
            "MiB of a partition, at most; no more than 20,000 partitions",
        .positive = true},
    OptionInfo{
        "credit-mb",
        "16",
        "MiB a rank has under way on a communicator at which no more start"},
    OptionInfo{"order",
               "program",
               "program: the queue's order on the profile; priority: the first "
               "rank picks at run time",
               OptionKind::kWord,
               kOrders},
    OptionInfo{"queue",
               "tensor",
               "what is queued: tensor, or module: all tensors of one that are "
               "ready together, with fewer start-ups",
               OptionKind::kWord,
               kQueues},
};

constexpr std::array kDearOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "MiB at which a bucket closes"},
};

constexpr std::array kSchedules{
    Row<ScheduleRule>{
        {.name = "fusion",
         .summary = "buckets of about one threshold, beside backward",
         .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
         .options = kFusionOptions,
         .phases = "forward, backward beside exchanges; next forward behind "
                   "its buckets",
         .rounds = "one exchange a bucket, none waits for another",
         .bytes = "those of its exchange"},
        make_fusion},
    Row<ScheduleRule>{{.name = "bsp",
                       .summary = "everything at once, after backward",
                       .paper = "Valiant, CACM 1990",
                       .options = {},
                       .phases = "forward, backward, exchange, update",
                       .rounds = "one exchange",
                       .bytes = "those of its exchange"},
                      make_bsp},
    Row<ScheduleRule>{{.name = "wfbp",
                       .summary = "tensor by tensor, beside backward",
                       .paper = "Zhang et al., ATC 2017, arXiv:1706.03292",
                       .options = {},
                       .phases = "forward, backward beside exchanges, update",
                       .rounds = "one exchange a tensor, none waits",
                       .bytes = "those of its exchange"},
                      make_wfbp},
    Row<ScheduleRule>{
        {.name = "mg-wfbp",
         .summary = "buckets merged greedily, by profile and alpha-beta",
         .paper = "Shi et al., INFOCOM 2019, arXiv:1811.11141",
         .options = kMgWfbpOptions,
         .phases = "as fusion",
         .rounds = "one exchange a bucket, none waits",
         .bytes = "those of its exchange"},
        make_mg_wfbp},
    Row<ScheduleRule>{
        {.name = "optimal-merge",
         .summary = "buckets merged for the shortest step, by the same",
         .paper = "model of Shi et al., INFOCOM 2019, arXiv:1811.11141",
         .options = {},
         .phases = "as fusion",
         .rounds = "one exchange a bucket, none waits",
         .bytes = "those of its exchange"},
        make_optimal_merge},
    Row<ScheduleRule>{
        {.name = "bytescheduler",
         .summary = "partitions by priority and credit, into the next forward",
         .paper = "Peng et al., SOSP 2019, doi:10.1145/3341301.3359642",
         .options = kByteSchedulerOptions,
         .phases = "forward and backward beside exchanges, each module behind "
                   "its tensors",
         .rounds = "one exchange a partition, none waits",
         .bytes = "those of its exchange"},
        make_bytescheduler},
    Row<ScheduleRule>{
        {.name = "dear",
         .summary =
             "first half beside backward, second beside the next forward",
         .paper = "Zhang et al., ICDCS 2023, arXiv:2302.12445",
         .options = kDearOptions,
         .phases =
             "backward beside first halves, next forward beside second halves",
         .rounds = "the two halves of one exchange",
         .bytes = "those of its exchange",
         .partner = "rs-ag"},
        make_dear},
};

constexpr std::array<std::string_view, 2> kPlacements{"colocated", "apart"};
constexpr std::array<std::string_view, 2> kAssignments{"round-robin", "hash"};
constexpr std::array<std::string_view, 2> kHierarchyStyles{"shards", "leader"};

constexpr OptionInfo kLocalOption{
    "local", "0", "ranks a host; 0: as the hosts have", OptionKind::kCount};

constexpr std::array kHierarchicalOptions{kLocalOption};

constexpr std::array kServerOptions{
    OptionInfo{
        "servers", "0", "how many; 0: as many as workers", OptionKind::kCount},
    OptionInfo{"placement",
               "colocated",
               "colocated: the first ranks serve beside their work; apart: the "
               "last ranks only serve",
               OptionKind::kWord,
               kPlacements},
    OptionInfo{"assign",
               "round-robin",
               "round-robin: partitions in turn; hash: BytePS's key hash",
               OptionKind::kWord,
               kAssignments},
    OptionInfo{"first-key",
               "0",
               "names that are declared before these, which assign=hash counts",
               OptionKind::kCount},
    OptionInfo{
        .key = "partition-mb",
        .fallback = "3.90625",
        .summary =
            "MiB of a partition, at most; BytePS: 4,096,000 bytes; no more "
            "than 20,000 partitions",
        .positive = true},
    OptionInfo{"local",
               "1",
               "ranks a host that sum among themselves first; 0: as the hosts "
               "have",
               OptionKind::kCount},
};

constexpr std::array kNeighborOptions{
    OptionInfo{"topology",
               "one-peer-exp",
               "one-peer-exp: one rank a step, 1, 2, 4, ... ahead in turn;"
               " exp: all of these; ring: both neighbors; inner-outer-exp:"
               " one rank of each host to another host, the others inside",
               OptionKind::kWord,
               kTopologies},
    kLocalOption,
};

/// Graphs of hosts: inner-outer-exp is one of ranks on hosts.
constexpr std::array kHierarchicalNeighborOptions{
    OptionInfo{"topology",
               "one-peer-exp",
               "the graph of hosts: one-peer-exp, exp or ring, as for "
               "neighbor-allreduce",
               OptionKind::kWord,
               std::span(kTopologies).first<3>()},
    OptionInfo{"style",
               "shards",
               "shards: every rank exchanges its share; leader: the first rank "
               "of a host everything",
               OptionKind::kWord,
               kHierarchyStyles},
    kLocalOption,
};

constexpr std::array kExchanges{
    Row<ExchangeRule>{{.name = "all-reduce",
                       .summary = "all ranks sum",
                       .paper = "Patarasuk and Yuan, JPDC 2009",
                       .guarantee = Guarantee::kExact,
                       .options = {},
                       .rounds = "1",
                       .bytes = "2 (P-1)/P S"},
                      make_all_reduce},
    Row<ExchangeRule>{
        {.name = "rs-ag",
         .summary = "all ranks sum: reduce-scatter, later all-gather",
         .paper = "Patarasuk and Yuan, JPDC 2009",
         .guarantee = Guarantee::kExact,
         .options = {},
         .phases = "reduce-scatter; all-gather",
         .rounds = "2",
         .bytes = "2 (P-1)/P S, S padded to P shards"},
        make_rs_ag},
    Row<ExchangeRule>{
        {.name = "hierarchical",
         .summary = "all ranks sum: inside hosts, between them, inside",
         .paper = "Jia et al., 2018, arXiv:1807.11205",
         .guarantee = Guarantee::kExact,
         .options = kHierarchicalOptions,
         .phases = "reduce-scatter in the host, all-reduce between; all-gather "
                   "in the host",
         .rounds = "3",
         .bytes = "2 (L-1)/L S in the host, 2 (H-1)/H S/L between"},
        make_hierarchical},
    Row<ExchangeRule>{
        {.name = "ps",
         .summary = "servers sum what workers push, workers pull",
         .paper = "Li et al., OSDI 2014; Jiang et al., OSDI 2020",
         .guarantee = Guarantee::kExact,
         .options = kServerOptions,
         .phases = "push; pull",
         .rounds = "2",
         .bytes = "worker S, server W s S; colocated (1-s) S + (W-1) s S"},
        make_ps},
    Row<ExchangeRule>{
        {.name = "neighbor-allreduce",
         .summary = "parameters averaged with neighbors in a graph",
         .paper = "Lian et al., NeurIPS 2017, arXiv:1705.09056",
         .guarantee = Guarantee::kConsensus,
         .options = kNeighborOptions,
         .phases = "messages; average",
         .rounds = "1",
         .bytes = "degree S",
         .partner = "atc",
         .parameters = true},
        make_neighbor_allreduce},
    Row<ExchangeRule>{
        {.name = "hierarchical-neighbor-allreduce",
         .summary = "the mean inside hosts, averaged with neighboring hosts",
         .paper = "Ying et al., NeurIPS 2021, arXiv:2110.13363",
         .guarantee = Guarantee::kConsensus,
         .options = kHierarchicalNeighborOptions,
         .phases =
             "sum in the host, messages between; average, spread in the host",
         .rounds = "3",
         .bytes = "2 (L-1)/L S + degree S/L; leader: 2 (L-1)/L S + 2 degree S, "
                  "others 2 (L-1)/L S + degree S",
         .partner = "atc",
         .parameters = true},
        make_hierarchical_neighbor_allreduce},
};

constexpr std::array kCodecs{
    Row<CodecRule>{{.name = "identity",
                    .summary = "values cross as they are",
                    .paper = "",
                    .options = {},
                    .bytes = "4 a float32 value"},
                   make_identity},
    Row<CodecRule>{{.name = "fp16",
                    .summary = "sums cross in IEEE half precision",
                    .paper = "Jia et al., 2018, arXiv:1807.11205",
                    .guarantee = Guarantee::kRounded,
                    .options = {},
                    .phases = "cast; cast back",
                    .bytes = "2 a value",
                    .file = "half.cc"},
                   make_fp16},
    Row<CodecRule>{{.name = "bf16",
                    .summary = "sums cross in bfloat16",
                    .paper = "Kalamkar et al., 2019, arXiv:1905.12322",
                    .guarantee = Guarantee::kRounded,
                    .options = {},
                    .phases = "cast; cast back",
                    .bytes = "2 a value",
                    .file = "half.cc"},
                   make_bf16},
};

constexpr std::array<std::string_view, 2> kWindows{"step", "backward"};

constexpr std::array kAwcOptions{
    OptionInfo{"window",
               "step",
               "step: beside forward and backward; backward: after the last "
               "forward, as BlueFog",
               OptionKind::kWord,
               kWindows},
};

constexpr std::array kUpdateRules{
    Row<UpdateRule>{{.name = "gradients",
                     .summary = "gradients cross, their mean is applied",
                     .paper = "",
                     .options = {}},
                    make_gradients},
    Row<UpdateRule>{{.name = "atc",
                     .summary = "adapt, then combine: the updated parameters "
                                "cross",
                     .paper = "Lian et al., NeurIPS 2017, arXiv:1705.09056",
                     .guarantee = Guarantee::kConsensus,
                     .options = {},
                     .phases = "update, then exchange",
                     .parameters = true},
                    make_atc},
    Row<UpdateRule>{
        {.name = "awc",
         .summary = "adapt with combine: the parameters of the step "
                    "before cross",
         .paper = "Nedic and Ozdaglar, IEEE TAC 2009",
         .guarantee = Guarantee::kConsensus,
         .options = kAwcOptions,
         .phases = "exchange beside the model's work, then update",
         .parameters = true,
         .aside = true},
        make_awc},
};

constexpr std::array<std::string_view, 2> kNoYes{"no", "yes"};

constexpr std::array kDdpOptions{
    OptionInfo{"bucket-mb", "--bucket-mb", "MiB at which a bucket closes"},
    OptionInfo{"first-bucket-mb",
               "bucket-mb",
               "the same for the first bucket; PyTorch takes 1 when the user "
               "names no bucket size"},
    OptionInfo{"views",
               "no",
               "yes: gradients are views of the buckets "
               "(gradient_as_bucket_view)",
               OptionKind::kWord,
               kNoYes,
               true},
    OptionInfo{"static",
               "no",
               "yes: the graph is told to be static (static_graph); not with "
               "--accumulate",
               OptionKind::kWord,
               kNoYes,
               true},
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
                  .options = {},
                  .phases = "forward, backward, update",
                  .rounds = "0",
                  .bytes = "0"},
                 make_none},
    Row<Planner>{{.name = "ddp",
                  .summary = "PyTorch's c10d::Reducer, driven from C++",
                  .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
                  .guarantee = Guarantee::kExact,
                  .options = kDdpOptions,
                  .phases = "as fusion, one update of everything",
                  .rounds = "one all-reduce a bucket, none waits",
                  .bytes = "2 (P-1)/P S"},
                 make_ddp},
    Row<Planner>{{.name = "python-ddp",
                  .summary = "Python's DistributedDataParallel, as a command",
                  .paper = "Li et al., VLDB 2020, arXiv:2006.15704",
                  .guarantee = Guarantee::kExact,
                  .options = kPythonDdpOptions,
                  .phases = "as ddp",
                  .rounds = "as ddp",
                  .bytes = "2 (P-1)/P S",
                  .file = "adapters/python_ddp.py"},
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

}  // namespace paceline::strategies
