// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

// The table of exchanges, in the order in which `paceline list` prints them.
namespace paceline::strategies {
namespace {

constexpr std::array<std::string_view, 2> kPlacements{"colocated", "apart"};
constexpr std::array<std::string_view, 3> kAssignments{"round-robin", "hash", "size"};
constexpr std::array<std::string_view, 2> kHierarchyStyles{"shards", "leader"};

constexpr OptionInfo kLocalOption{"local", "0", "ranks a host; 0: as the hosts have",
                                  OptionKind::kCount};

constexpr std::array kHierarchicalOptions{kLocalOption};

constexpr std::array kServerOptions{
    OptionInfo{"servers", "0", "how many; 0: as many as workers", OptionKind::kCount},
    OptionInfo{
        "placement", "colocated",
        "colocated: the first ranks serve beside their work; apart: the last ranks only serve",
        OptionKind::kWord, kPlacements},
    OptionInfo{"assign", "round-robin",
               "round-robin: partitions in turn; hash: BytePS's key hash; size: "
               "the largest first, each to the server with the fewest bytes",
               OptionKind::kWord, kAssignments},
    OptionInfo{
        .key = "partition-mb",
        .fallback = "3.90625",
        .summary =
            "MiB of a partition, at most; BytePS: 4,096,000 bytes; no more than 20,000 partitions",
        .positive = true},
    OptionInfo{"local", "1", "ranks a host that sum among themselves first; 0: as the hosts have",
               OptionKind::kCount},
};

constexpr OptionInfo kGammaOption{
    .key = "gamma",
    .fallback = "0",
    .summary =
        "with a codec: the step towards what the neighbors' codes say; "
        "0: the share that the codec keeps, half of it for random-k",
    .kind = OptionKind::kNumber,
    .implied = true,
    .of_codec = true};

constexpr std::array kNeighborOptions{
    OptionInfo{"topology", "one-peer-exp", "the graph of ranks: one of `paceline list topologies`",
               OptionKind::kTopology},
    kLocalOption,
    kGammaOption,
};

constexpr std::array kPushSumOptions{
    OptionInfo{"topology", "exp",
               "the graph of ranks, whose weights are not used: one of `paceline list topologies`",
               OptionKind::kTopology},
    kLocalOption,
    kGammaOption,
};

constexpr std::array kWinPutOptions{
    OptionInfo{"topology", "exp", "the graph of ranks: one of `paceline list topologies`",
               OptionKind::kTopology},
    OptionInfo{.key = "slots",
               .fallback = "4",
               .summary = "steps that a rank may be ahead of a neighbor before it waits, 1 to 16; "
                          "a copy of the model each",
               .kind = OptionKind::kCount,
               .positive = true},
    kLocalOption,
};

constexpr std::array kHierarchicalNeighborOptions{
    OptionInfo{"topology", "one-peer-exp", "the graph of hosts: one of `paceline list topologies`",
               OptionKind::kTopology},
    OptionInfo{
        "style", "shards",
        "shards: every rank exchanges its share; leader: the first rank of a host everything",
        OptionKind::kWord, kHierarchyStyles},
    kLocalOption,
    kGammaOption,
};

template <CodedMaker kMake>
std::unique_ptr<ExchangeRule> without_codec(const Options& options) {
  return kMake(options, nullptr);
}

constexpr auto kExchanges = std::to_array<Row<ExchangeRule>>({
    {{.name = "all-reduce",
      .summary = "all ranks sum",
      .paper = "Patarasuk and Yuan, JPDC 2009",
      .guarantee = Guarantee::kExact},
     make_all_reduce},
    {{.name = "rs-ag",
      .summary = "all ranks sum: reduce-scatter, later all-gather",
      .paper = "Patarasuk and Yuan, JPDC 2009",
      .guarantee = Guarantee::kExact,
      .shards = true},
     make_rs_ag},
    {{.name = "hierarchical",
      .summary = "all ranks sum: inside hosts, between them, inside",
      .paper = "Jia et al., 2018, arXiv:1807.11205",
      .guarantee = Guarantee::kExact,
      .options = kHierarchicalOptions,
      .shards = true},
     make_hierarchical},
    {{.name = "ps",
      .summary = "servers sum what workers push, workers pull",
      .paper = "Li et al., OSDI 2014; Jiang et al., OSDI 2020",
      .guarantee = Guarantee::kExact,
      .options = kServerOptions,
      .schedule = "bsp"},
     make_ps},
    {{.name = "neighbor-allreduce",
      .summary = "parameters averaged with neighbors in a graph",
      .paper = "Lian et al., NeurIPS 2017, arXiv:1705.09056",
      .guarantee = Guarantee::kConsensus,
      .options = kNeighborOptions,
      .partner = "atc",
      .parameters = true},
     without_codec<make_neighbor_allreduce>,
     make_neighbor_allreduce},
    {{.name = "hierarchical-neighbor-allreduce",
      .summary = "the mean inside hosts, averaged with neighboring hosts",
      .paper = "Ying et al., NeurIPS 2021, arXiv:2110.13363",
      .guarantee = Guarantee::kConsensus,
      .options = kHierarchicalNeighborOptions,
      .partner = "atc",
      .parameters = true},
     without_codec<make_hierarchical_neighbor_allreduce>,
     make_hierarchical_neighbor_allreduce},
    {{.name = "parameter-allreduce",
      .summary = "parameters averaged by all ranks, beside themselves",
      .paper = "Patarasuk and Yuan, JPDC 2009",
      .partner = "atc",
      .parameters = true},
     make_parameter_allreduce},
    {{.name = "push-sum",
      .summary = "parameters averaged over a directed graph, with weights",
      .paper = "Kempe et al., FOCS 2003; Assran et al., ICML 2019, arXiv:1811.10792",
      .guarantee = Guarantee::kConsensus,
      .options = kPushSumOptions,
      .partner = "atc",
      .parameters = true,
      .prepared = true},
     without_codec<make_push_sum>,
     make_push_sum},
    {{.name = "win-put",
      .summary = "parameters mixed with what neighbors' puts have brought; waits for nobody",
      .paper = "BlueFog, 2021, arXiv:2111.04287",
      .guarantee = Guarantee::kConsensus,
      .options = kWinPutOptions,
      .partner = "awc",
      .parameters = true,
      .late = true},
     make_win_put},
});

}  // namespace

std::span<const Row<ExchangeRule>> exchanges() { return kExchanges; }

}  // namespace paceline::strategies
