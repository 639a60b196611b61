// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

// The table of update rules, in the order in which `paceline list` prints them.
namespace paceline::strategies {
namespace {

constexpr std::array<std::string_view, 2> kWindows{"step", "backward"};

constexpr std::array kAwcOptions{
    OptionInfo{"window", "step",
               "step: beside forward and backward; backward: after the last forward, as BlueFog",
               OptionKind::kWord, kWindows},
};

constexpr OptionInfo interval(std::string_view fallback, std::string_view summary) {
  return {.key = "every", .fallback = fallback, .summary = summary, .kind = OptionKind::kCount};
}

constexpr std::array kPgaOptions{
    interval("48", "steps from one mean over all ranks to the next, 1 to 500")};

constexpr std::array kLocalSgdOptions{
    interval("8", "steps from one average to the next, 1 to 500")};

constexpr std::array kDilocoOptions{
    interval("30", "steps from one outer step to the next, 1 to 500"),
    OptionInfo{"outer-lr", "0.7", "the outer optimizer's learning rate", OptionKind::kNumber},
    OptionInfo{"outer-momentum", "0.9", "the outer optimizer's Nesterov momentum, below 1",
               OptionKind::kMomentum},
    OptionInfo{"fragments",
               "1",
               "parts that cross at different steps, 1 to 6",
               OptionKind::kCount,
               {},
               false,
               false,
               true},
    OptionInfo{"delay",
               "0",
               "steps from the start of a fragment's exchange to its outer step",
               OptionKind::kCount,
               {},
               false,
               false,
               true},
    OptionInfo{"mix", "0",
               "with a delay: the weight of a rank's own parameters in what it goes on with",
               OptionKind::kNumber},
};

constexpr std::array kSlowMoOptions{
    interval("12", "steps from one average to the next, 1 to 500"),
    OptionInfo{"slow-lr", "1", "alpha: the slow step", OptionKind::kNumber},
    OptionInfo{"slow-momentum", "0.5", "beta: the slow momentum, below 1", OptionKind::kMomentum},
};

constexpr std::array kUpdateRules{
    Row<UpdateRule>{{
                        .name = "gradients",
                        .summary = "gradients cross, their mean is applied",
                    },
                    make_gradients},
    Row<UpdateRule>{{.name = "atc",
                     .summary = "adapt, then combine: the updated parameters cross",
                     .paper = "Lian et al., NeurIPS 2017, arXiv:1705.09056",
                     .guarantee = Guarantee::kConsensus,
                     .phases = "update, then exchange",
                     .parameters = true,
                     .prepared = true,
                     .late = true,
                     .coded = true},
                    make_atc},
    Row<UpdateRule>{{.name = "awc",
                     .summary = "adapt with combine: the parameters of the step "
                                "before cross",
                     .paper = "Nedic and Ozdaglar, IEEE TAC 2009",
                     .guarantee = Guarantee::kConsensus,
                     .options = kAwcOptions,
                     .phases = "exchange beside the model's work, then update",
                     .parameters = true,
                     .need = ExchangeNeed::kNeighbors,
                     .because = "computes gradients at the parameters while these are averaged",
                     .late = true,
                     .coded = true},
                    make_awc},
    Row<UpdateRule>{{.name = "pga",
                     .summary = "atc, and every H-th step the mean over all ranks",
                     .paper = "Chen et al., ICML 2021, arXiv:2105.09080",
                     .guarantee = Guarantee::kPeriodic,
                     .options = kPgaOptions,
                     .phases = "update, then exchange or all-reduce",
                     .bytes = "the exchange's, every H-th step 2 (P-1)/P S",
                     .parameters = true,
                     .need = ExchangeNeed::kNeighbors,
                     .because = "averages over all ranks in some steps only",
                     .late = true,
                     .coded = true},
                    make_pga},
    Row<UpdateRule>{{.name = "local-sgd",
                     .summary = "ranks train alone, every H-th step their parameters are averaged",
                     .paper = "Stich, ICLR 2019, arXiv:1805.09767",
                     .guarantee = Guarantee::kPeriodic,
                     .options = kLocalSgdOptions,
                     .phases = "update, every H-th step exchange",
                     .rounds = "1/H of the exchange's",
                     .bytes = "1/H of the exchange's",
                     .parameters = true,
                     .late = true,
                     .coded = true},
                    make_local_sgd},
    Row<UpdateRule>{
        {.name = "diloco",
         .summary =
             "local steps, then an outer step of Nesterov momentum along the ranks' mean movement",
         .paper = "Douillard et al., 2023, arXiv:2311.08105; streaming: 2025, arXiv:2501.18512",
         .guarantee = Guarantee::kPeriodic,
         .options = kDilocoOptions,
         .phases = "update, every H-th step exchange, outer step",
         .rounds = "1/H of the exchange's",
         .bytes = "1/H of the exchange's",
         .need = ExchangeNeed::kMean,
         .because = "needs the mean of all ranks' movements, so that their anchors stay equal"},
        make_diloco},
    Row<UpdateRule>{
        {.name = "slowmo",
         .summary = "local steps, then slow momentum on the average",
         .paper = "Wang et al., ICLR 2020, arXiv:1910.00643",
         .guarantee = Guarantee::kPeriodic,
         .options = kSlowMoOptions,
         .phases = "update, every H-th step exchange, slow step",
         .rounds = "1/H of the exchange's",
         .bytes = "1/H of the exchange's",
         .parameters = true,
         .need = ExchangeNeed::kMean,
         .because = "needs the mean of all ranks' parameters, so that their anchors stay equal"},
        make_slowmo},
    Row<UpdateRule>{
        {.name = "gradient-tracking",
         .summary = "trackers of the mean gradient cross, then the parameters",
         .paper = "Xu et al., IEEE CDC 2015; Nedic et al., SIAM J. Optim. 2017",
         .guarantee = Guarantee::kConsensus,
         .phases = "exchange of trackers, update, exchange of parameters",
         .rounds = "twice the exchange's",
         .bytes = "twice the exchange's",
         .parameters = true,
         .need = ExchangeNeed::kNeighbors,
         .because = "tracks the mean gradient by averages that cross beside those of parameters"},
        make_gradient_tracking},
    Row<UpdateRule>{{.name = "exact-diffusion",
                     .summary = "atc with a correction: no bias where ranks' data differ",
                     .paper = "Yuan et al., IEEE TSP 2019, arXiv:1702.05122",
                     .guarantee = Guarantee::kConsensus,
                     .phases = "update, correct, exchange",
                     .parameters = true,
                     .need = ExchangeNeed::kNeighbors,
                     .because = "corrects the bias of averages with neighbors"},
                    make_exact_diffusion},
    Row<UpdateRule>{
        {.name = "decentlam",
         .summary = "atc whose momentum takes in what the average changes: no bias of momentum",
         .paper = "Yuan et al., ICCV 2021, arXiv:2104.11981",
         .guarantee = Guarantee::kConsensus,
         .phases = "plain step, exchange, update by what both change",
         .parameters = true,
         .need = ExchangeNeed::kNeighbors,
         .because = "corrects the momentum of averages with neighbors"},
        make_decentlam},
    Row<UpdateRule>{
        {.name = "zero-1",
         .summary = "each rank updates its shard and holds that shard's optimizer state",
         .paper = "Rajbhandari et al., SC 2020, arXiv:1910.02054",
         .guarantee = Guarantee::kExact,
         .phases = "gradients reduce-scattered, update, parameters gathered",
         .file = "zero.cc",
         .parameters = true,
         .need = ExchangeNeed::kShards,
         .because = "updates on each rank the shard of the sum that the exchange leaves there"},
        make_zero_1},
    Row<UpdateRule>{
        {.name = "zero-2",
         .summary = "as zero-1, and gradients are summed and forgotten bucket by bucket",
         .paper = "Rajbhandari et al., SC 2020, arXiv:1910.02054",
         .guarantee = Guarantee::kExact,
         .phases = "gradients reduce-scattered under backward, update, parameters gathered",
         .file = "zero.cc",
         .parameters = true,
         .need = ExchangeNeed::kShards,
         .because = "updates on each rank the shard of the sum that the exchange leaves there"},
        make_zero_2},
};

}  // namespace

std::span<const Row<UpdateRule>> update_rules() { return kUpdateRules; }

}  // namespace paceline::strategies
