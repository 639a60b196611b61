// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "paceline/strategies/rows.h"
#include "paceline/strategies/strategy.h"

// The table of codecs, in the order in which `paceline list` prints them.
namespace paceline::strategies {
namespace {

constexpr std::array kTopKOptions{
    OptionInfo{"density", "0.01",
               "share of a bucket's values that cross, above 0, at most 1; at least one value",
               OptionKind::kFraction},
};

constexpr std::array<std::string_view, 2> kSignForms{"bits", "int8"};

constexpr std::array kSignOptions{
    OptionInfo{.key = "form",
               .fallback = "bits",
               .summary = "bits: one a value, votes are counted where all meet; int8: a byte a "
                          "value, summed by any exchange that sums, at most 127 ranks",
               .kind = OptionKind::kWord,
               .words = kSignForms,
               .implied = true},
};

constexpr std::array kQsgdOptions{
    OptionInfo{"levels", "127", "steps from zero to a block's norm, 1 to 127", OptionKind::kCount},
    OptionInfo{"block", "128", "values that share a norm, at least 64", OptionKind::kCount},
};

constexpr std::array kPowerSgdOptions{
    OptionInfo{"rank", "4", "of the factors, at most", OptionKind::kCount},
};

constexpr auto kCodecs = std::to_array<Row<CodecRule>>({
    {{.name = "identity", .summary = "values cross as they are"}, make_identity},
    {{.name = "fp16",
      .summary = "sums cross in IEEE half precision",
      .paper = "Jia et al., 2018, arXiv:1807.11205",
      .guarantee = Guarantee::kRounded,
      .file = "half.cc"},
     make_fp16},
    {{.name = "bf16",
      .summary = "sums cross in bfloat16",
      .paper = "Kalamkar et al., 2019, arXiv:1905.12322",
      .guarantee = Guarantee::kRounded,
      .file = "half.cc"},
     make_bf16},
    {{.name = "sign",
      .summary = "one bit a value: the majority's sign",
      .paper = "Bernstein et al., ICML 2018, arXiv:1802.04434",
      .guarantee = Guarantee::kCompressed,
      .options = kSignOptions},
     make_sign},
    {{.name = "ef-sign",
      .summary = "signs by each tensor's mean magnitude, with error feedback",
      .paper = "Karimireddy et al., ICML 2019, arXiv:1901.09847",
      .guarantee = Guarantee::kCompressed},
     make_ef_sign},
    {{.name = "topk",
      .summary = "the largest values, with error feedback",
      .paper = "Stich et al., NeurIPS 2018, arXiv:1809.07599",
      .guarantee = Guarantee::kCompressed,
      .options = kTopKOptions},
     make_topk},
    {{.name = "gtopk",
      .summary = "the largest values of sums by pairs of ranks, with error feedback",
      .paper = "Shi et al., ICDCS 2019, arXiv:1901.04359",
      .guarantee = Guarantee::kCompressed,
      .options = kTopKOptions},
     make_gtopk},
    {{.name = "random-k",
      .summary = "values at random places, the same on all ranks, with error feedback",
      .paper = "Stich et al., NeurIPS 2018, arXiv:1809.07599",
      .guarantee = Guarantee::kCompressed,
      .options = kTopKOptions},
     make_random_k},
    {{.name = "qsgd",
      .summary = "a byte a value, rounded at random, unbiased",
      .paper = "Alistarh et al., NeurIPS 2017, arXiv:1610.02132",
      .guarantee = Guarantee::kCompressed,
      .options = kQsgdOptions},
     make_qsgd},
    {{.name = "powersgd",
      .summary = "factors of low rank, with error feedback",
      .paper = "Vogels et al., NeurIPS 2019, arXiv:1905.13727",
      .guarantee = Guarantee::kCompressed,
      .options = kPowerSgdOptions},
     make_powersgd},
});

}  // namespace

std::span<const Row<CodecRule>> codecs() { return kCodecs; }

}  // namespace paceline::strategies
