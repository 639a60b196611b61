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
    OptionInfo{.key = "fragments",
               .fallback = "1",
               .summary = "parts that cross at different steps, 1 to 6",
               .kind = OptionKind::kCount,
               .apart = true},
    OptionInfo{.key = "delay",
               .fallback = "0",
               .summary = "steps from the start of a fragment's exchange to its outer step",
               .kind = OptionKind::kCount,
               .apart = true},
    OptionInfo{"mix", "0",
               "with a delay: the weight of a rank's own parameters in what it goes on with",
               OptionKind::kNumber},
};

constexpr std::array kSlowMoOptions{
    interval("12", "steps from one average to the next, 1 to 500"),
    OptionInfo{"slow-lr", "1", "alpha: the slow step", OptionKind::kNumber},
    OptionInfo{"slow-momentum", "0.5", "beta: the slow momentum, below 1", OptionKind::kMomentum},
};

constexpr auto kUpdateRules = std::to_array<Row<UpdateRule>>({
    {{.name = "gradients", .summary = "gradients cross, their mean is applied"}, make_gradients},
    {{.name = "atc",
      .summary = "adapt, then combine: the updated parameters cross",
      .paper = "Lian et al., NeurIPS 2017, arXiv:1705.09056",
      .guarantee = Guarantee::kConsensus,
      .parameters = true,
      .prepared = true,
      .late = true,
      .accepts_codec = true},
     make_atc},
    {{.name = "awc",
      .summary = "adapt with combine: the parameters of the step "
                 "before cross",
      .paper = "Nedic and Ozdaglar, IEEE TAC 2009",
      .guarantee = Guarantee::kConsensus,
      .options = kAwcOptions,
      .parameters = true,
      .need = ExchangeNeed::kNeighbors,
      .because = "computes gradients at the parameters while these are averaged",
      .late = true,
      .accepts_codec = true},
     make_awc},
    {{.name = "pga",
      .summary = "atc, and every H-th step the mean over all ranks",
      .paper = "Chen et al., ICML 2021, arXiv:2105.09080",
      .guarantee = Guarantee::kPeriodic,
      .options = kPgaOptions,
      .parameters = true,
      .need = ExchangeNeed::kNeighbors,
      .because = "averages over all ranks in some steps only",
      .late = true,
      .accepts_codec = true},
     make_pga},
    {{.name = "local-sgd",
      .summary = "ranks train alone, every H-th step their parameters are averaged",
      .paper = "Stich, ICLR 2019, arXiv:1805.09767",
      .guarantee = Guarantee::kPeriodic,
      .options = kLocalSgdOptions,
      .parameters = true,
      .late = true,
      .accepts_codec = true},
     make_local_sgd},
    {{.name = "diloco",
      .summary =
          "local steps, then an outer step of Nesterov momentum along the ranks' mean movement",
      .paper = "Douillard et al., 2023, arXiv:2311.08105; streaming: 2025, arXiv:2501.18512",
      .guarantee = Guarantee::kPeriodic,
      .options = kDilocoOptions,
      .need = ExchangeNeed::kMean,
      .because = "needs the mean of all ranks' movements, so that their anchors stay equal"},
     make_diloco},
    {{.name = "slowmo",
      .summary = "local steps, then slow momentum on the average",
      .paper = "Wang et al., ICLR 2020, arXiv:1910.00643",
      .guarantee = Guarantee::kPeriodic,
      .options = kSlowMoOptions,
      .parameters = true,
      .need = ExchangeNeed::kMean,
      .because = "needs the mean of all ranks' parameters, so that their anchors stay equal"},
     make_slowmo},
    {{.name = "gradient-tracking",
      .summary = "trackers of the mean gradient cross, then the parameters",
      .paper = "Xu et al., IEEE CDC 2015; Nedic et al., SIAM J. Optim. 2017",
      .guarantee = Guarantee::kConsensus,
      .parameters = true,
      .need = ExchangeNeed::kNeighbors,
      .because = "tracks the mean gradient by averages that cross beside those of parameters"},
     make_gradient_tracking},
    {{.name = "exact-diffusion",
      .summary = "atc with a correction: no bias where ranks' data differ",
      .paper = "Yuan et al., IEEE TSP 2019, arXiv:1702.05122",
      .guarantee = Guarantee::kConsensus,
      .parameters = true,
      .need = ExchangeNeed::kNeighbors,
      .because = "corrects the bias of averages with neighbors"},
     make_exact_diffusion},
    {{.name = "decentlam",
      .summary = "atc whose momentum takes in what the average changes: no bias of momentum",
      .paper = "Yuan et al., ICCV 2021, arXiv:2104.11981",
      .guarantee = Guarantee::kConsensus,
      .parameters = true,
      .need = ExchangeNeed::kNeighbors,
      .because = "corrects the momentum of averages with neighbors"},
     make_decentlam},
    {{.name = "zero-1",
      .summary = "each rank updates its shard and holds that shard's optimizer state",
      .paper = "Rajbhandari et al., SC 2020, arXiv:1910.02054",
      .guarantee = Guarantee::kExact,
      .file = "zero.cc",
      .parameters = true,
      .need = ExchangeNeed::kShards,
      .because = "updates on each rank the shard of the sum that the exchange leaves there"},
     make_zero_1},
    {{.name = "zero-2",
      .summary = "as zero-1, and gradients are summed and forgotten bucket by bucket",
      .paper = "Rajbhandari et al., SC 2020, arXiv:1910.02054",
      .guarantee = Guarantee::kExact,
      .file = "zero.cc",
      .parameters = true,
      .need = ExchangeNeed::kShards,
      .because = "updates on each rank the shard of the sum that the exchange leaves there"},
     make_zero_2},
});

}  // namespace

std::span<const Row<UpdateRule>> update_rules() { return kUpdateRules; }

}  // namespace paceline::strategies
