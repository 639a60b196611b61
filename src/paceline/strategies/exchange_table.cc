// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology.h"

// The exchanges, in the order `paceline list` prints them.
namespace paceline::strategies {
namespace {

constexpr std::array<std::string_view, 2> kPlacements{"colocated", "apart"};
constexpr std::array<std::string_view, 3> kAssignments{
    "round-robin", "hash", "size"};
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
    OptionInfo{
        "assign",
        "round-robin",
        "round-robin: partitions in turn; hash: BytePS's key hash; size: "
        "the largest first, each to the server with the fewest bytes",
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
         .bytes = "2 (P-1)/P S, S padded to P shards",
         .shards = true},
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
         .bytes = "2 (L-1)/L S in the host, 2 (H-1)/H S/L between",
         .shards = true},
        make_hierarchical},
    Row<ExchangeRule>{
        {.name = "ps",
         .summary = "servers sum what workers push, workers pull",
         .paper = "Li et al., OSDI 2014; Jiang et al., OSDI 2020",
         .guarantee = Guarantee::kExact,
         .options = kServerOptions,
         .phases = "push; pull",
         .rounds = "2",
         .bytes = "worker S, server W s S; colocated (1-s) S + (W-1) s S",
         .schedule = "bsp"},
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

}  // namespace

std::span<const Row<ExchangeRule>> exchanges() {
  return kExchanges;
}

}  // namespace paceline::strategies
