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

constexpr std::array kCodecs{
    Row<CodecRule>{
        {.name = "identity", .summary = "values cross as they are", .bytes = "4 a float32 value"},
        make_identity},
    Row<CodecRule>{{.name = "fp16",
                    .summary = "sums cross in IEEE half precision",
                    .paper = "Jia et al., 2018, arXiv:1807.11205",
                    .guarantee = Guarantee::kRounded,
                    .phases = "cast; cast back",
                    .bytes = "2 a value",
                    .file = "half.cc"},
                   make_fp16},
    Row<CodecRule>{{.name = "bf16",
                    .summary = "sums cross in bfloat16",
                    .paper = "Kalamkar et al., 2019, arXiv:1905.12322",
                    .guarantee = Guarantee::kRounded,
                    .phases = "cast; cast back",
                    .bytes = "2 a value",
                    .file = "half.cc"},
                   make_bf16},
    Row<CodecRule>{{.name = "sign",
                    .summary = "one bit a value: the majority's sign",
                    .paper = "Bernstein et al., ICML 2018, arXiv:1802.04434",
                    .guarantee = Guarantee::kCompressed,
                    .options = kSignOptions,
                    .phases = "signs; vote, spread signs",
                    .bytes = "(P-1) S/32; ps: S/32 in place of S; int8: S/4"},
                   make_sign},
    Row<CodecRule>{{.name = "ef-sign",
                    .summary = "signs by each tensor's mean magnitude, with error feedback",
                    .paper = "Karimireddy et al., ICML 2019, arXiv:1901.09847",
                    .guarantee = Guarantee::kCompressed,
                    .phases = "scales, signs; add scaled signs",
                    .bytes = "(P-1) (S/32 + 4 a tensor)"},
                   make_ef_sign},
    Row<CodecRule>{{.name = "topk",
                    .summary = "the largest values, with error feedback",
                    .paper = "Stich et al., NeurIPS 2018, arXiv:1809.07599",
                    .guarantee = Guarantee::kCompressed,
                    .options = kTopKOptions,
                    .phases = "select; add at their places",
                    .bytes = "(P-1) 8 k, k = density S/4"},
                   make_topk},
    Row<CodecRule>{{.name = "gtopk",
                    .summary = "the largest values of sums by pairs of ranks, with error feedback",
                    .paper = "Shi et al., ICDCS 2019, arXiv:1901.04359",
                    .guarantee = Guarantee::kCompressed,
                    .options = kTopKOptions,
                    .phases = "select, merge by pairs; put at their places",
                    .rounds = "log2 P",
                    .bytes = "log2 P 8 k, k = density S/4"},
                   make_gtopk},
    Row<CodecRule>{
        {.name = "random-k",
         .summary = "values at random places, the same on all ranks, with error feedback",
         .paper = "Stich et al., NeurIPS 2018, arXiv:1809.07599",
         .guarantee = Guarantee::kCompressed,
         .options = kTopKOptions,
         .phases = "select; put at their places",
         .bytes = "2 (P-1)/P density S"},
        make_random_k},
    Row<CodecRule>{{.name = "qsgd",
                    .summary = "a byte a value, rounded at random, unbiased",
                    .paper = "Alistarh et al., NeurIPS 2017, arXiv:1610.02132",
                    .guarantee = Guarantee::kCompressed,
                    .options = kQsgdOptions,
                    .phases = "norms, codes; add",
                    .bytes = "(P-1) (S/4 + 4 a block)"},
                   make_qsgd},
    Row<CodecRule>{{.name = "powersgd",
                    .summary = "factors of low rank, with error feedback",
                    .paper = "Vogels et al., NeurIPS 2019, arXiv:1905.13727",
                    .guarantee = Guarantee::kCompressed,
                    .options = kPowerSgdOptions,
                    .phases = "left factors, right factors; their product",
                    .rounds = "2",
                    .bytes = "2 (P-1)/P 4 (rank (rows + columns) a matrix, others as they are)"},
                   make_powersgd},
};

}  // namespace

std::span<const Row<CodecRule>> codecs() { return kCodecs; }

}  // namespace paceline::strategies
